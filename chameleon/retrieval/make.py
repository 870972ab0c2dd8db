"""Build and search indexes by name: `build_index`, `delete_documents` and `make_retriever`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chameleon.errors import InputError
from chameleon.retrieval.build import Build, Progress
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import NONE, automatic, require_embeddings
from chameleon.retrieval.index import Index
from chameleon.retrieval.manifest import Manifest, is_index
from chameleon.retrieval.models import missing_packages, require_reranker
from chameleon.retrieval.retriever import (
    Bm25,
    Dense,
    RankedDocuments,
    Retriever,
    by_evidence,
    by_model,
    by_sum,
)
from chameleon.retrieval.spec import MINILM, RerankerSpec, RetrieverSpec
from chameleon.retrieval.vectors import opened_vectors, require_faiss

Spec = RetrieverSpec | Mapping[str, Any] | str
COSINE_MOST = 2.5
"""The weight of the nearest document in a blend, measured as best with `minilm` (docs/retrieval.md)."""


def build_index(
    path: str | Path,
    documents: Iterable[Document],
    retriever: Spec = "auto",
    progress: Progress | None = None,
) -> Index:
    """Make an index in this folder, or add to the existing one, and open it.

    A document with a known id is kept if it is unchanged, and replaced if not. The old index is in use until
    the new one is complete.

    Args:
        retriever: the intended search of a new index, which is embedded if that needs vectors; with "auto",
            if embeddings are installed.
        progress: called with the number of documents done, every 100 documents and at the end.

    Raises:
        InputError: for a repeated id, another retriever than the index was built for, a folder with
            something else in it, and a full disk.
        MissingPackage: if a package for the index or its embeddings is not installed.
        ModelError: if the embedding model fails.
    """
    with Build(Path(path), settings_at(Path(path), retriever)) as build:
        build.add(documents, progress)
        return build.commit()


def delete_documents(path: str | Path, ids: Iterable[str]) -> Index:
    """Delete documents from the index in a folder. Raises `InputError` for an id that is not in it."""
    with Build(Path(path), Manifest.read(Path(path))) as build:
        build.delete(ids)
        return build.commit()


def settings_at(path: Path, retriever: Spec | None) -> Manifest:
    """Return the settings of the index in a folder, or of a new one for this retriever.

    An index may get another retriever that needs no other vectors. Raises `InputError` for one that does, and
    what `settings_for` raises.
    """
    if not is_index(path):
        return settings_for(retriever or "auto")
    there, spec = Manifest.read(path), RetrieverSpec.read(retriever or "auto")
    if spec == RetrieverSpec():
        return there
    needed = settings_for(spec)
    if needed.embeddings and needed.embeddings != there.embeddings:
        built = f"the index was built for the retriever {RetrieverSpec.read(there.retriever)}"
        what, hint = f"{built}, and {spec} needs other vectors", "Build one for that in another folder."
        raise InputError(what, where=str(path), hint=hint)
    return replace(there, retriever=needed.retriever)


def settings_for(retriever: Spec) -> Manifest:
    """Return the settings of a new index for this retriever.

    Raises `InputError`, `MissingPackage` if a required package is not installed.
    """
    spec = RetrieverSpec.read(retriever)
    settings, embeddings_spec = spec.model_dump(exclude_defaults=True), spec.embeddings
    if isinstance(spec.rerank, RerankerSpec):
        require_reranker(spec.rerank.name)
    can_embed = automatic() != NONE and find_spec("faiss") is not None
    if not (spec.needs_vectors or (spec.first == "auto" and (embeddings_spec or can_embed))):
        return Manifest(settings)
    prefixes = embeddings_spec.model_dump(exclude_none=True, exclude={"model"}) if embeddings_spec else {}
    embeddings = {"name": embeddings_spec.model if embeddings_spec else MINILM, **prefixes}
    require_embeddings(embeddings["name"])
    require_faiss()
    return Manifest(settings, embeddings)


def make_retriever(index: Index, retriever: Spec = "auto") -> Retriever:
    """Return a retriever over an index; with `auto` the one that it was built for.

    Raises:
        InputError: if the index lacks something that the retriever needs.
        MissingPackage: if a package that the retriever needs is not installed.
    """
    spec = _for_index(index, RetrieverSpec.read(retriever))
    evidence, bm25 = by_evidence(index), Bm25(index)
    base: Retriever = RankedDocuments([bm25], evidence, spec.depth) if spec.first == "lexical" else bm25
    scores = {"evidence": by_evidence(index, after_bm25=spec.first == "bm25")}
    if spec.needs_vectors:
        dense = _dense(index, spec)
        scores["dense"] = dense.scores
        if spec.first == "dense":
            base = dense
        elif spec.first == "blend":
            base = RankedDocuments([bm25, dense], by_sum(evidence, dense.scores, COSINE_MOST), spec.depth)
    if spec.rerank is None:
        return base
    if isinstance(spec.rerank, str):
        return RankedDocuments([base], scores[spec.rerank], spec.depth)
    require_reranker(spec.rerank.name)
    return RankedDocuments([base], by_model(index, spec.rerank), spec.depth)


def _for_index(index: Index, spec: RetrieverSpec) -> RetrieverSpec:
    """Resolve `auto` for this index; return any other spec as it is."""
    if spec.first != "auto":
        return spec
    built, embeddings = RetrieverSpec.read(index.manifest.retriever), index.manifest.embeddings
    first = built.first
    if first == "auto":
        can_embed = embeddings and not missing_packages(embeddings["name"])
        first = "blend" if can_embed else "lexical"
    changes = {name: getattr(spec, name) for name in spec.model_fields_set - {"first"}}
    return built.model_copy(update={"first": first, **changes})


def _dense(index: Index, spec: RetrieverSpec) -> Dense:
    there, where = index.manifest.embeddings, str(index.path)
    if not there:
        what = "the index was built for words only and has no vectors"
        raise InputError(what, where=where, hint="Build one for {first: blend} in another folder.")
    settings = spec.embeddings.model_dump(exclude_none=True) if spec.embeddings else {}
    actual = {**there, "model": there["name"]}
    for key, value in settings.items():
        if value != actual.get(key):
            name = "embeddings" if key == "model" else key
            what = f"the index has {name} {actual.get(key)!r}, not {value!r}"
            raise InputError(what, where=where, hint="Leave it out of the retriever, or build another index.")
    require_embeddings(there["name"])
    return Dense(index, opened_vectors(index.data, index.manifest))

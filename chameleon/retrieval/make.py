"""Indexes built and searched by name: `build_index`, `delete_documents` and `make_retriever`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.errors import InputError
from chameleon.retrieval.build import Build, Progress
from chameleon.retrieval.dense import GIVEN, open_vectors
from chameleon.retrieval.document import Document
from chameleon.retrieval.embeddings import NONE, automatic, missing_packages, require
from chameleon.retrieval.fusion import Blend, Hybrid
from chameleon.retrieval.index import Index
from chameleon.retrieval.manifest import Manifest, is_index
from chameleon.retrieval.model_reranker import ModelReranker
from chameleon.retrieval.retriever import Bm25, Dense, Lexical, Reranked, Reranker, Retriever
from chameleon.retrieval.spec import MINILM, CrossEncoderSpec, LateSpec, RetrieverSpec, StoreSpec

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

Spec = RetrieverSpec | Mapping[str, Any] | str
HYBRID_WEIGHTS, BLEND_WEIGHTS = (10.0, 1.0), (1.0, 2.5)
"""Of words and of vectors, as they were measured to be best with `minilm` (docs/retrieval.md)."""


def build_index(
    path: str | Path,
    documents: Iterable[Document],
    retriever: Spec = "auto",
    progress: Progress | None = None,
    *,
    store: VectorStore | None = None,
) -> Index:
    """Make an index in this folder, or add to the one that is there, and open it.

    A document with an id that the index has is kept where it says the same, and replaces the old one where
    not. Until the last moment the old index stays in place. `retriever` says what a new index is for: for
    vectors it is embedded; by `auto` where embeddings are installed. `store` is a vector store of LangChain
    that keeps them.

    Raises `InputError` for an id that is given twice, another retriever than the index was built for, a
    folder with something else in it, and when the disk takes no more; `MissingPackage`; `ModelError` when the
    embedding model fails.
    """
    settings = settings_at(Path(path), retriever)
    if store is not None:
        settings = replace(settings, store=GIVEN)
    with Build(Path(path), settings, store) as build:
        build.add(documents, progress)
        build.commit(progress)
    return Index.open(path)


def delete_documents(path: str | Path, ids: Iterable[str], *, store: VectorStore | None = None) -> Index:
    """Take documents out of the index in a folder. Raises `InputError` for an id that is not in it."""
    with Build(Path(path), Manifest.read(Path(path)), store) as build:
        build.delete(ids)
        build.commit()
    return Index.open(path)


def settings_at(path: Path, retriever: Spec | None) -> Manifest:
    """Return what the index in a folder has, or what a new one for this retriever is to have.

    Raises `InputError` for another retriever than it was built for, and what `settings_for` raises.
    """
    if not is_index(path):
        return settings_for(retriever or "auto")
    there, wanted = Manifest.read(path), _read(retriever or "auto")
    built = RetrieverSpec.read(there.retriever)
    if wanted not in (built, RetrieverSpec()):
        raise InputError(
            f"the index was built for the retriever {built}, not {wanted}",
            where=str(path),
            hint="Build one for that in another folder.",
        )
    return there


def settings_for(retriever: Spec) -> Manifest:
    """Return what an index for this retriever is to have. Raises `InputError`, `MissingPackage`."""
    spec = _read(retriever)
    told = spec.model_dump(exclude_defaults=True)
    is_auto = spec.first == "auto" and bool(spec.embeddings or _has_embeddings())
    if not (spec.needs_vectors or is_auto):
        return Manifest(told)
    named = spec.embeddings.model_dump(exclude_none=True) if spec.embeddings else {}
    named = {"name": named.pop("model", MINILM), **named}
    require(named["name"])
    return Manifest(told, named, spec.store_name)


def _has_embeddings() -> bool:
    """Tell whether `auto` embeds: by a model, into a file of FAISS."""
    return automatic() != NONE and find_spec("faiss") is not None


def make_retriever(index: Index, retriever: Spec = "auto", *, store: VectorStore | None = None) -> Retriever:
    """Return a retriever over an index; by `auto` the one that it was built for.

    `store` is the vector store, for an index that was built with an object. Raises `InputError` for an index
    that lacks what is asked for, `MissingPackage` where a package is not installed.
    """
    spec = _for_index(index, _read(retriever))
    dense = _dense(index, spec, store) if spec.needs_vectors else None
    words, first = Lexical(index, spec.depth), spec.first
    found: Retriever = words if first == "lexical" else Bm25(index)
    if dense is not None and first == "dense":
        found = dense
    elif dense is not None and first == "hybrid":
        found = Hybrid([words, dense], HYBRID_WEIGHTS, depth=spec.depth)
    elif dense is not None and first == "blend":
        found = Blend([words, dense], BLEND_WEIGHTS, depth=spec.depth)
    if spec.rerank is None:
        return found
    return Reranked(found, _reranker(index, spec, dense), spec.depth)


def _read(retriever: Spec) -> RetrieverSpec:
    """Read what the user names, and import the module of its store: no index has one imported by itself."""
    spec = RetrieverSpec.read(retriever)
    if isinstance(spec.store, StoreSpec):
        from chameleon.retrieval.vector_stores import plug

        plug(spec.store.use)
    return spec


def _for_index(index: Index, spec: RetrieverSpec) -> RetrieverSpec:
    """Return what `auto` comes to for this index; any other as it is."""
    if spec.first != "auto":
        return spec
    built = RetrieverSpec.read(index.manifest.retriever)
    embeddings = index.manifest.embeddings
    first = built.first
    if first == "auto":
        first = "blend" if embeddings and not missing_packages(embeddings["name"]) else "lexical"
    given = {name: getattr(spec, name) for name in spec.model_fields_set - {"first"}}
    return built.model_copy(update={"first": first, **given})


def _dense(index: Index, spec: RetrieverSpec, store: VectorStore | None) -> Dense:
    there = index.manifest.embeddings
    if not there:
        raise InputError(
            "the index was built for words alone and has no vectors",
            where=str(index.path),
            hint="Build one for {first: blend} in another folder.",
        )
    named = spec.embeddings.model_dump(exclude_none=True) if spec.embeddings else {}
    wanted = {"store": spec.store_name if "store" in spec.model_fields_set else None, **named}
    wanted["embeddings"] = wanted.pop("model", None)
    has = {**there, "embeddings": there["name"], "store": index.manifest.store}
    for key, value in wanted.items():
        if value is not None and value != has.get(key):
            raise InputError(
                f"the index has the {key} {has.get(key)!r}, not {value!r}",
                where=str(index.path),
                hint="Name the retriever without it, or build another index.",
            )
    require(there["name"])
    return Dense(index, open_vectors(index.path, index.manifest, store))


def _reranker(index: Index, spec: RetrieverSpec, dense: Dense | None) -> Reranker:
    if isinstance(spec.rerank, CrossEncoderSpec):
        return ModelReranker(index, "cross_encoder", spec.rerank.cross_encoder)
    if isinstance(spec.rerank, LateSpec):
        return ModelReranker(index, "late", spec.rerank.late)
    return dense if spec.rerank == "dense" and dense is not None else Lexical(index, spec.depth)

"""How an index is searched, as a mapping of YAML: what finds documents first, and what orders them again.

    {first: bm25}                                  BM25 over stems; caption and header count more
    {first: bm25, rerank: evidence}                its first hundred by closer evidence (`lexical` for short)
    {first: dense, embeddings: openai:text-embedding-3-small, store: hnsw}
    {first: blend}                                 `lexical` and `dense`, their scores added up
    {first: hybrid}                                the same two, their rankings fused
    {first: bm25, rerank: {cross_encoder: cross-encoder/ms-marco-MiniLM-L6-v2}}
    {first: bm25, rerank: {late: colbert-ir/colbertv2.0}}

`auto`, the default, is what the index was built for; an index is built for `blend` where embeddings are
installed, else for `lexical`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from chameleon.errors import InputError
from chameleon.text import nearest

First = Literal["auto", "bm25", "lexical", "dense", "hybrid", "blend"]
NAMES: tuple[First, ...] = ("auto", "bm25", "lexical", "dense", "hybrid", "blend")
MINILM, LOCAL = "minilm", "sentence-transformers:"
"""Embedding models on this machine: by a package that carries the weights, or by name."""
_BRANCH = re.compile(r"literal\[|\w+Spec$")  # what pydantic calls the branches of a union
WITH_VECTORS = ("dense", "hybrid", "blend")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class EmbeddingsSpec(_Strict):
    """An embedding model by name, and what it wants before a query and before a passage (None: as known)."""

    model: str
    query: str | None = None
    passage: str | None = None


class CrossEncoderSpec(_Strict):
    """A model that reads query and document together: a folder, or a name of the Hugging Face hub."""

    cross_encoder: str


class LateSpec(_Strict):
    """A model that compares token by token: a ColBERT checkpoint by folder or name, or `minilm`."""

    late: str


class StoreSpec(BaseModel):
    """A vector store of LangChain: `use` is "package.module:Class", the rest its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True)
    use: str


class RetrieverSpec(_Strict):
    """What finds documents `first`, and what puts the first `depth` of them in order (`rerank`).

    `embeddings` and `store` are for vectors: "flat" (exact) and "hnsw" (a graph) are files by FAISS,
    "pgvector" is a table in PostgreSQL.
    """

    first: First = "auto"
    rerank: Literal["evidence", "dense"] | CrossEncoderSpec | LateSpec | None = None
    depth: PositiveInt = 100
    embeddings: EmbeddingsSpec | None = None
    store: Literal["flat", "hnsw", "pgvector"] | StoreSpec = "flat"

    def __str__(self) -> str:
        given = self.model_dump(exclude_defaults=True)
        return (
            self.first
            if set(given) <= {"first"}
            else yaml.safe_dump(given, default_flow_style=True, sort_keys=False).strip()
        )

    @property
    def store_name(self) -> Any:
        """The store as JSON."""
        return self.store if isinstance(self.store, str) else self.store.model_dump()

    @property
    def needs_vectors(self) -> bool:
        return self.first in WITH_VECTORS or self.rerank == "dense"

    @classmethod
    def read(cls, given: RetrieverSpec | Mapping[str, Any] | str) -> RetrieverSpec:
        """Return the retriever of a mapping, of one in a text, or of a name such as "bm25".

        Raises `InputError` for anything else, with the nearest name.
        """
        if isinstance(given, RetrieverSpec):
            return given
        if isinstance(given, str):
            given = _of_text(given)
        given = dict(given)
        if isinstance(given.get("embeddings"), str):
            given["embeddings"] = {"model": given["embeddings"]}
        try:
            return cls.model_validate(given)
        except ValidationError as problem:

            def fit(error: Any) -> tuple[int, bool]:  # of a union the branch that fits best
                return len(error["loc"]), error["type"] not in ("missing", "extra_forbidden")

            deepest = max(problem.errors(), key=fit)
            place = ".".join(str(part) for part in deepest["loc"] if not _BRANCH.match(str(part)))
            raise InputError(
                f"this is no retriever: {place or 'it'}: {deepest['msg'].lower()}",
                hint="Such as {first: bm25, rerank: evidence}; docs/retrieval.md lists all.",
            ) from None


def _of_text(text: str) -> Mapping[str, Any]:
    """Read "bm25" or "{first: bm25}"."""
    if text in NAMES:
        return {"first": text}
    try:
        found = yaml.safe_load(text) if text.lstrip().startswith("{") else None
    except yaml.YAMLError:
        found = None
    if isinstance(found, Mapping):
        return found
    raise InputError(
        f"there is no retriever {text!r}",
        hint=f"{nearest(text, NAMES)} Or a mapping such as {{first: bm25, rerank: evidence}}.".strip(),
    )

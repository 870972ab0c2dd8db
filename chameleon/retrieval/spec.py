"""How to search an index, as a mapping of YAML: the method that finds documents, and one that reranks them.

    {first: bm25}                                  BM25 over stems; caption and header count more
    {first: bm25, rerank: evidence}                its first hundred by closer evidence (`lexical` for short)
    {first: dense, embeddings: openai:text-embedding-3-small}
    {first: dense, embeddings: {model: sentence-transformers:A, query_model: sentence-transformers:B}}
    {first: blend}                                 `lexical` and `dense`, their scores added up
    {first: bm25, rerank: {cross_encoder: cross-encoder/ms-marco-MiniLM-L6-v2}}
    {first: bm25, rerank: {late: colbert-ir/colbertv2.0}}

`auto`, the default, is the retriever that the index was built for: `blend` if embeddings were installed,
else `lexical`.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, Self, get_args

import yaml
from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError, model_validator

from chameleon.errors import InputError
from chameleon.text import nearest
from chameleon.yaml_text import read_yaml

First = Literal["auto", "bm25", "lexical", "dense", "blend"]
NAMES: tuple[First, ...] = get_args(First)
MINILM, LOCAL = "minilm", "sentence-transformers:"
"""Embedding models on this machine: from a package with the weights, or by name."""
_YAML_WIDTH = 10_000
_EXAMPLE = "A retriever is a name or a mapping, such as {first: bm25, rerank: evidence}; docs/retrieval.md."


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class EmbeddingsSpec(_Strict):
    """An embedding model by name, with its prefixes of a query and of a passage (None: the known ones).

    `query_model` embeds queries if that is another model, as in DPR (Karpukhin et al., 2020).
    """

    model: str
    query_model: str | None = None
    query: str | None = None
    passage: str | None = None


class RerankerSpec(_Strict):
    """A model, by folder or name of the Hugging Face hub, that reads query and document together.

    `late` interaction compares them token by token: with a ColBERT checkpoint, or `minilm`.
    """

    cross_encoder: str = ""
    late: str = ""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if bool(self.cross_encoder) == bool(self.late):
            raise ValueError("name cross_encoder or late, not both")
        return self

    @property
    def name(self) -> str:
        return self.cross_encoder or self.late


class RetrieverSpec(_Strict):
    """The method that finds documents `first`, and the one that reorders the first `depth` (`rerank`)."""

    first: First = "auto"
    rerank: Literal["evidence", "dense"] | RerankerSpec | None = None
    depth: PositiveInt = 100
    embeddings: EmbeddingsSpec | None = None

    def __str__(self) -> str:
        data = self.model_dump(exclude_defaults=True)
        if set(data) <= {"first"}:
            return self.first
        return yaml.safe_dump(data, default_flow_style=True, sort_keys=False, width=_YAML_WIDTH).strip()

    @property
    def needs_vectors(self) -> bool:
        return self.first in ("dense", "blend") or self.rerank == "dense"

    @classmethod
    def read(cls, source: "RetrieverSpec | Mapping[str, Any] | str") -> "RetrieverSpec":
        """Return the retriever of a mapping, of a text, or of a name such as "bm25". Raises `InputError`."""
        if isinstance(source, RetrieverSpec):
            return source
        if isinstance(source, str):
            source = _parse(source)
        if not isinstance(source, Mapping):
            raise _no_retriever(repr(source))
        data = dict(source)
        if isinstance(data.get("embeddings"), str):
            data["embeddings"] = {"model": data["embeddings"]}
        try:
            spec = cls.model_validate(data)
        except ValidationError as problem:
            key = str(problem.errors()[0]["loc"][0])
            if key not in _FORMS:
                raise _no_retriever(f"the key {key!r}", nearest(key, _FORMS)) from None
            value = data.get(key)
            raise _no_retriever(f"{key}: {value!r}", f"{key} is {_FORMS[key]}.") from None
        if spec.embeddings and spec.first in ("bm25", "lexical") and spec.rerank != "dense":
            what = f"embeddings: {spec.first} searches by words only"
            raise _no_retriever(what, "Leave it out, or name {first: blend}.")
        return spec


_FORMS = {
    "first": f"one of {', '.join(NAMES)}",
    "rerank": "evidence, dense, {cross_encoder: NAME} or {late: NAME}",
    "depth": "a number of documents",
    "embeddings": "NAME, or {model: NAME, query_model: NAME, query: TEXT, passage: TEXT}",
}


def _no_retriever(what: str, hint: str = "") -> InputError:
    return InputError(f"this is not a retriever: {what}", hint=f"{hint} {_EXAMPLE}".strip())


def _parse(text: str) -> Mapping[str, Any]:
    """Read "bm25" or "{first: bm25}"."""
    if text in NAMES:
        return {"first": text}
    with suppress(yaml.YAMLError):
        if ":" in text and isinstance(data := read_yaml(text), Mapping):
            return data
    raise _no_retriever(repr(text[:100]), nearest(text, NAMES))

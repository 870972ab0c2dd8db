"""How near texts are to a question in meaning: by embeddings, each text embedded once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from chameleon.errors import ChameleonError, ModelError
from chameleon.text import one_line, redact

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

Texts = tuple[str, ...]
_PER_REQUEST, _REQUESTS = 500, 8
_REMEMBERED = 1 << 14
_NEIGHBOURS, _CROWDING = 10, 0.75


class Dense:
    """Embeddings with a memory: of the last 16,384 texts none that comes again is embedded again.

    One serves all threads. Raises `ModelError` when the embedding model fails.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._vectors: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._crowded = lru_cache(maxsize=16)(self._collection)

    def nearness(self, query: str | Sequence[str], views: Sequence[Sequence[str]]) -> list[float]:
        """How near each thing is to the query, each view being one text of every thing, in the same order.

        Of a query in several wordings the mean is taken. The mean over the views of the cosine, less
        `_CROWDING` of the mean cosine of the text with its ten nearest neighbours: what is near to everything
        says little (cross-domain similarity local scaling; Conneau et al., 2018, with the texts themselves as
        the sample of queries).
        """
        import numpy

        wordings = [query] if isinstance(query, str) else query
        said = numpy.stack([embedded_query(self._embeddings, wording) for wording in wordings])
        asked = _unit([said.mean(axis=0)], 1)[0]
        near = []
        for view in views:
            vectors, crowding = self._crowded(tuple(view))
            near.append(vectors @ asked - _CROWDING * crowding)
        means: list[float] = numpy.mean(near, axis=0).tolist()
        return means

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """The cosine of the query with each text."""
        if not texts:
            return []
        asked = embedded_query(self._embeddings, query)
        found: list[float] = (self._of(tuple(texts)) @ asked).tolist()
        return found

    def _collection(self, texts: Texts) -> tuple[Any, Any]:
        """The texts' unit vectors, and of each text the mean cosine with its nearest neighbours."""
        import numpy

        vectors = self._of(texts)
        cosines = vectors @ vectors.T
        numpy.fill_diagonal(cosines, -1.0)
        count = min(_NEIGHBOURS, len(texts) - 1)
        if count < 1:
            return vectors, numpy.zeros(len(texts), numpy.float32)
        nearest = numpy.partition(cosines, len(texts) - count, axis=1)[:, len(texts) - count :]
        return vectors, nearest.mean(axis=1)

    def _of(self, texts: Texts) -> Any:
        import numpy

        with self._lock:  # who comes second waits, and finds the texts embedded
            new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
            self._vectors.update(zip(new, embedded(self._embeddings, new), strict=True))
            found = numpy.stack([self._vectors[text] for text in texts])
            for old in list(self._vectors)[: max(0, len(self._vectors) - _REMEMBERED)]:
                del self._vectors[old]
            return found


def embedded(model: Embeddings, texts: Sequence[str]) -> Any:
    """The texts as unit vectors in float32, the rows of a matrix; a text without any meaning is all zeros.

    Raises `ModelError` when the model fails, or answers with anything but as many vectors of one length.
    """
    import numpy

    parts = [texts[start : start + _PER_REQUEST] for start in range(0, len(texts), _PER_REQUEST)]
    found = [_unit(answered(model.embed_documents, list(part)), len(part)) for part in parts]
    if len({vectors.shape[1] for vectors in found}) > 1:
        raise ModelError("the embedding model answered with vectors of several lengths")
    return numpy.concatenate(found) if found else numpy.empty((0, 0), numpy.float32)


def embedded_query(model: Embeddings, query: str) -> Any:
    """A query as a unit vector in float32. Raises `ModelError` as `embedded` does."""
    return _unit([answered(model.embed_query, query)], 1)[0]


def embedded_queries(model: Embeddings, queries: Sequence[str]) -> Any:
    """Queries as unit vectors, the rows of a matrix: at once where the model can (`embed_queries`).

    Models that know queries from documents take them one by one in LangChain: here several at a time.
    """
    import numpy

    if at_once := getattr(model, "embed_queries", None):
        return _unit(answered(at_once, list(queries)), len(queries))
    with ThreadPoolExecutor(_REQUESTS) as pool:
        return numpy.stack(list(pool.map(lambda query: embedded_query(model, query), queries)))


def answered(ask: Callable[[Any], Any], given: Any) -> Any:
    """What an embedding model answers; whatever it raises is told as `ModelError`, without secrets."""
    try:
        return ask(given)
    except ChameleonError:
        raise
    except Exception as problem:  # each provider's client has errors of its own
        said = one_line(redact(str(problem)))
        raise ModelError(f"the embedding model failed: {type(problem).__name__}: {said}") from None


def _unit(vectors: Sequence[Sequence[float]], count: int) -> Any:
    import numpy

    try:
        found = numpy.asarray(vectors, dtype=numpy.float32)
    except (TypeError, ValueError):  # some vectors longer than others, or none at all
        found = numpy.empty(0, numpy.float32)
    if found.ndim != 2 or len(found) != count or not found.shape[1] or not numpy.isfinite(found).all():
        raise ModelError(f"the embedding model did not answer with {count} vectors of one length")
    lengths = numpy.linalg.norm(found, axis=1, keepdims=True)
    return found / numpy.where(lengths == 0, 1, lengths)

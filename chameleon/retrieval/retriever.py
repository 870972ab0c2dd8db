"""`Retriever`: the one interface of everything that finds documents for a query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple


class Hit(NamedTuple):
    """A document that was found, with its score: higher is nearer, comparable within one search only."""

    id: str
    score: float


class Retriever(ABC):
    """Finds the documents that a query is about, the best first. One serves all threads."""

    @abstractmethod
    def search(self, query: str, k: int = 10) -> list[Hit]:
        """Up to `k` documents, the best first, ties in the order in which they were added."""

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        """A search for each query; override it where many at once cost less."""
        return [self.search(query, k) for query in queries]


class Reranker(ABC):
    """Scores the few documents that a first search found more carefully than it could."""

    @abstractmethod
    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        """How well each of these documents fits the query: higher is better."""


class Scoring(Retriever, Reranker):
    """A retriever that scores other documents than those that it has found as well."""


class Reranked(Retriever):
    """The first `depth` documents of another retriever, in a reranker's order; ties keep the first's."""

    def __init__(self, first: Retriever, reranker: Reranker, depth: int = 100) -> None:
        self.first, self.reranker, self.depth = first, reranker, depth

    def search(self, query: str, k: int = 10) -> list[Hit]:
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        found = self.first.search_many(queries, max(k, self.depth))
        return [self._ordered(query, hits)[:k] for query, hits in zip(queries, found, strict=True)]

    def _ordered(self, query: str, found: Sequence[Hit]) -> list[Hit]:
        candidates, rest = found[: self.depth], found[self.depth :]
        if not candidates:
            return []
        scored = self.reranker.scores(query, [hit.id for hit in candidates])
        hits = sorted(map(Hit, [hit.id for hit in candidates], scored), key=lambda hit: -hit.score)
        lowest = min(scored)
        return [*hits, *(Hit(hit.id, lowest - rank) for rank, hit in enumerate(rest, 1))]

"""`Retriever`: the one interface of everything that finds documents for a query; and those of an index."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from chameleon.retrieval.index import Index
    from chameleon.retrieval.vectors import Vectors


class Hit(NamedTuple):
    """A document that was found, with its score: higher is nearer, comparable within one search only."""

    id: str
    score: float


class Retriever(ABC):
    """Finds the documents that a query is about, the best first. One serves all threads."""

    @abstractmethod
    def search(self, query: str, k: int = 10) -> list[Hit]:
        """Return up to `k` documents, the best first, ties in the order in which they were added."""

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        """Search for each query; override it where many at once cost less."""
        return [self.search(query, k) for query in queries]


class Reranker(ABC):
    """Scores the few documents that a first search found more carefully than it could."""

    @abstractmethod
    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        """Return how well each of these documents fits the query: higher is better."""


class Bm25(Retriever, Reranker):
    """Finds documents of an index by BM25 over stems."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def search(self, query: str, k: int = 10) -> list[Hit]:
        return [Hit(self.index.id_at(place), score) for place, score in self.index.find(query, k)]

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        return self.index.bm25(query, ids)


class Lexical(Retriever, Reranker):
    """Finds documents by BM25, and puts the first `depth` in the order of closer evidence."""

    def __init__(self, index: Index, depth: int = 100) -> None:
        self.index, self.depth = index, depth

    def search(self, query: str, k: int = 10) -> list[Hit]:
        found = self.index.find(query, max(k, self.depth)) if k > 0 else []
        looked, rest = found[: self.depth], found[self.depth :]
        if not looked:
            return []
        places, first = [place for place, _ in looked], [score for _, score in looked]
        scores = self.index.evidence(query, places, first).tolist()
        order = sorted(range(len(places)), key=lambda n: -scores[n])[:k]
        hits = [Hit(self.index.id_at(places[n]), scores[n]) for n in order]
        after = [Hit(self.index.id_at(place), min(scores) - n) for n, (place, _) in enumerate(rest, 1)]
        return [*hits, *after][:k]

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        if not ids:
            return []
        places = self.index.places(ids)
        found = self.index.evidence(query, [places[id] for id in ids], self.index.bm25(query, ids))
        scores: list[float] = found.tolist()
        return scores


class Dense(Retriever, Reranker):
    """Finds documents of an index by the cosine of embeddings, or by how near its vector store has them."""

    def __init__(self, index: Index, vectors: Vectors) -> None:
        self.index, self.vectors = index, vectors

    def search(self, query: str, k: int = 10) -> list[Hit]:
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        found = self.vectors.nearest(queries, k)
        places = self.index.at_numbers(sorted({number for one in found for number, _ in one}))
        return [
            [Hit(self.index.id_at(places[number]), score) for number, score in one if number in places]
            for one in found
        ]

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        places = self.index.places(ids)
        return self.vectors.scores(query, self.index.numbers([places[id] for id in ids]))


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
        return [*hits, *(Hit(hit.id, min(scored) - rank) for rank, hit in enumerate(rest, 1))]

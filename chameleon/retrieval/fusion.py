"""Two retrievers as one: by their rankings (`Hybrid`), or by their scores (`Blend`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

from chameleon.retrieval.retriever import Hit, Retriever

DAMPING = 60
"""The constant of reciprocal rank fusion, by which first places do not outweigh everything else."""


class Scoring(Protocol):
    """A retriever that scores other documents than those that it has found as well."""

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]: ...
    def scores(self, query: str, ids: Sequence[str]) -> list[float]: ...


class Fusion(Retriever):
    """Finds `depth` documents with each retriever, and orders all that were found."""

    def __init__(self, retrievers: Sequence[Scoring], weights: Sequence[float], *, depth: int = 100) -> None:
        """Raises ValueError unless each retriever has a weight."""
        if len(weights) != len(retrievers):
            raise ValueError(f"{len(weights)} weights for {len(retrievers)} retrievers")
        self.retrievers, self.weights, self.depth = tuple(retrievers), tuple(weights), depth

    def search(self, query: str, k: int = 10) -> list[Hit]:
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        wanted = max(k, self.depth)
        rankings = [retriever.search_many(queries, wanted) for retriever in self.retrievers]
        pairs = zip(queries, zip(*rankings, strict=True), strict=True)
        return [self._ordered(query, of_query)[:k] for query, of_query in pairs]

    @abstractmethod
    def fused(self, query: str, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        """Return the documents of all rankings, the best first."""

    def _ordered(self, query: str, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        """Fuse what was found down to `depth`, then add the rest in turns: k changes no order."""
        hits = self.fused(query, [ranking[: self.depth] for ranking in rankings])
        known = {hit.id for hit in hits}
        rest = [id for id in _ids([ranking[self.depth :] for ranking in rankings]) if id not in known]
        return [*hits, *(Hit(id, -float(rank)) for rank, id in enumerate(rest, 1))]


class Hybrid(Fusion):
    """Orders by the sum of weight / (60 + place).

    That is reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), with weights. A retriever adds
    nothing to a document that it has not found. Ties keep the order in which documents are met.
    """

    def fused(self, query: str, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        sums: dict[str, float] = {}
        for ranking, weight in zip(rankings, self.weights, strict=True):
            for place, hit in enumerate(ranking, 1):
                sums[hit.id] = sums.get(hit.id, 0.0) + weight / (DAMPING + place)
        return sorted((Hit(id, score) for id, score in sums.items()), key=lambda hit: -hit.score)


class Blend(Fusion):
    """Orders by a sum of scores (Bruch, Gai and Ingber, 2023), which keeps how far the first is ahead.

    The scores of the first retriever stand as they are; those of another, which scores what the first has
    found as well, are brought to 0 to its weight.
    """

    def fused(self, query: str, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        ids = _ids(rankings)
        total = [self.weights[0] * score for score in self.retrievers[0].scores(query, ids)]
        for retriever, weight in zip(self.retrievers[1:], self.weights[1:], strict=True):
            for place, score in enumerate(_scaled(retriever.scores(query, ids))):
                total[place] += weight * score
        return sorted(map(Hit, ids, total), key=lambda hit: -hit.score)


def _ids(rankings: Sequence[Sequence[Hit]]) -> list[str]:
    """Return the documents of all rankings, each once: the first of each, the second of each, …"""
    longest = max(map(len, rankings), default=0)
    places = (ranking[place].id for place in range(longest) for ranking in rankings if place < len(ranking))
    return list(dict.fromkeys(places))


def _scaled(scores: Sequence[float]) -> list[float]:
    least, greatest = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (greatest - least) if greatest > least else 0.0 for score in scores]

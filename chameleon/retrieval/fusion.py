"""Several retrievers as one: by their rankings (`Hybrid`), or by their scores (`Blend`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from chameleon.retrieval.retriever import Hit, Scoring

DAMPING = 60
"""The constant of reciprocal rank fusion, by which first places do not outweigh everything else."""

_AT_ONCE = 256


class Fusion(Scoring):
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
        found = []
        for start in range(0, len(queries), _AT_ONCE):
            some = queries[start : start + _AT_ONCE]
            rankings = [retriever.search_many(some, wanted) for retriever in self.retrievers]
            for query, of_query in zip(some, zip(*rankings, strict=True), strict=True):
                found.append(self._ordered(query, of_query)[:k])
        return found

    @abstractmethod
    def fused(self, query: str, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        """The documents of all rankings, the best first."""

    def _ordered(self, query: str, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        """What was found down to `depth`, fused, then the rest in turns: k changes no order."""
        hits = self.fused(query, [ranking[: self.depth] for ranking in rankings])
        known = {hit.id for hit in hits}
        rest = [id for id in _ids([ranking[self.depth :] for ranking in rankings]) if id not in known]
        return [*hits, *(Hit(id, -float(rank)) for rank, id in enumerate(rest, 1))]


class Hybrid(Fusion):
    """Orders by the sum of weight / (60 + place).

    That is reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), with weights. A retriever adds
    nothing to a document that it has not found.
    """

    def fused(self, query: str, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        return fused(rankings, self.weights)

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        """As if these documents were all that there are; among equals the first that is given leads."""
        rankings = []
        for retriever in self.retrievers:
            scored = zip(ids, retriever.scores(query, ids), strict=True)
            rankings.append(sorted((Hit(*pair) for pair in scored), key=lambda hit: -hit.score))
        found = {hit.id: hit.score for hit in fused(rankings, self.weights)}
        return [found[id] for id in ids]


class Blend(Fusion):
    """Orders by the weighted sum of scores on one scale (Bruch, Gai and Ingber, 2023).

    Of each retriever, which scores what the others have found as well, the least and the greatest score
    become 0 and 1. Sums of scores keep how far the first is ahead, which reciprocal ranks forget.
    """

    def fused(self, query: str, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        found = _ids(rankings)
        return sorted(map(Hit, found, self.scores(query, found)), key=lambda hit: -hit.score)

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        total = [0.0] * len(ids)
        for retriever, weight in zip(self.retrievers, self.weights, strict=True):
            for place, score in enumerate(_scaled(retriever.scores(query, ids))):
                total[place] += weight * score
        return total


def fused(rankings: Sequence[Sequence[Hit]], weights: Sequence[float], damping: float = DAMPING) -> list[Hit]:
    """The documents of all rankings, by the sum over rankings of weight / (damping + place), from place 1.

    Ties are broken by the order in which the documents are met. Raises ValueError unless each ranking has a
    weight.
    """
    sums: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for place, hit in enumerate(ranking, 1):
            sums[hit.id] = sums.get(hit.id, 0.0) + weight / (damping + place)
    return sorted((Hit(id, score) for id, score in sums.items()), key=lambda hit: -hit.score)


def _ids(rankings: Sequence[Sequence[Hit]]) -> list[str]:
    """The documents of all rankings, each once: the first of each, the second of each, …"""
    longest = max(map(len, rankings), default=0)
    places = (ranking[place].id for place in range(longest) for ranking in rankings if place < len(ranking))
    return list(dict.fromkeys(places))


def _scaled(scores: Sequence[float]) -> list[float]:
    least, greatest = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (greatest - least) if greatest > least else 0.0 for score in scores]

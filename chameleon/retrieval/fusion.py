"""Several retrievers as one: the weighted sum of their scores, on one scale (Bruch, Gai and Ingber, 2023)."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.retrieval.retriever import Hit, Scoring

_AT_ONCE = 256


class Hybrid(Scoring):
    """Finds `depth` documents with each retriever, and lets all of them score all that were found.

    Of each retriever the least and the greatest score become 0 and 1. Sums of scores keep how far the first
    is ahead, which reciprocal ranks forget: so fused, a strong retriever loses to a weak one.
    """

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

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        total = [0.0] * len(ids)
        for retriever, weight in zip(self.retrievers, self.weights, strict=True):
            for place, score in enumerate(_scaled(retriever.scores(query, ids))):
                total[place] += weight * score
        return total

    def _ordered(self, query: str, rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
        """What was found down to `depth` by the sum, then the rest in turns: k changes no order."""
        first = _ids([ranking[: self.depth] for ranking in rankings])
        hits = sorted(map(Hit, first, self.scores(query, first)), key=lambda hit: -hit.score)
        known = set(first)
        rest = [id for id in _ids([ranking[self.depth :] for ranking in rankings]) if id not in known]
        return [*hits, *(Hit(id, -float(rank)) for rank, id in enumerate(rest, 1))]


def _ids(rankings: Sequence[Sequence[Hit]]) -> list[str]:
    """The documents of all rankings, each once: the first of each, the second of each, …"""
    longest = max(map(len, rankings), default=0)
    places = (ranking[place].id for place in range(longest) for ranking in rankings if place < len(ranking))
    return list(dict.fromkeys(places))


def _scaled(scores: Sequence[float]) -> list[float]:
    least, greatest = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (greatest - least) if greatest > least else 0.0 for score in scores]

"""Several rankings made one: reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

from chameleon.retrieval.retriever import Hit, Retriever

DAMPING = 60
"""The constant of the paper, by which first places do not outweigh everything else."""


def fused(
    rankings: Sequence[Sequence[Hit]], weights: Sequence[float] | None = None, damping: float = DAMPING
) -> list[Hit]:
    """The documents of all rankings, by the sum over rankings of weight / (damping + place), from place 1.

    Ties are broken by the order in which the documents are met. Raises ValueError unless each ranking has a
    weight.
    """
    sums: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or list(repeat(1.0, len(rankings))), strict=True):
        for place, hit in enumerate(ranking, 1):
            sums[hit.id] = sums.get(hit.id, 0.0) + weight / (damping + place)
    return sorted((Hit(id, score) for id, score in sums.items()), key=lambda hit: -hit.score)


class Hybrid(Retriever):
    """Several retrievers at once, their rankings fused; each is asked for `depth` documents."""

    def __init__(
        self,
        retrievers: Sequence[Retriever],
        weights: Sequence[float] | None = None,
        *,
        depth: int = 100,
        damping: float = DAMPING,
    ) -> None:
        if weights is not None and len(weights) != len(retrievers):
            raise ValueError(f"{len(weights)} weights for {len(retrievers)} retrievers")
        self.retrievers, self.weights = tuple(retrievers), weights
        self.depth, self.damping = depth, damping

    def search(self, query: str, k: int = 10) -> list[Hit]:
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        wanted = max(k, self.depth)
        rankings = [retriever.search_many(queries, wanted) for retriever in self.retrievers]
        return [fused(of_query, self.weights, self.damping)[:k] for of_query in zip(*rankings, strict=True)]

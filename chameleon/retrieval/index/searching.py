"""A part of an index as a `Retriever`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chameleon.retrieval.index.index import Index
from chameleon.retrieval.part import Searcher
from chameleon.retrieval.retriever import Hit, Scoring

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class IndexRetriever(Scoring):
    """Searches one part of an index, by its own searcher or by another that finds the same positions."""

    def __init__(self, index: Index, part: str, searcher: Searcher | None = None) -> None:
        self.index, self.part = index, part
        self.searcher: Searcher = searcher or index.searcher(part)

    def search(self, query: str, k: int = 10) -> list[Hit]:
        return self._hits(*self.searcher.search(query, k))

    def search_many(self, queries: Sequence[str], k: int = 10) -> list[list[Hit]]:
        return [self._hits(*found) for found in self.searcher.search_many(queries, k)]

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        """How well these documents fit the query, in their order. Raises `InputError` for an unknown id."""
        found: list[float] = self.searcher.scores(query, self.index.positions(ids)).tolist()
        return found

    def _hits(self, positions: NDArray[numpy.int64], scores: NDArray[numpy.float32]) -> list[Hit]:
        return list(map(Hit._make, zip(self.index.ids_at(positions), scores.tolist(), strict=True)))

"""A part of an index as a `Retriever`."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.retrieval.index.index import Index
from chameleon.retrieval.part import Searcher
from chameleon.retrieval.retriever import Hit, Retriever


class IndexRetriever(Retriever):
    """Searches one part of an index, by its own searcher or by another that finds the same positions."""

    def __init__(self, index: Index, part: str, searcher: Searcher | None = None) -> None:
        self.index, self.part = index, part
        self.searcher: Searcher = searcher or index.searcher(part)

    def search(self, query: str, k: int = 10) -> list[Hit]:
        positions, scores = self.searcher.search(query, k)
        return list(map(Hit._make, zip(self.index.ids_at(positions), scores.tolist(), strict=True)))

    def scores(self, query: str, ids: Sequence[str]) -> list[float]:
        """How well these documents fit the query, in their order. Raises `InputError` for an unknown id."""
        found: list[float] = self.searcher.scores(query, self.index.positions(ids)).tolist()
        return found

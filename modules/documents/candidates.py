"""The tables that a search has found, with what the index says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chameleon import State, Table
from chameleon.modules.tablerag.table_retriever import opened


@dataclass(frozen=True)
class Candidate:
    """One table that may hold the answer: higher scores are nearer to the question."""

    id: str
    name: str
    score: float
    table: Table
    source: Mapping[str, str]

    def to_json(self) -> dict[str, object]:
        """Return what to tell of it, without its cells."""
        return {"id": self.id, "name": self.name, "score": self.score, "source": dict(self.source)}

    @property
    def called(self) -> str:
        """Return its caption with its place, for people."""
        return self.id if self.name in self.id else f"{self.name} ({self.id})"


def candidates(state: State) -> list[Candidate]:
    """Return the tables of `cache.retrieved`, the best first; none where nothing was searched.

    Reads `input.index`, in which they lie.
    """
    if not state.input.get("index") or not state.cache.get("retrieved"):
        return []
    index, _ = opened(str(state.input["index"]))
    found = []
    for hit in state.cache["retrieved"]:
        document = index.document(hit["id"])
        if (table := document.table) is not None:
            captioned = table if table.caption.strip() else table.with_caption(document.title)
            source = dict(document.source)
            found.append(Candidate(document.id, document.name, float(hit["score"]), captioned, source))
    return found

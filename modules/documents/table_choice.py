"""Choose the table to answer from among those that a search has found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import PositiveInt

from chameleon import Declined, LLMModule, State, StepRejected, Table
from chameleon.modules.tablerag.table_retriever import opened_index, source_of
from chameleon.prompt import table_text
from chameleon.quoting import Quoted, block, on_one_line, untagged

_NUMBER = re.compile(r"(?:table|number|answer)?\W{0,4}(\d{1,3})\b", re.IGNORECASE)
_NONE = re.compile(r"\W{0,4}none\b", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """One table that may hold the answer; its score is that of `lexical`, whatever retriever found it."""

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
    index = opened_index(str(state.input["index"]))
    ids = [hit["id"] for hit in state.cache["retrieved"]]
    found = []
    places = [index.place(id) for id in ids]
    scores = index.evidence(state.input["question"], places)
    for id, place, score in zip(ids, places, scores, strict=True):
        document = index.document_at(place)
        if (table := document.table) is not None:
            captioned = table if table.caption.strip() else table.with_caption(document.title)
            source = dict(document.source)
            found.append(Candidate(id, document.name, score, captioned, source))
    return sorted(found, key=lambda each: -each.score)


class TableChoice(LLMModule):
    """Chooses, of the tables found, the one that the question is about. Follows table_retriever."""

    prompt = "corpus/table_choice"
    reads = ("input.question", "input.index", "cache.retrieved")
    writes = ("input.table", "input.tables", "cache.table_choice", "cache.sources")
    non_text = ("cache.table_choice", "cache.sources")
    max_rows = 3
    max_cell = 60

    def __init__(self, ahead: float = 3.0, max_tables: PositiveInt = 10) -> None:
        """Set when the model is asked, and how much it is shown.

        - `ahead`: a first table with so many times the score of the second is taken without a call.
        - `max_tables`: how many tables are shown, each with its caption, its columns and its first rows.
        """
        self.ahead, self.max_tables = ahead, max_tables

    def run(self, state: State) -> dict[str, Any]:
        """Return the chosen table. Raises `Declined` where the model says that none of them can answer."""
        found = candidates(state)[: self.max_tables]
        if not found:
            raise Declined("no table was found in the index")
        if len(found) == 1 or found[0].score >= self.ahead * found[1].score > 0:
            return _chosen(found[0], "it is clearly ahead")
        chosen: dict[str, Any] = super().run(state)
        return chosen

    def slots(self, state: State) -> dict[str, Any]:
        """Return the slots, with the tables found by number, each with its name, place and beginning."""
        found = enumerate(candidates(state)[: self.max_tables], 1)
        return super().slots(state) | {
            "found": Quoted("\n".join(self._beginning(n, each) for n, each in found))
        }

    def interpret(self, text: str, state: State) -> dict[str, Any]:
        """Return the table that the reply numbers. Raises `StepRejected` for any other reply."""
        found = candidates(state)[: self.max_tables]
        said = text.strip()
        if _NONE.match(said):
            raise Declined(
                f"none of the {len(found)} tables found answers the question",
                hint="Ask with words that stand in the table, or index more tables.",
            )
        number = _NUMBER.match(said)
        if number is None or not 1 <= int(number[1]) <= len(found):
            raise StepRejected("the reply names none of the tables", hint="Reply with a number, or none.")
        return _chosen(found[int(number[1]) - 1], "the model chose it")

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table": output["table"], "tables": []}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        chosen = {key: value for key, value in output.items() if key != "table"}
        return {"table_choice": chosen, "sources": [source_of(chosen)]}

    def _beginning(self, number: int, candidate: Candidate) -> str:
        place = ", ".join(candidate.source.values())
        called = on_one_line(f"{candidate.name} ({place})" if place else candidate.name)
        limits = {"max_rows": self.max_rows, "max_cell": self.max_cell}
        text = table_text(candidate.table, style=self.table_style, **limits)
        return f"Table {number}: {untagged(called)}\n{block('table', text)}"


def _chosen(candidate: Candidate, why: str) -> dict[str, Any]:
    return {**candidate.to_json(), "why": why, "table": candidate.table}

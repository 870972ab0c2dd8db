"""Fill the gaps of sub-questions with what SQL counts in the table (Dater)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from chameleon import LLMModule, State, Table
from chameleon.modules.dater.cloze_generator import GAP, whole
from chameleon.modules.program.answer_generator import tidy
from chameleon.modules.sql.database import Database, SqlTable
from chameleon.modules.sql.query import run_sql

_NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[ \t]*[:.)][ \t]*(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r"^```\w*\s*$", re.MULTILINE)
_ZERO_COUNTS = 1 / 3


class ClozeFiller(LLMModule):
    """Fills the gaps that `cloze_generator` left with numbers that SQL counts in the whole table."""

    prompt = "wikitq/dater_sql"
    reads = ("input.table", "cache.cloze?")
    writes = ("cache.evidence",)
    samples = 5
    max_rows: int | None = 5

    def run(self, state: State) -> dict[str, Any]:
        """`evidence`: the filled sentences; `fills`: for each sub-question the number that won, or None.

        Every reply has a query for each sub-question, and the values of the queries vote. The first rows
        stand in the prompt where the published code draws rows at random, so that a run can be repeated;
        sub-questions are never left out to make a prompt fit, and are known by their place and not by their
        text, so that equal ones do not meet.
        """
        cloze: Sequence[str] = state.cache.get("cloze", ())
        if not cloze:
            return {"evidence": [], "fills": []}
        replies = whole(self.ask(state))
        value_of = _counter(state.input["table"])
        votes = [[value_of(query) for query in queries_in(reply, len(cloze))] for reply in replies]
        fills = [winner([values[number] for values in votes]) for number in range(len(cloze))]
        return {"evidence": filled(cloze, fills), "fills": fills}

    def slots(self, state: State) -> dict[str, Any]:
        questions = [match[1] for line in state.cache.get("cloze", ()) if (match := GAP.search(line))]
        definition = SqlTable.of(state.input["table"]).definition
        return super().slots(state) | {"definition": definition, "questions": questions}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"evidence": " ".join(output["evidence"])}


def queries_in(reply: str, count: int) -> list[str]:
    """The queries of "1: SELECT …", "2: SELECT …", in the order of their numbers; "" for one not there.

    A reply to a single sub-question may leave its number out.
    """
    text = _FENCE.sub("", reply)
    found: dict[int, str] = {}
    for match in _NUMBERED.finditer(text):
        found.setdefault(int(match[1]), match[2].strip())
    if not found and count == 1:
        found[1] = " ".join(text.split())
    return [found.get(number, "") for number in range(1, count + 1)]


def winner(values: Sequence[str | None]) -> str | None:
    """The value with the most votes, ties to the first; None (a query that failed) has a vote as well.

    A vote for 0 counts a third, as published: mostly it comes of a condition that no row was meant to meet.
    """
    votes: dict[str | None, float] = {}
    for value in values:
        votes[value] = votes.get(value, 0.0) + (_ZERO_COUNTS if value == "0" else 1.0)
    return max(votes, key=votes.__getitem__)


def filled(cloze: Sequence[str], fills: Sequence[str | None]) -> list[str]:
    """The sentences with their numbers; those without one are left out.

    All are left out where every number is 0, or every one is 1, as published: such queries rarely counted
    what they should.
    """
    known = [(line, fill) for line, fill in zip(cloze, fills, strict=True) if fill is not None]
    if {fill for _, fill in known} in ({"0"}, {"1"}):
        return []
    return [fill.join(GAP.split(line)[::2]) for line, fill in known]


def _counter(table: Table) -> Callable[[str], str | None]:
    """What a query gives: a single value as text, else None. Equal queries run once."""
    database = Database((SqlTable.of(table),))

    @cache
    def value_of(query: str) -> str | None:
        result = run_sql(database, query) if query else None
        if result is None or not result.ok or len(result.rows) != 1 or len(result.rows[0]) != 1:
            return None
        value = result.rows[0][0]
        return None if value is None else str(tidy(value))

    return value_of

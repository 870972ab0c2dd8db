"""Dater: sub-questions that SQL counts, over a part of the table (Ye et al., 2023).

A question is broken into sentences, each with a gap for a number that SQL counts in the whole table. The
prompts of `select_column` and `select_row` then choose the columns and rows that the question needs, both
from the whole table: if columns were cut first, the choice of rows could lack one that distinguishes them.
`table_query` answers from the remaining table and the numbers.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar

from chameleon import LLMModule, Module, State, Table
from chameleon.core.llm_module import RAISE_LIMIT
from chameleon.core.module import Keys
from chameleon.core.prompt import TableView
from chameleon.errors import CutOff
from chameleon.llm import Reply
from chameleon.modules.program.answer_generator import tidy
from chameleon.modules.sql.database import SqlTable
from chameleon.modules.sql.query import run_sql
from chameleon.modules.table_ops.operation import TableOperation, link_of
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow

GAP = re.compile(r"\{([^{}\n]+)\}")  # {how many riders are from Italy?}
_COUNT_PHRASE = "how many"
_NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[ \t]*[:.)][ \t]*(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r"^```\w*\s*$", re.MULTILINE)
_ZERO_WEIGHT = 1 / 3  # votes, as published


class ClozeGenerator(LLMModule):
    """Breaks the question into sentences with a gap for a number each, for `cloze_filler`."""

    prompt = "wikitq/dater_cloze"
    reads = ("input.question", "input.table")
    writes = ("cache.cloze",)
    samples = 5
    table_view = TableView("numbered", max_rows=3)

    def run(self, state: State) -> list[str]:
        """Return the sentences, or no sentence if the replies do not agree that something must be counted."""
        return cloze_of(_whole_texts(self.ask(state)))


def cloze_of(replies: Sequence[str]) -> list[str]:
    """Return the lines of the first reply if each asks "how many" once and other replies mostly ask it too.

    The published condition is at least as many "how many" as replies. SQL can count the answers to these
    sub-questions; the table itself answers others better.
    """
    lines = [line.strip() for line in replies[0].splitlines() if line.strip()]
    counts = all(line.lower().count(_COUNT_PHRASE) == 1 and len(GAP.findall(line)) == 1 for line in lines)
    total = sum(reply.lower().count(_COUNT_PHRASE) for reply in replies)
    return lines if counts and total >= len(replies) else []


def _whole_texts(replies: Sequence[Reply]) -> list[str]:
    """Return the texts of the replies that were not cut off. Raises `CutOff` if all were."""
    if texts := [reply.text for reply in replies if not reply.truncated]:
        return texts
    raise CutOff("the replies were cut off again with a higher max_tokens", hint=RAISE_LIMIT)


class ClozeFiller(LLMModule):
    """Fills the gaps that `cloze_generator` left with numbers that SQL counts in the whole table."""

    prompt = "wikitq/dater_sql"
    reads = ("input.table", "cache.cloze?")
    writes = ("cache.evidence",)
    samples = 5
    table_view = TableView("numbered", max_rows=5)

    def run(self, state: State) -> dict[str, Any]:
        """Return `evidence`, the filled sentences, and `fills`, the number of each sub-question or None.

        Every reply has a query for each sub-question, and the values of the queries vote. The prompt has the
        first rows, to make runs repeatable, while the published code draws rows at random. Sub-questions are
        never dropped to make a prompt fit, and are identified by position rather than text, so that equal
        ones stay separate.
        """
        cloze: Sequence[str] = state.cache.get("cloze", ())
        if not cloze:
            return {"evidence": [], "fills": []}
        replies = _whole_texts(self.ask(state))
        value_of = cache(partial(_value_of, SqlTable.of(state.input["table"])))  # equal queries run once
        votes = [[value_of(query) for query in queries_in(reply, len(cloze))] for reply in replies]
        fills = [winner([values[number] for values in votes]) for number in range(len(cloze))]
        return {"evidence": filled(cloze, fills), "fills": fills}

    def slots(self, state: State) -> dict[str, Any]:
        """Add the `definition` of the table and the `questions` in the gaps."""
        questions = [match[1] for line in state.cache.get("cloze", ()) if (match := GAP.search(line))]
        definition = SqlTable.of(state.input["table"]).definition
        return super().slots(state) | {"definition": definition, "questions": questions}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"evidence": " ".join(output["evidence"])}


def queries_in(reply: str, count: int) -> list[str]:
    """Return the queries of "1: SELECT …" in order, "" for a missing one; an only query needs no number."""
    text = _FENCE.sub("", reply)
    queries: dict[int, str] = {}
    for match in _NUMBERED.finditer(text):
        queries.setdefault(int(match[1]), match[2].strip())
    if not queries and count == 1:
        queries[1] = " ".join(text.split())
    return [queries.get(number, "") for number in range(1, count + 1)]


def winner(values: Sequence[str | None]) -> str | None:
    """Return the value with the most votes, the first if tied; None, from a failed query, votes too.

    A vote for 0 counts a third, as published, since it usually comes from a wrong condition in the query.
    """
    votes: dict[str | None, float] = {}
    for value in values:
        votes[value] = votes.get(value, 0.0) + (_ZERO_WEIGHT if value == "0" else 1.0)
    return max(votes, key=votes.__getitem__)


def filled(cloze: Sequence[str], fills: Sequence[str | None]) -> list[str]:
    """Return the sentences with their numbers, or no sentence if all numbers are 0 or all 1, as published."""
    pairs = [(line, fill) for line, fill in zip(cloze, fills, strict=True) if fill is not None]
    if {fill for _, fill in pairs} in ({"0"}, {"1"}):
        return []
    return [fill.join(GAP.split(line)[::2]) for line, fill in pairs]


def _value_of(table: SqlTable, query: str) -> str | None:
    """Return the value of a query with a single cell as text, else None."""
    match run_sql(table, query).rows if query else ():
        case [[value]] if value is not None:
            return str(tidy(value))
    return None


class Choice(TableOperation):
    """An operation whose link is noted under the one key that it writes, and whose table stays.

    Mixed into a table operation, before it, so that the next choice sees the whole table too.
    """

    reads: ClassVar[Keys | None] = ("input.question", "input.table")

    def run(self, state: State) -> dict[str, Any]:
        """Return only the link, without the table that it would produce."""
        return link_of(super().run(state))

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return Module.update_cache(self, cache, output)


class ColumnChoice(Choice, SelectColumn):
    """Names the columns that the question is about; `table_part` keeps them."""

    writes = ("cache.column_choice",)


class RowChoice(Choice, SelectRow):
    """Names the rows that the question is about; `table_part` keeps them."""

    writes = ("cache.row_choice",)


class TablePart(Module):
    """Keeps the columns and rows that `column_choice` and `row_choice` named. Follows both."""

    reads = ("input.table", "cache.column_choice", "cache.row_choice")
    writes = ("input.table", "cache.chain")

    def run(self, state: State) -> list[Mapping[str, Any]]:
        """Return the links of the chain: first the columns, then the rows."""
        return [state.cache["column_choice"], state.cache["row_choice"]]

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        """Return the part of the table; a refused choice cuts nothing."""
        table: Table = input["table"]
        for operation, link in zip((ColumnChoice(), RowChoice()), output, strict=True):
            if "refused" not in link:
                table = operation.apply(table, link["args"])
        return {"table": table}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"chain": output}

"""Write an SQL query for a question over a table (Text-to-SQL; Rajkumar et al., 2022)."""

from __future__ import annotations

import re
from typing import Any

from chameleon import LLMModule, State, StepRejected
from chameleon.modules.program.program_generator import program_in
from chameleon.modules.sql.database import SqlTable
from chameleon.modules.sql.describe import described

_LABEL = re.compile(r"^(?:sql|query)\s*:\s*", re.IGNORECASE)
_START = re.compile(r"^[^\S\n]*(?:select|with|values)\b", re.IGNORECASE | re.MULTILINE)


class SqlGenerator(LLMModule):
    """Writes one SQLite query over the table, called w. For questions that cells, counts and sums answer."""

    prompt = "wikitq/text_to_sql"
    reads = ("input.question", "input.table")
    writes = ("cache.sql",)

    def __init__(self, shown_rows: int = 3) -> None:
        """`shown_rows`: how many rows the prompt shows below the columns, 3 as published."""
        self.shown_rows = shown_rows

    def slots(self, state: State) -> dict[str, Any]:
        """The columns with their types and the first rows stand in `database`."""
        table = state.input["table"]
        shown = described(SqlTable.of(table), table.caption, self.shown_rows)
        return super().slots(state) | {"database": shown}

    def parse(self, text: str) -> str:
        return sql_in(text)


def sql_in(text: str) -> str:
    """The query in a reply: in its last code block, or from its first SELECT or WITH on.

    Raises `StepRejected` for a reply without one. What follows an empty line is left out.
    """
    code = _LABEL.sub("", program_in(text).strip())
    start = _START.search(code)
    if start is None:
        raise StepRejected("the reply holds no SQL query")
    return re.split(r"\n\s*\n", code[start.start() :].strip(), maxsplit=1)[0].rstrip().rstrip(";").rstrip()

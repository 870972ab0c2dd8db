"""SQL as a tool: a planner's model asks the table as often as it needs, and sees what comes back."""

from __future__ import annotations

import re
from typing import Annotated

from chameleon import Module, State, StepRejected, Table
from chameleon.core.module import Traits
from chameleon.modules.sql.database import SqlTable, as_text
from chameleon.modules.sql.query import check_sql, run_sql

_NO_TABLE = re.compile(r"no such table: (.+)")
_WITH = re.compile(r"\s*WITH\s+(?:RECURSIVE\s+)?", re.IGNORECASE)


class TableSchema(Module):
    """Tells the columns of the table as SQL has them, their types, and the first rows."""

    reads = ("input.table",)
    writes = ("cache.table_schema",)

    def __init__(self, shown_rows: int = 5) -> None:
        self.shown_rows = shown_rows

    def run(self, state: State) -> str:
        table: Table = state.input["table"]
        return SqlTable.of(table).described(table.caption, self.shown_rows)


class SqlQuery(Module):
    """Runs one SQLite query over the table, which is called w, and gives the rows of its result."""

    reads = ("input.table",)
    writes = ("cache.sql_query",)
    traits = Traits(takes_code="sql")
    uses = ("sandbox",)

    def __init__(self, timeout: float | None = None) -> None:
        """`timeout`: seconds for a query, by default the sandbox's 2."""
        self.timeout = timeout

    def check(self) -> None:
        check_sql()

    def run(self, state: State, *, query: Annotated[str, "one SELECT statement over the table w"]) -> Table:
        if not re.search(r"\bfrom\b", query, re.IGNORECASE):
            raise StepRejected("the query reads no table", hint="Write one SELECT … FROM w.")
        table = SqlTable.of(state.input["table"])
        result = run_sql(table, query, timeout=self.timeout)
        other = _NO_TABLE.search(result.message)
        if other and not re.search(r"\bw\b", query, re.IGNORECASE):  # it means the only one
            result = run_sql(table, _calling(other[1], query), timeout=self.timeout)
        if not result.ok:
            hint = "Write one SELECT over the columns of w; names of several words stand in double quotes."
            raise StepRejected(result.failure, hint=hint)
        rows = [["" if cell is None else as_text(cell) for cell in row] for row in result.rows]
        return Table(list(result.columns), rows)


def _calling(name: str, query: str) -> str:
    """Return the query with the table w under another name as well, which may be a column's or a cell's."""
    named, begin = f'"{name}" AS (SELECT * FROM w)', _WITH.match(query)  # noqa: S608 - sealed
    return f"{begin[0]}{named}, {query[begin.end() :]}" if begin else f"WITH {named} {query}"

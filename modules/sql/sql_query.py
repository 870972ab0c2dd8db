"""SQL as a tool: the planner's model queries the table as often as it needs, and sees the results."""

import re
from typing import Annotated

from chameleon import Module, State, StepRejected, Table
from chameleon.core.module import Traits
from chameleon.modules.sql.database import SqlDatabase, as_text
from chameleon.modules.sql.query import check_sql, run_sql

_NO_TABLE = re.compile(r"no such table: (.+)")
_WITH = re.compile(r"\s*WITH\s+(?:RECURSIVE\s+)?", re.IGNORECASE)


class TableSchema(Module):
    """Tells the columns of the tables as SQL has them, their types, and the first rows."""

    reads = ("input.table", "input.tables?")
    writes = ("cache.table_schema",)

    def __init__(self, shown_rows: int = 5) -> None:
        self.shown_rows = shown_rows

    def run(self, state: State) -> str:
        table: Table = state.input["table"]
        database = SqlDatabase.of(table, state.input.get("tables") or ())
        return database.described(table.caption, self.shown_rows)


class SqlQuery(Module):
    """Runs one SQLite query and gives the rows of its result. A table that is the only one is called w."""

    reads = ("input.table", "input.tables?")
    writes = ("cache.sql_query",)
    traits = Traits(takes_code="sql")
    uses = ("sandbox",)

    def __init__(self, timeout: float | None = None) -> None:
        """`timeout`: seconds for a query, by default the sandbox's 2."""
        self.timeout = timeout

    def check(self) -> None:
        check_sql()

    def run(self, state: State, *, query: Annotated[str, "one SELECT statement"]) -> Table:
        if not re.search(r"\bfrom\b", query, re.IGNORECASE):
            raise StepRejected("the query reads no table", hint="Write one SELECT … FROM …")
        tables = SqlDatabase.of(state.input["table"], state.input.get("tables") or ())
        result = run_sql(tables, query, timeout=self.timeout)
        match, names = _NO_TABLE.search(result.message), ", ".join(tables.names)
        if match and names == "w" and not re.search(r"\bw\b", query, re.IGNORECASE):  # it means the only one
            result = run_sql(tables, _with_alias(match[1], query), timeout=self.timeout)
        if not result.ok:
            hint = f"Write one SELECT over {names}; put names of several words in double quotes."
            raise StepRejected(result.failure, hint=hint)
        rows = [list(map(as_text, row)) for row in result.rows]
        return Table(list(result.columns), rows)


def _with_alias(name: str, query: str) -> str:
    """Return the query with another name for the table w, even if that is also a column or cell."""
    clause, begin = f'"{name}" AS (SELECT * FROM w)', _WITH.match(query)  # noqa: S608 - sealed
    return f"{begin[0]}{clause}, {query[begin.end() :]}" if begin else f"WITH {clause} {query}"

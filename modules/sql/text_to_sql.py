"""Text-to-SQL: a model writes one query, whose result is the answer (Rajkumar et al., 2022)."""

import re
from collections.abc import Sequence
from itertools import islice, takewhile
from sqlite3 import complete_statement
from typing import Any

from chameleon import LLMModule, Module, State, StepRejected, Table
from chameleon.core.module import Traits
from chameleon.modules.program.programs import as_answer, blocks_in, program_in
from chameleon.modules.sql.database import Cell, SqlDatabase
from chameleon.modules.sql.query import SqlResult, check_sql, run_sql
from chameleon.modules.table_ops.table_query import Answer, Form
from chameleon.table.grounding import of_another_kind

_MAX_SEMICOLONS = 50  # semicolons, including those in texts
_LABEL = re.compile(r"^(?:sql|query)\s*:\s*", re.IGNORECASE)
_START = re.compile(  # "Select" may be prose, so a FROM must follow
    r"^[^\S\n]*(?:(?-i:SELECT|select)\b|select\b(?=[^\n]{0,500}?\bfrom\b)|values\s*\("
    r"|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\b)",
    re.MULTILINE | re.IGNORECASE,
)
_KEYWORDS = (
    "SELECT|FROM|WHERE|GROUP|ORDER|HAVING|LIMIT|OFFSET|UNION|INTERSECT|EXCEPT|JOIN|LEFT|INNER|CROSS|ON|AND|OR"
)
_CONTINUATION = re.compile(rf"\s*(?:(?:{_KEYWORDS}|{_KEYWORDS.lower()})\b|[),]|--|/\*)")


class SqlGenerator(LLMModule):
    """Writes one SQLite query over the tables. For questions that cells, counts and sums answer."""

    prompt = "wikitq/text_to_sql"
    traits = Traits(shows_own_keys=True)
    reads = ("input.question", "input.table", "input.tables?")
    writes = ("cache.sql",)

    def __init__(self, shown_rows: int = 3) -> None:
        """`shown_rows`: how many rows the prompt shows below the columns, by default 3 as published."""
        self.shown_rows = shown_rows

    def slots(self, state: State) -> dict[str, Any]:
        """Add `database`: the columns with their types and the first rows."""
        table = state.input["table"]
        database = SqlDatabase.of(table, state.input.get("tables") or ())
        text = database.described(table.caption, self.shown_rows)
        return super().slots(state) | {"database": text}

    def parse(self, text: str) -> str:
        """Return the query in a reply: from its last code block with one, or from its first SELECT or WITH.

        The query ends at its semicolon; outside a block, also at an empty line that no more SQL follows.
        Raises `StepRejected` for a reply without a query.
        """
        code = _LABEL.sub("", program_in(text, _START.search).strip())
        start = _START.search(code)
        if start is None:
            raise StepRejected("the reply has no SQL query")
        code = code[start.start() :].strip()
        for end in islice(re.finditer(";", code), _MAX_SEMICOLONS):
            if complete_statement(code[: end.end()]):  # not a semicolon in a text
                return code[: end.start()].rstrip()
        if blocks_in(text):
            return code
        query, *rest = re.split(r"\n\s*\n", code)
        return "\n".join([query, *takewhile(_CONTINUATION.match, rest)]).rstrip()


class SqlExecutor(Module):
    """Runs the SQL query over the tables and answers with its result. Follows sql_generator; comes last."""

    reads = ("cache.sql", "input.question", "input.table", "input.tables?")
    writes = ("cache.answer",)

    def __init__(self, form: Form = "items", timeout: float | None = None, *, checked: bool = False) -> None:
        """Set the form of answers and their checks.

        Args:
            form: "items" (a list of texts), "verdict" ("yes" or "no") or "text".
            timeout: seconds for the query, by default the sandbox's 2.
            checked: whether to refuse a result that does not fit the question, such as several numbers for
                "how many".
        """
        self.form, self.timeout, self.checked = form, timeout, checked

    def check(self) -> None:
        check_sql()

    def run(self, state: State) -> Answer:
        tables: list[Table] = [state.input["table"], *(state.input.get("tables") or ())]
        database = SqlDatabase.of(tables[0], tables[1:])
        if len(tables) > 1 and not re.search(r"\bfrom\b", state.cache["sql"], re.IGNORECASE):
            raise StepRejected("the query reads no table", hint="Write one SELECT … FROM …")
        result = run_sql(database, state.cache["sql"], timeout=self.timeout)
        if not result.ok:
            raise StepRejected(result.failure)
        cells = _as_written(result, tables, database)
        if self.checked and (fault := of_another_kind(state.input["question"], cells, tables)):
            raise StepRejected(fault)
        return as_answer(cells, self.form)


def _as_written(result: SqlResult, tables: Sequence[Table], database: SqlDatabase) -> list[Cell]:
    """Return a result's cells, row by row, as the tables write them: 12467 becomes "12,467" again.

    A cell comes from a column if the result's column has the same name and the cell is one of its values.
    """
    texts: dict[str, dict[Cell, str]] = {}
    for table, each in reversed(list(zip(tables, database.tables, strict=True))):
        columns = zip(each.header, zip(*each.rows, strict=True), table.columns, strict=False)
        for name, values, column in columns:
            # The first row with a value decides how it is written.
            cells = dict(zip(values[::-1], column.cells[::-1], strict=True))
            column_texts = texts.setdefault(name.lower(), {})
            unclear = {value for value, cell in cells.items() if column_texts.get(value, cell) != cell}
            column_texts |= cells
            for value in unclear:  # tables write it differently
                del column_texts[value]
    names = [name.lower() for name in result.columns]
    pairs = (pair for row in result.rows for pair in zip(names, row, strict=True))
    return [None if cell is None else texts.get(name, {}).get(cell, cell) for name, cell in pairs]

"""Run the SQL query over the table, in the sandbox, and answer with what it gives."""

from __future__ import annotations

from chameleon import Module, State, StepRejected, Table
from chameleon.modules.sql.answers import as_answer, written_cells
from chameleon.modules.sql.database import SqlTable
from chameleon.modules.sql.query import check_sql, run_sql
from chameleon.modules.table_ops.table_query import Answer, Form


class SqlExecutor(Module):
    """Runs the SQL query over the table and answers with its result. Follows sql_generator; comes last."""

    reads = ("cache.sql", "input.table")
    writes = ("cache.answer",)

    def __init__(self, form: Form = "items", timeout: float | None = None) -> None:
        """`form`: "items" (a list of texts), "verdict" ("yes" or "no") or "text".

        `timeout`: seconds for the query, by default the sandbox's 2.
        """
        self.form: Form = form
        self.timeout = timeout

    def check(self) -> None:
        check_sql()

    def run(self, state: State) -> Answer:
        table: Table = state.input["table"]
        typed = SqlTable.of(table)
        result = run_sql(typed, state.cache["sql"], timeout=self.timeout)
        if not result.ok:
            raise StepRejected(
                f"the query gave no result ({result.status.replace('_', ' ')}): {result.message}"
            )
        return as_answer(written_cells(result, table, typed), self.form)

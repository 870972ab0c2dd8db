"""Read what is asked of a table, without a model."""

from __future__ import annotations

from typing import Any

from pydantic import PositiveInt

from chameleon import Declined, Module, State, Table
from chameleon.modules.offline.lexical.questions import read_question
from chameleon.modules.offline.lexical.reading import Reading


class LexicalQuestion(Module):
    """Reads what is asked: the operations that the table needs, and where the answer then stands."""

    reads = ("input.question", "input.table")
    writes = ("cache.reading",)

    def __init__(self, sure: float = 0.5, max_table_rows: PositiveInt = 20_000) -> None:
        """How much is read.

        - `sure`: how often readings of a kind must have been right for one to count, from 0 to 1.
        - `max_table_rows`: tables with more rows are declined.
        """
        self.sure, self.max_table_rows = sure, max_table_rows

    def run(self, state: State) -> dict[str, Any]:
        """The reading. Raises `Declined` for a text that is not read surely enough."""
        table: Table = state.input["table"]
        if len(table.rows) > self.max_table_rows:
            raise Declined(
                f"the table has more than {self.max_table_rows:,} rows", hint="Raise `max_table_rows`."
            )
        return self.read(state.input["question"], table).to_json()

    def read(self, text: str, table: Table) -> Reading:
        """What the text asks of the table."""
        return read_question(text, table, self.sure)

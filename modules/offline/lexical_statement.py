"""Read what a statement claims of a table, without a model."""

from __future__ import annotations

from pydantic import PositiveInt

from chameleon import Table
from chameleon.modules.offline.lexical.reading import Reading
from chameleon.modules.offline.lexical.statements import read_statement
from chameleon.modules.offline.lexical_question import LexicalQuestion


class LexicalStatement(LexicalQuestion):
    """Reads what a statement claims: the operations that the table needs, and what to see in it then."""

    def __init__(self, sure: float = 0.65, max_table_rows: PositiveInt = 20_000) -> None:
        """How much is read.

        - `sure`: how often readings of a kind must have been right for one to count, from 0 to 1.
        - `max_table_rows`: tables with more rows are declined.
        """
        super().__init__(sure, max_table_rows)

    def read(self, text: str, table: Table) -> Reading:
        """What the text claims of the table."""
        return read_statement(text, table, self.sure)

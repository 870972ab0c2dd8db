"""Keep the columns that a question needs (Chameleon, section 4.2)."""

from __future__ import annotations

from chameleon import State, Table
from chameleon.modules.row_lookup import RowLookup, subtable_in


class ColumnLookup(RowLookup):
    """Keeps only the columns of the table that the question needs. For tables with many columns."""

    prompt = "tabmwp/column_lookup"

    def __init__(self, min_columns: int = 3, min_cells: int = 19) -> None:
        """A table with fewer columns or cells, the header counted as a row, stays whole without a call.

        The defaults are those of the published runs: tables of 2 columns or 18 cells are left alone.
        """
        self.min_columns, self.min_cells = min_columns, min_cells

    def run(self, state: State) -> Table:
        table: Table = state.input["table"]
        columns = len(table.header)
        if columns < self.min_columns or columns * (len(table.rows) + 1) < self.min_cells:
            return table
        return subtable_in(self.ask(state)[0], table)

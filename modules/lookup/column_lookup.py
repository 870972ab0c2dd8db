"""Keep the columns that a question needs (Chameleon, section 4.2)."""

from __future__ import annotations

from chameleon import State, Table
from chameleon.modules.lookup.row_lookup import RowLookup, subtable_in


class ColumnLookup(RowLookup):
    """Keeps only the columns of the table that the question needs. For tables with many columns."""

    prompt = "tabmwp/column_lookup"

    def __init__(self, min_columns: int = 3, min_cells: int = 19) -> None:
        """A table with fewer columns or cells, the header counted as a row, stays whole without a call.

        The defaults are those of the published runs: tables of 2 columns or 18 cells are left alone.
        """
        self.min_columns, self.min_cells = min_columns, min_cells

    def is_small(self, table: Table) -> bool:
        columns = len(table.header)
        return columns < self.min_columns or columns * (len(table.rows) + 1) < self.min_cells

    def is_shown_whole(self, table: Table) -> bool:
        return True  # columns can be chosen from the first rows

    def interpret(self, text: str, state: State) -> Table:
        """The columns that the reply shows, with all their rows: to drop rows is not this module's part."""
        table: Table = state.input["table"]
        names = iter(subtable_in(text, table).header)
        wanted, indexes = next(names, None), []
        for index, name in enumerate(table.header):
            if name == wanted:
                indexes.append(index)
                wanted = next(names, None)
        return table.take_columns(indexes)

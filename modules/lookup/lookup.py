"""Keep the rows or columns of a table that a question needs (Chameleon, section 4.2)."""

from chameleon import LLMModule, State, StepRejected, Table
from chameleon.errors import InputError
from chameleon.table import as_subtable, parse_table


class RowLookup(LLMModule):
    """Keeps only the rows of the table that the question needs. For tables with many rows."""

    prompt = "tabmwp/row_lookup"
    reads = ("input.question", "input.table")
    writes = ("input.table",)

    def __init__(self, min_rows: int = 4, min_cells: int = 19) -> None:
        """Set the smallest table to cut, header included; smaller ones stay whole without a call.

        The defaults match the published runs, which leave tables of 3 rows or 18 cells whole.
        """
        self.min_rows, self.min_cells = min_rows, min_cells

    def run(self, state: State) -> Table:
        table: Table = state.input["table"]
        if self.stays_whole(table):
            return table
        part: Table = super().run(state)
        return part

    def stays_whole(self, table: Table) -> bool:
        """Return whether to skip the model: it cannot keep rows that it has not seen."""
        rows = len(table.rows) + 1
        limit = self.table_view.max_rows
        is_small = rows < self.min_rows or rows * len(table.header) < self.min_cells
        return is_small or (limit is not None and len(table.rows) > limit)

    def interpret(self, text: str, state: State) -> Table:
        """Return the part of the table that a reply shows, with the cells as in the table.

        Spelling and spacing are repaired. Raises `StepRejected` if the reply shows anything else that is
        not in the table: a lookup is never trusted.
        """
        table: Table = state.input["table"]
        try:
            part = as_subtable(parse_table(text, like=table), table)
        except InputError as problem:
            raise StepRejected(f"the reply has no table: {problem.what}") from problem
        if part is None:
            raise StepRejected("the reply is not part of the table", hint="The table is left as it was.")
        return part


class ColumnLookup(RowLookup):
    """Keeps only the columns of the table that the question needs. For tables with many columns."""

    prompt = "tabmwp/column_lookup"

    def __init__(self, min_columns: int = 2, min_cells: int = 18) -> None:
        """Set the smallest table to cut, header included; smaller ones stay whole without a call.

        The defaults follow Chameleon's appendix A.2: two or more columns, 18 or more cells. Its prompt
        (table 9) says more than two columns.
        """
        self.min_columns, self.min_cells = min_columns, min_cells

    def stays_whole(self, table: Table) -> bool:
        """Return whether to skip the model; the first rows are enough to choose columns."""
        columns = len(table.header)
        return columns < self.min_columns or columns * (len(table.rows) + 1) < self.min_cells

    def interpret(self, text: str, state: State) -> Table:
        """Return the columns that the reply shows, with all rows: this module does not drop rows."""
        table: Table = state.input["table"]
        names = iter(super().interpret(text, state).header)
        expected, indexes = next(names, None), []
        for index, name in enumerate(table.header):
            if name == expected:
                indexes.append(index)
                expected = next(names, None)
        return table.take_columns(indexes)

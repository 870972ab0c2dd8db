"""Regions of a table as people count them: rows from 1 below the header, columns by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chameleon import Table
from chameleon.modules.tablerag.cell_locator import located
from chameleon.table.replies import positions

_MOST_ROWS = 1_000


@dataclass(frozen=True)
class TableRegion:
    """Positions, from 0, of rows and columns of a table; None stands for all of them.

    `cells` are those in which the answer stands.
    """

    rows: Sequence[int] | None = None
    columns: Sequence[int] | None = None
    cells: Sequence[tuple[int, int]] = field(default=())

    def to_json(self, table: Table) -> dict[str, Any]:
        """Return rows by number, left out above a thousand; columns by name; `of`, the count of rows."""
        rows = range(len(table.rows)) if self.rows is None else self.rows
        columns = range(len(table.header)) if self.columns is None else self.columns
        told: dict[str, Any] = {"of": len(table.rows)}
        if len(rows) <= _MOST_ROWS:
            told["rows"] = [row + 1 for row in rows]
        told["columns"] = [_column_name(table, column) for column in columns]
        if self.cells:
            told["cells"] = [[row + 1, _column_name(table, column)] for row, column in self.cells]
        return told


def _column_name(table: Table, column: int) -> str:
    """Return a column's name, or its number where it has none."""
    return table.header[column].strip() or f"column {column + 1}"


def region_kept(whole: Table, part: Table) -> TableRegion | None:
    """Return which rows and columns of a table another one keeps; None where that is no part of it."""
    if (part.header, part.rows) == (whole.header, whole.rows):
        return TableRegion()
    columns = positions([(name,) for name in part.header], [(name,) for name in whole.header])
    if columns is None:
        return None
    rows = positions(part.rows, [tuple(row[column] for column in columns) for row in whole.rows])
    return None if rows is None else TableRegion(rows, columns)


def answer_cells(answer: Any, table: Table, question: str, part: TableRegion) -> list[tuple[int, int]]:
    """Return the cells of this part of a table in which an answer in words stands; none for numbers.

    A number that was computed may equal any cell by chance.
    """
    items = [answer] if isinstance(answer, str) else list(answer) if isinstance(answer, tuple | list) else []
    if not items or not all(isinstance(item, str) and item.strip() for item in items):
        return []
    rows = range(len(table.rows)) if part.rows is None else part.rows
    columns = range(len(table.header)) if part.columns is None else part.columns
    kept = {"rows": list(rows), "columns": list(columns)}
    cells, missing = located(items, table, question, kept)
    if missing and len(items) == 1 and ", " in items[0]:
        cells, missing = located(items[0].split(", "), table, question, kept)
    inside = [cell for cell in cells if cell[0] in rows and cell[1] in columns]
    return [] if missing or len(inside) < len(cells) else inside

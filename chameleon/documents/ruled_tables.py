"""Tables between ruled lines: which words stand in which cell, and which rows name the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chameleon.documents.reading_order import Word, rows_of
from chameleon.table import Table
from chameleon.table.amount_columns import is_amount

Box = tuple[float, float, float, float]


def ruled_table(found: Any, words: Sequence[Word]) -> Table | None:
    """The table that pdfplumber has found, of these words; None for a frame around text.

    A cell that spans several columns in the rows that name them names each of these columns.
    """
    grid = [[None if cell is None else _text(cell, words) for cell in row.cells] for row in found.rows]
    grid = [row for row in grid if any(row)]
    kept = [place for place in range(len(grid[0])) if any(row[place] for row in grid)] if grid else []
    if len(grid) < 2 or len(kept) < 2:
        return None
    rows = [[row[place] for place in kept] for row in grid]
    heads = (
        2
        if len(rows) > 2 and None in rows[0][1:] and not any(is_amount(cell or "") for cell in rows[1])
        else 1
    )
    names = [_spread(row) for row in rows[: heads - 1]] + [[cell or "" for cell in rows[heads - 1]]]
    header = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*names, strict=True)]
    return Table(header, [[cell or "" for cell in row] for row in rows[heads:]])


def is_within(word: Word, box: Box) -> bool:
    left, top, right, bottom = box
    return left <= (word.x0 + word.x1) / 2 <= right and top <= (word.top + word.bottom) / 2 <= bottom


def _text(cell: Box, words: Sequence[Word]) -> str:
    """The words in a cell, line by line, without marks of footnotes."""
    return " ".join(
        row.without_marks().text for row in rows_of([word for word in words if is_within(word, cell)])
    )


def _spread(row: Sequence[str | None]) -> list[str]:
    """A row that names columns, in which a name stands in each column that it spans."""
    filled = list[str]()
    for cell in row:
        filled.append(cell if cell is not None else filled[-1] if filled else "")
    return filled

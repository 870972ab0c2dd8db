"""A table as Binder's programs see it: numbered rows, everything in lower case, plain numbers and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from chameleon import Table
from chameleon.modules.sql.database import Cell, SqlColumn, SqlTable, SqlType, plain_number, safe_names
from chameleon.table import read_value

ROW_ID = "row_id"
UNNAMED = "filledcolumnname"
NOTHING = "none"

# The published code does not know the longer dashes, and takes a column that has one for text.
_BLANKS = ("", "-", "/", "–", "—")
_BREAK = re.compile(r"(?:(?<!\s)\s+)?(?:\n|\\n)\s*")


@lru_cache(maxsize=16)
def normalised(table: Table) -> SqlTable:
    """The table `w` of Binder: `row_id` counts the rows from 0.

    Names and cells are in lower case; repeated names get "_2", and one that is blank is "filledcolumnname".
    A column is INTEGER, REAL or DATE when all its cells are such or blank ('', '/' or a dash, NULL there); in
    a TEXT column a blank is "none". In any column, numbers lose the marks between their thousands, and dates
    are written "2024-05-04".
    """
    header = safe_names(
        [ROW_ID, *(_BREAK.sub(" ", name).strip().lower() or UNNAMED for name in table.header)]
    )
    columns, cells = [SqlColumn(ROW_ID, "INTEGER")], [list[Cell](range(len(table.rows)))]
    for name, column in zip(header[1:], table.columns, strict=True):
        kind, values = typed([_BREAK.sub("; ", cell.strip()).lower() for cell in column.cells])
        columns.append(SqlColumn(name, kind))
        cells.append(values)
    return SqlTable("w", tuple(columns), list(zip(*cells, strict=True)))


def with_column(table: SqlTable, name: str, cells: Sequence[str | None]) -> SqlTable:
    """The table with another column at its right, typed by its cells; None stands for nothing."""
    kind, values = typed(["" if cell is None else cell for cell in cells])
    rows = [(*row, value) for row, value in zip(table.rows, values, strict=True)]
    return replace(table, columns=(*table.columns, SqlColumn(name, kind)), rows=rows)


def typed(cells: Sequence[str]) -> tuple[SqlType, list[Cell]]:
    """The type that all cells share, blanks aside, and the cells as its values."""
    filled = [cell for cell in cells if cell not in _BLANKS]
    numbers = [_number(cell) for cell in filled]
    if filled and None not in numbers:
        kind: SqlType = "INTEGER" if all(isinstance(number, int) for number in numbers) else "REAL"
        return kind, _filled(cells, numbers)
    if filled and None not in (dates := [plain_date(cell) for cell in filled]):
        return "DATE", _filled(cells, dates)
    return "TEXT", [NOTHING if cell in _BLANKS else _as_text(cell) for cell in cells]


def _number(cell: str) -> int | float | None:
    """The number that a cell is, in figures or with a word for its size ("5.1 million")."""
    if (number := plain_number(cell)) is not None or not cell.endswith(("thousand", "illion")):
        return number
    value = read_value(cell)
    if value.number is None or value.unit:
        return None
    return int(value.number) if value.number.denominator == 1 else float(value.number)


def plain_date(text: str) -> str | None:
    """A date that names its year, as "2024-05-04"; None for all else."""
    date = read_value(text).date
    return date.isoformat() if date else None


def _filled(cells: Sequence[str], values: Sequence[Cell]) -> list[Cell]:
    left = iter(values)
    return [None if cell in _BLANKS else next(left) for cell in cells]


def _as_text(cell: str) -> str:
    number = plain_number(cell) if any(mark in cell for mark in ", \u00a0") else None
    return (plain_date(cell) or cell) if number is None else str(number)

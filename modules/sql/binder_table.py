"""Tables for Binder's programs: numbered rows, everything in lower case, plain numbers and dates."""

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from chameleon import Table
from chameleon.modules.sql.database import Cell, SqlTable, SqlType, safe_names
from chameleon.modules.table_ops.order import plain_number
from chameleon.table.amounts import read_amount
from chameleon.table.dates import read_date
from chameleon.table.meaning import plain_value

ROW_ID = "row_id"
_UNNAMED = "filledcolumnname"

# The published code does not know the longer dashes, and reads a column with one as text.
_BLANKS = ("", "-", "/", "–", "—")
LINE_BREAK = re.compile(r"(?:(?<!\s)\s+)?(?:\n|\\n)\s*")


@lru_cache(maxsize=16)
def binder_table(table: Table) -> SqlTable:
    """Return the table `w` of Binder, with a `row_id` that counts the rows from 0.

    Names and cells are in lower case; repeated names get "_2", and a blank name is "filledcolumnname". A
    column is INTEGER, REAL or DATE if all its cells have that type or are blank ('', '/' or a dash), which
    means NULL; in a TEXT column a blank is "none". In all columns, numbers lose their thousands separators
    and dates are written "2024-05-04".
    """
    names = [LINE_BREAK.sub(" ", name).strip().lower() or _UNNAMED for name in table.header]
    columns: dict[str, SqlType] = {ROW_ID: "INTEGER"}
    cells: list[list[Cell]] = [list(range(len(table.rows)))]
    for name, column in zip(safe_names([ROW_ID, *names])[1:], table.columns, strict=True):
        columns[name], values = _typed([LINE_BREAK.sub("; ", cell.strip()).lower() for cell in column.cells])
        cells.append(values)
    return SqlTable(columns, list(zip(*cells, strict=True)))


def with_column(table: SqlTable, name: str, cells: Sequence[str | None]) -> SqlTable:
    """Return the table with another column on the right, typed by its cells; None means empty."""
    kind, values = _typed([cell or "" for cell in cells])
    rows = [(*row, value) for row, value in zip(table.rows, values, strict=True)]
    return SqlTable({**table.columns, name: kind}, rows)


def plain_date(text: str) -> str | None:
    """Return a date with a year as "2024-05-04", or None for any other text."""
    span = read_date(text)
    is_day = span is not None and span[0].at is None and span[0][:3] == span[1][:3]
    date = span[0].date if span is not None and is_day else None
    return date.isoformat() if date else None


def _typed(cells: Sequence[str]) -> tuple[SqlType, list[Cell]]:
    """Return the type that all non-blank cells share, and the cells converted to it."""
    filled = [cell for cell in cells if cell not in _BLANKS]
    for kind, parse in (("NUMBER", _number), ("DATE", plain_date)):
        values: dict[str, Cell] = {cell: parse(cell) for cell in filled}
        if filled and None not in values.values():
            column = [values.get(cell) for cell in cells]  # a blank is NULL
            if kind == "DATE":
                return "DATE", column
            return "INTEGER" if all(isinstance(each, int) for each in values.values()) else "REAL", column
    return "TEXT", ["none" if cell in _BLANKS else _as_text(cell) for cell in cells]


def _number(cell: str) -> int | float | None:
    """Return the number in a cell, written in digits or with a word ("5.1 million"), or None."""
    if (number := plain_number(cell)) is not None or not cell.endswith(("thousand", "illion")):
        return number
    amount = read_amount(cell)
    return None if amount is None or amount.unit else plain_value(Fraction(amount.number))


def _as_text(cell: str) -> str:
    number = plain_number(cell) if any(mark in cell for mark in ", \u00a0") else None
    return (plain_date(cell) or cell) if number is None else str(number)

"""Records of cells: a value as the text of a cell, and numbered records as a `Table`."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon.errors import InputError
from chameleon.table.table import Table
from chameleon.text import clean_cell

MAX_COLUMNS = 10_000
MAX_CELL = 131_072
"""Characters of a cell: as many as Python's reader of CSV allows. A longer one is a file, not a value."""

Record = tuple[int, Sequence[str]]
"""A record's number (its line or row in the file, from 1) and its cells."""


@dataclass(frozen=True)
class Origin:
    """Where a table comes from: the name that errors give, and what its numbers count."""

    name: str
    unit: str = "line"

    def at(self, number: int) -> str:
        """Return the place of a record; 0 stands for the file as a whole."""
        return f"{self.name}, {self.unit} {number:,}" if number else self.name

    def error(self, what: str, *, at: int | None = None, hint: str = "") -> InputError:
        """Return an error of this file, or of one of its records."""
        return InputError(what, where=self.name if at is None else self.at(at), hint=hint)


def cell_text(value: Any) -> str:
    """Write a JSON or Excel value as a cell: 1.0 is "1", True is "true", None is "", dates are ISO.

    Floats that are not whole are written as Python's `repr` does. Raises ValueError, with a reason fit
    for an error's end, for what no cell can hold: NaN, infinity, lists and objects.
    """
    # The order matters: a truth value is also a whole number, and a moment is also a date.
    match value:
        case None:
            return ""
        case str():
            return clean_cell(value)
        case bool():
            return "true" if value else "false"
        case float():
            if not math.isfinite(value):
                raise ValueError("holds a number that is not finite (NaN or infinity)")
            return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)
        case dt.datetime():
            return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ")
        case dt.date():
            return value.isoformat()
        case dt.time():
            return value.isoformat() if value.second or value.microsecond else f"{value:%H:%M}"
        case int() | dt.timedelta():
            return str(value)
        case list():
            raise ValueError("holds a list")
        case dict():
            raise ValueError("holds an object")
    raise ValueError(f"holds a {type(value).__name__}")


def shown(text: str, limit: int = 60) -> str:
    """Quote and cut text from a file, so that an error that names it stays one harmless line."""
    return repr(text if len(text) <= limit else f"{text[: limit - 1]}…")


def printable(name: str) -> str:
    """Replace the control characters of a file's name, which could reach a terminal through an error."""
    return "".join(character if character.isprintable() else "?" for character in name)


def build_table(
    records: Iterable[Record],
    origin: Origin,
    *,
    caption: str = "",
    pad: bool = False,
    blank_names: bool = False,
) -> Table:
    """Make the table whose header is the first record that holds any text.

    Records without any text are skipped; an empty column too many at the right of all rows is dropped.
    With `pad`, records may be shorter than the header (Excel stores no trailing blanks); with
    `blank_names`, columns other than the first may have no name. Raises `InputError` for everything else.
    """
    filled = ((number, cells) for number, cells in bounded(records, origin) if any(cells))
    number, header = next(filled, (0, ()))
    if not header:
        raise origin.error("the file holds no text", hint="A table needs a header and at least one row.")
    if len(header) > MAX_COLUMNS:
        raise origin.error(
            f"the header has {len(header):,} columns, more than {MAX_COLUMNS:,}",
            at=number,
            hint="Rows and columns may be swapped, or the delimiter may be another one.",
        )
    rows = _rows(filled, len(header), origin, pad=pad)
    if not rows:
        raise origin.error("has a header but no rows", hint="Add at least one row below the header.")
    width = len(header)
    while width > 1 and not header[width - 1] and not any(row[width - 1] for row in rows):
        width -= 1
    if width < len(header):
        header, rows = header[:width], [row[:width] for row in rows]
    _check_names(header, origin, number, blank_names=blank_names)
    return Table(header, rows, caption)


def bounded(records: Iterable[Record], origin: Origin) -> Iterator[Record]:
    """Yield the records. Raises `InputError` for a cell of more than `MAX_CELL` characters."""
    for number, cells in records:
        if any(len(cell) > MAX_CELL for cell in cells):
            raise origin.error(f"a cell is longer than {MAX_CELL:,} characters", at=number)
        yield number, cells


def _rows(records: Iterable[Record], width: int, origin: Origin, *, pad: bool) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    trimmed: tuple[int, int] | None = None
    for number, cells in records:
        row, extra = cells, len(cells) - width
        if extra < 0 and pad:
            row = (*row, *[""] * -extra)
        elif extra > 0 and not any(row[width:]) and (pad or trimmed or not rows):
            trimmed = trimmed or (number, len(row))
            row = row[:width]
        elif extra:
            raise _ragged(number, len(row), width, origin)
        elif trimmed and not pad:
            # A delimiter at the end of every row is the writer's habit; at the end of some it was a slip.
            raise _ragged(*trimmed, width, origin)
        rows.append(row)
    return rows


def _ragged(number: int, found: int, expected: int, origin: Origin) -> InputError:
    hint = (
        "Put quotes around a cell that holds the delimiter."
        if found > expected
        else "Write an empty cell where nothing is known."
    )
    cells = "1 cell" if found == 1 else f"{found:,} cells"
    return origin.error(f"{cells} found, but the header has {expected:,}", at=number, hint=hint)


def _check_names(header: Sequence[str], origin: Origin, number: int, *, blank_names: bool) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(header, 1):
        if not name:
            if position > 1 and not blank_names:
                raise origin.error(
                    f"column {position} has no name", at=number, hint="Only the first column may be unnamed."
                )
        elif name in seen:
            raise origin.error(
                f"columns {seen[name]} and {position} are both named {shown(name)}",
                at=number,
                hint="Rename one of them.",
            )
        else:
            seen[name] = position

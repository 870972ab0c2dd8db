"""Tables as SQL sees them: typed columns under safe names, in a database of their own."""

from __future__ import annotations

import base64
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal, Self

from chameleon.cached import cached_property
from chameleon.errors import InputError, SandboxUnavailable
from chameleon.modules.table_ops.order import plain_number
from chameleon.quoting import unframed
from chameleon.table import Column, Table, read_value
from chameleon.table.typed import MONTHS
from chameleon.text import one_line

Cell = int | float | str | None
SqlType = Literal["INTEGER", "REAL", "TEXT", "DATE", "TIME"]

# SQLite would read a DATE or TIME as a number where it looks like one.
_DECLARED = {
    "INTEGER": "INTEGER",
    "REAL": "REAL",
    "TEXT": "TEXT COLLATE NOCASE",
    "DATE": "TEXT",
    "TIME": "TEXT",
}
_RATIO = re.compile(r"\d\s*/\s*\d")
_MONTHS = frozenset(name[:3] for name in MONTHS)
_MOST_INTEGER = 2**63
_BLANKS = frozenset(["", "-", "–", "—"])
_QUOTES = str.maketrans(dict.fromkeys('"`\0', ""))
_LONGEST_CELL = 200


@dataclass(frozen=True)
class SqlTable:
    """A table that SQL calls `w`: its columns with their declared types, and rows of numbers, texts and NULL.

    Names of columns differ whatever the case.
    """

    columns: Mapping[str, SqlType]
    rows: Sequence[tuple[Cell, ...]] = field(repr=False)

    @classmethod
    def of(cls, table: Table) -> Self:
        """Return the table with its columns typed by what their cells say (`Column.kind`).

        Numbers of one unit are INTEGER or REAL without it, dates DATE as "2024-05-04", times TIME as
        "09:45:00", all else TEXT, which compares without regard to case; empty cells are NULL everywhere.
        """
        kinds, cells = zip(*map(_typed_column, table.columns), strict=True) if table.header else ((), ())
        return cls(dict(zip(safe_names(table.header), kinds, strict=True)), list(zip(*cells, strict=True)))

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    @property
    def definition(self) -> str:
        """The CREATE TABLE statement, a column to a line."""
        lines = (f'\t"{name}" {kind}' for name, kind in self.columns.items())
        return "CREATE TABLE w (\n" + ",\n".join(lines) + "\n)"

    def described(self, title: str = "", rows: int | None = 3) -> str:
        """Return the CREATE TABLE statement and the first rows below it, tab-separated; None shows all rows.

        Text-to-SQL and Binder use this form of Rajkumar et al. (2022). Long cells are cut, visibly.
        """
        shown = self.rows if rows is None else self.rows[:rows]
        lines = ["\t".join(self.header)]
        lines += ["\t".join(one_line(as_text(cell), _LONGEST_CELL) for cell in row) for row in shown]
        named = [f"Title: {' '.join(title.split())}"] if title.strip() else []
        few = len(shown) < len(self.rows)
        told = f"{len(shown)} of the {len(self.rows):,} rows" if few else "all rows"
        note = f"/* {told}, tab-separated:"
        return "\n".join([*named, self.definition, note, *map(unframed, lines), "*/"])

    @cached_property
    def image(self) -> str:
        """A database with the table, as SQLite serialises it, in base64; made once.

        Raises `InputError` for what SQL cannot hold.
        """
        columns = ", ".join(f'"{name}" {_DECLARED[kind]}' for name, kind in self.columns.items())
        places = ", ".join("?" * len(self.columns))
        with closing(sqlite3.connect(":memory:")) as connection:
            if not hasattr(connection, "serialize"):
                raise SandboxUnavailable("this Python's SQLite cannot write a database into memory")
            try:
                with connection:
                    connection.execute(f"CREATE TABLE w ({columns})")
                    connection.executemany(f"INSERT INTO w VALUES ({places})", self.rows)  # noqa: S608
            except sqlite3.Error as error:
                raise InputError(f"the table cannot be held by SQL: {error}") from None
            return base64.b64encode(connection.serialize()).decode("ascii")


def as_text(cell: Cell) -> str:
    """Return a cell as a prompt shows it, on one line."""
    return "" if cell is None else " ".join(str(cell).split())


def safe_names(header: Iterable[str]) -> list[str]:
    """Return names that SQL can quote and tell apart, as near to the header as can be.

    White space is one blank, quotes and control characters go, a blank name becomes "column_3", and what
    repeats an earlier name in any case gets "_2", "_3", …
    """
    taken: set[str] = set()
    names = []
    for number, written in enumerate(header, 1):
        shown = "".join(c for c in " ".join(written.translate(_QUOTES).split()) if c.isprintable())
        name = stem = shown or f"column_{number}"
        copies = 1
        while name.lower() in taken:
            copies += 1
            name = f"{stem}_{copies}"
        taken.add(name.lower())
        names.append(name)
    return names


def _typed_column(column: Column) -> tuple[SqlType, list[Cell]]:
    """Return the SQL type of a column and its cells as values of it; text where no other type fits all."""
    if (plain := _plain_numbers(column.cells)) is not None:
        return plain
    # A column of text is known by its first cells, without reading the rest.
    if not any(read_value(cell).kind == "text" for cell in column.cells[:64]):
        if column.kind == "number" and (numbers := _numbers(column)) is not None:
            return numbers
        if column.kind == "date":
            return "DATE", [value.date.isoformat() if value.date else None for value in column.values]
        if column.kind == "time":
            return "TIME", [value.time.isoformat() if value.time else None for value in column.values]
    texts = (None if len(cell) < 8 and read_value(cell).kind == "empty" else cell for cell in column.cells)
    return "TEXT", [cell.encode("utf-8", "replace").decode() if cell else cell for cell in texts]


def _plain_numbers(cells: Sequence[str]) -> tuple[SqlType, list[Cell]] | None:
    """Read cells that are figures and blanks, without looking for units and dates."""
    numbers: list[Cell] = []
    kinds = set()
    for cell in cells:
        number = None if cell in _BLANKS else plain_number(cell)
        if number is None and cell not in _BLANKS:
            return None
        numbers.append(number)
        kinds.add(type(number))
    if float in kinds:
        return "REAL", [None if number is None else float(number) for number in numbers]
    return ("INTEGER", numbers) if int in kinds else None


def _numbers(column: Column) -> tuple[SqlType, list[Cell]] | None:
    """Return numbers without their unit; None where they cannot be compared.

    Units that differ make numbers that cannot be compared ("5 June", "2 July"), and "1989/90" is no fraction.
    """
    units = {value.unit for value in column.values} - {""}
    if len(units) > 1 or any(unit[:3].lower() in _MONTHS for unit in units):
        return None
    if any(_RATIO.search(cell) for cell in column.cells):
        return None
    figures = [value.number for value in column.values]
    whole = all(number is None or number.denominator == 1 for number in figures)
    if whole and all(number is None or abs(number.numerator) < _MOST_INTEGER for number in figures):
        return "INTEGER", [None if number is None else number.numerator for number in figures]
    try:
        return "REAL", [None if number is None else float(number) for number in figures]
    except OverflowError:
        return None

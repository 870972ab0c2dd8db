"""Tables as SQL sees them: typed columns under safe names, and the database that holds them."""

from __future__ import annotations

import base64
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Self

from chameleon.errors import InputError, SandboxUnavailable
from chameleon.quoting import unframed
from chameleon.table import Column, Table, read_value

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
_MONTHS = frozenset("jan feb mar apr may jun jul aug sep oct nov dec".split())  # noqa: SIM905
_MOST_INTEGER = 2**63
_BLANKS = frozenset(["", "-", "–", "—"])
_PLAIN = re.compile(
    r"(?P<sign>[+−-]?)(?P<whole>\d{1,3}(?:[, \u00a0]\d{3}){1,4}|\d{1,15}|(?=\.\d))(?P<part>\.\d{1,15})?\.?",
    re.ASCII,
)
_QUOTES = str.maketrans(dict.fromkeys('"`\0', ""))
_LONGEST_CELL = 200


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """A column's name, unique in its table whatever the case, and its declared type."""

    name: str
    type: SqlType


@dataclass(frozen=True)
class SqlTable:
    """One table of a database: its name in SQL, its columns, and rows of numbers, texts and NULL."""

    name: str
    columns: tuple[SqlColumn, ...]
    rows: Sequence[tuple[Cell, ...]] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name.lower().startswith("sqlite_"):
            raise InputError(f"{self.name!r} cannot be a table's name in SQL", hint="Use letters and digits.")

    @classmethod
    def of(cls, table: Table, name: str = "w") -> Self:
        """Return the table with its columns typed by what their cells say (`Column.kind`).

        Numbers of one unit are INTEGER or REAL without it, dates DATE as "2024-05-04", times TIME as
        "09:45:00", all else TEXT, which compares without regard to case; empty cells are NULL everywhere.
        """
        typed = [_typed_column(column) for column in table.columns]
        names = safe_names(table.header)
        columns = tuple(SqlColumn(name, kind) for name, (kind, _) in zip(names, typed, strict=True))
        return cls(name, columns, list(zip(*(cells for _, cells in typed), strict=True)))

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def definition(self) -> str:
        """The CREATE TABLE statement, a column to a line."""
        lines = (f'\t"{column.name}" {column.type}' for column in self.columns)
        return f"CREATE TABLE {self.name} (\n" + ",\n".join(lines) + "\n)"

    @cached_property
    def alone(self) -> Database:
        """The database that holds this table and no other, made once."""
        return Database((self,))

    def described(self, title: str = "", rows: int | None = 3) -> str:
        """Return the CREATE TABLE statement and the first rows below it, tab-separated; None shows all rows.

        Text-to-SQL and Binder use this form of Rajkumar et al. (2022). Long cells are cut, visibly.
        """
        shown = self.rows if rows is None else self.rows[:rows]
        lines = ["\t".join(self.header)]
        for row in shown:
            cells = map(as_text, row)
            lines.append(
                "\t".join(c if len(c) <= _LONGEST_CELL else f"{c[: _LONGEST_CELL - 1]}…" for c in cells)
            )
        named = [f"Title: {' '.join(title.split())}"] if title.strip() else []
        few = len(shown) < len(self.rows)
        told = f"{len(shown)} of the {len(self.rows):,} rows" if few else "all rows"
        note = f"/* {told}, tab-separated:"
        return "\n".join([*named, self.definition, note, *map(unframed, lines), "*/"])

    def fill(self, connection: sqlite3.Connection) -> None:
        """Make the table in a database and fill it."""
        columns = ", ".join(f'"{column.name}" {_DECLARED[column.type]}' for column in self.columns)
        places = ", ".join("?" * len(self.columns))
        try:
            connection.execute(f'CREATE TABLE "{self.name}" ({columns})')
            connection.executemany(f'INSERT INTO "{self.name}" VALUES ({places})', self.rows)  # noqa: S608
        except sqlite3.Error as error:
            raise InputError(f"the table cannot be held by SQL: {error}", where=self.name) from None


@dataclass(frozen=True)
class Database:
    """Tables that are written into a database once, and then asked as often as one likes."""

    tables: tuple[SqlTable, ...]

    def __post_init__(self) -> None:
        names = [table.name.lower() for table in self.tables]
        if not names or len(set(names)) < len(names):
            raise InputError("a database needs tables of different names")

    @classmethod
    def of(cls, tables: Database | SqlTable | Table | Mapping[str, Table]) -> Database:
        """Return the tables as a database; what is one already is returned as it is."""
        if isinstance(tables, Database):
            return tables
        if isinstance(tables, SqlTable | Table):
            return (tables if isinstance(tables, SqlTable) else SqlTable.of(tables)).alone
        return cls(tuple(SqlTable.of(table, name) for name, table in tables.items()))

    @cached_property
    def image(self) -> str:
        """The database as SQLite serialises it, in base64. Raises `InputError` for what SQL cannot hold."""
        with closing(sqlite3.connect(":memory:")) as connection:
            if not hasattr(connection, "serialize"):
                raise SandboxUnavailable("this Python's SQLite cannot write a database into memory")
            with connection:
                for table in self.tables:
                    table.fill(connection)
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


def plain_number(text: str) -> int | float | None:
    """Return the number that a text is, such as "47,678", "930 251", "+1.50", ".5" or "3."; None if none."""
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    digits = ("-" if match["sign"] in ("-", "−") else "") + re.sub(r"\D", "", match["whole"])
    return float(digits + match["part"]) if match["part"] else int(digits)


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

"""Tables as SQL sees them: typed columns under safe names, in a database of their own."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal, Self

from chameleon.errors import InputError, SandboxUnavailable
from chameleon.lazy import cached_property
from chameleon.quoting import unframed
from chameleon.table import Column, Table
from chameleon.table.meaning import is_nothing
from chameleon.text import one_line

Cell = int | float | str | None
SqlType = Literal["INTEGER", "REAL", "TEXT", "DATE", "DATETIME", "TIME", "BOOLEAN"]

# All others are TEXT: SQLite would read a DATE or TIME as a number where it looks like one.
_DECLARED = {"INTEGER": "INTEGER", "REAL": "REAL", "BOOLEAN": "INTEGER", "TEXT": "TEXT COLLATE NOCASE"}
_MOST_INTEGER, _TOO_LARGE = 2**63, 10**308
_QUOTES = str.maketrans(dict.fromkeys('"`\0', ""))
_LONGEST_CELL = 200


@dataclass(frozen=True)
class SqlTable:
    """A table that SQL calls `w`: its columns with their declared types, and rows of numbers, texts and NULL.

    Names of columns differ whatever the case. `texts` has the columns that no query may add up, with the
    reason for those that are unclear.
    """

    columns: Mapping[str, SqlType]
    rows: Sequence[tuple[Cell, ...]] = field(repr=False)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, table: Table) -> Self:
        """Return the table with its columns typed by what they mean (`Column.meaning`).

        Numbers are INTEGER or REAL without their unit, true is 1, dates are DATE as "2024-05-04", times TIME
        as "09:45", all else TEXT, which compares without regard to case. Blank cells are NULL; in a column
        of texts only empty ones, dashes and "n/a" are: "NA" may be Namibia.
        """
        kinds, cells = zip(*map(_typed_column, table.columns), strict=True) if table.header else ((), ())
        columns: dict[str, SqlType] = dict(zip(safe_names(table.header), kinds, strict=True))
        pairs = zip(columns, table.columns, strict=True)
        texts = {name: _why(column) for name, column in pairs if columns[name] not in ("INTEGER", "REAL")}
        return cls(columns, list(zip(*cells, strict=True)), texts)

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
        columns = ", ".join(f'"{name}" {_DECLARED.get(kind, "TEXT")}' for name, kind in self.columns.items())
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


def _why(column: Column) -> str:
    """Say why the cells of a column have no order in SQL, "" where they have one."""
    meaning = column.meaning
    if meaning.kind == "code" and len(set(map(len, filter(None, column.cells)))) > 1:
        return "its codes are no numbers"
    is_partial = meaning.kind == "period" and not meaning.unit
    return "its dates are told in part" if is_partial else meaning.why


def _typed_column(column: Column) -> tuple[SqlType, list[Cell]]:
    """Return the SQL type of a column and its cells as values of it; text for all but numbers and dates."""
    meaning = column.meaning
    if meaning.kind == "boolean":
        return "BOOLEAN", [each if each is None else int(each) for each in meaning.values]
    if meaning.is_number or meaning.unit == "year":
        numbers = [each for each in meaning.plain if each is not None]
        if all(isinstance(each, int) and abs(each) < _MOST_INTEGER for each in numbers):
            return "INTEGER", [each if each is None else int(each) for each in meaning.plain]
        if all(each is None or abs(each) < _TOO_LARGE for each in meaning.values):
            return "REAL", [None if each is None else float(each) for each in meaning.values]
    kinds: Mapping[str, SqlType] = {"date": "DATE", "datetime": "DATETIME", "time": "TIME"}
    if (kind := kinds.get(meaning.kind)) is not None:
        return kind, meaning.plain
    texts = meaning.plain if meaning.kind == "period" else column.cells
    return "TEXT", [
        None if cell is None or is_nothing(cell) else cell.encode("utf-8", "replace").decode()
        for cell in texts
    ]

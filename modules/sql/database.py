"""Convert tables to SQL: typed columns with safe names, in a separate database."""

import base64
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, Self

from chameleon.core.prompt import named_tables
from chameleon.errors import InputError, SandboxUnavailable
from chameleon.lazy import cached_property
from chameleon.modules.sql.quoted_names import KEYWORDS
from chameleon.quoting import unframed
from chameleon.table import Column, Table
from chameleon.table.meaning import is_nothing
from chameleon.table.replies import normal
from chameleon.text import one_line

Cell = int | float | str | None
SqlType = Literal["INTEGER", "REAL", "TEXT", "DATE", "DATETIME", "TIME", "BOOLEAN"]

# The others are TEXT: SQLite would read a DATE or TIME as a number if it looks like one.
_DECLARED = {"INTEGER": "INTEGER", "REAL": "REAL", "BOOLEAN": "INTEGER", "TEXT": "TEXT COLLATE NOCASE"}
_INTEGER_LIMIT, _REAL_LIMIT = 2**63, 10**308  # SQLite has 64-bit integers and floats
_NON_WORD = re.compile(r"[^a-z0-9]+")
_QUOTES = str.maketrans(dict.fromkeys('"`\0', ""))
_MAX_CELL_CHARS, _MAX_NAME_CHARS = 200, 120


@dataclass(frozen=True)
class SqlTable:
    """A table for SQL: its columns with their declared types, and rows of numbers, texts and NULL.

    Attributes:
        columns: types by name; the names are unique regardless of case.
        texts: the columns that queries may not add up, with a reason if the column is unclear.
        name: of the table in SQL.
    """

    columns: Mapping[str, SqlType]
    rows: Sequence[tuple[Cell, ...]] = field(repr=False)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    name: str = "w"

    @classmethod
    def of(cls, table: Table, name: str = "w") -> Self:
        """Return the table with its columns typed by their meaning (`Column.meaning`).

        Numbers are INTEGER or REAL without their unit, true is 1, dates are DATE as "2024-05-04", times TIME
        as "09:45", and the rest TEXT, which ignores case in comparisons. Blank cells are NULL; in a column of
        texts, these are empty cells, dashes and "n/a", but not "NA", which may be Namibia.
        """
        kinds, cells = zip(*map(_typed_column, table.columns), strict=True) if table.header else ((), ())
        columns: dict[str, SqlType] = dict(zip(safe_names(table.header), kinds, strict=True))
        pairs = zip(columns, table.columns, strict=True)
        texts = {name: _reason(column) for name, column in pairs if columns[name] not in ("INTEGER", "REAL")}
        return cls(columns, list(zip(*cells, strict=True)), texts, name)

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    @property
    def definition(self) -> str:
        """The CREATE TABLE statement, with one column per line."""
        lines = (f'\t"{name}" {kind}' for name, kind in self.columns.items())
        return f"CREATE TABLE {self.name} (\n" + ",\n".join(lines) + "\n)"

    def described(self, title: str = "", rows: int | None = 3) -> str:
        """Return the CREATE TABLE statement followed by the first rows, tab-separated.

        Text-to-SQL and Binder use this format of Rajkumar et al. (2022). Long cells are cut with a mark.

        Args:
            title: a line above the statement; "" for none.
            rows: how many rows to show; None: all.
        """
        first_rows = self.rows if rows is None else self.rows[:rows]
        lines = ["\t".join(self.header)]
        lines += ["\t".join(one_line(as_text(cell), _MAX_CELL_CHARS) for cell in row) for row in first_rows]
        title_lines = [f"Title: {' '.join(title.split())}"] if title.strip() else []
        few = len(first_rows) < len(self.rows)
        scope = f"{len(first_rows)} of the {len(self.rows):,} rows" if few else "all rows"
        note = f"/* {scope}, tab-separated:"
        return "\n".join([*title_lines, self.definition, note, *map(unframed, lines), "*/"])

    @cached_property
    def alone(self) -> "SqlDatabase":
        """The database with only this table; created once."""
        return SqlDatabase([self])

    def fill(self, connection: sqlite3.Connection) -> None:
        """Create the table in a database and insert its rows."""
        columns = ", ".join(f'"{name}" {_DECLARED.get(kind, "TEXT")}' for name, kind in self.columns.items())
        places = ", ".join("?" * len(self.columns))
        connection.execute(f"CREATE TABLE {self.name} ({columns})")
        connection.executemany(f"INSERT INTO {self.name} VALUES ({places})", self.rows)  # noqa: S608


@dataclass(frozen=True)
class SqlDatabase:
    """The tables that a query may read: only `w`, or several with names made from their captions."""

    tables: Sequence[SqlTable]
    titles: Sequence[str] = ()
    units: Sequence[Mapping[str, str]] = ()

    @classmethod
    def of(cls, table: Table, others: Sequence[Table] = ()) -> Self:
        """Return the tables of a question, typed; among several, "League 2023" is named league_2023."""
        if not others:
            return cls([SqlTable.of(table)])
        tables, names = [table, *(_ordered_as(table, each) for each in others)], list[str]()
        for title, _ in named_tables(tables, first=1):
            stem = _NON_WORD.sub("_", title.lower()).strip("_")[:_MAX_NAME_CHARS] or "t"
            is_taken = stem[0].isdigit() or stem.upper() in KEYWORDS or stem.startswith("sqlite")
            name = stem = f"t_{stem}" if is_taken else stem
            for number in count(2):
                if name not in names:
                    break
                name = f"{stem}_{number}"
            names.append(name)
        units = [{each.name: each.meaning.unit for each in one.columns} for one in tables]
        sql_tables = [SqlTable.of(each, name) for each, name in zip(tables, names, strict=True)]
        return cls(sql_tables, [each.caption for each in tables], units)

    @property
    def names(self) -> list[str]:
        return [table.name for table in self.tables]

    def read_by(self, query: str) -> "SqlDatabase":
        """Return the tables that a query names."""
        words = {*re.findall(r"\w+", query.lower())}
        indexes = [n for n, table in enumerate(self.tables) if table.name.lower() in words]
        if len(self.tables) == 1 or not indexes:
            return self
        return SqlDatabase([self.tables[n] for n in indexes], units=[self.units[n] for n in indexes])

    @cached_property
    def columns(self) -> dict[str, SqlType]:
        """The columns of all tables with their types; the first table's type if several share a column."""
        return {name: kind for table in reversed(self.tables) for name, kind in table.columns.items()}

    @cached_property
    def texts(self) -> dict[str, str]:
        """The columns that are texts in any table, see `SqlTable`, or numbers in different units."""
        texts = {name: reason for table in self.tables for name, reason in table.texts.items()}
        for name in {each for one in self.units for each in one}:
            different = sorted({one[name] for one in self.units if one.get(name)})
            if len(different) > 1:
                texts[name] = f"it is in {' and in '.join(different)}"
        return texts

    def described(self, title: str = "", rows: int | None = 3) -> str:
        """Describe each table, see `SqlTable.described`; `title` is only for a single table."""
        titles = self.titles if len(self.tables) > 1 else [title]
        return "\n\n".join(each.described(name, rows) for each, name in zip(self.tables, titles, strict=True))

    @cached_property
    def image(self) -> str:
        """The database as serialized by SQLite, in base64; created once.

        Raises `InputError` for tables that SQL cannot hold.
        """
        with closing(sqlite3.connect(":memory:")) as connection:
            if not hasattr(connection, "serialize"):
                raise SandboxUnavailable("this Python's SQLite cannot write a database into memory")
            try:
                with connection:
                    for table in self.tables:
                        table.fill(connection)
            except sqlite3.Error as error:
                raise InputError(f"the table cannot be loaded into SQLite: {error}") from None
            return base64.b64encode(connection.serialize()).decode("ascii")


def _ordered_as(first: Table, table: Table) -> Table:
    """Return a table with its columns in the order of the first table, if both have the same columns."""
    names, order = [list(map(normal, each.header)) for each in (table, first)]
    is_same = sorted(names) == sorted(order) and len(set(names)) == len(names)
    return table.take_columns(map(names.index, order)) if is_same and names != order else table


def as_text(cell: Cell) -> str:
    """Return a cell as prompts show it, on one line."""
    return "" if cell is None else " ".join(str(cell).split())


def safe_names(header: Iterable[str]) -> list[str]:
    """Return unique names that SQL can quote, as close to the header as possible.

    White space becomes one space, quotes and control characters are dropped, a blank name becomes
    "column_3", and names that repeat an earlier one, ignoring case, get "_2", "_3", …
    """
    used: set[str] = set()
    names = []
    for number, raw in enumerate(header, 1):
        text = "".join(c for c in " ".join(raw.translate(_QUOTES).split()) if c.isprintable())
        name = stem = text or f"column_{number}"
        copies = 1
        while name.lower() in used:
            copies += 1
            name = f"{stem}_{copies}"
        used.add(name.lower())
        names.append(name)
    return names


def _reason(column: Column) -> str:
    """Say why SQL cannot order the cells of a column, or return "" if it can."""
    meaning = column.meaning
    if meaning.kind == "code" and len(set(map(len, filter(None, column.cells)))) > 1:
        return "its codes are not numbers"
    is_partial = meaning.kind == "period" and not meaning.unit
    return "its dates are only partly given" if is_partial else meaning.why


def _typed_column(column: Column) -> tuple[SqlType, list[Cell]]:
    """Return a column's SQL type, TEXT unless it has numbers, booleans or dates, and its cells as values."""
    meaning = column.meaning
    if meaning.kind == "boolean":
        return "BOOLEAN", [each if each is None else int(each) for each in meaning.values]  # 1 or 0
    if meaning.is_number or meaning.unit == "year":
        numbers = [each for each in meaning.plain if each is not None]
        if all(isinstance(each, int) and abs(each) < _INTEGER_LIMIT for each in numbers):
            return "INTEGER", [each if each is None else int(each) for each in meaning.plain]
        if all(each is None or abs(each) < _REAL_LIMIT for each in meaning.values):
            return "REAL", [None if each is None else float(each) for each in meaning.values]
    kinds: Mapping[str, SqlType] = {"date": "DATE", "datetime": "DATETIME", "time": "TIME"}
    if (kind := kinds.get(meaning.kind)) is not None:
        return kind, meaning.plain
    cells = meaning.plain if meaning.kind == "period" else column.cells
    texts = (None if cell is None or is_nothing(cell) else cell for cell in cells)
    return "TEXT", [text and text.encode("utf-8", "replace").decode() for text in texts]  # no lone surrogates

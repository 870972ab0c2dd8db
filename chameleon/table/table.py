"""`Table`: a header, rows of strings and a caption; immutable, with column types found on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import chain
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

from chameleon.errors import InputError, MissingPackage
from chameleon.lazy import cached_property
from chameleon.table.amounts import marks_in
from chameleon.table.column_names import ColumnName
from chameleon.table.columns import APART, meaning_of, names_units, with_units
from chameleon.table.meaning import Meaning
from chameleon.table.records import cell_text
from chameleon.text import one_line
from chameleon.values import held_as

Row = tuple[str, ...]
_NO_COLUMN = "a table needs at least one column"
_HTML_ROWS, _HTML_CHARS = 20, 200
_MAX_NOTES, _MAX_NOTE_CHARS = 4, 80  # rows set apart to list, and characters of each


class Apart(NamedTuple):
    """A row of a file that is not data, such as a total: its place among all rows, its cells, the reason."""

    place: int
    row: Row
    why: str

    @property
    def note(self) -> str:
        pairs = zip(self.row, ("", *self.row), strict=False)  # a text may span several cells
        cells = [cell for cell, left in pairs if cell and (cell != left or cell[-1:].isdigit())]
        text = one_line(" | ".join(cells), _MAX_NOTE_CHARS)
        return f"the row {text!r} {self.why} and is left out"


@dataclass(frozen=True, repr=False)
class Column:
    """One column: its name, its position, its cells as written, and their meaning (see `Meaning`)."""

    name: str
    index: int
    cells: tuple[str, ...]
    table: Table = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Column {self.name!r}: {len(self.cells):,} cells>"

    @cached_property
    def _own_meaning(self) -> Meaning:
        """The meaning according to its own cells."""
        hint = self.table.hint(self.index)
        return meaning_of(self.name, self.cells, "" if hint == APART else hint)

    @cached_property
    def meaning(self) -> Meaning:
        hint, meaning = self.table.hint(self.index), self._own_meaning
        unit_column = self._unit_column() if meaning.kind == "number" and not meaning.unit else None
        if unit_column is not None:
            return with_units(meaning, self.name, self.cells, unit_column.cells)
        return meaning_of(self.name, self.cells, hint) if hint == APART else meaning

    @property
    def notes(self) -> list[str]:
        """The assumptions about it, and why it is unclear."""
        name = self.name.strip() or f"column {self.index + 1}"
        return [f"{name}: {note}" for note in (*self.meaning.notes, self.meaning.why) if note]

    def _unit_column(self) -> Column | None:
        """Return the column with the units of its figures: kg and g, USD and EUR.

        This is the next column, or one further right without other figures between; for amounts of money
        also after other amounts of money, or on the left.
        """
        is_money, columns = ColumnName(self.name).has("money"), self.table.columns
        for column in columns[self.index + 1 :]:
            if names_units(column.name, column.cells):
                return column
            # `meaning` would look for the unit column of that column in turn.
            if column._own_meaning.is_number and not (is_money and ColumnName(column.name).has("money")):
                return None
        left = columns[self.index - 1] if is_money and self.index else None
        return left if left and names_units(left.name, left.cells) else None


def distinct_names(names: Sequence[str]) -> list[str]:
    """Number repeated column names, the second "Total" as "Total (2)"; blank ones stay blank."""
    used, unique = dict[str, int](), list[str]()
    for name in names:
        candidate = name
        while name and candidate in used:
            used[name] += 1
            candidate = f"{name} ({used[name]})"
        used[candidate] = 1
        unique.append(candidate)
    return unique


_MAX_REPR_CHARS = 200


@held_as("$table", lambda value: Table.from_pandas(value) if _is_frame(value) else None)
@dataclass(frozen=True, repr=False)
class Table:
    """A small table of strings, immutable and therefore safe to share.

    `Table.from_pandas`, `Table.from_records` and `read_table` convert other data.

    Args:
        header: one name for each column, possibly blank or repeated, as in real tables.
        rows: each with as many cells as the header.
        hints: the format of each column if its cells leave it open, see `meaning_of`.
        apart: the rows of its file that are not data; None if they were not looked for, see `set_apart`.
        decisions: the other decisions of its reader.

    Raises:
        InputError: for ragged rows, a table without columns, and cells that are not text.
    """

    header: Row
    rows: tuple[Row, ...]
    caption: str = ""
    hints: Row = field(default=(), compare=False, repr=False)
    apart: tuple[Apart, ...] | None = field(default=None, compare=False, repr=False)
    decisions: Row = field(default=(), compare=False, repr=False)

    def __init__(
        self,
        header: Iterable[str],
        rows: Iterable[Iterable[str]] = (),
        caption: str = "",
        *,
        hints: Iterable[str] = (),
        apart: Iterable[Apart] | None = None,
        decisions: Iterable[str] = (),
    ) -> None:
        if _is_frame(header):
            raise InputError("Table() does not accept a DataFrame", hint="Call Table.from_pandas(df).")
        names, body = tuple(header), tuple(map(tuple, rows))
        # Check all cells at once: a loop over them would take most of the time of reading a file.
        if not set(map(type, chain(names, chain.from_iterable(body)))) <= {str}:
            names, body = tuple(map(_text, names)), tuple(tuple(map(_text, row)) for row in body)
        if not names:
            raise InputError(_NO_COLUMN)
        if not set(map(len, body)) <= {len(names)}:
            number, size = next((n, len(row)) for n, row in enumerate(body, 1) if len(row) != len(names))
            raise InputError(f"row {number} has {size} cells, the header has {len(names)}")
        self.__dict__.update(header=names, rows=body, caption=caption)  # not setattr: the class is frozen
        self.__dict__.update(hints=tuple(hints), decisions=tuple(decisions))
        self.__dict__["apart"] = None if apart is None else tuple(apart)

    def __repr__(self) -> str:
        name = f"{self.caption!r}, " if self.caption else ""
        text = f"{name}{len(self.rows):,} rows of {', '.join(self.header)}"
        return f"<Table {one_line(text, _MAX_REPR_CHARS)}>"

    @property
    def chars(self) -> int:
        """The number of characters in the cells, plus one for each cell: the size in a log."""
        cells = chain(self.header, chain.from_iterable(self.rows))
        return sum(map(len, cells)) + len(self.header) * (len(self.rows) + 1) + len(self.caption)

    @classmethod
    def from_pandas(cls, frame: Any, caption: str = "") -> Table:
        """Make a table from a pandas or polars DataFrame; an index with names or texts becomes columns."""
        if hasattr(frame, "itertuples"):
            index = frame.index
            if any(name is not None for name in index.names) or index.dtype.kind not in "iu":  # iu: integers
                frame = frame.reset_index()
            # Without `astype`, None in a column of numbers or dates stays NaN or NaT.
            rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
        else:
            rows = frame.iter_rows()
        names = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]
        return cls(distinct_names(names), (map(cell_text, row) for row in rows), caption)

    from_polars = from_pandas

    @classmethod
    def from_records(
        cls, records: Iterable[Mapping[str, Any] | Sequence[Any]] | Mapping[str, Any], caption: str = ""
    ) -> Table:
        """Make a table from dicts by column name, sequences with the header first, or columns by name.

        Raises `InputError` for anything else.
        """
        if isinstance(records, Mapping):
            columns = [list(cells) if _is_row(cells) else [cells] for cells in records.values()]
            if len({len(cells) for cells in columns}) > 1:
                raise InputError("the columns have different lengths")
            records = [list(records), *zip(*columns, strict=True)]
        rows = list(records) if isinstance(records, Iterable) else []
        if not rows or not all(map(_is_row, rows)):
            hint = "Give rows: mappings, or sequences with the header first."
            raise InputError(f"no table can be made from {str(records)[:60]!r}", hint=hint)
        if rows and isinstance(rows[0], Mapping):
            keys = list(dict.fromkeys(chain.from_iterable(rows)))
            body = [[cell_text(row.get(key)) for key in keys] for row in rows]  # type: ignore[union-attr]
            return cls(map(cell_text, keys), body, caption)
        header, *cells = [list(map(cell_text, row)) for row in rows] or [[]]
        return cls(distinct_names(header), cells, caption)

    def to_pandas(self) -> Any:
        """Return a DataFrame of the cells' meanings: numbers, datetime64, booleans, else text.

        Raises `MissingPackage`.
        """
        try:
            import pandas
        except ImportError:
            raise MissingPackage("to_pandas needs the package pandas", hint="pip install pandas") from None
        frame = pandas.DataFrame(self._program_rows, columns=list(self.header))
        for index in self._dated:
            frame.isetitem(index, pandas.to_datetime(frame.iloc[:, index]))  # by position: names may repeat
        return frame

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook."""
        lines = [[f"<td>{escape(cell[:_HTML_CHARS])}</td>" for cell in row] for row in self.rows[:_HTML_ROWS]]
        head = "".join(f"<th>{escape(name)}</th>" for name in self.header)
        body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
        note = f"<p>{len(self.rows):,} rows × {len(self.header)} columns</p>"
        return f"<table><caption>{escape(self.caption)}</caption><tr>{head}</tr>{body}</table>{note}"

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        cells = list(zip(*self.rows, strict=True)) or [()] * len(self.header)
        return tuple(Column(name, index, cells[index], self) for index, name in enumerate(self.header))

    def hint(self, index: int) -> str:
        """Return the format of a column if its own cells leave it open; see `meaning_of`."""
        if self._whole is not None:
            whole, places = self._whole
            return whole.columns[places[index]].meaning.hint if places[index] >= 0 else ""
        hint = self.hints[index] if self.hints else ""
        return (self._mark or hint) if hint == "?" else hint  # another column may show the mark

    @cached_property
    def _mark(self) -> str:
        """The decimal mark of the columns that show one, or "" if none does or they differ."""
        marks = marks_in([cell for row in self.rows for cell in row])
        return marks.pop() if len(marks) == 1 else ""

    @property
    def notes(self) -> list[str]:
        """How its file was read, the assumptions about its columns, and which are unclear."""
        return [*self.structure, *(note for column in self.columns for note in column.notes)]

    @property
    def structure(self) -> list[str]:
        """The decisions of its reader: which rows are its header, which are left out."""
        apart = self.apart or ()
        more = len(apart) - _MAX_NOTES
        summary = [f"{more} more {'row is' if more == 1 else 'rows are'} left out"] if more > 0 else []
        return [*(each.note for each in apart[:_MAX_NOTES]), *summary, *self.decisions]

    @cached_property
    def whole(self) -> Table:
        """The table including the rows that were set apart, at their places."""
        rows = list(self.rows)
        for place, row, _ in self.apart or ():
            rows.insert(place, row)  # in order of place, so earlier rows are back already
        return replace(self, rows=tuple(rows), apart=None)

    def without(self, places: Mapping[int, str]) -> Table:
        """Return the table with the rows at these places set apart, each with the reason."""
        rows = tuple(row for place, row in enumerate(self.rows) if place not in places)
        apart = tuple(Apart(place, self.rows[place], why) for place, why in sorted(places.items()))
        return replace(self, rows=rows, apart=apart)

    @property
    def cells(self) -> int:
        """The number of cells in the body: rows times columns."""
        return len(self.rows) * len(self.header)

    def column(self, name: str | int) -> Column:
        """Return a column by name (the first, if names repeat) or position. Raises `InputError`."""
        if isinstance(name, int):
            return self.columns[name]
        if name not in self.header:
            raise InputError(f"no column is named {name!r}", hint=f"There are: {', '.join(self.header)}.")
        return self.columns[self.header.index(name)]

    def take_rows(self, indexes: Iterable[int]) -> Table:
        """Return the rows at these positions, in this order; the rows themselves are shared, not copied."""
        rows = self.rows
        return self._like(self.header, tuple([rows[index] for index in indexes]))

    def take_columns(self, indexes: Iterable[int]) -> Table:
        """Return the columns at these positions, in this order. Raises `InputError` if empty."""
        positions = tuple(indexes)
        if not positions:
            raise InputError(_NO_COLUMN)
        cells = [map(itemgetter(index), self.rows) for index in positions]
        header = tuple([self.header[index] for index in positions])
        return self._like(header, tuple(zip(*cells, strict=True)), positions)

    def with_column(self, name: str, cells: Iterable[str]) -> Table:
        """Add a column on the right. Raises `InputError` unless each row gets one text."""
        added = tuple(cells)
        if len(added) != len(self.rows):
            what = f"the column {name!r} has {len(added)} cells, the table has {len(self.rows)} rows"
            raise InputError(what)
        rows = [(*row, _text(cell)) for row, cell in zip(self.rows, added, strict=True)]
        return self._like((*self.header, _text(name)), tuple(rows), (*range(len(self.header)), -1))

    def with_caption(self, caption: str) -> Table:
        """Return the table with another caption."""
        table = self._like(self.header, self.rows)
        table.__dict__.update(caption=caption, apart=self.apart, decisions=self.decisions)
        return table

    def contains(self, part: Table) -> bool:
        """Return whether `part` is a sub-table: some of these rows (each at most as often) and columns."""
        unmatched: list[str | None] = list(self.header)
        indexes = []
        for name in part.header:
            if name not in unmatched:
                return False
            indexes.append(unmatched.index(name))
            unmatched[indexes[-1]] = None  # a repeated name must match another column
        mine = Counter(tuple(row[index] for index in indexes) for row in self.rows)
        return not Counter(part.rows) - mine

    def _like(self, header: Row, rows: tuple[Row, ...], places: Sequence[int] = ()) -> Table:
        """Make a table from texts of other tables, without checking them again.

        `places` are the positions of its columns in this table, negative for a new one, by default the same.
        Columns keep their format.
        """
        table, source = object.__new__(Table), (self, tuple(places or range(len(header))))
        fields: dict[str, Any] = {"header": header, "rows": rows, "caption": self.caption, "hints": ()}
        table.__dict__.update(fields, decisions=(), apart=None if self.apart is None else (), _whole=source)
        return table

    _whole: ClassVar[tuple[Table, tuple[int, ...]] | None] = None  # if a part: the whole, its columns in it

    def to_json(self) -> dict[str, Any]:
        rows = [list(row) for row in self.rows]
        data = {"header": list(self.header), "rows": rows, "caption": self.caption}
        hints = list(map(self.hint, range(len(self.header)))) if self.hints or self._whole else []
        apart = {} if self.apart is None else {"apart": [[n, list(row), why] for n, row, why in self.apart]}
        decisions = {"told": list(self.decisions)} if self.decisions else {}
        return data | ({"hints": hints} if any(hints) else {}) | apart | decisions

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Table:
        items = data.get("apart")
        apart = None if items is None else [Apart(place, tuple(row), why) for place, row, why in items]
        fields = {"hints": data.get("hints", ()), "decisions": data.get("told", ())}
        return cls(data["header"], data["rows"], data.get("caption", ""), apart=apart, **fields)

    def to_program_input(self) -> dict[str, Any]:
        """Return the `table` of a sandboxed program, and which columns are dates in its `df`."""
        return {"columns": list(self.header), "rows": self._program_rows, "dates": self._dated}

    @cached_property
    def _program_rows(self) -> list[tuple[Any, ...]]:
        """Make the rows for programs, only once because several modules may run programs on one table."""
        return list(zip(*(column.meaning.plain for column in self.columns), strict=True))

    @property
    def _dated(self) -> list[int]:
        return [each.index for each in self.columns if each.meaning.kind in ("date", "datetime")]


def _is_frame(value: Any) -> bool:
    return hasattr(value, "itertuples") or hasattr(value, "iter_rows")  # pandas or polars


def _is_row(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _text(cell: Any) -> str:
    if not isinstance(cell, str):
        hint = "Table.from_records takes rows of any values, the header first."
        raise InputError(f"cells are text, not {type(cell).__name__}", hint=hint)
    return cell

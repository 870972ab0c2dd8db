"""`Table`: a header, rows of strings and a caption; immutable, with columns typed when asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from operator import itemgetter
from typing import Any

from chameleon.cached import cached_property
from chameleon.errors import InputError, MissingPackage
from chameleon.table.typed import Kind, Value, cell_text, read_value
from chameleon.values import held_as

Row = tuple[str, ...]
_NO_COLUMN = "a table needs at least one column"
_SHOWN_ROWS, _SHOWN_CELL = 20, 200
_FRAMES = ("itertuples", "iter_rows")  # what DataFrames of pandas and polars have


@dataclass(frozen=True)
class Column:
    """One column: its name, its position, and its cells as written and as meant."""

    name: str
    index: int
    cells: tuple[str, ...]

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return tuple(read_value(cell) for cell in self.cells)

    @cached_property
    def kind(self) -> Kind:
        """Return the kind that all filled cells share; "text" when they differ, "empty" without any."""
        kinds = {value.kind for value in self.values} - {"empty"}
        return "empty" if not kinds else kinds.pop() if len(kinds) == 1 else "text"

    @cached_property
    def unit(self) -> str:
        """Return the unit that all its numbers share, else ""."""
        units = {value.unit for value in self.values if value.kind == "number"}
        return units.pop() if len(units) == 1 else ""


def told_apart(names: Sequence[str]) -> list[str]:
    """Return names of columns, the second "Total" as "Total (2)"; blank ones stay blank."""
    used: dict[str, int] = {}
    for name in names:
        own = name
        while name and own in used:
            used[name] += 1
            own = f"{name} ({used[name]})"
        used[own or f"\0{len(used)}"] = 1
    return ["" if name.startswith("\0") else name for name in used]


@held_as(
    "$table",
    lambda value: Table.from_pandas(value) if any(hasattr(value, name) for name in _FRAMES) else None,
)
@dataclass(frozen=True)
class Table:
    """A small table of strings, shared freely because nobody can change it.

    `header` has one name for each column (possibly blank or repeated, as in real tables), every row has
    as many cells as the header. `Table.from_pandas`, `Table.from_records` and `read_table` make one of other
    things. Raises `InputError` for ragged rows and for a table without columns.
    """

    header: Row
    rows: tuple[Row, ...]
    caption: str = ""

    def __init__(self, header: Iterable[str], rows: Iterable[Iterable[str]] = (), caption: str = "") -> None:
        if any(hasattr(header, name) for name in _FRAMES):
            raise InputError("a table is not made of a DataFrame so", hint="Call Table.from_pandas(df).")
        names, body = tuple(header), tuple(map(tuple, rows))
        # Asked of all cells at once: a loop over them would take most of the time that reading a file takes.
        if not set(map(type, chain(names, chain.from_iterable(body)))) <= {str}:
            names, body = tuple(map(_text, names)), tuple(tuple(map(_text, row)) for row in body)
        if not names:
            raise InputError(_NO_COLUMN)
        if not set(map(len, body)) <= {len(names)}:
            number, row = next((n, row) for n, row in enumerate(body, 1) if len(row) != len(names))
            raise InputError(f"row {number} has {len(row)} cells, the header has {len(names)}")
        object.__setattr__(self, "header", names)
        object.__setattr__(self, "rows", body)
        object.__setattr__(self, "caption", caption)

    @property
    def chars(self) -> int:
        """Return how many characters the cells have, one more counted for each: what it takes in a log."""
        cells = chain(self.header, chain.from_iterable(self.rows))
        return sum(map(len, cells)) + len(self.header) * (len(self.rows) + 1) + len(self.caption)

    @classmethod
    def from_pandas(cls, frame: Any, caption: str = "") -> Table:
        """Make a table of a DataFrame of pandas or polars; an index with names or texts becomes columns."""
        if hasattr(frame, "itertuples"):
            index = frame.index
            if any(name is not None for name in index.names) or index.dtype.kind not in "iu":
                frame = frame.reset_index()
            rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
        else:
            rows = frame.iter_rows()
        names = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]
        return cls(told_apart(names), (map(cell_text, row) for row in rows), caption)

    from_polars = from_pandas

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, Any] | Sequence[Any]], caption: str = "") -> Table:
        """Make a table of mappings by column name, or of sequences with the header first."""
        rows = list(records)
        if rows and isinstance(rows[0], Mapping):
            keys = list(dict.fromkeys(chain.from_iterable(rows)))
            body = [[cell_text(row.get(key)) for key in keys] for row in rows]  # type: ignore[union-attr]
            return cls(map(cell_text, keys), body, caption)
        header, *cells = [list(map(cell_text, row)) for row in rows] or [[]]
        return cls(told_apart(header), cells, caption)

    def to_pandas(self) -> Any:
        """Return a DataFrame: numbers where the whole column is numeric. Raises `MissingPackage`."""
        try:
            import pandas
        except ImportError:
            raise MissingPackage("to_pandas needs the package pandas", hint="pip install pandas") from None
        return pandas.DataFrame(self._program_rows, columns=list(self.header))

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook."""
        lines = [[escape(cell[:_SHOWN_CELL]) for cell in line] for line in self.rows[:_SHOWN_ROWS]]
        head = "".join(f"<th>{escape(name)}</th>" for name in self.header)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
        note = f"<p>{len(self.rows):,} rows × {len(self.header)} columns</p>"
        return f"<table><caption>{escape(self.caption)}</caption><tr>{head}</tr>{body}</table>{note}"

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        by_column = zip(*self.rows, strict=True) if self.rows else [()] * len(self.header)
        return tuple(
            Column(name, index, tuple(cells))
            for index, (name, cells) in enumerate(zip(self.header, by_column, strict=True))
        )

    @property
    def cells(self) -> int:
        """Count the cells of the body: rows times columns."""
        return len(self.rows) * len(self.header)

    def column(self, name: str | int) -> Column:
        """Return the column of that name (the first, where names repeat) or position. Raises `InputError`."""
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
        """Return the columns at these positions, in this order. Raises `InputError` for none."""
        chosen = tuple(indexes)
        if not chosen:
            raise InputError(_NO_COLUMN)
        cells = [map(itemgetter(index), self.rows) for index in chosen]
        return self._like(tuple([self.header[index] for index in chosen]), tuple(zip(*cells, strict=True)))

    def with_column(self, name: str, cells: Iterable[str]) -> Table:
        """Add a column on the right. Raises `InputError` unless each row gets one text."""
        added = tuple(cells)
        if len(added) != len(self.rows):
            raise InputError(
                f"the column {name!r} has {len(added)} cells, the table has {len(self.rows)} rows"
            )
        if not {type(name), *map(type, added)} <= {str}:
            name, added = _text(name), tuple(map(_text, added))
        rows = [(*row, cell) for row, cell in zip(self.rows, added, strict=True)]
        return self._like((*self.header, name), tuple(rows))

    def with_caption(self, caption: str) -> Table:
        """Return the table under another caption."""
        return self._like(self.header, self.rows, caption)

    def contains(self, part: Table) -> bool:
        """Tell whether `part` is a sub-table: some of these rows (each as often as here) and columns."""
        left = list(self.header)
        indexes = []
        for name in part.header:
            if name not in left:
                return False
            indexes.append(left.index(name))
            left[indexes[-1]] = "\0taken"
        mine = Counter(tuple(row[index] for index in indexes) for row in self.rows)
        return not Counter(part.rows) - mine

    def _like(self, header: Row, rows: tuple[Row, ...], caption: str | None = None) -> Table:
        """Make a table of texts that are known to fit, since they come from tables: none is looked at."""
        made = object.__new__(Table)
        fields = made.__dict__
        fields["header"], fields["rows"] = header, rows
        fields["caption"] = self.caption if caption is None else caption
        return made

    def to_json(self) -> dict[str, Any]:
        return {
            "header": list(self.header),
            "rows": [list(row) for row in self.rows],
            "caption": self.caption,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Table:
        return cls(data["header"], data["rows"], data.get("caption", ""))

    def to_program_input(self) -> dict[str, Any]:
        """Return what a sandboxed program sees as `table`: numbers where the whole column is numeric."""
        return {"columns": list(self.header), "rows": self._program_rows}

    @cached_property
    def _program_rows(self) -> list[tuple[Any, ...]]:
        """Make the rows as programs see them; once, for several modules run the program of one table."""
        columns = [
            [value.plain for value in column.values] if column.kind == "number" else column.cells
            for column in self.columns
        ]
        return list(zip(*columns, strict=True))


def _text(cell: Any) -> str:
    if not isinstance(cell, str):
        raise InputError(f"cells are text, not {type(cell).__name__}")
    return cell

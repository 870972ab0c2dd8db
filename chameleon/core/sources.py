"""Describe in words where an answer comes from, and what was assumed about its table."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from typing import Any

from chameleon.core.prompt import named_tables
from chameleon.core.state import State
from chameleon.table import Table
from chameleon.text import counted, harmless

_MAX_ITEMS, _MAX_TABLES = 6, 4


def sources_in_words(sources: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write a line for each table or passage that an answer came from."""
    lines = [harmless(_source(source)) for source in sources]
    left = len(lines) - _MAX_TABLES
    more = [f"and {counted(left, 'more table')}"] if left > 0 else []
    return [*lines[:_MAX_TABLES], *more]


def notes_on(state: State, most: int | None = None) -> list[str]:
    """Return what was assumed about the columns that the answer uses, in the tables of the question.

    With several tables, only notes on those behind the answer, each with its table's name. After `most`
    notes (None: all) a last line counts the rest.
    """
    data = state.started.input if state.started is not None else {}
    tables = [each for each in (data.get("table"), *(data.get("tables") or ())) if isinstance(each, Table)]
    pairs = named_tables(tables or state.tables, first=1)
    columns = {str(source.get("table")): source.get("columns") or () for source in state.sources}
    notes = []
    for name, table in [pair for pair in pairs if pair[0] in columns] or pairs:
        used = columns.get(name, set(chain.from_iterable(columns.values())))
        noted = chain.from_iterable(each.notes for each in table.columns if not used or each.name in used)
        notes += [f"{name}: {note}" if len(pairs) > 1 else note for note in (*table.structure, *noted)]
    left = len(notes) - (most or len(notes))
    return [*notes[:most], f"and {left} more"] if left > 0 else notes


def _source(source: Mapping[str, Any]) -> str:
    """Write the place of the table or passage, then the rows, columns and the row of the answer."""
    parts = [_place(source)]
    rows, of = source.get("rows"), source.get("of")
    if isinstance(rows, Sequence) and rows and len(rows) != of:
        parts.append(_phrase("row", _ranges(rows)))
    elif isinstance(of, int) and isinstance(count := source.get("count"), int):
        parts.append(f"{count:,} of {of:,} rows")
    elif isinstance(of, int):
        parts.append(f"all {of:,} rows" if of != 1 else "its one row")
    if columns := source.get("columns"):
        parts.append(_phrase("column", list(map(str, columns))))
    cells = source.get("cells") or ()
    if isinstance(of, int) and cells and (not rows or len(rows) == of):
        parts.append(f"the answer in {_phrase('row', _ranges(sorted({cell[0] for cell in cells})))}")
    return ", ".join(parts)


def _place(source: Mapping[str, Any]) -> str:
    """Write the file and its sheet, heading or table; without a file, the name of the table or passage."""
    if "passage" in source:
        if "file" not in source:
            return f"passage {source['passage']}"
        parts = [str(source["file"]), *([str(source["heading"])] if "heading" in source else [])]
        return ", ".join([*parts, *(f"{key} {source[key]}" for key in ("page", "table") if key in source)])
    name = str(source.get("file") or source.get("table") or "a table")
    if place := [f"{kind} {source[kind]}" for kind in ("sheet", "heading", "page") if kind in source]:
        return ", ".join([name, *place])
    whole_file = str(source.get("id")) == name  # the file holds only this table
    return name if whole_file or "file" not in source else f"{name}, table {source.get('table')}"


def _ranges(rows: Sequence[int]) -> list[str]:
    """Write row numbers, with runs of three or more as ranges: 3, 5 to 9."""
    parts: list[str] = []
    for _, run in groupby(enumerate(rows), key=lambda placed: placed[1] - placed[0]):  # constant within a run
        first, *rest = (row for _, row in run)
        if len(rest) > 1:
            parts.append(f"{first:,} to {rest[-1]:,}")
        else:
            parts += [f"{row:,}" for row in (first, *rest)]
    return parts


def _phrase(noun: str, items: Sequence[str]) -> str:
    """Write "rows 3 and 5", "column Team", "columns A, B and 7 more"."""
    many = len(items) > 1 or " to " in items[0]
    if len(items) > _MAX_ITEMS:
        items = [*items[: _MAX_ITEMS - 1], f"{len(items) - _MAX_ITEMS + 1} more"]
    text = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    return f"{noun}{'s' if many else ''} {text}"

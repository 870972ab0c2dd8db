"""Where an answer comes from, and what was assumed of its table, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from chameleon.core.state import State
from chameleon.table import Table
from chameleon.text import counted, harmless

_MOST_ITEMS, _MOST_TABLES = 6, 4


def sources_in_words(sources: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write a line for each table or passage that an answer came from."""
    lines = [harmless(_source(source)) for source in sources]
    left = len(lines) - _MOST_TABLES
    more = [f"and {counted(left, 'more table')}"] if left > 0 else []
    return [*lines[:_MOST_TABLES], *more]


def notes_on(state: State, most: int | None = None) -> list[str]:
    """Return what was assumed of the table that was asked, of the columns that the answer rests on."""
    table = (state.started.input.get("table") if state.started is not None else None) or state.table
    if not isinstance(table, Table):
        return []
    used = {name for source in state.sources for name in source.get("columns") or ()}
    of_columns = (each.notes for each in table.columns if not used or each.name in used)
    notes = [*table.structure, *chain.from_iterable(of_columns)]
    left = len(notes) - (most or len(notes))
    return [*notes[:most], f"and {left} more"] if left > 0 else notes


def _source(source: Mapping[str, Any]) -> str:
    """Write the place of the table or passage, then rows, columns and the row of the answer."""
    parts = [_place(source)]
    rows, of = source.get("rows"), source.get("of")
    if isinstance(rows, Sequence) and rows and len(rows) != of:
        parts.append(_listed("row", rows))
    elif isinstance(of, int) and isinstance(count := source.get("count"), int):
        parts.append(f"{count:,} of {of:,} rows")
    elif isinstance(of, int):
        parts.append(f"all {of:,} rows" if of != 1 else "its one row")
    if columns := source.get("columns"):
        parts.append(_listed("column", columns))
    cells = source.get("cells") or ()
    if isinstance(of, int) and cells and (not rows or len(rows) == of):
        parts.append(f"the answer in {_listed('row', sorted({cell[0] for cell in cells}))}")
    return ", ".join(parts)


def _place(source: Mapping[str, Any]) -> str:
    """Write the file with the sheet, heading or table in it; without a file the table's or passage's name."""
    if "passage" in source:
        if "file" not in source:
            return f"passage {source['passage']}"
        parts = [str(source["file"]), *([str(source["heading"])] if "heading" in source else [])]
        return ", ".join([*parts, *(f"{key} {source[key]}" for key in ("page", "table") if key in source)])
    name = str(source.get("file") or source.get("table") or "a table")
    if place := [f"{kind} {source[kind]}" for kind in ("sheet", "heading", "page") if kind in source]:
        return ", ".join([name, *place])
    whole_file = str(source.get("id")) == name  # the file holds that one table
    return name if whole_file or "file" not in source else f"{name}, table {source.get('table')}"


def _listed(noun: str, items: Sequence[Any]) -> str:
    """Write "rows 3 and 5", "column Team", "columns A, B and 7 more"."""
    shown = [f"{each:,}" if isinstance(each, int) else str(each) for each in items]
    if len(shown) == 1:
        return f"{noun} {shown[0]}"
    if len(shown) > _MOST_ITEMS:
        shown = [*shown[: _MOST_ITEMS - 1], f"{len(shown) - _MOST_ITEMS + 1} more"]
    return f"{noun}s {', '.join(shown[:-1])} and {shown[-1]}"

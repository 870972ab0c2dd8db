"""Where an answer came from, in words: "league.csv, rows 3 and 5, columns Team and Points"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from chameleon.text import harmless

_MOST, _MOST_TABLES = 6, 4


def sources_in_words(sources: Any) -> list[str]:
    """Write a line for each table that an answer came from; none for what is no `cache.sources`."""
    if not isinstance(sources, Sequence) or isinstance(sources, str):
        return []
    lines = [harmless(_line(source)) for source in sources if isinstance(source, Mapping)]
    more = [f"and {len(lines) - _MOST_TABLES} more tables"] if len(lines) > _MOST_TABLES else []
    return [*lines[:_MOST_TABLES], *more]


def _line(source: Mapping[str, Any]) -> str:
    """Write the place of the table or passage, then rows, columns and the row of the answer."""
    parts = [_place(source)]
    rows, of = source.get("rows"), source.get("of")
    if isinstance(rows, Sequence) and rows and len(rows) != of:
        parts.append(_listed("row", _ranges(rows)))
    elif isinstance(of, int):
        parts.append(f"all {of:,} rows" if of != 1 else "its one row")
    if columns := source.get("columns"):
        parts.append(_listed("column", list(map(str, columns))))
    cells = source.get("cells") or ()
    if isinstance(of, int) and cells and (not rows or len(rows) == of):
        parts.append(f"the answer in {_listed('row', _ranges(sorted({cell[0] for cell in cells})))}")
    return ", ".join(parts)


def _place(source: Mapping[str, Any]) -> str:
    """Write the file with the sheet, heading or table in it; without a file the table's or passage's name."""
    if "passage" in source:
        if "file" not in source:
            return f"passage {source['passage']}"
        parts = [str(source["file"]), *([str(source["heading"])] if "heading" in source else [])]
        return ", ".join([*parts, *(f"{key} {source[key]}" for key in ("page", "table") if key in source)])
    name = str(source.get("file") or source.get("table") or "a table")
    for kind in ("sheet", "heading"):
        if kind in source:
            return f"{name}, {kind} {source[kind]}"
    whole_file = str(source.get("id")) == name  # the file holds that one table
    return name if whole_file or "file" not in source else f"{name}, table {source.get('table')}"


def _ranges(rows: Sequence[int]) -> list[str]:
    """Write numbers of rows, three or more neighbours as one: 3, 5 to 9."""
    found: list[str] = []
    for _, run in groupby(enumerate(rows), key=lambda placed: placed[1] - placed[0]):
        first, *others = (row for _, row in run)
        if len(others) > 1:
            found.append(f"{first:,} to {others[-1]:,}")
        else:
            found += [f"{row:,}" for row in (first, *others)]
    return found


def _listed(noun: str, items: Sequence[str]) -> str:
    """Write "rows 3 and 5", "column Team", "columns A, B and 7 more"."""
    many = len(items) > 1 or " to " in items[0]
    if len(items) > _MOST:
        items = [*items[: _MOST - 1], f"{len(items) - _MOST + 1} more"]
    said = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    return f"{noun}{'s' if many else ''} {said}"

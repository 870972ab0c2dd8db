"""Where an answer came from, in words: "league.csv, rows 3 and 5, columns Team and Points"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from chameleon.text import harmless

_MOST, _MOST_TABLES = 6, 4


def sources_in_words(sources: Any) -> list[str]:
    """A line for each table that an answer came from; none for what is not written as `cache.sources` is."""
    if not isinstance(sources, Sequence) or isinstance(sources, str):
        return []
    lines = [harmless(_line(source)) for source in sources if isinstance(source, Mapping)]
    more = [f"and {len(lines) - _MOST_TABLES} more tables"] if len(lines) > _MOST_TABLES else []
    return [*lines[:_MOST_TABLES], *more]


def _line(source: Mapping[str, Any]) -> str:
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
    """The file with the sheet, heading or table in it; without a file the table's name; or the passage."""
    if "passage" in source:
        return _passage(source)
    name = str(source.get("file") or source.get("table") or "a table")
    for kind in ("sheet", "heading"):
        if kind in source:
            return f"{name}, {kind} {source[kind]}"
    whole_file = str(source.get("id")) == name  # the file holds that one table
    return name if whole_file or "file" not in source else f"{name}, table {source.get('table')}"


def _passage(source: Mapping[str, Any]) -> str:
    """The file, headings, page and table of a passage; its number where no file is told."""
    if "file" not in source:
        return f"passage {source['passage']}"
    parts = [str(source["file"])]
    if "heading" in source:
        parts.append(str(source["heading"]))
    if "page" in source:
        parts.append(f"page {source['page']}")
    if "table" in source:
        parts.append(f"table {source['table']}")
    return ", ".join(parts)


def _ranges(rows: Sequence[int]) -> list[str]:
    """Numbers of rows, three or more neighbours as one: 3, 5 to 9."""
    runs: list[list[int]] = [[rows[0]]]
    for before, row in pairwise(rows):
        if row == before + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    told: list[str] = []
    for run in runs:
        told += [f"{run[0]:,} to {run[-1]:,}"] if len(run) > 2 else [f"{row:,}" for row in run]
    return told


def _listed(noun: str, items: Sequence[str]) -> str:
    """ "rows 3 and 5", "column Team", "columns A, B, … (12)"."""
    many = len(items) > 1 or " to " in items[0]
    if len(items) > _MOST:
        return f"{noun}s {', '.join(items[: _MOST - 1])} and {len(items) - _MOST + 1} more"
    said = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    return f"{noun}{'s' if many else ''} {said}"

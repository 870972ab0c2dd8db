"""What the first rows and columns of a table are: rows of names, units below them, groups named once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from chameleon.table.amounts import UNITS, read_amount
from chameleon.table.columns import GROUPS
from chameleon.table.table import Table

_MOST_HEADS, _SAMPLE = 3, 20
_UNIT_NAMES = frozenset(("unit", "units", "einheit", "unité", "unidad", "unità", "eenheid"))
_OFTEN = 0.25  # of the rows stand below a name where groups are named once
_NO_NAMES = ("money", "percent", "quantity", "duration", "unclear", "empty")
YEAR = re.compile(r"(?:19|20)\d\d")
_IN_BRACKETS = re.compile(r"\((?!\d)[^()]{1,12}\)|\[(?!\d)[^\[\]]{1,12}\]")


def header_rows(rows: Sequence[Sequence[str]]) -> int:
    """Count the rows at the top that name the columns, three at most: names below a wider name, or units.

    A name is wider where it is repeated to its right, as merged cells are filled, or blanks stand there.
    """
    above = 1
    while above < min(_MOST_HEADS, len(rows) - 1):
        head, row, body = rows[above - 1], rows[above], rows[above + 1 : above + 1 + _SAMPLE]
        if not (_is_of_units(row, body) or _is_below(head, row, body)):
            break
        above += 1
    return above


def joined_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of the columns from the rows of a header: "2024 Q1", "Weight (kg)"."""
    filled = [list(row) for row in rows]
    for row in filled[1:]:
        row[0] = "" if row[0].strip(" :-").lower() in _UNIT_NAMES else row[0]
    for number, row in enumerate(filled[:-1]):
        for column in range(1, len(row)):
            below = any(each[column] for each in filled[number + 1 :])
            above = [each[column] for each in filled[:number]]
            left = [each[column - 1] for each in filled[:number]]
            if not row[column] and below and above == left:
                row[column] = row[column - 1]
    names = []
    for cells in zip(*filled, strict=True):
        *others, last = dict.fromkeys(filter(None, cells)) or [""]
        is_bare = bool(others) and last.lower() in UNITS
        names.append(" ".join([*others, f"({last})" if is_bare else last]))
    return names


def with_groups(table: Table) -> Table:
    """Return the table with the groups that its first columns name once, filled down.

    A run of blanks below a name is such a group where the columns to the right are full and one of them
    names the rows. Where they hold figures alone, nobody can tell, and the column is unclear.
    """
    columns, leading, blank = table.columns, 0, set(range(len(table.rows)))
    for column in columns[:-1]:
        places = {place for place, cell in enumerate(column.cells) if not cell}
        if not places or 0 in places or not places <= blank or column.meaning.kind in _NO_NAMES:
            break
        leading, blank = leading + 1, places
    below = [row[leading:] for row in table.rows if not row[0]]
    told = [cell for cell in columns[0].cells if cell]  # what is named twice is no group
    are_groups = leading and all(map(all, below)) and len(set(told)) >= max(2, len(told))
    if not are_groups or len(below) < max(2, _OFTEN * len(table.rows)):
        return table
    is_open = columns[0].meaning.is_number or all(each.meaning.is_number for each in columns[leading:])
    if is_open:
        return replace(table, hints=(GROUPS, *map(table.hint, range(1, len(columns)))))
    rows = [list(row) for row in table.rows]
    for above, row in pairwise(rows):
        row[:leading] = [cell or over for cell, over in zip(row[:leading], above[:leading], strict=True)]
    names = " and ".join(each.name or "the first column" for each in columns[:leading])
    note = f"{names}: blanks are filled with the name above"
    return replace(table, rows=tuple(map(tuple, rows)), told=(*table.told, note))


def _is_of_units(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    first, *others = row
    is_told = first.strip(" :-").lower() in _UNIT_NAMES or _is_unit(first.strip("-"))
    measures = [column for column, cell in enumerate(row) if column and cell]
    are_units = is_told and all(map(_is_unit, others))
    return are_units and any(read_amount(each[column]) for each in body for column in measures)


def _is_below(head: Sequence[str], row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Tell whether a row has the names below those of `head`: no figures, where rows below have some."""
    spread = {n for n in range(1, len(row)) if row[n] and head[n] in ("", head[n - 1])}
    under = spread | {n - 1 for n in spread if n - 1 not in spread}
    if not spread or any(read_amount(cell) and not YEAR.fullmatch(cell) for cell in row):
        return False
    if not all(row[n] for n in under):  # the names of these parts follow in the next row
        return len(body) > 1 and _is_below(row, body[0], body[1:])
    figures = [n for n in under if any(read_amount(each[n]) for each in body)]
    aside = [n for n in range(len(row)) if n not in under]
    if any(row[n] not in ("", head[n]) for n in aside):
        return False  # a text of its own beside the names makes it a row
    is_corner = any(all(each[n] for each in body) for n in aside)
    are_names = len({row[n] for n in under}) > 1
    return 2 * len(figures) >= len(under) or (is_corner and are_names)


def _is_unit(cell: str) -> bool:
    return not cell or cell.strip("()[] ").lower() in UNITS or bool(_IN_BRACKETS.fullmatch(cell))

"""The structure of a table's first rows and columns: names, units below them, groups named once."""

import re
from collections.abc import Sequence

from chameleon.table.amounts import UNITS, read_amount

_MAX_HEADER_ROWS, _SAMPLE_ROWS = 3, 20
_UNIT_NAMES = frozenset(("unit", "units", "einheit", "unité", "unidad", "unità", "eenheid"))
YEAR = re.compile(r"(?:19|20)\d\d")
_IN_BRACKETS = re.compile(r"\((?!\d)[^()]{1,12}\)|\[(?!\d)[^\[\]]{1,12}\]")  # (kg), [USD]


def header_rows(rows: Sequence[Sequence[str]]) -> int:
    """Count the rows at the top that name the columns, at most three: names below a wider name, or units.

    A name is wider if it is repeated to its right, as in filled merged cells, or followed by blanks.
    """
    above = 1
    while above < min(_MAX_HEADER_ROWS, len(rows) - 1):
        head, row, body = rows[above - 1], rows[above], rows[above + 1 : above + 1 + _SAMPLE_ROWS]
        if not (_is_of_units(row, body) or _is_below(head, row, body)):
            break
        above += 1
    return above


def joined_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join the rows of a header into column names: "2024 Q1", "Weight (kg)"."""
    filled = [list(row) for row in rows]
    for row in filled[1:]:
        row[0] = "" if row[0].strip(" :-").lower() in _UNIT_NAMES else row[0]
    for number, row in enumerate(filled[:-1]):
        for column in range(1, len(row)):
            below = any(each[column] for each in filled[number + 1 :])
            above = [each[column] for each in filled[:number]]
            left = [each[column - 1] for each in filled[:number]]
            if not row[column] and below and above == left:  # under the same wider name
                row[column] = row[column - 1]
    names = []
    for cells in zip(*filled, strict=True):
        *others, last = dict.fromkeys(filter(None, cells)) or [""]
        is_bare = bool(others) and last.lower() in UNITS
        names.append(" ".join([*others, f"({last})" if is_bare else last]))
    return names


def _is_of_units(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    first, *others = row
    is_told = first.strip(" :-").lower() in _UNIT_NAMES or _is_unit(first.strip("-"))
    measures = [column for column, cell in enumerate(row) if column and cell]
    are_units = is_told and all(map(_is_unit, others))
    return are_units and any(read_amount(each[column]) for each in body for column in measures)


def _is_below(head: Sequence[str], row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Return whether a row has the names below `head`: no figures, but some in the rows below."""
    spread = {n for n in range(1, len(row)) if row[n] and head[n] in ("", head[n - 1])}
    under = spread | {n - 1 for n in spread if n - 1 not in spread}  # with the column that has the wider name
    if not spread or any(read_amount(cell) and not YEAR.fullmatch(cell) for cell in row):
        return False
    if not all(row[n] for n in under):  # the next row has the names of these parts
        return len(body) > 1 and _is_below(row, body[0], body[1:])
    figures = [n for n in under if any(read_amount(each[n]) for each in body)]
    aside = [n for n in range(len(row)) if n not in under]
    if any(row[n] not in ("", head[n]) for n in aside):
        return False  # a different text in another column makes it a row
    is_corner = any(all(each[n] for each in body) for n in aside)
    are_names = len({row[n] for n in under}) > 1
    return 2 * len(figures) >= len(under) or (is_corner and are_names)


def _is_unit(cell: str) -> bool:
    return not cell or cell.strip("()[] ").lower() in UNITS or bool(_IN_BRACKETS.fullmatch(cell))

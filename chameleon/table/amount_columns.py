"""Amounts as filings print them, and the columns that they stand in.

Filings set "$", "(", ")" and "%" in cells of their own (`$ | 1,234`, `(800 | )`), leave empty columns between
those of figures, and let years span what results. What is no column of its own is joined to the one it
belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chameleon.table.superscripts import without_marks

_LONGEST = 60  # characters of an amount
_BEFORE = re.compile(r"(?:[A-Z]{2,3})?[$€£¥]\s*\(?|(?:EUR|USD|GBP|NOK|SEK|DKK|CHF|JPY)\s*\(?|[–—-]?\(")
_AFTER = re.compile(r"\)?\s*%|\)(?:\s*\(\d\))?|(?:pp|bps?)")
_AMOUNT = re.compile(
    r"(?:[A-Z]{2,3}\s?)?[($€£¥+–—\s-]*\d[\d,. ]*[)%\s]*|[–—-]+\s*%?|n/?[am]|nil", re.IGNORECASE
)
_YEAR = re.compile(r"(?:fy\s?)?(?:19|20)\d\d(?:\*|\s?[AE]|\s?\(\w\))?", re.IGNORECASE)


@dataclass(frozen=True)
class Slot:
    """One place of the grid, with the cell that fills it."""

    text: str
    is_header: bool
    cell: int  # tells one spanning cell from two with the same text


EMPTY = Slot("", False, -1)
_Rows = Sequence[Sequence[Slot]]
_MOST_HEADER_ROWS = 6


def goes_before(text: str) -> bool:
    """Tell whether a cell is a sign that belongs to the amount in the next one: "$", "€ (", "("."""
    return _BEFORE.fullmatch(text) is not None


def goes_after(text: str) -> bool:
    """Tell whether a cell is a sign that belongs to the amount in the one before: ")", "%", ")%"."""
    return _AFTER.fullmatch(text) is not None


def is_year(text: str) -> bool:
    """Tell whether a cell is a year, which names a column: "2023", "FY2023", "2024E"."""
    return _YEAR.fullmatch(text.strip()) is not None


def is_amount(text: str) -> bool:
    """Tell whether a cell is an amount, which a footnote's mark may follow, or a dash; a year is not."""
    short = len(text) <= _LONGEST
    return short and _AMOUNT.fullmatch(without_marks(text)) is not None and not is_year(text)


def joined_columns(rows: _Rows) -> list[list[Slot]]:
    """Return the rows with signs at their amounts, and without columns that hold nothing of their own."""
    apart = _apart(rows)
    signed = [_with_signs(row, apart) for row in rows]
    body = next((n for n, row in enumerate(signed) if any(is_amount(slot.text) for slot in row[1:])), 0)
    columns = list[tuple[Slot, ...]]()
    for column in zip(*signed, strict=True):
        if columns and _is_one(columns[-1], column, body):
            pairs = zip(columns[-1], column, strict=True)
            columns[-1] = tuple(left if left.text else right for left, right in pairs)
        else:
            columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]


def unmarked_header(rows: _Rows) -> int:
    """Count the rows at the top that name columns of figures where no cell is marked as a header; 0 for one.

    Below the first, these hold no amount, and no name of their own unless all else in them are years.
    """
    if any(slot.is_header for row in rows for slot in row):
        return 0
    found = 1
    while found < min(len(rows) - 1, _MOST_HEADER_ROWS):
        first, *others = (slot.text for slot in rows[found])
        filled = [text for text in others if text]
        if not filled or any(map(is_amount, filled)):
            break
        if not (all(map(is_year, filled)) or (_is_aside(first) and _is_aside(rows[found - 1][0].text))):
            break
        found += 1
    figures = any(is_amount(slot.text) for row in rows[found:] for slot in row[1:])
    return found if found > 1 and figures and not any(is_amount(slot.text) for slot in rows[0][1:]) else 0


def _is_aside(text: str) -> bool:
    """Tell whether the corner of a table is empty, or says a unit in brackets."""
    return not text or (text[0] == "(" and text[-1] == ")")


def _apart(rows: _Rows) -> Callable[[int, int], bool]:
    """Return what tells columns apart by names above the first sign: "Currency" and "Amount" are two."""
    signs = (n for n, row in enumerate(rows) if any(goes_before(s.text) or goes_after(s.text) for s in row))
    above = rows[: min(next(signs, 0), _MOST_HEADER_ROWS)]

    def apart(one: int, other: int) -> bool:
        pairs = ((row[one], row[other]) for row in above)
        return any(a.text and b.text and a.cell != b.cell for a, b in pairs)

    return apart


def _with_signs(row: Sequence[Slot], apart: Callable[[int, int], bool]) -> list[Slot]:
    """Let each amount's cell, which may span columns, have its signs as well, and empty theirs."""
    slots = list(row)

    def join(amount: int, sign: int, text: str) -> None:
        bare = slots[amount].text
        # The amount may still lack the bracket or the sign that ends it.
        if apart(sign, amount) or not (is_amount(bare) or is_amount(f"{bare})")):
            return
        for place in _span(slots, sign):
            slots[place] = EMPTY
        for place in _span(slots, amount):
            slots[place] = replace(slots[place], text=text)

    filled = [n for n, slot in enumerate(slots) if slot.text]
    for sign, amount in pairwise(filled):
        if goes_before(slots[sign].text):
            join(amount, sign, slots[sign].text + slots[amount].text)
    filled = [n for n, slot in enumerate(slots) if slot.text]
    for amount, sign in reversed(list(pairwise(filled))):
        if goes_after(slots[sign].text):
            join(amount, sign, slots[amount].text + slots[sign].text)
    return slots


def _span(slots: Sequence[Slot], place: int) -> range:
    """Return the places of the cell that fills one."""
    begin = end = place
    while begin and slots[begin - 1].cell == slots[place].cell:
        begin -= 1
    while end + 1 < len(slots) and slots[end + 1].cell == slots[place].cell:
        end += 1
    return range(begin, end + 1)


def _is_one(left: Sequence[Slot], right: Sequence[Slot], body: int) -> bool:
    """Tell whether neighbouring columns are one: both show one cell, and one holds nothing else."""
    pairs = list(zip(left, right, strict=True))
    if any(a.text and b.text and a.cell != b.cell for a, b in pairs):
        return False
    return (
        all(not b.text or a.cell == b.cell for a, b in pairs)
        or all(not a.text or a.cell == b.cell for a, b in pairs)
        or not any(a.text and a.cell != b.cell for a, b in pairs[body:])
    )

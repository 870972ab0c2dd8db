"""How figures and dates are written: decimal commas, thousands, and the order of day and month."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from chameleon.table.amounts import read_amount
from chameleon.text import one_line

_SURE = {  # what only one decimal mark allows: 2,50 and 0,125 and 1.310,125 and 1.310.000
    mark: re.compile(
        rf"(?<![\d.,])(?:(?:0|\d{{4,}})[{mark}]\d+|\d+[{mark}](?!\d{{3}}(?!\d))\d+"
        rf"|\d{{1,3}}(?:(?:[{other}]\d{{3}})+[{mark}]\d+|(?:[{other}]\d{{3}}){{2,}}))(?![.,]?\d)"
    )
    for mark, other in (",.", ".,")
}
EITHER = re.compile(r"(?<![\d.,])\d{1,3}[.,]\d{3}(?![.,]?\d)")
"""A figure such as 12.500 or 7,125, which may mean two things."""
_COMMA_MONEY = re.compile(r"€|\b(?:EUR|kr|SEK|NOK|DKK|PLN|CZK|BRL|CHF)\b|R\$|zł")
_NUMERIC_DATE = re.compile(r"(\d{1,2})([-/])(\d{1,2})\2(?:\d{4}|\d{2})(?!\d)")


def marks_in(cells: Iterable[str]) -> set[str]:
    """Return which of "," and "." surely stand before decimals in these cells."""
    return {mark for mark in _SURE for cell in cells if mark in cell and _is_sure(mark, cell)}


def _is_sure(mark: str, text: str) -> bool:
    return _SURE[mark].search(text) is not None and read_amount(text, mark) is not None


def two_readings(cells: Collection[str], mark: str) -> str:
    """Say why figures such as 12.500 may mean two things; "" where they do not.

    They may where `mark` is "?", and where each figure with a point has three digits behind it and others are
    whole: numbers that are printed with three decimals all have them.
    """
    marked = next((cell for cell in cells if "." in cell or "," in cell), "")
    is_open = mark == "?" and any(map(EITHER.search, cells))
    if is_open or (mark == "." and EITHER.search(marked) and _look_like_thousands(cells)):
        return f"{one_line(next(filter(EITHER.search, cells)), 20)} may mean thousands or decimals"
    return ""


def may_have_commas(texts: Iterable[str]) -> bool:
    """Tell whether one of these texts has money of a place where commas stand before decimals."""
    return any(map(_COMMA_MONEY.search, texts))


def _look_like_thousands(cells: Iterable[str]) -> bool:
    figures = [cell.strip(" -€$") for cell in cells if cell.strip()]
    pointed = [cell for cell in figures if "." in cell]
    are_open = all(EITHER.search(cell) and "," not in cell and cell[0] != "0" for cell in pointed)
    return bool(pointed) and are_open and any("." not in cell and len(cell) <= 3 for cell in figures)


def numeric_date(text: str) -> tuple[int, int] | None:
    """Return the first two figures of a date such as 13/04/2024; None for other texts."""
    match = _NUMERIC_DATE.match(text)
    return (int(match[1]), int(match[3])) if match else None


def order_of(texts: Collection[str], hint: str) -> tuple[bool | None, str]:
    """Return whether days come first in dates such as 13/04/2024, and what is in doubt about that."""
    pairs = {text: pair for text in texts if (pair := numeric_date(text))}
    first, second = any(a > 12 for a, _ in pairs.values()), any(b > 12 for _, b in pairs.values())
    if first and second:
        return True, "some dates have the day first and some the month"
    if first or second or hint in ("day first", "month first"):
        return first or (not second and hint == "day first"), ""
    told = next((text for text, (a, b) in pairs.items() if a != b), "")
    doubt = f"it does not tell day from month (day first or month first), as in {told}" if told else ""
    return None, doubt

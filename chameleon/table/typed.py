"""What a table's cell says: a number with its unit, a date, a time of day, text, or nothing; and back."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from chameleon.text import clean_cell

Kind = Literal["empty", "number", "date", "time", "text"]

_CURRENCIES = "$€£¥₹"
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+,\d{1,2}(?!\d)|\d+\.\d+|\.\d+|\d+"
_NUMBER = re.compile(
    rf"""(?P<open>\()? \s* (?P<sign>[-+])? \s* (?P<currency>[{_CURRENCIES}])? \s* (?P<sign2>-)?
    (?: (?P<whole>\d+)\s+(?P<n1>\d+)/(?P<d1>\d+) | (?P<n2>\d+)/(?P<d2>\d+)
      | (?P<digits>{_DIGITS})(?P<exponent>[eE][-+]?\d{{1,3}})? )
    \s* (?P<scale>(?:thousand|million|billion|trillion)\b)? (?P<close>\))?
    \s* (?P<unit>%|(?:per\b|/|[{_CURRENCIES}]|[^\W\d_]|°).*)? """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_NOT_A_UNIT = re.compile(
    r"(?:BCE?|AD|CE)\b|(?:st|nd|rd|th)\s+\w"
)  # "43 BC" and "9th century" measure nothing
_FIGURE = re.compile(r"\d[\d.,]*\d")
_SWAPPED = str.maketrans(".,", ",.")
_SURE = {  # what only one decimal mark allows: 2,50 and 0,125 and 1.310,125 and 1.310.000
    mark: re.compile(
        rf"(?<![\d.,])(?:(?:0|\d{{4,}})[{mark}]\d+|\d+[{mark}](?!\d{{3}}(?!\d))\d+"
        rf"|\d{{1,3}}(?:(?:[{other}]\d{{3}})+[{mark}]\d+|(?:[{other}]\d{{3}}){{2,}}))(?![.,]?\d)"
    )
    for mark, other in (",.", ".,")
}
_TIME = re.compile(r"(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?\s*([ap])?\.?(m\.?)?", re.IGNORECASE)
MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<year>\d{4})([-/])(?P<m>\d{1,2})\2(?P<day>\d{1,2})",
        r"(?P<m>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})",
        r"(?P<day>\d{1,2})\.(?P<m>\d{1,2})\.(?P<year>\d{4})",
        rf"{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH},?\s+(?P<year>\d{{4}})",
    )
)


@dataclass(frozen=True, slots=True)
class Value:
    """A cell as it is written (`text`) and as it is meant.

    `number` is exact and set for kind "number": `unit` then holds what stood around it ("$", "%",
    "kg", "$ per pound"); percentages keep their figure (12 % is 12, unit "%").
    `date` and `time` are set for those kinds. Never raises: what is not understood is text.
    """

    text: str
    kind: Kind
    number: Fraction | None = None
    unit: str = ""
    date: dt.date | None = None
    time: dt.time | None = None

    @property
    def plain(self) -> int | float | None:
        """Return the number as Python writes it: whole numbers as int."""
        if self.number is None:
            return None
        return int(self.number) if self.number.denominator == 1 else float(self.number)


@lru_cache(maxsize=65_536)
def read_value(text: str) -> Value:
    """Read one cell: "$1,250.50", "3/4", "1 1/2", "-7", "12%", "$0.96/lb", "9:45 A.M.", "May 4, 2024"."""
    cell = text.strip().replace("−", "-").replace("\u00a0", " ")
    if cell in {"", "-", "–", "—"} or cell.lower() in {"n/a", "na", "none", "null", "nan"}:
        return Value(text, "empty")
    if len(cell) > 200 or not any(character.isdigit() for character in cell):
        return Value(text, "text")
    if (time := _read_time(cell)) is not None:
        return Value(text, "time", time=time)
    if (date := _read_date(cell)) is not None:
        return Value(text, "date", date=date)
    if (number := _read_number(cell)) is not None:
        return Value(text, "number", number=number[0], unit=number[1])
    return Value(text, "text")


def _read_number(cell: str) -> tuple[Fraction, str] | None:
    match = _NUMBER.fullmatch(cell)
    if match is None or bool(match["open"]) != bool(match["close"]) or not cell.isprintable():
        return None
    numerator, denominator = match["n1"] or match["n2"], match["d1"] or match["d2"]
    if denominator is not None:
        if int(denominator) == 0:
            return None
        number = int(match["whole"] or 0) + Fraction(int(numerator), int(denominator))
    else:
        digits: str = match["digits"]
        comma_is_decimal = re.fullmatch(r"\d+,\d{1,2}", digits)
        number = Fraction(digits.replace(",", "." if comma_is_decimal else "") + (match["exponent"] or ""))
    number *= _SCALES.get((match["scale"] or "").lower(), 1)
    if match["sign"] == "-" or match["sign2"] or match["open"]:
        number = -number
    if _NOT_A_UNIT.match(match["unit"] or ""):
        return None
    unit = " ".join((match["unit"] or "").split())
    unit = f"per {unit[1:].strip()}" if unit.startswith("/") else unit
    return number, " ".join(part for part in (match["currency"], unit) if part)


def _read_time(cell: str) -> dt.time | None:
    match = _TIME.fullmatch(cell)
    if match is None or not (match[2] or (match[4] and match[5])):
        return None
    hour, minute, second, half = int(match[1]), int(match[2] or 0), int(match[3] or 0), match[4]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    return dt.time(hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def _read_date(cell: str) -> dt.date | None:
    for pattern in _DATES:
        if match := pattern.fullmatch(cell):
            parts = match.groupdict()
            if name := (parts.get("month") or "").lower():
                month = next((i for i, each in enumerate(MONTHS, 1) if each.startswith(name)), 0)
            else:
                month = int(parts["m"])
            try:
                return dt.date(int(parts["year"]), month, int(parts["day"]))
            except ValueError:
                return None
    return None


def decimal_points(columns: Sequence[Sequence[str]], *, by_table: bool) -> list[Sequence[str]]:
    """Return columns with figures such as "1.310" as "1,310", where others such as "2,50" tell to.

    The others of its column tell, and where these do not, those of the table if `by_table`. Columns whose
    figures contradict each other stay, and so do all where each figure is read rightly as it is.
    """
    told = [{mark for mark in _SURE if any(_tells(mark, cell) for cell in column)} for column in columns]
    habit = set[str]().union(*told) if by_table else set()
    pairs = zip(columns, told, strict=True)
    found = [list(map(_swapped, cells)) if (marks or habit) == {","} else cells for cells, marks in pairs]
    changed = (pair for old, new in zip(columns, found, strict=True) for pair in zip(old, new, strict=True))
    misread = any(
        one != other and read_value(one).number != read_value(other).number for one, other in changed
    )
    return found if misread else list(columns)


def _tells(mark: str, cell: str) -> bool:
    is_sure = ("," in cell or "." in cell) and _SURE[mark].search(cell) is not None
    return is_sure and read_value(_swapped(cell)).kind == "number"


def _swapped(cell: str) -> str:
    """Return a figure with point and comma swapped, other cells as they are."""
    swapped = _FIGURE.sub(lambda figure: figure[0].translate(_SWAPPED), cell)
    return swapped if read_value(swapped).kind == "number" else cell


def cell_text(value: Any) -> str:
    """Write a value as a cell: 1.0 is "1", True is "true", None is "", dates are ISO, lists are JSON."""
    # The order matters: a truth value is also a whole number, and a moment is also a date.
    match value:
        case None:
            return ""
        case str():
            return clean_cell(value)
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)
        case dt.datetime():
            return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ")
        case dt.date():
            return value.isoformat()
        case dt.time():
            return value.isoformat() if value.second or value.microsecond else f"{value:%H:%M}"
        case bytes() | bytearray() | memoryview():
            return f"({len(value):,} bytes)"
        case list() | dict():
            return clean_cell(json.dumps(value, ensure_ascii=False, default=str))
    return clean_cell(str(value))

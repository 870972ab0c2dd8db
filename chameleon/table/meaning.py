"""What the cells of a column mean: its kind, its unit, and an exact value for each cell."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from chameleon.lazy import cached_property
from chameleon.table.amounts import plain_signs
from chameleon.table.dates import Span

Kind = Literal[
    "empty", "number", "money", "percent", "quantity", "duration", "date", "datetime", "time", "period",
    "code", "boolean", "text", "unclear",
]  # fmt: skip
NUMBERS = frozenset(("number", "money", "percent", "quantity", "duration"))
"""The kinds whose values are numbers."""
DATES = frozenset(("date", "datetime", "period"))
"""The kinds that have `spans`."""

_BLANK_WORDS = (
    "n/a,na,n.a.,nil,none,null,nan,tba,tbd,unknown,unavailable,vacant,?,#n/a,not available,not applicable,"
    "data unavailable,no data,not known,not reported"
)
_NOTHING = frozenset(_BLANK_WORDS.split(","))
_NO_TEXT = frozenset(("", "n/a", "#n/a"))
DASHES = "-–—−"
_MARKS = re.compile(r"\[[^\]]*\]|[*†‡§^]+(?=\s|$)|(?<=\w)[*†‡§]+")
_MARKS_OF_NOTES, _LONGEST_MARKED = frozenset("[*^"), 300
_TOLD = {
    "money": "number", "percent": "number", "quantity": "number", "duration": "number", "code": "text",
    "empty": "text", "boolean": "true/false", "year": "number", "month": "month as 2024-03",
    "quarter": "quarter as 2024-Q1", "week": "week as 2024-W05",
}  # fmt: skip


@dataclass(frozen=True)
class Meaning:
    """What a column means.

    - `kind`: "unclear" where most cells are of one kind and not all are, or where they differ in units.
    - `values`: one for each cell, None for a blank. Numbers are exact (int, Decimal, Fraction) and in `unit`;
      percentages keep their figure (12 % is 12); durations are in `unit`, by default seconds; dates are
      `datetime.date`, `datetime.datetime` or, for a period, a year as int and other periods in the text that
      orders them ("2024-03", "2024-Q1"). Of the other kinds they are the cells as they are written.
    - `unit`: as the cells or the header write it; "year", "month", … of a period; "" for none.
    - `base`, `factor`: the base of the unit's kind, and how many of it the unit is.
    - `spans`: of dates, the first and last that each cell tells.
    - `notes`: what was assumed; `is_converted`: whether some cells have another unit.
    - `why`, `odd`, `read_as`: of an unclear column the reason, the places of its odd cells, and whether most
      of its cells are a "number", "date" or "time".
    - `mark`, `day_first`: how its figures and dates are written, where that could be doubted.
    """

    kind: Kind
    values: Sequence[Any]
    unit: str = ""
    base: str = ""
    factor: Fraction = Fraction(1)
    spans: Sequence[Span | None] = ()
    notes: tuple[str, ...] = ()
    why: str = ""
    odd: tuple[int, ...] = ()
    mark: str = ""
    day_first: bool | None = None
    read_as: Literal["", "number", "date", "time"] = ""
    is_converted: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS

    @property
    def is_ordered(self) -> bool:
        """Whether its values can be compared: it has a least and a greatest one."""
        return self.kind in NUMBERS or self.kind in DATES or self.kind == "time"

    @property
    def hint(self) -> str:
        """Return what a part of the column needs to be read as the whole is."""
        order = {True: "day first", False: "month first", None: ""}[self.day_first]
        return self.mark or order

    @cached_property
    def keys(self) -> list[Any]:
        """Return what cells are ordered by, None for a blank; all None where they have no order."""
        if self.kind in DATES:
            return [span and (span[0].timed, span[1].timed) for span in self.spans]
        return list(self.values) if self.is_ordered else [None] * len(self.values)

    @cached_property
    def plain(self) -> list[Any]:
        """Return the values as JSON, SQL and programs have them: int and float, ISO dates, texts."""
        if self.kind in ("text", "code", "unclear"):
            return list(self.values)
        if self.kind == "time" and all(value is None or not value.second for value in self.values):
            return [value and f"{value:%H:%M}" for value in self.values]
        return list(map(plain_value, self.values))

    @property
    def told(self) -> str:
        """Say what a program or query finds in the column: "date", "number, $", "text"."""
        if self.kind == "unclear":
            return f"text ({self.why})"
        if self.kind == "period":
            return _TOLD.get(self.unit, "text")
        name = _TOLD.get(self.kind, self.kind)
        return f"{name}, {self.unit}" if self.is_number and self.unit else name


def plain_value(value: Any) -> Any:
    """Return a value as JSON has it."""
    if type(value) is int or value is None:
        return value
    match value:
        case Decimal() | Fraction():
            number = float(value)
            return int(value) if number.is_integer() else number
        case dt.datetime():
            return value.isoformat(" ")
        case dt.date() | dt.time():
            return value.isoformat()
    return value


def shown(text: str) -> str:
    """Return a cell as it is compared: without footnote marks, with plain blanks, dashes and quotes."""
    return unmarked(plain_signs(text) if len(text) <= _LONGEST_MARKED else text)


def unmarked(text: str) -> str:
    """Return a cell as people read it: without footnote marks, its own dashes and quotes kept."""
    if len(text) > _LONGEST_MARKED or (text.isascii() and not _MARKS_OF_NOTES.intersection(text)):
        return " ".join(text.split())
    return " ".join(_MARKS.sub("", text).split())


def is_blank(text: str) -> bool:
    """Tell whether a cell holds no value: empty, a dash, or a word for "not known"."""
    low = text.strip().lower()
    return not low.strip(DASHES) or low in _NOTHING


def is_nothing(text: str) -> bool:
    """Tell whether a cell of a column of texts is empty: there "NA" and "None" are texts."""
    low = text.strip().lower()
    return not low.strip(DASHES) or low in _NO_TEXT

"""The meaning of a column's cells: its kind, its unit, and an exact value for each cell."""

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
_BLANKS = frozenset(_BLANK_WORDS.split(","))
_NO_TEXT = frozenset(("", "n/a", "#n/a"))
DASHES = "-–—−"
_MARKS = re.compile(r"\[[^\]]*\]|[*†‡§^]+(?=\s|$)|(?<=\w)[*†‡§]+")  # footnotes: [1], 12*, Ann†
_NOTE_MARKS, _MAX_MARKED_CHARS = frozenset("[*^"), 300  # those in ASCII; characters
_TYPE_NAMES = {
    "money": "number", "percent": "number", "quantity": "number", "duration": "number", "code": "text",
    "empty": "text", "boolean": "true/false", "year": "number", "month": "month as 2024-03",
    "quarter": "quarter as 2024-Q1", "week": "week as 2024-W05",
}  # fmt: skip


@dataclass(frozen=True)
class Meaning:
    """The meaning of a column.

    Attributes:
        kind: "unclear" if most but not all cells are of one kind, or if they differ in units.
        values: one for each cell, None for a blank. Numbers are exact (int, Decimal, Fraction) and in `unit`;
            percentages keep their figure (12% is 12); durations are in `unit`, by default seconds; dates are
            `datetime.date`, `datetime.datetime` or, for a period, a year as int and other periods as sortable
            texts ("2024-03", "2024-Q1"). For other kinds they are the cells as written.
        unit: as in the cells or the header; "year", "month", … of a period; "" for none.
        base, factor: the base unit of its kind, and how many of it the unit is.
        spans: for dates, the first and last date of each cell.
        notes: the assumptions; `is_converted`: whether some cells have another unit.
        why, odd, read_as: for an unclear column, the reason, the positions of its odd cells, and whether most
            of its cells are a "number", "date" or "time".
        mark, day_first: the format of its figures and dates, if in doubt.
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
        """Whether its values can be compared, so that it has a smallest and a largest one."""
        return self.kind in NUMBERS or self.kind in DATES or self.kind == "time"

    @property
    def hint(self) -> str:
        """The hint that a part of the column needs to be read in the same way."""
        order = {True: "day first", False: "month first", None: ""}[self.day_first]
        return self.mark or order

    @cached_property
    def keys(self) -> list[Any]:
        """Return the sort keys of the cells, None for a blank; all None if they have no order."""
        if self.kind in DATES:
            return [span and (span[0].timed, span[1].timed) for span in self.spans]
        return list(self.values) if self.is_ordered else [None] * len(self.values)

    @cached_property
    def plain(self) -> list[Any]:
        """Return the values for JSON, SQL and programs: int and float, ISO dates, texts."""
        if self.kind in ("text", "code", "unclear"):
            return list(self.values)
        if self.kind == "time" and all(value is None or not value.second for value in self.values):
            return [value and f"{value:%H:%M}" for value in self.values]
        return list(map(plain_value, self.values))

    @property
    def description(self) -> str:
        """Describe the column's values for a program or query: "date", "number, $", "text"."""
        if self.kind == "unclear":
            return f"text ({self.why})"
        if self.kind == "period":
            return _TYPE_NAMES.get(self.unit, "text")
        name = _TYPE_NAMES.get(self.kind, self.kind)
        return f"{name}, {self.unit}" if self.is_number and self.unit else name


def plain_value(value: Any) -> Any:
    """Convert a value to JSON."""
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
    """Normalize a cell for comparison: without footnote marks, with plain spaces, dashes and quotes."""
    return unmarked(plain_signs(text) if len(text) <= _MAX_MARKED_CHARS else text)


def unmarked(text: str) -> str:
    """Return a cell as people read it: without footnote marks, its dashes and quotes unchanged."""
    if len(text) > _MAX_MARKED_CHARS or (text.isascii() and not _NOTE_MARKS.intersection(text)):
        return " ".join(text.split())
    return " ".join(_MARKS.sub("", text).split())


def is_blank(text: str) -> bool:
    """Return whether a cell holds no value: empty, a dash, or a word for "not known"."""
    low = text.strip().lower()
    return not low.strip(DASHES) or low in _BLANKS


def is_nothing(text: str) -> bool:
    """Return whether a cell of a text column is empty; "NA" and "None" are texts there."""
    low = text.strip().lower()
    return not low.strip(DASHES) or low in _NO_TEXT

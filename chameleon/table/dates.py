"""Dates, times of day and periods in the forms that tables use, complete or partial."""

import datetime as dt
import re
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from chameleon.table.amounts import plain_signs, read_amount

MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_MONTHS = {month[:length]: n for n, month in enumerate(MONTHS, 1) for length in range(3, 10)}  # sep, sept, …
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?P<part>[.]\d{1,9})?"
    r"(?: ?(?P<half>[ap])\.? ?m\.?)?"
)
_AT = rf"(?:,? (?:at )?|T){_CLOCK}(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_WEEKDAY = r"(?:[a-z]{2,6}day,?\s+|(?:mon|tue|wed|thu|fri|sat|sun)\.?,?\s+)?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<year>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?:{_AT})?",  # 2024-05-04 09:00
        rf"(?P<a>\d{{1,2}})(?P<sep>[-/.])(?P<b>\d{{1,2}})(?P=sep)(?P<year>\d{{4}}|\d{{2}})(?:{_AT})?",
        rf"{_WEEKDAY}{_MONTH}\s+{_DAY}(?:,?\s+(?P<year>\d{{4}})(?:{_AT})?)?(?!\d)",  # May 4
        rf"{_WEEKDAY}{_DAY}[\s-]+{_MONTH}(?:,?[\s-]+(?P<year>\d{{4}})(?:{_AT})?)?(?!\d)",
        rf"{_DAY}-{_MONTH}-(?P<year>\d{{2}})",  # 4-May-24
        r"(?P<day>\d{1,2})\.(?P<m>\d{1,2})\.",  # 4.5. in German
        r"(?P<m>0[1-9]|1[0-2])[./](?P<year>\d{4})",  # 05/2024
        rf"{_MONTH},?[\s-]+(?P<year>\d{{4}})",  # May 2024
        rf"{_MONTH}[-'](?P<year>\d{{2}})",  # Jan-24
        r"Q(?P<quarter>[1-4])[\s/-]?(?P<year>\d{4})",
        r"(?P<year>\d{4})[\s/-]?Q(?P<quarter>[1-4])",
        r"(?P<year>\d{4})-W(?P<week>\d{1,2})",
        r"(?P<year>\d{4})[-/](?P<until>\d{4}|\d{2})",  # 1999-2004, 2011-12
        r"(?P<year>\d{3}(?P<decade>0)) ?s",
        r"(?P<year>\d{4})",
        _MONTH,
    )
)
_TIME = re.compile(_CLOCK, re.IGNORECASE)
_HOUR = re.compile(r"(?P<hour>\d{1,2}) ?(?P<half>[ap])\.? ?m\.?", re.IGNORECASE)
_NUMERIC = re.compile(r"(\d{1,2})([-/])(\d{1,2})\2(?:\d{4}|\d{2})(?!\d)")
_MAX_CHARS = 40
_PIVOT_YEAR = 50  # two digits below it are a year of this century


class Moment(NamedTuple):
    """A date, possibly partial: 0 for missing parts."""

    year: int
    month: int = 0
    day: int = 0
    at: dt.time | None = None

    def fits(self, other: "Moment") -> bool:
        """Return whether this date is in the year, month or day that another gives."""
        return all(not theirs or mine == theirs for mine, theirs in zip(self[:3], other[:3], strict=True))

    @property
    def timed(self) -> "Moment":
        """Return it with its time of day, midnight by default."""
        return self._replace(at=self.at or dt.time())

    @property
    def date(self) -> dt.date | None:
        """The day, or None if the date is partial."""
        return dt.date(*self[:3]) if all(self[:3]) else None


Span = tuple[Moment, Moment]
"""The first and last date of a cell: the same unless it is "1999-2004", "Q1 2024" or "1990s"."""


@lru_cache(maxsize=65_536)
def read_date(text: str, *, day_first: bool = False, has_months: bool = False) -> Span | None:
    """Read a complete or partial date: "May 4, 2024", "25/12/2024 09:00", "Jan-24", "Q1 2024", "2006".

    Args:
        day_first: whether 03/04/2024 is in April.
        has_months: whether "2011-12" is a month, as in a column with "2024-01", and not a season.

    Returns:
        The first and last date, or None if the text is not a date, as 2024-02-30.
    """
    cell = plain_signs(text).partition("(")[0].strip(" ,")  # without a remark in brackets
    if len(cell) > _MAX_CHARS:
        return None
    for pattern in _DATES:
        if (match := pattern.fullmatch(cell)) is not None:
            return _span(match.groupdict(), day_first=day_first, has_months=has_months)
    return None


def _span(part: dict[str, str | None], *, day_first: bool, has_months: bool) -> Span | None:
    year, month, day = (int(part.get(name) or 0) for name in ("year", "m", "day"))
    if name := (part.get("month") or "").lower():
        month = _MONTHS.get(name, 0)
        if not month or (not day and not year and len(name) > 3 and name not in MONTHS):
            return None  # "Marc" is a name, "Mar" a month
    if part.get("a"):
        one, two = int(part["a"] or 0), int(part["b"] or 0)
        is_day_first = day_first or one > 12 or part["sep"] == "."  # 1.5.2024 is German
        day, month = (one, two) if is_day_first else (two, one)
    if len(part.get("year") or "") == 2:
        year += 2000 if year < _PIVOT_YEAR else 1900
    if month > 12 or day > 31 or (year and not 1000 <= year <= 2200):
        return None
    if quarter := int(part.get("quarter") or 0):
        return Moment(year, 3 * quarter - 2), Moment(year, 3 * quarter)
    try:
        if week := int(part.get("week") or 0):
            first = dt.date.fromisocalendar(year, week, 1)
            last = first + dt.timedelta(6)
            return Moment(*first.timetuple()[:3]), Moment(*last.timetuple()[:3])
        if month and day:
            dt.date(year or 2000, month, day)  # raises for February 30; 2000 has a 29th
        at = _time_of(part) if part.get("hour") else None
    except ValueError:
        return None
    moment, until = Moment(year, month, day, at), part.get("until")
    if not until:
        return moment, Moment(year + 9) if part.get("decade") else moment
    is_month = 1 <= int(until) <= 12
    if has_months:
        return (Moment(year, int(until)),) * 2 if is_month else None
    is_next = (year % 100, until) == (99, "00")  # 1999-00 ends in 2000; 24/7 and 2024/12 are not years
    last_year = year + 1 if is_next else int(until if len(until) == 4 else f"{year // 100}{until}")
    if last_year > year:
        return moment, Moment(last_year)
    return (moment, moment) if is_month else None


def _time_of(part: dict[str, str | None]) -> dt.time:
    """Return the time of day. Raises `ValueError` if invalid, such as 25:00 or 13 pm."""
    hour, half = int(part["hour"] or 0), (part.get("half") or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if half == "p" else 0)
    if part.get("part") and not part.get("second"):
        raise ValueError(hour)  # 1:52.33 is the duration of a race
    small = (part.get("part") or ".0")[1:].ljust(6, "0")[:6]
    return dt.time(hour, int(part.get("minute") or 0), int(part.get("second") or 0), int(small))


@lru_cache(maxsize=65_536)
def read_time(text: str) -> dt.time | None:
    """Read a time of day: "9:45 A.M.", "14:05", "7 pm"; None for other texts."""
    match = _TIME.fullmatch(text.strip()) or _HOUR.fullmatch(text.strip())
    try:
        return _time_of(match.groupdict()) if match else None
    except ValueError:
        return None


@lru_cache(maxsize=65_536)
def read_span_of_time(text: str) -> Fraction | None:
    """Read a duration as seconds: "1:52.33" and "59:12" are minutes, "2:05:33" hours."""
    match = _TIME.fullmatch(text.strip())
    if match is None or match["half"] or int(match["minute"]) > 59 or int(match["second"] or 0) > 59:
        return None
    seconds = 60 * int(match["hour"]) + int(match["minute"])
    if match["second"]:
        seconds = 60 * seconds + int(match["second"])
    return seconds + Fraction(match["part"] or 0)


def numeric_date(text: str) -> tuple[int, int] | None:
    """Return the first two numbers of a date such as 13/04/2024; None for other texts."""
    match = _NUMERIC.match(text)
    return (int(match[1]), int(match[3])) if match else None


def order_of(texts: Collection[str], hint: str) -> tuple[bool | None, str]:
    """Return whether days come first in dates such as 13/04/2024, and any doubt about it."""
    pairs = {text: pair for text in texts if (pair := numeric_date(text))}
    first, second = any(a > 12 for a, _ in pairs.values()), any(b > 12 for _, b in pairs.values())
    if first and second:
        return True, "some dates have the day first and some the month"
    if first or second or hint in ("day first", "month first"):
        return first or (not second and hint == "day first"), ""
    example = next((text for text, (a, b) in pairs.items() if a != b), "")
    doubt = f"it is unclear which is the day and which the month, as in {example}" if example else ""
    return None, doubt


def is_no_value(cell: str) -> bool:
    """Return whether a cell is a text, not an amount, date or time."""
    return read_amount(cell) is None and read_date(cell) is None and read_time(cell) is None

"""Which column of a table is that of a year or a date: "2023", "Year ended June 30, 2023", not "Q4 2023"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chameleon.documents.units import unit_in
from chameleon.table.raised import without_marks

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = rf"(?P<date>{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,?|\d{{1,2}}(?:st|nd|rd|th)?\.? {_MONTH},?) "
_FULL = r"(?:(?:fiscal|financial|calendar) )?(?:years? )?"
_ENDED = r"(?:(?:fiscal |financial |calendar )?years? end(?:ed|ing) (?:on )?)?"
_ASKED = rf"(?:the )?{_ENDED}{_FULL}(?:{_DAY})?(?:fy ?)?{_YEAR}"
_AT = r"(?:in|during|for|at|as of|as at|on|of)"
_LAST = re.compile(rf"(?P<rest>.+?),? (?:{_AT} )?{_ASKED}")
_FIRST = re.compile(rf"{_AT} {_ASKED},? (?P<rest>(?:what|how|who|when) .+)")
_BEFORE = re.compile(rf"(?P<rest>(?:what|how much) (?:is|are|was|were) (?:the )?){_YEAR} (?P<key>.+)")
_OF_A_YEAR = re.compile(
    rf"(?:for )?(?:the )?(?:(?:fiscal |financial |calendar )?years?|(?:twelve|12) months) "
    rf"end(?:ed|ing):? (?:on )?(?:{_DAY})?{_YEAR}"
)
_PLAIN = re.compile(_YEAR)
_FULL_YEAR = re.compile(rf"(?:fy|fiscal(?: year)?|financial year|calendar year|year) ?{_YEAR}")
_DATE = re.compile(rf"(?:(?:as )?(?:of|at) )?{_DAY}{_YEAR}")
_YEARS = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?!\d|[.,]\d)")
_MONEY = re.compile(r"\b(?:EUR|USD|GBP|NOK|SEK|DKK|ISK|CHF)\b|[$€£()]|\bactual\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:change|growth|variance|increase|decrease|difference|versus|vs|since|from)\b|%|δ|±", re.IGNORECASE
)
_ANEW = re.compile(r"restated|pro forma|adjusted|revised|unaudited|audited", re.IGNORECASE)
_PART = re.compile(
    r"\b(?:two|three|four|six|nine|[2-9])[ -]months?\b|\bquarter(?:s|ly)?\b|\bhalf[ -]?years?\b|\bweeks\b"
    r"|\bq[1-4]\b|\bh[12]\b|\b(?:budget|forecast|projections?|projected|pro forma)\b",
    re.IGNORECASE,
)
_YEAR_END = ("dec", "31")


@dataclass(frozen=True)
class Period:
    """A year, or the year that ends on a day ("jun", "30"); `form`: plain, full ("FY 2023"), ended, date."""

    year: str
    day: tuple[str, str] | None = None
    form: str = "plain"


def asked_period(question: str) -> tuple[str, Period] | None:
    """A question (in lower case) without the year or date that it asks for, and that; None without one."""
    found = _FIRST.fullmatch(question) or _LAST.fullmatch(question)
    if found is not None:
        return found["rest"], Period(found["year"], _day(found["date"]))
    if (before := _BEFORE.fullmatch(question)) is not None:
        return before["rest"] + before["key"], Period(before["year"])
    return None


def columns_of(period: Period, names: Sequence[str], about: str) -> list[int]:
    """The columns that are certain to be of a period, whole and as it was; none, or one, as a rule.

    `names` are those of all columns; `about` is the caption, which may say that these are parts of years.
    """
    parsed = [period_of(name) for name in names]
    of_year = [
        (n, each)
        for n, (name, each) in enumerate(zip(names, parsed, strict=True))
        if period.year in _YEARS.findall(name) and not _CHANGE.search(name)
    ]
    known = [(n, each) for n, each in of_year if each is not None and each.year == period.year]
    if _PART.search(about):
        known = [(n, each) for n, each in known if each.form in ("ended", "full")]
    if any(_ANEW.search(names[n]) for n, _ in of_year):
        return []
    if period.day is not None:
        return [n for n, each in known if each.day == period.day]
    plain = [n for n, each in known if each.form in ("plain", "full")]
    if plain:
        return plain
    days = {each.day for each in parsed if each is not None and each.form == "date"}
    dates = [each for each in parsed if each is not None and each.form == "date"]
    same = len(days) == 1 and (len(dates) > 1 or _YEAR_END in days)
    return [n for n, each in known if len(of_year) == 1 and (each.form == "ended" or same)]


def period_of(name: str) -> Period | None:
    """The year or the day that a column is named after; None for a part of a year, a plan, a change."""
    bare = " ".join(without_marks(name).lower().split())
    bare = " ".join(_MONEY.sub(" ", bare.replace(unit_in(bare).lower() or "\0", " ")).split()).strip(" ,:;")
    for form, pattern in (("plain", _PLAIN), ("full", _FULL_YEAR), ("ended", _OF_A_YEAR), ("date", _DATE)):
        if (found := pattern.fullmatch(bare)) is not None:
            return Period(found["year"], _day(found.groupdict().get("date")), form)
    return None


def _day(date: str | None) -> tuple[str, str] | None:
    if not date:
        return None
    month, day = re.search(r"[a-z]{3}", date), re.search(r"\d{1,2}", date)
    return (month[0], str(int(day[0]))) if month and day else None

"""The year that a row or a column is of, and what else its name says about the time."""

from __future__ import annotations

import re
from typing import NamedTuple

from chameleon.modules.reports.evidence import years_in
from chameleon.modules.reports.naming import content

_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_LONG = "january|february|march|april|may|june|july|august|september|october|november|december"
_SHORT = "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
_MONTH = re.compile(
    rf"\b(?:(?:{_LONG}|{_SHORT})\b ?\.? ?,? ?(?:\d{{1,2}}(?:st|nd|rd|th)?)?(?=(?:19|20)\d\d|\b|\s|$)"
    rf"|\d{{1,2}} (?:{_LONG}|{_SHORT})\b)"
)
_MAY = re.compile(r"\bmay\b(?! ?\d)")  # the verb
_WHOLE_YEAR = re.compile(r"\b(?:twelve|12)[ -]months?\b|\b(?:fifty[- ](?:two|three)|5[23])[ -]weeks?\b|\bfy")
_PLAIN = "actual audited unaudited restated adjusted reported consolidated"


class Period(NamedTuple):
    """A year, the months that are named with it ("dec"), and the other words of a name.

    A name is that of a whole year, or of its end, where it has no other words; "Q4 2011", "change from 2010"
    and "budget 2012" have some.
    """

    year: str
    months: frozenset[str]
    words: frozenset[str]


def period(name: str) -> Period | None:
    """The period that a row or a column is named by; None where it has no year, or several."""
    years = years_in(name.lower())
    if len(years) != 1:
        return None
    return Period(next(iter(years)), months_in(name), words_beside(name))


def words_beside(name: str) -> frozenset[str]:
    """The words of a name beside its year and months; "%" is one: a column of per cent is another one."""
    text = _WHOLE_YEAR.sub(" ", without_days(name.lower()))
    percent = {"+%"} if re.search(r"%|\bper ?cent", text) else set()
    return content(text) - content(_PLAIN) | percent


def months_in(text: str) -> frozenset[str]:
    """The months that a text names, by three letters."""
    found = _MONTH.findall(_MAY.sub(" ", text.lower()))
    return frozenset(name for each in found for name in _NAMES.split() if re.search(rf"\b{name}", each))


def without_days(text: str) -> str:
    """A text in lower case without its months and the days of them."""
    return _MONTH.sub(" ", _MAY.sub(" ", text))

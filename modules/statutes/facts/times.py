"""Days and years that a clause tells, taken out of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from chameleon.modules.statutes.facts.case import Span
from chameleon.modules.statutes.facts.forms import YEAR

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?"
DATE_IN_YEAR = rf"(?:\b{_MONTH} {_DAY}|\b{_DAY} (?:of )?{_MONTH})"
DATE = rf"(?:{_MONTH} {_DAY},? {YEAR}|{_DAY} (?:of )?{_MONTH},? {YEAR})"
_WHEN = rf"(?:{DATE}|{_MONTH} {YEAR}|{YEAR})"
_OF_YEAR = r"(?:all of |the whole of )?(?:the )?(?:whole |entire )?(?:(?:calendar |tax |taxable )?years? )?"
_SAME = r"(?:that|the) (?:same )?(?:year|time)"


def day(text: str) -> date:
    """A date such as "Feb 3rd, 1992"; of a day that its month does not have, the last of the month."""
    return _first_and_last(text)[0]


def _first_and_last(text: str) -> tuple[date, date]:
    """The days of a date, a month or a year."""
    month = re.search(r"[A-Z][a-z]{2}", text)
    *numbers, year = (int(each) for each in re.findall(r"[0-9]+", text))
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    place = _MONTHS.index(month[0].lower()) + 1
    last = date(year + place // 12, place % 12 + 1, 1) - timedelta(1)
    if not numbers:
        return last.replace(day=1), last
    only = last.replace(day=max(1, min(numbers[0], last.day)))
    return only, only


def _between(found: re.Match[str]) -> Span:
    return Span(_first_and_last(found["a"])[0], _first_and_last(found["b"])[1], "from")


def _since(found: re.Match[str]) -> Span:
    return Span(_first_and_last(found["a"])[0], date.max, "since")


def _on(found: re.Match[str]) -> Span:
    only = day(found["a"])
    return Span(only, only, "day")


def _in(found: re.Match[str]) -> Span:
    return Span(*_first_and_last(found["a"]), "year")


def _end_of(found: re.Match[str]) -> Span:
    last = _first_and_last(found["a"])[1]
    return Span(last, last, "day")


_TIMES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Span]], ...] = tuple(
    (re.compile(rf"(?<![\w$.]){form}(?! and {YEAR}|(?:,? or) {YEAR}|[\w%])", re.I), span)
    for form, span in (
        (
            rf"(?:from|(?:for|during|in) the years) (?P<a>{_WHEN}) (?:to|through|until|till) (?P<b>{_WHEN})",
            _between,
        ),
        (rf"(?:ever )?since (?:the year )?(?P<a>{_WHEN})", _since),
        (rf"(?:at|by) the end of (?P<a>{YEAR})", _end_of),
        (rf"(?:on )?(?P<a>{DATE})", _on),
        (rf"in (?:the month of )?(?P<a>{_MONTH},? {YEAR})", _in),
        (rf"(?:for|in|during|throughout) {_OF_YEAR}(?P<a>{YEAR})", _in),
    )
)
_AGAIN = re.compile(rf"(?<!\w)(?:(?:in|during|for) )?{_SAME}(?!\w)", re.I)
_SINCE_THEN = re.compile(r"(?<!\w)(?:ever )?since(?: then(?!\w)|(?=$|,))", re.I)
_YEARLY = re.compile(r"(?<!\w)(?:every|each|per) year(?!\w)", re.I)


def taken_out(text: str, last: Span) -> tuple[str, Span, bool] | None:
    """A clause without its times, the time, and whether it is "every year"; None for several times.

    `last` is the time that was told last, for "that year" and "since then".
    """
    spans: set[Span] = set()
    for pattern, span in _TIMES:
        while found := pattern.search(text):
            try:
                spans.add(span(found))
            except (ValueError, OverflowError):
                return None
            text = _without(text, found)
    if found := _AGAIN.search(text):
        if not last.kind and not spans:
            return None
        is_time = found[0].lower().endswith("time")
        if not is_time and last.year is None:
            return None
        if not (is_time and spans):
            spans.add(last if is_time else Span.of_year(last.begin.year))
        text = _without(text, found)
    if found := _SINCE_THEN.search(text):
        if not last.kind or last.kind == "from":
            return None
        spans.add(Span(last.begin, date.max, "since"))
        text = _without(text, found)
    is_yearly = bool(found := _YEARLY.search(text))
    if found:
        text = _without(text, found)
    if len(spans) > 1 or any(each.begin > each.end for each in spans):
        return None
    return _tidy(text), next(iter(spans), Span()), is_yearly


def _without(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()].rstrip()} {text[found.end() :].lstrip()}"


def _tidy(text: str) -> str:
    text = re.sub(r"\s+(?=[,'])", "", re.sub(r"\s+", " ", text))
    return re.sub(r",(?:\s*,)+", ",", text).strip(" ,")

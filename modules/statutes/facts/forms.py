"""The forms of sentences: patterns with words in braces for names, dates, amounts and the like."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from fractions import Fraction

from chameleon.modules.statutes.facts.case import ALWAYS, Facts, Years

_NO_NAMES = "In|From|They|Their|She|He|Her|His|Since|On|That|Under|The|Section|Both"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?"
YEAR = r"(?:19|20)[0-9]{2}"
NAME = rf"(?!(?:{_NO_NAMES})\b)[A-Z][a-z]+"
MONEY = r"\$[0-9][0-9,]*(?:\.[0-9]{1,2})?"
WORDS = {
    "{N}": NAME,
    "{S}": rf"(?:{NAME}|She|He|she|he|They|they)",
    "{ALL}": rf"(?:{NAME}(?:, {NAME})* and {NAME})",
    "{D}": rf"(?:{_MONTH} {_DAY},? {YEAR}|[0-9]{{1,2}} {_MONTH},? {YEAR})",
    "{DAY}": rf"{_MONTH} {_DAY},?",
    "{MONTH}": _MONTH,
    "{M}": MONEY,
    "{MS}": rf"{MONEY}(?:, {MONEY})*(?:,? and {MONEY})?",
    "{Y}": YEAR,
    "{IN}": rf"(?i:for|in|during) (?:the year )?(?P<year>{YEAR})",
    "{HER}": "(?:her|his)",
    "{SPOUSE}": "(?:spouse|husband|wife)",
    "{CHILD}": "(?:son|daughter|child)",
    "{HOME}": "(?:house|home)",
    "{PLACE}": "principal place of abode",
    "{INCOME}": "(?:gross )?incomes?",
}
"""What stands for what in a form; `{IN}` is "in 2017", whose year is read."""

Reader = Callable[[Facts, re.Match[str]], None]
_FORMS: list[tuple[re.Pattern[str], Reader]] = []


def pattern_of(form: str) -> re.Pattern[str]:
    """The pattern of a form."""
    for word, meaning in WORDS.items():
        form = form.replace(word, meaning)
    return re.compile(form)


def sentences(*forms: str) -> Callable[[Reader], Reader]:
    """Read sentences of these forms, without their full stop, by a function."""

    def added(reader: Reader) -> Reader:
        _FORMS.extend((pattern_of(form), reader) for form in forms)
        return reader

    return added


def read_clause(facts: Facts, clause: str) -> None:
    """Add what a clause says to the facts, or the clause to what is not read."""
    for pattern, reader in _FORMS:
        if found := pattern.fullmatch(clause):
            names = re.findall(rf"\b{NAME}\b", clause)
            reader(facts, found)
            facts.subject = next((name for name in names if name in facts.people), facts.subject)
            return
    facts.unread.append(clause)


def day(text: str) -> date:
    """A date such as "Feb 3rd, 1992"; of a day that its month does not have, the last of the month."""
    month = re.search(r"[A-Z][a-z]{2}", text)
    number, year = (int(each) for each in re.findall(r"[0-9]+", text))
    assert month is not None
    place = _MONTHS.index(month[0].lower()) + 1
    following = date(year + place // 12, place % 12 + 1, 1)
    last = (following - date(year, place, 1)).days
    return date(year, place, max(1, min(number, last)))


def money(text: str) -> Fraction:
    """An amount such as "$1,234.50"."""
    return Fraction(text.strip("$").replace(",", ""))


def years_in(found: re.Match[str]) -> Years:
    """The years that a sentence names: `first` to `last`, or `year`; always, where it names none."""
    groups = found.groupdict()
    if groups.get("first") and groups.get("last"):
        return int(groups["first"]), int(groups["last"])
    year = groups.get("year")
    return (int(year), int(year)) if year else ALWAYS

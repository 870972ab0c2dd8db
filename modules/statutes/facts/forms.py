"""The forms of clauses: patterns with words in braces for names, amounts and the like, and who reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from chameleon.modules.statutes.facts.case import Facts, Span

_NO_NAMES = (
    "In|From|They|Their|She|He|Her|His|Him|Since|On|That|Under|The|Section|Both|For|During|At|Until|While|"
    "Before|After|And|But|It|Its|This|These|Each|Neither|Either|Every|All|No|Also|As|By|Of|Who"
)
YEAR = r"(?:19|20)[0-9]{2}"
_DATES = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? [0-9]"
NAME = rf"(?!(?:{_NO_NAMES})\b|{_DATES})[A-Z][a-z]+(?:_[a-z]+)*"
NAMES = rf"{NAME}(?:(?:, {NAME})*,? and {NAME})?"
MONEY = r"\$[0-9][0-9,]*(?:\.[0-9]{1,2})?(?![0-9%])"
WORDS = {
    "{NN}": NAMES,
    "{N}": NAME,
    "{OF}": rf"(?:{NAME}(?:'s)? and )?{NAME}'s",
    "{MS}": rf"{MONEY}(?:, {MONEY})*(?:,? and {MONEY})?",
    "{M}": MONEY,
    "{IS}": "(?:is|was|are|were)",
    "{HAS}": "(?:has|had|have|has had|have had)",
    "{INCOME}": "(?:total |annual |yearly )?(?:gross )?(?:incomes?|earnings)",
}
"""What stands for what in a form. Names are resolved, and days and years are taken out, before it is used."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that is read: what matched, for which time, and whether it comes on top of an earlier one."""

    found: re.Match[str]
    span: Span
    is_more: bool = False
    is_yearly: bool = False

    def __getitem__(self, group: str) -> str:
        return self.found.groupdict().get(group) or ""

    def names(self, group: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(re.findall(NAME, self[group])))

    def amounts(self, group: str) -> list[Fraction]:
        return [money(each) for each in re.findall(MONEY, self[group])]


Reader = Callable[[Facts, Clause], bool | None]
"""Adds what a clause says to the facts; False where it cannot be taken without doubt."""
_FORMS: list[tuple[re.Pattern[str], Reader]] = []
About = Literal["amount", "state", "event", "kin"]
ABOUT: dict[Reader, About] = {}
"""What clauses tell: amounts and returns of a year, a state that may last, an event, or kinship."""


def clauses(*forms: str, about: About = "amount") -> Callable[[Reader], Reader]:
    """Read clauses of these forms by a function; what they are `about` decides which times they share."""

    def added(reader: Reader) -> Reader:
        for form in forms:
            pattern = form
            for word, meaning in WORDS.items():
                pattern = pattern.replace(word, meaning)
            _FORMS.append((re.compile(pattern), reader))
        ABOUT[reader] = about
        return reader

    return added


def reader_of(core: str) -> tuple[Reader, re.Match[str]] | None:
    """Who reads a clause without its times."""
    for pattern, reader in _FORMS:
        if found := pattern.fullmatch(core):
            return reader, found
    return None


def money(text: str) -> Fraction:
    """An amount such as "$1,234.50"."""
    return Fraction(text.strip("$").replace(",", ""))

"""Provisions that apply to those who are aged, blind, aliens, separated or bereaved in a year."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import Facts
from chameleon.modules.statutes.facts.settling import told_of
from chameleon.modules.statutes.marriages import Marriages
from chameleon.modules.statutes.tax_law import has_attained

Condition = Callable[[Facts, str, int, re.Match[str]], bool | None]
"""Whether it holds of a person in a year; None where the facts do not tell."""


def condition(wording: str) -> tuple[Condition, re.Match[str]] | None:
    """The condition that a provision is worded as; None for any other wording."""
    for pattern, test in _CONDITIONS:
        if found := pattern.match(wording):
            return test, found
    return None


def is_blind(facts: Facts, who: str, year: int) -> bool:
    """Whether someone is blind at the close of a year, or at their death in it."""
    close = date(year, 12, 31)
    day = min(close, facts.deaths.get(who, close))
    told = [each for each in facts.blind if told_of(who, [each], year)]
    found = {each.what for each in told if each.span.begin <= day <= each.span.end}
    if len(found) > 1:
        raise Declined(f"the facts contradict one another on whether {who} is blind")
    return found == {"blind"}


def _is_separated(facts: Facts, who: str, year: int, said: re.Match[str]) -> bool:
    return Marriages(facts).is_separated(who, year)


def _is_alien(facts: Facts, who: str, year: int, said: re.Match[str]) -> bool:
    return told_of(who, facts.aliens, year)


def _has_alien_spouse(facts: Facts, who: str, year: int, said: re.Match[str]) -> bool | None:
    spouse = Marriages(facts).spouse_in(who, year)
    return told_of(spouse, facts.aliens, year) if spouse else None


def _is_aged(facts: Facts, who: str, year: int, said: re.Match[str]) -> bool | None:
    close, age = date(year, 12, 31), int(said["age"])
    if who not in facts.births or facts.deaths.get(who, close) < close:
        return None
    found = {has_attained(day, age, close) for day in facts.births[who]}
    return found.pop() if len(found) == 1 else None


def _is_blind(facts: Facts, who: str, year: int, said: re.Match[str]) -> bool | None:
    return is_blind(facts, who, year) if any(who in each.people for each in facts.blind) else None


def _lost_spouse(facts: Facts, who: str, year: int, said: re.Match[str]) -> bool | None:
    if not facts.spouses(who):
        return None
    return any(Marriages(facts).lost(who, before) for before in (year - 1, year - 2))


_CONDITIONS: tuple[tuple[re.Pattern[str], Condition], ...] = tuple(
    (re.compile(pattern), test)
    for pattern, test in (
        (r"an individual (?:who is )?legally separated from his spouse", _is_separated),
        (r"a nonresident alien individual", _is_alien),
        (r"(?:if )?at any time during the taxable year he is a nonresident alien", _is_alien),
        (r".* if at any time during the taxable year his spouse is a nonresident alien", _has_alien_spouse),
        (r"for himself if he has attained age (?P<age>[0-9]+) before the close of", _is_aged),
        (r"for himself if he is blind at the close of", _is_blind),
        (
            r"whose spouse died during either of the two years immediately preceding the taxable year",
            _lost_spouse,
        ),
    )
)

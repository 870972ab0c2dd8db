"""What an income tax law says in figures: rate tables, deductions and exemptions, read from its wording."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import floor
from typing import Literal

from chameleon.errors import Declined
from chameleon.modules.statutes.tree import Node

Status = Literal["joint", "surviving spouse", "head", "single", "separate"]

_MONEY = r"\$([0-9][0-9,]*(?:\.[0-9]+)?)"
_FIRST = re.compile(rf"([0-9.]+)\s?(?:%|percent) of (?:the )?taxable income if .*?not over {_MONEY}")
_NEXT = re.compile(rf"{_MONEY}, plus ([0-9.]+)\s?(?:%|percent) of the excess over {_MONEY}")
_UPPER = re.compile(rf"but not over {_MONEY}")
_YEARS = re.compile(
    r"taxable years? beginning after December 31, ([0-9]{4}), and before January 1, ([0-9]{4})"
)
_INSTEAD = re.compile(rf"substituting [\"“]{_MONEY}[\"”] for [\"“]{_MONEY}[\"”]")
_STATUSES: Mapping[Status, re.Pattern[str]] = {
    "joint": re.compile(r"\bjoint(?:ly)?\b", re.I),
    "surviving spouse": re.compile(r"\bsurviving spouses?\b", re.I),
    "head": re.compile(r"\bheads? of (?:a )?households?\b", re.I),
    "single": re.compile(r"\bunmarried individuals|\bnot married\b", re.I),
    "separate": re.compile(r"\bseparate returns?\b", re.I),
}
_OTHERS = re.compile(r"\((?:other|except)[^)]*\)")


@dataclass(frozen=True, slots=True)
class Bracket:
    """A line of a rate table: `base` plus `rate` of what is over `over`, up to `to` (None: without end)."""

    node: Node
    over: Fraction
    to: Fraction | None
    base: Fraction
    rate: Fraction

    def holds(self, income: Fraction) -> bool:
        return (income > self.over or self.over == 0) and (self.to is None or income <= self.to)

    def tax(self, income: Fraction) -> Fraction:
        return self.base + self.rate * (income - self.over)


@dataclass(frozen=True, slots=True)
class RateTable:
    """The brackets of one provision, and for whom it is, from its heading."""

    node: Node
    statuses: frozenset[Status]
    brackets: tuple[Bracket, ...]

    def bracket(self, income: Fraction) -> Bracket | None:
        return next((each for each in self.brackets if each.holds(max(income, Fraction(0)))), None)


def rate_tables(sections: Mapping[str, Node]) -> list[RateTable]:
    """The rate tables of a law: provisions whose parts give a share of the taxable income each."""
    found = []
    for section in sections.values():
        for node in section.nodes:
            brackets = tuple(filter(None, map(_bracket, node.children)))
            if len(brackets) >= 2:
                heading = _OTHERS.sub("", node.heading)
                found.append(RateTable(node, frozenset(statuses_in(heading)), brackets))
    return found


def _bracket(node: Node) -> Bracket | None:
    text = node.wording
    if first := _FIRST.match(text):
        return Bracket(node, Fraction(0), dollars(first[2]), Fraction(0), Fraction(first[1]) / 100)
    if later := _NEXT.match(text):
        upper = _UPPER.search(text)
        return Bracket(
            node,
            dollars(later[3]),
            dollars(upper[1]) if upper else None,
            dollars(later[1]),
            Fraction(later[2]) / 100,
        )
    return None


def statuses_in(text: str) -> Iterator[Status]:
    """The filing statuses that a text names."""
    return (status for status, pattern in _STATUSES.items() if pattern.search(text))


def dollars(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


def years_of(text: str) -> range | None:
    """The calendar years of "taxable years beginning after December 31, 2017, and before January 1, 2026"."""
    found = _YEARS.search(text)
    return range(int(found[1]) + 1, int(found[2])) if found else None


def rounded(amount: Fraction) -> int:
    """Whole dollars, half a dollar up."""
    return floor(amount + Fraction(1, 2))


class TaxLaw:
    """The figures of a law, each looked for by its wording; `Declined` where one is not there."""

    def __init__(self, sections: Mapping[str, Node]) -> None:
        self.sections = sections
        self.nodes = [node for section in sections.values() for node in section.nodes]

    def the(self, what: str, *patterns: str) -> Node:
        """The only innermost provision whose heading and wording have all the patterns."""
        found = [
            node
            for node in self.nodes
            if all(re.search(each, f"{node.heading}\n{node.wording}", re.I) for each in patterns)
        ]
        if len(found) != 1:
            raise Declined(f"the statutes have no one provision on {what}")
        return found[0]

    def tax(self, status: Status, income: Fraction) -> Fraction:
        """What the rate table for a status comes to."""
        tables = [table for table in rate_tables(self.sections) if status in table.statuses]
        bracket = tables[0].bracket(income) if len(tables) == 1 else None
        if bracket is None:
            raise Declined(f"the statutes have no one rate table for {status}")
        return bracket.tax(max(income, Fraction(0)))

    def basic_deduction(self, status: Status, year: int) -> Fraction:
        """The basic standard deduction of a status in a year."""
        node = self.the("the basic standard deduction", r"^Basic standard deduction", r"deduction is-?$")
        double, head, other = self._three(node)
        changes = self._changes(node, year)
        if status in ("joint", "surviving spouse"):
            return double * changes.get(other, other)
        return changes.get(head, head) if status == "head" else changes.get(other, other)

    def _three(self, node: Node) -> tuple[Fraction, Fraction, Fraction]:
        found: dict[str, Fraction] = {}
        for child in node.children:
            text = child.wording
            if share := re.match(r"([0-9]+) percent of the dollar amount in effect under", text):
                found["double"] = Fraction(share[1]) / 100
            elif amount := re.match(rf"{_MONEY} in the case of a head of household", text):
                found["head"] = dollars(amount[1])
            elif amount := re.match(rf"{_MONEY} in any other case", text):
                found["other"] = dollars(amount[1])
        if len(found) != 3:
            raise Declined("the statutes give the basic standard deduction in another way")
        return found["double"], found["head"], found["other"]

    def _changes(self, node: Node, year: int) -> dict[Fraction, Fraction]:
        """The amounts that special rules for the year put in the place of others, beside a provision."""
        siblings = node.parent.children if node.parent else []
        return {
            dollars(old): dollars(new)
            for rule in siblings
            if (years := years_of(rule.wording)) is not None and year in years
            for part in rule.children
            for new, old in _INSTEAD.findall(part.wording)
        }

    def exemption(self, year: int) -> Fraction:
        """The exemption amount of a year."""
        node = self.the("the exemption amount", rf'term "exemption amount" means {_MONEY}')
        for rule in node.parent.children if node.parent else []:
            years = years_of(rule.wording)
            if years is not None and year in years and '"exemption amount" means zero' in rule.wording:
                return Fraction(0)
        amount = re.search(rf"means {_MONEY}", node.wording)
        assert amount is not None
        return dollars(amount[1])

    def applicable_amount(self, status: Status) -> Fraction:
        """The income over which itemized deductions and exemptions are reduced."""
        node = self.the("the applicable amount", r'term "applicable amount" means')
        by_status: dict[Status, Fraction] = {}
        half = False
        for child in node.children:
            text = re.sub(r"who is not a surviving spouse or head of household", "", child.wording)
            amount = re.match(_MONEY, text)
            for name in statuses_in(text):
                if amount:
                    by_status[name] = dollars(amount[1])
                elif text.startswith("½") and name == "separate":
                    half = True
        if half and "joint" in by_status:
            by_status["separate"] = by_status["joint"] / 2
        if status not in by_status:
            raise Declined(f"the statutes give no applicable amount for {status}")
        return by_status[status]

    def exemption_share(self, status: Status, income: Fraction) -> Fraction:
        """The share of exemptions that is left at an income."""
        over = income - self.applicable_amount(status)
        return 1 - self.percentage(status, over) if over > 0 else Fraction(1)

    def percentage(self, status: Status, over: Fraction) -> Fraction:
        """By how much exemptions are reduced where the income exceeds the applicable amount by so much."""
        node = self.the("the applicable percentage", r'term "applicable percentage" means')
        step = re.search(
            rf"([0-9]+) percentage points for each {_MONEY} \(or fraction thereof\)", node.wording
        )
        separate = _INSTEAD.search(node.wording)
        most = re.search(r"exceed ([0-9]+) percent", node.wording)
        if step is None or most is None or (status == "separate" and separate is None):
            raise Declined("the statutes give the applicable percentage in another way")
        size = dollars(separate[1] if status == "separate" and separate else step[2])
        points = -(-over // size) * int(step[1])
        return Fraction(min(points, int(most[1])), 100)

    def reductions(
        self, status: Status, income: Fraction, itemized: Fraction, year: int
    ) -> tuple[Fraction, Fraction]:
        """By how much itemized deductions may be reduced: for the income, and at most."""
        node = self.the(
            "the limit of itemized deductions", r"itemized deductions otherwise allowable.*reduced by"
        )
        shares = [re.match(r"([0-9]+) percent of", child.wording) for child in node.children]
        if len(shares) != 2 or not all(shares):
            raise Declined("the statutes limit itemized deductions in another way")
        over = max(income - self.applicable_amount(status), Fraction(0))
        first, second = (Fraction(share[1]) / 100 for share in shares if share)
        for rule in node.section.nodes:
            years = years_of(rule.wording)
            if years is not None and year in years and "shall not apply" in rule.wording:
                return Fraction(0), Fraction(0)
        return first * over, second * itemized

    def additional(self, is_single: bool) -> Fraction:
        """The additional deduction for a person who is aged or blind."""
        aged = self.the("additional amounts", r"^Additional amounts for the aged")
        found = re.search(_MONEY, aged.wording)
        higher = self.the("higher amounts", r"Higher amount for certain unmarried")
        instead = _INSTEAD.search(higher.wording)
        if found is None or instead is None:
            raise Declined("the statutes give additional amounts in another way")
        return dollars(instead[1] if is_single else found[1])

    def employer_limits(self) -> dict[str, Fraction]:
        """The tax on wages: its rate, how much of a person's wages counts, and from how much on, by kind."""
        rate = self.the("the tax on wages", r"tax, .*equal to [0-9.]+ percent of the total wages")
        most = self.the("the limit of wages", rf"remuneration .*equal to {_MONEY} with respect to employment")
        general = self.the("employers", r"^In general", r'term "employer" means')
        farm = self.the("agricultural employers", r"^Agricultural labor", r'term "employer" means')
        home = self.the("domestic employers", r"^Domestic service", rf"cash of {_MONEY} or more")
        found = {
            "rate": re.search(r"equal to ([0-9.]+) percent", rate.wording),
            "most": re.search(_MONEY, most.wording),
            "work": re.search(_MONEY, general.children[0].wording if general.children else ""),
            "agricultural": re.search(_MONEY, farm.children[0].wording if farm.children else ""),
            "domestic": re.search(_MONEY, home.wording),
        }
        amounts = {name: dollars(each[1]) for name, each in found.items() if each}
        if len(amounts) != len(found):
            raise Declined("the statutes tax wages in another way")
        return amounts | {"rate": amounts["rate"] / 100}

    def counts_days(self, kind: str) -> bool:
        """Whether days of work make an employer as well ("on each of some 10 days"), by kind."""
        heading = r"^Agricultural labor" if kind == "agricultural" else r"^In general"
        node = self.the("employers", heading, r'term "employer" means')
        return any("days" in child.wording for child in node.children)


def has_attained(birth: date, age: int, day: date) -> bool:
    """Whether someone has had that birthday by a day."""
    return (day.year - birth.year) - ((day.month, day.day) < (birth.month, birth.day)) >= age

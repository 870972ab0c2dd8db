"""Statements about a case that rules can judge: each rule knows the wording of provisions, not their numbers.

A rule looks at the provision that a statement names, and judges only where its wording is one that the rule
was written for and the facts tell all that it asks; everything else is declined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import NAME, Facts, Home, within
from chameleon.modules.statutes.facts.forms import MONEY, YEAR, money
from chameleon.modules.statutes.income_tax import lasts_over_half_of
from chameleon.modules.statutes.kinship import Family, kin_tests
from chameleon.modules.statutes.resolving import references_in
from chameleon.modules.statutes.tax_law import (
    Status,
    TaxLaw,
    has_attained,
    rate_tables,
    rounded,
    statuses_in,
    years_of,
)
from chameleon.modules.statutes.tree import Node

_PAYS = re.compile(
    rf"(?P<who>{NAME})(?: and (?:her|his) (?:spouse|husband|wife))? ha(?:s|ve) to pay "
    rf"(?P<amount>{MONEY}) in taxes for the year (?P<year>{YEAR}) under section \S+"
)
_BEARS = re.compile(
    rf"(?P<who>{NAME}) bears a relationship to (?P<other>{NAME}) under section \S+"
    rf"(?: for the year (?P<year>{YEAR}))?"
)
_DEDUCTION = re.compile(
    rf"(?P<who>{NAME})'s basic standard deduction in (?P<year>{YEAR}) is equal to (?P<amount>{MONEY})"
)
_PERCENTAGE = re.compile(
    rf"the applicable percentage for (?P<who>{NAME}) for (?P<year>{YEAR}) is equal to (?P<points>[0-9]+)"
)
_REDUCTION = re.compile(
    rf"Section \S+ prescribes a reduction of (?P<who>{NAME})'s itemized deductions "
    rf"for the year (?P<year>{YEAR}) by (?P<amount>{MONEY})"
)
_APPLICABLE = re.compile(
    rf"(?P<who>{NAME})'s applicable amount for (?P<year>{YEAR}) is equal to (?P<amount>{MONEY})"
)
_APPLIES = re.compile(
    rf"Section \S+ applies to (?P<who>{NAME})(?: (?:for|in)(?: the year)? (?P<year>{YEAR}))"
)
_TOGETHER = re.compile(
    rf"Section \S+ applies to (?P<who>{NAME}) with (?P<other>{NAME}) as the taxpayer "
    rf"for the year (?P<year>{YEAR})"
)
_AGE = re.compile(
    rf"(?P<who>{NAME}) satisfies section \S+ with (?P<other>{NAME}) claiming (?P=who) as a qualifying child "
    rf"for the year (?P<year>{YEAR})"
)
_UNDER = re.compile(r"Under section \S+, ")


@dataclass(frozen=True, slots=True)
class Case:
    """A statement's provision, the facts, and the law."""

    node: Node
    facts: Facts
    law: TaxLaw

    def status(self, person: str, year: int) -> Status:
        """The filing status that the facts give a person, or that a return and a marriage make."""
        told = {name for who, name, years in self.facts.statuses if who == person and within(year, years)}
        joint = any(person in (a, b) and within(year, years) for a, b, years in self.facts.joint)
        separate = any(who == person and within(year, years) for who, years in self.facts.separate)
        married = "married" in told or any(
            person in (each.one, each.other)
            and each.begin is not None
            and each.begin.year <= year
            and each.end is None
            and not self.facts.separations
            and not self.facts.deaths
            for each in self.facts.marriages
        )
        found: set[Status] = set()
        if "surviving spouse" in told:
            found.add("surviving spouse")
        if "head of household" in told:
            found.add("head")
        if "single" in told:
            found.add("single")
        if married and joint != separate:
            found.add("joint" if joint else "separate")
        if len(found) != 1 or (joint and "joint" not in found):
            raise Declined(f"the facts do not tell how {person} files for {year}")
        return found.pop()

    def income(self, person: str, year: int) -> Fraction:
        amounts = [
            amount for who, amount, years in self.facts.incomes if who == (person,) and within(year, years)
        ]
        if not amounts:
            raise Declined(f"the facts do not tell the income of {person} in {year}")
        return sum(amounts, Fraction(0))


def judge(question: str, facts: Facts, sections: Mapping[str, Node]) -> bool:
    """Whether a statement holds. Raises `Declined` where no rule can tell."""
    targets = references_in(question, sections)
    if len(targets) != 1 or targets[0].node is None or targets[0].lack:
        raise Declined("the statement names no one provision that is there")
    if facts.unread:
        raise Declined(f"no rule reads the sentence {facts.unread[0]!r}")
    said = _UNDER.sub("", question.strip().removesuffix("."), count=1)
    case = Case(targets[0].node, facts, TaxLaw(sections))
    for pattern, rule in _RULES:
        if found := pattern.fullmatch(said):
            verdict = rule(case, found)
            if verdict is not None:
                return verdict
    raise Declined("no rule is about such a statement")


def pays(case: Case, said: re.Match[str]) -> bool | None:
    """What is to be paid by a rate table, or by one bracket of it."""
    who, year = said["who"], int(said["year"])
    tables = rate_tables(case.law.sections)
    table = next((each for each in tables if case.node in (each.node, *each.node.children)), None)
    amounts = [
        amount for people, amount, years in case.facts.taxable if who in people and within(year, years)
    ]
    if table is None or len(amounts) != 1 or not table.statuses:
        return None
    bracket = table.bracket(amounts[0])
    if bracket is None or case.node not in (table.node, *(each.node for each in table.brackets)):
        return None
    right_table = case.status(who, year) in table.statuses
    right_bracket = case.node in (table.node, bracket.node)
    return right_table and right_bracket and rounded(bracket.tax(amounts[0])) == money(said["amount"])


def bears_relationship(case: Case, said: re.Match[str]) -> bool | None:
    """Kinship of one of the kinds that a provision lists."""
    if not any("bears a relationship" in node.wording for node in (case.node, *case.node.ancestors)):
        return None
    leaves = [node for node in case.node.nodes if node.is_leaf]
    tests = [test for leaf in leaves if (test := kin_tests(leaf.wording)) is not None]
    if len(tests) != len(leaves):
        return None
    family = Family(case.facts, int(said["year"]) if said["year"] else None)
    return any(test(family, said["who"], said["other"]) for test in tests)


def basic_deduction(case: Case, said: re.Match[str]) -> bool | None:
    """The basic standard deduction, where the provision is the one for the status."""
    who, year = said["who"], int(said["year"])
    if case.node.parent is None or "basic standard deduction" not in case.node.parent.heading.lower():
        return None
    status = case.status(who, year)
    text = " ".join(node.wording for node in case.node.nodes)
    is_other = "in any other case" in text
    holds = status in ("single", "separate") if is_other else status in set(statuses_in(text))
    return holds and case.law.basic_deduction(status, year) == money(said["amount"])


def percentage(case: Case, said: re.Match[str]) -> bool | None:
    """The percentage by which exemptions are reduced."""
    if 'term "applicable percentage" means' not in case.node.wording:
        return None
    year, base = int(said["year"]), case.facts.applicable_amount
    if base is None or case.facts.joint or case.facts.separate:
        return None
    over = max(case.income(said["who"], year) - base, Fraction(0))
    return case.law.percentage("single", over) * 100 == int(said["points"])


def reduction(case: Case, said: re.Match[str]) -> bool | None:
    """What one of the two limits of itemized deductions comes to, where the income is over the amount."""
    who, year = said["who"], int(said["year"])
    part = re.match(r"[0-9]+ percent of the (excess|amount)", case.node.wording)
    itemized = case.facts.itemized.get(who)
    if part is None or itemized is None:
        return None
    status, income = case.status(who, year), case.income(who, year)
    first, second = case.law.reductions(status, income, itemized, year)
    amount = first if part[1] == "excess" else second
    return income > case.law.applicable_amount(status) and rounded(amount) == money(said["amount"])


def applicable_amount(case: Case, said: re.Match[str]) -> bool | None:
    """The applicable amount, where the provision is the one for the status."""
    parent = case.node.parent
    if parent is None or 'term "applicable amount" means' not in parent.wording:
        return None
    status = case.status(said["who"], int(said["year"]))
    text = re.sub(r"who is not a surviving spouse or head of household", "", case.node.wording)
    return status in set(statuses_in(text)) and case.law.applicable_amount(status) == money(said["amount"])


def applies(case: Case, said: re.Match[str]) -> bool | None:
    """Whether a provision on years, statuses, separation or residence applies to a person in a year."""
    who, year, text = said["who"], int(said["year"]), case.node.wording
    if (years := years_of(text)) is not None and "shall not apply" in text:
        return year in years
    if text.startswith("an individual legally separated from his spouse"):
        return any(who in (one, other) and day.year <= year for one, other, day in case.facts.separations)
    if text.startswith("a nonresident alien individual"):
        return any(
            person == who and begin <= date(year, 12, 31) and end >= date(year, 1, 1)
            for person, begin, end in case.facts.aliens
        )
    if re.fullmatch(r"a surviving spouse(?: \(as defined in [^)]*\))?,?", text):
        return case.status(who, year) == "surviving spouse"
    return None


def lives_together(case: Case, said: re.Match[str]) -> bool | None:
    """Whether two people have the same home for more than half of a year."""
    if not re.search(
        r"same principal place of abode as the taxpayer for more than one-half of", case.node.wording
    ):
        return None
    homes: list[Home] = [home for home in case.facts.homes if {said["who"], said["other"]} <= home.people]
    return any(lasts_over_half_of(home, int(said["year"])) for home in homes) if homes else None


def young_enough(case: Case, said: re.Match[str]) -> bool | None:
    """Whether a child is younger than the taxpayer and under an age at the close of a year."""
    limit = re.search(
        r"younger than the taxpayer .*?less than ([0-9]+) years old at the end of the taxable year",
        case.node.wording,
    )
    births = case.facts.births
    if limit is None or said["who"] not in births or said["other"] not in births:
        return None
    child, taxpayer = births[said["who"]], births[said["other"]]
    return child > taxpayer and not has_attained(child, int(limit[1]), date(int(said["year"]), 12, 31))


Rule = Callable[[Case, re.Match[str]], bool | None]
_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = (
    (_PAYS, pays),
    (_BEARS, bears_relationship),
    (_DEDUCTION, basic_deduction),
    (_PERCENTAGE, percentage),
    (_REDUCTION, reduction),
    (_APPLICABLE, applicable_amount),
    (_TOGETHER, lives_together),
    (_AGE, young_enough),
    (_APPLIES, applies),
)

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
from chameleon.modules.statutes.conditions import condition
from chameleon.modules.statutes.dependents import Household
from chameleon.modules.statutes.facts import NAME, Facts
from chameleon.modules.statutes.facts.forms import MONEY, YEAR, money
from chameleon.modules.statutes.facts.settling import holds, settled, told_of
from chameleon.modules.statutes.income_tax import refuse_unread
from chameleon.modules.statutes.incomes import gross_income, itemized_by
from chameleon.modules.statutes.kinship import Kinship, kin_tests
from chameleon.modules.statutes.marriages import Marriages
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
    rf"(?P<who>{NAME})(?: and (?:(?:her|his) (?:spouse|husband|wife)|(?P<other>{NAME})))? ha(?:s|ve) to pay "
    rf"(?P<amount>{MONEY}) in taxes (?:for|in) (?:the year )?(?P<year>{YEAR})"
)
_BEARS = re.compile(
    rf"(?P<who>{NAME}) bears a relationship to (?P<other>{NAME})"
    rf"(?: (?:for|in) (?:the year )?(?P<year>{YEAR}))?"
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
_UNDER = re.compile(r"^Under section \S+, |,? (?:under|pursuant to) section [^\s,]+(?= |,|$)")


@dataclass(frozen=True, slots=True)
class Case:
    """A statement's provision, the facts, and the law."""

    node: Node
    facts: Facts
    law: TaxLaw

    def status(self, person: str, year: int) -> Status:
        """The filing status that the facts give a person, or that a return and a marriage make."""
        facts = self.facts
        told = {each.what for each in facts.statuses if told_of(person, [each], year)}
        joint, separate = told_of(person, facts.joint, year), told_of(person, facts.separate, year)
        married = "married" in told or bool(Marriages(facts).spouse_in(person, year))
        found: set[Status] = {each for each in ("surviving spouse", "head") if each in told}
        if {"not married", "not surviving spouse", "not head"} <= told:
            found.add("single")
        if married and joint != separate:
            found.add("joint" if joint else "separate")
        unmarried = bool(found - {"joint", "separate"})
        is_odd = (unmarried and (married or joint or separate)) or (joint and separate)
        contradicted = any(f"not {each}" in told for each in (*found, *(("married",) if married else ())))
        if len(found) != 1 or is_odd or contradicted:
            raise Declined(f"the facts do not tell how {person} files for {year}")
        return found.pop()

    def income(self, person: str, year: int) -> Fraction:
        return gross_income(self.facts, [person], year)


def is_amount(claimed: str, exact: Fraction) -> bool:
    """Whether a claimed amount is the exact one, or that in whole dollars. `Declined` if it is in between."""
    amount = money(claimed)
    if amount in (exact, rounded(exact)):
        return True
    if abs(amount - exact) < 1:
        raise Declined("the amount is less than a dollar off")
    return False


def judge(question: str, facts: Facts, sections: Mapping[str, Node]) -> bool:
    """Whether a statement holds. Raises `Declined` where no rule can tell."""
    targets = references_in(question, sections)
    if len(targets) != 1 or targets[0].node is None or targets[0].lack:
        raise Declined("the statement names no one provision that is there")
    refuse_unread(facts)
    said = _UNDER.sub("", question.strip().removesuffix("."))
    for pattern, rule in _RULES:
        if found := pattern.fullmatch(said):
            groups = found.groupdict()
            if unknown := {groups["who"], groups.get("other") or groups["who"]} - facts.people:
                raise Declined(f"the facts tell nothing of {min(unknown)}")
            year = groups.get("year")
            case = Case(targets[0].node, settled(facts, int(year)) if year else facts, TaxLaw(sections))
            verdict = rule(case, found)
            if verdict is not None:
                return verdict
    raise Declined("no rule is about such a statement")


def pays(case: Case, said: re.Match[str]) -> bool | None:
    """What is to be paid by a rate table, or by one bracket of it."""
    who, year = said["who"], int(said["year"])
    tables = rate_tables(case.law.sections)
    table = next((each for each in tables if case.node in (each.node, *each.node.children)), None)
    told = [each for each in case.facts.taxable if who in each.people and holds(each.span, year)]
    if table is None or len(told) != 1 or not table.statuses or told[0].span.year != year:
        return None
    status, amount = case.status(who, year), told[0].amount
    bracket = table.bracket(amount)
    if bracket is None or case.node not in (table.node, *(each.node for each in table.brackets)):
        return None
    if said["other"] and said["other"] not in told[0].people:
        return None
    if (len(told[0].people) > 1) != (status == "joint"):
        raise Declined("whose taxable income it is does not go with how they file")
    is_right = status in table.statuses and case.node in (table.node, bracket.node)
    return is_right and is_amount(said["amount"], bracket.tax(amount))


def bears_relationship(case: Case, said: re.Match[str]) -> bool | None:
    """Kinship of one of the kinds that a provision lists."""
    if not any("bears a relationship" in node.wording for node in (case.node, *case.node.ancestors)):
        return None
    leaves = [node for node in case.node.nodes if node.is_leaf]
    tests = [test for leaf in leaves if (test := kin_tests(leaf.wording)) is not None]
    if len(tests) != len(leaves):
        return None
    kinship = Kinship(case.facts, int(said["year"]) if said["year"] else None)
    found = [kinship.is_so(test, said["who"], said["other"]) for test in tests]
    if True not in found and None in found:
        raise Declined("the facts leave the kinship open")
    return True in found


def basic_deduction(case: Case, said: re.Match[str]) -> bool | None:
    """The basic standard deduction, where the provision is the one for the status."""
    who, year = said["who"], int(said["year"])
    if not any(each.heading.lower().startswith("basic standard deduction") for each in case.node.ancestors):
        return None
    status = case.status(who, year)
    text = " ".join(node.wording for node in case.node.nodes)
    is_other = "in any other case" in text
    holds = status in ("single", "separate") if is_other else status in set(statuses_in(text))
    if any(told_of(who, case.facts.aliens, year) for who in (who, *case.facts.spouses(who))):
        raise Declined("there may be no standard deduction for nonresident aliens")
    if any(itemized_by(case.facts, each, year) for each in (who, *case.facts.spouses(who))):
        raise Declined("there may be no standard deduction where deductions are itemized")
    return holds and is_amount(said["amount"], case.law.basic_deduction(status, year))


def percentage(case: Case, said: re.Match[str]) -> bool | None:
    """The percentage by which exemptions are reduced."""
    if 'term "applicable percentage" means' not in case.node.wording:
        return None
    facts, who, year = case.facts, said["who"], int(said["year"])
    amounts = set(facts.applicable_amounts)
    may_be_married = (
        facts.marriages
        or facts.joint
        or facts.separate
        or any(not each.what.startswith("not ") for each in facts.statuses)
    )
    status: Status = case.status(who, year) if may_be_married else "single"
    if len(amounts) != 1:
        return None
    over = max(case.income(who, year) - amounts.pop(), Fraction(0))
    return case.law.percentage(status, over) * 100 == int(said["points"])


def reduction(case: Case, said: re.Match[str]) -> bool | None:
    """What one of the two limits of itemized deductions comes to, where the income is over the amount."""
    who, year = said["who"], int(said["year"])
    part = re.match(r"[0-9]+ percent of the (excess|amount)", case.node.wording)
    if part is None:
        return None
    itemized = itemized_by(case.facts, who, year)
    if not itemized:
        return None
    status, income = case.status(who, year), case.income(who, year)
    first, second = case.law.reductions(status, income, itemized, year)
    amount = first if part[1] == "excess" else second
    return income > case.law.applicable_amount(status) and is_amount(said["amount"], amount)


def applicable_amount(case: Case, said: re.Match[str]) -> bool | None:
    """The applicable amount, where the provision is the one for the status."""
    parent = case.node.parent
    if parent is None or 'term "applicable amount" means' not in parent.wording:
        return None
    status = case.status(said["who"], int(said["year"]))
    text = re.sub(r"who is not a surviving spouse or head of household", "", case.node.wording)
    amount = case.law.applicable_amount(status)
    return status in set(statuses_in(text)) and is_amount(said["amount"], amount)


def applies(case: Case, said: re.Match[str]) -> bool | None:
    """Whether a provision on years, statuses, separation or residence applies to a person in a year."""
    who, year, text = said["who"], int(said["year"]), case.node.wording
    if (years := years_of(text)) is not None and "shall not apply" in text:
        return year in years
    if found := condition(text):
        test, said_so = found
        return test(case.facts, who, year, said_so)
    if re.fullmatch(r"a surviving spouse(?: \(as defined in [^)]*\))?,?", text):
        return case.status(who, year) == "surviving spouse"
    return None


def lives_together(case: Case, said: re.Match[str]) -> bool | None:
    """Whether two people have the same home for more than half of a year."""
    if not re.search(
        r"same principal place of abode as the taxpayer for more than one-half of", case.node.wording
    ):
        return None
    pair = {said["who"], said["other"]}
    if not any(pair <= each.people for each in case.facts.homes):
        return None
    year = int(said["year"])
    return Household(case.facts, [said["other"]], "", year).lives_with(pair)


def young_enough(case: Case, said: re.Match[str]) -> bool | None:
    """Whether a child is younger than the taxpayer and under an age at the close of a year."""
    limit = re.search(
        r"younger than the taxpayer .*?less than ([0-9]+) years old at the end of the taxable year",
        case.node.wording,
    )
    births = case.facts.births
    if limit is None or said["who"] not in births or said["other"] not in births:
        return None
    (child, child_last), (taxpayer, taxpayer_last) = births[said["who"]], births[said["other"]]
    if child != child_last or taxpayer != taxpayer_last:
        return None
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

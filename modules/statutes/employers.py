"""The tax that a person owes on wages paid to others."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import FUND, NAME, Facts, Payment
from chameleon.modules.statutes.incomes import are_distinct
from chameleon.modules.statutes.kinship import Family
from chameleon.modules.statutes.tax_law import TaxLaw

_WEEKS = 10


def employer_tax(facts: Facts, person: str, year: int, law: TaxLaw) -> Fraction:
    """The tax on wages that a person paid in a year, where the facts tell it without doubt."""
    if any(person in re.findall(NAME, each.source) for each in facts.incomes):
        raise Declined(f"what {person} paid for is not told")
    paid = [each for each in facts.payments if each.payer == person]
    if not paid:
        return Fraction(0)
    if any(each.span.year != year for each in paid):
        raise Declined("wages of several years, or of another one, may count")
    wages = [each for each in paid if each.kind != FUND and not _is_exempt(facts, each, year)]
    limits = law.employer_limits()
    if len({(_kind(each), each.payee) for each in wages}) != len({each.payee for each in wages}):
        raise Declined("one person is paid for several kinds of work")
    ways = [wages]
    if any(each.kind == "domestic" for each in wages):
        ways.append([replace(each, kind="work") if each.kind == "domestic" else each for each in wages])
    totals = {_total(way, paid, limits, law) for way in ways}
    if len(totals) > 1:
        raise Declined("whether it is service in a private home is not told")
    return totals.pop() * limits["rate"]


def _total(wages: list[Payment], paid: list[Payment], limits: dict[str, Fraction], law: TaxLaw) -> Fraction:
    """What is taxed of all wages. Wages on a farm that count make an employer of other work, too."""
    by_kind = {
        kind: [each for each in wages if _kind(each) == kind] for kind in ("agricultural", "domestic", "work")
    }
    counts = {kind: bool(some) and _counts(kind, some, limits, law) for kind, some in by_kind.items()}
    if by_kind["work"] and counts["agricultural"]:
        both = _sum([*by_kind["work"], *by_kind["agricultural"]])
        counts["work"] = counts["work"] or both >= limits["work"]
    by_payee: defaultdict[str, list[Payment]] = defaultdict(list)
    for kind, some in by_kind.items():
        for each in some if counts[kind] else ():
            by_payee[each.payee].append(each)
    return sum((_taxed(payments, paid, limits["most"]) for payments in by_payee.values()), Fraction(0))


def _sum(payments: list[Payment]) -> Fraction:
    return sum((each.amount for each in payments), Fraction(0))


def _kind(payment: Payment) -> str:
    return "domestic" if payment.kind == "home" else payment.kind


def _is_exempt(facts: Facts, payment: Payment, year: int) -> bool:
    """Whether it is paid to a parent; `Declined` for others whose wages depend on more."""
    payer, payee = payment.payer, payment.payee
    certain, possible = Family(facts, year, False, True), Family(facts, year, True)
    if payee in certain.told_parents(payer):
        return True
    if payee in possible.parents(payer) or payee in possible.children(payer) | possible.step_parents(payer):
        raise Declined("wages of such kin depend on more than the facts tell")
    if payee in facts.spouses(payer):
        raise Declined("wages of a spouse depend on when the work was done")
    return False


def _counts(kind: str, paid: list[Payment], limits: dict[str, Fraction], law: TaxLaw) -> bool:
    """Whether wages of a kind make an employer; `Declined` where days of work may do so."""
    total = _sum(paid)
    if kind == "domestic":
        return total >= limits[kind]
    if total >= limits[kind]:
        return True
    if not law.counts_days(kind):
        return False
    lasts = any(each.span.end - each.span.begin >= timedelta(7 * (_WEEKS - 2)) for each in paid)
    lasts = lasts or len(paid) > 1
    fewest = 5 if kind == "agricultural" else 1
    if lasts and len({each.payee for each in paid}) >= fewest:
        raise Declined("work on ten days may make an employer of someone who pays little")
    return False


def _taxed(payments: list[Payment], paid: list[Payment], most: Fraction) -> Fraction:
    """What is taxed of the wages of one person."""
    days = [str(each.span.begin) if each.span.kind == "day" else "" for each in payments]
    if not are_distinct(days, [each.is_more for each in payments]):
        raise Declined("two payments may be one")
    amount = _sum(payments)
    into_funds = any(each.kind == FUND and each.payee == payments[0].payee for each in paid)
    if into_funds and amount < most:
        raise Declined("whether what was paid into a fund is wages depends on the plan")
    return min(amount, most)

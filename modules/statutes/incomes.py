"""What people have as income and deductions in a year, where the facts tell it without doubt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import FUND, Deduction, Facts, Income, Payment
from chameleon.modules.statutes.facts.settling import holds


def gross_income(facts: Facts, people: Sequence[str], year: int) -> Fraction:
    """The gross income of those who file together. Of whom nothing is told has none, if another one has."""
    shared = [each for each in _of(facts, people, year) if len(each.people) > 1]
    if any(not set(each.people) <= set(people) for each in shared):
        raise Declined("the facts tell an income of several people together")
    if shared:
        covered = {who for each in shared for who in each.people}
        if len(shared) > 1 or any(_own(facts, who, year) or _wages(facts, who, year) for who in covered):
            raise Declined("the facts tell an income of several people, and of one of them")
        alone = [who for who in people if who not in covered]
        return _amount(shared[0], year) + sum(
            _told(income_of(facts, who, year) for who in alone), Fraction(0)
        )
    told = _told(income_of(facts, who, year) for who in people)
    if not told:
        raise Declined(f"the facts do not tell the income of {people[0]} in {year}")
    silent = [who for who in people if income_of(facts, who, year) is None]
    if any(has_other_years(facts, who) for who in silent):
        raise Declined("the facts tell an income for another year only")
    return sum(told, Fraction(0))


def _told(amounts: Iterable[Fraction | None]) -> list[Fraction]:
    return [each for each in amounts if each is not None]


def income_of(facts: Facts, who: str, year: int) -> Fraction | None:
    """The income of one person, None where nothing is told. `Declined` where it is told in several ways."""
    if any(len(each.people) > 1 for each in _of(facts, [who], year)):
        raise Declined(f"the facts tell the income of {who} and others together")
    own, wages = _own(facts, who, year), _wages(facts, who, year)
    wholes, payments = [each for each in own if each.is_whole], [each for each in own if not each.is_whole]
    has_amount = any(each.amount for each in own) or any(each.amount for each in wages)
    if wholes and len(own) + len(wages) > 1 and has_amount:
        raise Declined(f"the facts tell the income of {who} in {year} in several ways")
    sources = [each.source for each in payments] + [f"by {each.payer}" for each in wages]
    mores = [each.is_more for each in payments] + [each.is_more for each in wages]
    if not are_distinct(sources, mores):
        raise Declined(f"two payments to {who} in {year} may be one")
    amounts = [_amount(each, year) for each in own] + [each.amount for each in wages]
    return sum(amounts, Fraction(0)) if amounts else None


def has_other_years(facts: Facts, who: str) -> bool:
    """Whether an income of someone is told for some year, so that nothing told need not mean none."""
    earned = any(who in each.people and each.amount for each in facts.incomes)
    return earned or any(each.payee == who and each.kind != FUND for each in facts.payments)


def are_distinct(sources: Sequence[str], mores: Sequence[bool]) -> bool:
    """Whether each is told as another one: by where it comes from, or by a word such as "also"."""
    others = [source for source, is_more in list(zip(sources, mores, strict=True))[1:] if not is_more]
    named = [sources[0], *others] if sources else []
    return len(named) < 2 or (all(named) and len(set(named)) == len(named))


def itemized_by(facts: Facts, who: str, year: int) -> Fraction:
    """The itemized deductions of a person for a year, 0 where none are told."""
    told: list[Deduction] = [each for each in facts.itemized if each.person == who and holds(each.span, year)]
    if any(each.span.year != year for each in told):
        raise Declined(f"the facts tell deductions of {who} for several years")
    if not are_distinct([each.source for each in told], [each.is_more for each in told]):
        raise Declined(f"two deductions of {who} for {year} may be one")
    return sum((each.amount for each in told), Fraction(0))


def _of(facts: Facts, people: Iterable[str], year: int) -> list[Income]:
    return [each for each in facts.incomes if set(people) & set(each.people) and holds(each.span, year)]


def _own(facts: Facts, who: str, year: int) -> list[Income]:
    return [each for each in _of(facts, [who], year) if each.people == (who,)]


def _wages(facts: Facts, who: str, year: int) -> list[Payment]:
    found = [
        each for each in facts.payments if each.payee == who and each.kind != FUND and holds(each.span, year)
    ]
    if any(each.span.year != year for each in found):
        raise Declined("wages of several years, or of another one, may be income")
    return found


def _amount(income: Income, year: int) -> Fraction:
    if income.amount and income.span.year != year and not income.is_yearly:
        raise Declined("the facts tell an amount for several years")
    return income.amount

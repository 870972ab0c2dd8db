"""Facts told without a year, put into the year of a case where it has only one."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from chameleon.errors import Declined
from chameleon.modules.statutes.facts.case import Deduction, Facts, Home, Income, Payment, Span, Told

_Dated = TypeVar("_Dated", Income, Deduction, Payment, Told, Home)


def settled(facts: Facts, year: int) -> Facts:
    """Facts where what has no time is of `year`, if all amounts and returns with a time are of that year.

    Else it stays without a time, and `holds` declines what depends on it.
    """
    dated: list[Income | Deduction | Payment | Told] = [
        *facts.incomes,
        *facts.taxable,
        *facts.itemized,
        *facts.payments,
        *facts.joint,
        *facts.separate,
        *facts.standard,
        *facts.statuses,
    ]
    if any(each.span.kind and each.span.year != year for each in dated):
        return facts
    span = Span.of_year(year)

    def dated_all(told: list[_Dated]) -> list[_Dated]:
        return [each if each.span.kind else replace(each, span=span) for each in told]

    return replace(
        facts,
        incomes=dated_all(facts.incomes),
        taxable=dated_all(facts.taxable),
        itemized=dated_all(facts.itemized),
        payments=dated_all(facts.payments),
        joint=dated_all(facts.joint),
        separate=dated_all(facts.separate),
        standard=dated_all(facts.standard),
        statuses=dated_all(facts.statuses),
        blind=dated_all(facts.blind),
        aliens=dated_all(facts.aliens),
        homes=dated_all(facts.homes),
    )


def holds(span: Span, year: int) -> bool:
    """Whether a time touches a year; `Declined` where no time is told."""
    if not span.kind:
        raise Declined("the facts tell something of no certain year")
    return span.touches(year)


def told_of(person: str, told: list[Told], year: int) -> bool:
    """Whether something is told of a person for a year."""
    return any(person in each.people and holds(each.span, year) for each in told)

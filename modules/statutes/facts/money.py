"""Sentences about incomes, deductions and payments."""

from __future__ import annotations

import re
from fractions import Fraction

from chameleon.modules.statutes.facts.case import FUND, Facts, Payment
from chameleon.modules.statutes.facts.forms import MONEY, money, sentences, years_in


@sentences(
    r"(?P<who>{N})'s {INCOME} {IN} (?:is|was) (?P<amount>{M})",
    r"{IN}, (?P<who>{N})'s {INCOME} (?:is|was) (?P<amount>{M})",
    r"(?P<who>{N})'s {INCOME} (?:is|was) (?P<amount>{M})",
    r"(?:{IN}, )?(?P<who>{S}) (?:was (?:also )?paid|earned) (?P<amount>{M})(?: in remuneration)?",
    r"(?P<who>{S}) (?:was (?:also )?paid|earned) (?P<amount>{M}) {IN}",
    r"(?P<who>{N}) was paid (?P<amount>{M}) in (?:{MONTH} )?(?P<year>{Y}) "
    r"for services performed (?:in jail|at [A-Z][\w ]+)",
    r"(?P<who>{N}) was paid (?P<amount>{M}) {IN} as an employee of [\w' .,]+",
    r"From {DAY} {Y} to {DAY} (?P<year>{Y}), (?P<who>{N}) was paid (?P<amount>{M}) in remuneration",
    r"(?P<who>{N}) earned (?P<amount>{M}) every year from (?P<first>{Y}) to (?P<last>{Y})",
)
def income(facts: Facts, found: re.Match[str]) -> None:
    facts.incomes.append(((facts.who(found["who"]),), money(found["amount"]), years_in(found)))


@sentences(
    r"(?P<a>{N})'s {INCOME} {IN} (?:is|was) (?P<m>{M}),? (?:and )?(?P<b>{N})'s {INCOME}(?: in {Y})? "
    r"(?:is|was) (?P<n>{M})",
    r"(?P<a>{N})(?:'s)? and (?P<b>{N})'s {INCOME} {IN} (?:are|were) (?P<m>{M}) and (?P<n>{M}) respectively",
    r"{IN}, (?P<a>{N})'s {INCOME} (?:is|was) (?P<m>{M}),? and (?P<b>{N})'s {INCOME} (?:is|was) (?P<n>{M})",
    r"{IN}, (?P<a>{N}) was paid (?P<m>{M}),? and (?P<b>{N})'s {INCOME} (?:is|was) (?P<n>{M})",
)
def two_incomes(facts: Facts, found: re.Match[str]) -> None:
    for who, amount in ((found["a"], found["m"]), (found["b"], found["n"])):
        facts.incomes.append(((facts.who(who),), money(amount), years_in(found)))


@sentences(
    r"{IN}, (?P<a>{N}) was paid (?P<m>{M}),? and (?P<b>{N}) had no income",
    r"(?P<a>{N})'s {INCOME} {IN} (?:is|was) (?P<m>{M}),? while {HER} {SPOUSE} had no income",
)
def one_income_of_two(facts: Facts, found: re.Match[str]) -> None:
    one = facts.who(found["a"])
    facts.incomes.append(((one,), money(found["m"]), years_in(found)))
    other = facts.who(found.groupdict().get("b") or facts.spouse_of(one))
    facts.incomes.append(((other,), Fraction(0), years_in(found)))


@sentences(
    r"(?P<a>{N})'s and {HER} {SPOUSE}'s {INCOME} {IN} (?:is|was) (?P<amount>{M})",
    r"(?P<a>{N})'s and (?P<b>{N})'s {INCOME} {IN} (?:is|was) (?P<amount>{M})",
)
def common_income(facts: Facts, found: re.Match[str]) -> None:
    one = facts.who(found["a"])
    other = facts.who(found.groupdict().get("b") or facts.spouse_of(one))
    facts.incomes.append(((one, other), money(found["amount"]), years_in(found)))


@sentences(
    r"(?P<a>{N})'s taxable income {IN} (?:is|was) (?P<amount>{M})",
    r"(?P<a>{N})'s and {HER} (?P<b>{SPOUSE})'s taxable income {IN} (?:is|was) (?P<amount>{M})",
)
def taxable_income(facts: Facts, found: re.Match[str]) -> None:
    one = facts.who(found["a"])
    people = (one, facts.spouse_of(one)) if found.groupdict().get("b") else (one,)
    facts.taxable.append((people, money(found["amount"]), years_in(found)))


@sentences(
    r"(?P<who>{N}) (?:had|has) no (?:gross )?income {IN}",
    r"(?P<who>{N}) did not have any income {IN}",
    r"{IN}, (?P<who>{N}) (?:had|has) no (?:gross )?income",
    r"{IN}, (?P<who>{N}) did not have any income",
    r"(?P<who>{N}) (?:had|has) no (?:gross )?income from (?P<first>{Y}) to (?P<last>{Y}|9999)",
    r"(?P<of>Her|His) {SPOUSE} had no (?:gross )?income {IN}",
)
def no_income(facts: Facts, found: re.Match[str]) -> None:
    groups = found.groupdict()
    who = facts.who(facts.spouse_of(facts.subject) if groups.get("of") else groups["who"])
    facts.incomes.append(((who,), Fraction(0), years_in(found)))


@sentences(
    r"(?P<a>{S})(?: and (?P<b>{N}))?(?: and {HER} {SPOUSE})? (?:both )?(?:takes?|took) (?:the|their) "
    r"standard deduction(?: {IN})?",
    r"{IN}, (?P<a>{S})(?: and (?P<b>{N}))? takes? the standard deduction",
    r"(?P<a>{N}) decides not to itemize {HER} deductions",
)
def standard_deduction(facts: Facts, found: re.Match[str]) -> None:
    for name in filter(None, (found["a"], found.groupdict().get("b"))):
        facts.standard.append((facts.who(name), years_in(found)))


@sentences(
    r"(?:{IN}, )?(?P<a>{N}) (?:is allowed|has) itemized deductions of (?P<all>{MS})"
    r"(?: under section [0-9]+)?",
    r"(?:{IN}, )?(?P<a>{N}) (?:is allowed|receives) a deduction of (?P<all>{M}) for donating [\w ]+",
    r"That same year, (?P<a>{N}) is allowed a deduction of (?P<all>{M}) for donating [\w ]+",
)
def itemized_deductions(facts: Facts, found: re.Match[str]) -> None:
    who = facts.who(found["a"])
    amounts = sum((money(each) for each in re.findall(MONEY, found["all"])), Fraction(0))
    facts.itemized[who] = facts.itemized.get(who, Fraction(0)) + amounts


@sentences(
    r"(?:In addition, )?(?P<a>{N}) has paid (?:wages of )?(?P<m>{M})(?: in cash| in remuneration)? "
    r"to (?P<b>{N}) for (?P<kind>work|domestic service|agricultural labor)(?: done)? "
    r"(?:in the year (?P<year>{Y})|from {DAY} (?P<first>{Y}) to {DAY} (?P<last>{Y}))"
    r"(?:, in [A-Z][\w .]+, [A-Z][a-z]+, USA)?"
    r"(?:,? for (?P<kind2>domestic service|agricultural labor)(?: in {HER} home)?)?",
)
def paid_wages(facts: Facts, found: re.Match[str]) -> None:
    kind = (found["kind2"] or found["kind"]).split()[0]
    payer, payee, amount = facts.who(found["a"]), facts.who(found["b"]), money(found["m"])
    facts.payments.append(Payment(payer, payee, amount, years_in(found), kind))


@sentences(
    r"(?:{IN}, )?(?P<a>{N}) has (?:also )?paid (?P<m>{M}) into a retirement fund for (?P<b>{N}), "
    r"and (?P<n>{M}) into health insurance for (?P<c>{N})(?:, both under a plan)?"
)
def paid_into_funds(facts: Facts, found: re.Match[str]) -> None:
    payer, years = facts.who(found["a"]), years_in(found)
    for name, amount in (("b", "m"), ("c", "n")):
        facts.payments.append(Payment(payer, facts.who(found[name]), money(found[amount]), years, FUND))


@sentences(r"The applicable amount according to section [0-9]+\([a-z]\) is (?P<m>{M})")
def applicable_amount(facts: Facts, found: re.Match[str]) -> None:
    facts.applicable_amount = money(found["m"])

"""Clauses about incomes, deductions and payments."""

from __future__ import annotations

from fractions import Fraction

from chameleon.modules.statutes.facts.case import FUND, Deduction, Facts, Income, Payment, Told
from chameleon.modules.statutes.facts.forms import Clause, clauses

_PLACE = r"(?:,? in (?:(?:[A-Z][\w.]*,? )+USA|the (?:United States|USA)))?"
_SOURCE = (
    r"(?P<source>(?: by {N}(?: {N})*)?(?: as an? [a-z]+ (?:of|at|for) (?:the )?[A-Z][\w' ]+?"
    r"|(?: for (?:{N}'s )?(?:work|services?|labor)(?: performed| done)?"
    r"(?: (?:at|for|in) (?:the |an? )?[\w' ]+?)?)?)?)" + _PLACE
)
_PAID = r"(?:has |had )?(?:paid|pays)"
_PURPOSE = (
    r"for (?:{N}'s )?(?P<kind>work|labor|services?|domestic (?:service|work)s?|agricultural (?:labor|work))"
    rf"(?: done| performed| carried out)?{_PLACE}"
    r"(?:,? (?:for|as) (?P<more>domestic service|agricultural labor))?"
    r"(?P<home>,? in (?:{N}'s|a private) (?:house|home))?"
)
_REMUNERATION = r"(?:wages of |remuneration of |a salary of )?{M}(?: in (?:cash|remuneration|wages))?"


def _whole(facts: Facts, clause: Clause, people: tuple[str, ...], amount: Fraction) -> None:
    facts.incomes.append(
        Income(people, amount, clause.span, is_more=clause.is_more, is_yearly=clause.is_yearly)
    )


@clauses(
    r"(?P<who>{OF}) {INCOME} (?:{IS}|amount(?:s|ed) to|came to|comes to|totall?ed) (?P<amount>{M})",
    r"(?P<who>{N}) {HAS} (?:an? )?{INCOME} of (?P<amount>{M})",
)
def income(facts: Facts, clause: Clause) -> bool:
    _whole(facts, clause, clause.names("who"), clause.amounts("amount")[0])
    return clause.span.is_of_whole_years


@clauses(r"(?P<who>{OF}) {INCOME} {IS} (?P<amount>{M} and {M}),? respectively")
def respective_incomes(facts: Facts, clause: Clause) -> bool:
    people, amounts = clause.names("who"), clause.amounts("amount")
    for who, amount in zip(people, amounts, strict=False):
        _whole(facts, clause, (who,), amount)
    return len(people) == len(amounts) and clause.span.is_of_whole_years


@clauses(
    r"(?P<who>{NN}) (?:{HAS}|received|earned|reported|made) no {INCOME}(?: at all| whatsoever| of any kind)?",
    r"(?P<who>{NN}) (?:does|do|did) not (?:have|earn|receive|make) (?:any|an) {INCOME}(?: at all)?",
    r"(?P<who>{NN}) (?:{IS}|has been|have been) without (?:any )?{INCOME}",
    r"(?P<who>{NN}) earned nothing",
)
def no_income(facts: Facts, clause: Clause) -> bool:
    for who in clause.names("who"):
        facts.incomes.append(Income((who,), Fraction(0), clause.span, is_yearly=True))
    return clause.span.is_of_whole_years


@clauses(r"(?P<who>{OF}) taxable income (?:{IS}|amounted to) (?P<amount>{M})")
def taxable_income(facts: Facts, clause: Clause) -> bool:
    facts.taxable.append(Income(clause.names("who"), clause.amounts("amount")[0], clause.span))
    return clause.span.is_of_whole_years


@clauses(
    r"(?P<who>{NN}) (?:takes?|took|claims?|claimed|elects?|elected|uses?|used|chooses?|chose)(?: to take)? "
    r"(?:the|their|an?|{OF}) standard deductions?",
    r"(?P<who>{NN}) (?:does|do|did) not itemize(?: (?:any|{OF}))?(?: deductions)?",
    r"(?P<who>{NN}) (?:decides?|decided|elects?|elected|chooses?|chose) not to itemize"
    r"(?: (?:any|{OF}))?(?: deductions)?",
)
def standard_deduction(facts: Facts, clause: Clause) -> bool:
    facts.standard += [Told((who,), clause.span) for who in clause.names("who")]
    return clause.span.is_of_whole_years


@clauses(
    r"(?P<who>{N}) (?:{IS} (?:allowed|granted|entitled to)|{HAS}|claims?|claimed|receives?|takes?|took) "
    r"(?:an? )?itemized deductions? of (?P<amounts>{MS})(?: under section 63)?",
    r"(?P<who>{N})'s itemized deductions? (?:{IS}|amount(?:s|ed)? to) (?P<amounts>{MS})",
    r"(?P<who>{N}) itemizes(?: {N}'s)? deductions of (?P<amounts>{MS})",
    r"(?P<who>{N}) (?:{IS} (?:allowed|granted|entitled to)|{HAS}|receives?|received|claims?) (?:an? )?"
    r"(?:itemized )?deductions? of (?P<amounts>{M}) "
    r"(?P<source>for (?:donating|giving|donations of) [a-z ]+ to [\w ]+)",
)
def itemized_deductions(facts: Facts, clause: Clause) -> None:
    amount = sum(clause.amounts("amounts"), Fraction(0))
    (who,) = clause.names("who")
    facts.itemized.append(Deduction(who, amount, clause.span, clause["source"], clause.is_more))


@clauses(
    rf"(?P<payer>{{N}}) {_PAID} (?P<amount>{_REMUNERATION}) to (?P<payee>{{N}}) {_PURPOSE}",
    rf"(?P<payer>{{N}}) {_PAID} (?P<payee>{{N}}) (?P<amount>{_REMUNERATION}) {_PURPOSE}",
    rf"(?P<payee>{{N}}) (?:{{IS}}|has been) paid (?P<amount>{_REMUNERATION}) by (?P<payer>{{N}}) {_PURPOSE}",
)
def paid_wages(facts: Facts, clause: Clause) -> bool:
    told = {each.split()[0] for each in (clause["kind"], clause["more"]) if each}
    kinds = (told - {"work", "labor", "service", "services"}) or {"work"}
    is_domestic = kinds == {"domestic"}
    kind = "home" if is_domestic and clause["home"] else next(iter(kinds))
    (payer,), (payee,) = clause.names("payer"), clause.names("payee")
    amount = clause.amounts("amount")[0]
    facts.payments.append(Payment(payer, payee, amount, clause.span, kind, clause.is_more))
    return len(kinds) == 1 and (is_domestic or not clause["home"]) and not clause.is_yearly


@clauses(
    r"(?P<who>{N}) (?:{IS} paid|got paid|earned|earns|made) (?P<amount>{M})"
    r"(?: in (?:remuneration|wages|cash))?" + _SOURCE
)
def payment(facts: Facts, clause: Clause) -> bool:
    (who,), amount = clause.names("who"), clause.amounts("amount")[0]
    source = clause["source"].strip()
    facts.incomes.append(Income((who,), amount, clause.span, False, source, clause.is_more, clause.is_yearly))
    return bool(source) or clause.span.is_of_whole_years


_INTO = r"{M} into (?:an? |the |{OF} )?(?:[a-z]+ )?(?:fund|insurance|plan) for {N}"


@clauses(rf"(?P<payer>{{N}}) {_PAID} (?P<all>{_INTO}(?:,? and {_INTO})*)(?:, (?:both|all) under a plan)?")
def paid_into_funds(facts: Facts, clause: Clause) -> None:
    (payer,) = clause.names("payer")
    for part in clause["all"].split(" into "):
        payee = part.split(" for ")[-1].split(" and ")[0].strip(", ") if " for " in part else ""
        if payee:
            facts.payments.append(Payment(payer, payee, Fraction(0), clause.span, FUND))


@clauses(r"(?P<who>{N}) (?:has |had )?retired", about="kin")
def retired(facts: Facts, clause: Clause) -> None:
    """Says nothing that a tax on income depends on."""


@clauses(
    r"[Tt]he applicable amount (?:according to|under) section [0-9]+\([a-z]\) is (?P<amount>{M})", about="kin"
)
def applicable_amount(facts: Facts, clause: Clause) -> None:
    facts.applicable_amounts.append(clause.amounts("amount")[0])

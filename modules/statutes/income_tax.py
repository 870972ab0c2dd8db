"""The tax that a person owes for a year, by the figures of a law and the facts of a case, or declined.

The steps are those of the law (sections 1, 2, 63, 68, 151, 152 and 7703 of the United States Code, as far as
a case can be read without doubt); what is not read without doubt is declined.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import FUND, Facts, Home, Marriage, Payment, within
from chameleon.modules.statutes.tax_law import Status, TaxLaw, has_attained, rounded

_YOUNG = 25


def tax_owed(facts: Facts, person: str, year: int, law: TaxLaw) -> int:
    """Whole dollars; the taxes on income and on wages are rounded each. Raises `Declined` with the reason."""
    own = Return(facts, person, year, law)
    return rounded(own.tax()) + rounded(employer_tax(facts, person, year, law))


def employer_tax(facts: Facts, person: str, year: int, law: TaxLaw) -> Fraction:
    """The tax on wages that a person paid in a year, as far as the facts tell them without doubt."""
    paid = [each for each in facts.payments if each.payer == person]
    if not paid:
        return Fraction(0)
    if any(each.years != (year, year) for each in paid):
        raise Declined("wages of several years, or of another one, may count")
    close = date(year, 12, 31)
    counted: dict[str, list[Payment]] = {}
    for each in paid:
        if (person, each.payee) in facts.parents:
            raise Declined("wages of a child depend on its age")
        is_parent = (each.payee, person) in facts.parents
        is_spouse = any(
            {person, each.payee} == {m.one, m.other} and (m.begin is None or m.begin <= close)
            for m in facts.marriages
        )
        if is_spouse:
            raise Declined("wages of a spouse depend on when the work was done")
        if not is_parent and each.kind != FUND:
            counted.setdefault(each.kind, []).append(each)
    total = Fraction(0)
    limits = law.employer_limits()
    for kind, payments in counted.items():
        if sum(each.amount for each in payments) < limits[kind]:
            continue
        by_payee: dict[str, Fraction] = {}
        for each in payments:
            by_payee[each.payee] = by_payee.get(each.payee, Fraction(0)) + each.amount
        for each in paid:
            if each.kind == FUND and Fraction(0) < by_payee.get(each.payee, Fraction(0)) < limits["most"]:
                raise Declined("whether what was paid into a fund is wages depends on the plan")
        total += sum((min(amount, limits["most"]) for amount in by_payee.values()), Fraction(0))
    return total * limits["rate"]


class Return:
    """The return of one person for one year, or of a couple."""

    def __init__(self, facts: Facts, person: str, year: int, law: TaxLaw) -> None:
        if facts.unread:
            raise Declined(f"no rule reads the sentence {facts.unread[0]!r}")
        if person not in facts.people:
            raise Declined(f"the facts tell nothing of {person}")
        self.facts, self.person, self.year, self.law = facts, person, year, law
        self.close = date(year, 12, 31)
        self.marriage = self._marriage(person)
        self.spouse = self.marriage.spouse(person) if self.marriage else ""
        self.is_joint = any(
            person in (one, other) and within(year, years) for one, other, years in facts.joint
        )
        self.filers = [person, *([self.spouse] if self.is_joint and self.spouse else [])]
        self._refuse_doubts()
        self.dependents = self._dependents()
        self.status = self._status()

    def tax(self) -> Fraction:
        income = self.income()
        taxable = income - self.deductions(income) - self.exemptions(income)
        return self.law.tax(self.status, max(taxable, Fraction(0)))

    def income(self) -> Fraction:
        """The gross income of those who file, which the facts must tell of."""
        amounts = [
            amount
            for people, amount, years in self.facts.incomes
            if within(self.year, years) and set(people) <= set(self.filers)
        ]
        shared = [
            people
            for people, _, years in self.facts.incomes
            if within(self.year, years)
            and set(people) & set(self.filers)
            and not set(people) <= set(self.filers)
        ]
        for each in self.facts.payments:
            if each.payee in self.filers and each.payer not in self.filers and each.kind != FUND:
                if each.years != (self.year, self.year):
                    raise Declined("wages of several years, or of another one, may be income")
                amounts.append(each.amount)
        if not amounts or shared:
            raise Declined(f"the facts do not tell the income of {self.person} in {self.year}")
        return sum(amounts, Fraction(0))

    def deductions(self, income: Fraction) -> Fraction:
        """The standard deduction, or what is left of itemized ones."""
        itemized = sum((self.facts.itemized.get(filer, Fraction(0)) for filer in self.filers), Fraction(0))
        standard = any(who in self.filers and within(self.year, years) for who, years in self.facts.standard)
        if itemized and standard:
            raise Declined("deductions are itemized, and the standard deduction is taken")
        if itemized:
            return itemized - min(self.law.reductions(self.status, income, itemized, self.year))
        if any(self._is_alien(filer) for filer in self.filers):
            return Fraction(0)
        each = self.law.additional(self.status in ("single", "head"))
        counted = [self.person, *([self.spouse] if self._has_spouse_exemption() else [])]
        times = sum(self._is_aged(who) + self._is_blind(who) for who in counted)
        return self.law.basic_deduction(self.status, self.year) + times * each

    def exemptions(self, income: Fraction) -> Fraction:
        """The exemptions of filers, of a spouse without income, and of dependents, as far as they last."""
        count = (2 if self.is_joint else 1) + self._has_spouse_exemption() + len(self.dependents)
        return count * self.law.exemption(self.year) * self.law.exemption_share(self.status, income)

    def _marriage(self, person: str) -> Marriage | None:
        """The marriage that counts for the year: in force at its close, or ended by death during it."""
        found = [
            each
            for each in self.facts.marriages
            if person in (each.one, each.other)
            and (each.begin is None or each.begin <= self.close)
            and (each.end is None or each.end > self.close)
            and not self._separated(each)
            and self._lives(each.spouse(person))
        ]
        if len(found) > 1:
            raise Declined(f"{person} is married more than once")
        return found[0] if found else None

    def _separated(self, marriage: Marriage) -> bool:
        couple = {marriage.one, marriage.other}
        return any({one, other} == couple and day <= self.close for one, other, day in self.facts.separations)

    def _lives(self, person: str) -> bool:
        """Whether a person was alive at some time of the year."""
        died = self.facts.deaths.get(person)
        return died is None or died.year >= self.year

    def _refuse_doubts(self) -> None:
        facts = self.facts
        if not self._lives(self.person):
            raise Declined(f"{self.person} had died by {self.year}")
        if self.is_joint and self.marriage is None:
            raise Declined("a joint return of people who are not married")
        if self.marriage and not self.is_joint:
            if self._is_alien(self.spouse) or self.spouse in facts.itemized:
                raise Declined("what the spouse is or deducts changes the rule")
            if self._homes(self.person) and not any(
                self.spouse in home.people for home in self._homes(self.person)
            ):
                raise Declined("spouses who live apart may count as not married")
            if any(parent in (self.person, self.spouse) for parent, _ in facts.parents):
                raise Declined("either of two parents may claim a child")
        if any(self.person == child and self._may_claim(parent) for parent, child in facts.parents):
            raise Declined(f"{self.person} may be a dependent")
        if facts.siblings:
            raise Declined("brothers and sisters may be dependents of several people")
        if facts.taxable or facts.statuses:
            raise Declined("the facts give what would have to be worked out")

    def _may_claim(self, parent: str) -> bool:
        """Whether a parent may claim the filer: they live together, and the parent may have income."""
        together = any(parent in home.people for home in self._homes(self.person))
        none = any(
            parent in people and amount == 0 and within(self.year, years)
            for people, amount, years in self.facts.incomes
        )
        return together and self._is_young(self.person) and not none

    def _status(self) -> Status:
        if self.is_joint:
            return "joint"
        if self.marriage:
            return "separate"
        maintained = [home for home in self._homes(self.person) if home.maintained_by == self.person]
        if self._lost_spouse_lately() and any(self._children() & home.people for home in maintained):
            return "surviving spouse"
        return "head" if any(self.dependents & home.people for home in maintained) else "single"

    def _lost_spouse_lately(self) -> bool:
        """Whether a spouse, with whom a joint return was possible, died in one of the two years before."""
        return any(
            (died := self.facts.deaths.get(each.spouse(self.person))) is not None
            and self.year - died.year in (1, 2)
            and not self._is_alien_ever(each.spouse(self.person))
            for each in self.facts.marriages
            if self.person in (each.one, each.other)
        )

    def _children(self) -> set[str]:
        return {child for parent, child in self.facts.parents if parent in self.filers} & self.dependents

    def _dependents(self) -> set[str]:
        """Children, grandchildren and parents without income, and children who are young and at home."""
        facts, filers = self.facts, set(self.filers)
        below = {child for parent, child in facts.parents if parent in filers}
        further = {child for parent, child in facts.parents if parent in below}
        above = {parent for parent, child in facts.parents if child in filers}
        found = set()
        for who in (below | further | above) - filers - {self.spouse}:
            birth = facts.births.get(who)
            if not self._lives(who) or (birth is not None and birth > self.close):
                continue
            if self._files_jointly(who):
                continue
            has_income = self._has_income(who)
            at_home = any(who in home.people for home in self._homes(self.person))
            if not has_income or (who not in above and at_home and self._is_young(who, known=True)):
                found.add(who)
        return found

    def _has_income(self, who: str) -> bool:
        earned = any(
            who in people and amount > 0 and within(self.year, years)
            for people, amount, years in self.facts.incomes
        )
        return earned or any(
            each.payee == who and each.kind != FUND and within(self.year, each.years)
            for each in self.facts.payments
        )

    def _files_jointly(self, who: str) -> bool:
        return any(who in (one, other) and within(self.year, years) for one, other, years in self.facts.joint)

    def _homes(self, person: str) -> list[Home]:
        """The homes where a person lives for more than half of the year."""
        return [
            home for home in self.facts.homes if person in home.people and lasts_over_half_of(home, self.year)
        ]

    def _has_spouse_exemption(self) -> bool:
        """Whether there is an exemption for a spouse who files no joint return and has no income."""
        if not self.marriage or self.is_joint:
            return False
        amounts = [
            amount
            for people, amount, years in self.facts.incomes
            if self.spouse in people and within(self.year, years)
        ]
        if not amounts:
            raise Declined(f"the facts do not tell the income of {self.spouse} in {self.year}")
        return sum(amounts) == 0

    def _is_alien(self, person: str) -> bool:
        first = date(self.year, 1, 1)
        return any(
            who == person and begin <= self.close and end >= first for who, begin, end in self.facts.aliens
        )

    def _is_alien_ever(self, person: str) -> bool:
        return any(who == person for who, _, _ in self.facts.aliens)

    def _is_aged(self, person: str) -> bool:
        birth = self.facts.births.get(person)
        if birth is not None:
            return has_attained(birth, 65, self.close)
        return any(who == person and age + self.year - then >= 65 for who, age, then in self.facts.ages)

    def _is_blind(self, person: str) -> bool:
        since = self.facts.blind.get(person)
        return since is not None and since <= self.close

    def _is_young(self, person: str, known: bool = False) -> bool:
        """Whether a person is under 25 at the close of the year; `known`: where that is told."""
        birth = self.facts.births.get(person)
        return (not known) if birth is None else not has_attained(birth, _YOUNG, self.close)


def lasts_over_half_of(home: Home, year: int) -> bool:
    """Whether a home lasts for more than half of a year."""
    begin, end = max(home.begin, date(year, 1, 1)), min(home.end, date(year, 12, 31))
    days = (date(year + 1, 1, 1) - date(year, 1, 1)).days
    return 2 * ((end - begin).days + 1) > days

"""The tax that a person owes for a year, by the figures of a law and the facts of a case, or declined.

The steps are those of the law (sections 1, 2, 63, 68, 151, 152 and 7703 of the United States Code, as far as
a case can be read without doubt). Where facts leave something open, the tax is worked out for each way to
take them; if these differ, it is declined.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from itertools import combinations

from chameleon.errors import Declined
from chameleon.modules.statutes.conditions import is_blind
from chameleon.modules.statutes.dependents import Household
from chameleon.modules.statutes.employers import employer_tax
from chameleon.modules.statutes.facts import Facts
from chameleon.modules.statutes.facts.settling import settled, told_of
from chameleon.modules.statutes.incomes import gross_income, income_of, itemized_by
from chameleon.modules.statutes.kinship import KIN_TESTS, is_child
from chameleon.modules.statutes.marriages import Marriages
from chameleon.modules.statutes.tax_law import Status, TaxLaw, rounded

_MOST_DOUBTS = 5


def tax_owed(facts: Facts, person: str, year: int, law: TaxLaw) -> int:
    """Whole dollars; the taxes on income and on wages are rounded each. Raises `Declined` with the reason."""
    refuse_unread(facts)
    facts = settled(facts, year)
    own = Return(facts, person, year, law)
    taxes = {rounded(tax) for tax in own.taxes()}
    if len(taxes) != 1:
        raise Declined(f"the facts leave open {own.doubts}, and the tax depends on it")
    if any(each.payer in own.filers and each.payer != person for each in facts.payments):
        raise Declined("whose tax it is that a spouse owes on wages is not told")
    return taxes.pop() + rounded(employer_tax(facts, person, year, law))


def refuse_unread(facts: Facts) -> None:
    """Raise `Declined` where a sentence is of no known form, or facts contradict one another."""
    if facts.unread:
        raise Declined(f"no rule reads the sentence {facts.unread[0]!r}")
    if facts.conflicts:
        raise Declined(facts.conflicts[0])


class Return:
    """The return of one person for one year, or of a couple."""

    def __init__(self, facts: Facts, person: str, year: int, law: TaxLaw) -> None:
        if person not in facts.people:
            raise Declined(f"the facts tell nothing of {person}")
        self.facts, self.person, self.year, self.law = facts, person, year, law
        self.close = date(year, 12, 31)
        self.marriages = Marriages(facts)
        self.spouse = self.marriages.spouse_in(person, year)
        self.is_joint = self._is_joint()
        self.filers = [person, self.spouse] if self.is_joint else [person]
        self.home = Household(facts, self.filers, self.spouse, year)
        self.doubts = "who is a dependent"
        self._refuse_doubts()

    def taxes(self) -> Iterator[Fraction]:
        """The tax for each way to take the facts."""
        if len(self.home.doubtful) > _MOST_DOUBTS:
            raise Declined(f"the facts leave open {self.doubts}")
        income = gross_income(self.facts, self.filers, self.year)
        for size in range(len(self.home.doubtful) + 1):
            for some in combinations(sorted(self.home.doubtful), size):
                dependents = self.home.certain | set(some)
                status = self._status(dependents)
                for exemption, additional in self._further():
                    count = len(self.filers) + exemption + len(dependents)
                    share = self.law.exemption_share(status, income)
                    exempt = count * self.law.exemption(self.year) * share
                    taxable = income - self._deductions(status, income, additional) - exempt
                    yield self.law.tax(status, max(taxable, Fraction(0)))

    def _is_joint(self) -> bool:
        told = [each for each in self.facts.joint if told_of(self.person, [each], self.year)]
        separate = told_of(self.person, self.facts.separate, self.year)
        if told and separate:
            raise Declined("the facts tell a joint return and a separate one")
        if told and (not self.spouse or any(self.spouse not in each.people for each in told)):
            raise Declined("a joint return of people who are not married")
        if not told and self.spouse and told_of(self.spouse, self.facts.joint, self.year):
            raise Declined("the spouse files a joint return")
        return bool(told)

    def _refuse_doubts(self) -> None:
        facts = self.facts
        if not self.home.is_alive(self.person):
            raise Declined(f"{self.person} had died by {self.year}, or was not born")
        if self.is_joint and any(self._is_alien(filer) for filer in self.filers):
            raise Declined("a joint return of a nonresident alien")
        if (
            facts.taxable
            or facts.applicable_amounts
            or any(self._contradicts(each.what, each.people) for each in facts.statuses)
        ):
            raise Declined("the facts give what would have to be worked out")
        if self.spouse and not self.is_joint and self._may_live_apart():
            raise Declined("spouses who live apart may count as not married")
        has_income = income_of(facts, self.person, self.year) if not self.is_joint else None
        if has_income and self.home.may_be_dependent(self.person):
            raise Declined(f"{self.person} may be a dependent")

    def _contradicts(self, what: str, people: tuple[str, ...]) -> bool:
        """Whether a status is more than "not married" of someone who is not."""
        return what != "not married" or any(self.marriages.spouse_in(who, self.year) for who in people)

    def _may_live_apart(self) -> bool:
        """Whether a home for others is maintained in which the spouse is not told to live all year."""
        return any(
            self.home.days_together({self.person, other}, kept_by=self.person)
            and not self.home.lives_with_all_year({self.person, self.spouse, other}, kept_by=self.person)
            for other in self.facts.people - {self.person, self.spouse}
        )

    def _status(self, dependents: set[str]) -> Status:
        if self.is_joint:
            return "joint"
        kept = [
            who
            for who in sorted(self.facts.people - {self.person})
            if self.home.lives_with({self.person, who}, kept_by=self.person)
        ]
        if self.spouse:
            if set(kept) - {self.spouse} and self._is_alien(self.spouse):
                raise Declined("the spouse of a nonresident alien may count as not married")
            return "separate"
        if self._lost_spouse_lately() and any(self._makes_survivor(who) for who in set(kept) & dependents):
            return "surviving spouse"
        heads = [who for who in kept if who in dependents - self.home.by_abode_only or self._is_child(who)]
        return "head" if heads and not self._is_alien(self.person) else "single"

    def _is_child(self, who: str) -> bool:
        return self.home.is_qualifying_child(who, self.person) is True

    def _makes_survivor(self, who: str) -> bool:
        """Whether it is a child whose home is maintained for all of the year."""
        is_child_of = who in self.home.kinship.certain.children(self.person)
        if not is_child_of and self.home.kinship.is_so(is_child, who, self.person) is None:
            raise Declined("whether it is a child of a surviving spouse is not told")
        return is_child_of and self.home.lives_with_all_year({self.person, who}, kept_by=self.person)

    def _lost_spouse_lately(self) -> bool:
        """Whether a spouse, with whom a joint return was possible, died in one of the two years before."""
        for year in (self.year - 1, self.year - 2):
            for spouse in self.marriages.lost(self.person, year):
                was_alien = any(told_of(who, self.facts.aliens, year) for who in (spouse, self.person))
                died = self.facts.deaths[spouse]
                if not was_alien and not self.marriages.marries_after(self.person, died, self.close):
                    return True
        return False

    def _deductions(self, status: Status, income: Fraction, additional: int) -> Fraction:
        """The standard deduction, or what is left of itemized ones."""
        facts, year = self.facts, self.year
        itemized = sum((itemized_by(facts, filer, year) for filer in self.filers), Fraction(0))
        standard = self.law.basic_deduction(status, year)
        standard += additional * self.law.additional(status in ("single", "head")) if additional else 0
        if any(self._is_alien(filer) for filer in self.filers):
            standard = Fraction(0)
        if self.spouse and not self.is_joint and itemized_by(facts, self.spouse, year):
            standard = Fraction(0)
        if not itemized:
            return standard
        if any(told_of(filer, facts.standard, year) for filer in self.filers):
            raise Declined("deductions are itemized, and the standard deduction is taken")
        if itemized < standard:
            raise Declined("the standard deduction is more than what may be itemized")
        return itemized - min(self.law.reductions(status, income, itemized, year))

    def _further(self) -> list[tuple[int, int]]:
        """Ways to count the exemption for a spouse, and the additional amounts for the aged and blind."""
        own = self._age_and_sight(self.person)
        if not self.spouse:
            return [(0, own)]
        theirs = self._age_and_sight(self.spouse)
        if self.is_joint:
            if theirs:
                self.doubts = "whether a joint return counts the age and sight of both"
            return [(0, own), (0, own + theirs)]
        income = income_of(self.facts, self.spouse, self.year)
        if income is None:
            raise Declined(f"the facts do not tell the income of {self.spouse} in {self.year}")
        if income:
            return [(0, own)]
        if self._may_be_claimed(self.spouse):
            self.doubts = "whether the spouse is a dependent of others"
            return [(0, own), (1, own + theirs)]
        return [(1, own + theirs)]

    def _may_be_claimed(self, who: str) -> bool:
        others = [each for each in self.facts.people - {who, self.person} if self.home.is_alive(each)]
        is_kin = any(
            self.home.kinship.is_so(test, who, other) is not False for test in KIN_TESTS for other in others
        )
        return is_kin or any(self.home.lives_with_all_year({who, other}) for other in others)

    def _age_and_sight(self, who: str) -> int:
        """How many additional amounts someone counts for."""
        is_aged = self.home.has_attained(who, 65)
        if is_aged is None and who in self.facts.births:
            raise Declined(f"the facts do not tell whether {who} has attained age 65")
        return int(is_aged is True) + is_blind(self.facts, who, self.year)

    def _is_alien(self, who: str) -> bool:
        return told_of(who, self.facts.aliens, self.year)

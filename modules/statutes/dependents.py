"""Who is a dependent of those who file: qualifying children and relatives, and who may be either."""

from __future__ import annotations

from datetime import date, timedelta

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import Facts, Home
from chameleon.modules.statutes.facts.settling import holds, told_of
from chameleon.modules.statutes.incomes import has_other_years, income_of
from chameleon.modules.statutes.kinship import (
    KIN_TESTS,
    Kinship,
    is_ancestor,
    is_child,
    is_sibling_or_below,
)
from chameleon.modules.statutes.tax_law import has_attained

_YOUNG = 25


class Household:
    """Where people live in a year, and who of them is a dependent of those who file."""

    def __init__(self, facts: Facts, filers: list[str], spouse: str, year: int) -> None:
        self.facts, self.filers, self.spouse, self.year = facts, filers, spouse, year
        self.first, self.close = date(year, 1, 1), date(year, 12, 31)
        self.kinship = Kinship(facts, year, counts_from_within=True)
        self.certain: set[str] = set()
        self.doubtful: set[str] = set()
        self.by_abode_only: set[str] = set()
        candidates = [each for each in sorted(facts.people) if self.is_alive(each)]
        candidates = [each for each in candidates if each not in filers and each != spouse]
        self.certain = {who for who in candidates if self._is_dependent(who, set()) is True}
        first = self.certain
        judged = {who: self._is_dependent(who, first) for who in candidates}
        self.certain = {who for who, is_so in judged.items() if is_so}
        self.doubtful = {who for who, is_so in judged.items() if is_so is None}

    # Homes

    def days_together(self, people: set[str], kept_by: str = "") -> int:
        """The days of the year on which people live in one home (that one of them maintains)."""
        days = set[date]()
        homes = [self._homes_of(who) for who in sorted(people)]
        for home in homes[0]:
            if people <= home.people and (not kept_by or home.maintained_by == kept_by):
                day, end = max(home.span.begin, self.first), min(home.span.end, self.close)
                while day <= end:
                    days.add(day)
                    day += timedelta(1)
        return len(days)

    def lives_with(self, people: set[str], kept_by: str = "") -> bool:
        """Whether people live in one home for more than half of the year."""
        days = self.days_together(people, kept_by)
        if 2 * days > self._length:
            return True
        if days and any(not self._is_there_all_year(who) for who in people):
            raise Declined("someone who was born or died during the year shares a home for a part of it")
        return False

    def lives_with_all_year(self, people: set[str], kept_by: str = "") -> bool:
        return self.days_together(people, kept_by) == self._length

    @property
    def _length(self) -> int:
        return (self.close - self.first).days + 1

    def _homes_of(self, person: str) -> list[Home]:
        homes = [h for h in self.facts.homes if person in h.people and holds(h.span, self.year)]
        for i, one in enumerate(homes):
            for other in homes[i + 1 :]:
                if one.span.end < other.span.begin or other.span.end < one.span.begin:
                    continue
                nested = one.people <= other.people or other.people <= one.people
                keepers = {one.maintained_by, other.maintained_by} - {""}
                if not nested or len(keepers) > 1:
                    raise Declined(f"{person} has two homes at one time")
        return homes

    def _is_there_all_year(self, who: str) -> bool:
        born = self.facts.births.get(who, (date.min, date.min))[1]
        died = self.facts.deaths.get(who, date.max)
        return born <= self.first and died >= self.close

    def is_alive(self, who: str) -> bool:
        """Whether someone was alive at some time of the year."""
        died, born = self.facts.deaths.get(who), self.facts.births.get(who)
        return (died is None or died.year >= self.year) and (born is None or born[0] <= self.close)

    # Ages

    def has_attained(self, who: str, age: int) -> bool | None:
        """Whether someone has reached an age by the close of the year, None where it is not told."""
        first, last = self.facts.births.get(who, (date.min, self._known_since(who)))
        if has_attained(last, age, self.close):
            return True
        return None if has_attained(first, age, self.close) else False

    def _known_since(self, who: str) -> date:
        """The first day on which the facts tell something of a person."""
        days = [each.begin for each in self.facts.marriages if who in (each.one, each.other)]
        days += [each.since for each in self.facts.kin if who in (each.one, each.other)]
        return min((each for each in days if each is not None), default=self.close)

    def _is_younger(self, who: str, than: str) -> bool | None:
        one, other = self.facts.births.get(who), self.facts.births.get(than)
        if one and other:
            return True if one[0] > other[1] else None if one[1] > other[0] else False
        is_below = self.kinship.is_so(is_child, who, than)
        adopted = any(each.what == "parent" and each.since and each.other == who for each in self.facts.kin)
        return True if is_below and not adopted else None

    # Dependents

    def is_qualifying_child(self, who: str, of: str) -> bool | None:
        is_kin = self.kinship.is_so(is_sibling_or_below, who, of)
        is_below = self.kinship.is_so(is_child, who, of)
        related = True if is_kin or is_below else None if None in (is_kin, is_below) else False
        if related is False or self._files_jointly(who) or not self.lives_with({who, of}):
            return False
        is_old = self.has_attained(who, _YOUNG)
        is_younger = self._is_younger(who, of)
        if is_old or is_younger is False:
            return False
        return None if None in (related, is_old, is_younger) else True

    def _is_dependent(self, who: str, dependents: set[str]) -> bool | None:
        if self._files_jointly(who):
            return False
        own = [self.is_qualifying_child(who, filer) for filer in self.filers]
        of_others = [
            self.is_qualifying_child(who, other)
            for other in sorted(self.facts.people - {who, *self.filers} - dependents)
            if self.is_alive(other)
        ]
        if True in own:
            return True if not any(each is not False for each in of_others) else None
        income = self._income(who)
        relative = self._is_relative(who)
        if relative is False or income == "some" or True in of_others:
            return None if None in own else False
        if relative is None or income == "doubt" or None in of_others:
            return None
        if income == "untold" and not self._is_in_line(who):
            return None
        return None if self._may_others_claim(who, dependents) and None not in own else True

    def _is_relative(self, who: str) -> bool | None:
        """Whether someone is kin of a filer, or a member of the household all year."""
        found = [self.kinship.is_so(test, who, filer) for test in KIN_TESTS for filer in self.filers]
        if True in found:
            return True
        if any(self.lives_with_all_year({who, filer}) for filer in self.filers):
            self.by_abode_only.add(who)
            return None if set(self.filers) & self.facts.spouses(who) else True
        return None if None in found else False

    def _is_in_line(self, who: str) -> bool:
        """Whether someone is an ancestor or descendant: if facts tell no income of these, they have none."""
        return any(self.kinship.is_so(test, who, f) for test in (is_child, is_ancestor) for f in self.filers)

    def _may_others_claim(self, who: str, dependents: set[str]) -> bool:
        """Whether a child has another parent, who does not file with the filers."""
        if not any(self.kinship.is_so(is_child, who, filer) for filer in self.filers):
            return False
        parents = self.kinship.certain.told_parents(who) - set(self.filers)
        is_own = bool(self.kinship.certain.told_parents(who) & set(self.filers))
        return is_own and any(self.is_alive(each) and each not in dependents for each in parents)

    def _income(self, who: str) -> str:
        try:
            found = income_of(self.facts, who, self.year)
        except Declined:
            return "doubt"
        if found is None and has_other_years(self.facts, who):
            return "doubt"
        return "untold" if found is None else "some" if found else "none"

    def _files_jointly(self, who: str) -> bool:
        return told_of(who, self.facts.joint, self.year)

    def may_be_dependent(self, person: str) -> bool:
        """Whether someone with an income may be the qualifying child of someone else.

        Whose age is not told is no child of someone who is their own dependent.
        """
        is_grown = self.has_attained(person, _YOUNG) is None
        return any(
            self.is_qualifying_child(person, other) is not False
            for other in sorted(self.facts.people - {person})
            if self.is_alive(other) and not (is_grown and other in self.certain)
        )

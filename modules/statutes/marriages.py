"""Who is married to whom on a day, by the order of marriages, separations and deaths."""

from __future__ import annotations

from datetime import date, timedelta

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import Facts


class Marriages:
    """The marriages of a case; `Declined` where their order is not told."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.pairs = {frozenset((each.one, each.other)) for each in facts.marriages}

    def in_force(self, pair: frozenset[str], day: date) -> bool:
        """Whether two people are married at the close of a day: what happened last until then counts."""
        begins = [each.begin for each in self.facts.marriages if {each.one, each.other} == pair]
        ends = self._ends(pair)
        dated = [each for each in begins if each is not None]
        if not dated:
            others = [other for other in self.pairs if other != pair and other & pair]
            died = [self.facts.deaths[who] for who in pair if who in self.facts.deaths]
            if set(ends) - set(died) or others:
                raise Declined("the facts do not tell when a marriage began")
            return not died or day < min(died)
        if set(dated) & set(ends) or self._is_unclear([*dated, *ends]):
            raise Declined("the facts do not tell the order of what happened to a marriage")
        last_begin = max((each for each in dated if each <= day), default=None)
        last_end = max((each for each in ends if each <= day), default=date.min)
        return last_begin is not None and last_begin > last_end

    def _is_unclear(self, days: list[date]) -> bool:
        """Whether something is told for a year only (its last day), and something else of that year too."""
        years = [each.year for each in days]
        return any((each.month, each.day) == (12, 31) and years.count(each.year) > 1 for each in days)

    def _ends(self, pair: frozenset[str]) -> list[date]:
        told = [each.end for each in self.facts.marriages if {each.one, each.other} == pair and each.end]
        parted = [day for one, other, day in self.facts.separations if {one, other} == pair]
        died = [self.facts.deaths[who] for who in pair if who in self.facts.deaths]
        return [*told, *parted, *died]

    def spouses_on(self, person: str, day: date) -> set[str]:
        found = {pair for pair in self.pairs if person in pair and self.in_force(pair, day)}
        return {who for pair in found for who in pair if who != person}

    def spouse_in(self, person: str, year: int) -> str:
        """The spouse at the close of a year, or at the spouse's death during it; "" for none."""
        found = self.spouses_on(person, date(year, 12, 31))
        if not found:
            found = self.lost(person, year)
        if len(found) > 1:
            raise Declined(f"{person} is married more than once")
        return next(iter(found), "")

    def lost(self, person: str, year: int) -> set[str]:
        """The spouses who died during a year while they were married."""
        return {
            spouse
            for spouse in self.facts.spouses(person)
            if (died := self.facts.deaths.get(spouse)) is not None
            and died.year == year
            and self.in_force(frozenset((person, spouse)), died - timedelta(1))
        }

    def marries_after(self, person: str, day: date, until: date) -> bool:
        """Whether a person marries after a day, and until another one."""
        mine = [
            each
            for each in self.facts.marriages
            if person in (each.one, each.other) and self.facts.deaths.get(each.spouse(person), date.max) > day
        ]
        if any(each.begin is None for each in mine):
            raise Declined("the facts do not tell when a marriage began")
        return any(each.begin is not None and day < each.begin <= until for each in mine)

    def is_separated(self, person: str, year: int) -> bool:
        """Whether a person is legally separated at the close of a year; `Declined` after another marriage."""
        close = date(year, 12, 31)
        parted = {
            frozenset((one, other)): day
            for one, other, day in sorted(self.facts.separations, key=lambda each: each[2])
            if person in (one, other) and day <= close
        }
        lasting = {pair: day for pair, day in parted.items() if not self.marries_again(pair, day, close)}
        if lasting and self.marries_after(person, max(lasting.values()), close):
            raise Declined(f"{person} has married again after a separation")
        return bool(lasting)

    def marries_again(self, pair: frozenset[str], day: date, until: date) -> bool:
        mine = [each for each in self.facts.marriages if {each.one, each.other} == pair]
        if any(each.begin is None for each in mine):
            raise Declined("the facts do not tell when a marriage began")
        return any(each.begin is not None and day < each.begin <= until for each in mine)

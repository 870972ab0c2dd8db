"""Who is what to whom: kinship that facts tell, and the kinds of it that a provision lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import Facts, Kin
from chameleon.modules.statutes.marriages import Marriages

_GENERATIONS = 4


class Family:
    """The kin of people for a year, or at any time where it is None.

    Without `is_possible` it is what the facts tell for certain. With it, also what they leave open: that
    siblings have the same parents, that a spouse's child is one's own, kin by a marriage that has ended, and
    kin since a day of the year itself. That last counts as certain with `counts_from_within`.
    """

    def __init__(
        self, facts: Facts, year: int | None, is_possible: bool, counts_from_within: bool = False
    ) -> None:
        self.facts, self.year, self.is_possible = facts, year, is_possible
        self.counts_from_within = counts_from_within or is_possible
        self.marriages = Marriages(facts)

    def parents(self, person: str) -> set[str]:
        found = self.told_parents(person)
        if self.is_possible:
            whole = self._told(person, "sibling")
            shared = {parent for each in whole for parent in self.told_parents(each)}
            step = {each.one for each in self._edges("step") if each.other == person}
            married = {spouse for each in found | shared for spouse in self.spouses(each)}
            return found | shared | step | married
        return found

    def told_parents(self, person: str) -> set[str]:
        return {each.one for each in self._edges("parent") if each.other == person}

    def children(self, person: str) -> set[str]:
        everyone = {each.other for what in ("parent", "step") for each in self._edges(what)} | {
            who for each in self._edges("sibling") for who in (each.one, each.other)
        }
        return {child for child in everyone if person in self.parents(child)}

    def siblings(self, person: str) -> set[str]:
        """Those who are told to be, by half too, and other children of a parent."""
        if self.is_possible:
            return self._on(person, self._beside)
        told = self._told(person, "sibling") | self._told(person, "half")
        further = {again for each in self._told(person, "sibling") for again in self._told(each, "sibling")}
        return (told | further | self._of_one_parent(person)) - {person}

    def _of_one_parent(self, person: str) -> set[str]:
        return {child for parent in self.parents(person) for child in self.children(parent)}

    def _beside(self, person: str) -> set[str]:
        """Everyone who may be a brother or sister, by whole, half or step."""
        kinds = ("sibling", "half", "stepsibling")
        return {each for kind in kinds for each in self._told(person, kind)} | self._of_one_parent(person)

    def step_parents(self, person: str) -> set[str]:
        told = {each.one for each in self._edges("step") if each.other == person}
        by_marriage = {spouse for parent in self.told_parents(person) for spouse in self.spouses(parent)}
        open_ones = self.parents(person) if self.is_possible else set[str]()
        return told | ((by_marriage | open_ones) - self.told_parents(person))

    def step_siblings(self, person: str) -> set[str]:
        children = {child for each in self.step_parents(person) for child in self.children(each)}
        below = {
            each.other
            for parent in self.told_parents(person)
            for each in self._edges("step")
            if each.one == parent
        }
        open_ones = self.siblings(person) if self.is_possible else set[str]()
        return (self._told(person, "stepsibling") | children | below | open_ones) - {person}

    def spouses(self, person: str) -> set[str]:
        """Spouses by whom there is kin: of a marriage that began before the year and has not ended."""
        return {each for each in self.facts.spouses(person) if self._is_kin_by(frozenset((person, each)))}

    def _is_kin_by(self, pair: frozenset[str]) -> bool:
        begins = [each.begin for each in self.facts.marriages if {each.one, each.other} == pair]
        if self.is_possible:
            return self.year is None or any(each is None or each.year <= self.year for each in begins)
        if self.year is not None and all(each is not None and not self._counts(each) for each in begins):
            return False
        try:
            first = date.max if self.year is None else date(self.year, 1, 1)
            close = date.max if self.year is None else date(self.year, 12, 31)
            began = any(each is None or each < first for each in begins)
            return self.marriages.in_force(pair, close) and (
                not began or self.marriages.in_force(pair, first)
            )
        except Declined:
            return False

    def descendants(self, person: str) -> set[str]:
        return self._on(person, self.children)

    def ancestors(self, person: str) -> set[str]:
        return self._on(person, self.parents)

    def _on(self, person: str, step: Callable[[str], set[str]]) -> set[str]:
        found, last = set[str](), {person}
        for _ in range(_GENERATIONS):
            last = {other for each in last for other in step(each)} - found
            found |= last
        return found - {person}

    def _edges(self, what: str) -> list[Kin]:
        return [each for each in self.facts.kin if each.what == what and self._counts(each.since)]

    def _counts(self, since: date | None) -> bool:
        if since is None or self.year is None or since.year < self.year:
            return True
        return since.year == self.year and (self.counts_from_within or since == date(self.year, 1, 1))

    def _told(self, person: str, what: str) -> set[str]:
        pairs = [{each.one, each.other} for each in self._edges(what)]
        return {other for pair in pairs if person in pair for other in pair} - {person}


Test = Callable[[Family, str, str], bool]
"""Whether the first person is of a kind of kin of the second."""


def is_child(family: Family, who: str, of: str) -> bool:
    return who in family.descendants(of)


def is_sibling(family: Family, who: str, of: str) -> bool:
    return who in family.siblings(of) | family.step_siblings(of)


def is_sibling_or_below(family: Family, who: str, of: str) -> bool:
    beside = family.siblings(of) | family.step_siblings(of)
    return who in beside or any(who in family.descendants(each) for each in beside)


def is_ancestor(family: Family, who: str, of: str) -> bool:
    return who in family.ancestors(of)


def is_step_parent(family: Family, who: str, of: str) -> bool:
    """The spouse of a parent may be a parent too, unless both are known."""
    if who in {each.one for each in family.facts.kin if each.what == "step" and each.other == of}:
        return who in family.step_parents(of)
    is_known = family.is_possible or len(family.told_parents(of)) > 1
    return is_known and who in family.step_parents(of)


def is_nephew(family: Family, who: str, of: str) -> bool:
    return any(who in family.children(each) for each in family.siblings(of))


def is_uncle(family: Family, who: str, of: str) -> bool:
    return any(who in family.siblings(parent) for parent in family.parents(of))


def is_in_law(family: Family, who: str, of: str) -> bool:
    by_child = {spouse for child in family.children(of) for spouse in family.spouses(child)}
    by_spouse = {
        other for spouse in family.spouses(of) for other in family.parents(spouse) | family.siblings(spouse)
    }
    by_sibling = {spouse for each in family.siblings(of) for spouse in family.spouses(each)}
    if family.is_possible:
        by_spouse |= {spouse for each in by_spouse for spouse in family.spouses(each)}
        by_spouse |= {other for spouse in family.spouses(of) for other in family.step_parents(spouse)}
    return who in (by_child | by_spouse | by_sibling) - family.spouses(of)


_KINDS: tuple[tuple[re.Pattern[str], Test], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), test)
    for pattern, test in (
        (r"a child(?: of the taxpayer)? or a descendant of (?:such )?a child", is_child),
        (
            r"a brother, sister, stepbrother, or stepsister of the taxpayer "
            r"or a descendant of any such relative",
            is_sibling_or_below,
        ),
        (r"a brother, sister, stepbrother, or stepsister", is_sibling),
        (r"the father or mother, or an ancestor of either", is_ancestor),
        (r"a stepfather or stepmother", is_step_parent),
        (r"a son or daughter of a brother or sister of the taxpayer", is_nephew),
        (r"a brother or sister of the father or mother of the taxpayer", is_uncle),
        (
            r"a son-in-law, daughter-in-law, father-in-law, mother-in-law, brother-in-law, or sister-in-law",
            is_in_law,
        ),
    )
)
KIN_TESTS: tuple[Test, ...] = (
    is_child,
    is_sibling,
    is_ancestor,
    is_step_parent,
    is_nephew,
    is_uncle,
    is_in_law,
)
"""The kinds of kin that make a dependent."""


def kin_tests(wording: str) -> Test | None:
    """The test for the kind of kin that a provision names; None for any other wording."""
    text = re.sub(r"[.,;]?(?: (?:or|and))?$", "", wording.strip())
    return next((test for pattern, test in _KINDS if pattern.fullmatch(text)), None)


class Kinship:
    """Tests of kin for a year that are True, False, or None where the facts leave it open."""

    def __init__(self, facts: Facts, year: int | None, counts_from_within: bool = False) -> None:
        self.certain = Family(facts, year, False, counts_from_within)
        self.possible = Family(facts, year, True)

    def is_so(self, test: Test, who: str, of: str) -> bool | None:
        if test(self.certain, who, of):
            return True
        return None if test(self.possible, who, of) else False

"""Who is what to whom: kinship that facts tell, and the kinds of it that a provision lists."""

from __future__ import annotations

import re
from collections.abc import Callable

from chameleon.errors import Declined
from chameleon.modules.statutes.facts import Facts

_GENERATIONS = 4


class Family:
    """The kin of people by the facts; what they do not tell is taken not to be so.

    `year`: the year that is asked about. Kin by a marriage count from the year of the marriage on, and where
    no year is asked about.
    """

    def __init__(self, facts: Facts, year: int | None) -> None:
        self.facts, self.year = facts, year

    def parents(self, person: str) -> set[str]:
        return {parent for parent, child in self.facts.parents if child == person}

    def children(self, person: str) -> set[str]:
        return {child for parent, child in self.facts.parents if parent == person}

    def siblings(self, person: str) -> set[str]:
        """Those who are told to be, and other children of a parent."""
        told = {other for pair in self.facts.siblings if person in pair for other in pair}
        same = {child for parent in self.parents(person) for child in self.children(parent)}
        return (told | same) - {person}

    def spouses(self, person: str) -> set[str]:
        found = set()
        for each in self.facts.marriages:
            if person not in (each.one, each.other):
                continue
            if self.year is not None and each.begin is not None and each.begin.year > self.year:
                continue
            if each.end is not None or self.facts.separations:
                raise Declined("kin by a marriage that has ended")
            found.add(each.spouse(person))
        return found

    def descendants(self, person: str) -> set[str]:
        return self._on(person, self.children)

    def ancestors(self, person: str) -> set[str]:
        return self._on(person, self.parents)

    def _on(self, person: str, step: Callable[[str], set[str]]) -> set[str]:
        found, last = set[str](), {person}
        for _ in range(_GENERATIONS):
            last = {other for each in last for other in step(each)} - found
            found |= last
        return found


Test = Callable[[Family, str, str], bool]
"""Whether the first person is of a kind of kin of the second."""


def _child(family: Family, who: str, of: str) -> bool:
    return who in family.descendants(of)


def _sibling(family: Family, who: str, of: str) -> bool:
    half = {
        child
        for parent in family.parents(of)
        for spouse in family.spouses(parent)
        for child in family.children(spouse)
    }
    return who in (family.siblings(of) | half) - {of}


def _sibling_or_below(family: Family, who: str, of: str) -> bool:
    return _sibling(family, who, of) or any(who in family.descendants(each) for each in family.siblings(of))


def _parent(family: Family, who: str, of: str) -> bool:
    return who in family.ancestors(of)


def _step_parent(family: Family, who: str, of: str) -> bool:
    return any(who in family.spouses(parent) for parent in family.parents(of)) and who not in family.parents(
        of
    )


def _nephew(family: Family, who: str, of: str) -> bool:
    return any(who in family.children(each) for each in family.siblings(of))


def _uncle(family: Family, who: str, of: str) -> bool:
    return any(who in family.siblings(parent) for parent in family.parents(of))


def _in_law(family: Family, who: str, of: str) -> bool:
    by_child = {spouse for child in family.children(of) for spouse in family.spouses(child)}
    by_spouse = {
        other for spouse in family.spouses(of) for other in family.parents(spouse) | family.siblings(spouse)
    }
    by_sibling = {spouse for each in family.siblings(of) for spouse in family.spouses(each)}
    return who in by_child | by_spouse | by_sibling


_KINDS: tuple[tuple[re.Pattern[str], Test], ...] = (
    (re.compile(r"a child(?: of the taxpayer)? or a descendant of (?:such )?a child", re.I), _child),
    (
        re.compile(
            r"a brother, sister, stepbrother, or stepsister of the taxpayer "
            r"or a descendant of any such relative",
            re.I,
        ),
        _sibling_or_below,
    ),
    (re.compile(r"a brother, sister, stepbrother, or stepsister", re.I), _sibling),
    (re.compile(r"the father or mother, or an ancestor of either", re.I), _parent),
    (re.compile(r"a stepfather or stepmother", re.I), _step_parent),
    (re.compile(r"a son or daughter of a brother or sister of the taxpayer", re.I), _nephew),
    (re.compile(r"a brother or sister of the father or mother of the taxpayer", re.I), _uncle),
    (
        re.compile(
            r"a son-in-law, daughter-in-law, father-in-law, mother-in-law, brother-in-law, or sister-in-law",
            re.I,
        ),
        _in_law,
    ),
)


def kin_tests(wording: str) -> Test | None:
    """The test for the kind of kin that a provision names; None for any other wording."""
    text = re.sub(r"[.,;]?(?: (?:or|and))?$", "", wording.strip())
    return next((test for pattern, test in _KINDS if pattern.fullmatch(text)), None)

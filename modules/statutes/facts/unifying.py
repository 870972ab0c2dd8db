"""Relatives told without a name ("her son"): the one who is named elsewhere, someone new, or a doubt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from chameleon.modules.statutes.facts.case import Facts
from chameleon.modules.statutes.facts.words import GENDERS, KIN_OF_ANY_GENDER, USUAL

_IN_BETWEEN = re.compile(r"_[A-Z]")
_BELOW = {"child": "parent", "parent": "child", "grandchild": "grandparent", "grandparent": "grandchild"}


def unify(facts: Facts) -> dict[str, str]:
    """The names of people who were told without one; where that is in doubt, it is added to the conflicts.

    Everyone who was called "Alice's son" must be the only one whom the facts tell to be a son of hers. Where
    they tell none, it is someone without a name, unless a child, a stepson or the like, or someone of whom no
    kinship is told, may be meant.
    """
    found: dict[str, str] = {}
    for each in facts.marriages:
        died = min(facts.deaths.get(who, date.max) for who in (each.one, each.other))
        if each.begin and died < each.begin:
            facts.conflicts.append(f"the facts tell a wedding of {each.one} and {each.other} after a death")
    for of, kin, name in dict.fromkeys(facts.mentions):
        is_unnamed = name in facts.unnamed
        sure, doubtful = _candidates(facts, of, kin, name if is_unnamed else "")
        if sure == {name}:
            sure = set()
        elif not is_unnamed:
            doubtful.add(name)
        if (of, KIN_OF_ANY_GENDER[kin]) in facts.several:
            doubtful.add(of)
        if KIN_OF_ANY_GENDER[kin] == "spouse" and _may_be_former(facts, of, {*sure, name}):
            doubtful.add(name)
        if is_unnamed and not sure:
            doubtful |= _strangers(facts, of, kin, name)
        if doubtful or len(sure) > 1 or sure & facts.unnamed or any(map(_IN_BETWEEN.search, sure)):
            facts.conflicts.append(f"the facts do not tell who {of}'s {kin} is")
        for other in sure:
            if found.setdefault(name, other) != other or _both_married(facts, of, kin, name, other):
                facts.conflicts.append(f"the facts do not tell who {of}'s {kin} is")
    return found


def known(facts: Facts, of: str, kin: str) -> str:
    """The one whom the facts tell so far to be a relative of that kind; "" where that is none or several."""
    sure, _ = _candidates(facts, of, kin, "")
    return next(iter(sure)) if len(sure) == 1 else ""


def _candidates(facts: Facts, of: str, kin: str, but: str) -> tuple[set[str], set[str]]:
    """Those who are told to be a relative of a kind, and those who may be meant as well."""
    what = KIN_OF_ANY_GENDER[kin]
    told = _related(facts, of, what) - {but, of}
    fitting = {each for each in told if _fits(facts, each, kin, True)}
    loose = {each for each in told - fitting if _fits(facts, each, kin, False)} if not fitting else set[str]()
    near = _related_loosely(facts, of, re.sub("^(?:step|half-)", "", what)) - {but, of} - told
    return fitting, loose | {each for each in near if _fits(facts, each, kin, True)}


def _fits(facts: Facts, who: str, kin: str, by_name: bool) -> bool:
    """Whether the gender of a kin word may be someone's: by what is told, and by the usual one of a name."""
    gender, told = GENDERS.get(kin), facts.genders.get(who, set())
    if not gender or told:
        return not gender or gender in told
    return not by_name or USUAL.get(who, gender) == gender


def _related(facts: Facts, of: str, what: str) -> set[str]:
    """Those who are told to be exactly that."""
    if what == "spouse":
        return facts.spouses(of)
    if what.startswith("grand"):
        step = _BELOW[what.removeprefix("grand")]
        return {last for each in _edges(facts, of, step) for last in _edges(facts, each, step)}
    if what in ("stepchild", "stepparent"):
        return {
            one if what == "stepparent" else other
            for one, other in _pairs(facts, "step")
            if of == (other if what == "stepparent" else one)
        }
    if what in _BELOW:
        return _edges(facts, of, _BELOW[what])
    kind = {"half-sibling": "half"}.get(what, what)
    pairs = [{one, other} for one, other in _pairs(facts, kind)]
    return {who for pair in pairs if of in pair for who in pair}


def _edges(facts: Facts, of: str, what: str) -> set[str]:
    """The children of someone who is their `what` "parent", or the parents of their "child"."""
    pairs = _pairs(facts, "parent")
    return {other if what == "parent" else one for one, other in pairs if of == (one, other)[what == "child"]}


def _pairs(facts: Facts, what: str) -> list[tuple[str, str]]:
    return [(each.one, each.other) for each in facts.kin if each.what == what]


def _related_loosely(facts: Facts, of: str, what: str) -> set[str]:
    """Those who may be it, too: by step and by half, by a marriage, and as children of the same parents."""
    if what == "spouse":
        return set()
    if what == "sibling":
        told = {
            who for each in ("sibling", "half-sibling", "stepsibling") for who in _related(facts, of, each)
        }
        further = {again for each in told for again in _related(facts, each, "sibling")}
        return told | further | _children(facts, _parents(facts, {of}))
    step = _parents if what.endswith("parent") else _children
    found = step(facts, {of})
    return step(facts, found) if what.startswith("grand") else found


def _parents(facts: Facts, of: Iterable[str]) -> set[str]:
    found = set[str]()
    for who in of:
        beside = {who} | _related(facts, who, "sibling")
        told = {up for each in beside for up in _related(facts, each, "parent")}
        told |= _related(facts, who, "stepparent")
        found |= told | {spouse for each in told for spouse in facts.spouses(each)}
    return found


def _children(facts: Facts, of: Iterable[str]) -> set[str]:
    everyone = {who for each in facts.kin for who in (each.one, each.other)}
    return {who for who in everyone if _parents(facts, {who}) & set(of)}


def _strangers(facts: Facts, of: str, kin: str, name: str) -> set[str]:
    """Those of that gender of whom nothing is told that makes them kin of someone, or the spouse."""
    reached, last = set[str](), {of, name}
    edges = [(each.one, each.other) for each in facts.kin]
    edges += [(each.one, each.other) for each in facts.marriages]
    while last:
        reached |= last
        last = {b for one, other in edges for a, b in ((one, other), (other, one)) if a in last} - reached
    return {who for who in facts.people - reached - facts.unnamed if _fits(facts, who, kin, True)}


def _may_be_former(facts: Facts, of: str, spouses: set[str]) -> bool:
    """Whether a marriage has ended, or something is told after a death, so that another may be meant."""
    pairs = [{of, each} for each in spouses]
    ended = [{each.one, each.other} for each in facts.marriages if each.end]
    ended += [{one, other} for one, other, _ in facts.separations]
    told = [(who, each.span.begin) for each in facts.incomes for who in each.people]
    told += [(who, each.span.begin) for each in facts.homes for who in each.people]
    outlived = any(who in spouses and facts.deaths.get(who, begin) < begin for who, begin in told)
    return outlived or any(pair in pairs for pair in ended)


def _both_married(facts: Facts, of: str, kin: str, name: str, other: str) -> bool:
    """Whether a wedding is told of both, so that they may be two people."""
    days = [
        each.begin
        for who in (name, other)
        for each in facts.marriages
        if KIN_OF_ANY_GENDER[kin] == "spouse" and {each.one, each.other} == {of, who}
    ]
    return len([day for day in days if day is not None]) > 1

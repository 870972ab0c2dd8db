"""Clauses about kin: who is whose child, parent, sibling or spouse."""

from __future__ import annotations

from datetime import date

from chameleon.modules.statutes.facts.case import Facts, Kin, Marriage
from chameleon.modules.statutes.facts.forms import Clause, clauses
from chameleon.modules.statutes.facts.words import (
    AGE,
    AMONG_SEVERAL,
    GENDERS,
    KIN,
    KIN_OF_ANY_GENDER,
    SPOUSES,
)

_COUNTS = {"two": 2, "three": 3, "four": 4}
_CHILD = ("son", "daughter", "child")
_PARENT = ("father", "mother", "parent")
_SIBLING = ("brother", "sister", "sibling")


@clauses(
    rf"(?P<of>{{NN}}) ha(?:s|ve) (?:an?|one) {AGE}(?P<kin>{KIN}),?(?: named| called)? (?P<who>{{N}})",
    rf"(?P<who>{{N}}) (?:is|has been) (?P<of>{{OF}}) {AGE}(?P<kin>{KIN})",
    rf"(?P<who>{{N}}) (?:is|has been) the {AGE}(?P<kin>{KIN}) of (?P<of>{{NN}})",
    rf"(?P<of>{{OF}}) {AGE}(?P<kin>{KIN}) (?:is|is called|is named|has been) (?P<who>{{N}})",
    about="kin",
)
def relative(facts: Facts, clause: Clause) -> bool:
    (who,), several = clause.names("who"), clause.names("of")
    done = [_add(facts, who, of, clause["kin"], clause) for of in several]
    return all(done)


@clauses(
    r"(?P<who>{NN}) (?:are|have been) (?P<kin>(?:step)?(?:brothers|sisters|siblings))",
    r"(?P<who>{N} and {N}) (?:are|have been) (?P<kin>husband and wife|spouses)",
    about="kin",
)
def each_other(facts: Facts, clause: Clause) -> bool:
    people, kin = clause.names("who"), clause["kin"].split()[0].removesuffix("s")
    pairs = [(one, other) for i, one in enumerate(people) for other in people[i + 1 :]]
    return all(_add(facts, one, other, kin, clause) for one, other in pairs)


@clauses(
    r"(?P<of>{NN}) are (?:the )?parents of (?P<who>{NN})",
    r"(?P<who>{NN}) are (?:the )?(?:children|sons|daughters) of (?P<of>{NN})",
    r"(?P<who>{NN}) are (?P<of>{OF}) (?:children|sons|daughters)",
    r"(?P<of>{OF}) (?:children|sons|daughters) are (?P<who>{NN})",
    r"(?P<of>{NN}) ha(?:s|ve) (?P<count>two|three|four) (?:children|sons|daughters),? (?P<who>{NN})",
    about="kin",
)
def parents_and_children(facts: Facts, clause: Clause) -> bool:
    children, count = clause.names("who"), clause["count"]
    kin = "son" if "sons" in clause.found[0] else "daughter" if "daughters" in clause.found[0] else "child"
    pairs = [(who, of) for who in children for of in clause.names("of")]
    done = [_add(facts, who, of, kin, clause) for who, of in pairs]
    return all(done) and (not count or len(children) == _COUNTS[count])


@clauses(r"(?P<of>{NN}) (?:has |have )?adopted (?P<who>{NN})", about="event")
def adopted(facts: Facts, clause: Clause) -> bool:
    since = clause.span.begin if clause.span.kind == "day" else None
    for who in clause.names("who"):
        for of in clause.names("of"):
            facts.kin.append(Kin("parent", of, who, since))
    return since is not None


def _add(facts: Facts, who: str, of: str, kin: str, clause: Clause) -> bool:
    """`who` is a `kin` of `of`; kin of further degrees come with people in between who have no name."""
    span = clause.span
    if who == of or span.kind not in ("", "since", "year"):
        return False
    since: date | None = span.begin if span.kind == "since" else None
    if gender := GENDERS.get(kin):
        facts.genders.setdefault(who, set()).add(gender)
    if AMONG_SEVERAL.search(clause.found[0]):
        facts.several.add((of, KIN_OF_ANY_GENDER[kin]))
    between = f"{of}_{kin.replace('-', '_')}_{who}"
    if kin in SPOUSES:
        facts.marriages.append(Marriage(of, who, since))
    elif kin in _CHILD:
        facts.kin.append(Kin("parent", of, who, since))
    elif kin in _PARENT:
        facts.kin.append(Kin("parent", who, of, since))
    elif kin in _SIBLING:
        facts.kin.append(Kin("sibling", who, of, since))
    elif kin.startswith("half-"):
        facts.kin.append(Kin("half", who, of, since))
    elif kin.startswith("step") and kin.removeprefix("step") in _SIBLING:
        facts.kin.append(Kin("stepsibling", who, of, since))
    elif kin.startswith("step"):
        is_below = kin.removeprefix("step") in _CHILD
        facts.kin.append(Kin("step", of if is_below else who, who if is_below else of, since))
    elif kin.startswith("grand") and since is None:
        is_below = kin.removeprefix("grand") in _CHILD
        above, below = (of, who) if is_below else (who, of)
        facts.kin += [Kin("parent", above, between), Kin("parent", between, below)]
    else:
        return False
    return True

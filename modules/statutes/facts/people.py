"""Sentences about people: kin, marriages, returns, births and deaths, homes and statuses."""

from __future__ import annotations

import re
from datetime import date

from chameleon.modules.statutes.facts.case import Facts, Home, Marriage
from chameleon.modules.statutes.facts.forms import NAME, day, sentences, years_in


@sentences(
    r"(?P<a>{N}) and (?P<b>{N}) (?:got married on|were married on|have been married since) (?P<d>{D})",
    r"(?P<a>{N}) married (?P<b>{N}) on (?P<d>{D})",
    r"(?P<a>{N}) (?:got married on|has been married since) (?P<d>{D})",
    r"(?P<a>{N}) and (?P<b>{N}) were married from (?P<d>{D}) to (?P<end>{D})",
)
def married(facts: Facts, found: re.Match[str]) -> None:
    groups = found.groupdict()
    one = facts.who(groups["a"])
    other = facts.who(groups.get("b") or facts.spouse_of(one))
    end = day(groups["end"]) if groups.get("end") else None
    facts.marriages.append(Marriage(one, other, day(groups["d"]), end))


@sentences(
    r"(?P<a>{N}) (?:died|passed away) (?:on )?(?P<d>{D})",
    r"(?P<a>{N}) (?:died|passed away) at the end of (?P<year>{Y})",
)
def died(facts: Facts, found: re.Match[str]) -> None:
    when = found.groupdict().get("d")
    facts.deaths[facts.who(found["a"])] = day(when) if when else date(int(found["year"]), 12, 31)


@sentences(r"(?P<a>{N}) and (?P<b>{N}) were legally separated under a decree of divorce on (?P<d>{D})")
def separated(facts: Facts, found: re.Match[str]) -> None:
    facts.separations.append((facts.who(found["a"]), facts.who(found["b"]), day(found["d"])))


@sentences(r"(?P<a>{N}) was born (?:on )?(?P<d>{D})")
def born(facts: Facts, found: re.Match[str]) -> None:
    facts.births[facts.who(found["a"])] = day(found["d"])


@sentences(r"(?P<a>{N}) is (?P<n>[0-9]{1,3}) years old in (?P<year>{Y})")
def aged(facts: Facts, found: re.Match[str]) -> None:
    facts.ages.append((facts.who(found["a"]), int(found["n"]), int(found["year"])))


@sentences(r"(?P<a>{N}) has been blind since (?P<d>{D})")
def blind(facts: Facts, found: re.Match[str]) -> None:
    facts.blind[facts.who(found["a"])] = day(found["d"])


@sentences(
    r"(?P<a>{S})(?: and (?P<b>{N}))? (?:file|filed) (?:a joint return|jointly|their taxes jointly)(?: {IN})?",
    r"{IN}, (?P<a>{N}) and (?P<b>{N}) (?:file|filed) (?:a joint return|jointly)",
    r"(?P<a>{N}) files a joint return with {HER} {SPOUSE}(?: {IN})?",
    r"(?P<a>{S})(?: and (?P<b>{N}))? file (?:a joint return|jointly) (?:for the years|from) "
    r"(?P<first>{Y}) to (?P<last>{Y})",
)
def joint_return(facts: Facts, found: re.Match[str]) -> None:
    one = facts.who(found["a"])
    other = found.groupdict().get("b") or facts.spouse_of(one)
    facts.joint.append((one, facts.who(other), years_in(found)))


@sentences(
    r"(?P<a>{S})(?: and (?P<b>{N}))? file (?:separately|separate (?:tax )?returns)(?: {IN})?",
    r"{IN}, (?P<a>{N}) and (?P<b>{N}) file (?:separately|separate (?:tax )?returns)",
    r"(?P<a>{N}) files (?:taxes separately|a separate return)(?: {IN})?",
    r"(?P<a>{N}) files taxes separately",
    r"(?P<a>{N}) does not file a joint return(?: {IN})?",
)
def separate_return(facts: Facts, found: re.Match[str]) -> None:
    for name in filter(None, (found["a"], found.groupdict().get("b"))):
        facts.separate.append((facts.who(name), years_in(found)))


@sentences(
    r"(?P<a>{N}) has a (?P<k>{CHILD}|father|mother|brother|sister), (?P<b>{N})",
    r"(?P<b>{N}) is (?P<a>{N})'s (?P<k>{CHILD}|father|mother|brother|sister|{SPOUSE})(?: since {D})?",
    r"(?P<a>{N}) and (?P<a2>{N}) have a (?P<k>{CHILD}),? (?P<b>{N})",
    r"Their (?P<k>{CHILD}) (?P<b>{N})",
    r"(?P<b>{N}) is (?P<a>{N}) and (?P<a2>{N})'s (?P<k>{CHILD}|father|mother|brother|sister)",
)
def kin(facts: Facts, found: re.Match[str]) -> None:
    groups = found.groupdict()
    first = groups.get("a") or facts.subject
    second = groups.get("a2") or ("" if groups.get("a") else facts.spouse_of(first))
    relative, kind = facts.who(groups["b"]), groups["k"]
    for person in map(facts.who, filter(None, (first, second))):
        if kind in ("son", "daughter", "child"):
            facts.parents.add((person, relative))
        elif kind in ("father", "mother"):
            facts.parents.add((relative, person))
        elif kind in ("brother", "sister"):
            facts.siblings.add(frozenset((person, relative)))
        else:
            facts.marriages.append(Marriage(person, relative, None))


@sentences(r"(?P<a>{N}) adopted (?P<b>{N}) on {D}")
def adopted(facts: Facts, found: re.Match[str]) -> None:
    facts.parents.add((facts.who(found["a"]), facts.who(found["b"])))


@sentences(
    r"From (?P<from>{D}) to (?P<to>{D}), (?P<all>{ALL}) lived in the same home"
    r"(?:, which (?P<by>{N}) maintained)?",
    r"{IN}, (?P<all>{ALL}) (?:live|lived) (?:at|in) a {HOME} that (?P<by>{N}) maintained",
    r"{IN}, (?P<all>{ALL}) (?:live|lived) (?:at|in) a {HOME} maintained by (?P<by>{N})",
    r"{IN}, (?P<all>{N}) lives at the {HOME} that (?P<by>{N}) maintains as {HER} {PLACE}",
    r"(?P<all>{ALL}) live in a {HOME} maintained by (?P<by>{N}) since (?P<from>{D})",
    r"(?P<all>{ALL}) have the same {PLACE}, a {HOME} maintained by (?P<by>{N})",
    r"From (?P<first>{Y}) to (?P<last>{Y}), (?P<by>{N}) furnished the costs of maintaining the home "
    r"where (?P<all>(?:he|she) and {N}|{ALL}) lived during that time",
    r"(?P<all>{ALL}) ha(?:ve|s) the same {PLACE}(?: {IN}| from (?P<first>{Y}) to (?P<last>{Y}))?",
)
def lives(facts: Facts, found: re.Match[str]) -> None:
    groups = found.groupdict()
    by = groups.get("by") or ""
    people = set(map(facts.who, [*re.findall(rf"\b{NAME}\b", groups["all"]), *([by] if by else [])]))
    first, last = years_in(found)
    begin = day(groups["from"]) if groups.get("from") else date(first, 1, 1)
    end = day(groups["to"]) if groups.get("to") else date(last, 12, 31)
    facts.homes.append(Home(frozenset(people), begin, end, by))


@sentences(
    r"(?P<a>{N}) (?:was|is) a nonresident alien(?: from (?P<from>{D}) to (?P<to>{D})| since (?P<since>{D}))?",
)
def nonresident_alien(facts: Facts, found: re.Match[str]) -> None:
    begin, end = found["from"] or found["since"], found["to"]
    who = facts.who(found["a"])
    facts.aliens.append((who, day(begin) if begin else date.min, day(end) if end else date.max))


_NEITHER = "not married, is not a surviving spouse, and is not a head of household"


@sentences(
    r"(?P<a>{N}) is a (?P<status>surviving spouse|head of household) {IN}",
    r"(?P<a>{N}) is (?P<status>married) under section [0-9]+ {IN}",
    r"(?P<a>{N}) is (?P<status>married) {IN} under section [0-9]+",
    rf"(?P<a>{{N}}) is (?P<status>{_NEITHER}) {{IN}}",
    rf"{{IN}}, (?P<a>{{N}}) is (?P<status>{_NEITHER})",
    r"(?P<a>{N}) is (?P<status>not married)",
)
def status(facts: Facts, found: re.Match[str]) -> None:
    told = "single" if found["status"] == _NEITHER else found["status"]
    facts.statuses.append((facts.who(found["a"]), told, years_in(found)))


@sentences(
    r"(?P<a>{N}) was a patient at [A-Z][\w ]+ from {D} to {D}",
    r"(?P<a>{N}) was committed to jail from {D} to {D}",
    r"(?P<a>{N}) was enrolled at [A-Z][\w ]+ and attending classes from {D} to {D}",
)
def of_no_matter(facts: Facts, found: re.Match[str]) -> None:
    """Says nothing that a tax on income depends on."""
    facts.who(found["a"])

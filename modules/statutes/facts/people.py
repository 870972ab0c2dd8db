"""Clauses about people: marriages, returns, births and deaths, and statuses."""

from __future__ import annotations

from datetime import date

from chameleon.modules.statutes.facts.case import Facts, Marriage, Span, Told
from chameleon.modules.statutes.facts.forms import Clause, clauses

_END = {"day", "year"}


@clauses(
    r"(?P<one>{N}) and (?P<other>{N}) (?:got|were|are|have been|had been|had|have)?(?: legally)? ?married"
    r"(?: to)?(?: each other)?",
    r"(?P<one>{N}) (?:has |had )?(?:married|(?:got|is|was|has been|had been) married to) "
    r"(?P<other>{N})(?: again)?",
    r"(?P<one>{N}) (?P<alone>got|was|has been|had been) married",
    about="event",
)
def married(facts: Facts, clause: Clause) -> bool:
    (one,) = clause.names("one")
    if clause["alone"] and facts.spouses(one) - {*facts.names.values()}:
        return False
    other = next(iter(clause.names("other")), "") or facts.relative(one, "spouse", f"{one}_spouse")
    span = clause.span
    begin = None if not span.kind else span.end if span.kind in _END else span.begin
    end = span.end if span.kind == "from" else None
    if end and (end.month, end.day) == (12, 31):
        return False
    facts.marriages.append(Marriage(one, facts.person(other), begin, end))
    return one != other


@clauses(
    r"(?P<who>{N}) (?:and (?P<other>{N}) )?(?:were|was|got|are|is|have been|has been)(?: legally)? "
    r"(?:separated|divorced)(?: from (?P<from>{N}))?"
    r"(?P<decree>,? under a decree of (?:divorce|separate maintenance))?",
    r"(?P<who>{N}) and (?P<other>{N}) divorced(?P<decree>)",
    r"(?P<who>{N}) divorced (?P<other>{N})(?P<decree>)",
    about="event",
)
def separated(facts: Facts, clause: Clause) -> bool:
    (one,) = clause.names("who")
    other = next(iter(clause.names("other") or clause.names("from")), "")
    has_decree = bool(clause["decree"]) or "divorced" in clause.found[0]
    if not other or not has_decree or clause.span.kind not in (*_END, "since"):
        return False
    day = clause.span.begin if clause.span.kind == "since" else clause.span.end
    facts.separations.append((one, other, day))
    return True


@clauses(r"(?P<who>{N}) (?:has |had )?(?:died|passed away)(?: from [a-z ]+)?", about="event")
def died(facts: Facts, clause: Clause) -> bool:
    facts.died(clause.names("who")[0], clause.span.end)
    return clause.span.kind in _END


@clauses(r"(?P<who>{NN}) (?:was|were) born", about="event")
def born(facts: Facts, clause: Clause) -> bool:
    for who in clause.names("who"):
        facts.born(who, clause.span.begin, clause.span.end)
    return clause.span.kind in _END


@clauses(
    r"(?P<who>{N}) (?:is|was|turned|turns) (?P<age>[0-9]{1,3})(?: years old| years of age)?",
    r"(?P<who>{N}) (?:is|was) aged (?P<age>[0-9]{1,3})",
    about="event",
)
def aged(facts: Facts, clause: Clause) -> bool:
    year, age = clause.span.year, int(clause["age"])
    if year is None or age >= year - 1:
        return False
    facts.born(clause.names("who")[0], date(year - age - 1, 1, 1), date(year - age, 12, 31))
    return True


@clauses(r"(?P<who>{NN}) (?:is|was|are|has been|have been|(?P<from>became|went|turned)) blind", about="state")
def blind(facts: Facts, clause: Clause) -> bool:
    span = clause.span
    if clause["from"]:
        span = Span(span.end, date.max, "since") if span.kind in _END else span
    facts.blind += [Told((who,), span, "blind") for who in clause.names("who")]
    return span.kind in ("since", "from", "")


@clauses(r"(?P<who>{NN}) (?:is|was|are|were|has never been|have never been) not blind", about="state")
def not_blind(facts: Facts, clause: Clause) -> None:
    facts.blind += [Told((who,), clause.span, "not") for who in clause.names("who")]


@clauses(
    r"(?P<who>{NN}) (?:files?|filed|makes?|made) "
    r"(?:a joint (?:tax )?return|joint (?:tax )?returns|jointly|(?:their |{OF} )?taxes jointly)"
    r"(?: with (?P<other>{N}))?(?: for (?:\w+) and {N})?",
)
def joint_return(facts: Facts, clause: Clause) -> bool:
    people = (*clause.names("who"), *clause.names("other"))
    if len(people) == 1 and len(spouses := facts.spouses(people[0])) == 1:
        people = (*people, *spouses)
    facts.joint.append(Told(people, clause.span))
    return len(set(people)) == 2 and clause.span.is_of_whole_years


@clauses(
    r"(?P<who>{NN}) (?:files?|filed) (?:(?:their |{OF} )?taxes )?separately",
    r"(?P<who>{NN}) (?:files?|filed|makes?|made) (?:a )?separate (?:tax )?returns?(?: from {N})?",
    r"(?P<who>{NN}) (?:does|do|did) not (?:file|make) (?:a joint (?:tax )?return|jointly)(?: with {N})?",
)
def separate_return(facts: Facts, clause: Clause) -> bool:
    facts.separate += [Told((who,), clause.span) for who in clause.names("who")]
    return clause.span.is_of_whole_years


@clauses(r"(?P<who>{NN}) (?:was|is|were|are|has been|have been) (?:an? )?nonresident aliens?", about="state")
def nonresident_alien(facts: Facts, clause: Clause) -> None:
    facts.aliens += [Told((who,), clause.span) for who in clause.names("who")]


@clauses(
    r"(?P<who>{N}) (?:is|was|qualifies as|counts as) (?P<not>not )?(?:a |the )?"
    r"(?P<status>surviving spouse|head of (?:a )?household)(?: under section [0-9]+(?:\([a-z]\))?)?",
    r"(?P<who>{N}) (?:is|was) (?P<not>not )?(?P<status>married) under section [0-9]+",
    r"(?P<who>{N}) is (?P<status>married)",
    r"(?P<who>{N}) (?:is|was) (?P<not>not |un)(?P<status>married)",
    r"(?P<who>{N}) (?:has )?(?P<not>never )(?:been )?(?P<status>married)",
    about="state",
)
def status(facts: Facts, clause: Clause) -> None:
    what = "head" if clause["status"].startswith("head") else clause["status"]
    told = f"not {what}" if clause["not"] else what
    facts.statuses.append(Told(clause.names("who"), clause.span, told))

"""Clauses about homes: who lives where, with whom, and who maintains it."""

from __future__ import annotations

import re

from chameleon.modules.statutes.facts.case import Facts, Home
from chameleon.modules.statutes.facts.forms import Clause, clauses

_LIVE = (
    r"(?:lives?|lived|resides?|resided|(?:is|are) living|ha(?:s|ve|d) (?:lived|been living|resided))"
    r"(?: together)?"
)
_HOUSE = "(?:house|home|household|apartment|flat)"
_ABODE = "principal place of abode"
_AS_HOME = rf"(?P<own> as {{N}}'s (?:own )?(?:home|{_ABODE}))?"
_BEARS = r"(?:furnishe[sd]|pays?|paid|bears|bore|covers|covered)(?P<share> [0-9]{1,3}% of| all(?: of)?)?"
_KEPT = (
    rf"(?:(?:,? (?:which|that))? (?P<by>{{N}}) (?:maintains?|maintained|kept up|keeps up){_AS_HOME}"
    rf"|,? (?:which (?:is|was) )?maintained by (?P<by2>{{N}}){_AS_HOME.replace('own>', 'own2>')}"
    rf"|,? for which (?P<by3>{{N}}) {_BEARS} the (?:maintenance )?costs?)?"
)
_IN = rf"(?: (?:in|at) (?:an?|the|the same|one|one and the same) {_HOUSE}{_KEPT})"


@clauses(
    rf"(?P<who>{{NN}}) {_LIVE}{_IN}",
    rf"(?P<who>{{NN}}) (?:share|shared|shares) (?:an?|the same|one) {_HOUSE}{_KEPT}",
    rf"(?P<who>{{NN}}) {_LIVE} with (?P<more>{{NN}}){_IN}?",
    rf"(?P<who>{{NN}}) (?:shares|shared) (?:an?|the same|one) {_HOUSE} with (?P<more>{{NN}}){_KEPT}",
    rf"(?P<who>{{NN}}) (?:has|have|had|shares?|shared) the same {_ABODE}(?:, an? {_HOUSE}{_KEPT})?",
    rf"(?P<who>{{NN}}) (?:has|have|had) the same {_ABODE} as (?P<more>{{NN}})(?:, an? {_HOUSE}{_KEPT})?",
    rf"(?P<by>{{N}}) (?:maintains?|maintained)(?P<own> as {{N}}'s (?:home|{_ABODE}))? (?:an?|the) {_HOUSE},? "
    rf"(?:where|in which) (?P<who>{{NN}}) {_LIVE}",
    rf"(?P<by>{{N}}) (?:maintains?|maintained) (?:an?|the) {_HOUSE} as {{N}}'s (?P<own>home|{_ABODE}),? "
    rf"(?:where|in which) (?P<who>{{NN}}) {_LIVE}",
    rf"(?P<by>{{N}}) {_BEARS} the costs? of (?:maintaining|keeping up|the upkeep of) (?:the|an?) {_HOUSE},? "
    rf"(?:where|in which) (?P<who>{{NN}}) {_LIVE}",
    about="state",
)
def lives(facts: Facts, clause: Clause) -> bool:
    by = clause["by"] or clause["by2"] or clause["by3"]
    people = {*clause.names("who"), *clause.names("more")}
    share = re.search(r"[0-9]+", clause["share"])
    if by and by not in people:
        if not (clause["own"] or clause["own2"]):
            return False
        people.add(by)
    is_maintained = not share or int(share[0]) > 50
    facts.homes.append(Home(frozenset(map(facts.person, people)), clause.span, by if is_maintained else ""))
    return clause.span.kind != "day"

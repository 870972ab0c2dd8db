"""Statements about all rows of a kind, or about one alone: "every game be in october", "the only win …"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.counting import counts_of_groups, counts_rows
from chameleon.modules.offline.lexical.english import NEGATIONS, VERBS, WHOLE
from chameleon.modules.offline.lexical.links import Linked, Mention
from chameleon.modules.offline.lexical.reading import Question, Reading, chain_for
from chameleon.modules.offline.lexical.scope import Scope, bounds_of, scope_of


def read_all(linked: Linked) -> Iterator[Reading]:
    """What holds of every row that is spoken of first."""
    places = [n for n, token in enumerate(linked.tokens) if token.text in WHOLE and n < 6]
    verb = _verb_after(linked, places[0]) if len(places) == 1 else None
    if verb is None or any(token.text in NEGATIONS for token in linked.tokens) or counts_of_groups(linked):
        return
    about, said = _scope(linked, range(verb)), _scope(linked, range(verb, len(linked.tokens)))
    if about is None or said is None or not said.conditions:
        return
    question = Question("all", where=about.conditions, claim=said.conditions)
    used = about.used | said.used | {places[0]}
    yield Reading("all", chain_for(about.conditions, _columns(said.conditions)), (question,), frozenset(used))


def read_only(linked: Linked) -> Iterator[Reading]:
    """ "x be the only driver that …", "the only driver that … be x": one row, and which."""
    places = [
        n for n in range(1, len(linked.tokens)) if linked.text(n) == "only" and linked.text(n - 1) == "the"
    ]
    if len(places) != 1 or counts_of_groups(linked):
        return
    place, everywhere = places[0], range(len(linked.tokens))
    before = [mention for mention in linked.mentions if mention.end <= place]
    if before:
        alone, rest = range(place), range(place, len(linked.tokens))
    else:
        verb = _last_verb(linked, place)
        if verb is None:
            return
        alone, rest = range(verb, len(linked.tokens)), range(place, verb)
    one, others = _scope(linked, alone), _scope(linked, rest)
    whole = _scope(linked, everywhere)
    if one is None or others is None or whole is None or not one.conditions or not others.conditions:
        return
    there = Question("any", where=others.conditions, claim=one.conditions)
    single = Question("count", where=others.conditions, number="1")
    used = one.used | others.used | {place}
    yield Reading(
        "only", chain_for(others.conditions, _columns(one.conditions)), (there, single), frozenset(used)
    )


def _columns(conditions: Iterable[Condition]) -> list[str]:
    return [condition.column for condition in conditions]


def _scope(linked: Linked, places: Collection[int]) -> Scope | None:
    """What the part of the statement at these places asks of a row."""

    def inside(mention: Mention) -> bool:
        return mention.start in places

    columns = tuple(named for named in linked.columns if named.start in places)
    return scope_of(replace(linked, mentions=tuple(filter(inside, linked.mentions)), columns=columns))


def _verb_after(linked: Linked, place: int) -> int | None:
    return next((n for n in range(place, len(linked.tokens)) if linked.text(n) in VERBS), None)


def _last_verb(linked: Linked, place: int) -> int | None:
    """The verb after which the last thing is named."""
    if not linked.mentions:
        return None
    verbs = [n for n in range(place, linked.mentions[-1].start) if linked.text(n) in VERBS]
    return verbs[-1] if verbs else None


def read_bounded(linked: Linked) -> Iterator[Reading]:
    """ "the player of rank 11 have less than 20 point": a row that is named, and a bound that it keeps."""
    bounds = {bound.mention for bound in bounds_of(linked)}
    if not bounds or any(token.text in NEGATIONS | WHOLE for token in linked.tokens) or counts_rows(linked):
        return
    about, whole = scope_of(linked, without=bounds), scope_of(linked)
    if about is None or whole is None or not about.conditions:
        return
    said = tuple(condition for condition in whole.conditions if condition not in about.conditions)
    question = Question("any", where=about.conditions, claim=said)
    chain = chain_for(about.conditions, _columns(said))
    yield Reading("fact within bounds", chain, (question,), whole.used)

"""Statements that count rows: "there be 3 game play at lincoln financial field"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.counting import (
    counts,
    counts_cells,
    counts_of_groups,
    counts_things,
    counts_within_figures,
    gives_figures,
    is_of_a_group,
    picks_one,
    tells_age,
)
from chameleon.modules.offline.lexical.english import ROW_NOUNS, VERBS
from chameleon.modules.offline.lexical.fields import Field
from chameleon.modules.offline.lexical.links import Linked, Mention
from chameleon.modules.offline.lexical.reading import Link, Question, Reading, chain_for
from chameleon.modules.offline.lexical.scope import bounds_of, scope_of, sign_of_bound

_BETWEEN = word_set("different of the other total separate unique distinct more such only")
_DIFFERENT = word_set("different unique distinct separate")
_OPENERS = word_set("only exactly just there total all")
_OFTEN = {"once": "1", "twice": "2"}


def read_count(linked: Linked) -> Iterator[Reading]:
    """A number of rows, with what they have in common."""
    for mention in linked.mentions:
        if mention.kind == "number" and (noun := _counted(linked, mention)) is not None:
            yield from _counting(linked, mention, noun)


def _counted(linked: Linked, mention: Mention) -> int | None:
    """The place of the noun that the number counts: "3 game", "2 of the player", "4 different venue"."""
    token = linked.tokens[mention.start]
    if token.number is None or token.number.denominator != 1 or token.number > len(linked.table.rows) * 3 + 5:
        return None
    if tells_age(linked, mention):
        return None
    for place in range(mention.end, min(mention.end + 4, len(linked.tokens))):
        if linked.text(place) in ROW_NOUNS or any(place in named.places for named in linked.columns):
            return None if _is_named_before(linked, mention) else place
        if place == mention.end and (counts_things(linked, mention) or counts_cells(linked, mention)):
            return place
        is_named = any(place in other.places for other in linked.mentions)
        if is_named and linked.text(place) not in _BETWEEN and place - mention.end > 1:
            return None
    return None


def _is_named_before(linked: Linked, mention: Mention) -> bool:
    """Whether a number is a name or a part of one: "week 3", "2010 - 11", "the 4 player" of a list."""
    before = linked.text(mention.start - 1)
    if before in ROW_NOUNS - {"total", "number"} or before in ("-", "/"):
        return True
    is_listed = before == "the" and linked.text(mention.start - 2) in VERBS
    return is_listed and any(other.end < mention.start for other in linked.mentions)


def _counting(linked: Linked, mention: Mention, noun: int) -> Iterator[Reading]:
    field = _field_at(linked, noun)
    is_counted = linked.text(noun) in ROW_NOUNS or counts(linked, mention)
    if field is not None and field.datatype == "number" and field.pure and not is_counted:
        return
    bound = next((bound for bound in bounds_of(linked) if bound.mention == mention), None)
    others = [other for other in linked.mentions if other != mention]
    if any(_stands_alone(linked, other) for other in others) or _counts_groups(linked, mention):
        return
    if counts_within_figures(linked):
        return
    scope = scope_of(linked, without=[mention], unread=[noun])
    if scope is None:
        return
    used = scope.used | set(range(mention.start, noun + 1)) | (set(bound.places) if bound else set())
    start = bound.start if bound else mention.start
    used |= {n for n in range(start - 3, start) if linked.text(n) in _OPENERS and linked.text(n - 1) != "the"}
    sign = sign_of_bound(bound)
    number = linked.tokens[mention.start].form
    is_different = any(linked.text(n) in _DIFFERENT for n in range(mention.end, noun))
    if is_different and field is not None:
        question = Question("distinct", where=scope.conditions, column=field.name, sign=sign, number=number)
        yield Reading(
            "count different", chain_for(scope.conditions, [field.name]), (question,), frozenset(used)
        )
        return
    is_all = not scope.conditions and not any(
        noun not in named.places and gives_figures(named.fields[0]) for named in linked.columns
    )
    if is_all and field is not None and field.is_name and _names_wholly(linked, noun):
        question = Question("distinct", column=field.name, sign=sign, number=number)
        yield Reading("count of names", chain_for((), [field.name]), (question,), frozenset(used))
        return
    question = Question("count", where=scope.conditions, sign=sign, number=number)
    kind = "count" if scope.conditions else "count all"
    kind = "count of things" if scope.conditions and counts_things(linked, mention) else kind
    kind = "count of one" if number != "1" and picks_one(linked, scope.conditions) else kind
    yield Reading(kind, chain_for(scope.conditions, ()), (question,), frozenset(used))


def _counts_groups(linked: Linked, mention: Mention) -> bool:
    """Whether it is groups that have so many rows: "three teams have 2 riders", "all teams have 2 riders"."""
    counted = [other for other in linked.mentions if counts(linked, other)]
    if len(counted) > 1:
        return any(is_of_a_group(linked, other) for other in counted)
    before = [named for named in linked.columns if named.end <= mention.start]
    said = {m.start for m in linked.mentions if m.end <= mention.start and m.kind == "name"}
    whole = any(named.whole and named.fields[0].is_name for named in before)
    several = len(said) > 1 or (whole and not said)
    return several and is_of_a_group(linked, mention)


def _names_wholly(linked: Linked, place: int) -> bool:
    """Whether the noun at a place is all of a column's name."""
    return any(place in named.places and named.whole for named in linked.columns)


def _stands_alone(linked: Linked, mention: Mention) -> bool:
    """Whether a number belongs to no column that is named beside it, and is no year or bound."""
    token = linked.tokens[mention.start]
    if mention.kind != "number" or (token.text.isdecimal() and len(token.text) == 4):
        return False
    if any(bound.mention == mention for bound in bounds_of(linked)):
        return False
    return not any(
        named.end in (mention.start, mention.start - 1) or 0 <= named.start - mention.end <= 1
        for named in linked.columns
    )


def _field_at(linked: Linked, place: int) -> Field | None:
    named = next((named for named in linked.columns if place in named.places), None)
    return named.fields[0] if named is not None else None


def read_often(linked: Linked) -> Iterator[Reading]:
    """ "twice" and "once" as a number of rows."""
    for place, token in enumerate(linked.tokens):
        if token.text in _OFTEN:
            scope = scope_of(linked)
            if scope is not None and scope.conditions:
                question = Question("count", where=scope.conditions, number=_OFTEN[token.text])
                used = scope.used | {place} | {n for n in range(place) if linked.text(n) == "only"}
                yield Reading("count", chain_for(scope.conditions, ()), (question,), frozenset(used))


def read_none(linked: Linked) -> Iterator[Reading]:
    """ "there be no country that have 4 bronze medal", "no player score more than 20"."""
    if counts_of_groups(linked):
        return
    for place, token in enumerate(linked.tokens):
        if token.text in ("no", "none") and _begins(linked, place):
            scope = scope_of(linked)
            if scope is not None and scope.conditions:
                conditions = tuple(replace(each, negated=False) for each in scope.conditions)
                question = Question("none", where=conditions)
                used = scope.used | {place}
                yield Reading("none", (Link("select_row", where=conditions),), (question,), frozenset(used))


def _begins(linked: Linked, place: int) -> bool:
    return place <= 3 and not any(
        mention.end <= place for mention in linked.mentions if mention.kind == "name"
    )

"""Statements about the first of an order: "the highest attendance", "the second earliest date"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.counting import counts_rows
from chameleon.modules.offline.lexical.directions import PARTICULAR, descends, fits_word
from chameleon.modules.offline.lexical.english import IN_TIME, LEAST, MOST
from chameleon.modules.offline.lexical.facts import best_ways
from chameleon.modules.offline.lexical.fields import Field, fields_of, time_field
from chameleon.modules.offline.lexical.links import Linked, Mention
from chameleon.modules.offline.lexical.reading import Link, Question, Reading
from chameleon.modules.offline.lexical.scope import bounds_of, scope_of

_VERBS = word_set("be is are was were have has had")
_REACH = 5


@dataclass(frozen=True)
class Extreme:
    """A superlative: its word, which column, in which order, which place of it; `used` are its words."""

    word: str
    field: Field
    descending: bool
    place: int
    start: int
    end: int
    used: frozenset[int]


def read_superlative(linked: Linked) -> Iterator[Reading]:
    """What stands first when the rows are sorted meets what the statement says of it."""
    extremes = list(extremes_of(linked))
    if len(extremes) != 1 or counts_rows(linked):
        return
    extreme = extremes[0]
    claims = _claims(linked, extreme)
    if not claims:
        return
    scope = scope_of(linked, without=claims, unread=extreme.used)
    if scope is None:
        return
    claim_links = replace(
        linked,
        mentions=tuple(claims),
        columns=tuple(
            named
            for named in linked.columns
            if not set(named.places) & extreme.used or _after_be(linked, named.end)
        ),
    )
    options = best_ways(claims, claim_links)
    if options is None:
        return
    claim = tuple(option.condition for option in options)
    used = scope.used | extreme.used | {place for mention in claims for place in mention.places}
    question = Question(
        "top",
        where=scope.conditions,
        claim=claim,
        column=extreme.field.name,
        datatype=extreme.field.datatype,
        place=extreme.place,
    )
    yield Reading("superlative", chain_to(extreme, scope.conditions, claim), (question,), frozenset(used))


def _after_be(linked: Linked, place: int) -> bool:
    return linked.text(place) in _VERBS


def chain_to(extreme: Extreme, where: Sequence[Condition], claim: Sequence[Condition]) -> tuple[Link, ...]:
    """Keep the rows, sort them, keep the columns that matter."""
    rows = (Link("select_row", where=tuple(where)),) if where else ()
    columns = dict.fromkeys([each.column for each in (*where, *claim)] + [extreme.field.name])
    order = Link(
        "sort_by",
        columns=(extreme.field.name,),
        descending=extreme.descending,
        datatype=extreme.field.datatype,
    )
    return (*rows, Link("select_column", columns=tuple(columns)), order)


def extremes_of(linked: Linked) -> Iterator[Extreme]:
    """Every superlative with the column it orders by."""
    for place, token in enumerate(linked.tokens):
        text = token.text
        if text not in MOST | LEAST or any(place in m.places for m in linked.mentions):
            continue
        if any(
            place in named.places and named.whole and named.end - named.start > 1 for named in linked.columns
        ):
            continue
        if linked.text(place - 1) == "at" and text in ("least", "most"):
            continue
        if linked.text(place - 1) == "most" and text == "recent":
            continue
        found = _column_of(linked, place)
        if found is None:
            continue
        field, end = found
        number, start = _place_before(linked, place)
        used = frozenset(range(start, place + 1)) | _column_places(linked, field, place)
        yield Extreme(text, field, descends(text, field), number, start, end, used)


def _place_before(linked: Linked, place: int) -> tuple[int, int]:
    """ "second highest": the place, and where the words begin."""
    before = linked.tokens[place - 1] if place else None
    if before is not None and before.place is not None:
        return before.place, place - 1
    return 1, place


def _column_of(linked: Linked, place: int) -> tuple[Field, int] | None:
    """The column that a superlative at this place orders by, and where its words end."""
    text = linked.text(place)
    after = [named for named in linked.columns if 0 <= named.start - place <= _REACH]
    for named in after:
        if any(place < mention.start < named.start for mention in linked.mentions):
            break
        for field in named.fields:
            if field.datatype != "text" and fits_word(text, field):
                return field, named.end
    timely = time_field(linked.table) if text in IN_TIME else None
    if timely is not None:
        return timely, place + 1
    before = [named for named in linked.columns if named.end <= place]
    for named in reversed(before):
        for field in named.fields:
            if field.datatype != "text" and place - named.end <= 8 and fits_word(text, field):
                return field, place + 1
    if text in PARTICULAR:
        pointed = [
            field for field in fields_of(linked.table) if field.datatype != "text" and fits_word(text, field)
        ]
        return (pointed[0], place + 1) if len(pointed) == 1 else None
    return None


def _column_places(linked: Linked, field: Field, place: int) -> frozenset[int]:
    near = [named for named in linked.columns if field in named.fields]
    if not near:
        return frozenset()
    nearest = min(near, key=lambda named: abs(named.start - place))
    return frozenset(nearest.places)


def _claims(linked: Linked, extreme: Extreme) -> list[Mention]:
    """The mentions that the statement says of the first; the others tell which rows are ordered."""
    bounds = {bound.mention for bound in bounds_of(linked)}
    listed = [m for m in linked.mentions if m not in bounds and not set(m.places) & extreme.used]
    if len(listed) <= 1:
        return listed
    verbs = sorted(linked.places_of(_VERBS))
    before = [m for m in listed if m.end <= extreme.start]
    if before and any(before[-1].end <= verb <= extreme.start for verb in verbs):
        first_verb = next(verb for verb in verbs if before[0].end <= verb)
        return [m for m in before if m.end <= first_verb]
    verb = next((verb for verb in verbs if verb >= extreme.end), None)
    if verb is not None:
        claims = [m for m in listed if m.start > verb]
        if claims:
            return claims
    if before:
        return before[:1]
    return listed

"""Statements that hold two rows against each other: "x have more point than y", "x be before y"."""

from __future__ import annotations

from collections.abc import Iterator

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.directions import fits_word, sign_of
from chameleon.modules.offline.lexical.english import LESS, MORE, TIMELY
from chameleon.modules.offline.lexical.fields import Field, time_field
from chameleon.modules.offline.lexical.links import Linked, Mention, Option
from chameleon.modules.offline.lexical.reading import Link, Question, Reading, Sign
from chameleon.modules.offline.lexical.scope import scope_of

Sides = tuple[tuple[Mention, Option], tuple[Mention, Option]]
_REACH = 9
_ALONE = word_set("before after exceed exceeds")


def read_comparison(linked: Linked) -> Iterator[Reading]:
    """Two things named, a column, and a word that says which has more of it."""
    found = _compared(linked)
    if found is None:
        return
    place, middle, sides = found
    column = _column(linked, place, middle)
    if column is None:
        return
    field, used = column
    both = [mention for mention, _ in sides]
    figures = [m for m in linked.mentions if m.kind == "number" and m not in both]
    difference = _difference(linked, place, [m for m in figures if not _is_figure_name(linked, m)])
    apart = [difference] if difference is not None else []
    scope = scope_of(linked, without=[*both, *apart], unread=used)
    if scope is None:
        return
    where, against = ((option.condition, *scope.conditions) for _, option in sides)
    question = Question(
        "compare",
        where=where,
        against=against,
        column=field.name,
        datatype=field.datatype,
        sign=sign_of(linked.text(place), field),
        number=linked.tokens[difference.start].form if difference is not None else "",
    )
    places = scope.used | used | {place, middle} | {n for m in (*both, *apart) for n in m.places}
    kind = "comparison" if difference is None else "difference"
    yield Reading(kind, _side_by_side(where, against, field), (question,), frozenset(places))


def read_outnumbering(linked: Linked) -> Iterator[Reading]:
    """ "x play more often than y", "more game be play at x than at y": which of two has more rows."""
    found = _compared(linked)
    if found is None:
        return
    place, middle, sides = found
    between = {linked.text(n) for n in range(place + 1, middle)}
    both = [mention for mention, _ in sides]
    if linked.text(place) not in _AMOUNTS or not between & _COUNTED:
        return
    scope = scope_of(linked, without=both, unread=range(place, middle))
    if scope is None or any(m.kind == "number" for m in linked.mentions if m not in both):
        return
    where, against = ((option.condition, *scope.conditions) for _, option in sides)
    sign: Sign = ">" if linked.text(place) in MORE else "<"
    question = Question("outnumber", where=where, against=against, sign=sign)
    chain = (Link("select_row", either=(where, against)),)
    places = scope.used | set(range(place, middle + 1)) | {n for m in both for n in m.places}
    yield Reading("outnumbering", chain, (question,), frozenset(places))


_AMOUNTS = word_set("more less fewer")
_COUNTED = word_set(
    """often frequently game games match matches time times race races episode episodes player players song
    songs pick picks team teams film films club clubs"""
)


def _compared(linked: Linked) -> tuple[int, int, Sides] | None:
    """The word that compares, the "than" (or that word again), and what stands on its two sides."""
    places = [place for place in sorted(linked.places_of(MORE | LESS)) if not linked.is_mentioned(place)]
    if len(places) != 1:
        return None
    place = places[0]
    than = next((n for n in range(place, place + _REACH) if linked.text(n) == "than"), None)
    if than is None and linked.text(place) not in _ALONE:
        return None
    middle = than if than is not None else place
    names = [m for m in linked.mentions if m.kind != "number" or (m.whole and _is_figure_name(linked, m))]
    right = [m for m in names if m.start > middle]
    before = [m for m in names if m.end <= place]
    sides = _pair(before, right) or _pair([m for m in names if m.end <= middle], right)
    return (place, middle, sides) if sides is not None else None


def _side_by_side(
    where: tuple[Condition, ...], against: tuple[Condition, ...], field: Field
) -> tuple[Link, ...]:
    """Keep the rows of both sides, and the columns that tell them apart and compare them."""
    columns = dict.fromkeys([*(condition.column for condition in (*where, *against)), field.name])
    return Link("select_row", either=(where, against)), Link("select_column", columns=tuple(columns))


def read_same(linked: Linked) -> Iterator[Reading]:
    """ "x and y have the same point", "x have the same point as y", or a different one."""
    places = sorted(linked.places_of(("same", "different")))
    if len(places) != 1:
        return
    place = places[0]
    named = next((each for each in linked.columns if 0 < each.start - place <= 2), None)
    names = [mention for mention in linked.mentions if mention.kind == "name"]
    pair = _pair(names[:1], names[1:2]) if len(names) == 2 else None
    if named is None or pair is None or len(linked.mentions) > 2:
        return
    field = named.fields[0]
    where, against = ((each[1].condition,) for each in pair)
    question = Question(
        "compare",
        where=where,
        against=against,
        column=field.name,
        datatype="text" if field.datatype == "text" or not field.pure else field.datatype,
        sign="=" if linked.text(place) == "same" else "!=",
    )
    used = {place, *named.places} | {n for each in names for n in each.places}
    used |= linked.places_of(["both"])
    yield Reading("same", _side_by_side(where, against, field), (question,), frozenset(used))


def _is_figure_name(linked: Linked, mention: Mention) -> bool:
    """Whether a number names a row: "week 3", "game 76", or a year."""
    near = [named for named in linked.columns if named.end == mention.start]
    token = linked.tokens[mention.start]
    is_year = token.number is not None and 1500 <= token.number <= 2100 and token.text.isdecimal()
    return bool(mention.options) and (bool(near) or is_year)


def _pair(left: list[Mention], right: list[Mention]) -> Sides | None:
    """The last thing named before and the first after that stand in one column."""
    for theirs in right:
        for mine in reversed(left):
            for option in mine.options:
                other = theirs.option_in(option.field.name)
                if other is not None and other.condition != option.condition:
                    return (mine, option), (theirs, other)
    return None


def _column(linked: Linked, place: int, middle: int) -> tuple[Field, frozenset[int]] | None:
    word = linked.text(place)
    within = [named for named in linked.columns if place < named.start <= middle]
    before = [named for named in linked.columns if named.end <= place]
    for named in [*within, *reversed(before)]:
        for field in named.fields:
            if field.datatype != "text" and fits_word(word, field):
                return field, frozenset(named.places)
    timely = time_field(linked.table) if word in TIMELY else None
    return (timely, frozenset()) if timely is not None else None


def _difference(linked: Linked, place: int, numbers: list[Mention]) -> Mention | None:
    """ "3 more point than", "by 3 point"."""
    for mention in numbers:
        if mention.end == place or linked.text(mention.start - 1) == "by":
            return mention
        if mention.start < place and place - mention.end <= 2:
            return mention
    return None

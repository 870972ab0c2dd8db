"""Questions that are answered by an order: the first of it, the most frequent, the greater of two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.asked import Asked, name_field
from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.directions import fits_word, sign_of
from chameleon.modules.offline.lexical.english import LEAST, LESS, MORE, MOST
from chameleon.modules.offline.lexical.fields import Field, is_of_years
from chameleon.modules.offline.lexical.links import Linked, Mention
from chameleon.modules.offline.lexical.reading import Link, Question, Reading
from chameleon.modules.offline.lexical.scope import bounds_of, scope_of
from chameleon.modules.offline.lexical.superlatives import Extreme, extremes_of
from chameleon.modules.table_ops.aggregate import COUNT

_LISTS = word_set("list listed chart table")
_ENDS = {"first": 1, "last": -1, "top": 1, "bottom": -1, "final": -1}


def read_extreme(linked: Linked, asked: Asked) -> Iterator[Reading]:
    """ "which player scored the most points?", "what was the last year …": the first of an order."""
    bounded = {place for bound in bounds_of(linked) for place in bound.places}
    extremes = [each for each in extremes_of(_without(linked, asked)) if each.start not in bounded]
    if any(linked.text(n) in _LISTS for n in range(len(linked.tokens))):
        extremes = [each for each in extremes if each.word not in _ENDS]
    if len(extremes) == 1:
        yield from _first_of(linked, asked, extremes[0])
    elif not extremes:
        yield from _end_of(linked, asked)


def _without(linked: Linked, asked: Asked) -> Linked:
    """The question without the name of the column that it asks for, where that is no number or date."""
    if asked.field is None or asked.field.datatype != "text":
        return linked
    columns = tuple(named for named in linked.columns if not set(named.places) & asked.places)
    return replace(linked, columns=columns)


def _first_of(linked: Linked, asked: Asked, extreme: Extreme) -> Iterator[Reading]:
    scope = scope_of(linked, unread=asked.places | extreme.used)
    field = _shown(linked, asked, extreme)
    if scope is None or field is None:
        return
    if field == extreme.field and extreme.word in ("most", "least", "fewest"):
        return
    question = Question(
        "first",
        where=scope.conditions,
        column=field.name,
        by=extreme.field.name,
        datatype=extreme.field.datatype,
        place=extreme.place,
    )
    used = scope.used | asked.places | extreme.used
    named = "extreme" if asked.named else "extreme loosely"
    kind = "extreme figure" if field == extreme.field else named
    yield Reading(kind, _sorted(extreme, scope.conditions, field), (question,), frozenset(used))


def _shown(linked: Linked, asked: Asked, extreme: Extreme) -> Field | None:
    """The column whose cell at the top is the answer: the one asked for, or the one that names the rows."""
    field = asked.field
    if field is None or asked.kind == "number":
        return field if field == extreme.field else None
    if field == extreme.field:
        if _asks_plainly(linked, asked):
            return field
        names = name_field(linked.table)
        return names if names != extreme.field else None
    # "which area has the largest population" is about what rows are, not about the column "area (km²)"
    is_part = linked.text(min(asked.places)) == "which" and len(field.key) > len(asked.places) - 1
    if is_part and field.datatype == "number" and field.pure and not is_of_years(field):
        return name_field(linked.table)
    return field


def _asks_plainly(linked: Linked, asked: Asked) -> bool:
    """Whether the figure is asked for ("what is the highest …"), not a name ("which lake has the …")."""
    start = min(asked.places)
    return (
        linked.text(start) == "when"
        or linked.text(start + 1) in ("is", "was", "are", "were")
        or (asked.named and any(start < place <= start + 2 for place in asked.places))
    )


def _sorted(extreme: Extreme, where: Sequence[Condition], field: Field) -> tuple[Link, ...]:
    rows = (Link("select_row", where=tuple(where)),) if where else ()
    columns = dict.fromkeys([*(each.column for each in where), field.name, extreme.field.name])
    order = Link(
        "sort_by",
        columns=(extreme.field.name,),
        descending=extreme.descending,
        datatype=extreme.field.datatype,
    )
    return (*rows, Link("select_column", columns=tuple(columns)), order)


def _end_of(linked: Linked, asked: Asked) -> Iterator[Reading]:
    """The first or last row as the table lists them."""
    ends = [place for place in sorted(linked.places_of(_ENDS)) if not linked.is_mentioned(place)]
    scope = scope_of(linked, unread=asked.places)
    if len(ends) != 1 or asked.kind != "cells" or asked.field is None or scope is None:
        return
    place = _ENDS[linked.text(ends[0])]
    question = Question("end", where=scope.conditions, column=asked.field.name, place=place)
    rows = (Link("select_row", where=scope.conditions),) if scope.conditions else ()
    columns = dict.fromkeys([*(each.column for each in scope.conditions), asked.field.name])
    chain = (*rows, Link("select_column", columns=tuple(columns)))
    kind = "end" if asked.named else "end loosely"
    yield Reading(kind, chain, (question,), frozenset(scope.used | asked.places | {ends[0]}))


def read_frequent(linked: Linked, asked: Asked) -> Iterator[Reading]:
    """ "which country had the most riders?": the rows are counted by what is asked for."""
    bounded = {place for bound in bounds_of(linked) for place in bound.places}
    words = [
        n
        for n in range(len(linked.tokens))
        if linked.text(n) in ("most", "least", "fewest", "largest", "greatest", "more", "highest")
        and n not in bounded
    ]
    if asked.kind != "cells" or asked.field is None or asked.field.datatype == "date" or len(words) != 1:
        return
    if not asked.named or (asked.field.datatype == "number" and not is_of_years(asked.field)):
        return
    if linked.text(words[0]) in ("highest", "largest", "greatest") and linked.text(words[0] + 1) != "number":
        return
    scope = scope_of(linked, unread=asked.places)
    if scope is None or any(condition.column == asked.field.name for condition in scope.conditions):
        return
    rows = (Link("select_row", where=scope.conditions),) if scope.conditions else ()
    is_most = linked.text(words[0]) not in LEAST
    chain = (
        *rows,
        Link("group_by", columns=(asked.field.name,)),
        Link("sort_by", columns=(COUNT,), descending=is_most, datatype="number"),
    )
    question = Question("first", column=asked.field.name, by=COUNT, datatype="number")
    used = scope.used | asked.places | {words[0], words[0] + 1}
    yield Reading("most frequent", chain, (question,), frozenset(used))


def read_rivals(linked: Linked, asked: Asked) -> Iterator[Reading]:
    """ "who has more wins, x or y?", "how many more points did x have than y?": two rows side by side."""
    words = sorted(linked.places_of(MORE | LESS | MOST | LEAST | {"difference"}))
    pair = _two_of_one_column(linked)
    if pair is None or not words or not _are_compared(linked):
        return
    (mine, theirs), field = pair
    word = linked.text(words[0])
    ordering = _ordered(linked, asked, words[0], word)
    if ordering is None:
        return
    scope = scope_of(linked, without=[mine, theirs], unread=asked.places)
    if scope is None:
        return
    where, against = (
        (option.condition, *scope.conditions)
        for mention in (mine, theirs)
        if (option := mention.option_in(field.name)) is not None
    )
    columns = dict.fromkeys([*(each.column for each in where), field.name, ordering.name])
    chain = (Link("select_row", either=(where, against)), Link("select_column", columns=tuple(columns)))
    apart = asked.kind == "number" or word == "difference"
    is_more = word in MOST or (word in MORE and sign_of(word, ordering) == ">")
    question = Question(
        "apart" if apart else "greater",
        where=where,
        against=against,
        column=field.name,
        by=ordering.name,
        datatype=ordering.datatype,
        sign=">" if is_more else "<",
    )
    joining = linked.places_of(_COMPARING)
    used = scope.used | asked.places | {*words, *mine.places, *theirs.places, *joining}
    yield Reading("apart" if apart else "rivals", chain, (question,), frozenset(used))


def _are_compared(linked: Linked) -> bool:
    """Whether two are put up for a choice or a difference, and not "more or less" or "before or after"."""
    texts = [token.text for token in linked.tokens]
    if any(texts[n] == "or" and texts[n - 1] in MORE | LESS for n in range(1, len(texts))):
        return False
    return not _COMPARING.isdisjoint(texts)


_COMPARING = word_set("or than between compared versus vs difference")


def _two_of_one_column(linked: Linked) -> tuple[tuple[Mention, Mention], Field] | None:
    names = [mention for mention in linked.mentions if mention.kind == "name" or mention.options]
    for first, second in pairwise(names):
        for option in first.options:
            other = second.option_in(option.field.name)
            if other is not None and other.rows != option.rows and (first.kind == "name" or first.whole):
                return (first, second), option.field
    return None


def _ordered(linked: Linked, asked: Asked, place: int, word: str) -> Field | None:
    """The column that the two are compared by."""
    near = sorted(linked.columns, key=lambda named: abs(named.start - place))
    for named in near:
        for field in named.fields:
            if field.datatype != "text" and fits_word(word, field):
                return field
    if asked.field is not None and asked.field.datatype == "number":
        return asked.field
    return None

"""Statements about a sum, an average or a spread: "the average attendance be 15432"."""

from __future__ import annotations

from collections.abc import Iterator

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.fields import Field
from chameleon.modules.offline.lexical.links import Linked, Mention
from chameleon.modules.offline.lexical.reading import Question, Reading, chain_for
from chameleon.modules.offline.lexical.scope import bounds_of, scope_of, sign_of_bound

_SUMS = word_set("total combined sum together combine")
_MEANS = word_set("average mean")


def read_aggregate(linked: Linked) -> Iterator[Reading]:
    """A figure that all rows make together."""
    for place, token in enumerate(linked.tokens):
        if token.text not in _SUMS | _MEANS or any(place in m.places for m in linked.mentions):
            continue
        if any(place in named.places and named.whole for named in linked.columns):
            continue
        field = _column(linked, place)
        figure = _figure(linked, place)
        if field is None or figure is None:
            continue
        bound = next((bound for bound in bounds_of(linked) if bound.mention == figure), None)
        own = {n for named in linked.columns if field in named.fields for n in named.places}
        scope = scope_of(linked, without=[figure], unread=own)
        if scope is None:
            continue
        sign = sign_of_bound(bound)
        ask = "sum" if token.text in _SUMS else "average"
        number = linked.tokens[figure.start].form
        question = Question(ask, where=scope.conditions, column=field.name, sign=sign, number=number)
        used = scope.used | own | {place} | set(figure.places) | (set(bound.places) if bound else set())
        chain = chain_for(scope.conditions, [field.name])
        yield Reading(ask, chain, (question,), frozenset(used))
        return


def _column(linked: Linked, place: int) -> Field | None:
    near = sorted(linked.columns, key=lambda named: abs(named.start - place))
    for named in near:
        for field in named.fields:
            if field.datatype == "number" and field.pure:
                return field
    return None


def _figure(linked: Linked, place: int) -> Mention | None:
    numbers = [mention for mention in linked.mentions if mention.kind == "number"]
    after = [mention for mention in numbers if mention.start > place]
    return next(iter([*after, *numbers]), None)

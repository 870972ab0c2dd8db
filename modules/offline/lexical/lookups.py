"""Questions that are answered by picking rows: their cells, their number, or the row beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.asked import Asked
from chameleon.modules.offline.lexical.conditions import Condition, rows_where
from chameleon.modules.offline.lexical.counting import counts_of_groups, counts_within_figures, picks_one
from chameleon.modules.offline.lexical.english import IN_TIME, LEAST, MOST
from chameleon.modules.offline.lexical.fields import Field, is_of_years
from chameleon.modules.offline.lexical.links import Linked
from chameleon.modules.offline.lexical.reading import Link, Question, Reading, chain_for
from chameleon.modules.offline.lexical.scope import bounds_of, scope_of
from chameleon.modules.offline.lexical.verdict import body_of

_DIFFERENT = word_set("different unique distinct separate")
_TOGETHER = word_set("total combined altogether sum")
_MEAN = word_set("average mean")
_AFTER, _BEFORE = (
    word_set("after next following below follows"),
    word_set("before previous prior preceding above preceded"),
)


def read_lookup(linked: Linked, asked: Asked) -> Iterator[Reading]:
    """ "who was the driver in 1996?": the cells of a column in the rows that are named."""
    if asked.kind != "cells" or asked.field is None or _orders(linked) or counts_of_groups(linked):
        return
    scope = scope_of(linked, unread=asked.places)
    if scope is None or not scope.conditions:
        return
    if any(condition.column == asked.field.name for condition in scope.conditions):
        return
    rows = len(rows_where(linked.table, scope.conditions))
    kind = "lookup" if asked.named else "lookup loosely"
    kind = kind if rows == 1 else f"{kind}, several" if rows else f"{kind}, none"
    question = Question("cells", where=scope.conditions, column=asked.field.name)
    chain = chain_for(scope.conditions, [asked.field.name])
    only = frozenset(n for n in range(len(linked.tokens)) if linked.text(n) == "only" and rows == 1)
    yield Reading(kind, chain, (question,), scope.used | asked.places | only)


def _orders(linked: Linked) -> bool:
    """Whether a word asks for an order that is not read as a bound."""
    bounds = {place for bound in bounds_of(linked) for place in bound.places}
    taken = {place for mention in linked.mentions for place in mention.places}
    taken |= {place for named in linked.columns for place in named.places if named.whole}
    return any(
        linked.text(n) in MOST | LEAST | IN_TIME and n not in bounds | taken
        for n in range(len(linked.tokens))
    )


def read_number(linked: Linked, asked: Asked) -> Iterator[Reading]:
    """ "how many games …": rows that are meant, or what a column of numbers says of them."""
    texts = [token.text for token in linked.tokens]
    together = {n for n, text in enumerate(texts) if text in _TOGETHER}
    mean = {n for n, text in enumerate(texts) if text in _MEAN}
    if asked.kind == "cells" and not (together | mean and asked.field is not None):
        return
    if _orders(linked) or counts_of_groups(linked):
        return
    scope = scope_of(linked, unread=asked.places)
    if scope is None:
        return
    used = scope.used | asked.places | together | {n for n, text in enumerate(texts) if text == "many"}
    used |= {n for n, text in enumerate(texts) if text == "times" and texts[n - 1] == "many"}
    field = asked.field
    counts_a_name = asked.kind == "number" and _counts_a_name(linked, asked)
    if counts_a_name and field is None:
        field = _figure_named(linked)
    if field is not None and _is_figure(field):
        rows = len(rows_where(linked.table, scope.conditions))
        ask = "cells" if rows == 1 else "mean" if mean else "total"
        question = Question(ask, where=scope.conditions, column=field.name)
        kind = "figure" if rows == 1 else "average figure" if mean else "total" if together else "figures"
        yield Reading(kind, chain_for(scope.conditions, [field.name]), (question,), frozenset(used | mean))
    elif asked.kind == "number" and not counts_within_figures(linked):
        different = {n for n, text in enumerate(texts) if text in _DIFFERENT}
        repeats = field is not None and _repeats(linked, asked, field, scope.conditions)
        if field is not None and (different or (repeats and not scope.conditions)):
            question = Question("different", where=scope.conditions, column=field.name)
            used |= different
            yield Reading(
                "how many different", chain_for(scope.conditions, [field.name]), (question,), frozenset(used)
            )
            return
        question = Question("number", where=scope.conditions)
        kind = "how many" if scope.conditions else "how many in all"
        by_name = counts_a_name or picks_one(linked, scope.conditions)
        alone = len(rows_where(linked.table, scope.conditions)) == 1
        kind = "how many of one" if alone and (field is not None or by_name) else kind
        kind = "how many, repeated" if repeats else kind
        yield Reading(kind, chain_for(scope.conditions, []), (question,), frozenset(used))


def _counts_a_name(linked: Linked, asked: Asked) -> bool:
    """Whether "how many" stands before the name of a row: "how many oak chairs are in stock?"."""
    start = max(asked.places) + 1
    return any(
        each.start == start
        and each.kind == "name"
        and each.whole
        and all(len(o.rows) == 1 for o in each.options)
        for each in linked.mentions
    )


def _figure_named(linked: Linked) -> Field | None:
    """The only column of figures that is named."""
    fields = {field for named in linked.columns for field in named.fields if _is_figure(field)}
    return fields.pop() if len(fields) == 1 else None


def _repeats(linked: Linked, asked: Asked, field: Field, where: Sequence[Condition]) -> bool:
    """Whether what is counted is a whole column's names, some of which stand in several of the rows."""
    noun = min(asked.places) + 2
    named = any(each.whole and each.start == noun and each.fields[0] == field for each in linked.columns)
    cells = [field.cells[row].strip().lower() for row in body_of(linked.table, where)]
    filled = [cell for cell in cells if cell]
    return named and field.is_name and len(set(filled)) < len(filled)


def _is_figure(field: Field) -> bool:
    """Whether a column gives numbers of what is asked for, rather than names or numbers of rows."""
    if field.datatype != "number" or not field.pure:
        return False
    return not set(field.key) <= _NUMBERINGS and not is_of_years(field)


_NUMBERINGS = frozenset(
    ["game", "week", "no", "year", "season", "date", "number", "rank", "round", "episod", "#"]
)


def read_neighbour(linked: Linked, asked: Asked) -> Iterator[Reading]:
    """ "who came after x?", "which is listed above y?": the row beside the one that is named."""
    if asked.kind != "cells" or asked.field is None:
        return
    places = sorted(linked.places_of(_AFTER | _BEFORE))
    mentions = [mention for mention in linked.mentions if mention.kind != "number" or mention.options]
    if not places or len(mentions) != 1 or mentions[0].kind != "name":
        return
    step = 1 if linked.text(places[-1]) in _AFTER else -1
    mention = mentions[0]
    options = [option for option in mention.options if len(option.rows) == 1]
    if not options:
        return
    same = [option for option in options if option.field == asked.field]
    option = (same or options)[0]
    field = asked.field if asked.named or same else option.field
    question = Question("beside", where=(option.condition,), column=field.name, place=step)
    time = _time_named(linked, field)
    columns = dict.fromkeys([option.field.name, field.name, *([time.name] if time is not None else [])])
    order = (Link("sort_by", columns=(time.name,), datatype=time.datatype),) if time is not None else ()
    chain = (Link("select_column", columns=tuple(columns)), *order)
    used = asked.places | set(places) | set(mention.places)
    used |= linked.places_of(("immediately", "directly", "right", "just"))
    used |= {place for named in linked.columns if time in named.fields for place in named.places}
    yield Reading("neighbour", chain, (question,), frozenset(used))


def _time_named(linked: Linked, shown: Field) -> Field | None:
    """The column of dates or years that a question orders by: "which club was founded after x?"."""
    fields = [named.fields[0] for named in linked.columns if len(named.fields) == 1]
    return next((f for f in fields if f != shown and (f.datatype == "date" or is_of_years(f))), None)

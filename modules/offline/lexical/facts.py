"""Statements that some row says as they stand: "the surface was hard on 2 may 1999"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.linking import ideas
from chameleon.modules.offline.lexical.conditions import Condition, rows_where
from chameleon.modules.offline.lexical.counting import counts_rows, tells_age
from chameleon.modules.offline.lexical.english import NEGATIONS, ROW_NOUNS
from chameleon.modules.offline.lexical.links import Linked, Mention, Named, Option
from chameleon.modules.offline.lexical.reading import Link, Question, Reading
from chameleon.modules.offline.lexical.words import ARTICLES

_WAYS = 256
_NUMBERED = word_set("no number nr id")
_BEING = word_set("is was are were be")
_NEAR = 3


def read_fact(linked: Linked) -> Iterator[Reading]:
    """One row holds all that is named; for a column named twice, one row each."""
    if not linked.mentions or counts_rows(linked):
        return
    groups = groups_of(linked)
    if groups is None:
        return
    singles = [each[0] for each in groups if len(each) == 1]
    several = [each for each in groups if len(each) > 1]
    if len(singles) + len(several) < 2:
        return
    questions = []
    for chosen in product(*several):
        options = best_ways([*singles, *chosen], linked)
        if options is None:
            return
        conditions = tuple(option.condition for option in options)
        questions.append(Question("any", where=conditions[:1], claim=conditions[1:]))
    used = set(linked.named_places)
    negated = [n for n, token in enumerate(linked.tokens) if token.text in NEGATIONS and n not in used]
    if len(negated) > 1 or (negated and len(questions) > 1):
        return
    if negated:
        questions = [Question("none", where=questions[0].where, claim=questions[0].claim)]
        used |= set(negated)
    kind = "fact denied" if negated else "fact" if len(questions) == 1 else "facts"
    yield Reading(kind, chain_of(questions, linked), tuple(questions), frozenset(used))


def chain_of(questions: Sequence[Question], linked: Linked) -> tuple[Link, ...]:
    """Keep the rows that the first thing named picks, and the columns that are spoken of."""
    columns = dict.fromkeys(
        [each.column for q in questions for each in (*q.where, *q.claim)]
        + [named.fields[0].name for named in linked.columns if len(named.fields) == 1]
    )
    either = tuple(dict.fromkeys(question.where for question in questions))
    return Link("select_row", either=either), Link("select_column", columns=tuple(columns))


def groups_of(linked: Linked) -> list[list[Mention]] | None:
    """The mentions by what they are about: those that "and" joins in one column belong together."""
    groups: list[list[Mention]] = []
    for mention in linked.mentions:
        if not mention.options and mention.kind != "number":
            return None
        if groups and _is_joined(groups[-1][-1], mention, linked):
            groups[-1].append(mention)
        else:
            groups.append([mention])
    return groups


def _is_joined(before: Mention, mention: Mention, linked: Linked) -> bool:
    between = [linked.text(n) for n in range(before.end, mention.start)]
    if not between or not set(between) <= {
        "and",
        ",",
        "or",
        "the",
        "both",
        "in",
        "on",
        "at",
        "with",
        "to",
        "against",
    }:
        return False
    if not {"and", ",", "or"} & set(between):
        return False
    mine, theirs = ({option.field.index for option in each.options} for each in (before, mention))
    return bool(mine & theirs) and before.kind == mention.kind


def best_ways(mentions: Sequence[Mention], linked: Linked) -> tuple[Option, ...] | None:
    """One option for each mention: beside the column's name, and all in one row, where there are such."""
    choices = [options_near(mention, linked) for mention in mentions]
    if not all(choices):
        return None
    best: tuple[Option, ...] | None = None
    for way in islice(product(*choices), _WAYS):
        columns = [option.field.index for option in way]
        if len(set(columns)) < len(columns) and not _same_cell(way):
            continue
        if frozenset.intersection(*(option.rows for option in way)):
            return way
        best = best or way
    return best


def _same_cell(way: Sequence[Option]) -> bool:
    """Whether mentions in one column are parts of one cell's text."""
    return all(option.condition.relation == "has" for option in way)


def options_near(mention: Mention, linked: Linked) -> list[Option]:
    """The options in the column that is named next to the mention; for want of one, all of them."""
    near = sorted(
        (named for named in linked.columns if _distance(named, mention) <= _NEAR),
        key=lambda named: _distance(named, mention),
    )
    for named in near:
        if _is_between(named, mention, linked):
            continue
        inside = [option for option in mention.options if option.field in named.fields]
        if inside:
            return inside
        if mention.kind == "number" and _distance(named, mention) <= 1:
            numeric = [field for field in named.fields if field.datatype == "number"]
            if numeric:
                value = linked.tokens[mention.start]
                written = str(value.place) if value.place is not None else value.form
                condition = Condition(numeric[0].name, "=" if numeric[0].pure else "has", written)
                rows = frozenset(rows_where(linked.table, [condition]))
                return [Option(numeric[0], condition, rows)]
        if mention.kind == "name" and mention.whole and _is_said_to_be(named, mention, linked):
            written = " ".join(linked.text(n) for n in mention.places)
            return [Option(named.fields[0], Condition(named.fields[0].name, "is", written), frozenset())]
    if tells_age(linked, mention):
        return [option for option in mention.options if "old" in ideas(option.field.name)]
    if mention.kind == "number" and not _is_numbered(linked, mention):
        return [option for option in mention.options if not set(option.field.key) <= _NUMBERED]
    return list(mention.options)


def _is_numbered(linked: Linked, mention: Mention) -> bool:
    """Whether a number may be that of a row: "number 3", "item 3", "episode 3"."""
    word = linked.text(mention.start - 1)
    return word in _NUMBERED | ROW_NOUNS or any(named.end == mention.start for named in linked.columns)


def _is_said_to_be(named: Named, mention: Mention, linked: Linked) -> bool:
    """Whether a name is claimed of a column of names: "foxes were the winner", "the winner was foxes"."""
    low, high = min(named.end, mention.end), max(named.start, mention.start)
    between = [linked.text(n) for n in range(low, high)]
    if named.start >= mention.end and between[-1:] not in (["the"], ["a"], ["an"]):
        return False  # "dead calm was directed by …"
    verbs = [word for word in between if word not in ARTICLES]
    if len(verbs) != 1 or verbs[0] not in _BEING or _speaks_of_another(named, mention, linked):
        return False
    return named.whole and len(named.fields) == 1 and named.fields[0].is_name


def _speaks_of_another(named: Named, mention: Mention, linked: Linked) -> bool:
    """Whether the column's name belongs to what stands before it: "on the hard surface was …"."""
    before = named.start - 1
    while linked.text(before) in ARTICLES | _BEING:
        before -= 1
    return mention.start >= named.end and linked.is_mentioned(before)


def _distance(named: Named, mention: Mention) -> int:
    return named.start - mention.end if named.start >= mention.end else mention.start - named.end


def _is_between(named: Named, mention: Mention, linked: Linked) -> bool:
    """Whether another mention stands between the column's name and this one."""
    low, high = min(named.end, mention.end), max(named.start, mention.start)
    return any(low <= other.start < high for other in linked.mentions if other is not mention)

"""The rows that a statement is about: those that its names, dates and bounds leave."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from chameleon.modules.offline.lexical.conditions import Condition, Relation
from chameleon.modules.offline.lexical.english import NEGATIONS
from chameleon.modules.offline.lexical.facts import best_ways, groups_of
from chameleon.modules.offline.lexical.fields import Field, fields_of, time_field
from chameleon.modules.offline.lexical.links import Linked, Mention, Named, Option
from chameleon.modules.offline.lexical.reading import Sign
from chameleon.modules.offline.lexical.words import key_of

_BEFORE: dict[tuple[str, ...], Relation] = {
    ("no", "more", "than"): "<=",
    ("no", "less", "than"): ">=",
    ("no", "fewer", "than"): ">=",
    ("more", "than"): ">",
    ("greater", "than"): ">",
    ("higher", "than"): ">",
    ("larger", "than"): ">",
    ("longer", "than"): ">",
    ("later", "than"): ">",
    ("bigger", "than"): ">",
    ("less", "than"): "<",
    ("fewer", "than"): "<",
    ("lower", "than"): "<",
    ("smaller", "than"): "<",
    ("shorter", "than"): "<",
    ("earlier", "than"): "<",
    ("at", "least"): ">=",
    ("at", "most"): "<=",
    ("prior", "to"): "<",
    ("over",): ">",
    ("above",): ">",
    ("under",): "<",
    ("below",): "<",
    ("before",): "<",
    ("after",): ">",
    ("since",): ">=",
    ("exceed",): ">",
}
_AFTER: dict[tuple[str, ...], Relation] = {
    ("at", "least"): ">=",
    ("at", "most"): "<=",
    ("or", "more"): ">=",
    ("or", "higher"): ">=",
    ("or", "above"): ">=",
    ("or", "over"): ">=",
    ("or", "less"): "<=",
    ("or", "fewer"): "<=",
    ("or", "lower"): "<=",
    ("or", "below"): "<=",
}
_IN_TIME: dict[Relation, Relation] = {"<": "before", ">": "after"}


@dataclass(frozen=True)
class Bound:
    """A number or date with the words that make it a bound, such as "more than"."""

    mention: Mention
    relation: Relation
    start: int
    end: int

    @property
    def places(self) -> range:
        return range(self.start, self.end)


def sign_of_bound(bound: Bound | None) -> Sign:
    """The sign that a bound puts between a figure and its number; "=" without one."""
    signs: dict[str, Sign] = {"<": "<", ">": ">", "<=": "<=", ">=": ">="}
    return signs.get(bound.relation, "=") if bound is not None else "="


@dataclass(frozen=True)
class Scope:
    """Conditions on rows, and the places of the words that they rest on."""

    conditions: tuple[Condition, ...]
    used: frozenset[int]


def bounds_of(linked: Linked) -> Iterator[Bound]:
    """The numbers and dates that stand as bounds: "more than 20", "at least 3", "before 1990"."""
    for mention in linked.mentions:
        if mention.kind not in ("number", "date"):
            continue
        for words, relation in _BEFORE.items():
            start = mention.start - len(words)
            if start >= 0 and tuple(linked.text(n) for n in range(start, mention.start)) == words:
                yield Bound(mention, relation, start, mention.end)
                break
        else:
            for words, relation in _AFTER.items():
                end = mention.end + len(words)
                if tuple(linked.text(n) for n in range(mention.end, end)) == words:
                    yield Bound(mention, relation, mention.start, end)


def scope_of(linked: Linked, without: Collection[Mention] = (), unread: Collection[int] = ()) -> Scope | None:
    """What all mentions but those of `without` ask of a row; None where one of them fits no column.

    Columns named at a place in `unread` do not draw numbers to them.
    """
    bounds = [bound for bound in bounds_of(linked) if bound.mention not in without]
    bounded = [bound_condition(linked, bound) for bound in bounds]
    apart = {*(bound.mention for bound in bounds), *without}
    columns = tuple(named for named in linked.columns if not set(named.places) & set(unread))
    rest = replace(linked, mentions=tuple(m for m in linked.mentions if m not in apart), columns=columns)
    groups = groups_of(rest)
    ways = best_ways([group[0] for group in groups], rest) if groups else ()
    if groups is None or ways is None:
        return None
    named = [_of_group(rest, group, option) for group, option in zip(groups, ways, strict=True)]
    conditions = [condition for condition in (*bounded, *named) if condition is not None]
    if len(conditions) < len(bounded) + len(named):
        return None
    used = {place for bound in bounds for place in bound.places}
    used |= {place for column in columns for place in column.places}
    for group in groups:
        used |= _read_places(rest, group)
    return Scope(tuple(conditions), frozenset(used))


def _of_group(linked: Linked, group: Sequence[Mention], option: Option) -> Condition | None:
    """What mentions joined by "and" or "or" ask of a column; None where one of them is not of it."""
    others = [other.option_in(option.field.name) for other in group[1:]]
    values = tuple(other.condition.value for other in others if other is not None)
    if len(values) < len(others):
        return None
    return replace(option.condition, also=values, negated=_is_negated(linked, group[0]))


def _read_places(linked: Linked, group: Sequence[Mention]) -> set[int]:
    """The words that a group rests on, unless it is a guess; with what negates it."""
    negation = {group[0].start - 1} if _is_negated(linked, group[0]) else set()
    if _is_guessed(linked, group[0]):
        return negation
    return negation | {place for mention in group for place in mention.places}


def _is_guessed(linked: Linked, mention: Mention) -> bool:
    """Whether a number stands by no column's name, and may so be meant otherwise."""
    token = linked.tokens[mention.start]
    if mention.kind == "name" and not mention.whole and mention.end - mention.start == 1:
        return _is_plain_word(linked, mention)
    if mention.kind != "number" or (token.text.isdecimal() and len(token.text) == 4):
        return False
    return not any(
        0 <= named.start - mention.end <= 1 or 0 <= mention.start - named.end <= 1 for named in linked.columns
    )


def _is_plain_word(linked: Linked, mention: Mention) -> bool:
    """Whether a word stands in cells without a capital, in a table that writes names with one."""
    table, word = linked.table, linked.text(mention.start)
    cells = [table.rows[row][option.field.index] for option in mention.options for row in option.rows]
    written = [part for cell in cells for part in cell.split() if part.lower().startswith(word[:4])]
    return bool(written) and not any(part[:1].isupper() for part in written) and any(map(_has_capital, cells))


def _has_capital(cell: str) -> bool:
    return any(character.isupper() for character in cell)


def _is_negated(linked: Linked, mention: Mention) -> bool:
    return linked.text(mention.start - 1) in NEGATIONS


def bound_condition(linked: Linked, bound: Bound) -> Condition | None:
    """The bound as a condition on the column that it is about."""
    value = " ".join(linked.tokens[n].text for n in bound.mention.places)
    field = bound_field(linked, bound)
    if field is None:
        return None
    if field.datatype == "date":
        relation = _IN_TIME.get(bound.relation)
        return Condition(field.name, relation, value) if relation else None
    return Condition(field.name, bound.relation, linked.tokens[bound.mention.start].form)


def bound_field(linked: Linked, bound: Bound) -> Field | None:
    """The column of numbers or dates named nearest to the bound; for a date or year the one of time."""
    token = linked.tokens[bound.mention.start]
    if token.date is not None:
        return next((field for field in fields_of(linked.table) if field.datatype == "date"), None)
    near = sorted(linked.columns, key=lambda named: _distance(named, bound))
    for named in near:
        fields = [field for field in named.fields if field.datatype != "text"]
        if fields and _distance(named, bound) <= 5:
            return fields[0]
    if (measured := _measured_field(linked, bound)) is not None:
        return measured
    is_year = token.number is not None and 1500 <= token.number <= 2100 and token.text.isdecimal()
    return time_field(linked.table) if is_year else None


def _measured_field(linked: Linked, bound: Bound) -> Field | None:
    """The one column of numbers that carries the unit after the number: "under 200 ft"."""
    unit = linked.tokens[bound.mention.end].form if bound.mention.end < len(linked.tokens) else ""
    if not unit.isalpha():
        return None
    fields = [field for field in fields_of(linked.table) if field.datatype == "number"]
    fitting = [
        field
        for field in fields
        if unit in field.key or 2 * sum(unit in key_of(cell) for cell in field.cells) > len(field.cells) > 0
    ]
    return fitting[0] if len(fitting) == 1 else None


def _distance(named: Named, bound: Bound) -> int:
    return named.start - bound.end if named.start >= bound.end else bound.start - named.end + 1

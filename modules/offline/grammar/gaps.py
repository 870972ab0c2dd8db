"""Conditions that name no cell: what is missing or there, yes or no, below or above zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.bounds import Bound
from chameleon.modules.offline.grammar.conditions import (
    Condition,
    is_flag,
    where_bound,
    where_empty,
    where_filled,
    where_flag,
    where_not,
)
from chameleon.modules.offline.grammar.lexicon import NEGATIONS, SMALL_WORDS, word_set
from chameleon.modules.offline.grammar.linking import ColumnMention
from chameleon.table import Column, Table

_HAVING = word_set("have has had having leave leaves left leaving give gave given get got any their")
_LACKING = word_set("no without missing lack lacks lacking not isn't aren't don't doesn't didn't")
_WITH = word_set("with have has had leave left leaves gave give given")
_NONE = word_set("no without")
_SIGNS = {"negative": "<", "positive": ">"}


def find_gaps(table: Table, texts: Mapping[int, str], mentions: Sequence[ColumnMention]) -> list[Condition]:
    """The conditions "no comment", "without a garden", "left a comment" and "negative balance"."""
    found = []
    for mention in mentions:
        if len(mention.columns) != 1:
            continue
        column = table.columns[mention.columns[0]]
        if mention.hinted:
            continue
        condition = _of(table, texts, mention, column)
        if condition is not None:
            found.append(condition)
    return found


def _of(table: Table, texts: Mapping[int, str], mention: ColumnMention, column: Column) -> Condition | None:
    start, places = mention.places[0], frozenset(mention.places)
    sign = _SIGNS.get(texts.get(start - 1, ""))
    if column.kind == "number" and sign:
        bound = Bound(sign, Fraction(0), (start - 1,), start - 1)
        return where_bound(table, column.index, bound, {start - 1, *places})
    lacking = lack_before(texts, start)
    if is_flag(column):
        said = where_flag(table, column.index, places)
        return where_not(table, said, lacking) if lacking else said
    has_gaps = any(value.kind == "empty" for value in column.values)
    if lacking and column.kind == "number" and not {texts[i] for i in lacking} & _NONE:
        return None
    if lacking and column.kind == "number" and not has_gaps:
        return where_bound(
            table, column.index, Bound("==", Fraction(0), tuple(lacking), start), lacking | places
        )
    if lacking:
        if column.kind == "number" and any(value.number == 0 for value in column.values):
            raise Declined(f"{column.name} may be zero or missing, and the question does not say which")
        return where_empty(table, column.index, lacking | places)
    before = _before(texts, start, word_set("any their"))
    if has_gaps and texts.get(before, "") in _WITH and texts.get(start - 1) not in {"the", "which", "what"}:
        return where_filled(table, column.index, places | {before})
    if column.kind == "date" and _is_deed(texts.get(start, "")) and "when" not in texts.values():
        return where_filled(table, column.index, places)
    return None


def _is_deed(text: str) -> bool:
    """Whether it says that something was done: "hired", "sold"."""
    return text.endswith("ed") or text in _DONE


_DONE = word_set("sold bought built born paid sent made begun held")


def lack_before(texts: Mapping[int, str], start: int) -> frozenset[int]:
    """The "no", "without" or "not" before a name, over "have", "leave" and small words."""
    before = _before(texts, start, _HAVING)
    having = {i for i in range(before, start) if texts.get(i, "") in _HAVING}
    if texts.get(before - 1, "") in _HAVING:
        having.add(before - 1)
    return frozenset({before, *having}) if texts.get(before, "") in _LACKING else frozenset()


def negation_before(texts: Mapping[int, str], start: int) -> frozenset[int]:
    """The "not", "everything except" or "other than" right before a name that starts there."""
    place = _before(texts, start, frozenset())
    if texts.get(place, "") in NEGATIONS:
        wide = {place - 1} if texts.get(place - 1, "") in {"everything", "everyone", "all"} else set()
        return frozenset({place, *wide})
    if (texts.get(place - 1), texts.get(place)) == ("other", "than"):
        return frozenset({place - 1, place})
    return frozenset()


def _before(texts: Mapping[int, str], start: int, over: frozenset[str]) -> int:
    place = start - 1
    while texts.get(place, "") in SMALL_WORDS | over:
        place -= 1
    return place

"""Where a journey begins and ends: the two columns of places, and which of them a word points to."""

from __future__ import annotations

from collections.abc import Mapping

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.words import stem_set, tokenize
from chameleon.table import Table

_ORIGINS = stem_set("from depart departure origin start source")
_DESTINATIONS = stem_set("to arrive arrival destination end")
_AWAY = word_set("from leave leaves leaving left depart departs departing departed")
_TOWARDS = word_set("to into towards reach reaches reaching arrive arrives arriving arrived")
_BETWEEN = word_set("at in the last first next earliest latest")


def route(table: Table) -> tuple[int, int] | None:
    """The columns of origins and destinations, such as From and To; None where the table has no such pair."""
    sides = []
    for kind in (_ORIGINS, _DESTINATIONS):
        found = [
            column.index
            for column in table.columns
            if column.kind == "text" and kind & {word.stem for word in tokenize(column.name)}
        ]
        if len(found) != 1:
            return None
        sides.append(found[0])
    return (sides[0], sides[1]) if sides[0] != sides[1] else None


def side_of(table: Table, texts: Mapping[int, str], place: int) -> int | None:
    """The column that the word before a name chooses: "from Lyon", "leaves Lyon", "arrives at Lyon"."""
    sides = route(table)
    if sides is None:
        return None
    before = place - 1
    while texts.get(before, "") in _BETWEEN:
        before -= 1
    text = texts.get(before, "")
    if text in _AWAY:
        return sides[0]
    return sides[1] if text in _TOWARDS else None

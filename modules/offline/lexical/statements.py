"""Read what a statement claims of a table: the likeliest of several readings, with how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from chameleon import Declined, Table
from chameleon.modules.offline.lexical.aggregates import read_aggregate
from chameleon.modules.offline.lexical.comparisons import read_comparison, read_outnumbering, read_same
from chameleon.modules.offline.lexical.counts import read_count, read_none, read_often
from chameleon.modules.offline.lexical.facts import read_fact
from chameleon.modules.offline.lexical.joined import joined_readings
from chameleon.modules.offline.lexical.links import Linked
from chameleon.modules.offline.lexical.mentions import linked
from chameleon.modules.offline.lexical.reading import Reading
from chameleon.modules.offline.lexical.superlatives import read_superlative
from chameleon.modules.offline.lexical.trust import sureness, unread
from chameleon.modules.offline.lexical.units import refuse_mixed_units
from chameleon.modules.offline.lexical.universals import read_all, read_bounded, read_only

_READERS: tuple[Callable[[Linked], Iterator[Reading]], ...] = (
    read_superlative,
    read_comparison,
    read_outnumbering,
    read_aggregate,
    read_count,
    read_often,
    read_none,
    read_all,
    read_only,
    read_bounded,
    read_same,
    read_fact,
)


def read_statement(statement: str, table: Table, sure: float) -> Reading:
    """The surest reading. Raises `Declined` for a statement without one that is sure enough."""
    readings = readings_of(statement, table)
    if not readings:
        raise Declined("the statement names too little of the table to be held against it", hint=_HINT)
    best = readings[0]
    if best.sure < sure:
        strange, steering = unread(best, linked(statement, table))
        words = ", ".join(dict.fromkeys([*steering, *strange]))
        told = f"these words stay unread: {words}" if words else "it may be meant in more than one way"
        raise Declined(f"the statement is not read surely enough: {told}", hint=_HINT)
    refuse_mixed_units(best, table)
    return best


_HINT = "Say it with the words of the table, one claim at a time."


def readings_of(statement: str, table: Table) -> list[Reading]:
    """Every reading of the statement, the surest first; that of two joined claims where none is sure."""
    found = _single(statement, table)
    if not found or found[0].sure < _SURE:
        found += joined_readings(statement, table, _best)
    return sorted(found, key=lambda reading: -reading.sure)


_SURE = 0.65


def _best(statement: str, table: Table) -> Reading | None:
    return next(iter(_single(statement, table)), None)


def _single(statement: str, table: Table) -> list[Reading]:
    links = linked(statement, table)
    found = [replace(each, sure=sureness(each, links)) for read in _READERS for each in read(links)]
    return sorted(found, key=lambda reading: -reading.sure)

"""Read what a question asks of a table: the likeliest of several readings, with how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from chameleon import Declined, Table
from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.lexical.asked import Asked, asked_of
from chameleon.modules.offline.lexical.links import Linked
from chameleon.modules.offline.lexical.lookups import read_lookup, read_neighbour, read_number
from chameleon.modules.offline.lexical.mentions import linked
from chameleon.modules.offline.lexical.orders import read_extreme, read_frequent, read_rivals
from chameleon.modules.offline.lexical.reading import Reading
from chameleon.modules.offline.lexical.statements import readings_of
from chameleon.modules.offline.lexical.trust import sureness, unread
from chameleon.modules.offline.lexical.units import refuse_mixed_units

_READERS: tuple[Callable[[Linked, Asked], Iterator[Reading]], ...] = (
    read_neighbour,
    read_rivals,
    read_extreme,
    read_frequent,
    read_number,
    read_lookup,
)
_DOES = word_set("is was are were do does did has have had")
_HINT = "Ask with the words of the table, one thing at a time."


def read_question(question: str, table: Table, sure: float) -> Reading:
    """The surest reading. Raises `Declined` for a question without one that is sure enough."""
    readings = question_readings(question, table)
    if not readings:
        raise Declined("the question does not ask in a way that is read here", hint=_HINT)
    best = readings[0]
    if best.sure < sure:
        strange, steering = unread(best, linked(question, table))
        words = ", ".join(dict.fromkeys([*steering, *strange]))
        told = f"these words stay unread: {words}" if words else "it may be meant in more than one way"
        raise Declined(f"the question is not read surely enough: {told}", hint=_HINT)
    refuse_mixed_units(best, table)
    return best


def question_readings(question: str, table: Table) -> list[Reading]:
    """Every reading of the question, the surest first."""
    links = linked(question, table)
    if links.text(0) in _DOES and "or" not in {token.text for token in links.tokens}:
        return readings_of(question, table)
    asked = asked_of(links)
    if asked is None and links.text(0) in _DOES:
        asked = Asked("cells", None, frozenset({0}))  # "was it higher in 1894 or 1893?"
    if asked is None:
        return []
    links = _without_noun(links, asked)
    found = [replace(each, sure=sureness(each, links)) for read in _READERS for each in read(links, asked)]
    return sorted(found, key=lambda reading: -reading.sure)


def _without_noun(links: Linked, asked: Asked) -> Linked:
    """The question without what it counts: "how many recordings …" names no cell that says "recordings"."""
    if asked.kind != "number":
        return links
    start = max(asked.places) + 1
    nouns = [mention for mention in links.mentions if mention.start == start and not mention.whole]
    return replace(links, mentions=tuple(mention for mention in links.mentions if mention not in nouns))

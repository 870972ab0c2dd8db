"""Numbers without a name: which words of a question may say what they are, where the table does not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.shapes import is_period_name, labels, measures
from chameleon.modules.offline.grammar.units import square_unit
from chameleon.modules.offline.grammar.words import Word, stem_set, stems
from chameleon.table import Table

_COMPARING = word_set("more less fewer most least fewest greatest highest lowest")
_ENDS = word_set(
    """
    is are was were be do does did have has had can could will would in on at from to of for by with between
    than and or who that which there not per a an the
    """
)
_PASTS = word_set("left sold went came bought lost won made ate gave sent spent grew fell rose died paid")
_DOING = word_set("did does do has have had was is can")
_MOTIONS = stem_set("run walk cycle ride drive swim hike jog fly sail row bike travel")
_DISTANCES = stem_set("kilometers miles meters distance km")
_GIVEN = word_set("give gives gave given send sends sent pay pays paid donate donates donated")
_CONTAINERS = word_set("container crate box bag basket carton package pack")
_HOLDERS = stem_set("winner holder owner member resident")
_RATES = word_set("capita person head inhabitant cwt pound kilogram ton acre hectare")


def naming_places(
    words: Sequence[Word], asked: Sequence[int], topic: frozenset[str], table: Table
) -> frozenset[int]:
    """The asked words that say what unnamed numbers are; none where the table itself says it.

    Numbers under years or months, in a table without a title, are what question and story call them:
    "how many Nobel Prize winners", "per capita". `topic` are the stems that the story has, with those
    that mean the same.
    """
    found = _doer(words, asked, table) | _moving(words, asked, topic, table)
    if table.caption.strip() or not _only_periods(table):
        return found
    nouns = _noun_phrase(words, asked)
    if len(asked) < len(words):
        nouns = _holders(words, nouns, topic)
    return found | nouns | _rates(words, asked) | _parcels(words, asked) | _taking(words, asked, table)


def _only_periods(table: Table) -> bool:
    columns = measures(table)
    return len(columns) == len(table.header) - 1 and all(is_period_name(column.name) for column in columns)


def _noun_phrase(words: Sequence[Word], asked: Sequence[int]) -> frozenset[int]:
    """The nouns after "how many", "how much more" and "the fewest"."""
    found: set[int] = set()
    is_open = False
    for before, place in pairwise(asked):
        text = words[place].text.lower()
        if text in _COMPARING or (words[before].text.lower() == "how" and text in {"many", "much"}):
            is_open = True
        elif is_open and _is_noun(words[place]):
            found.add(place)
        else:
            is_open = False
    return frozenset(found)


def _holders(words: Sequence[Word], nouns: frozenset[int], topic: frozenset[str]) -> frozenset[int]:
    """ "Winners" in "Nobel Prize winners", where the story tells of Nobel Prizes."""
    return frozenset(
        i
        for i in nouns
        if words[i].stem in _HOLDERS and {i - 1, i - 2} <= nouns and words[i - 1].stem in topic
    )


def _is_noun(word: Word) -> bool:
    text = word.text.lower()
    return word.kind == "word" and text not in _ENDS | _PASTS and not text.endswith("ed")


def _rates(words: Sequence[Word], asked: Sequence[int]) -> frozenset[int]:
    """ "Per capita", "per square mile"."""
    found: set[int] = set()
    for place in asked[:-1]:
        if words[place].text.lower() != "per":
            continue
        if square := square_unit(words, place + 1):
            found |= {place, *square}
        elif words[place + 1].text.lower() in _RATES:
            found |= {place, place + 1}
    return frozenset(found)


def _parcels(words: Sequence[Word], asked: Sequence[int]) -> frozenset[int]:
    """ "Container" in "a container of melons": what a price is for."""
    beside = {i: (words[i - 1].text.lower(), words[i + 1].text.lower()) for i in asked[1:-1]}
    return frozenset(
        i for i, pair in beside.items() if pair == ("a", "of") and words[i].text.lower() in _CONTAINERS
    )


def _taking(words: Sequence[Word], asked: Sequence[int], table: Table) -> frozenset[int]:
    """ "Received", where the story tells of what was given or sent to those whom the rows name."""
    own = {word for column in labels(table)[:1] for word in stems(column.name)}
    story = [i for i in range(len(words)) if i not in set(asked)]
    to = [i for i in story if words[i].text.lower() == "to" and own & {w.stem for w in words[i + 1 : i + 4]}]
    if not any(words[j].text.lower() in _GIVEN for i in to for j in range(max(i - 6, 0), i)):
        return frozenset()
    return frozenset(i for i in asked if words[i].text.lower() in {"receive", "received", "receives"})


def _doer(words: Sequence[Word], asked: Sequence[int], table: Table) -> frozenset[int]:
    """ "Lena" in "did Lena run", where one number a row is without a title or names: all are hers."""
    has_names = any(column.kind == "text" for column in table.columns)
    if table.caption.strip() or has_names or len(measures(table)) != 1:
        return frozenset()
    after = [i + 1 for i in asked[:-2] if words[i].text.lower() in _DOING]
    names = [i for i in asked if words[i].is_name and i != asked[0]]
    others = [i for i, word in enumerate(words) if i not in set(asked) and word.is_name]
    return frozenset(names) if len(names) == 1 and names[0] in after and not others else frozenset()


def _moving(
    words: Sequence[Word], asked: Sequence[int], topic: frozenset[str], table: Table
) -> frozenset[int]:
    """ "Run" and "cycle", over a distance of which nothing else tells how it was covered."""
    verbs = frozenset(i for i in asked if words[i].stem in _MOTIONS)
    numbers = measures(table)
    if len(verbs) != 1 or len(numbers) != 1 or not set(stems(numbers[0].name)) & _DISTANCES:
        return frozenset()
    texts = [cell for column in table.columns if column.kind == "text" for cell in column.cells]
    told = topic.union(*map(stems, (*table.header, *texts)))
    return frozenset() if told & _MOTIONS else verbs


def spans_rows(words: Sequence[Word], places: Sequence[int], table: Table) -> frozenset[int]:
    """The numbers of a story that only say which rows there are.

    These are the number of the rows ("five nearby towns") and both ends of the numbers in a column
    ("cards numbered 1 to 6").
    """
    numbers = [i for i in places if words[i].kind == "number" and words[i].number is not None]
    rows = set(stems(table.header[0]))
    found = {
        i
        for i in numbers
        if words[i].number == len(table.rows) and rows & {word.stem for word in words[i + 1 : i + 4]}
    }
    columns = [
        [value.number for value in column.values if value.number is not None] for column in table.columns
    ]
    ends = {(min(column), max(column)) for column in columns if len(column) == len(table.rows) > 1}
    for low, high in pairwise(numbers):
        joined = high - low == 2 and words[low + 1].text.lower() in {"to", "through", "and"}
        if joined and (words[low].number, words[high].number) in ends:
            found |= {low, high}
    return frozenset(found)

"""Numbers without a name: which words of a question may say what they are, where the table does not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from chameleon.modules.grammar.lexicon import word_set
from chameleon.modules.grammar.shapes import is_period_name, measures, stem_and_leaf
from chameleon.modules.grammar.words import Word, stem_set, stems
from chameleon.table import Table

_KINDS = """
minute hour second : time wait commute drive ride travel duration spend
pound kilogram gram ounce : weigh lift heavy mass
meter centimeter foot inch mile kilometer yard tall long high : high long tall distance jump throw deep wide
degree c f reading : temperature
year old : age
point score : score rate rating quiz test exam game contest contestant competition
done : number
"""
_SPEAKING = tuple(
    (stem_set(line.split(" : ")[0]), stem_set(line.split(" : ")[1])) for line in _KINDS.strip().splitlines()
)
_SIDES = stem_set("high long tall deep wide distance")
_AREAS = stem_set("area measure size large")
_COMPARING = word_set("more less fewer most least fewest greatest highest lowest")
_ENDS = word_set(
    """
    is are was were be do does did have has had can could will would in on at from to of for by with between
    than and or who that which there not per a an the
    """
)
GROUPS = stem_set("boy girl man woman adult senior junior teenager")
_DOING = word_set("did does do has have had was is can")
_MOTIONS = stem_set("run walk cycle ride drive swim hike jog fly sail row bike travel")
_DISTANCES = stem_set("kilometers miles meters distance km")
_GIVEN = word_set("give gives gave given send sends sent pay pays paid donate donates donated")
_RATES = word_set("capita person head inhabitant cwt pound kilogram ton acre hectare")


def naming_places(
    words: Sequence[Word], asked: Sequence[int], story: frozenset[str], table: Table
) -> frozenset[int]:
    """The asked words that say what unnamed numbers are; none where the table itself says it.

    The numbers of a stem-and-leaf plot are of one kind, which the story tells ("weighed"), so that
    the units of that kind go without saying ("50 pounds"). Numbers under years or months, in a table
    without a title, are what the question calls them: "how many Nobel Prize winners", "per capita".
    `story` are the stems of all that is told beside the question.
    """
    if stem_and_leaf(table) is not None:
        return _units(words, asked, story) | _owners(words, asked, story)
    found = _doer(words, asked, table) | _moving(words, asked, story, table)
    if not table.caption.strip() and _only_periods(table):
        found |= _noun_phrase(words, asked) | _rates(words, asked)
        found |= _parcels(words, asked) | _taking(words, asked)
    return found


def _only_periods(table: Table) -> bool:
    columns = measures(table)
    return len(columns) == len(table.header) - 1 and all(is_period_name(column.name) for column in columns)


def _units(words: Sequence[Word], asked: Sequence[int], story: frozenset[str]) -> frozenset[int]:
    """The words of the kind of quantity that the story, or the verb of the question, tells of."""
    told = story | {words[i].stem for i in asked}
    found: set[int] = set()
    for speaking, telling in _SPEAKING:
        if (telling - speaking) & told or telling & story:
            found |= {i for i in asked if words[i].stem in speaking}
    squares = {i for i in asked if words[i].text.lower() == "square"}
    if squares and story & _AREAS and not story & _SIDES:
        return frozenset(found | squares | {i + 1 for i in squares})
    return frozenset(found)


def _owners(words: Sequence[Word], asked: Sequence[int], story: frozenset[str]) -> frozenset[int]:
    """ "Countries" in "how many countries have at least 10 athletes", where athletes were counted."""
    for i in asked[:-6]:
        opening = [words[j].text.lower() for j in (i, i + 1, i + 3)]
        if opening[:2] == ["how", "many"] and opening[2] in {"have", "has", "had"}:
            counted = [words[j + 1].stem for j in asked[:-1] if j > i and words[j].number is not None]
            if counted and set(counted) <= story and words[i + 2].stem not in GROUPS:
                return frozenset({i + 2})
    return frozenset()


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


def _is_noun(word: Word) -> bool:
    text = word.text.lower()
    return word.kind == "word" and text not in _ENDS and not text.endswith("ed")


def _rates(words: Sequence[Word], asked: Sequence[int]) -> frozenset[int]:
    """ "Per capita", "per square mile"."""
    found: set[int] = set()
    for place in asked[:-1]:
        if words[place].text.lower() != "per":
            continue
        length = 2 if words[place + 1].text.lower() == "square" else 1
        if length == 2 or words[place + 1].text.lower() in _RATES:
            found |= set(range(place, place + length + 1))
    return frozenset(found)


def _doer(words: Sequence[Word], asked: Sequence[int], table: Table) -> frozenset[int]:
    """ "Lena" in "did Lena run", over a table without a title that names nobody: all of it is hers."""
    if table.caption.strip() or any(column.kind == "text" for column in table.columns):
        return frozenset()
    after = [i + 1 for i in asked[:-2] if words[i].text.lower() in _DOING]
    names = [i for i in asked if words[i].is_name and i != asked[0]]
    others = [i for i, word in enumerate(words) if i not in set(asked) and word.is_name]
    return frozenset(names) if len(names) == 1 and names[0] in after and not others else frozenset()


def _moving(
    words: Sequence[Word], asked: Sequence[int], story: frozenset[str], table: Table
) -> frozenset[int]:
    """ "Run" and "cycle", over a distance of which nothing else tells how it was covered."""
    verbs = frozenset(i for i in asked if words[i].stem in _MOTIONS)
    numbers = measures(table)
    if len(verbs) != 1 or len(numbers) != 1 or not set(stems(numbers[0].name)) & _DISTANCES:
        return frozenset()
    texts = [cell for column in table.columns if column.kind == "text" for cell in column.cells]
    told = story.union(*map(stems, (*table.header, *texts)))
    return frozenset() if told & _MOTIONS else verbs


def _parcels(words: Sequence[Word], asked: Sequence[int]) -> frozenset[int]:
    """ "Container" in "a container of melons": what a price is for."""
    return frozenset(
        i
        for i in asked[1:-1]
        if (words[i - 1].text.lower(), words[i + 1].text.lower()) == ("a", "of") and _is_noun(words[i])
    )


def _taking(words: Sequence[Word], asked: Sequence[int]) -> frozenset[int]:
    """ "Received", where the story tells of what was given or sent to them."""
    texts = [word.text.lower() for word in words]
    told = [i for i, text in enumerate(texts) if text in _GIVEN and i not in set(asked)]
    if not any("to" in texts[i : i + 7] for i in told):
        return frozenset()
    return frozenset(i for i in asked if texts[i] in {"receive", "received", "receives"})


def spans_rows(words: Sequence[Word], places: Sequence[int], table: Table) -> frozenset[int]:
    """The numbers of a story that only say which rows there are.

    These are the number of the rows ("five nearby towns") and both ends of the numbers in a column
    ("cards numbered 1 to 6").
    """
    numbers = [i for i in places if words[i].kind == "number" and words[i].number is not None]
    found = {i for i in numbers if words[i].number == len(table.rows) and _counts_things(words, i)}
    columns = [
        [value.number for value in column.values if value.number is not None] for column in table.columns
    ]
    ends = {(min(column), max(column)) for column in columns if len(column) == len(table.rows) > 1}
    for low, high in pairwise(numbers):
        joined = high - low == 2 and words[low + 1].text.lower() in {"to", "through", "and"}
        if joined and (words[low].number, words[high].number) in ends:
            found |= {low, high}
    return frozenset(found)


def _counts_things(words: Sequence[Word], place: int) -> bool:
    """Whether a plural follows closely: "4 nearby towns"."""
    after = [word.text.lower() for word in words[place + 1 : place + 4]]
    return any(re.fullmatch(r"[a-z]+[^s]s", text) for text in after)

"""Units and kinds of quantities: which words go without saying for the numbers of a stem-and-leaf plot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from chameleon.modules.offline.grammar.words import Word, stem_set

# What may be said of numbers, what tells that they are of this kind, and what tells against it.
_KINDS = """
minute hour second : time wait commute duration spend : distance far mile kilometer
pound kilogram gram ounce : weigh lift heavy mass : age
meter centimeter foot inch mile kilometer yard tall long high : high long tall distance jump throw wide : time
degree c f reading : temperature : age
year old : age : weigh
point score : score rate rating quiz test exam game contest contestant competition : time
done : number : time
"""
_SPEAKING = tuple(tuple(stem_set(part) for part in line.split(" : ")) for line in _KINDS.strip().splitlines())
_LENGTHS = stem_set("meter centimeter foot inch mile kilometer yard")
_SIDES = stem_set("high long tall deep wide distance")
_AREAS = stem_set("area measure size large")
GROUPS = stem_set("boy girl man woman adult senior junior teenager")
"""Nouns that divide those who were counted, so that they may not stand for all of them."""


def plot_places(
    words: Sequence[Word], asked: Sequence[int], told: Sequence[tuple[str, ...]]
) -> frozenset[int]:
    """The asked words that only say what the numbers of a plot are: "50 pounds", where a story weighs dogs.

    `told` are the stems of the caption and of each sentence of the story.
    """
    story = frozenset(word for text in told for word in text)
    owners = _owners(words, asked, told) | _per_owner(words, asked, told)
    return _units(words, asked, story) | owners


def _units(words: Sequence[Word], asked: Sequence[int], story: frozenset[str]) -> frozenset[int]:
    """The words of the kind of quantity that the story, or the verb of the question, tells of."""
    said = story | {words[i].stem for i in asked}
    found: set[int] = set()
    for speaking, telling, against in _SPEAKING:
        if ((telling - speaking) & said or telling & story) and not against & story:
            found |= {i for i in asked if words[i].stem in speaking}
    if story & _AREAS and not story & _SIDES:
        found |= {place for i in asked for place in square_unit(words, i)}
    return frozenset(found)


def _per_owner(
    words: Sequence[Word], asked: Sequence[int], told: Sequence[tuple[str, ...]]
) -> frozenset[int]:
    """ "Per tank", where the story has the number of fish in each tank: one number of the plot."""
    each = {pair[1] for text in told for pair in pairwise(text) if pair[0] in {"each", "per"}}
    found = {i for i in asked[:-1] if words[i].text.lower() == "per" and words[i + 1].stem in each}
    return frozenset(found | {i + 1 for i in found})


def square_unit(words: Sequence[Word], place: int) -> frozenset[int]:
    """The places of "square mile", where it starts there."""
    pair = words[place : place + 2]
    is_unit = len(pair) == 2 and pair[0].text.lower() == "square" and pair[1].stem in _LENGTHS
    return frozenset({place, place + 1}) if is_unit else frozenset()


def _owners(words: Sequence[Word], asked: Sequence[int], told: Sequence[tuple[str, ...]]) -> frozenset[int]:
    """ "Countries" in "how many countries have at least 10 athletes", told "the number of athletes"."""
    if any({"each", "every", "per"} & set(text) for text in told):
        return frozenset()  # told "fish in each tank", other owners than tanks are not meant
    for i in asked[:-6]:
        opening = [words[j].text.lower() for j in (i, i + 1, i + 3)]
        if opening[:2] == ["how", "many"] and opening[2] in {"have", "has", "had"}:
            counted = {words[j + 1].stem for j in asked[:-1] if j > i and words[j].number is not None}
            if counted and counted <= numbers_of(told) and words[i + 2].stem not in GROUPS:
                return frozenset({i + 2})
    return frozenset()


def numbers_of(told: Sequence[tuple[str, ...]]) -> frozenset[str]:
    """What a caption or a story gives the number of: the stem of "birds" in "the number of birds"."""
    return frozenset(
        text[i + 2] for text in told for i in range(len(text) - 2) if text[i : i + 2] == ("number", "of")
    )

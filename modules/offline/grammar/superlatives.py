"""Superlatives of a question: which end is asked for, the how manieth, with or without sign."""

from __future__ import annotations

from dataclasses import dataclass

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import ORDINALS, word_set
from chameleon.modules.offline.grammar.words import stem_set, stems

_HIGH = word_set(
    """
    most highest largest biggest greatest maximum max oldest tallest longest heaviest priciest hottest
    warmest farthest furthest richest deepest widest strongest
    """
)
_LOW = word_set(
    """
    fewest least lowest smallest minimum min youngest shortest lightest cheapest coldest coolest
    closest nearest poorest weakest
    """
)
_BEST = {"best": True, "worst": False}
_FASTEST = {"fastest": True, "quickest": True, "slowest": False}


@dataclass(frozen=True)
class Superlative:
    """Which end is asked for, the how manieth from it, and whether signs are left aside."""

    is_high: bool
    places: frozenset[int]
    word: str
    rank: int = 1
    absolute: bool = False

    @property
    def said(self) -> str:
        """ "second highest"."""
        rank = {1: "", 2: "second ", 3: "third "}.get(self.rank, f"{self.rank}th ")
        return f"{rank}{'highest' if self.is_high else 'lowest'}"


def find_superlative(frame: Frame) -> Superlative | None:
    """The one superlative of the question; none where there are several."""
    found = [
        (i, text)
        for i, text in frame.texts.items()
        if (text in _HIGH or text in _LOW or text in _FASTEST or text in _BEST)
        and frame.texts.get(i - 1) not in {"at"}
    ]
    if len(found) != 1:
        return _comparative(frame) if not found else None
    place, text = found[0]
    places = {place}
    is_high = text in _HIGH
    if text in {"most", "least"}:
        following = frame.texts.get(place + 1, "")
        if following in _LESS:
            is_high = not is_high
            places.add(place + 1)
    rank = ORDINALS.get(frame.texts.get(place - 1, ""), 1)
    if frame.texts.get(place - 1, "") in ORDINALS:
        places.add(place - 1)
    if frame.texts.get(place + 1, "") in {"single", "individual"}:
        places.add(place + 1)
    absolute, cues = _without_sign(frame)
    return Superlative(is_high, frozenset(places) | cues, text, rank, absolute)


_LESS = frozenset({"cheap", "inexpensive"})


_PAIRWISE = {
    "more": True,
    "greater": True,
    "less": False,
    "higher": True,
    "lower": False,
    "further": True,
    "farther": True,
    "closer": False,
}


def _comparative(frame: Frame) -> Superlative | None:
    """ "Which month changed more?" over two rows asks for the larger of them."""
    found = [(i, text) for i, text in frame.texts.items() if text in _PAIRWISE]
    pairs = {len(set(frame.table.columns[i].cells)) for m in frame.text_mentions() for i in m.columns}
    is_pair = len(frame.table.rows) == 2 or (pairs == {2} and bool(frame.places_of("which", "what")))
    if len(found) != 1 or not is_pair or frame.has("than") or frame.cells or frame.has("or"):
        return None
    place, text = found[0]
    absolute, cues = _without_sign(frame)
    return Superlative(_PAIRWISE[text], frozenset({place}) | cues, text, 1, absolute)


def _without_sign(frame: Frame) -> tuple[bool, frozenset[int]]:
    """Whether size counts and direction does not: "changed the most", "closest to zero"."""
    zero = frame.places_of("zero") | frame.phrase("sea", "level")
    if zero:
        return True, zero
    change = frozenset(i for i in frame.problem.asked if frame.problem.words[i].stem in _CHANGE)
    named = any(_CHANGE & set(stems(column.name)) for column in frame.measures)
    signed = any(
        value.number is not None and value.number < 0 for column in frame.measures for value in column.values
    )
    return (
        (True, change) if change and signed and named and not frame.has("increase") else (False, frozenset())
    )


_CHANGE = stem_set("change affect")


def directed(frame: Frame, found: Superlative, columns: tuple[int, ...]) -> Superlative:
    """Turns "fastest" into the smallest time or the highest speed."""
    names = {word for index in columns for word in stems(frame.table.header[index])}
    if found.word in _BEST:
        if not names & _MARKS:
            raise Declined(
                f"it is not clear whether a high or a low {frame.table.header[columns[0]]} is best"
            )
        return Superlative(_BEST[found.word], found.places, found.word, found.rank)
    if found.word not in _FASTEST:
        return found
    takes_time = bool(names & _DURATIONS)
    if not takes_time and not names & _SPEEDS:
        raise Declined(f"{frame.table.header[columns[0]]} is neither a time nor a speed")
    is_high = _FASTEST[found.word] != takes_time
    return Superlative(is_high, found.places, found.word, found.rank)


_MARKS = stem_set(
    """
    mark marks score grade rating points satisfaction difference review stars math maths english science
    history geography physics chemistry biology art
    """
)
_DURATIONS = stem_set("time minutes seconds duration hours minute second")
_SPEEDS = stem_set("speed mph kph pace velocity")

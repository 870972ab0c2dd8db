"""Which way a word orders a column: "best" by rank is the smallest, "oldest" by date the earliest."""

from __future__ import annotations

from chameleon.modules.offline.grammar.lexicon import word_set
from chameleon.modules.offline.grammar.linking import ideas, roots
from chameleon.modules.offline.grammar.words import Word, stem_set
from chameleon.modules.offline.lexical.english import MORE, MOST
from chameleon.modules.offline.lexical.fields import Field, is_of_years
from chameleon.modules.offline.lexical.reading import Sign
from chameleon.modules.offline.lexical.words import tokens_of

_RANKS = stem_set("rank position place pos finish ranking pick seed standing round")
_RANK = stem_set("rank position")
_SPANS = stem_set("time")
_SPEEDS = word_set("fastest quickest slowest faster quicker slower")
_NUMBERING = stem_set("game week no number match episode round season year race series event date")
PARTICULAR = word_set(
    """longest shortest tallest oldest youngest heaviest lightest fastest quickest slowest deepest widest
    richest longer shorter taller older younger heavier lighter faster quicker slower deeper wider"""
)


def fits_word(word: str, field: Field) -> bool:
    """Whether a column can be ordered by such a word: "tallest" by height alone, "most" by no numbering."""
    if word in PARTICULAR:
        pointing = ideas(field.name) | set(field.key)
        own = roots(Word(word, "word")) & pointing
        return bool(own) or (word in _AGES and (field.datatype == "date" or is_of_years(field)))
    if word in ("most", "least", "more", "less", "fewest", "fewer", "largest", "biggest", "greatest"):
        return not (set(field.key) <= _NUMBERING and field.pure) and not set(field.key) & _RANK
    return True


def is_of_places(field: Field) -> bool:
    """Whether a column numbers its rows or ranks them, as "3rd" does."""
    ordinal = any(token.place is not None for cell in field.cells for token in tokens_of(cell))
    return ordinal or bool(set(field.key) & (_RANKS | _NUMBERING))


_AGES = word_set("oldest youngest older younger")


def descends(text: str, field: Field) -> bool:
    """Whether the largest comes first; the best rank and the fastest time are the smallest."""
    largest = text in MOST
    if text in ("oldest", "latest", "newest", "last", "earliest", "first", "youngest"):
        if _is_timely(field):
            return text in ("latest", "newest", "last", "youngest")
        return text in ("oldest", "latest", "newest", "last")
    if text in _SPEEDS:
        return _is_quick(text) == _tells_speed(field)
    if set(field.key) & _RANKS and text not in _SIZES:
        return not largest
    if set(field.key) & _SPANS and text in ("best", "worst"):
        return not largest
    return largest


_SIZES = word_set("most largest greatest least smallest fewest maximum")


def sign_of(word: str, field: Field) -> Sign:
    """Which way the word compares; the higher rank and the better time are the smaller."""
    is_more = word in MORE
    if word in ("older", "younger") and _is_timely(field):
        is_more = not is_more
    if word in _SPEEDS:
        is_more = _is_quick(word) == _tells_speed(field)
    if set(field.key) & _RANKS and word in ("higher", "better", "lower", "worse", "above", "below"):
        is_more = not is_more
    if set(field.key) & _SPANS and word in ("better", "worse"):
        is_more = not is_more
    return ">" if is_more else "<"


def _is_quick(word: str) -> bool:
    return not word.startswith("slow")


def _tells_speed(field: Field) -> bool:
    """Whether more is faster, as in a column of speeds; in one of times less is."""
    return bool(set(field.key) & stem_set("speed mph kmh km knots velocity"))


def _is_timely(field: Field) -> bool:
    return field.datatype == "date" or bool({"year", "season", "date"} & set(field.key)) or is_of_years(field)

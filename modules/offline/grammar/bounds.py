"""Bounds on a number as questions put them: "at least 20 but fewer than 80", "5 or more", "between"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from chameleon.modules.offline.grammar.lexicon import TIMES_WORDS, word_set
from chameleon.modules.offline.grammar.programs import literal
from chameleon.modules.offline.grammar.words import Word

_BEFORE = {
    ">=": "at least|no fewer than|no less than|not less than|not fewer than|a minimum of|not under|not below",
    "<=": "at most|no more than|not more than|up to|a maximum of|not over|not above",
    ">": "more than|greater than|over|above|exceeding|exceeds|exceeded|exceed|in excess of",
    "<": "less than|fewer than|under|below",
    "==": "exactly|equal to|equals|precisely",
}
_AFTER = {
    ">=": "or more|or greater|or higher|or above|or over|or larger|or older|or longer|or better|"
    "and above|and over",
    "<=": "or less|or fewer|or lower|or below|or under|or smaller|or younger|or shorter|and below|and under",
}
_YEARS = {"after": ">", "before": "<", "since": ">=", "until": "<="}
_DOWNWARD = word_set(
    """
    lower smaller younger shorter cheaper lighter slower colder closer earlier worse
    """
)
_SAID = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than", "==": "exactly"}


def _phrases(table: dict[str, str]) -> list[tuple[tuple[str, ...], str]]:
    pairs = [(tuple(text.split()), sign) for sign, texts in table.items() for text in texts.split("|")]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


_BEFORE_PHRASES, _AFTER_PHRASES = _phrases(_BEFORE), _phrases(_AFTER)


@dataclass(frozen=True)
class Bound:
    """A condition on a number; `upper` is set for "between", both ends included.

    `places` are the positions of all its words, `at` that of the (first) number.
    """

    sign: str
    number: Fraction
    places: tuple[int, ...]
    at: int
    upper: Fraction | None = None

    @property
    def is_year(self) -> bool:
        """Whether it speaks of a year: "after 2015", "between 2010 and 2015"."""
        return all(n.denominator == 1 and 1800 <= n <= 2200 for n in (self.number, self.upper or self.number))

    def accepts(self, value: Fraction) -> bool:
        if self.upper is not None:
            return self.number <= value <= self.upper
        return {
            ">=": value >= self.number,
            "<=": value <= self.number,
            ">": value > self.number,
            "<": value < self.number,
            "==": value == self.number,
        }[self.sign]

    def code(self, name: str) -> str:
        if self.upper is not None:
            return f"{literal(self.number)} <= {name} <= {literal(self.upper)}"
        return f"{name} {self.sign} {literal(self.number)}"

    def say(self) -> str:
        if self.upper is not None:
            return f"between {show(self.number)} and {show(self.upper)}"
        return f"{_SAID[self.sign]} {show(self.number)}"


def show(number: Fraction) -> str:
    """A number for people: 1250.5, 3/7."""
    if number.denominator == 1:
        return str(number.numerator)
    decimal = float(number)
    return f"{decimal:g}" if Fraction(str(decimal)) == number else str(number)


def find_bounds(words: Sequence[Word], places: Sequence[int]) -> tuple[Bound, ...]:
    """Every bound that the words at these places state."""
    bounds: list[Bound] = []
    taken: set[int] = set()
    for order, place in enumerate(places):
        if place in taken or (number := _number(words[place])) is None:
            continue
        bound = _two_ended(words, places, order, number) or _one_ended(words, places, order, number)
        if bound is not None and not taken.intersection(bound.places):
            bounds.append(bound)
            taken.update(bound.places)
    return tuple(bounds)


def _number(word: Word) -> Fraction | None:
    if word.kind == "word" and word.text.lower() in TIMES_WORDS:
        return Fraction(TIMES_WORDS[word.text.lower()])
    return word.number


def _spelled(words: Sequence[Word], places: Sequence[int], order: int, phrase: tuple[str, ...]) -> bool:
    part = places[order : order + len(phrase)] if order >= 0 else ()
    return tuple(words[i].text.lower() for i in part) == phrase


def _two_ended(words: Sequence[Word], places: Sequence[int], order: int, low: Fraction) -> Bound | None:
    for opening, joint in (("between", "and"), ("from", "to")):
        if not _spelled(words, places, order - 1, (opening,)):
            continue
        for reach in (2, 3):
            if order + reach < len(places) and _spelled(words, places, order + reach - 1, (joint,)):
                high = _number(words[places[order + reach]])
                if high is not None and high >= low:
                    span = tuple(places[order - 1 : order + reach + 1])
                    return Bound("between", low, span, places[order], high)
    return None


def _one_ended(words: Sequence[Word], places: Sequence[int], order: int, number: Fraction) -> Bound | None:
    for phrase, sign in _AFTER_PHRASES:
        for gap in (1, 2):  # "5 or more", "5 points or more"
            if _spelled(words, places, order + gap, phrase):
                skipped = places[order + 1 : order + gap]
                span = (places[order], *places[order + gap : order + gap + len(phrase)])
                if all(words[i].kind == "word" for i in skipped):
                    return Bound(sign, number, span, places[order])
    for phrase, sign in _BEFORE_PHRASES:
        if _spelled(words, places, order - len(phrase), phrase):
            return Bound(sign, number, tuple(places[order - len(phrase) : order + 1]), places[order])
    before = words[places[order - 1]].text.lower() if order else ""
    if before in _YEARS and words[places[order]].text.isdigit() and len(words[places[order]].text) == 4:
        return Bound(_YEARS[before], number, (places[order - 1], places[order]), places[order])
    if order >= 2 and _spelled(words, places, order - 1, ("than",)):
        adjective = words[places[order - 2]].text.lower()
        if adjective.endswith("er") or adjective == "worse":
            sign = "<" if adjective in _DOWNWARD else ">"
            return Bound(sign, number, tuple(places[order - 2 : order + 1]), places[order])
    return None

"""What counts as right in questions of your own: texts, numbers, dates and lists, by their value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from chameleon.benchmarks.scorers.predictions import text_of, texts_of
from chameleon.benchmarks.scorers.text_overlap import OverlapRule
from chameleon.evaluation.benchmark import Problem, Scorer
from chameleon.table.amounts import Amount, plain_signs, read_amount
from chameleon.table.dates import read_date

_AROUND = " \t\n.,;:!?\"'“”‘’`*()[]"
_BETWEEN = re.compile(r"[;\n|]|,(?!\d{3}\b)|\band\b")  # items of a list that is written as one text


class ValueRule(Scorer):
    """Equal by value: texts without case and outer punctuation, numbers, dates, lists as sets."""

    def right(self, prediction: Any, problem: Problem) -> bool:
        return prediction is not None and same_answer(
            prediction, problem.gold, problem.detail.get("tolerance", "")
        )


class TextRule(OverlapRule):
    """BLEU and ROUGE of the answer with the gold one; a list is one text with commas."""

    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        return super().grades(prediction, replace(problem, gold=text_of(problem.gold)))


def same_answer(answer: Any, gold: Any, tolerance: str = "") -> bool:
    """Tell whether an answer is the gold one; lists in any order, and one written as a text too.

    A number may differ by the `tolerance`, "0.5" or "1%". Without one it is compared at the decimal places
    that the gold number has: 67166.6667 is 67,166.67. A whole number has none, so 12.4 is not 12.
    """
    wanted, said = _different(texts_of(gold)), _different(texts_of(answer))
    if len(wanted) > 1 and len(said) == 1:
        said = _different([each for each in _BETWEEN.split(said[0]) if each.strip()])
    if len(wanted) != len(said):
        return False
    left = list(said)
    for each in wanted:
        found = next((place for place, item in enumerate(left) if _same_value(item, each, tolerance)), None)
        if found is None:
            return False
        del left[found]
    return True


def _same_value(said: str, gold: str, tolerance: str = "") -> bool:
    """Tell whether two texts are the same value: an amount, a date, or else a text."""
    wanted, found = read_amount(gold), read_amount(said)
    if wanted is not None and found is not None:
        return _same_amount(found, wanted, _allowed(gold, wanted, tolerance))
    if wanted is None and (day := read_date(gold)) is not None:
        return read_date(said) == day
    return _bare(said) == _bare(gold)


def _same_amount(found: Amount, wanted: Amount, allowed: Fraction) -> bool:
    if found.unit and wanted.unit:
        if found.base != wanted.base:
            return False
        return abs(Fraction(found.of_base) - Fraction(wanted.of_base)) <= allowed * wanted.factor
    return abs(Fraction(found.number) - Fraction(wanted.number)) <= allowed


def _allowed(gold: str, wanted: Amount, tolerance: str) -> Fraction:
    """Return how far a number may be from the gold one, in its unit."""
    if (given := read_amount(tolerance)) is not None:
        share = abs(Fraction(wanted.number)) / 100 if given.unit == "%" else Fraction(1)
        return abs(Fraction(given.number)) * share
    places = re.search(r"\.(\d+)", plain_signs(gold))
    return Fraction(1, 2 * 10 ** len(places[1])) if places else Fraction(0)


def _different(texts: Sequence[str]) -> list[str]:
    """Return the texts without repetitions, in their order."""
    return list({_bare(text): text for text in texts}.values())


def _bare(text: str) -> str:
    """Return a text as it is compared; one of punctuation alone stays as it is."""
    folded = " ".join(plain_signs(text).casefold().split())
    return folded.strip(_AROUND) or folded

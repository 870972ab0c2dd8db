"""Score answers to questions about a report by their number only.

RAG-CoT reports an "answer accuracy" on FinQA that ignores "units, prefix, suffix, precision digits and
rounding". No code was published; this rule implements that sentence.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Any

from chameleon.benchmarks.scorers.predictions import NO, YES, verdict_of
from chameleon.evaluation.benchmark import Problem, Scorer
from chameleon.modules.reports.report_answer import asks_percent

_NUMBER = re.compile(
    r"(?P<sign>[-−–]\s?)?[$€£¥]?\s?(?P<sign2>[-−])?(?P<digits>\d[\d,]*(?:\.\d+)?|\.\d+)(?![\d])"
)
_BRACKETED = re.compile(r"\(\s*[$€£¥]?\s*(\d[\d,]*(?:\.\d+)?)\s*\)")  # "(1,234)" is negative
_ANSWER_CUE = re.compile(r".*\b(?:final )?answer\s*(?:is\s*:?|:|=)", re.IGNORECASE | re.DOTALL)
_WORD = re.compile(r"\b(yes|no|true|false)\b", re.IGNORECASE)
_PERCENT = re.compile(r"percent|%", re.IGNORECASE)
_MAX_DIGITS = 18  # digits: longer numbers are not compared
_EXACT = Context(prec=400)  # enough for a float's decimal places, whatever context this process uses


class AnswerRule(Scorer):
    """RAG-CoT's answer accuracy, our implementation: only the number, to the coarser one's places."""

    def from_output(self, text: str, problem: Problem) -> str:
        """Return the text after the last "answer is" or "answer:", or all of it."""
        cue = _ANSWER_CUE.match(text)
        return text[cue.end() if cue else 0 :].strip()

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the prediction's first number is the gold value, or the annotators' answer.

        - The number with more decimal places is rounded or cut to those of the other, if that leaves two
          significant digits (one if it says "%"): 0.56, 0.5619 and 56% are right for
          0.56197, and 4% for 0.03621; 0.57, 0.6 and 1 are not.
        - Units, currencies and scales ("million") are ignored. If the question asks for percent (one
          about "5% of the units" does not), or the answer says "%" or "percent", a share and the same
          value in percent are equal.
        - The sign counts; a number in brackets is negative.
        - Yes-or-no questions need that word, or a truth value.
        """
        if prediction is None:
            return False
        if isinstance(problem.gold, str):
            return _word(prediction) == problem.gold
        reading = _number(prediction)
        if reading is None:
            return False
        number, is_percent = reading
        digits = 1 if is_percent else 2
        question = str(problem.detail.get("question") or "")
        with localcontext(_EXACT):
            golds = _gold_values(problem, is_percent or asks_percent(question))
            return any(_same(number, gold, digits) for gold in golds)


def _gold_values(problem: Problem, percent: bool) -> Iterator[Decimal]:
    """Yield the gold value and the annotators' answer; for a percentage also 100 times and 1/100 of it."""
    gold = Decimal(repr(float(problem.gold))).normalize(_EXACT)
    yield gold
    if percent:
        yield from (gold.scaleb(2), gold.scaleb(-2))
    answer = problem.detail.get("answer")
    if isinstance(answer, str) and (reading := _number(answer)) is not None:
        yield reading[0]


def _number(value: Any) -> tuple[Decimal, bool] | None:
    """Return the first number of an answer, and whether it is given as a percentage; or None."""
    if isinstance(value, list | tuple):
        return _number(value[0]) if value else None
    if isinstance(value, Mapping):
        return _number(value.get("answer"))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str):
        try:
            number = Decimal(repr(value)).normalize(_EXACT)
        except ValueError:  # Python does not write integers of thousands of digits
            return None
        return (number, False) if number.is_finite() and number.adjusted() < _MAX_DIGITS else None
    text = value.strip()
    negative = _BRACKETED.match(text)
    match = _NUMBER.search(text)
    if match is None or len(match["digits"]) > _MAX_DIGITS:
        return None
    number = Decimal(match["digits"].replace(",", ""))
    # A dash after a letter or digit is not a sign: "2010-2012".
    if negative or match["sign2"] or (match["sign"] and not text[: match.start()].rstrip()[-1:].isalnum()):
        number = -number
    return number, bool(_PERCENT.match(text[match.end() :].lstrip()))


def _same(one: Decimal, other: Decimal, digits: int) -> bool:
    """Return whether numbers are equal after rounding or truncating the finer to the coarser's places."""
    if one == other:
        return True
    fine, coarse = sorted((one, other), key=_exponent)
    last_place = Decimal(1).scaleb(_exponent(coarse))
    minimum = last_place.scaleb(digits - 1)  # the least number with so many digits
    modes = (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN)
    return abs(coarse) >= minimum and any(fine.quantize(last_place, mode) == coarse for mode in modes)


def _exponent(number: Decimal) -> int:
    """Return minus the places after the point."""
    exponent = number.as_tuple().exponent
    return min(exponent, 0) if isinstance(exponent, int) else 0


def _word(value: Any) -> str | None:
    if isinstance(value, bool):
        return YES if value else NO
    match = _WORD.search(value) if isinstance(value, str) else None
    return verdict_of(match[1]) if match else None

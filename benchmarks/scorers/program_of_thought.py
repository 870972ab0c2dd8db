"""How Program of Thoughts scores TabMWP, and reads and compares numbers; Chameleon took over these rules.

Sources: the repositories wenhuchen/Program-of-Thoughts (Chen et al., 2022) and lupantech/chameleon-llm
(Lu et al., 2023).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from chameleon.benchmarks.scorers.predictions import NO, YES
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, ValueScorer

# What comparing or writing a value of any kind may raise; the rules count it as "not equal".
UNFIT = (TypeError, ValueError, ArithmeticError, RecursionError)


class ProgramOfThoughtRule(ValueScorer):
    """Program of Thoughts (Chen et al., 2022): numbers to the places of the coarser, texts exactly."""

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the value as a float where it can be one, else as a text (see `floatify`)."""
        return floatify(value)

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the prediction `agrees` with the gold answer."""
        return agrees(prediction, typed_gold(problem))


def agrees(prediction: Any, gold: Any) -> bool:
    """Return whether a prediction equals a gold number or text; None never does.

    True stands for the answer "yes" and False for "no". Oddity of the metric: a number and a text are never
    equal, and neither are texts that differ in case.
    """
    if prediction is None:
        return False
    if isinstance(prediction, bool):
        prediction = YES if prediction else NO
    if isinstance(prediction, str) or isinstance(gold, str):
        return bool(prediction == gold)
    return same_number(prediction, gold)


def same_number(prediction: Any, gold: Any) -> bool:
    """Return whether two numbers are equal when rounded to the places of the one that has fewer.

    Oddity of the metric: the prediction's places count too, so a coarse 3.0 is right for 3.04. Whatever
    cannot be compared is not equal.
    """
    try:
        places = min(decimal_places(prediction), decimal_places(gold))
        return bool(round(prediction, places) == round(gold, places))
    except UNFIT:
        return False


def decimal_places(value: Any) -> int:
    """Return how many characters follow the last dot when Python writes the number; 5 where there is no dot.

    Oddity of the metric: the default also holds for integers and for what is written as 1e-07.
    """
    _, dot, places = str(value).rpartition(".")
    return len(places) if dot else 5


def floatify(value: Any) -> Any:
    """Convert a value or a stated answer as the metrics do: to a float where it can be one, else a text.

    None and booleans stay; of a list or tuple the first element is taken (None if there is none). Oddity of
    the metric: of a dictionary the first value is taken and not converted.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return next(iter(value.values()), None)
    if isinstance(value, list | tuple):
        if not value:
            return None
        value = value[0]
    for convert in (float, str):  # Python writes no integers of thousands of digits, and no endless nesting
        with suppress(*UNFIT):
            return convert(value)
    return value


def read_number(text: str) -> float:
    """Return the number that an answer states: "3/4", "1,204", "15%" (0.15), "-2.5".

    Raises ValueError or ArithmeticError for anything else. Numerator and denominator must be integers.
    """
    if "/" in text:
        numerator, denominator = text.split("/")[:2]
        return int(numerator) / int(denominator)
    if "," in text:
        return float(text.replace(",", ""))
    if "%" in text:
        return float(text.partition("%")[0]) / 100
    return float(text)


def typed_gold(problem: Problem) -> float | str:
    """Return the gold answer as its type (`problem.detail["ans_type"]`) has it: a number or a text.

    Raises `InputError` for an unknown type, and for a number that cannot be read.
    """
    kind, gold = problem.detail.get("ans_type"), problem.gold
    where = f"problem {problem.id}"
    if kind in ("integer_number", "decimal_number"):
        try:
            return read_number(gold)
        except (ValueError, ArithmeticError):
            raise InputError(f"the answer {gold!r} should be a number ({kind})", where=where) from None
    if isinstance(kind, str) and kind.endswith("_text"):
        return str(gold)
    raise InputError(
        f"the type of the answer, {kind!r}, is unknown",
        where=where,
        hint="Types are integer_number, decimal_number and those that end in _text.",
    )

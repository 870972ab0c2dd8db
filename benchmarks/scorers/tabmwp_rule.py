"""How Program of Thoughts (Chen et al., 2022) and Chameleon (Lu et al., 2023) score TabMWP.

Other benchmarks read and compare numbers by their rules as well.

Sources: the repositories wenhuchen/Program-of-Thoughts and lupantech/chameleon-llm (`utilities.py`,
`run_tabmwp/`), which took over the rules of the first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from chameleon.benchmarks.scorers.predictions import NO, YES
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, Scorer, ValueScorer

_STATED = re.compile(r"The answer is (?P<answer>(?s:.+))[^\n]$")
# What comparing or writing a value of any kind may raise; the rules count it as "not equal".
UNFIT = (TypeError, ValueError, ArithmeticError, RecursionError)


class ProgramOfThoughtRule(ValueScorer):
    """Program of Thoughts (Chen et al., 2022): numbers to the places of the coarser, texts exactly."""

    def from_value(self, value: Any, problem: Problem) -> Any:
        return floatify(value)

    def right(self, prediction: Any, problem: Problem) -> bool:
        return agrees(prediction, typed_gold(problem))


class ChameleonRule(Scorer):
    """Chameleon (Lu et al., 2023): numbers to the places of the coarser, texts as the most similar choice."""

    def from_output(self, text: str, problem: Problem) -> Any:
        """Return what the text says after "The answer is", else all of it; as a float where it can be one."""
        stated = stated_answer(text)
        return floatify(text if stated is None else stated)

    def from_value(self, value: Any, problem: Problem) -> Any:
        return floatify(value)

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Compare texts in any case, all else by `agrees`. Raises `InputError` for unknown choices."""
        gold = typed_gold(problem)
        said = normalise(prediction, known_choices(problem), problem.detail.get("unit"))
        if isinstance(said, str) and isinstance(gold, str):
            return said.strip().lower() == gold.strip().lower()
        return agrees(said, gold)


def stated_answer(text: str) -> str | None:
    """Return what follows the first "The answer is ", without the last character; None without any.

    Oddities of the metric: the last character is dropped whatever it is ("The answer is 18" yields "1"), the
    answer spans lines, and the case of "The" counts.
    """
    found = _STATED.search(text)
    return found["answer"].strip() if found else None


def normalise(prediction: Any, choices: Sequence[str], unit: str | None) -> Any:
    """Return a prediction in the form in which it is compared.

    A float is rounded to three places. Of a text "$" and the unit are taken out; without choices it becomes
    a number if it can. With choices None is the first of them, and a text the one that it is most like.

    Oddities of the metric: a float is never matched with choices, so it is wrong wherever the answer is a
    text; the unit is removed wherever it occurs, inside words too, and only in its own case.
    """
    if isinstance(prediction, float):
        return round(prediction, 3)
    lowered = [choice.lower() for choice in choices]
    if prediction is None:
        return lowered[0] if lowered else None
    if not isinstance(prediction, str):
        return prediction
    text = prediction.replace("$", "")
    text = (text.replace(unit, "") if unit else text).strip().lower()
    if lowered:
        return text if text in lowered else most_similar(text, lowered)
    try:
        return read_number(text)
    except (ValueError, ArithmeticError):
        return text


def known_choices(problem: Problem) -> Sequence[str]:
    """Return the choices of a problem, () for a free answer. Raises `InputError` if they are not known."""
    if "choices" not in problem.detail:
        what = "the choices of this multiple-choice question are not known, and the scoring rule needs them"
        hint = "Score against a file that holds the choices."
        raise InputError(what, where=f"problem {problem.id}", hint=hint)
    return problem.detail["choices"] or ()


def similarity(first: str, second: str) -> float:
    """Return how alike two texts are: 2 when equal, else the share of words in common.

    The share is that of distinct common words in the number of words of the longer text; words are parted
    by single spaces. Two single words are alike only when equal. Case matters. Source: the repositories
    lupantech/PromptPG and lupantech/chameleon-llm; part of their metrics.
    """
    if first == second:
        return 2.0
    if " " not in first and " " not in second:
        return 0.0
    words, others = first.split(" "), second.split(" ")
    return len(set(words) & set(others)) / max(len(words), len(others))


def most_similar(text: str, choices: Sequence[str]) -> str:
    """Return the choice most like the text; of equals, and where none is like it (oddity), the first one."""
    return max(choices, key=lambda choice: similarity(choice, text))


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
        places = min(_decimal_places(prediction), _decimal_places(gold))
        return bool(round(prediction, places) == round(gold, places))
    except UNFIT:
        return False


def _decimal_places(value: Any) -> int:
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
    """Return the number in "3/4" (integers), "1,204", "15%", "-2.5". Raises ValueError, ArithmeticError."""
    if "/" in text:
        numerator, denominator = text.split("/")[:2]
        return int(numerator) / int(denominator)
    if "," in text:
        return float(text.replace(",", ""))
    if "%" in text:
        return float(text.partition("%")[0]) / 100
    return float(text)


def typed_gold(problem: Problem) -> float | str:
    """Return the gold answer as the number or text that its `ans_type` says. Raises `InputError`."""
    kind, gold = problem.detail.get("ans_type"), problem.gold
    where = f"problem {problem.id}"
    if kind in ("integer_number", "decimal_number"):
        try:
            return read_number(gold)
        except (ValueError, ArithmeticError):
            raise InputError(f"the answer {gold!r} should be a number ({kind})", where=where) from None
    if isinstance(kind, str) and kind.endswith("_text"):
        return str(gold)
    hint = "Types are integer_number, decimal_number and those that end in _text."
    raise InputError(f"the type of the answer, {kind!r}, is unknown", where=where, hint=hint)

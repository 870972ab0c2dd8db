"""How Program of Thoughts (Chen et al., 2022) and Chameleon (Lu et al., 2023) score TabMWP.

Other benchmarks also use their rules for reading and comparing numbers. Sources: the repositories
wenhuchen/Program-of-Thoughts and lupantech/chameleon-llm (`utilities.py`, `run_tabmwp/`), which adopted the
rules of the former.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from chameleon.benchmarks.scorers.predictions import NO, YES
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, Scorer, ValueScorer

_STATED_ANSWER = re.compile(r"The answer is (?P<answer>(?s:.+))[^\n]$")
# Errors of comparing or writing arbitrary values; the rules count them as "not equal".
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
        """Return the text after "The answer is", else all of it; as a float if possible."""
        answer = stated_answer(text)
        return floatify(text if answer is None else answer)

    def from_value(self, value: Any, problem: Problem) -> Any:
        return floatify(value)

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Compare texts ignoring case, anything else by `agrees`. Raises `InputError` for unknown choices."""
        gold = typed_gold(problem)
        answer = normalize(prediction, known_choices(problem), problem.detail.get("unit"))
        if isinstance(answer, str) and isinstance(gold, str):
            return answer.strip().lower() == gold.strip().lower()
        return agrees(answer, gold)


def stated_answer(text: str) -> str | None:
    """Return the text after the first "The answer is ", without the last character, or None.

    Oddities of the metric: the last character is always dropped ("The answer is 18" yields "1"), the answer
    spans lines, and the case of "The" counts.
    """
    match = _STATED_ANSWER.search(text)
    return match["answer"].strip() if match else None


def normalize(prediction: Any, choices: Sequence[str], unit: str | None) -> Any:
    """Return a prediction in the form in which it is compared.

    A float is rounded to three places. "$" and the unit are removed from a text; without choices it becomes a
    number if possible. With choices None becomes the first of them, and a text the most similar one.

    Oddities of the metric: a float is never matched with choices, so it is wrong wherever the answer is a
    text; the unit is removed wherever it occurs, even inside words, but only in the same case.
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
    """Return the choices of a problem, () for a free answer. Raises `InputError` if they are unknown."""
    if "choices" not in problem.detail:
        what = "the scoring rule needs the choices of this question, and they are missing"
        hint = "Score against a file that holds the choices."
        raise InputError(what, where=f"problem {problem.id}", hint=hint)
    return problem.detail["choices"] or ()


def similarity(first: str, second: str) -> float:
    """Return how alike two texts are: 2 when equal, else the share of words in common.

    The share is the number of distinct common words divided by the number of words of the longer text, split
    at single spaces. Two single words are alike only when equal. Case matters. Source: the repositories
    lupantech/PromptPG and lupantech/chameleon-llm; part of their metrics.
    """
    if first == second:
        return 2.0
    if " " not in first and " " not in second:
        return 0.0
    words, second_words = first.split(" "), second.split(" ")
    return len(set(words) & set(second_words)) / max(len(words), len(second_words))


def most_similar(text: str, choices: Sequence[str]) -> str:
    """Return the choice most like the text; the first on ties, and if none is like it (oddity)."""
    return max(choices, key=lambda choice: similarity(choice, text))


def agrees(prediction: Any, gold: Any) -> bool:
    """Return whether a prediction equals a gold number or text; None never does.

    True means the answer "yes" and False "no". Oddity of the metric: a number and a text are never equal, nor
    are texts that differ in case.
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

    Oddity of the metric: the prediction's places count too, so a coarse 3.0 is right for 3.04. Values that
    cannot be compared are not equal.
    """
    try:
        places = min(_decimal_places(prediction), _decimal_places(gold))
        return bool(round(prediction, places) == round(gold, places))
    except UNFIT:
        return False


def _decimal_places(value: Any) -> int:
    """Return the number of characters after the last dot of the number as Python writes it, or 5.

    Oddity of the metric: the default also holds for integers and for numbers written as 1e-07.
    """
    _, dot, places = str(value).rpartition(".")
    return len(places) if dot else 5


def floatify(value: Any) -> Any:
    """Convert a value or a stated answer as the metrics do: to a float if possible, else a text.

    None and booleans are kept; a list or tuple becomes its first element, or None. Oddity of the metric: a
    dictionary becomes its first value, unconverted.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return next(iter(value.values()), None)
    if isinstance(value, list | tuple):
        if not value:
            return None
        value = value[0]
    for convert in (float, str):  # Python does not write huge integers or endless nesting
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
    return float(text.partition("%")[0]) / 100 if "%" in text else float(text)


def typed_gold(problem: Problem) -> float | str:
    """Return the gold answer as the number or text given by its `ans_type`. Raises `InputError`."""
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

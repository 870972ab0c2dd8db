"""How Chameleon scores TabMWP (Lu et al., 2023).

Source: the repository lupantech/chameleon-llm, `utilities.py` and `run_tabmwp/`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from chameleon.benchmarks.scorers.program_of_thought import agrees, floatify, read_number, typed_gold
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem, Scorer

_STATED = re.compile(r"The answer is (?P<answer>(?s:.+))[^\n]$")


class ChameleonRule(Scorer):
    """Chameleon (Lu et al., 2023): numbers to the places of the coarser, texts as the most similar choice."""

    def from_output(self, text: str, problem: Problem) -> Any:
        """Return what the text says after "The answer is", else all of it; as a float where it can be one."""
        stated = stated_answer(text)
        return floatify(text if stated is None else stated)

    def from_value(self, value: Any, problem: Problem) -> Any:
        """Return the value as a float where it can be one, else as a text (see `floatify`)."""
        return floatify(value)

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the normalised prediction equals the gold answer.

        Texts are equal in any case, all else where it `agrees`. Raises `InputError` where the choices are not
        known.
        """
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
    """Return the choices that the problem offers; () where the answer is free.

    They stand in `problem.detail["choices"]`. Without that key it is not known whether there are any, and
    `InputError` is raised.
    """
    if "choices" not in problem.detail:
        raise InputError(
            "the choices of this multiple-choice question are not known, and the scoring rule needs them",
            where=f"problem {problem.id}",
            hint="Score against a file that holds the choices.",
        )
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
    """Return the choice that is most like the text, the first of those equally alike.

    Oddity of the metric: a text that has nothing in common with any choice becomes the first one.
    """
    return max(choices, key=lambda choice: similarity(choice, text))

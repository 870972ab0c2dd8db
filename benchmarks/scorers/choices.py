"""The choices of a problem, and which of them a text is most like (Chameleon and PromptPG, by Lu et al.)."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem


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

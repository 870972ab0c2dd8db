"""Conversations: questions that are asked one after the other, each told what was answered before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chameleon.evaluation.benchmark import Problem

HISTORY = "history"
"""The key of a problem's input: a list of {"question", "answer"}, as texts, the first question first."""
Turn = dict[str, str]

_SEVERAL = " | "


def in_turn(problems: Iterable[Problem]) -> Iterator[tuple[Problem, ...]]:
    """What can run side by side: problems alone, and conversations, each in the order of its positions.

    Problems that stand alone come first, each as it is met; conversations follow in the order of the data.
    """
    conversations: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.sequence:
            conversations.setdefault(problem.sequence, []).append(problem)
        else:
            yield (problem,)
    for questions in conversations.values():
        yield tuple(sorted(questions, key=lambda question: question.position))


def turn(problem: Problem, answer: Any) -> Turn:
    """A question with its answer as a text: several with bars, and an empty one where there is none."""
    listed = answer if isinstance(answer, list | tuple) else [] if answer is None else [answer]
    return {"question": str(problem.input.get("question", "")), "answer": _SEVERAL.join(map(str, listed))}


def with_history(problem: Problem, turns: Sequence[Turn]) -> Problem:
    """The problem with the earlier turns of its conversation in its input, also where there are none."""
    return replace(problem, input={**problem.input, HISTORY: [dict(each) for each in turns]})

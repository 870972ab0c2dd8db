"""What solutions come to on ScienceQA: every way of stating the gold option is right, and no run is scored
lower than the official rule would score its solution."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from chameleon import Inventory, State
from chameleon.benchmarks.scienceqa import Scienceqa
from chameleon.benchmarks.scorers.options import OptionTextRule
from chameleon.evaluation.benchmark import Problem
from chameleon.values import freeze
from tests.benchmarks.shared_data import Row, needs_data, rows

pytestmark = needs_data


@cache
def _problems() -> list[tuple[Row, Problem]]:
    return [(row, Scienceqa().problem(row, {})) for row in rows("scienceqa/problems.jsonl.gz")]


def _gold(row: Row) -> str:
    return str(row["choices"][row["answer"]])


def _shown(row: Row) -> str:
    """The option as prompts show it, on one line."""
    return " ".join(_gold(row).split())


def _letter(row: Row) -> str:
    return "ABCDE"[row["answer"]]


_STATED: dict[str, Callable[[Row], str]] = {
    "text": lambda row: f"The answer is {_gold(row)}.",
    "text as shown": lambda row: f"The answer is {_shown(row)}",
    "bold": lambda row: f"So it follows. The answer is **{_shown(row)}**.",
    "lower case": lambda row: f"the answer is {_gold(row).lower()}.",
    "with a reason": lambda row: f"The answer is {_shown(row)}. A rule says so.\nThat is all.",
    "letter and text": lambda row: f"The answer is {_letter(row)}. {_gold(row)}",
    "corrected": lambda row: f"The answer is Z. No: the answer is ({_letter(row)}).",
    "labelled": lambda row: f"It follows.\n**Answer:** {_letter(row)}",
    "labelled text": lambda row: f"It follows.\n\nAnswer: ({_letter(row)}) {_shown(row)}",
    "boxed": lambda row: rf"It follows that $\boxed{{\text{{{_letter(row)}}}}}$.",
    "letter in bold": lambda row: f"**{_letter(row)}**",
    "letter on a line": lambda row: f"It follows.\n({_letter(row)})",
    "nowhere stated": lambda row: f"It must be {_gold(row)}.",
}
_BESIDE: dict[str, Callable[[Row], str]] = {
    "hint": lambda row: str(row["hint"]) or "It is hard to say.",
    "skill": lambda row: f"the skill is {row['skill'].lower()}",
    "skill as answer": lambda row: f"The answer is the skill {row['skill'].lower()}.",
}


def _right(solution: Callable[[Row], str]) -> tuple[list[str], int]:
    """The problems that a run gets wrong with these solutions, and how many the official rule has right."""
    generator, rule = Inventory.load("scienceqa").modules["answer_generator"], OptionTextRule()
    wrong, official = [], 0
    for row, problem in _problems():
        text = solution(row)
        state = State(input=freeze({"choices": row["choices"]}), cache=freeze({"solution": text}))
        if not rule.right(rule.from_answer(generator.run(state), problem), problem):
            wrong.append(problem.id)
        official += rule.right(rule.from_output(text, problem), problem)
    return wrong, official


@pytest.mark.parametrize("way", _STATED)
def test_the_gold_option_is_right_however_it_is_stated(way: str) -> None:
    wrong, official = _right(_STATED[way])
    assert wrong == [] and official <= len(_problems())


@pytest.mark.parametrize("way", _BESIDE)
def test_a_run_is_not_scored_lower_than_the_official_rule_scores_its_solution(way: str) -> None:
    wrong, official = _right(_BESIDE[way])
    assert len(_problems()) - len(wrong) >= official

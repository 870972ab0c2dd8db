"""Every measured figure on FinQA: what becomes of gold programs that are changed in known ways."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from chameleon.benchmarks.finqa import Finqa
from chameleon.benchmarks.scorers.finqa import OfficialRule
from chameleon.evaluation.benchmark import Problem
from chameleon.modules.reports.finqa_program import calculated, tokens_of
from tests.benchmarks.shared_data import anchors, needs_data, rows

Steps = list[list[str]]
_FILES = ("dev_200", "train_100", "dev_883")


def _exchanged(*operations: str) -> Callable[[Steps], Steps]:
    names = {f"{operation}(" for operation in operations}
    return lambda steps: [[o, b, a, end] if o in names else [o, a, b, end] for o, a, b, end in steps]


def _written_out(steps: Steps) -> Steps:
    return [[o, *(re.sub(r"^const_(?=\d)", "", each) for each in (a, b)), end] for o, a, b, end in steps]


def _shifted(steps: Steps) -> Steps:
    def later(argument: str) -> str:
        return f"#{int(argument[1:]) + 1}" if re.fullmatch(r"#\d+", argument) else argument

    return [[o, later(a), later(b), end] for o, a, b, end in steps]


_CHANGES: dict[str, Callable[[Steps], Steps]] = {
    "gold_on_gold": lambda steps: steps,
    "swap_add_multiply": _exchanged("add", "multiply"),
    "swap_subtract_divide": _exchanged("subtract", "divide"),
    "const_written_out": _written_out,
    "first_step_only": lambda steps: steps[:1],
    "repeat_first_step": lambda steps: [steps[0], *_shifted(steps)],
    "foreign_first_step": lambda steps: [["add(", "1", "1", ")"], *_shifted(steps)],
}


@cache
def problems(name: str) -> list[Problem]:
    return [Finqa().problem(row, {}) for row in rows(f"finqa/{name}.jsonl.gz")]


def changed(program: str, how: str) -> list[str]:
    tokens = tokens_of(program)[:-1]
    steps = [tokens[place : place + 4] for place in range(0, len(tokens), 4)]
    return [token for step in _CHANGES[how](steps) for token in step] + ["EOF"]


@needs_data
@pytest.mark.parametrize("name", _FILES)
@pytest.mark.parametrize("how", _CHANGES)
def test_anchors(name: str, how: str) -> None:
    rule = OfficialRule()
    counts = {"exe": 0, "prog": 0, "invalid": 0}
    for problem in problems(name):
        tokens = changed(problem.detail["program"], how)
        grades = rule.grades(tokens, problem)
        counts["exe"] += int(grades["execution"])
        counts["prog"] += int(grades["program"])
        counts["invalid"] += bool(calculated(tokens, problem.detail["lines"]).fault)
    for key, count in counts.items():
        expected: Any = anchors()[f"finqa.{name}.{how}.{key}"]
        assert (count, len(problems(name))) == expected


@needs_data
def test_every_figure_is_compared() -> None:
    names = {name for name in anchors() if name.startswith("finqa.")}
    compared = {
        f"finqa.{n}.{how}.{key}" for n in _FILES for how in _CHANGES for key in ("exe", "prog", "invalid")
    }
    assert names == compared

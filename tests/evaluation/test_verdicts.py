"""Verdicts on answers: the same through `eval` and through `score` on what it wrote, by every scorer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon.benchmarks.tabmwp import Tabmwp
from tests.e2e.commands import Command
from tests.engine.files import write
from tests.evaluation.asking import MINE
from tests.evaluation.rows import Row, read_lines, write_rows

# What the module answers, by question; gold answers and choices that make some right by one rule alone.
ANSWERS: dict[str, Any] = {
    "int": 12,
    "float": 12.0,
    "near": 12.04,
    "text": "12",
    "text with a unit": "12 kites",
    "sentence": "The answer is 12.",
    "list": [12, 3],
    "list of texts": ["12"],
    "object": {"total": 12},
    "empty list": [],
    "fraction": "24/2",
    "true": True,
    "false": False,
    "choice": "12",
    "choice in capitals": "BLUE",
    "number for a choice": 12,
    "letter": "(b)",
}
CHOICES = {
    "true": ["yes", "no"],
    "false": ["yes", "no"],
    "choice": ["5", "12"],
    "choice in capitals": ["red", "blue"],
    "number for a choice": ["5", "12"],
    "letter": ["red", "blue"],
}
GOLD = {"true": "yes", "false": "yes", "choice in capitals": "blue", "letter": "blue"}
TOOL = f"""
from chameleon import Module

ANSWERS = {ANSWERS!r}


class Tool(Module):
    '''Answers what it knows.'''

    def run(self, state):
        return ANSWERS[state.input["question"]]
"""


def row(question: str) -> Row:
    return {
        "pid": question,
        "question": question,
        "table": "kind | number\nkites | 3",
        "choices": CHOICES.get(question),
        "unit": "kites" if question == "text with a unit" else None,
        "answer": GOLD.get(question, "12"),
    }


@pytest.fixture
def data(tmp_path: Path) -> str:
    write(tmp_path, TOOL, "tools.py")
    write(tmp_path, MINE, "mine.yaml")
    return str(write_rows(tmp_path / "problems.jsonl", map(row, ANSWERS)))


def evaluated(command: Command, data: str, scorer: str) -> dict[str, bool]:
    """The verdicts of `eval`, checked against those of `score` on the results that it kept."""
    place = Path(data).parent
    out = place / scorer
    ran = command("eval", str(place / "mine.yaml"), data, "--scorer", scorer, "--out", str(out), "--json")
    assert ran.code == 0, ran.err
    results = str(out / "results.jsonl")
    scored = command("score", "tabmwp", data, results, "--scorer", scorer, "--json")
    assert scored.code == 0 and not scored.err
    whole, again = json.loads(ran.out), json.loads(scored.out)
    names = ("n", "correct", "answered", "accuracy", "answered_accuracy", "breakdown")
    assert {name: whole[name] for name in names} == {name: again[name] for name in names}
    assert whole["n"] == whole["answered"] == len(ANSWERS)
    return {line["id"]: line["correct"] for line in read_lines(Path(results))}


@pytest.mark.parametrize("scorer", Tabmwp.scorers)
def test_eval_and_score_come_to_the_same_verdict_on_every_answer(
    command: Command, data: str, scorer: str
) -> None:
    verdicts = evaluated(command, data, scorer)
    assert verdicts["int"] and verdicts["float"] and verdicts["choice"] and verdicts["text"]
    assert not verdicts["empty list"] and not verdicts["false"]


def test_the_rule_for_programs_counts_a_number_in_a_text(command: Command, data: str) -> None:
    """Program of Thoughts makes a program's "12" a number before it compares; a choice it leaves alone."""
    verdicts = evaluated(command, data, "pot")
    assert verdicts["text"] and verdicts["choice"]
    assert verdicts["near"] and verdicts["list"] and verdicts["true"]
    assert (
        not verdicts["text with a unit"] and not verdicts["sentence"] and not verdicts["choice in capitals"]
    )

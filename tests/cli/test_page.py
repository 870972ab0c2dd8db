"""What a run ends with is told in words: no representation of Python's, and nothing is no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.commands import Command, Outcome

INVENTORY = """\
name: mine
input: {question: str, table: Table}
planner: {use: fixed, plan: [says]}
modules: {says: {use: "own:Says"}}
"""
OWN = (
    "from chameleon import Module\n\n\nclass Says(Module):\n    def run(self, state):\n        return VALUE\n"
)
PIECES = [
    {"text": "Pier 3", "box": [[1, 2], [30, 2], [30, 9], [1, 9]], "confidence": 0.98},
    {"text": "Mind\nAnswer: 9", "box": [[1, 12], [30, 12], [30, 19], [1, 19]], "confidence": 0.9},
]


@pytest.fixture
def says(tmp_path: Path, command: Command) -> Command:
    def run(value: object, *options: str) -> Outcome:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        (folder / "mine.yaml").write_text(INVENTORY)
        (folder / "own.py").write_text(OWN.replace("VALUE", repr(value)))
        (folder / "t.csv").write_text("child,apples\nAda,2\n")
        return command("ask", "How many?", "-t", f"{folder}/t.csv", "-i", f"{folder}/mine.yaml", *options)

    return run


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (PIECES, "Pier 3\nMind Answer: 9"),
        (PIECES[0], "Pier 3"),
        (["Lisbon", "Porto"], "Lisbon, Porto"),
        ([[1, 2], [3, 4]], "[[1, 2], [3, 4]]"),
        ({"high": 3, "low": [1, 2]}, "high: 3, low: 1, 2"),
        ([{"high": 3}, {"high": 4}], "high: 3\nhigh: 4"),
        ("a\nb", "a b"),
        ("", "(nothing)"),
        ([], "(nothing)"),
        ({}, "(nothing)"),
        ({"query": "zebras", "results": []}, "query: zebras, results: none"),
        (0, "0"),
        (False, "False"),
        (1 / 3, "0.3333333333333333"),
        (1e-05, "0.00001"),
        ({"mean": 0.1 + 0.2, "n": 1234567.5}, "mean: 0.3, n: 1234567.5"),
        ("0.30000000000000004", "0.30000000000000004"),
    ],
)
def test_answers_are_told_in_words(says: Command, value: object, shown: str) -> None:
    outcome = says(value)
    assert (outcome.code, outcome.out) == (0, f"{shown}\n")


def test_the_trace_has_no_representation_of_python(says: Command) -> None:
    value = {"pieces": PIECES, "at": [[1, {"a": "b"}]], "a": {"b": None}}
    shown = says(value, "--trace").err + says(PIECES, "--trace").err
    assert not any(sign in shown for sign in ("((", "{'", "['", "None")), shown
    assert "box: [[1, 2], [30, 2], [30, 9], [1, 9]]" in shown


def test_a_module_that_returns_nothing_is_told_and_does_not_answer(says: Command) -> None:
    outcome, told = says(None), says(None, "--json").json
    assert outcome.code == 1 and not outcome.out
    assert "module says: it returned nothing" in outcome.complaint and "`run`" in outcome.complaint
    assert told["answer"] is None and told["error"]["kind"] == "ModuleError"

"""What a run ends with is told in words: no representation of Python's, and nothing is no answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import Command, Outcome

INVENTORY = """\
name: mine
input: {question: str, table: Table}
planner: {use: fixed, plan: [says]}
modules: {says: {use: "own:Says"}}
"""
OWN = """\
from chameleon import Module


class Says(Module):
    '''Says what it was told to.'''

    def run(self, state):
        return VALUE
"""
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
        table, mine = str(folder / "t.csv"), str(folder / "mine.yaml")
        return command("ask", "How many?", "--table", table, "--inventory", mine, *options)

    return run


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (PIECES, "Pier 3\nMind Answer: 9\n"),
        (PIECES[0], "Pier 3\n"),
        (["Lisbon", "Porto"], "Lisbon, Porto\n"),
        ([[1, 2], [3, 4]], "[[1, 2], [3, 4]]\n"),
        ({"high": 3, "low": [1, 2]}, "high: 3, low: 1, 2\n"),
        ([{"high": 3}, {"high": 4}], "high: 3\nhigh: 4\n"),
        ("a\nb", "a b\n"),
        ("", "(nothing)\n"),
        ([], "(nothing)\n"),
        ({}, "(nothing)\n"),
        ({"query": "zebras", "results": []}, "query: zebras, results: none\n"),
        (0, "0\n"),
        (False, "False\n"),
        (0.1 + 0.2, "0.3\n"),
        (1 / 3, "0.3333333333333333\n"),
        (1e-05, "0.00001\n"),
        ({"mean": 0.1 + 0.2, "n": 1234567.5}, "mean: 0.3, n: 1234567.5\n"),
        ("0.30000000000000004", "0.30000000000000004\n"),
    ],
)
def test_answers_are_told_in_words(says: Command, value: object, shown: str) -> None:
    outcome = says(value)
    assert outcome.code == 0 and outcome.out == shown


def test_the_trace_has_no_representation_of_python(says: Command) -> None:
    for value in (PIECES, {"pieces": PIECES, "at": [[1, 2]]}, [[1, {"a": "b"}]], {"a": {"b": None}}):
        outcome = says(value, "--trace")
        assert outcome.code == 0
        assert not any(sign in outcome.err for sign in ("((", "{'", "['", "None")), outcome.err
    assert "box: [[1, 2], [30, 2], [30, 9], [1, 9]]" in says(PIECES, "--trace").err


def test_a_module_that_returns_nothing_is_told_and_does_not_answer(says: Command) -> None:
    outcome = says(None)
    assert outcome.code == 1 and not outcome.out
    assert "module says: it returned nothing" in outcome.complaint and "`run`" in outcome.complaint
    told = json.loads(says(None, "--json").out)
    assert told["answer"] is None and told["error"]["kind"] == "ModuleError"

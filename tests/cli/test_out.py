"""What is printed: answers in words, and nothing by which a stranger steers the terminal."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest

from chameleon.cli.page import RunPage
from chameleon.cli.terminal import echo, echo_json, say
from chameleon.core.events import Plan, RunStarted, Step
from chameleon.text import harmless_lines
from tests.e2e.commands import ROOT, Command, Outcome

EVIL = "a\x1b[2J\x9b31m\x07\u202eb\x7f"
CLEAN = "a\ufffd[2J\ufffd31m\ufffd\ufffdb\ufffd"
CHATTY = """
from chameleon import Planner, Step, tool

print("imported")

@tool
def chat() -> str:
    '''Talks.'''
    print("working")
    return "done"
"""


def test_both_streams_are_cleaned_and_breaks_and_indents_stay(capsys: pytest.CaptureFixture[str]) -> None:
    assert harmless_lines(f"  x\n    {EVIL}\n\ty\n") == f"  x\n    {CLEAN}\n    y\n"
    echo(EVIL)
    say(EVIL)
    page = RunPage(as_json=False, trace=True)
    page.begin(f"inventory x; model {EVIL}\n{EVIL}")
    page.show(RunStarted("x", {}))
    page.show(Plan((Step("x"),), EVIL, kind="proposed"))
    shown = capsys.readouterr()
    assert shown.out == f"{CLEAN}\n"
    assert [line for line in shown.err.splitlines() if "\ufffd" not in line] == ["Plan: x"]
    assert len(shown.err.splitlines()) == 4 and shown.err.replace("\n", "").isprintable()


def test_json_has_no_steering_characters_and_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    echo_json({"é 漢": [EVIL, "\u2028"]})
    shown = capsys.readouterr().out.rstrip("\n")
    assert json.loads(shown) == {"é 漢": [EVIL, "\u2028"]} and shown.isprintable() and "é 漢" in shown
    files = [file for file in (ROOT / "chameleon" / "cli").glob("*.py") if file.name != "out.py"]
    assert not [each.name for each in files if re.search(r"echo\(json\.dumps\(.*False", each.read_text())]


def test_what_is_logged_is_cleaned(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    command("--version")
    logging.getLogger("chameleon").warning("%s does not answer", f"ev\n{EVIL}")
    told = capsys.readouterr().err.rstrip("\n")
    assert told.startswith("chameleon: ev a") and told.isprintable() and told.endswith("b does not answer")


def test_what_a_tool_prints_goes_to_stderr(sh: Command, tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text(CHATTY)
    mine = "name: mine\nplanner: {use: fixed, plan: chat}\nmodules: {chat: 'chatty:chat'}\n"
    (tmp_path / "mine.yaml").write_text(mine)
    outcome, plain = (sh(f"ask What? -i mine.yaml {option}") for option in ("--json", ""))
    assert outcome.json["answer"] == "done" and outcome.err.split() == ["imported", "working"]
    assert plain.out == "done\n" and plain.err.startswith("working\n")


MINE = """\
name: mine
input: {question: str, table: Table}
planner: {use: fixed, plan: [says]}
modules: {says: {use: "own:Says"}}
"""
OWN = "from chameleon import Module\n\nclass Says(Module):\n    def run(self, state):\n        return VALUE\n"
PIECES = [
    {"text": "Pier 3", "box": [[1, 2], [30, 2], [30, 9], [1, 9]], "confidence": 0.98},
    {"text": "Mind\nAnswer: 9", "box": [[1, 12], [30, 12], [30, 19], [1, 19]], "confidence": 0.9},
]


@pytest.fixture
def says(tmp_path: Path, command: Command) -> Command:
    def run(value: object, *options: str) -> Outcome:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        (folder / "mine.yaml").write_text(MINE)
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
    assert "says: the last module returned nothing" in outcome.complaint and "`run`" in outcome.complaint
    assert told["answer"] is None and told["error"]["kind"] == "ModuleError"

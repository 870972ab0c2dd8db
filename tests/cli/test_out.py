"""What is printed: answers in words, hints at options, and nothing that steers the terminal."""

import ast
import json
import logging
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from chameleon.cli.hints import HINTS
from chameleon.cli.page import RunPage
from chameleon.cli.terminal import echo, echo_json, say
from chameleon.core.events import Failure, Plan, RunStarted, Step
from chameleon.errors import InputError
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
        ([[1, 2], [3, 4]], "[[1, 2], [3, 4]]"),
        ({"high": 3, "low": [1, 2]}, "high: 3, low: 1, 2"),
        ([{"high": 3}, {"high": 4}], "high: 3\nhigh: 4"),
        ("a\nb", "a b"),
        ("", "(nothing)"),
        ({"query": "zebras", "results": []}, "query: zebras, results: none"),
        (0, "0"),
        (1e-05, "0.00001"),
        ({"mean": 0.1 + 0.2, "n": 1234567.5}, "mean: 0.3, n: 1234567.5"),
        ("0.30000000000000004", "0.30000000000000004"),
    ],
)
def test_answers_are_told_in_words(says: Command, value: object, shown: str) -> None:
    outcome = says(value)
    assert (outcome.code, outcome.out) == (0, f"{shown}\n")


CLI = ROOT / "chameleon/cli"
FOLDERS = ("benchmarks", "chameleon", "modules", "planners")
FILES = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py") if not file.is_symlink()]
INPUT = "missing-input:"  # followed by keys of an inventory


def test_no_error_of_the_engine_names_an_option() -> None:
    whole_commands = ("weights.py", "manifest.py")
    engine = [each for each in FILES if CLI not in each.parents and each.name not in whole_commands]
    named = {each.name: re.findall(r"[\"' (`](--[a-z][a-z-]+)", each.read_text("utf-8")) for each in engine}
    assert not {name: found for name, found in named.items() if found}


def codes_of(value: ast.AST) -> Iterator[str]:
    """Yield the codes that the argument of an error may be; of a formatted one, its first piece."""
    for each in [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]:
        first = each.values[0] if isinstance(each, ast.JoinedStr) else each
        if isinstance(first, ast.Constant) and first.value:
            yield INPUT if str(first.value).startswith(INPUT) else str(first.value)


def test_the_table_has_every_code_that_is_raised_and_no_other() -> None:
    nodes = chain.from_iterable(ast.walk(ast.parse(file.read_text("utf-8"))) for file in FILES)
    given = chain.from_iterable(getattr(node, "keywords", ()) for node in nodes)
    raised = {code for each in given if each.arg == "code" for code in codes_of(each.value)}
    assert raised == {INPUT if code.startswith(INPUT) else code for code in HINTS}


def test_a_code_is_kept_and_a_run_that_waits_says_how_to_give_it(sh: Command) -> None:
    failure = Failure.of(InputError("no table", code="missing-input:table").at("here"))
    assert Failure.from_json(failure.to_json()) == failure
    assert failure.exception.code == "missing-input:table"
    outcome = sh("ask 'What is the adult fare?' --inventory pictures_offline")
    assert outcome.code == 3 and "Give one with --image FILE or --text FILE." in outcome.err

"""Whatever a server or a stranger's file says, nothing of it steers the terminal."""

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
from tests.e2e.commands import ROOT, Command

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

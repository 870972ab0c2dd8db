"""Approval on the command line: at a terminal, refused, left, and answered in another process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.terminal import at_terminal
from tests.e2e.commands import environment, spawn

CODE = '''
from pathlib import Path

from chameleon import tool


@tool
def read(name: str) -> str:
    """Reads a text."""
    return "a text"


@tool(requires_approval=True)
def write(text: str) -> str:
    """Writes a text."""
    Path("written").write_text(text)
    return "written"
'''
INVENTORY = """
name: mine
planner: {use: fixed, plan: [{module: read, args: {name: a}}, {module: write, args: {text: $read}}]}
modules: {read: "tools:read", write: "tools:write"}
"""
ASK = ["ask", "q", "-i", "mine.yaml"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(CODE)
    (tmp_path / "mine.yaml").write_text(INVENTORY)
    return tmp_path


def test_a_plan_is_approved_at_the_terminal(folder: Path) -> None:
    code, shown = at_terminal(ASK, folder, "what?", "y")
    assert code == 0 and (folder / "written").read_text() == "a text"
    assert '  write\n    text: "$read" (what comes of $read)\nRun it? [y]es, [n]o, [l]ater: ' in shown
    assert shown.count("Run it?") == 2 and "\x1b[1mwritten\x1b[0m\n" in shown


@pytest.mark.parametrize(("mode", "value"), [("plan", '"$read" (what'), ("step", '"$read" = "a text"')])
def test_a_step_is_refused_at_the_terminal(folder: Path, mode: str, value: str) -> None:
    code, shown = at_terminal([*ASK, "--approve", mode], folder, "n")
    assert code == 3 and not (folder / "written").exists()
    assert value in shown and "Declined: write (text:" in shown


def test_a_run_is_left_and_goes_on_in_another_process(folder: Path) -> None:
    code, shown = at_terminal([*ASK, "--log", "run.jsonl"], folder, "l")
    assert code == 4 and "chameleon approve run.jsonl" in shown
    code, shown = at_terminal(["approve", "run.jsonl"], folder, "y")
    assert code == 0 and "Approved: write" in shown
    done = spawn(*ASK, "--log", "run.jsonl", cwd=folder)
    assert (done.code, done.out) == (0, "written\n")


def test_without_a_terminal_a_run_waits_and_says_how_to_go_on(folder: Path) -> None:
    waits = spawn(*ASK, cwd=folder)
    (log,) = folder.glob("waiting-*.jsonl")
    assert waits.code == 4 and not (folder / "written").exists()
    assert f"Run `chameleon approve {log.name}`, then this command with --log {log.name}" in waits.err
    assert oct(log.stat().st_mode)[-3:] == "600"
    assert spawn("approve", log.name, cwd=folder).code == 4
    assert spawn("approve", log.name, "--yes", cwd=folder).code == 0
    assert spawn(*ASK, "--log", log.name, cwd=folder).code == 0
    again = spawn("approve", log.name, "--yes", cwd=folder)
    assert again.code == 1 and "nothing in it waits for approval" in again.err


def test_what_is_refused_in_a_log_declines(folder: Path) -> None:
    assert spawn(*ASK, "--log", "run.jsonl", cwd=folder).code == 4
    assert spawn("approve", "run.jsonl", "--no", cwd=folder).code == 0
    done = spawn(*ASK, "--log", "run.jsonl", cwd=folder)
    assert done.code == 3 and not (folder / "written").exists()


def test_no_yes_is_written_where_no_key_can_be_kept(folder: Path) -> None:
    spawn(*ASK, "--log", "run.jsonl", cwd=folder)
    (folder / "file").touch()
    log, env = folder / "run.jsonl", environment(XDG_CONFIG_HOME="file")
    before = log.read_bytes()
    told = spawn("approve", "run.jsonl", "--yes", cwd=folder, env=env)
    assert told.code == 1 and not told.out and log.read_bytes() == before
    assert "no approval can be sealed: no key can be kept" in told.err
    assert spawn("approve", "run.jsonl", "--no", cwd=folder, env=env).code == 0


def test_json_says_what_waits_and_in_which_log(folder: Path) -> None:
    told = json.loads(spawn(*ASK, "--json", cwd=folder).out)
    assert told["waiting"] == [{"module": "write", "args": {"text": "$read"}}] and told["answer"] is None
    assert (folder / told["log"]).exists()


def test_none_refuses_and_an_evaluation_does_too(folder: Path) -> None:
    assert spawn(*ASK, "--approve", "none", cwd=folder).code == 3
    problems = Path(__file__).parents[2] / "demos/data/problems.jsonl"
    done = spawn("eval", "mine.yaml", str(problems), "--limit", "2", cwd=folder)
    assert done.code == 0, done.err
    assert not (folder / "written").exists() and "declined" in done.out.lower()


def test_both_answers_at_once_and_a_missing_log_are_refused(folder: Path) -> None:
    assert spawn("approve", "run.jsonl", "--yes", "--no", cwd=folder).code == 2
    assert "there is no such log" in spawn("approve", "run.jsonl", cwd=folder).err
    assert not (folder / "run.jsonl").exists()


def test_a_chat_waits_in_its_log_and_goes_on_once_it_is_answered(folder: Path) -> None:
    chat = ["chat", "mine.yaml", "--log", "chat.jsonl"]
    waits = spawn(*chat, cwd=folder, text="one\ntwo\n")
    assert waits.code == 4 and not (folder / "written").exists()
    assert "Run `chameleon approve chat.jsonl`" in waits.err and not waits.out
    assert spawn("approve", "chat.jsonl", "--yes", cwd=folder).code == 0
    done = spawn(*chat, cwd=folder)
    assert done.code == 0 and done.out == "written\n" and (folder / "written").exists()


def test_a_chat_asks_at_the_terminal(folder: Path) -> None:
    code, shown = at_terminal(["chat", "mine.yaml"], folder, "one", "y", "/exit")
    assert code == 0 and (folder / "written").exists() and "\x1b[1mwritten\x1b[0m\n" in shown

"""Approval on the command line: at a terminal, refused, left, and answered in another process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import ENVIRONMENT, at_terminal

CODE = '''
from pathlib import Path

from chameleon import tool


@tool
def read(name: str) -> str:
    """Reads a text."""
    return "a text"


@tool(asks="approval")
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
ASK = [sys.executable, "-m", "chameleon", "ask", "q", "-i", "mine.yaml"]
APPROVE = [sys.executable, "-m", "chameleon", "approve"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(CODE)
    (tmp_path / "mine.yaml").write_text(INVENTORY)
    return tmp_path


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


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
    code, shown = at_terminal([*APPROVE, "run.jsonl"], folder, "y")
    assert code == 0 and "Approved: write" in shown
    done = run([*ASK, "--log", "run.jsonl"], folder)
    assert (done.returncode, done.stdout) == (0, "written\n")


def test_without_a_terminal_a_run_waits_and_says_how_to_go_on(folder: Path) -> None:
    waits = run(ASK, folder)
    (log,) = folder.glob("waiting-*.jsonl")
    assert waits.returncode == 4 and not (folder / "written").exists()
    assert f"Run `chameleon approve {log.name}`, then this command with --log {log.name}" in waits.stderr
    assert oct(log.stat().st_mode)[-3:] == "600"
    assert run([*APPROVE, log.name], folder).returncode == 4
    assert run([*APPROVE, log.name, "--yes"], folder).returncode == 0
    assert run([*ASK, "--log", log.name], folder).returncode == 0
    again = run([*APPROVE, log.name, "--yes"], folder)
    assert again.returncode == 1 and "nothing in it waits for approval" in again.stderr


def test_what_is_refused_in_a_log_declines(folder: Path) -> None:
    assert run([*ASK, "--log", "run.jsonl"], folder).returncode == 4
    assert run([*APPROVE, "run.jsonl", "--no"], folder).returncode == 0
    done = run([*ASK, "--log", "run.jsonl"], folder)
    assert done.returncode == 3 and not (folder / "written").exists()


def test_no_yes_is_written_where_no_key_can_be_kept(folder: Path) -> None:
    run([*ASK, "--log", "run.jsonl"], folder)
    (folder / "file").touch()
    log = folder / "run.jsonl"
    before = log.read_bytes()
    told = run(["env", "XDG_CONFIG_HOME=file", *APPROVE, "run.jsonl", "--yes"], folder)
    assert told.returncode == 1 and not told.stdout and log.read_bytes() == before
    assert "no approval can be sealed: no key can be kept" in told.stderr
    assert run(["env", "XDG_CONFIG_HOME=file", *APPROVE, "run.jsonl", "--no"], folder).returncode == 0


def test_json_says_what_waits_and_in_which_log(folder: Path) -> None:
    told = json.loads(run([*ASK, "--json"], folder).stdout)
    assert told["waiting"] == [{"module": "write", "args": {"text": "$read"}}] and told["answer"] is None
    assert (folder / told["log"]).exists()


def test_none_refuses_and_an_evaluation_does_too(folder: Path) -> None:
    assert run([*ASK, "--approve", "none"], folder).returncode == 3
    problems = Path(__file__).parents[2] / "demos/data/problems.jsonl"
    command = [sys.executable, "-m", "chameleon", "eval", "mine.yaml", str(problems), "--limit", "2"]
    done = run(command, folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / "written").exists() and "declined" in done.stdout.lower()


def test_both_answers_at_once_and_a_missing_log_are_refused(folder: Path) -> None:
    assert run([*APPROVE, "run.jsonl", "--yes", "--no"], folder).returncode == 2
    assert "there is no such log" in run([*APPROVE, "run.jsonl"], folder).stderr
    assert not (folder / "run.jsonl").exists()


def test_a_chat_waits_in_its_log_and_goes_on_once_it_is_answered(folder: Path) -> None:
    chat = [sys.executable, "-m", "chameleon", "chat", "mine.yaml", "--log", "chat.jsonl"]
    waits = subprocess.run(
        chat, cwd=folder, env=ENVIRONMENT, input="one\ntwo\n", capture_output=True, text=True, timeout=60
    )
    assert waits.returncode == 4 and not (folder / "written").exists()
    assert "Run `chameleon approve chat.jsonl`" in waits.stderr and not waits.stdout
    assert run([*APPROVE, "chat.jsonl", "--yes"], folder).returncode == 0
    done = run(chat, folder)
    assert done.returncode == 0 and done.stdout == "written\n" and (folder / "written").exists()


def test_a_chat_asks_at_the_terminal(folder: Path) -> None:
    command = [sys.executable, "-m", "chameleon", "chat", "mine.yaml"]
    code, shown = at_terminal(command, folder, "one", "y", "/exit")
    assert code == 0 and (folder / "written").exists() and "\x1b[1mwritten\x1b[0m\n" in shown

"""Approval on the command line: at a terminal, refused, left, and answered in another process."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.cli.terminal import at_terminal
from tests.e2e.commands import ROOT, Command, environment, spawn

CODE = """
from pathlib import Path

from chameleon import tool

def read(name: str) -> str:
    return "a text"

def write(text: str) -> str:
    Path("written").write_text(text)
    return "written"

read, write = tool(read, description="Reads."), tool(write, description="Writes.", requires_approval=True)
"""
INVENTORY = """
name: mine
planner: {use: fixed, plan: [{module: read, args: {name: a}}, {module: write, args: {text: $read}}]}
modules: {read: "tools:read", write: "tools:write"}
"""
ASK = ["ask", "q", "-i", "mine.yaml"]
LOGGED = [*ASK, "--log", "run.jsonl"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(CODE)
    (tmp_path / "mine.yaml").write_text(INVENTORY)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Command:
    return partial(spawn, cwd=folder)


def test_a_plan_is_approved_at_the_terminal(folder: Path) -> None:
    code, shown = at_terminal(ASK, folder, "what?", "y")
    assert code == 0 and (folder / "written").read_text() == "a text"
    assert '  write\n    text: "$read" (the result of $read)\nRun it? [y]es, [n]o, [l]ater: ' in shown
    assert shown.count("Run it?") == 2 and "\x1b[1mwritten\x1b[0m\n" in shown


@pytest.mark.parametrize(("mode", "value"), [("plan", '"$read" (what'), ("step", '"$read" = "a text"')])
def test_a_step_is_refused_at_the_terminal(folder: Path, mode: str, value: str) -> None:
    code, shown = at_terminal([*ASK, "--approve", mode], folder, "n")
    assert code == 3 and not (folder / "written").exists()
    assert value in shown and "Declined: write (text:" in shown


def test_a_run_is_left_and_goes_on_in_another_process(folder: Path, run: Command) -> None:
    code, shown = at_terminal(LOGGED, folder, "l")
    assert code == 4 and "chameleon approve run.jsonl" in shown
    code, shown = at_terminal(["approve", "run.jsonl"], folder, "y")
    assert code == 0 and "Approved: write" in shown
    done = run(*LOGGED)
    assert (done.code, done.out) == (0, "written\n")


def test_without_a_terminal_a_run_waits_and_says_how_to_go_on(folder: Path, run: Command) -> None:
    waits = run(*ASK)
    (log,) = folder.glob("waiting-*.jsonl")
    assert waits.code == 4 and not (folder / "written").exists()
    assert f"Run `chameleon approve {log.name}`, then this command with --log {log.name}" in waits.err
    assert oct(log.stat().st_mode)[-3:] == "600"
    codes = [run(*line, log.name).code for line in (["approve"], ["approve", "--yes"], [*ASK, "--log"])]
    assert codes == [4, 0, 0]
    again = run("approve", log.name, "--yes")
    assert again.code == 1 and "nothing in it waits for approval" in again.err


def test_a_refusal_in_a_log_declines_and_no_yes_is_written_without_a_key(folder: Path, run: Command) -> None:
    assert run(*LOGGED).code == 4
    (folder / "file").touch()
    log, env = folder / "run.jsonl", environment(XDG_CONFIG_HOME="file")
    before = log.read_bytes()
    told = run("approve", "run.jsonl", "--yes", env=env)
    assert told.code == 1 and not told.out and log.read_bytes() == before
    assert "no approval can be sealed: no key can be kept" in told.err
    assert run("approve", "run.jsonl", "--no", env=env).code == 0
    assert run(*LOGGED).code == 3 and not (folder / "written").exists()


def test_what_waits_is_told_as_json_and_none_refuses_as_evaluations_do(folder: Path, run: Command) -> None:
    told = run(*ASK, "--json").json
    assert told["waiting"] == [{"module": "write", "args": {"text": "$read"}}] and told["answer"] is None
    assert (folder / told["log"]).exists()
    assert run(*ASK, "--approve", "none").code == 3
    done = run("eval", "mine.yaml", f"{ROOT}/demos/data/problems.jsonl", "--limit", "2")
    assert done.code == 0 and "declined" in done.out.lower() and not (folder / "written").exists(), done.err
    assert run("approve", "run.jsonl", "--yes", "--no").code == 2
    assert "there is no such log" in run("approve", "run.jsonl").err and not (folder / "run.jsonl").exists()


def test_a_chat_waits_in_its_log_and_goes_on_once_it_is_answered(folder: Path, run: Command) -> None:
    chat = ["chat", "mine.yaml", "--log", "chat.jsonl"]
    waits = run(*chat, text="one\ntwo\n")
    assert waits.code == 4 and not (folder / "written").exists()
    assert "Run `chameleon approve chat.jsonl`" in waits.err and not waits.out
    assert run("approve", "chat.jsonl", "--yes").code == 0
    done = run(*chat)
    assert done.code == 0 and done.out == "written\n" and (folder / "written").exists()


def test_a_chat_asks_at_the_terminal(folder: Path) -> None:
    code, shown = at_terminal(["chat", "mine.yaml"], folder, "one", "y", "/exit")
    assert code == 0 and (folder / "written").exists() and "\x1b[1mwritten\x1b[0m\n" in shown

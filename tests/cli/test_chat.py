"""`chameleon chat`: questions line by line, commands, a log that goes on, Ctrl-C and a cut one."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chameleon.core.conversation_log import ConversationLog
from tests.e2e.commands import Command, Outcome, environment

TABLE = 'City,Visitors\nLisbon,"4,200"\nLyon,"3,100"\nOslo,900\n'
MOST, FEW, ODD = "Which city had the most visitors?", "How many visitors did Oslo have?", "Which is lovelier?"
TOOL = """\
import time
from chameleon import State, tool

@tool
def slow(state: State) -> str:
    'Takes its time.'
    if state.input["question"] == "wait":
        open("waiting", "w").close()
        time.sleep(60)
    return f"{state.input['question']} after {len(state.input.get('history', ()))}"
"""
INVENTORY = """\
name: own
input: {question: str}
planner: {use: fixed, plan: [slow]}
modules: {slow: "chat_tools:slow"}
"""
VISITS = "chat tables_offline --table visits.csv"
LOG = " --log chat.jsonl"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CHAMELEON_MODEL", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, text in (("visits.csv", TABLE), ("chat_tools.py", TOOL), ("own.yaml", INVENTORY)):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def chat(sh: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    def run(line: str, *asked: str) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{each}\n" for each in asked)))
        return sh(line)

    return run


def said_before(shown: Outcome) -> str:
    """Return what is told of the conversation, without what each run says of itself."""
    of_runs = ("Runs ", "Plan: ", "From: ", "Read as: ", "Took ", "Declined: ", "Model: ")
    return "".join(f"{line}\n" for line in shown.err.splitlines() if not line.startswith(of_runs))


def test_answers_line_by_line_and_goes_on_where_one_is_declined(chat: Command) -> None:
    shown = chat(VISITS, MOST, "", ODD, f"  {FEW}  ")
    assert shown.code == 0 and shown.out == "Lisbon\n900\n" and said_before(shown) == ""
    assert shown.err.count("Runs inventory tables_offline") == 1
    assert "Or let a model answer: chameleon chat tables_first --model PROVIDER:NAME" in shown.err
    assert chat(f"{VISITS} -q", MOST, ODD, FEW).out == "Lisbon\n(declined)\n900\n"


def test_commands_show_the_table_and_what_was_said(chat: Command) -> None:
    shown = chat(VISITS, FEW, ODD, "/table", "/history", "/what", "/exit", MOST)
    assert shown.out.startswith("900\n") and "Lisbon     4,200" in shown.out and "\nLisbon\n" not in shown.out
    assert said_before(shown).startswith(f"> {FEW}\n900\n> {ODD}\n(declined)\nThere is no command /what.")


def test_comes_back_to_what_was_said_and_needs_no_files(chat: Command) -> None:
    chat(VISITS + LOG, MOST, ODD)
    shown = chat(f"chat {LOG}", FEW)
    told = f"Goes on with chat.jsonl, after 2 questions.\n> {MOST}\nLisbon\n> {ODD}\n(declined)\n"
    assert shown.out == "900\n" and said_before(shown) == told
    with ConversationLog("chat.jsonl") as kept:
        assert [turn["answer"] for turn in kept.turns[-1].input["history"]] == ["Lisbon", ""]
        refused = chat(VISITS + LOG, MOST)
    assert refused.code == 1 and "another run is writing to it" in refused.complaint


def test_a_model_is_told_the_turns_before_and_a_failed_one_ends_nothing(chat: Command, folder: Path) -> None:
    program = 'visitors = {"Lisbon": 4200, "Lyon": 3100, "Oslo": 900}\nans = max(visitors, key=visitors.get)'
    replies = ['["program_generator"]', program, '["solution_generator"]', *[{"text": ""}] * 3]
    (folder / "replies").write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))
    line = f"chat tables --table visits.csv --model scripted:replies --store off {LOG}"
    shown = chat(line, MOST, "And then?", "/history")
    assert shown.code == 0 and shown.out == "Lisbon\n" and "> And then?\n(failed)" in shown.err
    with ConversationLog("chat.jsonl") as kept:
        assert f"Question: {MOST}\nAnswer: Lisbon\n" in kept.turns[-1].calls[0].messages[-1][1]


@pytest.mark.slow
def test_ctrl_c_stops_an_answer_and_the_chat_goes_on(folder: Path) -> None:
    line = [sys.executable, "-m", "chameleon", "chat", "own.yaml", "--log", "chat.jsonl"]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    env = environment(str(folder))
    with subprocess.Popen(line, cwd=folder, env=env, text=True, **streams) as process:
        assert process.stdin is not None
        process.stdin.write("one\nwait\n")
        process.stdin.flush()
        until = time.monotonic() + 30
        while not (folder / "waiting").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate("three\n/history\n", timeout=30)
    assert process.returncode == 0 and out == "one after 0\nthree after 2\n"
    said = "> one\none after 0\n> wait\n(failed)\n> three\nthree after 2\n"
    assert said_before(Outcome(0, out, err)) == f"\nchameleon: it was stopped\n{said}"

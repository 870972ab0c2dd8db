"""What a person sees at a terminal, what a pipe gets, and what the shell completes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.terminal import at_terminal, without_codes
from tests.e2e.commands import ROOT, Command, environment, spawn

QUESTION = "How many more visitors did Lisbon have than Lyon?"
OFFLINE = ["ask", QUESTION, "--table", "visits.csv", "--inventory", "tables_offline"]
CODE = '''
import time

from chameleon import tool


def slow(name):
    def said() -> str:
        time.sleep(SECONDS)
        return name

    return tool(said, name=name, description="Takes its time.")


one, two = slow("one"), slow("two")


@tool
def both(state) -> str:
    """Puts them together."""
    return "both"
'''
INVENTORY = """
name: mine
planner: {use: fixed, plan: [one, two, both]}
modules: {one: "slow:one", two: "slow:two", both: "slow:both"}
"""
MINE = ["ask", "q", "--inventory", "mine.yaml"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text("city,visitors\nLisbon,4200\nLyon,1900\n")
    (tmp_path / "slow.py").write_text(CODE.replace("SECONDS", "0.05"))
    (tmp_path / "mine.yaml").write_text(INVENTORY)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Command:
    return partial(spawn, cwd=folder)


def test_the_answer_is_first_and_bold_the_rest_dim_and_pipes_get_no_codes(folder: Path, run: Command) -> None:
    code, screen = at_terminal(OFFLINE, folder)
    first, *rest = screen.splitlines()
    assert (code, first) == (0, "\x1b[1m2300\x1b[0m")
    assert rest[0].startswith("\x1b[2mRead as: difference between visitors where city is Lisbon")
    assert rest[2] == "\x1b[2mFrom: visits, all 2 rows, columns city and visitors\x1b[0m"
    assert "\x1b[2mRuns inventory tables_offline; it asks no model. Took " in screen
    assert max(map(len, without_codes(screen).splitlines())) <= 80
    done = run(*OFFLINE)
    assert done.out == "2300\n" and "\x1b" not in done.err and "Took " in done.err
    _, screen = at_terminal(OFFLINE, folder, piped=True)
    assert "2300" not in screen and "\x1b[2mFrom: " in screen
    assert run("plan", *OFFLINE[1:]).out == "table_reader → final_answer\n"


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_codes_gets_none(folder: Path, plain: dict[str, str]) -> None:
    (folder / "slow.py").write_text(CODE.replace("SECONDS", "0.9"))
    for command in (OFFLINE, [*MINE, "--trace"], ["ask", "--help"]):
        code, screen = at_terminal(command, folder, **plain)
        assert code == 0 and "\x1b" not in screen


def test_quiet_is_the_answer_alone_also_at_a_terminal(folder: Path, run: Command) -> None:
    assert at_terminal([*OFFLINE, "--quiet"], folder) == (0, "\x1b[1m2300\x1b[0m\n")
    chat = ["chat", "tables_offline", "-t", "visits.csv", "-q"]
    code, screen = at_terminal(chat, folder, QUESTION, "\x04")
    assert code == 0 and "Runs" not in screen and "From" not in screen and "\x1b[1m2300\x1b[0m\n" in screen
    told = run("ask", "How many zebras?", *OFFLINE[2:], "-q")
    assert told.code == 3 and not told.out and told.err.startswith("Declined: ")
    assert run(*OFFLINE, "-q", "-v").code == 2


def test_verbose_tells_of_each_step_and_each_problem(run: Command) -> None:
    assert "1. table_reader  [" in run(*OFFLINE, "--verbose").err
    done = run("eval", "tables_offline", f"{ROOT}/demos/data/problems.jsonl", "-n", "2", "-v")
    lines = [line for line in done.err.splitlines() if ", gold " in line]
    assert done.code == 0 and len(lines) == 2 and all(": right, said " in line for line in lines)
    assert "1 of 1 file: visits.csv" in run("index", "visits.csv", "-o", "made", "-v").err


def test_verbose_shows_what_the_model_was_asked_and_replied(folder: Path, run: Command) -> None:
    replies = [json.dumps(["solution_generator", "answer_generator"]), "The answer is 2300."]
    (folder / "replies").write_text("\n".join(map(json.dumps, replies)))
    question = f"{QUESTION} (sk-abcdef0123456789abcdef)"
    asked = ["ask", question, "-t", "visits.csv", "-i", "tables", "-m", "scripted:replies", "--store", "off"]
    said = run(*asked, "-v").err
    assert "     user:\n" in said and "     reply: The answer is 2300.\n" in said
    assert f"{QUESTION} (***)" in said and "sk-abcdef" not in said
    assert "user:" not in run(*asked, "--trace").err


def test_what_takes_long_is_told_while_it_does_and_is_gone(folder: Path, run: Command) -> None:
    (folder / "slow.py").write_text(CODE.replace("SECONDS", "1.5"))
    code, screen = at_terminal(MINE, folder)
    assert code == 0 and "one and two" in screen
    before, _, after = screen.partition("\x1b[1mboth")
    assert "\x1b[2K" in before.split("\n")[-1]
    assert "one and two" not in without_codes(after).partition("Plan")[0]
    assert "one and two" not in run(*MINE).err.partition("Plan: ")[0]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ev", "eval"),
        ("ask -i tables_o", "tables_offline"),
        ("ask -i mi", "mine.yaml"),
        ("chat tables_o", "tables_offline"),
        ("ask --quie", "--quiet"),
    ],
)
def test_what_is_begun_is_completed(tmp_path: Path, words: str, offered: str) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    (tmp_path / "chameleon.toml").write_text("broken")
    asked = {"_CHAMELEON_COMPLETE": "complete_bash", "COMP_WORDS": f"chameleon {words}"}
    done = spawn(env=environment(**asked, COMP_CWORD=str(len(words.split()))), cwd=tmp_path)
    assert (done.code, done.err, done.out.split()) == (0, "", [offered])

"""What a person sees and approves at a terminal, what a pipe gets, and what the shell completes."""

import json
import os
import re
import struct
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

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


TOOLS = """
from pathlib import Path

from chameleon import tool

def read(name: str) -> str:
    return "a text"

def write(text: str) -> str:
    Path("written").write_text(text)
    return "written"

read, write = tool(read, description="Reads."), tool(write, description="Writes.", requires_approval=True)
"""
ASKING = """
name: mine
planner: {use: fixed, plan: [{module: read, args: {name: a}}, {module: write, args: {text: $read}}]}
modules: {read: "tools:read", write: "tools:write"}
"""
ASK = ["ask", "q", "-i", "mine.yaml"]
LOGGED = [*ASK, "--log", "run.jsonl"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "mine.yaml").write_text(ASKING)
    return tmp_path


@pytest.fixture
def go(place: Path) -> Command:
    return partial(spawn, cwd=place)


def test_a_plan_is_approved_at_the_terminal(place: Path) -> None:
    code, shown = at_terminal(ASK, place, "what?", "y")
    assert code == 0 and (place / "written").read_text() == "a text"
    assert '  write\n    text: "$read" (the result of $read)\nRun it? [y]es, [n]o, [l]ater: ' in shown
    assert shown.count("Run it?") == 2 and "\x1b[1mwritten\x1b[0m\n" in shown


@pytest.mark.parametrize(("mode", "value"), [("plan", '"$read" (the result'), ("step", '"$read" = "a text"')])
def test_a_step_is_refused_at_the_terminal(place: Path, mode: str, value: str) -> None:
    code, shown = at_terminal([*ASK, "--approve", mode], place, "n")
    assert code == 3 and not (place / "written").exists()
    assert value in shown and "Declined: write (text:" in shown


def test_a_run_is_left_and_goes_on_in_another_process(place: Path, go: Command) -> None:
    code, shown = at_terminal(LOGGED, place, "l")
    assert code == 4 and "chameleon approve run.jsonl" in shown
    code, shown = at_terminal(["approve", "run.jsonl"], place, "y")
    assert code == 0 and "Approved: write" in shown
    done = go(*LOGGED)
    assert (done.code, done.out) == (0, "written\n")


def test_without_a_terminal_a_run_waits_and_says_how_to_go_on(place: Path, go: Command) -> None:
    waits = go(*ASK)
    (log,) = place.glob("waiting-*.jsonl")
    assert waits.code == 4 and not (place / "written").exists()
    assert f"Run `chameleon approve {log.name}`, then this command with --log {log.name}" in waits.err
    assert oct(log.stat().st_mode)[-3:] == "600"
    codes = [go(*line, log.name).code for line in (["approve"], ["approve", "--yes"], [*ASK, "--log"])]
    assert codes == [4, 0, 0]
    again = go("approve", log.name, "--yes")
    assert again.code == 1 and "nothing in it is waiting for approval" in again.err


def test_a_refusal_in_a_log_declines_and_no_yes_is_written_without_a_key(place: Path, go: Command) -> None:
    assert go(*LOGGED).code == 4
    (place / "file").touch()
    log, env = place / "run.jsonl", environment(XDG_CONFIG_HOME="file")
    before = log.read_bytes()
    told = go("approve", "run.jsonl", "--yes", env=env)
    assert told.code == 1 and not told.out and log.read_bytes() == before
    assert "approvals cannot be signed: the key cannot be saved" in told.err
    assert go("approve", "run.jsonl", "--no", env=env).code == 0
    assert go(*LOGGED).code == 3 and not (place / "written").exists()


def test_what_waits_is_told_as_json_and_none_refuses_as_evaluations_do(place: Path, go: Command) -> None:
    told = go(*ASK, "--json").json
    assert told["waiting"] == [{"module": "write", "args": {"text": "$read"}}] and told["answer"] is None
    assert (place / told["log"]).exists()
    assert go(*ASK, "--approve", "none").code == 3
    done = go("eval", "mine.yaml", f"{ROOT}/demos/data/problems.jsonl", "--limit", "2")
    assert done.code == 0 and "declined" in done.out.lower() and not (place / "written").exists(), done.err
    assert go("approve", "run.jsonl", "--yes", "--no").code == 2
    assert "there is no such log" in go("approve", "run.jsonl").err and not (place / "run.jsonl").exists()


def test_a_chat_waits_in_its_log_and_goes_on_once_it_is_answered(place: Path, go: Command) -> None:
    chat = ["chat", "mine.yaml", "--log", "chat.jsonl"]
    waits = go(*chat, text="one\ntwo\n")
    assert waits.code == 4 and not (place / "written").exists()
    assert "Run `chameleon approve chat.jsonl`" in waits.err and not waits.out
    assert go("approve", "chat.jsonl", "--yes").code == 0
    done = go(*chat)
    assert done.code == 0 and done.out == "written\n" and (place / "written").exists()


def test_a_chat_asks_at_the_terminal(place: Path) -> None:
    code, shown = at_terminal(["chat", "mine.yaml"], place, "one", "y", "/exit")
    assert code == 0 and (place / "written").exists() and "\x1b[1mwritten\x1b[0m\n" in shown


_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def at_terminal(
    arguments: Sequence[str], folder: Path, *answers: str, piped: bool = False, **changes: str
) -> tuple[int, str]:
    """Run a command at a terminal; answer each time it asks. Return its exit code and screen.

    With `piped` stdout is a pipe, and what is returned is the screen alone.
    """
    pty = pytest.importorskip("pty")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("<HHHH", 24, 80, 0, 0))
    out = subprocess.DEVNULL if piped else theirs
    env = environment(**{"TERM": "xterm-256color", **changes})
    env = {key: value for key, value in env.items() if key not in ("COLUMNS", "NO_COLOR") or key in changes}
    command = [sys.executable, "-m", "chameleon", *arguments]
    with subprocess.Popen(command, cwd=folder, env=env, stdin=theirs, stdout=out, stderr=theirs) as process:
        os.close(theirs)
        shown, left = b"", list(answers)
        try:
            while piece := os.read(ours, 4_096):
                shown += piece
                is_asked = shown.endswith((b"[l]ater: ", b"[n]o: ", b"\n> ")) or shown == b"> "
                if is_asked and left:
                    os.write(ours, f"{left.pop(0)}\n".encode())
        except OSError:  # the terminal is closed
            pass
        os.close(ours)
    return process.returncode, shown.decode().replace("\r\n", "\n")


def without_codes(screen: str) -> str:
    return _CODES.sub("", screen)

"""What a question comes with: files, standard input and inventories within others; and `chameleon chat`."""

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest import MonkeyPatch

from chameleon.core.conversation_log import ConversationLog
from tests.e2e.commands import ROOT, Command, Outcome, environment

Ask = Callable[[str, bytes], Outcome]
SIGN = "Adult fare: $4.50\nChild fare: $2.25\n"
ASK = "ask 'What is the adult fare?'"


@pytest.fixture
def ask(sh: Command, monkeypatch: MonkeyPatch) -> Ask:
    def run(options: str, data: bytes) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return sh(f"{ASK} {options}")

    return run


def test_a_text_is_read_from_standard_input(ask: Ask) -> None:
    for _ in range(2):  # the text is in the log: the same one goes on with it
        outcome = ask("--text - --log run.jsonl", SIGN.encode())
        assert outcome.code == 0 and outcome.out == "$4.50\n"
    for data, words in (
        (b"", "standard input: the text is empty"),
        (b"\xff\xfe\xfd", "standard input: is not UTF-16: byte 0xfd in line 1"),
        (b"x" * 1_000_001, "standard input: the text has more than the limit"),
    ):
        outcome = ask("--text -", data)
        assert outcome.code == 1 and words in outcome.complaint


def test_a_picture_from_stdin_leaves_nothing(ask: Ask, tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    pytest.importorskip("rapidocr", reason="text needs rapidocr: pip install rapidocr onnxruntime")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outcome = ask("--image -", (ROOT / "demos/data/ferry.png").read_bytes())
    assert outcome.code == 0 and outcome.out == "$4.50\n"
    for data, words in ((b"", "is empty"), (b"no picture at all", "is no picture")):
        outcome = ask("--image -", data)
        assert outcome.code == 1 and words in outcome.complaint and "standard input" in outcome.complaint
    assert list(tmp_path.iterdir()) == []


def test_what_ran_and_what_would_answer_more_is_told(sh: Command, tmp_path: Path) -> None:
    (tmp_path / "sign.txt").write_text(SIGN)
    for line in (f"{ASK} --text sign.txt", f"{ASK} --text sign.txt".replace("ask", "plan")):
        why = sh(line, "--json").json["why"]
        assert f"Runs {why}." in sh(line).err and "pictures_offline" in why
    outcome = sh("ask 'Why is the fare so high?' --text sign.txt")
    (line,) = (line for line in outcome.err.splitlines() if line.startswith("Declined: "))
    assert outcome.code == 3 and "let a model answer: --inventory pictures" in line.lower()
    assert "Or let" not in line or line.index(". ") < line.index("Or let")


def test_further_tables_are_joined_by_file_names(tmp_path: Path, sh: Command) -> None:
    calls = "f_join(teams, on Team = Name)", "f_aggregate(sum of Points by Country)"
    replies = ["f_join()", calls[0], "f_aggregate()", calls[1], "<END>", "The answer is: 24"]
    (tmp_path / "replies").write_text("\n".join(map(json.dumps, replies)))
    (tmp_path / "riders.csv").write_text("Rider,Team,Points\nBrandt,Tarn,20\nEk,Weir,5\nHolm,Tarn,4\n")
    (tmp_path / "teams.csv").write_text("Name,Country\nTarn,Italy\nWeir,Spain\n")
    asked = "ask 'How many points went to teams from Italy?' --table riders.csv --table teams.csv --trace"
    outcome = sh(f"{asked} -i chain_of_table_extended --store off -m scripted:replies")
    assert outcome.out == "24\n" and all(call in outcome.err for call in calls), outcome.err
    assert all(f"From: {each}, column" in outcome.err for each in ("riders, all 3 rows", "teams, all 2 rows"))


def test_tables_of_one_name_are_told_apart_and_the_notes_are_those_of_the_one_asked(
    tmp_path: Path, sh: Command
) -> None:
    for place, rome in (("north", 20), ("south", 25)):
        (tmp_path / place).mkdir()
        (tmp_path / place / "sales.csv").write_text(f"City,Sold\nOslo,10\nRome,{rome}\nTotal,{10 + rome}\n")
    both = "--table north/sales.csv --table south/sales.csv"
    outcome = sh(f"ask 'Which city had the highest Sold in south/sales?' {both}")
    assert "From: south/sales, row 2" in outcome.err
    assert [line[:18] for line in outcome.err.splitlines() if line.startswith("Note: ")] == [
        "Note: south/sales:"
    ]
    assert "north/sales: 20; south/sales: 25" in sh(f"ask 'How many did Rome sell?' {both}").err


INNER = """\
name: inner
input: {question: str, table: Table}
planner: {use: fixed, plan: [table_reader, final_answer]}
modules: {table_reader: {}, final_answer: {}}
"""
OUTER = """\
name: outer
input: {question: str, table: Table}
planner: {use: fixed, plan: [rules]}
modules: {rules: {inventory: inner.yaml}}
"""
SMALL = 'small: {inventory: tables, llm: {model: "openai:gpt-6-luna"}}'
FILES = {
    "inner.yaml": INNER,
    "outer.yaml": OUTER,
    "cascade.yaml": OUTER.replace("outer", "cascade").replace(
        "rules: {inventory: inner.yaml}", f"rules: {{inventory: tables_offline, on_error: [small]}}, {SMALL}"
    ),
    "visits.csv": 'City,Visitors\nLisbon,"4,200"\nLyon,"3,100"\n',
}
VISITS = "ask 'How many more visitors did Lisbon have than Lyon?' --table visits.csv --inventory "


@pytest.fixture
def nested(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.usefixtures("nested")
def test_the_steps_of_an_inventory_within_are_told_below_its_own(sh: Command) -> None:
    shown = sh(f"{VISITS} cascade.yaml --trace").err
    assert shown.startswith("Runs inventory cascade; small asks openai:gpt-6-luna.\nPlan: rules\n")
    (step,) = sh(f"{VISITS} cascade.yaml --json").json["steps"]
    assert step["module"] == "rules" and step["output"] == "1,100"
    assert [each["module"] for each in step["steps"]] == ["table_reader", "final_answer"]
    assert "steps" not in step["steps"][0] and step["usage"]["calls"] == 0
    assert "\nModel: small asks openai:gpt-6-luna\n" in sh("check cascade.yaml").out
    shown = sh("check cascade.yaml --model openai:gpt-4.1").out
    assert "\nModel: openai:gpt-4.1, because " in shown and "small asks openai:gpt-6-luna" in shown


CITIES = 'City,Visitors\nLisbon,"4,200"\nLyon,"3,100"\nOslo,900\n'
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
OWN_CHAT = """\
name: own
input: {question: str}
planner: {use: fixed, plan: [slow]}
modules: {slow: "chat_tools:slow"}
"""
CHAT = "chat tables_offline --table visits.csv"
LOG = " --log chat.jsonl"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CHAMELEON_MODEL", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, text in (("visits.csv", CITIES), ("chat_tools.py", TOOL), ("own.yaml", OWN_CHAT)):
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
    shown = chat(CHAT, MOST, "", ODD, f"  {FEW}  ")
    assert shown.code == 0 and shown.out == "Lisbon\n900\n" and said_before(shown) == ""
    assert shown.err.count("Runs inventory tables_offline") == 1
    assert "Or let a model answer: chameleon chat tables_first --model PROVIDER:NAME" in shown.err
    assert chat(f"{CHAT} -q", MOST, ODD, FEW).out == "Lisbon\n(declined)\n900\n"


def test_commands_show_the_table_and_what_was_said(chat: Command) -> None:
    shown = chat(CHAT, FEW, ODD, "/table", "/history", "/what", "/exit", MOST)
    assert shown.out.startswith("900\n") and "Lisbon     4,200" in shown.out and "\nLisbon\n" not in shown.out
    assert said_before(shown).startswith(f"> {FEW}\n900\n> {ODD}\n(declined)\nThere is no command /what.")


def test_comes_back_to_what_was_said_and_needs_no_files(chat: Command) -> None:
    chat(CHAT + LOG, MOST, ODD)
    shown = chat(f"chat {LOG}", FEW)
    told = f"Resumes chat.jsonl after 2 questions.\n> {MOST}\nLisbon\n> {ODD}\n(declined)\n"
    assert shown.out == "900\n" and said_before(shown) == told
    with ConversationLog("chat.jsonl") as kept:
        assert [turn["answer"] for turn in kept.turns[-1].input["history"]] == ["Lisbon", ""]
        refused = chat(CHAT + LOG, MOST)
    assert refused.code == 1 and "another run is writing to it" in refused.complaint


def test_a_model_is_told_the_turns_before_and_a_failed_one_ends_nothing(chat: Command, place: Path) -> None:
    program = 'visitors = {"Lisbon": 4200, "Lyon": 3100, "Oslo": 900}\nans = max(visitors, key=visitors.get)'
    replies = ['["program_generator"]', program, '["solution_generator"]', *[{"text": ""}] * 3]
    (place / "replies").write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))
    line = f"chat tables --table visits.csv --model scripted:replies --store off {LOG}"
    shown = chat(line, MOST, "And then?", "/history")
    assert shown.code == 0 and shown.out == "Lisbon\n" and "> And then?\n(failed)" in shown.err
    with ConversationLog("chat.jsonl") as kept:
        assert f"Question: {MOST}\nAnswer: Lisbon\n" in kept.turns[-1].calls[0].messages[-1][1]


@pytest.mark.slow
def test_ctrl_c_stops_an_answer_and_the_chat_goes_on(place: Path) -> None:
    line = [sys.executable, "-m", "chameleon", "chat", "own.yaml", "--log", "chat.jsonl"]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    env = environment(str(place))
    with subprocess.Popen(line, cwd=place, env=env, text=True, **streams) as process:
        assert process.stdin is not None
        process.stdin.write("one\nwait\n")
        process.stdin.flush()
        until = time.monotonic() + 30
        while not (place / "waiting").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate("three\n/history\n", timeout=30)
    assert process.returncode == 0 and out == "one after 0\nthree after 2\n"
    said = "> one\none after 0\n> wait\n(failed)\n> three\nthree after 2\n"
    assert said_before(Outcome(0, out, err)) == f"\nchameleon: it was stopped\n{said}"

"""`chameleon ask` against a real server: answers, faults, logs that go on, and replays."""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from pytest import MonkeyPatch

from chameleon.table import to_text
from tests.e2e.commands import ROOT, Command, spawn
from tests.e2e.problems import make_problems
from tests.e2e.rule_model import PROGRAM, SOLUTION, RuleModel
from tests.loopback import Answer, Fault, Start

First = dict[str, Sequence[Answer]]
PROBLEM = make_problems(8)[7]
BY_PROGRAM = json.dumps(PROGRAM)
BY_SOLUTION = json.dumps(["knowledge_retrieval", *SOLUTION])
ASK = f"ask '{PROBLEM['question']}' -t table.csv -i quick.yaml --store off"
STORED = ASK.removesuffix(" --store off")
APPLES = "child,apples\nAda,2\nBen,3\nCleo,5\n"
AMONG = f"ask 'Most points?' -t {ROOT}/demos/data/league.csv --choices 'Kingsmere Town;Harbour Rovers'"
OWN = """\
name: own
input: {question: str, table: Table, choices: 'list?', unit: 'str?'}
planner: {use: fixed, plan: [says]}
modules: {says: {use: own:Says}}
"""


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(to_text(PROBLEM["table"], "csv"))
    (tmp_path / "quick.yaml").write_text("name: quick\nextends: tabmwp\nllm: {retries: 1, timeout: 2}\n")
    (tmp_path / "apples.csv").write_text(APPLES)


@pytest.mark.slow
def test_a_process_answers_and_says_what_it_runs(loopback: Start, sh: Command, tmp_path: Path) -> None:
    server = loopback(RuleModel({"planner": [BY_PROGRAM] * 2}))
    plain = spawn(*shlex.split(ASK), "--unit", "visitors", cwd=tmp_path)
    plan, spent, last = plain.err.splitlines()
    assert plain.code == 0 and plan == f"Plan: {' → '.join(PROGRAM)}" and spent.startswith("Model: 2 calls, ")
    assert last.startswith("Runs inventory quick; model openai:local, because ") and server.url in last
    assert re.search(r"\. Took [\d.]+ m?s\.$", last)
    told = sh(ASK, "--json").json
    assert plain.out == f"{told['answer']} visitors\n"
    assert (told["inventory"], told["model"], told["plan"]) == ("quick", "openai:local", list(PROGRAM))
    assert told["error"] is None and not told["declined"]
    assert told["usage"]["calls"] == 2 and told["usage"]["cost"] is None
    assert [step["module"] for step in told["steps"]] == list(PROGRAM)


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ({"planner": [Fault(401)]}, "refused the key (401)"),
        ({"planner": [BY_SOLUTION], "solution_generator": ["No."] * 21}, 'does not say "The answer is'),
    ],
)
def test_a_fault_is_one_line_with_exit_code_1(loopback: Start, sh: Command, first: First, words: str) -> None:
    loopback(RuleModel(first))
    outcome = sh(ASK)
    assert outcome.code == 1 and words in outcome.complaint
    assert "Runs inventory quick; " in outcome.err and not outcome.out
    loopback(RuleModel(first))
    outcome = sh(ASK, "--json")
    assert outcome.code == 1 and outcome.json["answer"] is None
    assert words in outcome.json["error"]["message"] and outcome.json["error"]["kind"]


def test_the_trace_names_fault_and_repair(loopback: Start, sh: Command) -> None:
    loopback(RuleModel({"planner": ['["calculator"]', BY_PROGRAM], "program_generator": ["ans = ("]}))
    outcome = sh(ASK, "--trace")
    assert outcome.code == 0 and "Plan refused" in outcome.err and "attempt 2 of 20" in outcome.err
    assert "there is no module 'calculator'" in outcome.err
    assert f"Repair: {' → '.join(PROGRAM)}" in outcome.err


def test_a_replay_names_the_nearest_prompt(loopback: Start, sh: Command, monkeypatch: MonkeyPatch) -> None:
    server = loopback(RuleModel({"planner": [BY_PROGRAM]}))
    empty = sh(STORED, "--store", "replay")
    assert empty.code == 1 and "no recording to replay" in empty.complaint and not server.requests
    recorded = sh(STORED, "--json", "--model", "openai:local").json
    server.stop()
    replay = f"{STORED} --model openai:local --store replay"
    replayed = sh(replay, "--json").json
    assert [replayed[key] for key in ("answer", "plan")] == [recorded[key] for key in ("answer", "plan")]
    assert replayed["usage"]["calls"] == 0
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert "recorded it last" in sh(STORED, "--store", "replay").err
    missed = sh(replay.replace("visitors", "guests"))
    assert missed.code == 1 and "no reply is recorded" in missed.complaint
    assert "the nearest recorded one is" in missed.complaint
    assert "guests" in missed.complaint and "visitors" in missed.complaint


def test_logs_of_other_questions_and_no_logs_are_kept(loopback: Start, sh: Command, tmp_path: Path) -> None:
    loopback(RuleModel())
    assert sh(ASK, "--log", "run.jsonl").code == 0
    assert "nothing is asked again" in sh(ASK, "--log", "run.jsonl", "--trace").err
    (tmp_path / "notes.txt").write_text("milk\nbread\n")
    for line, log, complaint in (
        (ASK.replace("visitors", "guests"), "run.jsonl", "the log belongs to another question"),
        (ASK, "notes.txt", "line 1 is not an event"),
        (ASK, "nowhere/run.jsonl", "cannot open the log"),
    ):
        before = [each.read_bytes() for each in sorted(tmp_path.iterdir())]
        outcome = sh(line, "--log", log)
        assert outcome.code == 1 and complaint in outcome.complaint and "has ended: " not in outcome.err
        assert [each.read_bytes() for each in sorted(tmp_path.iterdir())] == before


def test_tables_offline_answers_without_a_model_but_not_after_its_fault(loopback: Start, sh: Command) -> None:
    outcome = sh("ask 'What is the total number of apples?' -t apples.csv")
    assert (outcome.code, outcome.out) == (0, "10\n")
    reading, place, plan, why = outcome.err.splitlines()
    assert reading == "Read as: total apples" and plan.startswith("Plan: ")
    assert place == "From: apples, all 3 rows, column apples"
    assert why.startswith("Runs inventory tables_offline; no model is named")
    loopback(lambda request: Fault(401))
    outcome = sh(STORED.removesuffix(" -i quick.yaml"), "--model", "openai:local")
    assert outcome.code == 1 and "refused the key" in outcome.complaint
    assert "Plan: tables_offline\nPlan: tables\n" in outcome.err and not outcome.out


@pytest.mark.parametrize(("given", "code"), [("harbour rovers.", 0), ("Harbour Rovers!", 0), ("Rovers", 3)])
def test_an_answer_that_is_no_choice_is_declined(sh: Command, tmp_path: Path, given: str, code: int) -> None:
    says = f"class Says(Module):\n    def run(self, state):\n        return {given!r}\n"
    (tmp_path / "own.py").write_text(f"from chameleon import Module\n\n\n{says}")
    (tmp_path / "own.yaml").write_text(OWN)
    plain, told = sh(AMONG, "-i", "own.yaml"), sh(AMONG, "-i", "own.yaml", "--json")
    assert plain.code == told.code == code and bool(plain.out) == (code == 0)
    if code:
        why = "the reply 'Rovers' is not one of the choices: Kingsmere Town; Harbour Rovers"
        assert plain.err.splitlines()[0] == f"Declined: {why}" and why in told.json["error"]["message"]
        assert told.json["answer"] is None and told.json["declined"]


def test_of_several_sheets_the_one_that_was_read_is_named(sh: Command, tmp_path: Path) -> None:
    text = '{"arts": [{"Name": "Ann", "Age": 3}], "other": [{"Name": "Bob", "Age": 7}]}'
    (tmp_path / "two.json").write_text(text)
    asked = "ask 'What is the highest Age?' -t two.json -i tables_offline"
    first, other = sh(asked), sh(asked, "--sheet", "other")
    told = "Read 'arts' of two.json; there are also 'other': choose with --sheet."
    assert first.out == "3\n" and first.err.splitlines()[0] == told
    assert other.out == "7\n" and "Read '" not in other.err
    twice = sh(asked, "--sheet", "arts", "--sheet", "other")
    assert twice.code == 2 and "--sheet" in twice.err


def test_the_last_reply_is_shown_while_it_comes(loopback: Start, sh: Command) -> None:
    replies = ["I do not know.\x1b[2J", "Add them up.\nThe answer is 7."]
    server = loopback(RuleModel({"planner": [BY_SOLUTION], "solution_generator": replies}))
    outcome = sh(ASK, "--stream")
    assert outcome.code == 0 and outcome.out == "7\n"
    shown = ["I do not know.\ufffd[2J", "(another reply:) Add them up.", "The answer is 7."]
    assert outcome.err.splitlines()[:3] == shown
    assert [request.get("stream", False) for request in server.requests] == [False, False, True, True]


def test_what_was_assumed_is_told_with_the_answer_and_in_logs(sh: Command, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Item,Price,ZIP\nTea,$4,02116\nJam,TBD,12207\nBun,$2,12208\n")
    log, asked = tmp_path / "l.jsonl", "ask 'What is the total price?' -t t.csv"
    note = "Price: 1 × TBD counts as blank"
    told = sh(f"{asked} -i tables_offline --log l.jsonl")
    assert told.out == "$6\n" and f"Note: {note}\n" in told.err
    assert json.loads(log.read_text().splitlines()[0])["notes"] == [note]
    assert sh(f"{asked} -i tables_offline --json").json["notes"] == [note]


GRADER = """
from chameleon import Declined, Module
from chameleon.errors import ModuleError

class Grader(Module):
    reads, writes = ("input.question",), ("cache.answer",)

    def run(self, state):
        if state.input["question"] != "answer":
            raise (Declined if state.input["question"] == "decline" else ModuleError)("so asked")
        return "yes"
"""


def test_the_exit_code_of_several_questions_is_the_worst(sh: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(GRADER)
    parts = "planner: {use: fixed, plan: [grader]}\nmodules: {grader: {use: 'mine:Grader'}}"
    (tmp_path / "mine.yaml").write_text(f"name: mine\ninput: {{question: str, table: Table}}\n{parts}\n")
    for questions, code in {
        "answer": 0,
        "answer decline": 3,
        "decline fail": 1,
        "fail decline answer": 1,
    }.items():
        (tmp_path / "q").write_text("\n".join(questions.split()))
        assert sh("ask --questions q -t apples.csv -i mine.yaml").code == code, questions


def test_each_line_of_a_file_is_asked_and_gives_a_line(sh: Command, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("Who has the most apples?\n\nWho likes them?\nTotal apples\n")
    asked = "ask --questions q -t apples.csv -i tables_offline"
    outcome = sh(asked)
    assert (outcome.code, outcome.out) == (3, "Cleo\n(declined)\n10\n")
    told = [json.loads(line) for line in sh(asked, "--json").out.splitlines()]
    assert [each["answer"] for each in told] == ["Cleo", None, "10"]
    assert told[0]["reading"] == "child with the most apples" and told[1]["question"] == "Who likes them?"
    assert sh(asked, "Who?").code == 2 and sh("ask -t apples.csv").code == 2
    (tmp_path / "q").write_bytes(b"\xff\xfe\x00")
    assert "save it again as UTF-8" in sh(asked).err
    (tmp_path / "q").write_bytes("café\n...\n".encode("latin-1"))
    outcome = sh(asked)
    assert outcome.out.count("(declined)") == 2 and "these words were not understood: café" in outcome.err

"""`chameleon ask` against a real server: answers, faults, logs that go on, and replays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from chameleon.table import to_text
from tests.e2e.commands import ROOT, Command, spawn
from tests.e2e.problems import make_problems
from tests.e2e.rule_model import PROGRAM, SOLUTION, RuleModel
from tests.loopback import Answer, Fault, LoopbackServer, Start

PROBLEM = make_problems(8)[7]
BY_PROGRAM = json.dumps(PROGRAM)
BY_SOLUTION = json.dumps(["knowledge_retrieval", *SOLUTION])


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    """`ask` with a question, its table, and tabmwp with waits that suit a test."""
    table = tmp_path / "table.csv"
    table.write_text(to_text(PROBLEM["table"], "csv"))
    inventory = tmp_path / "quick.yaml"
    inventory.write_text("name: quick\nextends: tabmwp\nllm: {retries: 1, timeout: 2}\n")
    return ["ask", PROBLEM["question"], "--table", str(table), "--inventory", str(inventory)]


@pytest.mark.slow
def test_a_process_answers_and_says_what_it_runs(loopback: Start, command: Command, asked: list[str]) -> None:
    server = loopback(RuleModel({"planner": [BY_PROGRAM] * 2}))
    plain = spawn(*asked, "--unit", "visitors", "--store", "off")
    assert plain.code == 0
    plan, spent, last = plain.err.splitlines()
    assert spent.startswith("Model: 2 calls, ")
    assert last.startswith("Runs inventory quick; model openai:local, because ") and server.url in last
    assert re.search(r"\. Took [\d.]+ m?s\.$", last)
    assert plan == f"Plan: {' → '.join(PROGRAM)}"

    told = json.loads(command(*asked, "--json", "--store", "off").out)
    assert plain.out == f"{told['answer']} visitors\n"
    assert (told["inventory"], told["model"], told["plan"]) == ("quick", "openai:local", list(PROGRAM))
    assert told["error"] is None and not told["declined"]
    assert told["usage"]["calls"] == 2 and told["usage"]["cost"] is None
    assert [step["module"] for step in told["steps"]] == list(PROGRAM)


FAULTS: dict[str, tuple[dict[str, Sequence[Answer]], str]] = {
    "401": ({"planner": [Fault(401)]}, "refused the key (401)"),
    "no solution": (
        {"planner": [BY_SOLUTION], "solution_generator": ["I do not know."] * 21},
        'does not say "The answer is',
    ),
}


@pytest.mark.parametrize(("first", "words"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_one_line_on_stderr_with_exit_code_1(
    loopback: Start, command: Command, asked: list[str], first: dict[str, Sequence[Answer]], words: str
) -> None:
    loopback(RuleModel(first))
    outcome = command(*asked, "--store", "off")
    assert outcome.code == 1 and words in outcome.complaint
    assert "Runs inventory quick; " in outcome.err and not outcome.out
    loopback(RuleModel(first))
    outcome = command(*asked, "--store", "off", "--json")
    told = json.loads(outcome.out)
    assert outcome.code == 1 and told["answer"] is None
    assert words in told["error"]["message"] and told["error"]["kind"]


def test_the_trace_names_fault_and_repair(loopback: Start, command: Command, asked: list[str]) -> None:
    first: dict[str, Sequence[Answer]] = {
        "planner": ['["calculator"]', BY_PROGRAM],
        "program_generator": ["```python\nans = (1 +"],
    }
    loopback(RuleModel(first))
    outcome = command(*asked, "--trace", "--store", "off")
    assert outcome.code == 0
    for words in [
        "Plan refused",
        "there is no module 'calculator'",
        "Repair: program_generator → program_verifier → program_executor → answer_generator",
        "attempt 2 of 20",
    ]:
        assert words in outcome.err


@pytest.mark.slow
def test_a_server_that_is_not_there_or_has_no_such_model_is_one_line(
    loopback: Start, command: Command, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with LoopbackServer() as server:
        gone = server.url
    monkeypatch.setenv("OPENAI_BASE_URL", gone)
    unnamed = command(*asked)
    assert unnamed.code == 1 and "cannot be reached (connection refused)" in unnamed.complaint
    named = command(*asked, "--model", "openai:local")
    assert named.code == 1 and "Check that the server runs" in named.complaint
    loopback(RuleModel(), models=["qwen3:8b"], only_models=True)
    unknown = command(*asked, "--model", "openai:gpt-9")
    assert unknown.code == 1 and "gpt-9" in unknown.complaint and "qwen3:8b" in unknown.complaint


def test_replay_asks_nothing_and_a_miss_names_the_nearest_prompt(
    loopback: Start, command: Command, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = loopback(RuleModel({"planner": [BY_PROGRAM]}))
    empty = command(*asked, "--store", "replay")
    assert empty.code == 1 and "no recording to replay" in empty.complaint and not server.requests
    recorded = json.loads(command(*asked, "--json", "--model", "openai:local").out)
    server.stop()
    replay = ("--json", "--model", "openai:local", "--store", "replay")
    replayed = json.loads(command(*asked, *replay).out)
    assert replayed["answer"] == recorded["answer"] and replayed["plan"] == recorded["plan"]
    assert replayed["usage"]["calls"] == 0
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert "recorded it last" in command(*asked, "--store", "replay").err

    asked[1] = asked[1].replace("visitors", "guests")
    missed = command(*asked, "--model", "openai:local", "--store", "replay")
    assert missed.code == 1 and "no reply is recorded" in missed.complaint
    assert "the nearest recorded one is" in missed.complaint
    assert "guests" in missed.complaint and "visitors" in missed.complaint


def test_a_log_of_another_question_and_a_file_that_is_no_log_are_left_alone(
    loopback: Start, command: Command, asked: list[str], tmp_path: Path
) -> None:
    loopback(RuleModel())
    log = tmp_path / "run.jsonl"
    assert command(*asked, "--log", str(log)).code == 0
    before = log.read_bytes()
    other = command("ask", "Something else?", *asked[2:], "--log", str(log))
    assert other.code == 1 and "the log belongs to another question" in other.complaint
    assert "has ended: " not in other.err
    assert log.read_bytes() == before
    notes = tmp_path / "notes.txt"
    notes.write_text("milk\nbread\n")
    outcome = command(*asked, "--log", str(notes))
    assert outcome.code == 1 and "line 1 is not an event" in outcome.complaint
    assert notes.read_text() == "milk\nbread\n"
    nowhere = command(*asked, "--log", str(tmp_path / "nowhere" / "run.jsonl"))
    assert nowhere.code == 1 and "cannot open the log" in nowhere.complaint


def test_after_a_fault_of_the_model_the_offline_inventory_does_not_step_in(
    loopback: Start, command: Command, asked: list[str]
) -> None:
    loopback(lambda request: Fault(401))
    outcome = command(*asked[:4], "--model", "openai:local")
    assert outcome.code == 1 and "refused the key" in outcome.complaint
    assert "Plan: tables_offline\nPlan: tables\n" in outcome.err and not outcome.out


def test_without_a_model_the_offline_inventory_answers(command: Command, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("child,apples\nAda,2\nBen,3\nCleo,5\n")
    outcome = command("ask", "What is the total number of apples?", "--table", str(table))
    assert (outcome.code, outcome.out) == (0, "10\n")
    reading, place, plan, why = outcome.err.splitlines()
    assert reading == "Read as: total apples"
    assert place == "From: table, all 3 rows, column apples" and plan.startswith("Plan: ")
    assert why.startswith("Runs inventory tables_offline; no model is named")


LEAGUE = ("Which team has the most points?", "--table", "demos/data/league.csv")
AMONG = ("--choices", "Kingsmere Town;Harbour Rovers", "--inventory", "tabmwp")


def scripted(path: Path, *replies: str) -> tuple[str, str]:
    path.write_text("".join(f"{json.dumps(reply)}\n" for reply in (json.dumps(SOLUTION), *replies)))
    return "--model", f"scripted:{path}"


def test_a_reply_that_fits_no_choice_is_declined(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    file = tmp_path / "quick.yaml"
    solutions = "repair: {solution_generator: {redo: solution_generator, attempts: 2}}"
    file.write_text(f"name: quick\nextends: tabmwp\n{solutions}\n")
    asked = ("ask", *LEAGUE, *AMONG[:2], "--inventory", str(file), *scripted(tmp_path / "r", *["qx 1"] * 3))
    plain = command(*asked)
    assert plain.code == 3 and not plain.out
    first, *_ = plain.err.splitlines()
    assert first == "Declined: the reply 'qx 1' is none of the choices: Kingsmere Town; Harbour Rovers"
    outcome = command(*asked, "--json")
    told = json.loads(outcome.out)
    assert outcome.code == 3 and told["answer"] is None and told["declined"]
    assert "'qx 1' is none of the choices" in told["error"]["message"]


@pytest.mark.parametrize(("given", "code"), [("harbour rovers.", 0), ("Harbour Rovers!", 0), ("Rovers", 3)])
def test_the_answer_of_a_module_of_ones_own_is_held_against_the_choices(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, code: int
) -> None:
    monkeypatch.chdir(ROOT)
    says = f"class Says(Module):\n    def run(self, state):\n        return {given!r}\n"
    (tmp_path / "own.py").write_text(f"from chameleon import Module\n\n\n{says}")
    (tmp_path / "own.yaml").write_text(
        "name: own\ninput: {question: str, table: Table, choices: 'list?', unit: 'str?'}\n"
        "planner: {use: fixed, plan: [says]}\nmodules: {says: {use: own:Says}}\n"
    )
    outcome = command("ask", *LEAGUE, *AMONG[:2], "--inventory", str(tmp_path / "own.yaml"))
    assert outcome.code == code, outcome


def test_of_several_sheets_the_one_that_was_read_is_named(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text('{"arts": [{"Name": "Ann", "Age": 3}], "other": [{"Name": "Bob", "Age": 7}]}')
    asked = ("ask", "What is the highest Age?", "--table", path, "--inventory", "tables_offline")
    first = command(*map(str, asked))
    assert first.out == "3\n"
    assert (
        first.err.splitlines()[0] == "Read 'arts' of two.json; there are also 'other': choose with --sheet."
    )
    other = command(*map(str, asked), "--sheet", "other")
    assert other.out == "7\n" and "Read '" not in other.err
    twice = command(*map(str, asked), "--sheet", "arts", "--sheet", "other")
    assert twice.code == 2 and "--sheet" in twice.err


def test_the_last_reply_is_shown_while_it_comes(loopback: Start, command: Command, asked: list[str]) -> None:
    replies = ["I do not know.\x1b[2J", "Add them up.\nThe answer is 7."]
    server = loopback(RuleModel({"planner": [BY_SOLUTION], "solution_generator": replies}))
    outcome = command(*asked, "--store", "off", "--stream")
    assert outcome.code == 0 and outcome.out == "7\n"
    assert outcome.err.splitlines()[:3] == [
        "I do not know.\ufffd[2J",
        "(another reply:) Add them up.",
        "The answer is 7.",
    ]
    assert [request.get("stream", False) for request in server.requests] == [False, False, True, True]


def test_what_was_assumed_is_told_under_the_answer_in_json_in_the_log_and_in_prompts(
    command: Command, tmp_path: Path
) -> None:
    table, log = tmp_path / "t.csv", tmp_path / "l.jsonl"
    table.write_text("Item,Price,ZIP\nTea,$4,02116\nJam,TBD,12207\nBun,$2,12208\n")
    asked = ["ask", "What is the total price?", "--table", str(table)]
    note = "Price: 1 × TBD counts as blank"
    told = command(*asked, "-i", "tables_offline", "--log", str(log))
    assert told.out == "$6\n" and f"Note: {note}\n" in told.err
    assert json.loads(log.read_text().splitlines()[0])["notes"] == [note]
    assert json.loads(command(*asked, "-i", "tables_offline", "--json").out)["notes"] == [note]
    replies = tmp_path / "replies.jsonl"
    replies.write_text(json.dumps(" -> ".join(PROGRAM)) + "\n" + json.dumps("ans = df['Price'].sum()") + "\n")
    log.unlink()
    command(*asked, "-i", "tables", "--model", f"scripted:{replies}", "--log", str(log))
    assert log.read_text().count(f" Item: text · Price: number, $ · ZIP: text. Note: {note}") == 2


def test_each_line_of_a_file_is_asked_and_gives_a_line(command: Command, tmp_path: Path) -> None:
    file, table = tmp_path / "questions.txt", tmp_path / "table.csv"
    file.write_text("Who has the most apples?\n\nWho likes them?\nTotal apples\n")
    table.write_text("child,apples\nAda,2\nBen,3\nCleo,5\n")
    asked = ("ask", "--questions", str(file), "--table", str(table), "--inventory", "tables_offline")
    outcome = command(*asked)
    assert (outcome.code, outcome.out) == (3, "Cleo\n(declined)\n10\n")
    told = [json.loads(line) for line in command(*asked, "--json").out.splitlines()]
    assert [each["answer"] for each in told] == ["Cleo", None, "10"]
    assert told[0]["reading"] == "child with the most apples" and told[1]["question"] == "Who likes them?"
    assert command(*asked, "Who?").code == 2 and command("ask", "--table", str(table)).code == 2
    file.write_bytes(b"\xff\xfe\x00")
    assert "save it again as UTF-8" in command(*asked).err
    file.write_bytes("café\n...\n".encode("latin-1"))
    outcome = command(*asked)
    assert outcome.out.count("(declined)") == 2 and "these words were not understood: café" in outcome.err

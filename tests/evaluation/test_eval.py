"""`chameleon eval`: what it prints, keeps, and makes of failures, with and without a model."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import Command, Outcome
from tests.e2e.rule_model import PROGRAM, RuleModel
from tests.engine.files import write
from tests.evaluation.model_rows import Start, model_rows
from tests.evaluation.rows import Row, make_rows, read_lines, write_rows
from tests.loopback import Answer, Fault, Reply

COUNTS = [
    "benchmark",
    "n",
    "correct",
    "accuracy",
    "answered",
    "answered_accuracy",
    "breakdown",
    "usage",
    "seconds",
]
COLUMNS = ["ALL", "FREE", "MC", "INT", "DEC", "EXTR", "BOOL", "OTH", "G1-6", "G7-8"]
USAGE = ["calls", "input_tokens", "output_tokens", "cost"]
# TabMWP's inventory for a server that is asked once, and that costs a dollar for a million tokens.
PRICED = "name: priced\nextends: tabmwp\nllm: {retries: 0, prices: {input: 1.0, output: 1.0}}\n"
UNPRICED = "name: unpriced\nextends: tabmwp\nllm: {retries: 0}\n"
BROKEN = Fault(500)


@pytest.fixture
def problems(tmp_path: Path) -> str:
    return str(write_rows(tmp_path / "problems.jsonl.gz", make_rows(12)))


class Asking:
    """Evaluations of TabMWP's inventory with the rule-based model."""

    def __init__(self, command: Command, place: Path, count: int = 12, inventory: str = UNPRICED) -> None:
        self.command, self.place = command, place
        self.inventory = str(write(place, inventory, "asking.yaml"))
        self.data = str(write_rows(place / "asking.jsonl", model_rows(count)))
        self.out = place / "out"

    def run(self, *options: str) -> Outcome:
        """Evaluate into the folder, one problem after the other unless told otherwise."""
        asked = ("eval", self.inventory, self.data, "--out", str(self.out), "--model", "openai:local")
        return self.command(*asked, "--workers", "1", "--store", "off", "--json", *options)

    @property
    def results(self) -> dict[str, Row]:
        lines = read_lines(self.out / "results.jsonl")
        assert len({line["id"] for line in lines}) == len(lines)
        return {line["id"]: line for line in lines}


def timeless(results: dict[str, Row]) -> dict[str, Row]:
    return {id: {**result, "seconds": 0} for id, result in results.items()}


def test_json_has_the_shape_of_the_issue(command: Command, problems: str) -> None:
    outcome = command("eval", "tables_offline", problems, "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 0 and outcome.out.count("\n") == 1
    assert list(found) == COUNTS
    assert list(found["breakdown"]) == COLUMNS and list(found["usage"]) == USAGE
    assert (found["n"], found["correct"], found["answered"]) == (12, 8, 8)
    assert found["accuracy"] == 8 / 12 and found["answered_accuracy"] == 1.0
    assert found["breakdown"]["ALL"] == {"n": 12, "correct": 8, "accuracy": 8 / 12}
    assert found["breakdown"]["OTH"] == {"n": 0, "correct": 0, "accuracy": None}
    for part in (("FREE", "MC"), ("INT", "DEC", "EXTR", "BOOL", "OTH"), ("G1-6", "G7-8")):
        assert sum(found["breakdown"][name]["n"] for name in part) == 12
        assert sum(found["breakdown"][name]["correct"] for name in part) == 8


def test_the_table_is_all_that_stdout_holds(command: Command, problems: str) -> None:
    outcome = command("eval", "tables_offline", problems)
    title, header, percent, right, of, answered, seconds = outcome.out.splitlines()
    assert title == "tabmwp, scored by the rule of chameleon"
    assert header.split() == COLUMNS
    assert percent.split() == [
        "right,", "%", "66.67", "50.00", "100.00", "0.00", "100.00", "100.00", "–", "–", "60.00", "100.00",
    ]  # fmt: skip
    assert right.split() == ["right", "8", "4", "4", "0", "4", "4", "0", "0", "6", "2"]
    assert of.split() == ["of", "12", "8", "4", "4", "4", "4", "0", "0", "10", "2"]
    assert len({len(line) for line in (header, percent, right, of)}) == 1
    assert answered == "Answered 8, right 100.00 % of them; declined 4, failed 0."
    assert seconds.endswith(" s")
    assert outcome.err == "Runs inventory tables_offline; it asks no model, over 12 problems of tabmwp.\n"


def test_results_keep_what_the_issue_names(command: Command, problems: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("eval", "tables_offline", problems, "--out", str(out)).code == 0
    for line in read_lines(out / "results.jsonl"):
        assert list(line)[:8] == ["id", "answer", "declined", "correct", "plan", "seconds", "usage", "error"]
        assert list(line["usage"]) == USAGE
        reason = line["error"]["kind"] if line["error"] else None
        assert (line["answer"] is None) == line["declined"] == (reason == "Declined")
        assert line["declined"] != line["correct"]
        assert line["plan"] == list(PROGRAM)
    kinds = {line["event"] for line in read_lines(out / "events.jsonl")}
    assert kinds == {"begun", "plan", "step", "ended"}


def test_what_is_declined_is_never_right(command: Command, tmp_path: Path) -> None:
    """Chameleon's rule takes the first choice where there is no answer; an evaluation does not."""
    rows = [{**row, "question": "Why so?", "choices": [row["answer"], "x"]} for row in make_rows(4)]
    found = json.loads(
        command("eval", "tables_offline", str(write_rows(tmp_path / "d.jsonl", rows)), "--json").out
    )
    assert (found["n"], found["correct"], found["answered"], found["answered_accuracy"]) == (4, 0, 0, None)


def test_limit_takes_the_first(command: Command, problems: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = json.loads(
        command("eval", "tables_offline", problems, "--limit", "5", "--out", str(out), "--json").out
    )
    assert found["n"] == 5
    assert sorted(line["id"] for line in read_lines(out / "results.jsonl")) == [
        str(1000 + number) for number in range(5)
    ]


def test_eight_workers_come_to_what_one_does(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(RuleModel(delay=0.005))
    alone, together = (Asking(command, tmp_path, 24) for _ in range(2))
    together.out = tmp_path / "together"
    first = json.loads(alone.run().out)
    asked = len(server.requests)
    second = json.loads(together.run("--workers", "8").out)
    assert timeless(alone.results) == timeless(together.results)
    assert len(server.requests) == 2 * asked == 2 * first["usage"]["calls"]
    assert server.peak > 1
    for found in (first, second):
        del found["seconds"]
    assert first == second


def test_a_problem_that_fails_is_kept_with_its_steps(
    loopback: Start, command: Command, tmp_path: Path
) -> None:
    first: dict[str, list[Answer]] = {"planner": [json.dumps(PROGRAM)], "program_generator": [BROKEN]}
    model = RuleModel(first)
    server = loopback(model)
    asking = Asking(command, tmp_path)
    outcome = asking.run()
    assert outcome.code == 0 and json.loads(outcome.out)["n"] == 12
    assert "accuracy" in json.loads(outcome.out)
    failed = asking.results["0"]
    assert failed["error"]["kind"] == "ModelError" and "(500)" in failed["error"]["message"]
    assert failed["error"]["where"] == "module program_generator"
    assert failed["answer"] is None and not failed["declined"] and not failed["correct"]
    assert all(result["error"] is None for id, result in asking.results.items() if id != "0")
    events = [line for line in read_lines(asking.out / "events.jsonl") if line["id"] == "0"]
    assert [event["event"] for event in events] == ["begun", "plan", "step", "ended"]

    before = len(server.requests)
    assert asking.run().code == 0
    assert len(server.requests) == before, "a failed problem is tried again only when that is asked for"
    again = asking.run("--retry-failed")
    assert again.code == 0 and "Tries 1 failed problems again." in again.err
    assert asking.results["0"]["error"] is None and len(asking.results) == 12
    late = model.asked[before:]
    assert late[0] == "program_generator" and "planner" not in late
    assert asking.results["0"]["usage"]["calls"] == 1 + len(late), "the plan was kept, and is counted"


def test_an_input_that_does_not_fit_fails_alone(command: Command, tmp_path: Path) -> None:
    rows = make_rows(3)
    rows[1]["question"] = "  "
    out = tmp_path / "out"
    data = str(write_rows(tmp_path / "d.jsonl", rows))
    outcome = command("eval", "tables_offline", data, "--out", str(out))
    assert outcome.code == 0 and "failed 1." in outcome.out
    failed = {line["id"]: line["error"] for line in read_lines(out / "results.jsonl")}["1001"]
    assert failed["kind"] == "InputError" and failed["message"] == "the question is empty"
    again = command("eval", "tables_offline", data, "--out", str(out), "--retry-failed")
    assert again.code == 0 and "failed 1." in again.out


def test_a_wrong_key_stops_at_once_and_goes_on_later(
    loopback: Start, command: Command, tmp_path: Path
) -> None:
    model = RuleModel({"solution_generator": [Fault(401)] * 8, "program_generator": [Fault(401)] * 8})
    loopback(model)
    asking = Asking(command, tmp_path)
    stopped = asking.run("--workers", "4")
    assert stopped.code == 1 and not stopped.out
    told = stopped.err.splitlines()[-1]
    assert "failed for a reason that would fail all others" in told and "refused the key (401)" in told
    assert not (asking.out / "results.jsonl").read_bytes()
    plans = model.asked.count("planner")
    assert plans <= 8
    model._first.clear()
    assert asking.run("--workers", "4").code == 0
    assert len(asking.results) == 12 and all(result["error"] is None for result in asking.results.values())
    assert model.asked.count("planner") == 12, "no plan was asked for twice"


def test_twenty_failures_in_a_row_stop(loopback: Start, command: Command, tmp_path: Path) -> None:
    model = RuleModel({"planner": [BROKEN] * 500})
    server = loopback(model)
    asking = Asking(command, tmp_path, 30)
    stopped = asking.run()
    assert stopped.code == 1 and not stopped.out
    told = stopped.err.splitlines()[-1]
    assert "20 problems in a row failed, the last with: " in told and "--retry-failed goes on" in told
    assert len(asking.results) == len(server.requests) == 20
    model._first.clear()
    done = asking.run("--retry-failed")
    assert done.code == 0 and json.loads(done.out)["n"] == 30
    assert all(result["error"] is None for result in asking.results.values())


def test_max_cost_stops_and_goes_on(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(RuleModel())
    asking = Asking(command, tmp_path, 20, PRICED)
    stopped = asking.run("--max-cost", "0.02")
    assert stopped.code == 1
    found = json.loads(stopped.out)
    assert 0.02 <= found["usage"]["cost"] < 0.03 and 0 < found["n"] < 20
    assert f"Stopped (the cost has reached --max-cost 0.02) after {found['n']} of 20" in stopped.err
    asked = len(server.requests)
    again = asking.run("--max-cost", "0.02")
    assert again.code == 1 and json.loads(again.out)["n"] == found["n"] and len(server.requests) == asked
    done = asking.run("--max-cost", "5")
    assert done.code == 0 and json.loads(done.out)["n"] == 20
    usage = json.loads(done.out)["usage"]
    assert usage["cost"] == pytest.approx((usage["input_tokens"] + usage["output_tokens"]) / 1e6)
    assert usage["calls"] == len(server.requests)


def test_a_cost_that_is_not_known_is_told(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(RuleModel())
    asking = Asking(command, tmp_path, 6)
    stopped = asking.run("--max-cost", "1")
    assert stopped.code == 1 and not stopped.out
    assert "the provider reports no cost, so --max-cost cannot be kept" in stopped.err
    assert {request["model"] for request in server.requests} == {"local"} and len(asking.results) == 1
    done = asking.run()
    assert done.code == 0 and json.loads(done.out)["usage"]["cost"] is None
    assert json.loads(done.out)["usage"]["input_tokens"] > 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--retry-failed",), "--retry-failed has nothing to try again. Name the folder with --out."),
        (("--scorer", "pott"), "tabmwp has no scorer 'pott'. Did you mean 'pot'?"),
        (("--without", "row_lokup"), "there is no module 'row_lokup' to leave out"),
        (("--without", "answer_generator"), "answer_generator cannot be left out: a plan must end with it"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    command: Command, problems: str, options: tuple[str, ...], told: str
) -> None:
    outcome = command("eval", "tables_offline", problems, *options)
    assert outcome.code == 1 and not outcome.out and told in outcome.complaint


@pytest.mark.parametrize("option", [("--workers", "0"), ("--limit", "0"), ("--max-cost", "-1")])
def test_numbers_out_of_range_are_wrong_usage(
    command: Command, problems: str, option: tuple[str, str]
) -> None:
    outcome = command("eval", "tables_offline", problems, *option)
    assert outcome.code == 2 and option[0] in outcome.err


def test_no_model_is_told_before_anything_is_made(command: Command, problems: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    outcome = command("eval", "tabmwp", problems, "--out", str(out))
    assert outcome.code == 1 and "the inventory tabmwp asks a model" in outcome.complaint
    assert not out.exists()


def test_recorded_answers_cannot_be_run(command: Command, tmp_path: Path) -> None:
    row = {"pid": "1", "answer": "7", "ques_type": "free_text", "ans_type": "integer_number"}
    outcome = command("eval", "tables_offline", str(write_rows(tmp_path / "d.jsonl", [row])))
    assert "This file holds recorded answers: `chameleon score` scores them." in outcome.complaint


ECHOES: dict[str, Callable[[str], Answer]] = {
    "a reply": lambda key: Reply(f"You sent {key}. The answer is {key}."),
    "an error": lambda key: Fault(500, {"error": {"message": f"bad key {key}"}}),
}


@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_no_file_of_the_folder_holds_the_key(
    loopback: Start,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    echo: Callable[[str], Answer],
    tmp_path: Path,
) -> None:
    key = f"sk-{secrets.token_hex(20)}"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server = loopback(RuleModel({name: [echo(key)] for name in ("planner", "solution_generator", *PROGRAM)}))
    asking = Asking(command, tmp_path, 9)
    outcome = asking.run()
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {key}"}
    files: list[Any] = [file.read_text() for file in asking.out.rglob("*") if file.is_file()]
    assert len(files) == 3
    assert all(key not in text for text in [*files, outcome.out, outcome.err])

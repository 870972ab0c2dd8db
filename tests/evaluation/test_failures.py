"""Problems that fail, and what stops an evaluation: what is kept of them, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import Command
from tests.e2e.rule_model import PROGRAM, RuleModel
from tests.engine.files import TOOL, write
from tests.evaluation.asking import PRICED, Asking, Start
from tests.evaluation.rows import make_rows, read_lines, write_rows
from tests.loopback import Answer, Fault

MINE = """
name: mine
input: {question: str, table: Table, choices: "list?", unit: "str?"}
planner: {use: fixed, plan: [tool]}
modules: {tool: {use: "tools:Tool"}}
"""
BROKEN = Fault(500)


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
    assert asking.run("--retry-failed", "--limit", "2").code == 1
    assert asking.results["0"]["error"], "what is refused forgets nothing"
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


def test_a_module_that_ends_python_fails_alone(command: Command, tmp_path: Path) -> None:
    write(tmp_path, TOOL.replace("return 1", "raise SystemExit(3)"), "tools.py")
    inventory = str(write(tmp_path, MINE))
    outcome = command("eval", inventory, str(write_rows(tmp_path / "d.jsonl", make_rows(3))))
    assert outcome.code == 0 and "declined 0, failed 3." in outcome.out


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


def test_a_model_that_is_not_there_stops_at_once(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(RuleModel(), models=("another",), only_models=True)
    stopped = Asking(command, tmp_path).run()
    assert stopped.code == 1 and not stopped.out
    assert "would fail all others" in stopped.err and "another" in stopped.err.splitlines()[-1]
    assert len(server.requests) == 1


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

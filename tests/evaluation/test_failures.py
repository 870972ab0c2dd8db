"""Problems that fail, and what stops an evaluation: what is kept of them, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.commands import Command
from tests.e2e.rule_model import PROGRAM, RuleModel
from tests.evaluation.asking import Asking, Start
from tests.evaluation.rows import make_rows, read_lines, write_rows
from tests.loopback import Answer, Fault

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
    assert [event["event"] for event in events] == ["run_started", "plan", "step", "run_ended"]

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
    calls = asking.results["0"]["usage"]["calls"]
    assert calls == 2 + len(late), "the plan was kept, and counts like the call that failed"


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
    server = loopback(model)
    asking = Asking(command, tmp_path)
    stopped = asking.run("--workers", "4")
    assert stopped.code == 1
    stop, told = stopped.err.splitlines()[-2:]
    assert stop == "Stopped after 0 of 12: the same command goes on."
    assert "failed for a reason that would fail all others" in told and "refused the key (401)" in told
    counts = json.loads(stopped.out)
    assert counts["n"] == 0 and counts["usage"]["calls"] == len(server.requests)
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
    assert stopped.code == 1 and json.loads(stopped.out)["n"] == 0
    assert "would fail all others" in stopped.err and "another" in stopped.err.splitlines()[-1]
    assert len(server.requests) == 1


def test_twenty_failures_in_a_row_stop(loopback: Start, command: Command, tmp_path: Path) -> None:
    model = RuleModel({"planner": [BROKEN] * 500})
    server = loopback(model)
    asking = Asking(command, tmp_path, 30)
    stopped = asking.run()
    counts = json.loads(stopped.out)
    assert stopped.code == 1 and (counts["n"], counts["answered"], counts["usage"]["calls"]) == (20, 0, 20)
    stop, told = stopped.err.splitlines()[-2:]
    assert stop == "Stopped after 20 of 30." and stopped.err.count("goes on") == 1
    assert "20 problems in a row failed, the last with: " in told and "--retry-failed goes on" in told
    assert len(asking.results) == len(server.requests) == 20
    model._first.clear()
    done = asking.run("--retry-failed")
    assert done.code == 0 and json.loads(done.out)["n"] == 30
    assert all(result["error"] is None for result in asking.results.values())

"""Evaluations that ask a model: what is kept of failures, what stops one, what it spends, and `--without`."""

from __future__ import annotations

import gzip
import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.commands import Outcome
from tests.e2e.rule_model import PROGRAM
from tests.evaluation.asking import PRICED, Asking
from tests.evaluation.rows import read_events
from tests.loopback import Fault, Reply

Make = Callable[..., Asking]
BROKEN = Fault(500)


def counts(outcome: Outcome) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def test_a_problem_that_fails_is_kept_with_its_steps(asking: Make) -> None:
    made = asking({"planner": [json.dumps(PROGRAM)], "program_generator": [BROKEN]})
    outcome = made.run()
    assert outcome.code == 0 and counts(outcome)["n"] == 12 and made.failed == ["0"]
    failed = made.results["0"]
    assert failed["error"]["kind"] == "ModelError" and "(500)" in failed["error"]["message"]
    assert failed["error"]["where"] == "module program_generator"
    assert failed["answer"] is None and not failed["declined"] and not failed["correct"]
    events = [line["event"] for line in read_events(made.out) if line["id"] == "0"]
    assert events == ["run_started", "plan", "step", "run_ended"]

    before = len(made.server.requests)
    assert made.run().code == 0
    assert len(made.server.requests) == before, "a failed problem is tried again only when that is asked for"
    assert made.run("--retry-failed", "--limit", "2").code == 1
    assert made.failed, "what is refused forgets nothing"
    again = made.run("--retry-failed")
    assert again.code == 0 and "Tries 1 failed problems again." in again.err
    assert not made.failed and len(made.results) == 12
    late = made.model.asked[before:]
    assert late[0] == "program_generator" and "planner" not in late
    calls = made.results["0"]["usage"]["calls"]
    assert calls == 2 + len(late), "the plan was kept, and counts like the call that failed"


def test_a_wrong_key_stops_at_once_and_goes_on_later(asking: Make) -> None:
    made = asking({"solution_generator": [Fault(401)] * 8, "program_generator": [Fault(401)] * 8})
    stopped = made.run("--workers", "4")
    stop, told = stopped.err.splitlines()[-2:]
    assert stopped.code == 1 and stop == "Stopped after 0 of 12: the same command resumes."
    assert "failed for a reason that would fail all others" in told and "refused the key (401)" in told
    assert counts(stopped)["n"] == 0 and counts(stopped)["usage"]["calls"] == len(made.server.requests)
    assert not made.results and made.model.asked.count("planner") <= 8
    made.model._first.clear()
    assert made.run("--workers", "4").code == 0
    assert len(made.results) == 12 and not made.failed
    assert made.model.asked.count("planner") == 12, "no plan was asked for twice"


def test_a_model_that_is_not_there_stops_at_once(asking: Make) -> None:
    made = asking(models=("another",), only_models=True)
    stopped = made.run()
    assert stopped.code == 1 and counts(stopped)["n"] == 0 and len(made.server.requests) == 1
    assert "would fail all others" in stopped.err and "another" in stopped.err.splitlines()[-1]


def test_twenty_failures_in_a_row_stop(asking: Make) -> None:
    made = asking({"planner": [BROKEN] * 500}, count=22)
    stopped = made.run()
    found = counts(stopped)
    assert stopped.code == 1 and (found["n"], found["answered"], found["usage"]["calls"]) == (20, 0, 20)
    stop, told = stopped.err.splitlines()[-2:]
    assert stop == "Stopped after 20 of 22." and stopped.err.count("resumes") == 1
    assert "20 problems in a row failed, the last with: " in told and "--retry-failed resumes" in told
    assert len(made.results) == len(made.server.requests) == 20
    made.model._first.clear()
    assert counts(made.run("--retry-failed"))["n"] == 22 and not made.failed


def assert_all_is_counted(outcome: Outcome, made: Asking) -> None:
    """The printed usage is the sum over all requests that the server ever had."""
    usage, tokens = counts(outcome)["usage"], made.model.tokens
    assert usage["calls"] == len(made.server.requests)
    assert (usage["input_tokens"], usage["output_tokens"]) == tokens
    assert usage["cost"] == pytest.approx(sum(tokens) / 1e6)


def test_max_cost_stops_and_goes_on(asking: Make) -> None:
    made, workers = asking(count=24, inventory=PRICED), 4
    several = ("--workers", str(workers))
    stopped = made.run("--max-cost", "0.03", *several)
    found, asked = counts(stopped), made.server.requests[:]
    dearest = max(sum(len(m["content"]) for m in each["messages"]) for each in asked) / 4e6 + 1e-4
    # A step may ask several times; each worker ends the one that it is at.
    assert 0.03 <= found["usage"]["cost"] < 0.03 + 3 * workers * dearest
    assert stopped.code == 1 and found["n"] < 24 and found["n"] == len(made.results)
    stop, told = stopped.err.splitlines()[-2:]
    assert stop == f"Stopped after {found['n']} of 24." and "has reached --max-cost 0.03." in told
    assert_all_is_counted(stopped, made)
    again = made.run("--max-cost", "0.03", *several)
    assert again.code == 1 and counts(again)["n"] == found["n"] and len(made.server.requests) == len(asked)
    assert counts(again)["usage"] == pytest.approx(found["usage"])
    done = made.run("--max-cost", "5", *several)
    assert done.code == 0 and counts(done)["n"] == 24
    assert_all_is_counted(done, made)


def test_a_cost_that_is_not_known_is_told(asking: Make) -> None:
    made = asking(count=6)
    stopped = made.run("--max-cost", "1")
    assert stopped.code == 1 and not stopped.out and "prices" in stopped.err
    assert "the provider reports no cost, so the limit on the cost cannot be kept" in stopped.err
    assert not made.results, "it is seen after the first step, not after the first problem"
    done = made.run()
    usage = counts(done)["usage"]
    assert done.code == 0 and usage["cost"] is None and usage["input_tokens"] > 0


def test_what_failures_cost_still_counts_when_they_are_tried_again(asking: Make) -> None:
    made = asking({name: [BROKEN] * 4 for name in ("planner", "program_generator")}, inventory=PRICED)
    failed = made.run("--workers", "2")
    count = len(made.failed)
    assert count > 4 and f"{count} problems failed: --retry-failed tries them again." in failed.err
    assert_all_is_counted(failed, made)
    made.model._first |= {"solution_generator": [BROKEN], "program_generator": [BROKEN]}
    for options in (("--retry-failed",), ("--retry-failed",), ()):
        assert_all_is_counted(made.run(*options), made)
    assert not made.failed
    spent = sum(result["usage"]["calls"] for result in made.results.values())
    assert spent == len(made.server.requests)


def test_a_planner_that_names_modules_all_the_same_runs_without_them(asking: Make) -> None:
    """Its demonstrations name every module, so the model does."""
    gone, made = {"row_lookup", "knowledge_retrieval"}, asking(count=9)
    assert made.run().code == 0 and gone <= {step["module"] for step in made.events("step")}
    before, made.out = len(made.model.asked), made.out.with_name("without")
    outcome = made.run("--without", "row_lookup", "--without", "knowledge_retrieval")
    assert outcome.code == 0 and counts(outcome)["n"] == 9
    assert not gone & {step["module"] for step in made.events("step")}
    assert not gone & set(made.model.asked[before:])
    lost = [plan for plan in made.events("plan") if "without" in plan["note"]]
    assert lost and not any(plan["refused"] for plan in lost)
    assert json.loads((made.out / "settings.json").read_text())["without"] == sorted(gone)
    told = made.run("--without", "row_lookup")
    assert told.code == 1 and "without was" in told.err
    assert made.run("--without", "knowledge_retrieval,row_lookup").code == 0


def test_fixed_plans_run_without_modules(asking: Make) -> None:
    plan = "[program_generator, program_verifier, program_executor, answer_generator]"
    made = asking(count=2, inventory=f"name: mine\nextends: tabmwp\nplanner: {{use: fixed, plan: {plan}}}\n")
    outcome = made.run("--without", "program_verifier")
    assert outcome.code == 0, outcome.err
    ran = {step["module"] for step in made.events("step")}
    assert "program_verifier" not in ran and "program_executor" in ran
    assert all(result["plan"][-1] == "answer_generator" for result in made.results.values())


def test_no_file_of_the_folder_holds_the_key(asking: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    key = f"sk-{secrets.token_hex(20)}"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    error = Fault(500, {"error": {"message": f"bad key {key}"}})
    echoes = [Reply(f"You sent {key}. The answer is {key}."), error]
    made = asking(dict.fromkeys(("planner", "solution_generator", *PROGRAM), echoes), count=9)
    outcome = made.run()
    assert {headers["authorization"] for headers in made.server.headers} == {f"Bearer {key}"}
    files = {file.name: file.read_bytes() for file in made.out.rglob("*") if file.is_file()}
    files["events.jsonl.gz"] = gzip.decompress(files["events.jsonl.gz"])
    assert len(files) == 4 and b"run_ended" in files["events.jsonl.gz"]
    assert all(key.encode() not in text for text in files.values()) and key not in outcome.out + outcome.err

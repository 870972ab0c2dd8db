"""What a server can do wrong in the middle of a run, and how the run ends: named, logged, and resumable."""

from __future__ import annotations

import json
from itertools import cycle
from pathlib import Path

import pytest

from chameleon import Executor, State
from chameleon.core.log import EventLog
from chameleon.llm import ResponseStore
from tests.e2e.problems import make_problems
from tests.e2e.rule_model import PROGRAM, SOLUTION, RuleModel
from tests.e2e.running import outline, tabmwp
from tests.loopback import Answer, Fault, Reply, Start

PROBLEM = make_problems(8)[7]
BY_PROGRAM = json.dumps(PROGRAM)
BY_SOLUTION = json.dumps(["knowledge_retrieval", *SOLUTION])
LIMITED = Fault(429, {"error": {"message": "slow down", "type": "requests"}}, {"Retry-After": "7"})
NO_QUOTA = Fault(429, {"error": {"message": "x", "code": "insufficient_quota"}})


def ended(state: State) -> tuple[str, str, str]:
    assert state.ended is not None
    error = state.ended.error
    return state.ended.reason, error.kind if error else "", str(error) if error else ""


FOR_EVER: dict[str, tuple[Fault | Reply, int, str, str]] = {
    "429": (LIMITED, 3, "RateLimited", "too many requests (429)"),
    "500": (Fault(500), 3, "ModelError", "the server failed (500): it broke"),
    "502 in HTML": (Fault(502, "<html>Bad gateway</html>"), 3, "ModelError", "(502)"),
    "silence": (Fault(delay=0.4), 3, "ModelError", "did not answer in time"),
    "broken JSON": (Fault(broken_json=True), 3, "Unreachable", "no complete answer from the server"),
    "a dropped connection": (Fault(drop=True), 3, "Unreachable", "no complete answer from the server"),
    "401": (Fault(401), 1, "AuthFailed", "refused the key (401)"),
    "no quota": (NO_QUOTA, 1, "RateLimited", "quota is used up"),
    "a filter": (Reply("", finish="content_filter"), 1, "Refused", "its content filter stepped in"),
    "a refusal": (Reply(None, message={"refusal": "I will not."}), 1, "Refused", "I will not"),
}


@pytest.mark.parametrize(
    ("name", "asker"), list(zip(FOR_EVER, cycle(["planner", "knowledge_retrieval", "solution_generator"])))
)
def test_a_fault_that_stays_ends_the_run_with_its_name(loopback: Start, name: str, asker: str) -> None:
    fault, tries, kind, words = FOR_EVER[name]
    first: dict[str, list[Answer]] = {"planner": [BY_SOLUTION]}
    model = RuleModel({**first, asker: [fault] * 9})
    loopback(model)
    state = tabmwp(retries=2, naps=[], timeout=0.2 if fault.delay else 30).run(PROBLEM)
    reason, ended_kind, message = ended(state)
    assert (reason, ended_kind) == ("failed", kind)
    assert words in message and asker.replace("planner", "one_shot") in message and "openai:local" in message
    assert model.asked.count(asker) == tries
    assert state.answer is None
    failed = state.calls[-1]
    assert failed.attempts == tries and failed.error.startswith(kind) and not failed.text
    if asker != "planner":
        assert state.history[-1].error == state.ended.error  # type: ignore[union-attr]
        assert all(plan.by == "one_shot" for plan in state.plans), "no silent fall-back"


@pytest.mark.parametrize("reply", [Reply(""), Reply("", finish="length")], ids=["stop", "length"])
@pytest.mark.parametrize(("asker", "kind"), [("planner", "fallback"), ("program_generator", "repair")])
def test_an_empty_reply_is_asked_for_again_and_then_done_without(
    loopback: Start, reply: Reply, asker: str, kind: str
) -> None:
    model = RuleModel({"planner": [BY_PROGRAM], asker: [reply] * 9})
    loopback(model)
    state = tabmwp().run(PROBLEM)
    assert ended(state)[0] == "answered" and model.asked.count(asker) > 1
    assert kind in {plan.kind for plan in state.plans}
    noted = " ".join(f"{plan.refused} {plan.note}" for plan in state.plans)
    assert "empty reply" in noted or "cut off" in noted


def test_a_program_that_comes_to_no_end_is_not_asked_for_again_and_again(loopback: Start) -> None:
    half = Reply("```python\nvisitors = [1, 2, 3\nans = sum(", finish="length")
    model = RuleModel({"planner": [BY_PROGRAM], "program_generator": [half] * 9})
    server = loopback(model)
    state = tabmwp().run(PROBLEM)
    first = state.history[0]
    assert first.error is not None and (first.error.kind, first.calls[0].finish) == ("CutOff", "length")
    assert model.asked.count("program_generator") == 3
    assert [request["max_tokens"] for request in server.requests[1:4]] == [256, 1024, 4096]
    assert state.plans[1].kind == "on_error" and ended(state)[0] == "answered"


@pytest.mark.slow
def test_a_program_that_never_ends_is_stopped_and_written_anew(loopback: Start) -> None:
    endless = "```python\nwhile True:\n    pass\n```"
    loopback(RuleModel({"planner": [BY_PROGRAM], "program_generator": [endless]}))
    state = tabmwp().run(PROBLEM)
    assert ended(state)[0] == "answered"
    assert "Timeout" in state.plans[1].note


def test_a_failed_lookup_leaves_the_table_whole_and_says_why(loopback: Start) -> None:
    problem = make_problems(2)[1]
    plan = json.dumps(["row_lookup", *SOLUTION])
    header = "| ".join(problem["table"].header)
    for useless in (Reply(header, finish="length"), "There is no such row.", "a | b\n1 | 2"):
        loopback(RuleModel({"planner": [plan], "row_lookup": [useless] * 3}))
        state = tabmwp().run(problem)
        assert ended(state)[0] == "answered" and state.table == problem["table"]
        error = state.history[0].error
        assert error is not None and error.kind in ("StepRejected", "CutOff")


def logged(executor: Executor, file: Path) -> State:
    """Run with a log on disk, or go on with the one that is there."""
    with EventLog(file) as log:
        log.forget_failure()
        list(executor.stream(PROBLEM, log))
        return State.fold(log)


@pytest.mark.parametrize("dies_after", [0, 2])
def test_a_run_whose_server_dies_is_kept_and_goes_on_with_another(
    loopback: Start, tmp_path: Path, dies_after: int
) -> None:
    plan = {"planner": [BY_SOLUTION]}
    loopback(RuleModel(plan))
    undisturbed = tabmwp().run(PROBLEM)
    assert len(undisturbed.calls) >= 3

    loopback(RuleModel(plan), dies_after=dies_after)
    file = tmp_path / "run.jsonl"
    reason, kind, message = ended(logged(tabmwp(retries=1, naps=[]), file))
    assert (reason, kind) == ("failed", "Unreachable")
    assert "no complete answer from the server" in message and "its address is right" in message

    server = loopback(RuleModel(plan if dies_after == 0 else None))
    resumed = logged(tabmwp(), file)
    assert outline(resumed) == outline(undisturbed)
    assert len(server.requests) == len(undisturbed.calls) - dies_after


def test_after_a_dead_server_the_store_saves_what_was_paid_for(loopback: Start, tmp_path: Path) -> None:
    problems = make_problems(12)
    store = ResponseStore(tmp_path / "replies.sqlite")
    dead = loopback(RuleModel(), dies_after=15)
    broken = list(tabmwp(store=store).batch(problems, workers=4))
    assert {ended(state)[0] for state in broken} == {"answered", "failed"}
    kept = len(store)
    assert kept == 15
    server = loopback(RuleModel(), port=dead.port)
    states = list(tabmwp(store=store).batch(problems, workers=4))
    assert {ended(state)[0] for state in states} == {"answered"}
    calls = [call for state in states for call in state.calls]
    assert sum(call.cached for call in calls) == kept
    assert len(server.requests) == len(calls) - kept

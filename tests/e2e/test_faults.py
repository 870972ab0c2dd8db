"""What a server can do wrong in the middle of a run, and how the run ends: named, logged, and resumable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chameleon import Executor, State
from chameleon.core.log import EventLog
from tests.e2e.problems import make_problems
from tests.e2e.rule_model import PROGRAM, SOLUTION, RuleModel
from tests.e2e.running import outline, tabmwp
from tests.loopback import Answer, Fault, Reply, Start

PROBLEM = make_problems(8)[7]
BY_PROGRAM = json.dumps(PROGRAM)
BY_SOLUTION = json.dumps(["knowledge_retrieval", *SOLUTION])


def ended(state: State) -> tuple[str, str, str]:
    assert state.ended is not None
    error = state.ended.error
    return state.ended.reason, error.kind if error else "", str(error) if error else ""


@pytest.mark.parametrize(("asker", "kind"), [("planner", "fallback"), ("program_generator", "repair")])
def test_an_empty_reply_is_asked_for_again_and_then_done_without(
    loopback: Start, asker: str, kind: str
) -> None:
    model = RuleModel({"planner": [BY_PROGRAM], asker: [Reply("", finish="length")] * 9})
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


@pytest.mark.parametrize(
    ("fault", "tries", "kind"),
    [
        (Fault(429, headers={"Retry-After": "7"}), 3, "RateLimited"),
        (Fault(401), 1, "AuthFailed"),
        (Reply(None, message={"refusal": "I will not."}), 1, "Refused"),
    ],
)
def test_a_fault_that_stays_ends_the_run_with_its_name(
    loopback: Start, fault: Answer, tries: int, kind: str
) -> None:
    """No fallback is tried in silence, and nothing that cannot help is asked again."""
    model = RuleModel({"planner": [BY_SOLUTION], "knowledge_retrieval": [fault] * 9})
    loopback(model)
    state = tabmwp(retries=2, naps=[]).run(PROBLEM)
    assert ended(state)[:2] == ("failed", kind) and "openai:local" in ended(state)[2]
    assert model.asked.count("knowledge_retrieval") == tries == state.calls[-1].attempts
    assert [plan.by for plan in state.plans] == ["one_shot"] and state.answer is None


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

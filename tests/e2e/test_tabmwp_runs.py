"""Runs of `tabmwp` over some problems through the real client: one by one, 16 at once, replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chameleon.core.log import event_from_json, event_to_json
from chameleon.llm import ResponseStore
from tests.e2e.problems import make_problems
from tests.e2e.rule_model import RuleModel, read_item
from tests.e2e.running import events, outline, tabmwp
from tests.loopback import Start

COUNT = 27
OF_ONE_RUN = ("seconds", "at", "cached", "usage", "attempts")


@pytest.mark.slow
def test_many_workers_and_a_replay_come_to_the_results_of_one(loopback: Start, tmp_path: Path) -> None:
    problems, path = make_problems(COUNT), tmp_path / "replies.sqlite"
    alone = loopback(RuleModel())
    sequential = [tabmwp().run(problem) for problem in problems]
    beside = loopback(model := RuleModel(delay=0.02))
    together = list(tabmwp(store=ResponseStore(path)).batch(problems, workers=16))
    assert [*map(outline, sequential)] == [*map(outline, together)] and len(together) == COUNT
    assert alone.peak == 1 and beside.peak > 1
    assert sorted(map(json.dumps, alone.requests)) == sorted(map(json.dumps, beside.requests))
    used = [state.usage for state in together]
    assert sum(usage.calls for usage in used) == len(beside.requests)
    assert (sum(u.input_tokens or 0 for u in used), sum(u.output_tokens or 0 for u in used)) == model.tokens
    assert {usage.cost for usage in used} == {None}, "this server names no price: unknown is not 0"
    beside.stop()
    replayed = list(tabmwp(store=ResponseStore(path, "replay")).batch(problems, workers=16))
    for one, other in zip(together, replayed, strict=True):
        assert outline(one, OF_ONE_RUN) == outline(other, OF_ONE_RUN) and other.usage.calls == 0


def test_every_run_ends_every_failure_has_its_cause_and_prompts_hold_what_was_given(loopback: Start) -> None:
    problems = make_problems(COUNT)
    server = loopback(RuleModel())
    states = list(tabmwp().batch(problems, workers=8))
    for problem, state in zip(problems, states, strict=True):
        assert state.started is not None and state.started.input["question"] == problem["question"]
        assert state.ended is not None and state.ended.reason == "answered" and state.answer is not None
        for record in state.history:
            assert record.error is None or (record.error.kind == "StepRejected" and record.error.message)
            assert (record.output is None) == (record.error is not None)
        assert all(plan.note for plan in state.plans[1:]), "whoever changes the plan says why"
        logged = [event_to_json(event) for event in events(state)]
        assert [event_to_json(event_from_json(event)) for event in logged] == logged
    assert len(server.requests) == sum(len(state.calls) for state in states)
    questions = {problem["question"] for problem in problems}
    assert {read_item(request).question for request in server.requests} == questions
    for request in server.requests:
        assert set(request) <= {"model", "messages", "temperature", "max_tokens", "stream", "stop"}

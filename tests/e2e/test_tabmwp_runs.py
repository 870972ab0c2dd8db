"""Runs of `tabmwp` over some problems through the real client: one by one, 16 at once, replayed, resumed."""

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
def test_many_workers_come_to_the_results_of_one(loopback: Start) -> None:
    problems = make_problems(COUNT)
    alone = loopback(RuleModel())
    sequential = [tabmwp().run(problem) for problem in problems]
    beside = loopback(model := RuleModel(delay=0.02))
    together = list(tabmwp().batch(problems, workers=16))

    assert len(sequential) == len(together) == COUNT
    for one, other in zip(sequential, together, strict=True):
        assert one.answer == other.answer
        assert one.executed_names == other.executed_names
        assert one.cache == other.cache and one.input == other.input
        assert outline(one) == outline(other)
    assert alone.peak == 1 and beside.peak > 1
    assert sorted(map(json.dumps, alone.requests)) == sorted(map(json.dumps, beside.requests))
    used = [state.usage for state in together]
    assert sum(usage.calls for usage in used) == len(beside.requests)
    assert (sum(u.input_tokens or 0 for u in used), sum(u.output_tokens or 0 for u in used)) == model.tokens
    assert {usage.cost for usage in used} == {None}  # this server names no price: unknown is not 0


def test_every_run_ends_and_every_failure_has_its_cause(loopback: Start) -> None:
    problems = make_problems(COUNT)
    server = loopback(RuleModel())
    states = list(tabmwp().batch(problems, workers=8))
    for problem, state in zip(problems, states, strict=True):
        assert state.ended is not None and state.started is not None
        assert state.started.input["question"] == problem["question"]
        assert state.ended.reason == "answered", state.ended.error
        assert state.answer is not None and state.executed_names[-1] == "answer_generator"
        for record in state.history:
            assert record.error is None or (record.error.kind == "StepRejected" and record.error.message)
            assert (record.output is None) == (record.error is not None)
        for plan in state.plans[1:]:
            assert plan.note, "whoever changes the plan says why"
        logged = [event_to_json(event) for event in events(state)]
        assert [event_to_json(event_from_json(event)) for event in logged] == logged
    assert len(server.requests) == sum(len(state.calls) for state in states)


@pytest.mark.slow
def test_a_replayed_batch_asks_nothing_and_comes_to_the_same_states(loopback: Start, tmp_path: Path) -> None:
    problems = make_problems(COUNT)
    server = loopback(RuleModel())
    recorded = list(tabmwp(store=ResponseStore(tmp_path / "replies.sqlite")).batch(problems, workers=16))
    asked = len(server.requests)
    server.stop()
    replaying = tabmwp(store=ResponseStore(tmp_path / "replies.sqlite", "replay"))
    replayed = list(replaying.batch(problems, workers=16))
    for one, other in zip(recorded, replayed, strict=True):
        assert outline(one, OF_ONE_RUN) == outline(other, OF_ONE_RUN)
        assert one.cache == other.cache and one.input == other.input
        assert all(call.cached for call in other.calls) and other.usage.calls == 0
    assert len(server.requests) == asked


def test_no_prompt_holds_what_the_run_was_not_given(loopback: Start) -> None:
    server = loopback(RuleModel())
    problems = make_problems(9)
    list(tabmwp().batch(problems, workers=4))
    questions = {problem["question"] for problem in problems}
    assert {read_item(request).question for request in server.requests} == questions
    for request in server.requests:
        assert set(request) <= {"model", "messages", "temperature", "max_tokens", "stream", "stop"}

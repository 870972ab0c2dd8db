"""Budgets end a run with the limit's name, and keep what was reached."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chameleon import LLM, Budget, Executor, Inventory, State, Step, tool
from chameleon.core.log import event_to_json, json_line
from chameleon.errors import BudgetExceeded
from chameleon.inventory.schema import BudgetSpec
from chameleon.llm import ScriptedModel
from chameleon.planners.fixed import Fixed
from chameleon.usage import Meter, Usage
from tests.engine.doubles import QUESTION, Ask, Does, Proposes, asking, inventory_of, run, why

REPLY = {"text": "7", "input_tokens": 30, "output_tokens": 20, "cost": 0.25}


def ask(times: int, budget: Budget, replies: Sequence[Any] = (REPLY,) * 9, **options: Any) -> State:
    modules = {f"ask{number}": Ask() for number in range(times)}
    return asking(modules, list(replies), budget=budget, **options)


class TestALimit:
    @pytest.mark.parametrize(
        ("budget", "named", "replies"),
        [
            (Budget(calls=2), "reached its budget of 2 calls", [REPLY] * 9),
            (Budget(tokens=100), "reached its budget of 100 tokens", [REPLY] * 9),
            (Budget(cost=0.5), "reached its budget of 0.5 cost", [REPLY] * 9),
            (Budget(steps=2), "reached its budget of 2 steps", [REPLY] * 9),
            (Budget(cost=1.0), "does not report cost", [REPLY, "7", "7"]),
            (Budget(tokens=1000), "does not report tokens", [REPLY, "7", "7"]),
        ],
    )
    def test_ends_the_run_with_its_name_and_state(self, budget: Any, named: str, replies: Any) -> None:
        state = ask(4, budget, replies)
        assert (state.status, state.answer, list(state.cache)) == ("budget", None, ["ask0", "ask1"])
        assert named in why(state) and state.usage.calls == 2
        assert "report" in named or f"Raise budget.{named.split()[-1]}" in why(state)

    def test_that_is_just_enough_does_not_end_the_run(self) -> None:
        assert ask(2, Budget(calls=2, tokens=101, cost=0.51, steps=2)).answer == "7"

    @pytest.mark.parametrize("value", ["ab", ["ab"], [True], [10**3999], [-(10**3999)], [Path("a" * 1000)]])
    def test_of_megabytes_ends_a_plan_that_doubles_its_outputs(self, value: Any) -> None:
        double = tool(lambda once: once + once, name="double")
        plan: Any = [Step("double", {"once": value}), *[Step("double", {"once": "$double"})] * 30]
        inventory = replace(Inventory.of([double], Fixed(plan)), budget=Budget(megabytes=0.1))
        events = list(Executor(inventory).stream(QUESTION))
        told = why(State.fold(events))
        assert "larger than 0.1 MB" in told and "raise budget.megabytes" in told
        assert sum(len(json_line(event_to_json(event))) for event in events) < 1_000_000

    def test_of_seconds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        waits, now = iter([0, 9]), time.monotonic  # before each step
        monkeypatch.setattr("chameleon.usage.time", SimpleNamespace(monotonic=lambda: now() + next(waits)))
        state = run({"one": lambda state: 1, "two": lambda state: 2}, budget=Budget(seconds=5))
        assert "its budget of 5 seconds" in why(state) and state.executed_names == ("one",)

    def test_of_the_executor_stands_in_for_the_inventorys(self) -> None:
        inventory = inventory_of({"one": lambda state: 1}, Fixed(["one"] * 3), budget=Budget(steps=1))
        assert Executor(inventory, budget=Budget(steps=3)).run(QUESTION).answer == 1

    @pytest.mark.parametrize("parallel", [True, False])
    def test_of_steps_is_the_same_for_steps_side_by_side(self, parallel: bool) -> None:
        modules = {name: Does(lambda state: 1, reads="input.question") for name in "abcde"}
        inventory = inventory_of(modules, budget=Budget(steps=3))
        assert Executor(inventory, parallel=parallel).run(QUESTION).executed_names == ("a", "b", "c")

    def test_ends_the_run_whatever_the_policy_for_failures(self) -> None:
        assert ask(2, Budget(calls=1), on_error={"ask1": "skip"}).status == "budget"

    def test_stops_a_planner_that_never_stops(self) -> None:
        state = run({"one": lambda state: len(state.history)}, Proposes(lambda state: [Step("one")]))
        assert "its budget of 64 steps" in why(state) and len(state.executed_names) == 64
        assert "Return ()" in why(state)

    def test_is_one_of_calls_where_nobody_gave_any(self) -> None:
        many = Ask()
        many.samples = 65
        state = asking({"ask": many}, [REPLY] * 65)
        assert "its budget of 64 calls" in why(state) and state.usage.calls <= 64
        limits = {**asdict(Budget()), "calls": 64, "seconds": 3_600.0}
        assert BudgetSpec().model_dump() == limits, "a bare meter has no limit"

    def test_goes_on_counting_when_a_run_is_resumed(self) -> None:
        inventory = inventory_of({name: Ask() for name in "abc"}, budget=Budget(calls=2))
        events = list(Executor(inventory, LLM.connect(ScriptedModel([REPLY] * 3))).stream(QUESTION))
        state = Executor(inventory, LLM.connect(ScriptedModel([REPLY]))).run(QUESTION, events[:3])
        assert state.executed_names == ("a", "b", "c") and state.usage.calls == 2


class TestMeter:
    def test_reserves_calls_so_that_threads_cannot_overrun(self) -> None:
        meter = Meter(Budget(calls=2))
        meter.reserve()
        meter.reserve()
        with pytest.raises(BudgetExceeded):
            meter.reserve()
        meter.settle(Usage(calls=1))
        with pytest.raises(BudgetExceeded):
            meter.reserve()

    def test_takes_unknown_for_unknown(self) -> None:
        total = Usage(1, 5, None, 0.5) + Usage(1, 5, 5, None)
        assert (total.calls, total.input_tokens, total.output_tokens, total.cost) == (2, 10, None, None)

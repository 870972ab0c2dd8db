"""Budgets end a run with the limit's name, and keep what was reached."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chameleon import LLM, Budget, Executor, Inventory, Module, State, Step, tool
from chameleon.core.log import event_to_json, json_line
from chameleon.core.prompt import Prompt
from chameleon.errors import BudgetExceeded
from chameleon.inventory.schema import BudgetSpec
from chameleon.llm import ScriptedModel
from chameleon.planners.fixed import Fixed
from chameleon.planners.one_shot import OneShot
from chameleon.usage import Meter, Usage
from tests.engine.doubles import QUESTION, Ask, Does, Proposes, executor, why

REPLY = {"text": "7", "input_tokens": 30, "output_tokens": 20, "cost": 0.25}


def asking(times: int, budget: Budget, replies: Sequence[Any] = (REPLY,) * 9) -> State:
    names = [f"ask{number}" for number in range(times)]
    inventory = Inventory("asking", Fixed(names), {name: Ask() for name in names}, budget=budget)
    return Executor(inventory, LLM.connect(ScriptedModel(list(replies)))).run(QUESTION)


class TestALimit:
    @pytest.mark.parametrize(
        ("budget", "named", "done"),
        [
            (Budget(calls=2), "2 calls", 2),
            (Budget(tokens=100), "100 tokens", 2),
            (Budget(cost=0.5), "0.5 cost", 2),
            (Budget(steps=2), "2 steps", 2),
        ],
    )
    def test_ends_the_run_with_its_name_and_the_state_so_far(
        self, budget: Budget, named: str, done: int
    ) -> None:
        state = asking(4, budget)
        assert state.ended is not None and state.ended.reason == "budget"
        assert f"the run reached its budget of {named}" in why(state)
        assert f"Raise budget.{named.split()[1]}" in why(state)
        assert list(state.cache) == [f"ask{number}" for number in range(done)]
        assert state.usage.calls == done and state.answer is None

    def test_that_is_just_enough_does_not_end_the_run(self) -> None:
        assert asking(2, Budget(calls=2, tokens=101, cost=0.51, steps=2)).answer == "7"

    @pytest.mark.parametrize("value", ["ab", ["ab"], [True], [10**3999], [-(10**3999)], [Path("a" * 1000)]])
    def test_of_megabytes_ends_a_plan_that_doubles_its_outputs(self, value: Any) -> None:
        @tool
        def double(once: Any) -> Any:
            """Return the value twice."""
            return once + once

        plan: Any = [Step("double", {"once": value}), *[Step("double", {"once": "$double"})] * 30]
        inventory = replace(Inventory.of([double], Fixed(plan)), budget=Budget(megabytes=0.1))
        events = list(Executor(inventory).stream(QUESTION))
        lines = b"".join(json_line(event_to_json(event)) for event in events)
        told = why(State.fold(events))
        assert "larger than 0.1 MB" in told and "raise budget.megabytes" in told
        assert len(lines) < 1_000_000

    def test_of_seconds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        waits = iter([0, 9])  # before each step
        now = time.monotonic
        monkeypatch.setattr("chameleon.usage.time", SimpleNamespace(monotonic=lambda: now() + next(waits)))
        slow = executor({"one": lambda state: 1, "two": lambda state: 2}, budget=Budget(seconds=5))
        state = slow.run(QUESTION)
        assert "its budget of 5 seconds" in why(state) and state.executed_names == ("one",)

    @pytest.mark.parametrize(
        ("limit", "named"), [(Budget(cost=1.0), "cost"), (Budget(tokens=1000), "tokens")]
    )
    def test_that_cannot_be_kept_ends_the_run(self, limit: Budget, named: str) -> None:
        state = asking(2, limit, ["7", "7"])  # this provider tells neither tokens nor cost
        assert state.ended is not None and state.ended.reason == "budget"
        assert f"the provider does not report {named}" in why(state)
        assert list(state.cache) == ["ask0"]

    def test_is_also_kept_by_planners(self) -> None:
        planner = OneShot()
        planner._template = Prompt.parse("# user\nPlan.")  # type: ignore[misc]
        inventory = Inventory("mine", planner, {"ask": Ask()}, budget=Budget(calls=1))
        state = Executor(inventory, LLM.connect(ScriptedModel(["no plan", '["ask"]']))).run(QUESTION)
        assert "its budget of 1 call" in why(state) and state.usage.calls == 1

    def test_of_the_executor_stands_in_for_the_inventorys(self) -> None:
        inventory = Inventory(
            "mine", Fixed(["one"] * 3), {"one": Does(lambda state: 1)}, budget=Budget(steps=1)
        )
        assert Executor(inventory, budget=Budget(steps=3)).run(QUESTION).answer == 1

    @pytest.mark.parametrize("parallel", [True, False])
    def test_of_steps_is_the_same_for_steps_side_by_side(self, parallel: bool) -> None:
        modules = {name: Does(lambda state: 1, reads="input.question") for name in "abcde"}
        inventory = Inventory("mine", Fixed(list(modules)), modules, budget=Budget(steps=3))
        assert Executor(inventory, parallel=parallel).run(QUESTION).executed_names == ("a", "b", "c")

    def test_ends_the_run_whatever_the_policy_for_failures(self) -> None:
        modules: Mapping[str, Module] = {"ask0": Ask(), "ask1": Ask()}
        inventory = Inventory(
            "mine", Fixed(["ask0", "ask1"]), modules, budget=Budget(calls=1), on_error={"ask1": "skip"}
        )
        state = Executor(inventory, LLM.connect(ScriptedModel([REPLY] * 2))).run(QUESTION)
        assert state.ended is not None and state.ended.reason == "budget"

    def test_stops_a_planner_that_never_stops(self) -> None:
        endless = Proposes(lambda state: [Step("one")])
        state = executor({"one": lambda state: len(state.history)}, endless).run(QUESTION)
        assert "its budget of 64 steps" in why(state) and len(state.executed_names) == 64
        assert "Return ()" in why(state)

    def test_is_one_of_calls_where_nobody_gave_any(self) -> None:
        ask = Ask()
        ask.samples = 65
        inventory = Inventory("mine", Fixed(["ask"]), {"ask": ask})
        state = Executor(inventory, LLM.connect(ScriptedModel([REPLY] * 65))).run(QUESTION)
        assert "its budget of 64 calls" in why(state) and state.usage.calls <= 64
        assert "or give Executor a budget=Budget(calls=…)" in why(state)
        limits = {**asdict(Budget()), "calls": 64, "seconds": 3_600.0}
        assert BudgetSpec().model_dump() == limits, "a bare meter has no limit"

    def test_goes_on_counting_when_a_run_is_resumed(self) -> None:
        inventory = Inventory(
            "mine", Fixed(["a", "b", "c"]), {name: Ask() for name in "abc"}, budget=Budget(calls=2)
        )
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

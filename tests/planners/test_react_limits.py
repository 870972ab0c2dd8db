"""React at its limits: budgets, refusals of tools, large outputs, replays, and what is heard of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Budget, Executor, Inventory, Module, Planner, State, Table, tool
from chameleon.core.events import Event, StepRecord
from chameleon.core.llm_module import AsksModel
from chameleon.core.log import event_from_json, event_to_json
from chameleon.errors import InventoryError
from chameleon.inventory.schema import OnError
from chameleon.llm import ResponseStore
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.one_shot import OneShot
from chameleon.planners.react import React
from tests.llm.asking import Start
from tests.loopback import Fault
from tests.planners.test_react import GIVEN, IN_TEXT, NATIVE, calls, convert, weather

CITIES = ("Paris", "Oslo", "Rome", "Bern")
FOUR = [("ask", {"city": city}) for city in CITIES]
AS_TEXT = json.dumps([{"module": name, "args": args} for name, args in FOUR])


class Ask(AsksModel, Module):
    """Asks a model about a city."""

    reads = ()

    def run(self, state: State, *, city: str) -> str:
        return self.model.ask(f"Tell me of {city}.").text


def report() -> Table:
    return Table(["City", "Visitors"], [["Lisbon", "4,200"], ["Lyon", "3,100"]])


def four_at_once(planner: Planner) -> Callable[[Sequence[tuple[str, str]]], dict[str, Any]]:
    """Return a script that has four modules ask the model side by side; each reply takes twelve tokens."""
    plan = calls(*FOUR) if getattr(planner, "native", False) else {"text": AS_TEXT}

    def reply(messages: Sequence[tuple[str, str]]) -> dict[str, Any]:
        said = {1: {"text": "a city"}, 2: plan}.get(len(messages), {"text": "Answer: done"})
        return {**said, "input_tokens": 10, "output_tokens": 2}

    return reply


PLANNERS = [React(native=True), React(native=False), OneShot()]


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    ("budget", "most"),
    [
        *((Budget(calls=count), count) for count in range(5)),
        *((Budget(steps=count), count) for count in range(4)),
        *((Budget(tokens=12 * count), count) for count in range(2)),
    ],
)
def test_a_budget_ends_a_run_before_it_is_overrun(planner: Planner, budget: Budget, most: int) -> None:
    model = ScriptedModel(four_at_once(planner))
    state = Executor(Inventory.of([Ask()], planner), LLM.connect(model), budget=budget).run(GIVEN)
    assert state.status == "budget", state.ended
    reached = [state.steps_taken] if budget.steps == most else [len(model.requests), state.usage.calls]
    assert {*reached} == {most}


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_run_that_goes_on_after_its_time_asks_nothing_more(planner: Planner) -> None:
    """The log tells how long its steps took."""
    model = ScriptedModel(four_at_once(planner))
    executor = Executor(Inventory.of([Ask()], planner), LLM.connect(model), budget=Budget(seconds=100))
    events = list(executor.stream(GIVEN))
    asked, first = len(model.requests), [isinstance(each, StepRecord) for each in events].index(True)
    before = [*events[:first], replace(events[first], seconds=101)]  # type: ignore[call-arg]
    state = executor.run(GIVEN, before)
    assert state.status == "budget" and "100 seconds" in state.why
    assert len(model.requests) == asked and state.steps_taken == 1


def test_what_is_last_answers_and_is_no_tool() -> None:
    model = ScriptedModel([NATIVE[0], "Answer: done"])
    inventory = Inventory.of([weather, report], React(last=["report"]))
    state = Executor(inventory, LLM.connect(model)).run(GIVEN)
    assert state.executed_names == ("weather", "report") and state.answer == report()
    assert [call.params["tools"] for plan in state.plans for call in plan.calls] == [["weather"], ["weather"]]
    with pytest.raises(InventoryError, match=r"planner\.last names a module 'repot'.*Did you mean 'report'"):
        Inventory.of([weather, report], React(last=["repot"]))


@pytest.mark.parametrize(
    ("on_error", "reason", "ran"),
    [("stop", "failed", ["weather"]), ("skip", "answered", ["weather", "convert", "model_answer"])],
)
def test_a_module_that_is_to_stop_the_run_stops_it(on_error: OnError, reason: str, ran: list[str]) -> None:
    turn = calls(("weather", {"city": "Atlantis"}), ("convert", {"amount": 1}))
    inventory = replace(Inventory.of([weather, convert], React()), on_error={"weather": on_error})
    for parallel in (True, False):
        llm = LLM.connect(ScriptedModel([turn, "34 F"]))
        state = Executor(inventory, llm, parallel=parallel).run(GIVEN)
        assert state.status == reason and [record.step.module for record in state.executed] == ran


TOOLS_REFUSED = Fault(400, {"error": {"message": "registry.ollama.ai/library/llama3 does not support tools"}})


def test_a_model_that_refuses_tools_is_asked_in_text_from_then_on(loopback: Start) -> None:
    server = loopback([TOOLS_REFUSED, *IN_TEXT, *IN_TEXT])
    llm = LLM.connect("openai:gpt-4.1-mini", api_key="k")
    executor = Executor(Inventory.of([weather, convert], "react"), llm)
    assert [executor.run(GIVEN).answer for _ in range(2)] == ["68 F", "68 F"]
    assert ["tools" in request for request in server.requests] == [True, *[False] * 6]
    told = server.requests[1]["messages"][0]["content"]
    assert "Tools:\n- weather(city: string) -> {string: number}: " in told


def test_where_native_tools_are_asked_for_a_refusal_ends_the_run(loopback: Start) -> None:
    server = loopback([TOOLS_REFUSED, *IN_TEXT])
    inventory = Inventory.of([weather, convert], React(native=True))
    state = Executor(inventory, LLM.connect("openai:gpt-4.1-mini", api_key="k")).run(GIVEN)
    assert state.status == "failed" and len(server.requests) == 1
    assert "does not take tools to call" in state.why


AS_CALLED = [(NATIVE, "auto"), (NATIVE, True), (IN_TEXT, False), (IN_TEXT, "auto")]


def as_told(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Return events as a log has them, without what a replay spares, and what it looked for in vain."""
    spared = ("seconds", "at", "usage", "attempts", "cached", "beside")

    def missed(value: Any) -> bool:
        return isinstance(value, Mapping) and "ReplayMiss" in str(value.get("error"))

    def without(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: without(each) for name, each in value.items() if name not in spared}
        return [without(each) for each in value if not missed(each)] if isinstance(value, list) else value

    return [without(event_to_json(event)) for event in events]


@pytest.mark.parametrize(("script", "native"), AS_CALLED)
def test_a_recorded_run_is_replayed_without_a_call(script: Any, native: Any, tmp_path: Path) -> None:
    def run(script: Sequence[Any], mode: Any, *, takes_tools: bool) -> tuple[list[Event], ScriptedModel]:
        model = ScriptedModel(script, tools=takes_tools)
        store = ResponseStore(tmp_path / "replies.sqlite", mode)
        inventory = Inventory.of([weather, convert], React(native=native))
        events = list(Executor(inventory, LLM.connect(model, store=store)).stream(GIVEN))
        store.close()
        return events, model

    recorded, _ = run(script, "record", takes_tools=script is NATIVE)
    # Nothing is known here of the model that was asked.
    replayed, model = run([], "replay", takes_tools=False)
    assert State.fold(recorded).answer == "68 F"
    assert as_told(replayed) == as_told(recorded)
    assert not model.requests and State.fold(replayed).usage.calls == 0


@pytest.mark.parametrize("native", [True, False])
def test_the_model_sees_the_beginning_of_a_large_output_and_the_log_has_all(native: bool) -> None:
    words = tool(lambda: " ".join(f"word{number}" for number in range(5000)), name="chapter")
    model = ScriptedModel([calls(("chapter", {})) if native else '["chapter"]', "Answer: read"], tools=native)
    inventory = Inventory.of([words], React(native=native, max_output_tokens=100))
    events = list(Executor(inventory, LLM.connect(model)).stream(GIVEN))
    told = model.requests[-1][-1][1]
    assert "word0 word1 " in told and "word100 " not in told and "not shown" in told
    read_again = [event_from_json(json.loads(json.dumps(event_to_json(event)))) for event in events]
    assert str(State.fold(read_again).history[0].output).endswith(" word4999")


def test_the_outcome_of_calls_side_by_side_is_that_of_one_after_the_other() -> None:
    boom, paris, atlantis = (("weather", {"city": city}) for city in ("Boom", "Paris", "Atlantis"))
    turn = calls(boom, paris, ("convert", {"amount": "$weather.temp"}), atlantis, ("convert", {"amount": 5}))
    told = []
    for parallel in (True, False):
        model = ScriptedModel([turn, "68 F"])
        executor = Executor(Inventory.of([weather, convert], "react"), LLM.connect(model), parallel=parallel)
        events = list(executor.stream(GIVEN))
        assert State.fold(events).answer == "68 F"
        told.append((as_told(events), model.requests))
    assert told[0] == told[1]
    said = [text for role, text in told[0][1][-1] if role == "tool"]
    assert said == ["Failed: it failed", '{"temp": 20.0}', "68.0", "Failed: there is no Atlantis", "41.0"]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("is_async", [True, False])
def test_what_is_heard_last_is_the_answer(native: bool, is_async: bool) -> None:
    asks: Any = '[{"module": "ask", "args": {"city": "Paris"}}]'
    first = calls(("ask", {"city": "Paris"})) | {"text": "Let me see."} if native else asks
    last = "It is a city." if native else "Answer: It is a city."
    model = ScriptedModel([first, "a city", last], tools=native)
    executor = Executor(Inventory.of([Ask()], React(native=native)), LLM.connect(model))
    heard: list[str | None] = []
    if is_async:
        state = asyncio.run(executor.arun(GIVEN, on_text=heard.append))
    else:
        state = executor.run(GIVEN, on_text=heard.append)
    assert state.answer == "It is a city." and heard == ["a city", None, "It is a city."]

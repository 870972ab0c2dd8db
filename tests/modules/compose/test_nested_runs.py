"""Inventories within inventories: one log, one budget, who stops them, and what has changed since."""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Budget, EventLog, Executor, Inventory, State, Table, tool
from chameleon.core.events import Event, Nested, StepRecord
from chameleon.core.log import event_from_json, event_to_json
from chameleon.errors import InventoryError
from chameleon.inventory.building import own_code
from chameleon.inventory.source import read_source
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.fixed import Fixed

GIVEN = {"question": "What?"}


@tool
def work() -> str:
    """Works."""
    return "done"


@tool
def rest() -> str:
    """Takes its time."""
    time.sleep(0.2)
    return "rested"


@tool
def shout() -> str:
    """Shouts."""
    return "HEY"


def deep() -> Inventory:
    """Return an inventory of one of one that asks a model twice: to plan `work`, and to plan nothing else."""
    lowest = Inventory.of([work, rest], "react", name="low")
    middle = Inventory("middle", Fixed(["low"]), {"low": lowest}, input_types={"question": "str"})
    return Inventory("high", Fixed(["middle"]), {"middle": middle})


def model(*names: str, **spent: Any) -> LLM:
    """Return a model that calls these tools one after the other, and answers."""
    calls = [[{"name": name, "args": {}}] for name in names]
    script: list[Mapping[str, Any]] = [{"text": "", "tool_calls": each, **spent} for each in calls]
    return LLM.connect(ScriptedModel([*script, {"text": "All done.", **spent}], tools=True))


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        (Budget(calls=1), "1 call"),
        (Budget(tokens=30), "30 tokens"),
        (Budget(cost=0.03), "0.03 cost"),
        (Budget(steps=3), "3 steps"),
        (Budget(seconds=0.15), "0.15 seconds"),
    ],
)
@pytest.mark.parametrize("is_own", [False, True])
def test_budgets_hold_inside(budget: Budget, told: str, is_own: bool) -> None:
    llm = model("rest", "work", "rest", "work", input_tokens=10, output_tokens=10, cost=0.02)
    lowest = replace(Inventory.of([work, rest], "react", name="low"), budget=budget)
    inventory = Inventory("high", Fixed(["low"]), {"low": lowest}) if is_own else deep()
    state = Executor(inventory, llm, budget=None if is_own else budget).run(GIVEN)
    assert f"the {'inventory low' if is_own else 'run'} reached its budget of {told}" in state.why
    most = 1 if budget.calls == 1 else 2 if budget.tokens or budget.cost else 4
    assert state.usage.calls <= most and (is_own or state.steps_taken <= (budget.steps or 64))


def spent(on_error: Mapping[str, Any], **budgets: Budget) -> Inventory:
    """Return an inventory of one of one that asks, each with a budget; all are called alike."""
    budgets = {"low": Budget(), "middle": Budget(), **budgets}
    low = replace(Inventory.of([work, rest], "react", name="same"), budget=budgets["low"])
    middle = Inventory("same", Fixed(["low"]), {"low": low, "work": work}, budget=budgets["middle"])
    middle = replace(middle, on_error={"low": ["work"]})
    return Inventory("same", Fixed(["middle"]), {"middle": middle, "shout": shout}, on_error=on_error)


def innermost(event: Event) -> Event:
    return innermost(event.event) if isinstance(event, Nested) else event


@pytest.mark.parametrize(
    ("budgets", "on_error", "answer", "told"),
    [
        ({"low": Budget(calls=1)}, {}, "done", "same in same reached its budget of 1 call"),
        ({"middle": Budget(steps=2)}, {"middle": ["shout"]}, "HEY", "same reached its budget of 2"),
        ({"middle": Budget(calls=1)}, {}, None, "same reached its budget of 1 call"),
    ],
)
def test_a_budget_of_its_own_fails_its_step(budgets: Any, on_error: Any, answer: Any, told: str) -> None:
    inventory = spent(on_error, **budgets)
    names = ("rest", "work", "rest")

    def executor(done: int = 0) -> Executor:
        return Executor(inventory, model(*names[done:], input_tokens=10, output_tokens=10))

    events = list(executor().stream(GIVEN))
    state = State.fold(events)
    assert state.answer == answer and f"the inventory {told}" in str(events)
    assert state.status == ("answered" if answer else "budget")
    assert answer or state.why.startswith(f"module middle: module low: the inventory {told}")
    for count in range(len(events)):
        before = [event_from_json(event_to_json(event)) for event in events[:count]]
        done = sum(len(getattr(innermost(event), "calls", ())) for event in before)
        after = State.fold([*before, *executor(done).stream(GIVEN, before)])
        assert (after.answer, after.status) == (answer, state.status), count


def test_what_is_spent_inside_is_counted_once_and_asked_of_the_model_that_its_file_names() -> None:
    state = Executor(deep(), model("work", input_tokens=10, output_tokens=5, cost=0.01)).run(GIVEN)
    usage = state.usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (2, 20, 10)
    assert usage.cost == pytest.approx(0.02) and len(state.calls) == 2
    assert [record.calls for record in state.history] == [()], "the step itself asked nothing"
    inner = Inventory.parse({"name": "inner", "extends": "tables", "llm": {"model": "openai:gpt-6-luna"}})
    outer = Inventory("outer", Fixed(["inner"]), {"inner": inner})
    assert set(outer.own_models.values()) == {"openai:gpt-6-luna"} and not outer.needs_default_model


def test_two_run_side_by_side_and_come_to_what_one_after_the_other_does() -> None:
    both = threading.Barrier(2)

    @tool
    def meet() -> str:
        both.wait(10)
        return "met"

    parts = {name: Inventory(name, Fixed(["meet"]), {"meet": meet}) for name in ("left", "right")}
    executor = Executor(Inventory("outer", Fixed(["left", "right"]), parts))
    events = list(executor.stream(GIVEN))
    assert State.fold(events).answer == "met"
    assert [event.module for event in events if isinstance(event, Nested)] == ["left"] * 4 + ["right"] * 4


def test_a_failure_inside_is_forgotten_with_its_steps(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with EventLog(path) as log:
        failed = Executor(deep(), LLM.connect(ScriptedModel([], tools=True))).run(GIVEN, log)
        assert failed.status == "failed" and "module middle: module low: planner react: " in failed.why
        log.forget_failure()
        assert Executor(deep(), model("work")).run(GIVEN, log).answer == "All done."


@pytest.mark.parametrize(("wide", "deep"), [(2, 18), (6, 11)])
def test_inventories_in_each_other_are_read_once_and_bounded(tmp_path: Path, wide: int, deep: int) -> None:
    entries = "modules: {table_reader: {}, final_answer: {}}\nplanner: {use: fixed, plan: [table_reader]}\n"
    for level in range(deep + 1):
        (tmp_path / f"b{level}.yaml").write_text(f"name: b{level}\n{entries}")
        modules = ", ".join(f"m{place}: {{inventory: b{level}.yaml}}" for place in range(wide))
        entries = f"modules: {{{modules}}}\nplanner: {{use: fixed, plan: [m0]}}\n"
    top = tmp_path / f"b{deep}.yaml"
    assert own_code(read_source(str(top))) == []
    with pytest.raises(InventoryError, match="more than 200 inventories in one"):
        Inventory.load(top)


def test_a_resumed_step_takes_the_time_from_before_too() -> None:
    tools, takes = {"work": work, "shout": shout}, {"question": "str"}
    inner = Inventory("inner", Fixed(["work", "shout"]), tools, input_types=takes)
    middle = Inventory("middle", Fixed(["inner"]), {"inner": inner}, input_types=takes)
    executor = Executor(Inventory("outer", Fixed(["middle"]), {"middle": middle}))
    log = list(executor.stream(GIVEN))
    first: Any = next(each for each in log if isinstance(getattr(each, "innermost", None), StepRecord))
    slow = replace(first, event=replace(first.event, event=replace(first.innermost, seconds=60.0)))
    state = executor.run(GIVEN, [*log[: log.index(first)], slow])
    assert state.answer == "HEY" and min(state.seconds, state.history[0].seconds) > 60


def test_a_run_three_deep_is_one_log_and_what_declines_within_declines() -> None:
    takes, rules = {"question": "str", "table": "Table"}, {"rules": Inventory.load("tables_offline")}
    low = Inventory("low", Fixed(["rules"]), rules, input_types=takes)
    modules, on_error = {"low": low, "shout": shout}, {"low": ["shout"]}
    middle = Inventory("middle", Fixed(["low"]), modules, input_types=takes, on_error=on_error)
    asked = ("How many visitors did Lisbon have?", "Will it rain?")
    calls = [{"name": "middle", "args": {"question": each}} for each in asked]
    script = ScriptedModel([{"text": "", "tool_calls": calls}, "4200"], tools=True)
    table = Table(["City", "Visitors"], [["Lisbon", "4200"], ["Lyon", "3100"]])
    given = {"question": "What of Lisbon?", "table": table}
    state = Executor(Inventory.of([middle], "react"), LLM.connect(script)).run(given)
    assert state.answer == "4200" and state.executed_names == ("middle", "middle", "model_answer")
    assert [record.output for record in state.history] == ["4200", "HEY", "4200"]
    assert state.usage.calls == 2 and state.steps_taken == 11
    assert state.cache["sources"][0]["rows"] == (1,)
    declined = Executor(Inventory("outer", Fixed(["rules"]), rules)).run({**given, "question": asked[1]})
    assert declined.status == "declined" and "rain" in declined.why


def test_inventories_that_run_one_another_are_refused(tmp_path: Path) -> None:
    plan = "planner: {use: fixed, plan: [x]}\nmodules: {x: {inventory: "
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\n{plan}{other}.yaml}}}}\n", "utf-8")
    with pytest.raises(InventoryError, match="circle"):
        Inventory.load(tmp_path / "a.yaml")

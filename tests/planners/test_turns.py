"""Planners made of others: `Branch`, `Replanning`, `Then`; and `cascade`, the cheapest inventory first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, Module, Planner, State, Step, Table
from chameleon.core.log import event_from_json, event_to_json
from chameleon.errors import InventoryError
from chameleon.inventory.schema import RulesSpec
from chameleon.llm import ScriptedModel
from chameleon.planners.branch import Branch
from chameleon.planners.fixed import Fixed
from chameleon.planners.replanning import Replanning
from chameleon.planners.then import Then
from tests.engine.doubles import QUESTION, Proposes, failing, inventory_of, run

READ, COUNT, SAY, SEEK, BREAKS = (Fixed([name]) for name in ("read", "count", "say", "seek", "breaks"))
MODULES: dict[str, Any] = {name: lambda state: 1 for name in ("seek", "read", "count", "say")}
FAILS = {"breaks": failing(ValueError("no"))}


@pytest.mark.parametrize(
    ("planner", "executed"),
    [
        (Then([SEEK, Branch("cache.seek", [Then([READ, SAY]), Then([COUNT, SAY])])]), "seek read say"),
        (Then([SEEK, Branch("cache.found", [Then([READ, SAY]), Then([COUNT, SAY])])]), "seek count say"),
        (Branch("cache.read", [COUNT, Then([READ, SAY])]), "read say"),  # which is written too late
        (
            Then([SEEK, Branch("cache.none", [SAY, Replanning(BREAKS, attempts=2)])]),  # the fault is its own
            "seek breaks breaks breaks",
        ),
        (Replanning(Then([SEEK, READ])), "seek read"),
    ],
)
def test_the_planner_whose_turn_it_is_plans(planner: Planner, executed: str) -> None:
    assert run(MODULES | FAILS, planner).executed_names == tuple(executed.split())


@pytest.mark.parametrize("sees", [True, False, None])
@pytest.mark.parametrize("key", ["model.sees", "cache.seek, model.sees", "cache.seek, cache.none"])
def test_all_keys_must_be_there_and_the_model_of_the_run_may_be_one(sees: bool | None, key: str) -> None:
    llm = None if sees is None else SimpleNamespace(sees=sees, name="a:b", address="")
    planner = Then([SEEK, Branch(key, [READ, COUNT])])
    taken = Executor(inventory_of(MODULES, planner), llm).run(QUESTION).executed_names
    assert taken == ("seek", "read" if sees and "none" not in key else "count")


@pytest.mark.parametrize(("first", "whole"), [(READ, True), (Then([READ, SAY]), False)])
def test_a_whole_plan_is_held_to_the_rules_of_order(first: Planner, whole: bool) -> None:
    planner = Branch("model.sees", [first, SAY])
    inventory = inventory_of(MODULES, planner, rules=RulesSpec(last="say"))
    state = Executor(inventory, SimpleNamespace(sees=True, name="a:b", address="")).run(QUESTION)
    assert planner.returns_full_plan is whole
    assert any("must end with say" in plan.refused for plan in state.plans) is whole


def test_a_key_that_nobody_gives_is_told_before_a_run() -> None:
    inventory = inventory_of({name: Module() for name in MODULES}, Branch("cache.seak", [READ, COUNT]))
    (found,) = [one for one in inventory.obstacles() if one.part == "planner"]
    told = "cache.seak, which neither the input nor a module gives. Did you mean 'cache.seek'"
    assert told in str(found.error)


@pytest.mark.parametrize(("on", "count"), [("table", 2), ("cache.", 2), ("input.table", 1)])
def test_wrong_settings_are_told(on: str, count: int) -> None:
    with pytest.raises(InventoryError, match="planner branch"):
        Branch(on, [SAY] * count)


def test_replanning_is_bounded_and_sees_the_failure() -> None:
    seen: list[str] = []

    def propose(state: State) -> Any:
        seen.append(str(state.failure.error.message) if state.failure and state.failure.error else "")
        return () if state.plans else [Step("breaks")]

    state = run(FAILS, Replanning(Proposes(propose), attempts=2))
    assert state.executed_names == ("breaks",) * 3 and state.plan == ("breaks",) * 3
    assert seen[0] == "" and all(told.startswith("ValueError: no (doubles.py, line") for told in seen[1:])
    state = run(FAILS, Replanning(BREAKS, attempts=1), on_error={"breaks": "skip"})
    assert len(state.executed_names) == 2, "also where the failure is skipped"


def test_replanning_works_within_a_planner_of_several_turns() -> None:
    once = iter([failing(ValueError("no")), str])
    modules = MODULES | {"breaks": lambda state: next(once)(state)}
    planner = Then([SEEK, Replanning(BREAKS), READ])
    assert run(modules, planner).executed_names == ("seek", "breaks", "breaks", "read")


TABLE = Table(["City", "Visitors"], [["Lisbon", "4200"], ["Porto", "2900"]], "Visits")
SURE = "Which city had the most visitors?"
UNREAD = "Is Lisbon sunnier?"
PROGRAM = '```python\nans = "yes" if "Lisbon" in list(df["City"]) else "no"\n```'
REPLIES = ['["program_generator"]', PROGRAM]


def climbed(question: str, replies: Sequence[str] = (), rungs: Any = "tables_first", **given: Any) -> State:
    executor = Executor(rungs, LLM.connect(ScriptedModel(list(replies))))
    return executor.run({"question": question, "table": TABLE, **given})


def mine(at_least: float) -> dict[str, Any]:
    sure = {"inventory": "tables_offline", "at_least": at_least}
    takes = {"question": "str", "table": "Table"}
    return {"name": "mine", "input": takes, "planner": "cascade", "modules": {"sure": sure}}


def test_the_first_that_answers_wins_and_nothing_dearer_is_asked() -> None:
    state = climbed(SURE)
    assert (state.answer, state.plan, len(state.calls)) == ("Lisbon", ("tables_offline",), 0)
    assert state.cache["sources"] and state.cache["reading"]


def test_what_a_rung_declines_goes_to_the_next_and_the_log_says_why() -> None:
    state = climbed(UNREAD, REPLIES)
    assert (state.answer, state.executed_names, len(state.calls)) == ("yes", ("tables_offline", "tables"), 2)
    assert "sunnier" in state.plans[1].note and state.history[0].error is not None


def test_a_rung_is_held_to_its_confidence() -> None:
    state = climbed(SURE, rungs=mine(1.0))
    assert state.status == "declined" and "below 1" in state.why
    with pytest.raises(InventoryError, match=r"at_least.*1"):
        Inventory.parse(mine(2))


def test_a_run_goes_on_from_every_prefix_to_the_same_end() -> None:
    given = {"question": "Is Lisbon liked?", "table": TABLE}
    events = list(Executor("tables_first", LLM.connect(ScriptedModel(REPLIES))).stream(given))
    for count in range(1, len(events)):
        before = [event_from_json(json.loads(json.dumps(event_to_json(each)))) for each in events[:count]]
        left = REPLIES[len(State.fold(before).calls) :]
        again = Executor("tables_first", LLM.connect(ScriptedModel(left))).run(given, before)
        assert again.answer == State.fold(events).answer == "yes", count


def test_a_question_that_follows_others_is_not_read_without_what_they_were() -> None:
    state = climbed("Is Lisbon there?", REPLIES, history=[{"question": SURE, "answer": "Lisbon"}])
    assert (state.answer, state.plan) == ("yes", ("tables",))

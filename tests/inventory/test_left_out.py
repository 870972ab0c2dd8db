"""Modules that are left out: no plan runs them, and what is left of the inventory still fits together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor, Inventory, Plan, State, Step
from chameleon.core.events import StepRecord
from chameleon.core.planner import check_order
from chameleon.errors import InventoryError, PlanError
from chameleon.inventory.schema import RepairSpec, RulesSpec
from chameleon.planners.fixed import Fixed
from chameleon.planners.rules import Rules
from tests.engine import random_runs
from tests.engine.doubles import QUESTION, Does, why

NAMES = random_runs.NAMES
left_out = st.sets(random_runs.names, min_size=1, max_size=4)


def without(inventory: Inventory, names: set[str]) -> Inventory | None:
    """The inventory without these; None where every ending is among them, which must be told."""
    endings = inventory.rules.last
    if endings and set(endings) <= names:
        with pytest.raises(InventoryError, match="cannot be left out: a plan must end with it"):
            inventory.without(*names)
        return None
    return inventory.without(*names)


@pytest.mark.parametrize("planner", random_runs.PLANNERS)
@given(data=st.data())
def test_no_run_takes_a_step_that_is_left_out(planner: str, data: st.DataObject) -> None:
    case = data.draw(random_runs.cases(planner))
    out = data.draw(left_out)
    inventory = without(case.inventory, out)
    if inventory is None:
        return
    changed = replace(case, inventory=inventory)
    events: list[Any] = []
    for event in changed.executor(parallel=data.draw(st.booleans())).stream(random_runs.GIVEN):
        events.append(event)
        if isinstance(event, Plan):
            assert not out & set(event.names), event
        if isinstance(event, StepRecord):
            assert event.step.module not in out, event
    state = State.fold(events)
    assert state.ended is not None
    cut = data.draw(st.integers(0, len(events)))
    again = [*events[:cut], *changed.executor(parallel=False).stream(random_runs.GIVEN, events[:cut])]
    assert random_runs.end(State.fold(again)) == random_runs.end(state)


@given(
    plan=st.lists(random_runs.names, min_size=1, max_size=6),
    last=st.lists(random_runs.names, max_size=2, unique=True),
    once=st.lists(random_runs.names, max_size=3, unique=True),
    needs=st.dictionaries(random_runs.names, st.lists(random_runs.names, min_size=1, max_size=2), max_size=3),
    following=st.dictionaries(random_runs.names, random_runs.names, max_size=4),
    out=left_out,
)
def test_what_is_left_of_a_good_plan_is_good(
    plan: list[str],
    last: list[str],
    once: list[str],
    needs: dict[str, Any],
    following: dict[str, str],
    out: set[str],
) -> None:
    rules = RulesSpec(last=last, once=once, needs=needs, next=following)
    modules = {name: Does(lambda state: 1) for name in NAMES}
    inventory = without(Inventory("mine", Fixed(plan), modules, rules=rules), out)
    if inventory is None or not (left := [name for name in plan if name not in out]):
        return
    try:
        check_order(plan, rules)
    except PlanError:
        return
    if not last or left[-1] == plan[-1]:
        check_order(left, inventory.rules)


@given(
    fallback=st.lists(random_runs.names, max_size=4),
    repair=random_runs.repairs,
    policies=st.dictionaries(random_runs.names, random_runs.policies),
    first=left_out,
    second=left_out,
)
def test_nothing_that_is_left_names_what_is_not(
    fallback: list[str],
    repair: Mapping[str, RepairSpec],
    policies: dict[str, Any],
    first: set[str],
    second: set[str],
) -> None:
    modules = {name: Does(lambda state: 1) for name in NAMES}
    inventory = Inventory(
        "mine", Fixed(["ant"]), modules, fallback=tuple(fallback), repair=repair, on_error=policies
    )
    twice = inventory.without(*first).without(*second)
    assert twice == inventory.without(*first, *second)
    out = first | second
    assert twice.left_out == out and {card.name for card in twice.cards} == set(NAMES) - out
    plans = [
        list(twice.fallback),
        *(policy for policy in twice.on_error.values() if isinstance(policy, list)),
    ]
    assert not out & {name for plan in plans for name in plan}
    assert all(policy for policy in twice.on_error.values())
    assert not out & {name for each, spec in twice.repair.items() for name in (each, spec.redo)}
    assert (
        inventory.without() is inventory
        and inventory.left_out == frozenset()
        and inventory.fallback == tuple(fallback)
    )


def test_who_must_follow_is_stepped_over() -> None:
    modules = {name: Does(lambda state: 1) for name in NAMES}
    following = {"ant": "bee", "bee": "cat", "cat": "dog", "eel": "dog"}
    rules = RulesSpec(next=following, needs={"cat": ["bee", "ant"], "dog": "bee"})
    left = Inventory("mine", Fixed(["ant"]), modules, rules=rules).without("bee").rules
    assert left.next == {"ant": "cat", "cat": "dog", "eel": "dog"}
    assert left.needs == {"cat": ["ant"], "dog": []}


def test_a_plan_says_what_it_lost() -> None:
    plan = Plan(tuple(Step(name) for name in ("ant", "bee", "ant", "cat")), "mine", "as asked")
    assert plan.without({"dog"}) is plan
    lost = plan.without({"ant", "cat"})
    assert list(lost.names) == ["bee"]
    assert lost.note == "as asked; without ant, cat" and not lost.refused
    nothing = plan.without({"ant", "bee", "cat"})
    assert not nothing.steps and nothing.refused == "every module of the plan is left out"


def test_a_plan_of_which_nothing_is_left_gives_way_to_the_fallback() -> None:
    modules = {name: Does(lambda state: "done") for name in NAMES}
    whole = Inventory("mine", Fixed(["ant", "bee"]), modules, fallback=("cat", "ant"))
    inventory = whole.without("ant", "bee")
    state = Executor(inventory).run(QUESTION)
    assert state.answer == "done" and list(state.executed_names) == ["cat"]
    alone = replace(inventory, fallback=())
    assert "every module of the plan is left out" in why(Executor(alone).run(QUESTION))


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["row_lokup"], "mine: there is no module 'row_lokup' to leave out. Did you mean 'row_lookup'?"),
        (["row_lookup", "answer"], "mine: answer cannot be left out: a plan must end with it"),
    ],
)
def test_what_cannot_be_left_out_is_told(names: list[str], told: str) -> None:
    modules = {"row_lookup": Does(lambda state: 1), "answer": Does(lambda state: 2)}
    inventory = Inventory("mine", Fixed(["answer"]), modules, rules=RulesSpec(last="answer"))
    with pytest.raises(InventoryError) as error:
        inventory.without(*names)
    assert str(error.value) == told


@pytest.mark.parametrize(
    "planner", [Fixed(["row_lookup", "answer"]), Rules([{"plan": ["row_lookup", "answer"]}])]
)
def test_the_check_leaves_them_out_too(planner: Any) -> None:
    modules = {"row_lookup": Does(lambda state: 1), "answer": Does(lambda state: 2)}
    rules = RulesSpec(last=["answer", "row_lookup"], needs={"answer": "row_lookup"})
    inventory = Inventory("mine", planner, modules, rules=rules).without("row_lookup")
    inventory.check()
    assert Executor(inventory).run(QUESTION).answer == 2

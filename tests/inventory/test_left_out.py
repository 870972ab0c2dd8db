"""Modules that are left out: no plan runs them, and what is left of the inventory still fits together."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor, Inventory, Plan, State, Step
from chameleon.core.planner import check_order
from chameleon.errors import InventoryError, PlanError
from chameleon.inventory.schema import RulesSpec
from chameleon.planners.fixed import Fixed
from chameleon.planners.rules import Rules
from tests.engine import random_runs
from tests.engine.doubles import QUESTION, inventory_of, why

NAMES = random_runs.NAMES
MODULES = dict.fromkeys(NAMES, lambda state: "done")
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
    events = list(changed.executor(parallel=data.draw(st.booleans())).stream(random_runs.GIVEN))
    assert not [event for event in events if isinstance(event, Plan) and out & {*event.names}]
    state = State.fold(events)
    assert state.ended is not None and not out & {record.step.module for record in state.history}
    cut = events[: data.draw(st.integers(0, len(events)))]
    again = changed.executor(parallel=False).run(random_runs.GIVEN, cut)
    assert random_runs.end(again) == random_runs.end(state)


names = random_runs.names
orders = st.builds(
    RulesSpec,
    last=st.lists(names, max_size=2, unique=True),
    once=st.lists(names, max_size=3, unique=True),
    needs=st.dictionaries(names, st.lists(names, min_size=1, max_size=2), max_size=3),
    next=st.dictionaries(names, names, max_size=4),
)


@given(plan=st.lists(names, min_size=1, max_size=6), rules=orders, out=left_out)
def test_what_is_left_of_a_good_plan_is_good(plan: list[str], rules: RulesSpec, out: set[str]) -> None:
    inventory = without(inventory_of(MODULES, Fixed(plan), rules=rules), out)
    if inventory is None or not (left := [name for name in plan if name not in out]):
        return
    try:
        check_order(plan, rules)
    except PlanError:
        return
    if not rules.last or left[-1] == plan[-1]:
        check_order(left, inventory.rules)


@given(
    fallback=st.lists(names, max_size=4),
    repair=random_runs.repairs,
    policies=st.dictionaries(names, random_runs.policies),
    first=left_out,
    second=left_out,
)
def test_nothing_that_is_left_names_what_is_not(
    fallback: list[str], repair: Any, policies: dict[str, Any], first: set[str], second: set[str]
) -> None:
    options: dict[str, Any] = {"fallback": tuple(fallback), "repair": repair, "on_error": policies}
    inventory = inventory_of(MODULES, Fixed(["ant"]), **options)
    twice = inventory.without(*first).without(*second)
    assert twice == inventory.without(*first, *second)
    out = first | second
    assert twice.left_out == out and {card.name for card in twice.cards} == {*NAMES} - out
    lists = [twice.fallback, *(policy for policy in twice.on_error.values() if isinstance(policy, list))]
    assert not out & {name for plan in lists for name in plan} and all(twice.on_error.values())
    assert not out & {name for each, spec in twice.repair.items() for name in (each, spec.redo)}
    assert inventory.without() is inventory and not inventory.left_out and inventory.fallback == (*fallback,)


def test_who_must_follow_is_stepped_over_and_a_plan_says_what_it_lost() -> None:
    following = {"ant": "bee", "bee": "cat", "cat": "dog", "eel": "dog"}
    rules = RulesSpec(next=following, needs={"cat": ["bee", "ant"], "dog": "bee"})
    left = inventory_of(MODULES, Fixed(["ant"]), rules=rules).without("bee").rules
    assert left.next == {"ant": "cat", "cat": "dog", "eel": "dog"}
    assert left.needs == {"cat": ["ant"], "dog": []}
    plan = Plan(tuple(Step(name) for name in ("ant", "bee", "ant", "cat")), "mine", "as asked")
    lost, nothing = plan.without({"ant", "cat"}), plan.without({"ant", "bee", "cat"})
    assert plan.without({"dog"}) is plan
    assert (lost.names, lost.note, lost.refused) == (("bee",), "as asked; without ant, cat", "")
    assert not nothing.steps and nothing.refused == "every module of the plan is left out"


def test_a_plan_of_which_nothing_is_left_gives_way_to_the_fallback() -> None:
    whole = inventory_of(MODULES, Fixed(["ant", "bee"]), fallback=("cat", "ant"))
    inventory = whole.without("ant", "bee")
    assert Executor(inventory).run(QUESTION).executed_names == ("cat",)
    assert "every module of the plan is left out" in why(
        Executor(replace(inventory, fallback=())).run(QUESTION)
    )


TWO = {"row_lookup": lambda state: 1, "answer": lambda state: 2}


def test_what_cannot_be_left_out_is_told_and_the_check_leaves_out_the_rest() -> None:
    for names, told in (
        (["row_lokup"], "there is no module 'row_lokup' to leave out. Did you mean 'row_lookup'?"),
        ([*TWO], "answer cannot be left out: a plan must end with it"),
    ):
        with pytest.raises(InventoryError) as error:
            inventory_of(TWO, Fixed(["answer"]), rules=RulesSpec(last="answer")).without(*names)
        assert str(error.value) == f"mine: {told}"
    rules = RulesSpec(last=["answer", "row_lookup"], needs={"answer": "row_lookup"})
    for planner in (Fixed([*TWO]), Rules([{"plan": [*TWO]}])):
        inventory = inventory_of(TWO, planner, rules=rules).without("row_lookup")
        inventory.check()
        assert Executor(inventory).run(QUESTION).answer == 2

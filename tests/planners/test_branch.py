"""`Branch`: one of two planners, by what the state has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from chameleon import Executor
from chameleon.core.module import Module
from chameleon.errors import InventoryError
from chameleon.inventory import Inventory
from chameleon.inventory.schema import RulesSpec
from chameleon.planners.branch import Branch
from chameleon.planners.fixed import Fixed
from chameleon.planners.replanning import Replanning
from chameleon.planners.then import Then
from tests.engine.doubles import QUESTION, Does, executor, failing, run

MODULES: dict[str, Any] = {name: lambda state: 1 for name in ("seek", "read", "count", "say")}


@pytest.mark.parametrize(("on", "taken"), [("cache.seek", "read"), ("cache.found", "count")])
def test_a_key_of_the_state_chooses_once(on: str, taken: str) -> None:
    both = [Fixed(["read"]), Fixed(["count"])]
    planner = Then([Fixed(["seek"]), Branch(on, [Then([one, Fixed(["say"])]) for one in both])])
    assert run(MODULES, planner).executed_names == ("seek", taken, "say")


@pytest.mark.parametrize("sees", [True, False, None])
def test_all_keys_must_be_there_and_the_model_of_the_run_may_be_one(sees: bool | None) -> None:
    llm = None if sees is None else SimpleNamespace(sees=sees, name="a:b", address="")
    for key, is_first in (
        ("model.sees", sees is True),
        ("cache.seek, model.sees", sees is True),
        ("cache.seek, cache.none", False),
    ):
        planner = Then([Fixed(["seek"]), Branch(key, [Fixed(["read"]), Fixed(["count"])])])
        taken = Executor(executor(MODULES, planner).inventory, llm).run(QUESTION).executed_names
        assert taken == ("seek", "read" if is_first else "count")


def test_a_whole_plan_is_held_to_the_rules_of_order() -> None:
    rules = RulesSpec(last="say")
    for planners, whole in (
        ([Fixed(["read"]), Fixed(["say"])], True),
        ([Then([Fixed(["read"]), Fixed(["say"])]), Fixed(["say"])], False),
    ):
        planner = Branch("model.sees", planners)
        inventory = Inventory("mine", planner, {name: Does(MODULES[name]) for name in MODULES}, rules=rules)
        state = Executor(inventory, SimpleNamespace(sees=True, name="a:b", address="")).run(QUESTION)
        assert planner.returns_full_plan is whole
        assert any("must end with say" in plan.refused for plan in state.plans) is whole


def test_what_the_chosen_planner_writes_does_not_change_the_choice() -> None:
    planner = Branch("cache.read", [Fixed(["count"]), Then([Fixed(["read"]), Fixed(["say"])])])
    assert run(MODULES, planner).executed_names == ("read", "say")


def test_a_failure_goes_to_the_planner_whose_plan_it_was() -> None:
    again = Replanning(Fixed(["breaks"]), attempts=2)
    planner = Then([Fixed(["seek"]), Branch("cache.none", [Fixed(["say"]), again])])
    state = run({**MODULES, "breaks": failing(ValueError("no"))}, planner)
    assert state.executed_names == ("seek", *["breaks"] * 3)


def test_a_key_that_nobody_gives_is_told_before_a_run() -> None:
    planner = Branch("cache.seak", [Fixed(["read"]), Fixed(["count"])])
    inventory = Inventory(name="mine", planner=planner, modules={name: Module() for name in MODULES})
    (found,) = [one for one in inventory.obstacles() if one.part == "planner"]
    told = "cache.seak, which neither the input nor a module gives. Did you mean 'cache.seek'"
    assert told in str(found.error)


@pytest.mark.parametrize(("on", "count"), [("table", 2), ("cache.", 2), ("input.table", 1)])
def test_wrong_settings_are_told(on: str, count: int) -> None:
    with pytest.raises(InventoryError, match="planner branch"):
        Branch(on, [Fixed(["say"])] * count)

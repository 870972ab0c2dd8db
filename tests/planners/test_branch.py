"""`Branch`: one of two planners, by what the state has."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon.errors import InventoryError
from chameleon.inventory import Inventory
from chameleon.module import Module
from chameleon.planners.branch import Branch
from chameleon.planners.fixed import Fixed
from chameleon.planners.replanning import Replanning
from chameleon.planners.then import Then
from tests.engine.doubles import failing, run

MODULES: dict[str, Any] = {name: lambda state: 1 for name in ("seek", "read", "count", "say")}


@pytest.mark.parametrize(("on", "taken"), [("cache.seek", "read"), ("cache.found", "count")])
def test_a_key_of_the_state_chooses_once(on: str, taken: str) -> None:
    both = [Fixed(["read"]), Fixed(["count"])]
    planner = Then([Fixed(["seek"]), Branch(on, [Then([one, Fixed(["say"])]) for one in both])])
    assert run(MODULES, planner).program == ("seek", taken, "say")


def test_what_the_chosen_planner_writes_does_not_change_the_choice() -> None:
    planner = Branch("cache.read", [Fixed(["count"]), Then([Fixed(["read"]), Fixed(["say"])])])
    assert run(MODULES, planner).program == ("read", "say")


def test_a_failure_goes_to_the_planner_whose_plan_it_was() -> None:
    again = Replanning(Fixed(["breaks"]), attempts=2)
    planner = Then([Fixed(["seek"]), Branch("cache.none", [Fixed(["say"]), again])])
    state = run({**MODULES, "breaks": failing(ValueError("no"))}, planner)
    assert state.program == ("seek", *["breaks"] * 3)


def test_a_key_that_nobody_gives_is_told_before_a_run() -> None:
    planner = Branch("cache.seak", [Fixed(["read"]), Fixed(["count"])])
    inventory = Inventory(name="mine", planner=planner, modules={name: Module() for name in MODULES})
    (found,) = [one for one in inventory.obstacles() if one.part == "planner"]
    assert "cache.seak, which neither the input nor a module gives. Did you mean 'cache.seek'" in str(
        found.error
    )


@pytest.mark.parametrize(("on", "count"), [("table", 2), ("cache.", 2), ("input.table", 1)])
def test_wrong_settings_are_told(on: str, count: int) -> None:
    with pytest.raises(InventoryError, match="planner branch"):
        Branch(on, [Fixed(["say"])] * count)

"""What keeps an inventory from working: checks, signatures and plans; all of it at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chameleon import Inventory, Module, State
from chameleon.errors import ChameleonError, InventoryError, MissingPackage
from chameleon.inventory import Obstacle
from tests.engine.doubles import Does, failing, inventory_of, run, why
from tests.engine.files import write

NO_KEY = type("NoKey", (ChameleonError,), {})("SHOP_KEY is not set", hint="Set it.")


def checking(problem: Exception) -> Module:
    """Return a module whose check raises this."""
    return Does(lambda state: "never", check=lambda: failing(problem)(State()))


def obstacle(problem: Exception, **options: Any) -> Obstacle:
    """Return the one obstacle of an inventory with a module whose check raises this."""
    (found,) = inventory_of({"shop": checking(problem), "says": lambda state: "yes"}, **options).obstacles()
    return found


def test_all_is_told_at_once_and_what_a_run_does_without_apart() -> None:
    scales = checking(MissingPackage("scales is not installed", hint="pip install scales"))
    modules = {"shop": checking(NO_KEY), "scales": scales, "says": lambda state: "yes"}
    mine = inventory_of(modules, on_error={"scales": "skip"})
    shop, weighs = mine.obstacles()
    assert (shop.part, shop.module, shop.stops) == ("modules.shop", "shop", True)
    assert (weighs.part, weighs.module, weighs.stops) == ("modules.scales", "scales", False)
    assert shop.error.what == "the module shop cannot run here: SHOP_KEY is not set"
    with pytest.raises(InventoryError, match=r"^mine: 2 problems .*SHOP_KEY is not set Set it\.; .*pip inst"):
        mine.check()
    with pytest.raises(InventoryError, match=r"^mine: the module scales cannot run here"):
        mine.without("shop").check()
    assert mine.without("shop", "scales").obstacles() == []


def test_a_policy_that_needs_the_module_itself_does_not_help() -> None:
    assert obstacle(NO_KEY, on_error={"shop": ["shop"]}).stops
    assert not obstacle(NO_KEY, on_error={"shop": ["says"]}).stops


def test_a_check_at_fault_is_told_with_its_module_and_file() -> None:
    broken = str(obstacle(KeyError("drawer")).error)
    assert "the check of the module shop failed: KeyError: 'drawer' (doubles.py, line " in broken
    assert "should raise a ChameleonError" in broken


def test_a_module_without_a_run_method_fails_its_step_with_what_to_write() -> None:
    told = why(run({"shop": type("NoRun", (Module,), {})()}))
    assert told == "module shop: NoRun has no run method. Write `def run(self, state)` in the class."


@pytest.mark.parametrize("reads", ["cache.shop", "cache.prices"])
def test_a_key_that_nobody_gives_is_told_with_those_that_are_there(reads: str) -> None:
    modules = {"shop": Does(str, writes="cache.price"), "last": Does(str, reads=reads)}
    (found,) = inventory_of(modules).obstacles()
    assert found.part == "planner" and "Available before it: " in str(found.error)
    assert f"step 2 of the plan shop → last: last reads {reads}, but nothing before" in str(found.error)


def obstacles_of_own(folder: Path, parameters: str) -> list[Obstacle]:
    """Return the obstacles of an inventory with one module of the user's own file."""
    code = f"class Shop(Module):\n    def run(self, {parameters}):\n        return 1\n"
    write(folder, f"from chameleon import Module\n\n\n{code}", "tools.py")
    planner, modules = {"use": "fixed", "plan": ["shop"]}, {"shop": {"use": "tools:Shop"}}
    return Inventory.parse({"name": "mine", "planner": planner, "modules": modules}, folder).obstacles()


@pytest.mark.parametrize("first", ["x: int", "x: 'int' = 3", "s: int | None", "s: list[str]"])
def test_an_argument_in_the_place_of_the_state_is_refused_with_the_line(tmp_path: Path, first: str) -> None:
    with pytest.raises(InventoryError) as refused:
        obstacles_of_own(tmp_path, f"{first}, to: str = 'F'")
    assert refused.value.where == "tools.py:5"
    assert "the first parameter of `run` must be the state, but in class Shop it is `" in str(refused.value)
    assert "Write `def run(self, state, " in str(refused.value)


@pytest.mark.parametrize("first", ["s", "s: object", "s: 'State | None'", "s: 'Later'", "state: dict"])
def test_a_state_by_any_name_is_none(tmp_path: Path, first: str) -> None:
    assert obstacles_of_own(tmp_path, first) == []

"""What an inventory lacks: all of it at once, what a run does without, and checks that are at fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, Module
from chameleon.errors import ChameleonError, InventoryError, MissingPackage
from chameleon.inventory import Obstacle, shipped_inventories
from chameleon.planner import every_planner
from chameleon.planners.fixed import Fixed
from tests.engine.doubles import QUESTION, Does, failing, why
from tests.engine.files import write


class NoKey(ChameleonError):
    """A class of the user's own."""


NO_KEY = NoKey("SHOP_KEY is not set", hint="Set it.")


def checking(check: Callable[[Any], Any], **declared: Any) -> Module:
    """Make a module whose check does this."""
    return Does(lambda state: "never", check=lambda: check(None), **declared)


def inventory(modules: dict[str, Module], **options: Any) -> Inventory:
    return Inventory("mine", Fixed(list(modules)), modules, **options)


def obstacle(module: Module, **options: Any) -> Obstacle:
    """Return the one obstacle of an inventory with this module, under the name of shop."""
    (found,) = inventory({"shop": module, "says": Does(lambda state: "yes")}, **options).obstacles()
    return found


def test_all_is_told_at_once_and_what_a_run_does_without_apart() -> None:
    scales = checking(failing(MissingPackage("scales is not installed", hint="pip install scales")))
    modules = {"shop": checking(failing(NO_KEY)), "scales": scales, "says": Does(lambda state: "yes")}
    mine = inventory(modules, on_error={"scales": "skip"})
    shop, weighs = mine.obstacles()
    assert (shop.part, shop.module, shop.stops) == ("modules.shop", "shop", True)
    assert (weighs.part, weighs.module, weighs.stops) == ("modules.scales", "scales", False)
    assert shop.error.what == "the module shop cannot run here: SHOP_KEY is not set"
    with pytest.raises(InventoryError, match=r"^mine: 2 things .*SHOP_KEY is not set Set it\.; .*pip inst"):
        mine.check()
    with pytest.raises(InventoryError, match=r"^mine: the module scales cannot run here"):
        mine.without("shop").check()
    assert mine.without("shop", "scales").obstacles() == []


def test_a_policy_that_needs_the_module_itself_does_not_help() -> None:
    assert obstacle(checking(failing(NO_KEY)), on_error={"shop": ["shop"]}).stops
    assert not obstacle(checking(failing(NO_KEY)), on_error={"shop": ["says"]}).stops


def test_a_check_at_fault_is_told_with_its_module_and_file() -> None:
    broken = str(obstacle(checking(failing(KeyError("drawer")))).error)
    assert "the check of the module shop failed: KeyError: 'drawer' (doubles.py, line " in broken
    talks = str(obstacle(checking(lambda _: "SHOP_KEY is missing")).error)
    assert "returned 'SHOP_KEY is missing', and is to return nothing" in talks
    assert "raises a ChameleonError" in talks


def test_a_module_without_a_run_method_is_told_of() -> None:
    class NoRun(Module):
        """Does nothing."""

    found = obstacle(NoRun())
    assert "NoRun has no run method. Write `def run(self, state)`" in str(found.error) and found.stops


def test_a_run_is_told_the_same_before_the_module_begins() -> None:
    state = Executor(inventory({"shop": checking(failing(NO_KEY))})).run(QUESTION)
    assert why(state) == "module shop: SHOP_KEY is not set. Set it."


@pytest.mark.parametrize(
    ("reads", "hint"),
    [("cache.shop", "shop writes cache.price."), ("cache.prices", "Before it there is cache.price.")],
)
def test_a_key_that_nobody_gives_is_told_with_those_that_are_there(reads: str, hint: str) -> None:
    shop = Does(lambda state: 1, writes="cache.price")
    (found,) = inventory({"shop": shop, "last": Does(lambda state: 1, reads=reads)}).obstacles()
    assert found.part == "planner" and str(found.error).endswith(hint)
    assert f"step 2 of the plan shop → last: last reads {reads}, and nothing before" in str(found.error)


@pytest.mark.parametrize("name", [name for name in shipped_inventories() if name.startswith("scienceqa")])
def test_no_inventory_carries_modules_that_its_fixed_plans_never_use(name: str) -> None:
    found = Inventory.load(name)
    if any(part.name not in ("fixed", "rules") for part in every_planner(found.planner)):
        return
    planned = {each for plan in found.planner.fixed_plans for each in plan}
    assert set(found.modules) <= planned | set(found.fallback)


VISITORS = """
from chameleon import State, tool

@tool(reads="input.table")
def visitors(city: str, state: State) -> str:
    '''Tells how many visitors a city had.'''
    return state.input["table"].column("Visitors").cells[0]

@tool
def weather(city: str) -> str:
    '''Tells the weather.'''
    return "rain"
"""
PLAN = """
    - use: fixed
      plan:
        - {module: weather, args: {city: Oslo}}
        - module: weather
          args: {citty: Oslo}
"""


@pytest.mark.parametrize("planners", [f"planners:{PLAN}    - one_shot", f"planners:\n    - one_shot{PLAN}"])
def test_a_step_that_does_not_fit_is_told_at_its_own_line(planners: str, tmp_path: Path) -> None:
    write(tmp_path, VISITORS, "tools.py")
    text = f"name: mine\nplanner:\n  use: then\n  {planners}\nmodules: {{weather: 'tools:weather'}}"
    (found,) = Inventory.load(path := write(tmp_path, text)).obstacles()
    line = text.splitlines().index("        - module: weather") + 1
    assert str(found.error) == (
        f"{path}:{line}: step 2 of the plan weather → weather: weather takes no argument 'citty'. "
        "Did you mean 'city'?"
    )


INNER = """
name: inner
about: Looks.
input: {question: str, table: Table}
planner: {use: fixed, plan: table_reader}
modules: {table_reader: {}}
"""


@pytest.mark.parametrize("planner", ["one_shot", "react", "{use: then, planners: [one_shot, react]}"])
@pytest.mark.parametrize("module", ["'tools:visitors'", "{inventory: inner.yaml}"])
def test_a_tool_that_can_never_run_is_told(planner: str, module: str, tmp_path: Path) -> None:
    write(tmp_path, VISITORS, "tools.py")
    write(tmp_path, INNER, "inner.yaml")

    def found(top: str = "", more: str = "") -> list[Obstacle]:
        text = f"name: mine\nplanner: {planner}\nmodules:\n  visitors: {module}\n{more}{top}"
        return Inventory.load(write(tmp_path, text)).obstacles()

    (alone,) = found()
    assert str(alone.error) == (
        f"{tmp_path}/mine.yaml:4: the module visitors cannot run here: it reads input.table, which neither "
        "the input nor a module gives. Add `table: Table` to `input`."
    )
    assert alone.stops and alone.module == "visitors"
    (beside,) = found(more="  weather: 'tools:weather'\n")
    assert not beside.stops
    assert not found("input: {question: str, table: 'Table?'}") and not found("input: {}")

"""What an inventory lacks: all of it at once, what a run does without, and checks that are at fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, Module, State
from chameleon.errors import ChameleonError, InventoryError, MissingPackage
from chameleon.inventory import shipped_inventories
from chameleon.planner import every_planner


class NoKey(ChameleonError):
    """A class of the user's own."""


class Shop(Module):
    """Asks a shop."""

    writes = ("cache.price",)

    def check(self) -> None:
        raise NoKey("SHOP_KEY is not set", hint="Set it.")

    def run(self, state: State) -> str:
        return "never"


class Scales(Module):
    """Weighs."""

    def check(self) -> None:
        raise MissingPackage("scales is not installed", hint="pip install scales")

    def run(self, state: State) -> str:
        return "never"


class Broken(Module):
    """Has a check with a fault."""

    def check(self) -> None:
        raise KeyError("drawer")

    def run(self, state: State) -> str:
        return "never"


class Talks(Module):
    """Returns what it should raise."""

    def check(self) -> Any:
        return "SHOP_KEY is missing"

    def run(self, state: State) -> str:
        return "never"


class Says(Module):
    """Gives an answer."""

    def run(self, state: State) -> str:
        return "yes"


class NoRun(Module):
    """Does nothing."""


HERE = "tests.inventory.test_obstacles"


def inventory(plan: list[str], **modules: Any) -> Inventory:
    entries = {name: {"use": f"{HERE}:{entry.pop('is')}", **entry} for name, entry in modules.items()}
    planner = {"use": "fixed", "plan": plan}
    return Inventory.parse({"name": "mine", "planner": planner, "modules": entries})


def test_all_is_told_at_once_and_what_a_run_does_without_apart() -> None:
    mine = inventory(
        ["shop", "scales", "says"],
        shop={"is": "Shop"},
        scales={"is": "Scales", "on_error": "skip"},
        says={"is": "Says"},
    )
    found = mine.obstacles()
    assert [(each.part, each.module, each.stops) for each in found] == [
        ("modules.shop", "shop", True),
        ("modules.scales", "scales", False),
    ]
    assert found[0].error.what == "the module shop cannot run here: SHOP_KEY is not set"
    with pytest.raises(
        InventoryError, match=r"^mine: 2 things .*SHOP_KEY is not set Set it\.; .*pip install"
    ):
        mine.check()
    with pytest.raises(InventoryError, match=r"^inventory: the module scales cannot run here"):
        mine.without("shop").check()
    assert mine.without("shop", "scales").obstacles() == []


def test_a_policy_that_needs_the_module_itself_does_not_help() -> None:
    entry = {"is": "Shop", "on_error": ["shop"]}
    assert inventory(["shop"], shop=entry).obstacles()[0].stops
    entry = {"is": "Shop", "on_error": ["says"]}
    assert not inventory(["shop"], shop=entry, says={"is": "Says"}).obstacles()[0].stops


def test_a_check_at_fault_is_told_with_its_module_and_file() -> None:
    (broken,) = inventory(["broken"], broken={"is": "Broken"}).obstacles()
    assert "the check of the module broken failed: KeyError: 'drawer' (test_obstacles.py, line " in str(
        broken.error
    )
    (talks,) = inventory(["talks"], talks={"is": "Talks"}).obstacles()
    assert "returned 'SHOP_KEY is missing', and is to return nothing" in str(talks.error)
    assert "raises a ChameleonError" in str(talks.error)


def test_a_module_without_a_run_method_is_told_of() -> None:
    (found,) = inventory(["idle"], idle={"is": "NoRun"}).obstacles()
    assert "NoRun has no run method. Write `def run(self, state)`" in str(found.error) and found.stops


def test_a_run_is_told_the_same_before_the_module_begins() -> None:
    state = Executor(inventory(["shop"], shop={"is": "Shop"})).run({"question": "How much?"})
    assert state.ended is not None and state.ended.error is not None
    assert str(state.ended.error) == "module shop: SHOP_KEY is not set. Set it."


def test_a_key_that_nobody_gives_is_told_with_those_that_are_there() -> None:
    class Reader(Module):
        """Reads what it thinks the detector writes."""

        reads = ("cache.shop",)

    class Other(Module):
        """Reads a misspelt key."""

        reads = ("cache.prices",)

    def told(module: Module) -> str:
        from chameleon.planners.fixed import Fixed

        modules = {"shop": Shop(), "last": module}
        found = Inventory(name="mine", planner=Fixed(["shop", "last"]), modules=modules).obstacles()
        return str(next(each.error for each in found if each.part == "planner"))

    assert "the plan shop → last breaks a rule: last reads cache.shop, and nothing before it" in told(
        Reader()
    )
    assert told(Reader()).endswith("shop writes cache.price.")
    assert told(Other()).endswith("Before it there is cache.price.")


@pytest.mark.parametrize("name", [name for name in shipped_inventories() if name.startswith("scienceqa")])
def test_no_inventory_carries_modules_that_its_fixed_plans_never_use(name: str) -> None:
    found = Inventory.load(name)
    if any(part.name not in ("fixed", "rules") for part in every_planner(found.planner)):
        return
    planned = {each for plan in found.planner.fixed_plans for each in plan}  # type: ignore[attr-defined]
    assert set(found.modules) <= planned | set(found.fallback)


def test_scienceqa_cot_needs_no_search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    parts = {each.part for each in Inventory.load("scienceqa_cot").obstacles()}
    assert parts <= {"modules.image_captioner"}
    assert "modules.bing_search" in {each.part for each in Inventory.load("scienceqa").obstacles()}

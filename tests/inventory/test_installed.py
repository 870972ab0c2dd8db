"""Modules, planners and inventories that another distribution brings by entry points."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon import Executor, Inventory
from chameleon.errors import InventoryError
from tests.e2e.commands import environment, spawn
from tests.inventory.installed import weather_tools

__all__ = ["weather_tools"]


def test_an_inventory_that_is_installed_runs_by_its_name(weather_tools: Path) -> None:
    inventory = Inventory.load("trip")
    assert inventory.check() is None and inventory.place(("planner",)).endswith("trip.yaml:3")
    assert Executor(inventory).run({"question": "How is it?"}).answer == "sun in Bern"


def test_a_file_of_the_same_name_beside_one_wins(weather_tools: Path, tmp_path: Path) -> None:
    text = "name: ours\nplanner: {use: fixed, plan: [weather]}\nmodules: {weather: {}}"
    (tmp_path / "trip.yaml").write_text(text, "utf-8")
    assert Inventory.load("trip", tmp_path).name == "ours"


def test_names_that_are_near_are_told(weather_tools: Path) -> None:
    with pytest.raises(InventoryError, match=r"there is no inventory 'tripp'\. Did you mean 'trip'\?"):
        Inventory.load("tripp")
    with pytest.raises(
        InventoryError, match=r"^inventory lost: weather-tools 1\.2 brings no file lost\.yaml"
    ):
        Inventory.load("lost")


@pytest.mark.slow
def test_a_process_of_its_own_finds_and_asks_it(weather_tools: Path) -> None:
    done = spawn("ask", "How is it?", "--inventory", "trip", env=environment(str(weather_tools.parent)))
    assert done.code == 0 and "sun in Bern" in done.out
    checked = spawn("check", "trip", env=environment(str(weather_tools.parent)))
    assert checked.code == 0 and "this one imports or starts always, weather." in checked.out

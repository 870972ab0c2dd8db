"""Modules and planners that another distribution brings by entry points."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon import Executor, Inventory
from tests.e2e.commands import environment, spawn
from tests.inventory.installed import weather_tools

__all__ = ["weather_tools"]

TRIP = """\
name: trip
planner: {use: always, module: weather}
modules: {weather: {place: Bern}}
"""


def test_an_inventory_names_them(weather_tools: Path, tmp_path: Path) -> None:
    (tmp_path / "trip.yaml").write_text(TRIP, "utf-8")
    inventory = Inventory.load(tmp_path / "trip.yaml")
    assert inventory.check() is None
    assert Executor(inventory).run({"question": "How is it?"}).answer == "sun in Bern"


@pytest.mark.slow
def test_a_process_of_its_own_finds_them(weather_tools: Path, tmp_path: Path) -> None:
    (tmp_path / "trip.yaml").write_text(TRIP, "utf-8")
    there = environment(str(weather_tools.parent))
    done = spawn("ask", "How is it?", "--inventory", str(tmp_path / "trip.yaml"), env=there)
    assert done.code == 0 and "sun in Bern" in done.out
    checked = spawn("check", str(tmp_path / "trip.yaml"), env=there)
    assert checked.code == 0 and "this one imports or starts always, weather." in checked.out

"""Hold every room to its budget of lines: `python -m tests.test_rooms` prints both columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
BUDGETS = Path(__file__).with_name("rooms.yaml")
HOUSES = ("chameleon", "modules")  # each folder in them is a room
WINGS = ("planners", "benchmarks", "tests")  # each is one room


def budgets() -> dict[str, int]:
    """Return the budget of each room, in lines."""
    found: dict[str, int] = yaml.safe_load(BUDGETS.read_text("utf-8"))
    return found


def measured() -> dict[str, int]:
    """Return the lines of Python in each room, docstrings and empty lines included."""
    rooms = {name: _lines(ROOT / name) for name in WINGS}
    for house in HOUSES:
        folders = [each for each in (ROOT / house).iterdir() if each.is_dir() and not each.is_symlink()]
        sizes = {f"{house}/{each.name}": _lines(each) for each in folders}
        rooms |= {name: lines for name, lines in sizes.items() if lines}
        rooms[house] = sum(map(_length, (ROOT / house).glob("*.py")))
    rooms["shipped"] = sum(lines for name, lines in rooms.items() if name != "tests")
    return rooms


def _lines(folder: Path) -> int:
    return sum(map(_length, folder.rglob("*.py")))


def _length(file: Path) -> int:
    return len(file.read_text("utf-8").splitlines())


def _table(lines: Mapping[str, int], allowed: Mapping[str, int]) -> str:
    rows = [f"{name:24}{lines[name]:>8,}{allowed.get(name, 0):>10,}" for name in sorted(lines)]
    return "\n".join([f"{'room':24}{'lines':>8}{'budget':>10}", *rows])


def test_every_room_keeps_its_budget() -> None:
    lines, allowed = measured(), budgets()
    print(_table(lines, allowed))
    assert lines.keys() == allowed.keys(), "every room has a budget, and every budget a room"
    over = {name: (lines[name], allowed[name]) for name in lines if lines[name] > allowed[name]}
    assert not over, over


def test_no_tool_lies_flat_in_modules() -> None:
    assert [file.name for file in (ROOT / "modules").glob("*.py")] == ["__init__.py"]


if __name__ == "__main__":
    print(_table(measured(), budgets()))

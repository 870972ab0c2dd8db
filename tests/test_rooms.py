"""Hold every room to its budget of lines and the whole to its ceilings; run this module to print both."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
BUDGETS: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("rooms.yaml").read_text("utf-8"))
ROOMS: Mapping[str, Mapping[str, int]] = BUDGETS["rooms"]
CEILINGS = ROOT / ".." / "shared" / "BUDGETS.yaml"
HOUSES = ("chameleon", "modules")  # each folder in them is a room, and their own files are one
WINGS = ("planners", "benchmarks")  # each is one room
NOT_SHIPPED = {"tests": ("tests",), "perf": ("perf", "scripts"), "docs/_ext": ("docs/_ext",)}
MAX_PAGE_LINES = 500  # of the templates and styles of pages, which are not counted as Python


def measured() -> dict[str, int]:
    """Return the lines of Python of each room that ships, docstrings and empty lines included."""
    rooms = {name: _lines(name) for name in WINGS}
    for house in HOUSES:
        folders = [each for each in (ROOT / house).iterdir() if each.is_dir() and not each.is_symlink()]
        sizes = {f"{house}/{each.name}": _lines(f"{house}/{each.name}") for each in folders}
        rooms |= {name: lines for name, lines in sizes.items() if lines}
        rooms[house] = sum(map(_length, (ROOT / house).glob("*.py")))
    return rooms


def totals() -> dict[str, int]:
    """Return the lines of all that ships, and of what does not."""
    return {
        "shipped": sum(measured().values()),
        **{name: sum(map(_lines, folders)) for name, folders in NOT_SHIPPED.items()},
    }


def _lines(folder: str) -> int:
    return sum(map(_length, (ROOT / folder).rglob("*.py")))


def _length(file: Path) -> int:
    return len(file.read_text("utf-8").splitlines())


def _over(lines: Mapping[str, int], allowed: Mapping[str, int]) -> dict[str, str]:
    return {name: f"{lines[name]:,} > {most:,}" for name, most in allowed.items() if lines[name] > most}


def test_every_room_keeps_its_budget() -> None:
    lines = measured()
    assert lines.keys() == ROOMS.keys(), "every room has a budget, and every budget a room"
    assert not _over(lines, {name: room["budget"] for name, room in ROOMS.items()})


def test_the_whole_keeps_its_budget_and_the_rooms_share_it() -> None:
    assert not _over(totals(), BUDGETS["totals"])
    for column in ("budget", "goal"):
        assert sum(room[column] for room in ROOMS.values()) <= BUDGETS["totals"]["shipped"], column


def test_the_ceilings_after_the_last_issue_are_kept() -> None:
    if not CEILINGS.is_file():
        pytest.skip("the ceilings after each issue are not here")
    ceilings = yaml.safe_load(CEILINGS.read_text("utf-8"))
    allowed = dict(ceilings[BUDGETS["issue"] or "start"])
    allowed["shipped"] += sum(BUDGETS["added"].values())
    assert not _over(totals(), allowed)
    assert not _over({name: BUDGETS["totals"][name] for name in allowed}, allowed), "the budget is above it"


def test_pages_hold_no_program() -> None:
    pages = [file for kind in ("*.j2", "*.css") for file in (ROOT / "chameleon" / "evaluation").glob(kind)]
    assert pages and sum(map(_length, pages)) <= MAX_PAGE_LINES


def test_no_tool_lies_flat_in_modules() -> None:
    assert [file.name for file in (ROOT / "modules").glob("*.py")] == ["__init__.py"]


def _table() -> str:
    rows = [f"{'room':24}{'lines':>8}{'budget':>9}{'goal':>9}"]
    for name, lines in sorted(measured().items()):
        room = ROOMS.get(name, {"budget": 0, "goal": 0})
        rows.append(f"{name:24}{lines:>8,}{room['budget']:>9,}{room['goal']:>9,}")
    rows += [f"{name:24}{lines:>8,}{BUDGETS['totals'][name]:>9,}" for name, lines in totals().items()]
    return "\n".join(rows)


if __name__ == "__main__":
    print(_table())

"""Entries that bring several modules: a list of tools, with a prefix, a choice and bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon import Inventory
from chameleon.errors import InventoryError

CODE = """
from chameleon import tool

@tool
def one(x: int) -> int:
    'Adds one.'
    return x + 1

@tool
def two(x: int) -> int:
    'Adds two.'
    return x + 2

BOTH = [one, two]
"""


def load(folder: Path, entry: str) -> Inventory:
    (folder / "numbers_of_mine.py").write_text(CODE)
    (folder / "t.yaml").write_text(
        f"name: t\nplanner: one_shot\nmodules: {{mine: {{use: 'numbers_of_mine:BOTH', {entry}}}}}\n"
    )
    return Inventory.load(folder / "t.yaml")


def test_a_list_brings_its_tools_by_their_names(tmp_path: Path) -> None:
    assert list(load(tmp_path, "on_error: skip").modules) == ["one", "two"]
    made = load(
        tmp_path, "prefix: my_, tools: [two], max_runs: {two: 2}, requires_approval: true, on_error: skip"
    )
    (name, tool) = next(iter(made.modules.items()))
    assert (list(made.modules), tool.name, tool.max_runs, tool.requires_approval) == (
        ["my_two"],
        "my_two",
        2,
        True,
    )
    assert made.on_error == {name: "skip"}
    assert {tool.max_runs for tool in load(tmp_path, "max_runs: 3").modules.values()} == {3}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("tools: [tow]", "there is no tool 'tow'. Did you mean 'two'?"),
        ("max_runs: {tow: 1}", "there is no tool 'tow'"),
        ("description: Both", "an entry of several tools has no 'description'"),
        ("prefx: a_", "has no parameter 'prefx'. Did you mean 'prefix'?"),
    ],
)
def test_what_does_not_fit_a_list_is_told_with_its_place(tmp_path: Path, entry: str, told: str) -> None:
    with pytest.raises(InventoryError) as caught:
        load(tmp_path, entry)
    assert told in str(caught.value) and "t.yaml:3: modules.mine" in str(caught.value)

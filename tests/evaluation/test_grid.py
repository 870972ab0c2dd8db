"""Grid files: what arms become, and what is told of a file that does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon import Inventory
from chameleon.errors import ChameleonError
from chameleon.evaluation.grid import Grid, fixed_plan
from chameleon.inventory.source import shipped_grids
from tests.engine.files import TOOL, write

BASE = """\
name: base
about: What is below.
planner: {use: fixed, plan: [solution_generator, answer_generator]}
modules:
  solution_generator: {samples: 3, llm: {max_tokens: 40, temperature: 1}}
  answer_generator: {}
"""
GRID = """\
name: tried
inventory: base.yaml
common:
  llm: {seed: 3}
arms:
  first:
  colder:
    about: A colder one.
    modules:
      solution_generator: {llm: {temperature: 0}}
  alone:
    without: [solution_generator]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, BASE, "base.yaml")
    return tmp_path


def load(folder: Path, text: str = GRID) -> Grid:
    return Grid.load(write(folder, text, "grid.yaml"))


def fault(folder: Path, text: str) -> str:
    with pytest.raises(ChameleonError) as error:
        load(folder, text)
    told = str(error.value)
    assert "\n" not in told and "pydantic" not in told and len(told) < 500
    return told


def test_an_arm_is_the_inventory_with_what_is_common_and_its_own_keys_over_it(folder: Path) -> None:
    grid = load(folder)
    assert list(grid.arms) == ["first", "colder", "alone"]
    first, colder, alone = (arm.inventory for arm in grid.arms.values())
    assert [each.name for each in (first, colder, alone)] == ["tried_first", "tried_colder", "tried_alone"]
    assert [each.llm.seed for each in (first, colder, alone)] == [3, 3, 3]
    assert (first.about, colder.about) == ("What is below.", "A colder one.")
    assert colder.spec is not None
    entry = colder.spec.modules["solution_generator"]
    assert entry.samples == 3 and entry.llm is not None
    assert (entry.llm.temperature, entry.llm.max_tokens) == (0, 40)
    assert fixed_plan(alone) == ["answer_generator"] and fixed_plan(first) != fixed_plan(alone)
    changes = [(), ('solution_generator: llm {"temperature": 0}',), ("without solution_generator",)]
    assert [arm.changes for arm in grid.arms.values()] == changes
    assert [arm.calls for arm in grid.arms.values()] == [3, 3, 0]
    assert list(grid.only(["alone", "first"]).arms) == ["first", "alone"]
    with pytest.raises(ChameleonError, match="Did you mean 'colder'"):
        grid.only(["colde"])
    write(folder, BASE.replace("samples: 3", "samples: 8"), "other.yaml")
    other = Grid.load(folder / "grid.yaml", inventory=str(folder / "other.yaml"))
    assert other.inventory.endswith("other.yaml") and [arm.calls for arm in other.arms.values()] == [8, 8, 0]


def test_an_arm_without_anything_is_the_inventory_itself(folder: Path) -> None:
    same = load(folder, "name: same\ninventory: base.yaml\narms: {it: {}}").arms["it"].inventory.spec
    below = Inventory.load(folder / "base.yaml").spec
    assert below is not None and same == below.model_copy(update={"name": "same_it"})
    assert load(folder, "name: planned\ninventory: tabmwp\narms: {it: {}}").arms["it"].calls is None


def test_the_modules_left_out_are_those_of_all_arms_and_the_arms_own(folder: Path) -> None:
    arms = "arms: {one: {without: [wiki_clarifier]}, other: {}}"
    text = f"name: tried\ninventory: tablerag_tabfact\ncommon: {{without: [term_clarifier]}}\n{arms}"
    one, other = load(folder, text).arms.values()
    assert one.inventory.left_out == {"term_clarifier", "wiki_clarifier"}
    assert other.inventory.left_out == {"term_clarifier"}


def test_tools_and_prompts_are_found_beside_the_grid_and_beside_the_inventory(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    write(tmp_path / "below", TOOL, "below_tool.py")
    write(tmp_path, TOOL.replace("return 1", "return 2"), "grid_tool.py")
    base = 'name: base\nplanner: {use: fixed, plan: [it]}\nmodules: {it: {use: "below_tool:Tool"}}'
    write(tmp_path / "below", base, "base.yaml")
    two = '{modules: {it: {use: "grid_tool:Tool"}}}'
    arms = load(tmp_path, f"name: tools\ninventory: below/base.yaml\narms:\n  one: {{}}\n  two: {two}").arms
    assert [arm.inventory.modules["it"].run(None) for arm in arms.values()] == [1, 2]  # type: ignore[arg-type]


FAULTS = [
    (f"{GRID}armss: {{}}", 13, "unknown key 'armss'. Did you mean 'arms'?"),
    (GRID.replace("about:", "abut:"), 8, "abut'. Did you mean 'about'?"),
    (GRID.replace("about:", "name:"), 8, "unknown key 'arms.colder.name'"),
    (GRID.partition("arms:")[0], 0, "the key 'arms' is missing"),
    (GRID.partition("arms:")[0] + "arms: {}", 5, "at least 1 item"),
    (GRID.replace("alone:", "first:"), 11, "the key 'first' occurs twice"),
    (GRID.replace("base.yaml", "tablerag_tabfct"), 2, "Did you mean 'tablerag_tabfact'?"),
    (GRID.replace("[solution_generator]", "[solution]"), 12, "the arm alone: there is no module 'solution'"),
    ("- name", 0, "a grid is a mapping."),
]


@pytest.mark.parametrize(("text", "line", "what"), FAULTS)
def test_a_fault_is_told_with_its_place(text: str, line: int, what: str, folder: Path) -> None:
    told = fault(folder, text)
    where = f"{folder / 'grid.yaml'}:{line}" if line else str(folder / "grid.yaml")
    assert told.startswith(where) and what in told, told


def test_a_fault_below_and_a_grid_that_is_not_there_are_told(folder: Path) -> None:
    write(folder, BASE.replace("samples: 3", "sampels: 3"), "base.yaml")
    told = fault(folder, GRID)
    assert told.startswith(f"{folder / 'base.yaml'}:5") and "the arm first: " in told
    for name, what in {"tablerg": "Did you mean 'tablerag'", "no/such.yaml": "no such grid file"}.items():
        with pytest.raises(ChameleonError, match=what):
            Grid.load(name)


def test_shipped_grids_are_whole_and_two_do_for_all_tasks() -> None:
    for name in shipped_grids():
        grid = Grid.load(name)
        assert grid.name == name and grid.about.endswith(".") and len(grid.arms) > 1
        assert all(fixed_plan(arm.inventory) and arm.calls for arm in grid.arms.values())
    for inventory in ("tablerag_feverous", "tablerag_hybridqa", "tablerag_sqa"):
        for name in ("tablerag", "tablerag_retrieval"):
            assert len(Grid.load(name, inventory=inventory).arms) > 10

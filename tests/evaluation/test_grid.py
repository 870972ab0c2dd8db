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


def test_an_arm_without_anything_is_the_inventory_itself(folder: Path) -> None:
    same = load(folder, "name: same\ninventory: base.yaml\narms: {it: {}}").arms["it"].inventory.spec
    below = Inventory.load(folder / "base.yaml").spec
    assert below is not None and same == below.model_copy(update={"name": "same_it"})


def test_the_modules_left_out_are_those_of_all_arms_and_the_arms_own(folder: Path) -> None:
    arms = "arms: {one: {without: [wiki_clarifier]}, other: {}}"
    text = f"name: tried\ninventory: tablerag_tabfact\ncommon: {{without: [term_clarifier]}}\n{arms}"
    one, other = load(folder, text).arms.values()
    assert one.inventory.left_out == {"term_clarifier", "wiki_clarifier"}
    assert other.inventory.left_out == {"term_clarifier"}


def test_what_an_arm_changes_is_told_in_words_and_its_calls_where_the_plan_is_fixed(folder: Path) -> None:
    arms = load(folder).arms.values()
    colder = 'solution_generator: llm {"temperature": 0}'
    assert [arm.changes for arm in arms] == [(), (colder,), ("without solution_generator",)]
    assert [arm.calls for arm in arms] == [3, 3, 0]
    assert load(folder, "name: planned\ninventory: tabmwp\narms: {it: {}}").arms["it"].calls is None


def test_old_keys_of_an_arm_are_read_with_a_warning(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    old = GRID.replace("llm: {temperature: 0}", "at_most: 2, asks: approval")
    made = load(folder, old).arms["colder"].inventory.modules["solution_generator"]
    assert (made.max_runs, made.requires_approval) == (2, True)
    assert "grid.yaml:10: 'at_most' is now 'max_runs'" in caplog.text
    told = fault(folder, old.replace("at_most: 2", "at_most: x"))
    assert told.startswith(f"{folder / 'grid.yaml'}:10") and "max_runs" in told


def test_another_inventory_takes_the_place_of_the_grids(folder: Path) -> None:
    write(folder, BASE.replace("samples: 3", "samples: 8"), "other.yaml")
    grid = Grid.load(write(folder, GRID, "grid.yaml"), inventory=str(folder / "other.yaml"))
    assert grid.inventory.endswith("other.yaml") and [arm.calls for arm in grid.arms.values()] == [8, 8, 0]


def test_tools_and_prompts_are_found_beside_the_grid_and_beside_the_inventory(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    write(tmp_path / "below", TOOL, "below_tool.py")
    write(tmp_path, TOOL.replace("return 1", "return 2"), "grid_tool.py")
    base = 'name: base\nplanner: {use: fixed, plan: [it]}\nmodules: {it: {use: "below_tool:Tool"}}'
    write(tmp_path / "below", base, "base.yaml")
    text = (
        "name: tools\ninventory: below/base.yaml\narms:\n  one: {}\n"
        '  two: {modules: {it: {use: "grid_tool:Tool"}}}'
    )
    one, two = load(tmp_path, text).arms.values()
    assert [one.inventory.modules["it"].run(None), two.inventory.modules["it"].run(None)] == [1, 2]  # type: ignore[arg-type]


def test_arms_are_picked_by_name(folder: Path) -> None:
    grid = load(folder)
    assert list(grid.only(["alone", "first"]).arms) == ["first", "alone"]
    with pytest.raises(ChameleonError, match=r"no arm 'colde'\. Did you mean 'colder'"):
        grid.only(["colde"])


FAULTS = {
    "an unknown key": (f"{GRID}armss: {{}}", 13, "unknown key 'armss'. Did you mean 'arms'?"),
    "an unknown key of an arm": (GRID.replace("about:", "abut:"), 8, "abut'. Did you mean 'about'?"),
    "a name of its own": (GRID.replace("about:", "name:"), 8, "unknown key 'arms.colder.name'"),
    "no arms": (GRID.partition("arms:")[0], 0, "the key 'arms' is missing"),
    "arms that are none": (GRID.partition("arms:")[0] + "arms: {}", 5, "at least 1 item"),
    "an arm that stands twice": (GRID.replace("alone:", "first:"), 11, "the key 'first' occurs twice"),
    "no inventory of that name": (
        *(GRID.replace("base.yaml", "tablerag_tabfct"), 2),
        "there is no inventory 'tablerag_tabfct'. Did you mean 'tablerag_tabfact'?",
    ),
    "a module that is not there to be left out": (
        *(GRID.replace("[solution_generator]", "[solution]"), 12),
        "the arm alone: there is no module 'solution' to leave out. Did you mean 'solution_generator'?",
    ),
    "no mapping": ("- name", 0, "a grid is a mapping. Begin with `name:`, `inventory:` and `arms:`."),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_with_its_place(name: str, folder: Path) -> None:
    text, line, what = FAULTS[name]
    told = fault(folder, text)
    where = f"{folder / 'grid.yaml'}:{line}" if line else str(folder / "grid.yaml")
    assert told.startswith(where) and what in told, told


def test_a_fault_below_is_told_with_its_own_place(folder: Path) -> None:
    write(folder, BASE.replace("samples: 3", "sampels: 3"), "base.yaml")
    told = fault(folder, GRID)
    assert told.startswith(f"{folder / 'base.yaml'}:5") and "the arm first: " in told


def test_a_grid_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(ChameleonError, match=r"no grid 'tablerg'\. Did you mean 'tablerag'"):
        Grid.load("tablerg")
    with pytest.raises(ChameleonError, match="no such grid file"):
        Grid.load("no/such.yaml")


@pytest.mark.parametrize("name", shipped_grids())
def test_shipped_grids_are_whole(name: str) -> None:
    grid = Grid.load(name)
    assert grid.name == name and grid.about.endswith(".") and len(grid.arms) > 1
    assert all(fixed_plan(arm.inventory) and arm.calls for arm in grid.arms.values())


@pytest.mark.parametrize("inventory", ["tablerag_feverous", "tablerag_hybridqa", "tablerag_sqa"])
def test_a_shipped_grid_does_for_all_four_tasks(inventory: str) -> None:
    for name in ("tablerag", "tablerag_retrieval"):
        assert len(Grid.load(name, inventory=inventory).arms) > 10

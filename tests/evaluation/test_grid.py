"""Grid files: what arms become, what is measured of them without a model, and what does not fit."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor, Inventory, State, Table
from chameleon.core.events import Failure, Plan, RunStarted, Step, StepRecord
from chameleon.errors import ChameleonError
from chameleon.evaluation.arms import has_gold, left_of, measure_arm
from chameleon.evaluation.benchmark import Benchmark, Problem
from chameleon.evaluation.compare import ArmTable, difference
from chameleon.evaluation.data import DataFile, find_benchmark, read_problems
from chameleon.evaluation.grid import Grid, fixed_plan
from chameleon.inventory.resolve import shipped
from chameleon.inventory.source import shipped_grids
from chameleon.text import estimated_tokens
from tests.engine.files import TOOL, write
from tests.evaluation.grid_runs import BOATS, HEADER, make
from tests.evaluation.grid_runs import GRID as SIEVES

Patch = pytest.MonkeyPatch

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


def test_an_arm_without_anything_is_the_inventory_and_leaves_out_what_all_do(folder: Path) -> None:
    same = load(folder, "name: same\ninventory: base.yaml\narms: {it: {}}").arms["it"].inventory.spec
    below = Inventory.load(folder / "base.yaml").spec
    assert below is not None and same == below.model_copy(update={"name": "same_it"})
    assert load(folder, "name: planned\ninventory: tabmwp\narms: {it: {}}").arms["it"].calls is None
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
    ("- name", 0, "an experiment must be a mapping."),
]


def test_a_fault_is_told_with_its_place_in_the_grid_or_below(folder: Path) -> None:
    def fault(text: str) -> str:
        with pytest.raises(ChameleonError) as error:
            load(folder, text)
        told = str(error.value)
        assert "\n" not in told and "pydantic" not in told and len(told) < 500
        return told

    grid = folder / "grid.yaml"
    for text, line, what in FAULTS:
        told = fault(text)
        assert told.startswith(f"{grid}:{line}" if line else str(grid)) and what in told, told
    told = fault(OLD.replace("at_most: 2", "at_most: x"))
    assert told.startswith(str(grid)) and "max_runs" in told
    write(folder, BASE.replace("samples: 3", "sampels: 3"), "base.yaml")
    told = fault(GRID)
    assert told.startswith(f"{folder / 'base.yaml'}:5") and "the arm first: " in told
    for name, what in {"tablerg": "Did you mean 'tablerag'", "no/such.yaml": "no such experiment"}.items():
        with pytest.raises(ChameleonError, match=what):
            Grid.load(name)


OLD = GRID.replace("llm: {temperature: 0}", "at_most: 2, asks: approval")


def test_old_keys_of_an_arm_are_read_with_a_warning(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = load(folder, OLD).arms["colder"].inventory.modules["solution_generator"]
    assert (made.max_runs, made.requires_approval) == (2, True)
    assert "'at_most' is now 'max_runs'" in caplog.text


def test_shipped_grids_are_whole_and_two_do_for_all_tasks() -> None:
    benchmarks = [find_benchmark(name) for name in shipped("benchmarks")]
    for name in shipped_grids():
        grid = Grid.load(name)
        assert grid.name == name and grid.about.endswith(".") and len(grid.arms) > 1
        for arm in grid.arms.values():  # what is printed of it is a row of a benchmark
            assert not arm.published or any(arm.printed(each) for each in benchmarks)
    for inventory in ("tablerag_feverous", "tablerag_hybridqa", "tablerag_sqa"):
        for name in ("tablerag", "tablerag_retrieval"):
            assert len(Grid.load(name, inventory=inventory).arms) > 10


TABLE = Table(HEADER, BOATS, "Fleet")


def state_of(*records: StepRecord, table: Table | None = TABLE) -> State:
    state = State().after(RunStarted("mine", {"question": "Which?", **({"table": table} if table else {})}))
    state = state.after(Plan(tuple(record.step for record in records), "test"))
    for record in records:
        state = state.after(record)
    return state


def cut(rows: list[int], columns: list[int]) -> StepRecord:
    part = TABLE.take_rows(rows).take_columns(columns)
    kept = {"rows": tuple(rows), "columns": tuple(columns)}
    return StepRecord(Step("cut"), 1, {"table": part}, {"kept": kept})


def found_in_index(table: Table) -> StepRecord:
    return StepRecord(Step("find"), 1, {"table": table}, {"retrieved": ({"id": "x"},)})


PROBLEM = Problem("1", {"question": "Which?", "table": TABLE}, ["Heron"])
CELLS = [frozenset({(1, 0)}), frozenset({(0, 1), (2, 1)})]


LEFT: list[tuple[list[StepRecord], bool | None]] = [
    ([], True),
    ([cut([0, 1], [0, 1])], True),
    ([cut([1, 2], [0, 1])], True),
    ([cut([1], [0, 1])], False),  # of the second group none is left
    ([cut([0, 1, 2], [0])], False),
    ([StepRecord(Step("cut"), 1, {"table": TABLE.take_rows([1])})], None),  # nobody says what is left
    ([found_in_index(TABLE.with_caption("another name"))], True),
    ([found_in_index(Table(HEADER, BOATS[:2]))], False),
    ([found_in_index(TABLE), cut([1], [0, 1])], False),
]


def test_gold_cells_are_left_or_lost_as_they_are_with_the_table() -> None:
    for records, expected in LEFT:
        state = state_of(*records)
        assert has_gold(state, PROBLEM, CELLS) is expected
        assert has_gold(state, PROBLEM, None) is has_gold(state, PROBLEM, []) is None
    failed = state_of(StepRecord(Step("cut"), error=Failure("ModuleError", "it broke")))
    for state in (state_of(table=None), failed):
        assert left_of(state, PROBLEM, CELLS, None) == {"gold_kept": False}


cells = st.frozensets(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1)
some = st.lists(st.integers(0, 2), unique=True, min_size=1).map(sorted)


@given(st.lists(cells, min_size=1, max_size=4), some)
def test_more_rows_never_lose_a_cell(groups: list[frozenset[tuple[int, int]]], rows: list[int]) -> None:
    part = has_gold(state_of(cut(rows, [0, 1])), PROBLEM, groups)
    assert part is all(any(row in rows for row, _ in each) for each in groups)
    assert has_gold(state_of(cut([0, 1, 2], [0, 1])), PROBLEM, groups) is True


def measured(folder: Path, one: str = "{}") -> dict[str, dict[str, Any]]:
    """The arms of the grid, the first but one of them changed."""
    path, questions = make(folder, SIEVES.replace("one: {}", f"one: {one}"))
    benchmark: Benchmark = find_benchmark("wikitq")
    problems = list(read_problems(benchmark, DataFile(questions)))
    return {arm.name: measure_arm(arm, benchmark, problems) for arm in Grid.load(path).arms.values()}


def test_an_arm_that_cannot_run_or_asks_before_the_answer_is_not_measured(tmp_path: Path) -> None:
    for lost, told in {"package": "the package sieve is missing", "Fleet": "it cannot be kept"}.items():
        one = measured(tmp_path, f"{{modules: {{keep: {{lost: {lost}}}}}}}")["one"]
        assert one["problems"] == 0 and told in one["lacks"]
    arms = measured(tmp_path, "{modules: {keep: {use: llm_filter}}}")
    assert arms["one"]["needs_a_model"] == ["keep", "table_answerer"] and arms["two"]["problems"] == 4
    assert (arms["one"]["problems"], arms["one"]["table"], arms["one"]["lacks"]) == (0, None, None)
    [planned] = Grid.load(write(tmp_path, "name: planned\ninventory: tabmwp\narms: {it: {}}")).arms.values()
    found = measure_arm(planned, find_benchmark("tabmwp"), [])
    assert (found["needs_a_model"], found["problems"]) == (["the planner"], 0)


def test_an_arm_is_measured_over_all_problems_by_what_is_shown(tmp_path: Path, monkeypatch: Patch) -> None:
    seen: list[set[str]] = []
    run = Executor.run
    monkeypatch.setattr(Executor, "run", lambda self, given: seen.append(set(given)) or run(self, given))
    arms = measured(tmp_path)
    assert seen and all(given <= {"question", "table"} for given in seen), "no gold answer comes to a module"
    assert all((arm["needs_a_model"], arm["problems"]) == (["table_answerer"], 4) for arm in arms.values())
    tables = [arm["table"] for arm in arms.values()]
    # The answers stand in the rows 0, 2 and 1, and that of the fourth question in none.
    shares, known = [1.0, 0.3333, 0.6667], [3, 3, 3]
    for key, values in {"gold_kept": shares, "cells": shares, "gold_known": known, "rows": [3, 1, 2]}.items():
        assert [each[key] for each in tables] == values
    assert tables[1]["tokens"] == estimated_tokens("| Boat | Port |\n|---|---|\n| Swift | Ostrand |")
    html = measured(tmp_path, "{modules: {table_formatter: {format: html}, keep: {rows: 3}}}")["one"]["table"]
    rows = "".join(f"<tr><td>{boat}</td><td>{port}</td></tr>" for boat, port in BOATS)
    assert html["tokens"] > estimated_tokens(rows) > tables[0]["tokens"]


def test_a_problem_that_fails_has_lost_its_answer(tmp_path: Path) -> None:
    one = measured(tmp_path, "{modules: {keep: {lost: Fleet 1, rows: 3}}}")["one"]
    assert (one["problems"], one["failed"], one["lacks"]) == (4, 1, None)
    assert "it cannot be kept" in one["failed_first_for"]
    [answers, lost] = ArmTable([one], {}).notes
    assert "Answers need a model" in answers
    assert lost.startswith("one: 1 of 4 problems found no table, the first with: module keep: ")
    assert one["table"]["gold_kept"] == 0.6667 and one["table"]["n"] == 3


verdicts = st.dictionaries(st.sampled_from("abcdefgh"), st.booleans())


@given(verdicts, verdicts)
def test_differences_are_over_pairs(ours: dict[str, bool], first: dict[str, bool]) -> None:
    found = difference(ours, first)
    pairs = [ours[id] - first[id] for id in sorted(ours.keys() & first.keys())]
    if not pairs:
        assert found == (None, None)
        return
    mean = sum(pairs) / len(pairs)
    variance = sum((pair - mean) ** 2 for pair in pairs) / len(pairs)
    assert found == pytest.approx((mean, 1.645 * (variance / len(pairs)) ** 0.5), abs=1e-9)

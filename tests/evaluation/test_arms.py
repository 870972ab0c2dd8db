"""What is measured of an arm without a model: what runs, what is left of tables, and whether answers are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor, State, Table
from chameleon.core.events import Failure, Plan, RunStarted, Step, StepRecord
from chameleon.evaluation.arms import has_gold, left_of, measure_arm
from chameleon.evaluation.benchmark import Benchmark, Problem
from chameleon.evaluation.compare import ArmTable, difference
from chameleon.evaluation.data import DataFile, find_benchmark, read_problems
from chameleon.evaluation.grid import Grid
from chameleon.text import estimated_tokens
from tests.engine.files import write
from tests.evaluation.grid_runs import BOATS, GRID, HEADER, make

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
UNTOLD = StepRecord(Step("cut"), 1, {"table": TABLE.take_rows([1])})  # nobody says what is left


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([], True),
        ([cut([0, 1], [0, 1])], True),
        ([cut([1, 2], [0, 1])], True),
        ([cut([1], [0, 1])], False),  # of the second group none is left
        ([cut([0, 1, 2], [0])], False),
        ([UNTOLD], None),
        ([found_in_index(TABLE.with_caption("another name"))], True),
        ([found_in_index(Table(HEADER, BOATS[:2]))], False),
        ([found_in_index(TABLE), cut([1], [0, 1])], False),
    ],
)
def test_gold_cells_are_left_or_lost(records: list[StepRecord], expected: bool | None) -> None:
    assert has_gold(state_of(*records), PROBLEM, CELLS) is expected
    assert has_gold(state_of(*records), PROBLEM, None) is has_gold(state_of(*records), PROBLEM, []) is None


def test_a_run_without_a_table_has_lost_them() -> None:
    failed = state_of(StepRecord(Step("cut"), error=Failure("ModuleError", "it broke")))
    left = [left_of(each, PROBLEM, CELLS, None) for each in (state_of(table=None), failed)]
    assert left == [{"gold_kept": False}] * 2


cells = st.frozensets(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1)
some = st.lists(st.integers(0, 2), unique=True, min_size=1).map(sorted)


@given(st.lists(cells, min_size=1, max_size=4), some)
def test_more_rows_never_lose_a_cell(groups: list[frozenset[tuple[int, int]]], rows: list[int]) -> None:
    part = has_gold(state_of(cut(rows, [0, 1])), PROBLEM, groups)
    assert part is all(any(row in rows for row, _ in each) for each in groups)
    assert has_gold(state_of(cut([0, 1, 2], [0, 1])), PROBLEM, groups) is True


def measured(folder: Path, one: str = "{}") -> dict[str, dict[str, Any]]:
    """The arms of the grid, the first but one of them changed."""
    path, questions = make(folder, GRID.replace("one: {}", f"one: {one}"))
    benchmark: Benchmark = find_benchmark("wikitq")
    problems = list(read_problems(benchmark, DataFile(questions)))
    return {arm.name: measure_arm(arm, benchmark, problems) for arm in Grid.load(path).arms.values()}


def test_an_arm_is_measured_over_all_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []
    run = Executor.run
    monkeypatch.setattr(Executor, "run", lambda self, given: seen.append(set(given)) or run(self, given))
    arms = measured(tmp_path).values()
    assert seen and all(given <= {"question", "table"} for given in seen), "no gold answer comes to a module"
    assert all((arm["needs_a_model"], arm["problems"]) == (["table_answerer"], 4) for arm in arms)
    tables = [arm["table"] for arm in arms]
    # The answers stand in the rows 0, 2 and 1, and that of the fourth question in none.
    shares, known = [1.0, 0.3333, 0.6667], [3, 3, 3]
    for key, values in {"gold_kept": shares, "cells": shares, "gold_known": known, "rows": [3, 1, 2]}.items():
        assert [each[key] for each in tables] == values
    assert tables[1]["tokens"] == estimated_tokens("| Boat | Port |\n|---|---|\n| Swift | Ostrand |")


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


def test_the_table_is_estimated_as_the_prompt_shows_it(tmp_path: Path) -> None:
    arms = measured(tmp_path, "{modules: {table_formatter: {format: html}, keep: {rows: 3}}}")
    rows = "".join(f"<tr><td>{boat}</td><td>{port}</td></tr>" for boat, port in BOATS)
    assert arms["one"]["table"]["tokens"] > estimated_tokens(rows) > arms["whole"]["table"]["tokens"]


def test_a_problem_that_fails_has_lost_its_answer(tmp_path: Path) -> None:
    one = measured(tmp_path, "{modules: {keep: {lost: Fleet 1, rows: 3}}}")["one"]
    assert (one["problems"], one["failed"], one["lacks"]) == (4, 1, None)
    assert "it cannot be kept" in one["failed_first_for"]
    [answers, lost] = ArmTable([one], {}).notes
    assert "Answers need a model" in answers
    assert lost.startswith("one: 1 of 4 problems came to no table, the first since module keep: ")
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

"""A benchmark of rows in memory: `Benchmark.of` and `run_benchmark`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from chameleon import Executor, Table
from chameleon.errors import InputError
from chameleon.evaluation import Benchmark, Problem, run_benchmark

TABLE = Table(["Fruit", "Price"], [["apple", "2"], ["pear", "3"], ["plum", "5"]])
ROWS = [
    {"id": "a", "ask": "Which fruit has the highest price?", "gold": "plum"},
    {"id": "b", "ask": "Which fruit has the lowest price?", "gold": "pear"},
    {"id": "c", "ask": "Will it rain?", "gold": "no"},
]


def problem(row: Mapping[str, Any]) -> Problem:
    return Problem(row["id"], {"question": row["ask"], "table": TABLE}, row["gold"])


def test_own_rows_are_run_and_judged_in_their_order() -> None:
    benchmark = Benchmark.of(ROWS, problem=problem, scorer=lambda answer, gold: answer == gold)
    results = run_benchmark(Executor("tables_offline"), benchmark, workers=2, progress=True)
    verdicts = [(each.id, each.verdict) for each in results]
    assert verdicts == [("a", "right"), ("b", "wrong"), ("c", "declined")]


def test_a_row_that_makes_no_problem_is_named() -> None:
    with pytest.raises(InputError, match="row 4: no problem can be made of it: KeyError: 'id'"):
        Benchmark.of([*ROWS, {}], problem=problem, scorer=lambda answer, gold: True)
    with pytest.raises(InputError, match=r"row 1: `problem` gave str. Return Problem\(id, input, gold\)"):
        Benchmark.of(ROWS, problem=lambda row: "text", scorer=lambda answer, gold: True)  # type: ignore


def test_a_problem_whose_scorer_fails_is_named() -> None:
    benchmark = Benchmark.of(ROWS, problem=problem, scorer=lambda answer, gold: answer / 0)
    with pytest.raises(InputError, match=r"problem a: its scorer cannot judge .*: TypeError: unsupported"):
        run_benchmark(Executor("tables_offline"), benchmark)


@pytest.mark.parametrize(
    ("answer", "gold", "is_right"),
    [
        ("Plum", " plum", True),
        (15.0, "15", True),
        ("1,200", 1200, True),
        ("15 cm", "15", False),
        (None, "", False),
    ],
)
def test_figures_count_by_their_value_where_nothing_else_is_said(
    answer: Any, gold: Any, is_right: bool
) -> None:
    benchmark = Benchmark.of(ROWS, problem=problem)
    scorer = benchmark.scorers["own"]()
    assert scorer.right(answer, Problem("a", {}, gold)) is is_right


def test_an_id_occurs_once() -> None:
    with pytest.raises(InputError, match="two problems have the id 'a'"):
        Benchmark.of([*ROWS, ROWS[0]], problem=problem)

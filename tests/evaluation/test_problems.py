"""Problems are looked through, and read again as they run: in the same order, and few at once."""

from __future__ import annotations

import tracemalloc
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import State
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile
from chameleon.evaluation.problems import Problems, in_turn
from chameleon.evaluation.run import read_run
from tests.e2e.commands import Command
from tests.evaluation.rows import make_rows, read_results, write_rows

places = st.tuples(st.sampled_from(["", "a", "b", "c"]), st.integers(0, 3))
mixed = st.lists(places, unique=True, max_size=12).map(
    lambda found: [Problem(f"{of}/{at}", {}, "7", sequence=of, position=at) for of, at in found]
)


@given(mixed, st.none() | st.integers(1, 13))
def test_all_that_a_limit_leaves_are_read_again(every: list[Problem], limit: int | None) -> None:
    problems = Problems(lambda: iter(every), limit)
    expected = list(islice((each for group in in_turn(every) for each in group), limit))
    assert list(problems) == expected and len(problems) == len(expected) == len(problems.ids)
    assert all(problem.id in problems.ids for problem in expected)
    again = [each for group in in_turn(problems) for each in group]
    assert again == expected, "a conversation that is cut short comes last"


def test_what_problems_lack_is_found() -> None:
    blind, asked = {"has_picture": True}, {"question": "?"}
    every = [Problem("a", {}, None), Problem("b", asked, None, detail=blind)]
    problems = Problems(lambda: iter([*every, Problem("c/0", asked, None, (), blind, sequence="c")]))
    assert problems.without_question == ["a"] and problems.blind == ["b", "c/0"]
    assert problems.has_conversations


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_lines_are_read_one_by_one(name: str, tmp_path: Path) -> None:
    path = write_rows(tmp_path / name, ({"id": str(number), "text": "x" * 1_000} for number in range(3_000)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in DataFile(path)) == 3_000
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


def test_only_the_rest_runs(command: Command, tmp_path: Path) -> None:
    data, out = str(write_rows(tmp_path / "d.jsonl", make_rows(12))), tmp_path / "run"
    asked = ("eval", "tables_offline", data, "--out", str(out))
    assert command(*asked).code == 0
    whole = (out / "results.jsonl").read_bytes().splitlines(keepends=True)
    kept = [*whole[:4], *whole[5:9], *whole[10:]]
    (out / "results.jsonl").write_bytes(b"".join(kept))
    assert command(*asked).code == 0
    assert (out / "results.jsonl").read_bytes().startswith(b"".join(kept)) and len(read_results(out)) == 12
    run = read_run(out)
    for result, events in run.with_events(list(run.results)):  # of one run, where two were kept
        assert State.fold(events).plan == result.plan

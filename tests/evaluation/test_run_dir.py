"""The folder of an evaluation: whole lines, one writer, and going on from any point."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon import Executor, State
from chameleon.errors import LogError, ModelError
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RunDir
from chameleon.state import Event, RunEnded
from tests.evaluation.folders import (
    BENCHMARK,
    KEPT,
    PROBLEMS,
    SETTINGS,
    asks_why,
    cut,
    evaluate,
    first_price,
    inventory,
)
from tests.evaluation.rows import Row, read_lines, read_results, write_rows


def results(path: Path) -> dict[str, Row]:
    """The results without their seconds; each problem must be there once."""
    lines = read_results(path)
    assert len({line["id"] for line in lines}) == len(lines)
    read_lines(path / "events.jsonl")
    return {line.pop("id"): {**line, "seconds": 0} for line in lines}


cuts = st.floats(0, 1)


@given(cuts, cuts, st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cut_anywhere_it_comes_to_the_same(whole: Path, first: float, second: float, both: bool) -> None:
    with cut(whole, first, second) as path:
        evaluate(path, workers=3 if both else 1)
        assert results(path) == results(whole)
        run = read_run(path)
        if first == 0:
            told = {each.id: State.fold(events).answer for each, events in run.with_events(list(run.results))}
            assert told == {id: result["answer"] for id, result in results(whole).items()}
        before = (path / "results.jsonl").read_bytes()
        evaluate(path, failing_to_be_asked)
        assert (path / "results.jsonl").read_bytes() == before


def failing_to_be_asked(state: State) -> Any:
    raise AssertionError("what is done must not run again")


def test_steps_that_are_kept_do_not_run_again(whole: Path) -> None:
    asked: list[str] = []

    def counted(state: State) -> str:
        asked.append(str(state.input["question"]))
        return first_price(state)

    lines = (whole / "events.jsonl").read_bytes().splitlines(keepends=True)
    for kept in range(len(lines) + 1):
        asked.clear()
        with cut(whole, 0, 0) as path:
            (path / "events.jsonl").write_bytes(b"".join(lines[:kept]))
            evaluate(path, counted)
            done = sum(b'"event":"step"' in line and b'"answer"' in line[:60] for line in lines[:kept])
            assert len(asked) == len(PROBLEMS) - done
            assert results(path) == results(whole)


def test_failures_go_on_from_their_last_good_step(whole: Path, tmp_path: Path) -> None:
    def failing(state: State) -> Any:
        if asks_why(state):
            raise ModelError("the server failed (500)")
        return first_price(state)

    path = tmp_path / "failed"
    evaluate(path, failing)
    failed = [id for id, line in results(path).items() if line["error"]]
    assert 0 < len(failed) < len(PROBLEMS)
    before = (path / "results.jsonl").read_bytes()
    evaluate(path)
    assert (path / "results.jsonl").read_bytes() == before, "without being asked to it tries none again"
    with RunDir(path, SETTINGS) as folder:
        assert folder.forget_failures() == len(failed)
        assert set(folder.done) == results(whole).keys() - set(failed)
        for id in failed:
            kept = folder.unfinished(id)
            assert [type(event).__name__ for event in kept] == ["RunStarted", "Plan", "StepRecord"]
            assert folder.unfinished(id) == ()
    evaluate(path)
    assert results(path) == results(whole)
    with RunDir(path, SETTINGS) as folder:
        assert folder.forget_failures() == 0


def test_a_failure_that_is_tried_again_and_cut_anywhere(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "failed"
    evaluate(path, failing)
    evaluate(path, failing, retry=True)
    evaluate(path, retry=True)
    assert results(path) == results(whole)
    for twelfth in range(12):
        with cut(path, 0, twelfth / 12) as again:
            evaluate(again)  # a failure that was kept without its end is a failure still
            evaluate(again, retry=True)
            assert results(again) == results(whole)


def failing(state: State) -> Any:
    raise ModelError("the server failed (500)")


def begun(path: Path) -> dict[str, tuple[Event, ...]]:
    """What is given of every problem to go on from."""
    with RunDir(path, SETTINGS) as folder:
        given = {problem.id: folder.unfinished(problem.id) for problem in PROBLEMS}
    return {id: events for id, events in given.items() if events}


def test_only_events_of_runs_that_may_have_no_result_are_read_again(whole: Path, tmp_path: Path) -> None:
    for name in KEPT:
        (tmp_path / name).write_bytes((whole / name).read_bytes())
    events, results = tmp_path / "events.jsonl", tmp_path / "results.jsonl"
    lines = results.read_bytes().splitlines(keepends=True)
    places = [json.loads(line)["events"][0] for line in lines]
    results.write_bytes(b"".join(lines[:-1]))
    expected = begun(tmp_path)
    assert list(expected) == [PROBLEMS[-1].id] and places[-1] == events.stat().st_size
    damaged = events.read_bytes()
    events.write_bytes(b"x" * (places[-2] - 1) + damaged[places[-2] - 1 :])
    assert begun(tmp_path) == expected
    rows = [json.loads(line) for line in lines[:-1]]
    for row in rows:
        del row["events"]
    write_rows(results, rows)  # as an earlier version has it
    with pytest.raises(LogError, match="line 1 is not an event"):
        begun(tmp_path)
    events.write_bytes(damaged)
    assert begun(tmp_path) == expected


def test_runs_side_by_side_keep_what_began_before_them(tmp_path: Path) -> None:
    """A result says nothing of a run that began before and has none, nor of one that is tried again."""
    evaluate(tmp_path, failing)
    run = read_run(tmp_path)
    result = next(iter(run.results))
    others = {problem.id for problem in PROBLEMS} - {result.id}
    with RunDir(tmp_path, SETTINGS) as folder:
        assert folder.forget_failures() == len(PROBLEMS)
        folder.append(result.id, RunEnded("answered"))
        folder.finish(replace(result, error=None))
    again = begun(tmp_path)
    assert set(again) == others and all(again.values())
    assert [len(events) for events in again.values()] == [len(events) for events in begun(tmp_path).values()]


def test_another_run_has_the_folder(tmp_path: Path) -> None:
    told = r"is writing to it\. Wait for it, or close it there\. Give another folder for the results\."
    with RunDir(tmp_path, SETTINGS), pytest.raises(LogError, match=told):
        RunDir(tmp_path, SETTINGS)
    RunDir(tmp_path, SETTINGS).close()


def test_it_is_read_while_it_is_written(tmp_path: Path) -> None:
    seen: list[int] = []
    with RunDir(tmp_path, SETTINGS) as folder:
        scorer = BENCHMARK.scorers["chameleon"]()

        def look(result: Any) -> None:
            run = read_run(tmp_path)
            seen.append(run.tally.all.n)
            [(_, events)] = run.with_events([result])
            assert State.fold(events).ended is not None

        executor = Executor(inventory(first_price))
        Evaluation(executor, scorer, BENCHMARK, run_dir=folder, on_result=look).run(PROBLEMS)
    assert seen == list(range(1, len(PROBLEMS) + 1))
    with (tmp_path / "results.jsonl").open("ab") as half:
        half.write(b'{"id": "half')
    assert read_run(tmp_path).n == len(PROBLEMS)

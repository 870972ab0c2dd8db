"""The folder of an evaluation: whole lines, one writer, and going on from any point."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon import Executor, State
from chameleon.core.events import Event, RunEnded
from chameleon.core.line_file import LineFile
from chameleon.core.log import json_line
from chameleon.errors import LogError, ModelError
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RunDir
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
from tests.evaluation.rows import Row, make_rows, read_events, read_results


def results(path: Path) -> dict[str, Row]:
    """The results without their seconds; each problem must be there once."""
    lines = read_results(path)
    assert len({line["id"] for line in lines}) == len(lines)
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


def killed_at_every_write(path: Path, patch: pytest.MonkeyPatch) -> list[dict[str, bytes]]:
    """Evaluate, and return what a folder holds if the process is killed before, in or after any write."""
    found: list[dict[str, bytes]] = []
    append, cut_off = LineFile.append, LineFile.cut

    def held() -> dict[str, bytes]:
        return {name: (path / name).read_bytes() for name in KEPT if (path / name).exists()}

    def appends(file: LineFile, line: bytes) -> int:
        before, name = held(), file.path.name
        found.extend({**before, name: before[name] + line[:end]} for end in (0, 1, len(line) // 2, -1, None))
        return append(file, line)

    def cuts(file: LineFile, start: int) -> None:
        found.append(held())
        cut_off(file, start)

    with patch.context() as patched:
        patched.setattr(LineFile, "append", appends)
        patched.setattr(LineFile, "cut", cuts)
        evaluate(path)
    return [*found, held()]


@pytest.mark.parametrize("member_bytes", [1, 3_000, 1 << 20])
def test_killed_at_any_write_it_asks_nothing_twice(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, member_bytes: int
) -> None:
    monkeypatch.setattr("chameleon.evaluation.run_dir._MAX_STALE_BYTES", member_bytes)
    states = killed_at_every_write(tmp_path / "killed", monkeypatch)
    assert len(states) > 100
    for number, files in enumerate(state for state in states if "settings.json" in state):
        path = tmp_path / str(number)
        path.mkdir()
        for name, content in files.items():
            (path / name).write_bytes(content)
        lines = files["recent.jsonl"].splitlines(keepends=True)
        done = {line[:12] for line in files["results.jsonl"].splitlines(keepends=True) if line[-1:] == b"\n"}
        steps = [line for line in lines if b'"module":"answer"' in line and line[-1:] == b"\n"]
        answered = done | {line[:12] for line in steps if b'"event":"step"' in line}
        run = read_run(path)
        assert all(State.fold(events).ended for _, events in run.with_events(run.results))
        asked: list[str] = []

        def counted(state: State, asked: list[str] = asked) -> str:
            asked.append(str(state.input["question"]))
            return first_price(state)

        evaluate(path, counted)
        assert len(asked) == len(PROBLEMS) - len(answered), number
        assert results(path) == results(whole)
        run = read_run(path)
        assert all(State.fold(events).ended for _, events in run.with_events(run.results))


@pytest.mark.parametrize(("taken", "run_again"), [([5], 0), ([0, 1, 2, 3, 4, 5], 0), ([2], 1)])
def test_results_that_somebody_takes_out_are_made_again(
    taken: list[int], run_again: int, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events after the last member with a result are found; those in the middle are not looked for."""
    monkeypatch.setattr("chameleon.evaluation.run_dir._MAX_STALE_BYTES", 1)
    asked: list[State] = []
    evaluate(tmp_path)
    lines = (tmp_path / "results.jsonl").read_bytes().splitlines(keepends=True)
    kept = [line for place, line in enumerate(lines) if place not in taken]
    (tmp_path / "results.jsonl").write_bytes(b"".join(kept))
    evaluate(tmp_path, lambda state: asked.append(state) or first_price(state))
    assert len(asked) == run_again and results(tmp_path) == results(whole)


def test_a_folder_that_cannot_be_opened_stays_as_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in KEPT}

    def full(file: LineFile, lines: object) -> None:
        raise LogError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(LineFile, "rewrite", full)
        with pytest.raises(LogError, match="the disk is full"):
            RunDir(tmp_path, SETTINGS)
    assert {name: (tmp_path / name).read_bytes() for name in KEPT} == before


def test_each_problem_has_a_member_and_no_recent_line_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chameleon.evaluation.run_dir._MAX_STALE_BYTES", 10_000)
    problems = [BENCHMARK.problem(row, {}) for row in make_rows(40)]
    with RunDir(tmp_path, SETTINGS) as folder:
        executor, scorer = Executor(inventory(first_price)), BENCHMARK.scorers["chameleon"]()
        Evaluation(executor, scorer, BENCHMARK, run_dir=folder, workers=4).run(problems)
    run = read_run(tmp_path)
    members = {result.member for result in run.results}
    assert len(members) == 40 and not (tmp_path / "recent.jsonl").read_bytes()
    lines = gzip.decompress((tmp_path / "events.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line) for line in lines] == read_events(tmp_path)
    assert all(State.fold(events).ended for _, events in run.with_events(run.results))


@pytest.mark.parametrize(("packed", "torn"), [(0, 0), (0, 50), (2, 0), (2, 50)])
def test_killed_by_an_earlier_version_it_keeps_all_events(
    whole: Path, tmp_path: Path, packed: int, torn: int
) -> None:
    """It packed several problems together, and the latest lay in `recent.jsonl` with the member to come."""
    lines = gzip.decompress((whole / "events.jsonl.gz").read_bytes()).splitlines(keepends=True)
    early = [line for line in lines if json.loads(line)["id"] in [each.id for each in PROBLEMS[:packed]]]
    late = [line for line in lines if line not in early]
    member = gzip.compress(b"".join(early)) if packed else b""
    (tmp_path / "events.jsonl.gz").write_bytes(member + gzip.compress(b"".join(late))[:torn])
    (tmp_path / "recent.jsonl").write_bytes(b"".join(late))
    (tmp_path / "settings.json").write_bytes((whole / "settings.json").read_bytes())
    kept = enumerate(read_run(whole).results)
    moved = [replace(each, member=0 if place < packed else len(member)) for place, each in kept]
    (tmp_path / "results.jsonl").write_bytes(b"".join(json_line(each.to_json()) for each in moved))
    for _ in range(2):
        run = read_run(tmp_path)
        assert all(State.fold(events).ended for _, events in run.with_events(run.results))
        evaluate(tmp_path, failing_to_be_asked)
    assert not (tmp_path / "recent.jsonl").read_bytes()


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


def test_runs_side_by_side_keep_what_began_before_them(tmp_path: Path) -> None:
    """A result says nothing of a run that began before and has none, nor of one that is tried again."""
    evaluate(tmp_path, failing)
    run = read_run(tmp_path)
    result = next(iter(run.results))
    others = {problem.id for problem in PROBLEMS} - {result.id}
    with RunDir(tmp_path, SETTINGS) as folder:
        assert folder.forget_failures() == len(PROBLEMS)
        folder.append(result.id, RunEnded("answered"))
        assert folder.finish(replace(result, error=None)).member is not None
    again = begun(tmp_path)
    assert set(again) == others and all(again.values())
    assert [len(events) for events in again.values()] == [len(events) for events in begun(tmp_path).values()]


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

"""The folder of an evaluation: whole lines, one writer, one set of settings, and going on from any point."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon import Executor, Inventory, Module, State, Step
from chameleon.errors import ChameleonError, LogError, ModelError
from chameleon.evaluation.data import find_benchmark
from chameleon.evaluation.evaluate import Evaluation
from chameleon.evaluation.folder import RunFolder, read_run
from tests.e2e.commands import Command, environment
from tests.engine.doubles import Does, Proposes
from tests.evaluation.rows import Row, make_rows, read_lines

SETTINGS = {"benchmark": "tabmwp", "inventory": "mine"}
BENCHMARK = find_benchmark("tabmwp")
PROBLEMS = [BENCHMARK.problem(row, {}) for row in make_rows(6)]
KEPT = ("results.jsonl", "events.jsonl", "settings.json")


def inventory(answer: Callable[[State], Any]) -> Inventory:
    """Two steps and a choice among two plans, so that a log can be cut in many places."""

    def propose(state: State) -> Any:
        if state.history:
            return ()
        return [Step("note"), Step("answer")] if asks_why(state) else [Step("answer")]

    modules: dict[str, Module] = {"note": Does(lambda state: "ü" * 30), "answer": Does(answer)}
    return Inventory("mine", Proposes(propose), modules)


def asks_why(state: State) -> bool:
    return str(state.input["question"]).startswith("Why")


def first_price(state: State) -> str:
    return str(state.input["table"].rows[0][1])


def evaluate(
    path: Path, answer: Callable[[State], Any] = first_price, *, retry: bool = False, workers: int = 1
) -> None:
    """Run all problems into the folder, going on where it stands."""
    with RunFolder(path, SETTINGS) as folder:
        if retry:
            folder.forget_failures()
        scorer = BENCHMARK.scorers["chameleon"]()
        Evaluation(Executor(inventory(answer)), scorer, folder=folder, workers=workers).run(PROBLEMS)


def results(path: Path) -> dict[str, Row]:
    """The results without their seconds; each problem must be there once."""
    lines = read_lines(path / "results.jsonl")
    assert len({line["id"] for line in lines}) == len(lines)
    read_lines(path / "events.jsonl")
    return {line.pop("id"): {**line, "seconds": 0} for line in lines}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an undisturbed evaluation."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    evaluate(path)
    return path


def test_every_result_has_what_the_issue_names(whole: Path) -> None:
    for line in read_lines(whole / "results.jsonl"):
        names = ["id", "answer", "declined", "correct", "plan", "seconds", "usage", "error"]
        assert list(line)[: len(names)] == names
    assert set(results(whole)) == {problem.id for problem in PROBLEMS}


cuts = st.floats(0, 1)


@given(cuts, cuts, st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cut_anywhere_it_comes_to_the_same(whole: Path, first: float, second: float, both: bool) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "cut"
        path.mkdir()
        for name, share in zip(KEPT, (first, second, 1.0), strict=True):
            content = (whole / name).read_bytes()
            (path / name).write_bytes(content[: round(share * len(content))])
        evaluate(path, workers=3 if both else 1)
        assert results(path) == results(whole)
        histories = read_run(path).histories(results(path).keys())
        if first == 0:
            assert {id: State.fold(events).answer for id, events in histories.items()} == {
                id: result["answer"] for id, result in results(whole).items()
            }
        before = (path / "results.jsonl").read_bytes()
        evaluate(path, failing_to_be_asked)
        assert (path / "results.jsonl").read_bytes() == before


def failing_to_be_asked(state: State) -> Any:
    raise AssertionError("what is done must not run again")


def test_steps_that_are_kept_do_not_run_again(whole: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    def counted(state: State) -> str:
        asked.append(str(state.input["question"]))
        return first_price(state)

    lines = (whole / "events.jsonl").read_bytes().splitlines(keepends=True)
    for cut in range(len(lines) + 1):
        path = tmp_path / str(cut)
        path.mkdir()
        (path / "settings.json").write_bytes((whole / "settings.json").read_bytes())
        (path / "events.jsonl").write_bytes(b"".join(lines[:cut]))
        asked.clear()
        evaluate(path, counted)
        done = sum(json.loads(line)["event"] == "step" and b'"answer"' in line[:60] for line in lines[:cut])
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
    with RunFolder(path, SETTINGS) as folder:
        assert folder.forget_failures() == len(failed)
        assert set(folder.done) == results(whole).keys() - set(failed)
        for id in failed:
            kept = folder.unfinished(id)
            assert [type(event).__name__ for event in kept] == ["Begun", "Plan", "Record"]
            assert folder.unfinished(id) == ()
    evaluate(path)
    assert results(path) == results(whole)
    with RunFolder(path, SETTINGS) as folder:
        assert folder.forget_failures() == 0


def test_a_failure_that_is_tried_again_and_cut_anywhere(whole: Path, tmp_path: Path) -> None:
    def failing(state: State) -> Any:
        raise ModelError("the server failed (500)")

    path = tmp_path / "failed"
    evaluate(path, failing)
    evaluate(path, failing, retry=True)
    evaluate(path, retry=True)
    assert results(path) == results(whole)
    content = (path / "events.jsonl").read_bytes()
    for number, cut in enumerate(range(0, len(content), len(content) // 25)):
        again = tmp_path / str(number)
        again.mkdir()
        (again / "settings.json").write_bytes((whole / "settings.json").read_bytes())
        (again / "events.jsonl").write_bytes(content[:cut])
        evaluate(again)  # a failure that was kept without its end is a failure still
        evaluate(again, retry=True)
        assert results(again) == results(whole)


def test_another_process_has_the_folder(tmp_path: Path) -> None:
    code = (
        "import sys; from chameleon.evaluation.folder import RunFolder\n"
        f"folder = RunFolder({str(tmp_path)!r}, {SETTINGS!r}); print('open', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    )
    assert other.stdout is not None and other.stdout.readline() == b"open\n"
    try:
        with pytest.raises(LogError) as error:
            RunFolder(tmp_path, SETTINGS)
        assert "another run is writing to it. Wait for it. Give another folder with --out." in str(
            error.value
        )
    finally:
        other.communicate(b"")
    RunFolder(tmp_path, SETTINGS).close()


def test_it_is_read_while_it_is_written(tmp_path: Path) -> None:
    seen: list[int] = []
    with RunFolder(tmp_path, SETTINGS) as folder:
        scorer = BENCHMARK.scorers["chameleon"]()

        def look(result: Any) -> None:
            run = read_run(tmp_path)
            seen.append(run.tally.all.n)
            assert State.fold(run.histories([result.id])[result.id]).ended is not None

        Evaluation(Executor(inventory(first_price)), scorer, folder=folder, on_result=look).run(PROBLEMS)
    assert seen == list(range(1, len(PROBLEMS) + 1))
    with (tmp_path / "results.jsonl").open("ab") as half:
        half.write(b'{"id": "half')
    assert len(read_run(tmp_path).results) == len(PROBLEMS)


DAMAGE: dict[str, tuple[str, bytes, str]] = {
    "no JSON": ("results.jsonl", b"{\n", "results.jsonl: line 7 is no result"),
    "no result": ("results.jsonl", b'{"id": "1"}\n', "results.jsonl: line 7 is no result"),
    "a number": ("results.jsonl", b"3\n", "results.jsonl: line 7 is no result"),
    "NUL bytes": ("results.jsonl", b"\0\0\0\n", "results.jsonl: line 7 is no result"),
    "odd usage": ("results.jsonl", b'{"id": "1", "usage": [1]}\n', "results.jsonl: line 7 is no result"),
    "no event": ("events.jsonl", b'{"event": "begun"}\n', "is not an event"),
    "of a new problem": ("events.jsonl", b'{"id": "new", "event": "odd"}\n', "is not an event"),
    "not closed": ("events.jsonl", b'{"id": "new", \n', "is not an event"),
    "no text": ("events.jsonl", b"\xff\xfe\n", "is not an event"),
    "an id that is none": ("events.jsonl", b'{"id": [], "event": "begun"}\n', "is not an event"),
    "a cut back to nowhere": ("events.jsonl", b'{"id": "new", "event": "back"}\n', "is not an event"),
}


@pytest.mark.parametrize(("name", "line", "told"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_lines_are_named(whole: Path, name: str, line: bytes, told: str, tmp_path: Path) -> None:
    for file in KEPT:
        (tmp_path / file).write_bytes((whole / file).read_bytes())
    with (tmp_path / name).open("ab") as damaged:
        damaged.write(line)
    kept = (tmp_path / name).read_bytes()
    with pytest.raises(LogError) as error:
        RunFolder(tmp_path, SETTINGS)
    number = kept.count(b"\n")
    assert f"{tmp_path / name}: line {number} " in str(error.value) and told in str(error.value)
    assert (tmp_path / name).read_bytes() == kept
    if name == "results.jsonl":
        with pytest.raises(LogError, match="line 7 is no result"):
            read_run(tmp_path)


def test_a_second_result_of_a_problem_is_told(whole: Path, command: Command, tmp_path: Path) -> None:
    for file in KEPT:
        (tmp_path / file).write_bytes((whole / file).read_bytes())
    lines = (tmp_path / "results.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_bytes(b"".join([*lines, lines[2]]))
    id = json.loads(lines[2])["id"]
    told = f"{tmp_path / 'results.jsonl'}: line 7 is another result of problem {id}. Take out one of them."
    for opened in (lambda: RunFolder(tmp_path, SETTINGS), lambda: read_run(tmp_path)):
        with pytest.raises(LogError) as error:
            opened()
        assert str(error.value).startswith(told)
    for name in ("stats", "report"):
        assert command(name, str(tmp_path)).complaint.startswith(told)


DIFFERENCES: list[tuple[Row, str]] = [
    ({"versions": {"python": "3.12"}}, 'versions.python was "3.11", and now is "3.12"'),
    ({"versions": {"python": "3.11", "numpy": "2.0"}}, ""),
    ({"versions": {}}, ""),
    ({"started": "later"}, ""),
    ({"data": {"name": "other", "sha256": "1"}}, ""),
    ({"data": {"name": "data", "sha256": "2"}}, 'data.sha256 was "1", and now is "2"'),
    ({"tables": {"name": "other", "sha256": "3"}}, ""),
    ({"tables": {"name": "tables", "sha256": "4"}}, 'tables.sha256 was "3", and now is "4"'),
    ({"server": "http://here"}, 'server was null, and now is "http://here"'),
    ({"parameters": {"retries": 2}}, "parameters.retries was null, and now is 2"),
]


@pytest.mark.parametrize(("change", "told"), DIFFERENCES)
def test_settings_are_compared_by_what_results_depend_on(change: Row, told: str, tmp_path: Path) -> None:
    before = {
        **SETTINGS,
        "data": {"name": "data", "sha256": "1"},
        "tables": {"name": "tables", "sha256": "3"},
        "parameters": {},
        "versions": {"python": "3.11"},
        "started": "now",
    }
    RunFolder(tmp_path, before).close()
    if not told:
        RunFolder(tmp_path, {**before, **change}).close()
        return
    with pytest.raises(LogError) as error:
        RunFolder(tmp_path, {**before, **change})
    assert f"the folder was made with other settings: {told}. Give another" in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "3", '{"a": 1}', "{", "\0", '{"benchmark": "tabmwp"}', "null"])
def test_settings_that_are_none_are_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(text)
    (tmp_path / "results.jsonl").touch()
    for opened in (lambda: RunFolder(tmp_path, SETTINGS), lambda: read_run(tmp_path)):
        with pytest.raises(LogError, match="these are no settings of an evaluation"):
            opened()


@pytest.mark.parametrize("name", ["results.jsonl", "events.jsonl"])
@pytest.mark.parametrize("content", [b'{"event": "click"}\n', b"somebody's, without an end"])
def test_files_without_settings_are_not_ours(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LogError, match=f"the folder has {name} and no settings that made it"):
        RunFolder(tmp_path, SETTINGS)
    assert (tmp_path / name).read_bytes() == content
    assert not (tmp_path / "settings.json").exists()


def test_folders_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ChameleonError, match="cannot make the folder"):
            RunFolder(place, SETTINGS)
    (tmp_path / "odd" / "events.jsonl").mkdir(parents=True)
    with pytest.raises(ChameleonError, match="cannot open the event log: it is not a regular file"):
        RunFolder(tmp_path / "odd", SETTINGS)
    for place in (tmp_path / "none", tmp_path):
        with pytest.raises(ChameleonError, match="this is no folder of an evaluation"):
            read_run(place)


def test_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "results.csv").write_text("a,b")
    evaluate(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine" and (tmp_path / "results.csv").read_text() == "a,b"

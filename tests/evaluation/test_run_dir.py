"""The folder of an evaluation: whole lines, one writer, going on from any point, and what cannot go on."""

import gzip
import json
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chameleon import State
from chameleon.core.line_file import LineFile
from chameleon.core.log import json_line
from chameleon.errors import ChameleonError, LogError, ModelError
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RunDir
from tests.e2e.commands import ROOT, Command
from tests.evaluation.folders import BENCHMARK, KEPT, PROBLEMS, SETTINGS, cut, evaluate, first_price
from tests.evaluation.rows import Row, make_rows, read_events, read_results

Patch = pytest.MonkeyPatch
ONE_BY_ONE = ("chameleon.evaluation.run_dir._MAX_STALE_BYTES", 1)


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
        assert evaluate_counting(path) == 0


def killed_at_every_write(path: Path, patch: Patch) -> list[dict[str, bytes]]:
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
def test_killed_at_any_write(whole: Path, tmp_path: Path, monkeypatch: Patch, member_bytes: int) -> None:
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
        assert_all_ended(path)
        assert evaluate_counting(path) == len(PROBLEMS) - len(answered), number
        assert results(path) == results(whole)
        assert_all_ended(path)


def assert_all_ended(path: Path) -> None:
    run = read_run(path)
    assert all(State.fold(events).ended for _, events in run.with_events(run.results))


def evaluate_counting(path: Path) -> int:
    asked: list[State] = []
    evaluate(path, lambda state: asked.append(state) or first_price(state))
    return len(asked)


def test_each_problem_has_a_member_and_is_read_while_others_run(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("chameleon.evaluation.run_dir._MAX_STALE_BYTES", 10_000)
    seen: list[int] = []

    def look(result: Any) -> None:
        run = read_run(tmp_path)
        seen.append(run.tally.all.n)
        [(_, events)] = run.with_events([result])
        assert State.fold(events).ended is not None

    problems = [BENCHMARK.problem(row, {}) for row in make_rows(40)]
    evaluate(tmp_path, workers=4, problems=problems, on_result=look)
    members = {result.member for result in read_run(tmp_path).results}
    assert len(members) == len(seen) == seen[-1] == 40 and not (tmp_path / "recent.jsonl").read_bytes()
    lines = gzip.decompress((tmp_path / "events.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line) for line in lines] == read_events(tmp_path)
    with (tmp_path / "results.jsonl").open("ab") as half:
        half.write(b'{"id": "half')
    assert_all_ended(tmp_path)
    assert read_run(tmp_path).n == 40


@pytest.mark.parametrize(("packed", "torn"), [(0, 0), (0, 50), (2, 0), (2, 50)])
def test_killed_by_an_earlier_version(whole: Path, tmp_path: Path, packed: int, torn: int) -> None:
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
        assert_all_ended(tmp_path)
        assert evaluate_counting(tmp_path) == 0
    assert not (tmp_path / "recent.jsonl").read_bytes()


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


def failing(*_: Any) -> Any:
    raise ModelError("the server failed (500)")


NO_EVENT = "recent.jsonl", "line 1 is not an event"
DAMAGE: dict[bytes, tuple[str, str]] = {
    **dict.fromkeys((b"{\n", b'{"id": "1"}\n'), ("results.jsonl", "line 7 is not a result")),
    **dict.fromkeys((b'{"event": "run_started"}\n', b'{"id": "new", \n', b"\xff\xfe\n"), NO_EVENT),
    b'{"id": "new", "event": "odd"}\n': ("recent.jsonl", "a line of problem new is not"),
}


def refused(path: Path) -> str:
    """What is said of a folder that cannot be opened; its files stay as they are."""
    before = {file: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(LogError) as error:
        RunDir(path, SETTINGS)
    assert {file: file.read_bytes() for file in before} == before
    assert str(error.value).startswith(str(path))
    return str(error.value)


def test_damaged_lines_are_named(whole: Path, tmp_path: Path) -> None:
    for number, (line, (name, told)) in enumerate(DAMAGE.items()):
        path = shutil.copytree(whole, tmp_path / str(number))
        with (path / name).open("ab") as damaged:
            damaged.write(line)
        assert told in refused(path)
        if name == "results.jsonl":
            with pytest.raises(LogError, match=told):
                read_run(path)


def test_a_second_result_is_told(whole: Path, command: Command, tmp_path: Path, monkeypatch: Patch) -> None:
    path = shutil.copytree(whole, tmp_path / "copy")
    lines = (path / "results.jsonl").read_bytes().splitlines(keepends=True)
    (path / "results.jsonl").write_bytes(b"".join([*lines, lines[2]]))
    told = f"line 7 is another result of problem {json.loads(lines[2])['id']}"
    for said in (refused(path), *(command(name, str(path)).complaint for name in ("stats", "report"))):
        assert told in said
    monkeypatch.setattr("chameleon.evaluation.kept_events._MAX_MEMBER_BYTES", 500)
    run = read_run(whole)
    with pytest.raises(LogError, match=r"the member at byte 0 is damaged \(it is too large\)"):
        list(run.with_events(run.results))


@pytest.mark.parametrize("is_zeros", [False, True])
def test_damaged_events_are_named(is_zeros: bool, tmp_path: Path, monkeypatch: Patch) -> None:
    """One byte is enough, as a gzip member has a checksum; the others are read."""
    monkeypatch.setattr(*ONE_BY_ONE)
    evaluate(tmp_path)
    *others, last = list(read_run(tmp_path).results)
    file = tmp_path / "events.jsonl.gz"
    content = file.read_bytes()
    start = last.member if is_zeros else -8
    file.write_bytes(content[:start] + b"\0" * 4 + (b"" if is_zeros else content[-4:]))
    run = read_run(tmp_path)
    assert len(list(run.with_events(others))) == 5
    with pytest.raises(LogError, match=rf"events.jsonl.gz: the member at byte {last.member:,} .* damaged"):
        list(run.with_events([last]))
    RunDir(tmp_path, SETTINGS).close()  # what is done is not looked at again


def test_folders_and_settings_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "odd" / "events.jsonl.gz").mkdir(parents=True)
    no_folder, no_file = "cannot make the folder", "cannot open the event log: it is not a regular file"
    for place, told in {"file": no_folder, "file/below": no_folder, "odd": no_file}.items():
        with pytest.raises(ChameleonError, match=told):
            RunDir(tmp_path / place, SETTINGS)
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(ChameleonError, match="this is not the folder of an evaluation"):
            read_run(path)
    foreign = (b'{"event": "click"}\n', b"somebody's, without an end")
    for number, (name, content) in enumerate(product(KEPT[:3], foreign)):
        (path := tmp_path / f"foreign {number}").mkdir()
        (path / name).write_bytes(content)
        assert f"the folder has {name} but no settings" in refused(path)
        assert not (path / "settings.json").exists()
    (path := tmp_path / "ours").mkdir()
    (path / "results.jsonl").touch()
    for text in ("", "[]", "{", "\0", '{"benchmark": "tabmwp"}', "null"):
        (path / "settings.json").write_text(text)
        assert "these are not the settings of an evaluation" in refused(path)
        with pytest.raises(LogError, match="these are not the settings of an evaluation"):
            read_run(path)


@pytest.mark.parametrize("is_moved", [False, True])
@pytest.mark.parametrize("after", [1, 12])
def test_a_folder_that_went_away(
    command: Command, tmp_path: Path, monkeypatch: Patch, is_moved: bool, after: int
) -> None:
    out, finished, finish = tmp_path / "run", list[str](), RunDir.finish

    def finishes(folder: RunDir, result: Result) -> Result:
        kept = finish(folder, result)
        finished.append(result.id)
        if len(finished) == after:
            out.rename(tmp_path / "elsewhere") if is_moved else shutil.rmtree(out)
        return kept

    monkeypatch.setattr(RunDir, "finish", finishes)
    data = str(ROOT / "demos/data/problems.jsonl")
    outcome = command("eval", "tables_offline", data, "--limit", "12", "--out", str(out), "--workers", "1")
    assert outcome.code == 1 and "Kept in" not in outcome.out + outcome.err
    last = outcome.err.splitlines()[-1]
    assert "was deleted" in last and "a fault of ours" not in last
    assert is_moved or len(finished) == after, "no further problem is run in vain"

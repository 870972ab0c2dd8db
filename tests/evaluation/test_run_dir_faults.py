"""Folders that cannot go on: damaged files, other settings, and what is not ours."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from chameleon.errors import ChameleonError, LogError
from chameleon.evaluation.results import Result
from chameleon.evaluation.run import read_run
from chameleon.evaluation.run_dir import RunDir
from tests.e2e.commands import ROOT, Command
from tests.evaluation.folders import KEPT, SETTINGS, evaluate
from tests.evaluation.rows import Row

DAMAGE: list[tuple[str, bytes, str]] = [
    ("results.jsonl", b"{\n", "line 7 is no result"),
    ("results.jsonl", b'{"id": "1"}\n', "line 7 is no result"),
    ("recent.jsonl", b'{"event": "run_started"}\n', "line 1 is not an event"),
    ("recent.jsonl", b'{"id": "new", "event": "odd"}\n', "a line of problem new is not"),
    ("recent.jsonl", b'{"id": "new", \n', "line 1 is not an event"),
    ("recent.jsonl", b"\xff\xfe\n", "line 1 is not an event"),
    ("recent.jsonl", b'{"id": "new", "event": "back"}\n', "a line of problem new is"),
]


def refused(path: Path, settings: Row = SETTINGS) -> str:
    """What is said of a folder that cannot be opened; its files stay as they are."""
    before = {file: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(LogError) as error:
        RunDir(path, settings)
    assert {file: file.read_bytes() for file in before} == before
    assert str(error.value).startswith(str(path))
    return str(error.value)


@pytest.mark.parametrize(("name", "line", "told"), DAMAGE)
def test_damaged_lines_are_named(whole: Path, name: str, line: bytes, told: str, tmp_path: Path) -> None:
    path = shutil.copytree(whole, tmp_path / "copy")
    with (path / name).open("ab") as damaged:
        damaged.write(line)
    assert told in refused(path)
    if name == "results.jsonl":
        with pytest.raises(LogError, match=told):
            read_run(path)


def test_a_second_result_of_a_problem_is_told(whole: Path, command: Command, tmp_path: Path) -> None:
    path = shutil.copytree(whole, tmp_path / "copy")
    lines = (path / "results.jsonl").read_bytes().splitlines(keepends=True)
    (path / "results.jsonl").write_bytes(b"".join([*lines, lines[2]]))
    told = f"line 7 is another result of problem {json.loads(lines[2])['id']}"
    for said in (refused(path), *(command(name, str(path)).complaint for name in ("stats", "report"))):
        assert told in said


@pytest.mark.parametrize("is_zeros", [False, True])
def test_damaged_events_are_named_and_the_others_read(
    is_zeros: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One byte is enough: a gzip member has a checksum."""
    monkeypatch.setattr("chameleon.evaluation.run_dir._MAX_STALE_BYTES", 1)
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


def test_a_member_beyond_all_memory_is_refused(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.evaluation.kept_events._MAX_MEMBER_BYTES", 500)
    run = read_run(whole)
    with pytest.raises(LogError, match=r"the member at byte 0 is damaged \(it is too large\)"):
        list(run.with_events(run.results))


def test_settings_are_compared_by_what_results_depend_on(tmp_path: Path) -> None:
    before: Row = {**SETTINGS, "tables": {"name": "tables", "sha256": "3"}, "started": "now"}
    before["versions"] = {"python": "3.11"}
    versions: list[Row] = [{"versions": {"python": "3.11", "numpy": "2.0"}}, {"versions": {}}]
    for change in ({}, *versions, {"started": "later"}, {"tables": {"name": "other", "sha256": "3"}}):
        RunDir(tmp_path, {**before, **change}).close()
    told = refused(tmp_path, {**before, "versions": {"python": "3.12"}})
    assert 'other settings: versions.python was "3.11", and now is "3.12". Give all as it was' in told


@pytest.mark.parametrize("text", ["", "[]", "{", "\0", '{"benchmark": "tabmwp"}', "null"])
def test_settings_that_are_none_are_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(text)
    (tmp_path / "results.jsonl").touch()
    assert "these are no settings of an evaluation" in refused(tmp_path)
    with pytest.raises(LogError, match="these are no settings of an evaluation"):
        read_run(tmp_path)


@pytest.mark.parametrize("name", KEPT[:3])
@pytest.mark.parametrize("content", [b'{"event": "click"}\n', b"somebody's, without an end"])
def test_files_without_settings_are_not_ours(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert f"the folder has {name} and no settings that made it" in refused(tmp_path)
    assert not (tmp_path / "settings.json").exists()


def test_folders_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "odd" / "events.jsonl.gz").mkdir(parents=True)
    no_folder, no_file = "cannot make the folder", "cannot open the event log: it is not a regular file"
    for place, told in {"file": no_folder, "file/below": no_folder, "odd": no_file}.items():
        with pytest.raises(ChameleonError, match=told):
            RunDir(tmp_path / place, SETTINGS)
    for place in (tmp_path / "none", tmp_path):
        with pytest.raises(ChameleonError, match="this is no folder of an evaluation"):
            read_run(place)


def _moved(out: Path) -> None:
    out.rename(out.with_name("elsewhere"))


@pytest.mark.parametrize("gone", [shutil.rmtree, _moved])
@pytest.mark.parametrize("after", [1, 12])
def test_a_folder_that_went_away_ends_the_evaluation(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: Callable[..., None], after: int
) -> None:
    out, finished, finish = tmp_path / "run", list[str](), RunDir.finish

    def finishes(folder: RunDir, result: Result) -> Result:
        kept = finish(folder, result)
        finished.append(result.id)
        if len(finished) == after:
            gone(out)
        return kept

    monkeypatch.setattr(RunDir, "finish", finishes)
    data = str(ROOT / "demos/data/problems.jsonl")
    outcome = command("eval", "tables_offline", data, "--limit", "12", "--out", str(out), "--workers", "1")
    assert outcome.code == 1 and "Kept in" not in outcome.out + outcome.err
    last = outcome.err.splitlines()[-1]
    assert "was deleted" in last and "a fault of ours" not in last
    assert gone is _moved or len(finished) == after, "no further problem is run in vain"

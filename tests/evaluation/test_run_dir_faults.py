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

DAMAGE: dict[str, tuple[str, bytes, str]] = {
    "no JSON": ("results.jsonl", b"{\n", "results.jsonl: line 7 is no result"),
    "no result": ("results.jsonl", b'{"id": "1"}\n', "results.jsonl: line 7 is no result"),
    "NUL bytes": ("results.jsonl", b"\0\0\0\n", "results.jsonl: line 7 is no result"),
    "no event": ("recent.jsonl", b'{"event": "run_started"}\n', "line 1 is not an event"),
    "of a new problem": ("recent.jsonl", b'{"id": "new", "event": "odd"}\n', "a line of problem new is not"),
    "not closed": ("recent.jsonl", b'{"id": "new", \n', "line 1 is not an event"),
    "no text": ("recent.jsonl", b"\xff\xfe\n", "line 1 is not an event"),
    "a cut to nowhere": ("recent.jsonl", b'{"id": "new", "event": "back"}\n', "a line of problem new is"),
}


@pytest.mark.parametrize(("name", "line", "told"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_lines_are_named(whole: Path, name: str, line: bytes, told: str, tmp_path: Path) -> None:
    for file in KEPT:
        (tmp_path / file).write_bytes((whole / file).read_bytes())
    with (tmp_path / name).open("ab") as damaged:
        damaged.write(line)
    kept = (tmp_path / name).read_bytes()
    with pytest.raises(LogError) as error:
        RunDir(tmp_path, SETTINGS)
    assert str(error.value).startswith(str(tmp_path)) and told in str(error.value)
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
    with pytest.raises(LogError) as error:
        RunDir(tmp_path, SETTINGS)
    assert str(error.value).startswith(told)
    for name in ("stats", "report"):
        assert command(name, str(tmp_path)).complaint.startswith(told)


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-8] + b"\0" * 4 + content[-4:], lambda content: b"\0" * len(content)]
)
def test_damaged_events_are_named_and_the_others_read(
    damage: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One byte is enough: a gzip member has a checksum."""
    monkeypatch.setattr("chameleon.evaluation.run_dir._MAX_STALE_BYTES", 1)
    evaluate(tmp_path)
    *others, last = list(read_run(tmp_path).results)
    content = (tmp_path / "events.jsonl.gz").read_bytes()
    damaged = content[: last.member] + damage(content[last.member :])
    (tmp_path / "events.jsonl.gz").write_bytes(damaged)
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


DIFFERENCES: list[tuple[Row, str]] = [
    ({"versions": {"python": "3.12"}}, 'versions.python was "3.11", and now is "3.12"'),
    ({"versions": {"python": "3.11", "numpy": "2.0"}}, ""),
    ({"versions": {}}, ""),
    ({"started": "later"}, ""),
    ({"tables": {"name": "other", "sha256": "3"}}, ""),
]


@pytest.mark.parametrize(("change", "told"), DIFFERENCES)
def test_settings_are_compared_by_what_results_depend_on(change: Row, told: str, tmp_path: Path) -> None:
    before = {**SETTINGS, "tables": {"name": "tables", "sha256": "3"}, "started": "now"}
    before |= {"versions": {"python": "3.11"}}
    RunDir(tmp_path, before).close()
    if not told:
        RunDir(tmp_path, {**before, **change}).close()
        return
    with pytest.raises(LogError) as error:
        RunDir(tmp_path, {**before, **change})
    assert f"the folder was made with other settings: {told}. Give all as it was" in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "\0", '{"benchmark": "tabmwp"}', "null"])
def test_settings_that_are_none_are_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(text)
    (tmp_path / "results.jsonl").touch()
    for opened in (lambda: RunDir(tmp_path, SETTINGS), lambda: read_run(tmp_path)):
        with pytest.raises(LogError, match="these are no settings of an evaluation"):
            opened()


@pytest.mark.parametrize("name", ["results.jsonl", "events.jsonl.gz", "recent.jsonl"])
@pytest.mark.parametrize("content", [b'{"event": "click"}\n', b"somebody's, without an end"])
def test_files_without_settings_are_not_ours(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LogError, match=f"the folder has {name} and no settings that made it"):
        RunDir(tmp_path, SETTINGS)
    assert (tmp_path / name).read_bytes() == content
    assert not (tmp_path / "settings.json").exists()


def test_folders_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ChameleonError, match="cannot make the folder"):
            RunDir(place, SETTINGS)
    (tmp_path / "odd" / "events.jsonl.gz").mkdir(parents=True)
    with pytest.raises(ChameleonError, match="cannot open the event log: it is not a regular file"):
        RunDir(tmp_path / "odd", SETTINGS)
    for place in (tmp_path / "none", tmp_path):
        with pytest.raises(ChameleonError, match="this is no folder of an evaluation"):
            read_run(place)


def _moved(out: Path) -> None:
    out.rename(out.with_name("elsewhere"))


@pytest.mark.parametrize("gone", [shutil.rmtree, _moved])
@pytest.mark.parametrize("after", [1, 12])
def test_a_folder_that_went_away_ends_the_evaluation(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gone: Callable[[Path], None],
    after: int,
) -> None:
    out, finished = tmp_path / "run", list[str]()
    finish = RunDir.finish

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
    if gone is not _moved:
        assert len(finished) == after, "no further problem is run in vain"

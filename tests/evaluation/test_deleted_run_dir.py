"""A run folder that is deleted or moved while an evaluation writes to it ends that in one line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from chameleon.evaluation.results import Result
from chameleon.evaluation.run_dir import RunDir
from tests.e2e.commands import ROOT, Command


def _removed(out: Path) -> None:
    shutil.rmtree(out)


def _moved(out: Path) -> None:
    out.rename(out.with_name("elsewhere"))


def _made_anew(out: Path) -> None:
    shutil.rmtree(out)
    out.mkdir()
    (out / "results.jsonl").touch()


@pytest.mark.parametrize("gone", [_removed, _moved, _made_anew])
@pytest.mark.parametrize("after", [1, 11, 12])
def test_a_folder_that_went_away_ends_the_evaluation(
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gone: Callable[[Path], None],
    after: int,
) -> None:
    out, finished = tmp_path / "run", list[str]()
    finish = RunDir.finish

    def finishes(folder: RunDir, result: Result) -> None:
        finish(folder, result)
        finished.append(result.id)
        if len(finished) == after:
            gone(out)

    monkeypatch.setattr(RunDir, "finish", finishes)
    data = str(ROOT / "demos/data/problems.jsonl")
    outcome = command("eval", "tables_offline", data, "--limit", "12", "--out", str(out), "--workers", "1")
    assert outcome.code == 1 and "Kept in" not in outcome.out + outcome.err
    last = outcome.err.splitlines()[-1]
    assert "the folder was deleted or moved" in last and "a fault of ours" not in last
    if gone is not _moved:
        assert len(finished) == after, "no further problem is run in vain"

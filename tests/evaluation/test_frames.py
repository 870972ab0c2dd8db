"""Evaluations as data frames: rows, types, names of runs, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chameleon
from chameleon.errors import InputError, MissingPackage
from chameleon.evaluation.run import Run, read_run
from tests.e2e.commands import Command
from tests.e2e.rule_model import RuleModel
from tests.evaluation.asking import model_rows
from tests.evaluation.rows import make_rows, write_rows
from tests.evaluation.test_graded import evaluate
from tests.loopback import LoopbackServer


@pytest.fixture
def runs(command: Command, tmp_path: Path, loopback: Callable[..., LoopbackServer]) -> Path:
    rules = str(write_rows(tmp_path / "rules.jsonl", make_rows(12)))
    assert command("eval", "tables_offline", rules, "--out", f"{tmp_path}/runs/rules").code == 0
    loopback(RuleModel())
    asked = str(write_rows(tmp_path / "asked.jsonl", model_rows(3)))
    given = ["--model", "openai:local", "--out", f"{tmp_path}/runs/model", "--allow-dropped"]
    assert command("eval", "tabmwp", asked, *given).code == 0
    return tmp_path / "runs"


def check_sums(frame: Any, run: Run) -> None:
    """Assert that the frame spends what the run has."""
    for name in ("calls", "input_tokens", "output_tokens"):
        assert frame[name].sum() == getattr(run.tally.usage, name)


def test_a_row_is_a_problem_and_several_folders_are_one_frame(runs: Path) -> None:
    frame = chameleon.results(f"{runs}/*")
    assert list(frame["run"].unique()) == ["model", "rules"] and len(frame) == 15
    rules, model = (frame[frame["run"] == name] for name in ("rules", "model"))
    run = read_run(runs / "rules")
    assert rules["correct"].mean() == 8 / 12 and rules["declined"].sum() == 4 and not rules["failed"].any()
    assert rules["correct"].dtype == "boolean" and frame["input_tokens"].dtype == "Int64"
    first, row = next(run.results), rules.iloc[0]
    assert (row["id"], row["answer"], row["gold"]) == (first.id, first.answer, first.gold)
    assert row["plan"] == "table_reader → final_answer" and row["question"].endswith("?")
    assert row["columns"] == list(first.columns) and row["seconds"] == first.seconds
    assert model["cost"].isna().all() and model["cached_tokens"].isna().all()
    check_sums(model, read_run(runs / "model"))


def test_grades_are_columns_and_failures_are_told(tmp_path: Path) -> None:
    run = evaluate(tmp_path / "graded", 3)
    frame = chameleon.results(run.path)
    assert frame["ROUGE-1"][0] > 0.8 and frame["correct"].isna().all()
    assert list(frame["verdict"]) == ["graded", "declined", "failed"]
    assert "broken" in frame["error"][2] and frame["failed"].tolist() == [False, False, True]


def test_what_is_no_evaluation_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folders in ((), (tmp_path,), (f"{tmp_path}/none*",), (tmp_path / "none",)):
        with pytest.raises(InputError):
            chameleon.results(*folders)
    monkeypatch.setattr("chameleon.errors.find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"chameleon-compose\[programs\]"):
        chameleon.results(tmp_path)

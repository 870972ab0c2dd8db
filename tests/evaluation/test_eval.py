"""`chameleon eval`: what it prints, keeps, and makes of failures, with and without a model."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from chameleon.benchmarks.scorers import binder_rule, text_overlap
from chameleon.errors import MissingPackage
from chameleon.evaluation.data import find_benchmark
from tests.e2e.commands import Command
from tests.evaluation.rows import make_rows, read_events, read_lines, write_rows
from tests.evaluation.test_graded import ROWS as GRADED

COUNTS = ["benchmark", "n", "correct", "accuracy", "answered", "answered_accuracy", "breakdown"]
COLUMNS = ["ALL", "FREE", "MC", "INT", "DEC", "EXTR", "BOOL", "OTH", "G1-6", "G7-8"]
USAGE = ["calls", "input_tokens", "output_tokens", "cost", "cached_tokens", "reasoning_tokens"]


@pytest.fixture
def problems(tmp_path: Path) -> str:
    return str(write_rows(tmp_path / "problems.jsonl.gz", make_rows(12)))


def test_json_has_the_shape_of_the_issue(command: Command, problems: str) -> None:
    outcome = command("eval", "tables_offline", problems, "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 0 and outcome.out.count("\n") == 1
    assert list(found) == [*COUNTS, "usage", "seconds"]
    assert list(found["breakdown"]) == COLUMNS and list(found["usage"]) == USAGE
    assert (found["n"], found["correct"], found["answered"]) == (12, 8, 8)
    assert found["accuracy"] == 8 / 12 and found["answered_accuracy"] == 1.0
    assert found["breakdown"]["ALL"] == {"n": 12, "correct": 8, "accuracy": 8 / 12}
    assert found["breakdown"]["OTH"] == {"n": 0, "correct": 0, "accuracy": None}
    for part in (("FREE", "MC"), ("INT", "DEC", "EXTR", "BOOL", "OTH"), ("G1-6", "G7-8")):
        assert sum(found["breakdown"][name]["n"] for name in part) == 12
        assert sum(found["breakdown"][name]["correct"] for name in part) == 8


def test_the_table_is_all_that_stdout_holds(command: Command, problems: str) -> None:
    outcome = command("eval", "tables_offline", problems)
    title, above, header, rule, percent, right, of, below, answered = outcome.out.splitlines()
    assert above == below == "" and not set(rule) - {"─", " "}
    assert title == "tabmwp, scored by the rule of chameleon"
    assert header.split() == COLUMNS
    assert percent.split() == [
        "right,", "%", "66.67", "50.00", "100.00", "0.00", "100.00", "100.00", "–", "–", "60.00", "100.00",
    ]  # fmt: skip
    assert right.split() == ["right", "8", "4", "4", "0", "4", "4", "0", "0", "6", "2"]
    assert of.split() == ["of", "12", "8", "4", "4", "4", "4", "0", "0", "10", "2"]
    assert len({len(line) for line in (header, rule, percent, right, of)}) == 1
    assert answered == "Answered 8, right 100.00 % of them; declined 4, failed 0."
    told = (
        r"Runs 12 problems of tabmwp with inventory tables_offline; it asks no model\.\nTook [\d.]+ m?s\.\n"
    )
    assert re.fullmatch(told, outcome.err)


def test_results_keep_what_the_issue_names(command: Command, problems: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("eval", "tables_offline", problems, "--out", str(out)).code == 0
    for line in read_lines(out / "results.jsonl"):
        assert list(line)[:8] == ["id", "answer", "declined", "correct", "plan", "seconds", "usage", "error"]
        assert list(line["usage"]) == USAGE
        reason = line["error"]["kind"] if line["error"] else None
        assert (line["answer"] is None) == line["declined"] == (reason == "Declined")
        assert line["declined"] != line["correct"]
        assert line["plan"] == ["table_reader", "final_answer"]
    kinds = {line["event"] for line in read_events(out)}
    assert kinds == {"run_started", "plan", "step", "run_ended"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--retry-failed",), "--retry-failed has nothing to try again. Name the folder with --out."),
        (("--scorer", "pott"), "tabmwp has no scorer 'pott'. Did you mean 'pot'?"),
        (("--without", "row_lokup"), "there is no module 'row_lokup' to leave out"),
        (("--without", "final_answer"), "final_answer cannot be left out: a plan must end with it"),
    ],
)
def test_faults_are_one_line(command: Command, problems: str, options: tuple[str, ...], told: str) -> None:
    outcome = command("eval", "tables_offline", problems, *options)
    assert outcome.code == 1 and not outcome.out and told in outcome.complaint


@pytest.mark.parametrize("option", [("--workers", "0"), ("--limit", "0"), ("--max-cost", "-1")])
def test_numbers_out_of_range_are_bad_usage(command: Command, problems: str, option: tuple[str, str]) -> None:
    outcome = command("eval", "tables_offline", problems, *option)
    assert outcome.code == 2 and option[0] in outcome.err


def test_no_model_is_told_before_anything_is_made(command: Command, problems: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    outcome = command("eval", "tabmwp", problems, "--out", str(out))
    assert outcome.code == 1 and "the inventory tabmwp asks a model" in outcome.complaint
    assert not out.exists()


def test_recorded_answers_cannot_be_run(command: Command, tmp_path: Path) -> None:
    row = {"pid": "1", "answer": "7", "ques_type": "free_text", "ans_type": "integer_number"}
    outcome = command("eval", "tables_offline", str(write_rows(tmp_path / "d.jsonl", [row])))
    assert "This file holds recorded answers: `chameleon score` scores them." in outcome.complaint


def test_an_input_that_does_not_fit_fails_alone(command: Command, tmp_path: Path) -> None:
    rows = make_rows(3)
    rows[1]["question"] = "  "
    data, out = str(write_rows(tmp_path / "d.jsonl", rows)), tmp_path / "run"
    asked = ("eval", "tables_offline", data, "--out", str(out))
    outcome = command(*asked)
    assert outcome.code == 0 and "failed 1." in outcome.out
    failed = {line["id"]: line["error"] for line in read_lines(out / "results.jsonl")}["1001"]
    assert failed["kind"] == "InputError" and failed["message"] == "the question is empty"
    again = command(*asked, "--retry-failed")
    assert again.code == 0 and "failed 1." in again.out


def without_caches(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Let a package be missing that scorers may have loaded."""
    for each in (text_overlap._bleu, text_overlap._rouge, binder_rule._recognisers):
        monkeypatch.setattr(sys.modules[each.__module__], each.__name__, cache(each.__wrapped__))
    monkeypatch.setitem(sys.modules, package, None)


def test_without_its_scorers_package_an_evaluation_does_not_begin(
    monkeypatch: pytest.MonkeyPatch, command: Command, tmp_path: Path
) -> None:
    """Whatever its first problem would need."""
    without_caches(monkeypatch, "sacrebleu.metrics.bleu")
    data, out = str(write_rows(tmp_path / "d.jsonl", GRADED)), tmp_path / "out"
    outcome = command("eval", "tables_offline", data, "--benchmark", "fetaqa", "--out", str(out))
    assert outcome.code == 1 and "chameleon-compose[text-metrics]" in outcome.err and not out.exists()


@pytest.mark.parametrize(
    ("benchmark", "scorer", "package", "extra"),
    [
        ("fetaqa", "official", "sacrebleu.metrics.bleu", "text-metrics"),
        ("fetaqa", "stemmed", "rouge_score.rouge_scorer", "text-metrics"),
        ("wikitq", "binder", "recognizers_number", "binder-metric"),
    ],
)
def test_each_scorer_says_what_it_lacks(
    benchmark: str, scorer: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_caches(monkeypatch, package)
    with pytest.raises(MissingPackage) as caught:
        find_benchmark(benchmark).scorers[scorer]().check()
    assert extra in caught.value.hint

"""`chameleon eval`: what it prints, keeps, and makes of failures, with and without a model."""

import io
import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from chameleon.benchmarks.fetaqa import Fetaqa
from chameleon.benchmarks.scorers import binder_rule, text_overlap
from chameleon.benchmarks.wikitq import Wikitq
from chameleon.cli.evaluating import running
from chameleon.cli.terminal import Progress
from chameleon.core.events import Failure
from chameleon.errors import MissingPackage
from chameleon.evaluation.results import Result, Spending, Tally
from chameleon.usage import Call, Usage
from tests.e2e.commands import Command
from tests.engine.files import write
from tests.evaluation.asking import MINE
from tests.evaluation.rows import make_rows, read_events, read_lines, write_rows
from tests.evaluation.test_graded import ROWS as GRADED

Patch = pytest.MonkeyPatch

COUNTS = ["benchmark", "n", "correct", "accuracy", "answered", "answered_accuracy", "breakdown"]
COLUMNS = ["ALL", "FREE", "MC", "INT", "DEC", "EXTR", "BOOL", "OTH", "G1-6", "G7-8"]
EVENTS = {"run_started", "plan", "step", "run_ended"}
USAGE = ["calls", "input_tokens", "output_tokens", "cost", "cached_tokens", "reasoning_tokens"]


@pytest.fixture
def problems(tmp_path: Path) -> str:
    return str(write_rows(tmp_path / "problems.jsonl.gz", make_rows(12)))


def test_json_and_results_have_their_shape(command: Command, problems: str, tmp_path: Path) -> None:
    outcome = command("eval", "tables_offline", problems, "--json", "--out", str(tmp_path / "out"))
    found = json.loads(outcome.out)
    assert outcome.code == 0 and outcome.out.count("\n") == 1
    assert list(found) == [*COUNTS, "usage", "seconds"]
    assert list(found["breakdown"]) == COLUMNS and list(found["usage"]) == USAGE
    assert [found[key] for key in COUNTS[1:6]] == [12, 8, 8 / 12, 8, 1.0]
    assert found["breakdown"]["ALL"] == {"n": 12, "correct": 8, "accuracy": 8 / 12}
    assert found["breakdown"]["OTH"] == {"n": 0, "correct": 0, "accuracy": None}
    for line in read_lines(tmp_path / "out/results.jsonl"):
        assert list(line)[:8] == ["id", "answer", "declined", "correct", "plan", "seconds", "usage", "error"]
        is_declined = bool(line["error"]) and line["error"]["kind"] == "Declined"
        assert (line["answer"] is None) == line["declined"] == is_declined != line["correct"]
        assert line["plan"] == ["table_reader", "final_answer"] and list(line["usage"]) == USAGE
    assert {line["event"] for line in read_events(tmp_path / "out")} == EVENTS


def test_stdout_holds_a_table(command: Command, problems: str) -> None:
    outcome = command("eval", "tables_offline", problems)
    title, above, header, rule, percent, right, of, below, answered = outcome.out.splitlines()
    assert above == below == "" and not set(rule) - {"─", " "}
    assert title == "tabmwp, scored by the rule of chameleon"
    assert header.split() == COLUMNS
    shares = "66.67 50.00 100.00 0.00 100.00 100.00 – – 60.00 100.00"
    assert " ".join(percent.split()) == f"right, % {shares}"
    assert " ".join(right.split()) == "right 8 4 4 0 4 4 0 0 6 2"
    assert " ".join(of.split()) == "of 12 8 4 4 4 4 0 0 10 2"
    assert len({len(line) for line in (header, rule, percent, right, of)}) == 1
    assert answered == "Answered 8, right 100.00% of them; declined 4, failed 0."
    told = "Runs 12 problems of tabmwp with inventory tables_offline; it asks no model.\n"
    assert re.fullmatch(rf"{told}Took [\d.]+ m?s\.\n", outcome.err)


REFUSED: dict[str, tuple[int, str]] = {
    "--retry-failed": (1, "--retry-failed has nothing to retry. Name the folder with --out."),
    "--scorer pott": (1, "tabmwp has no scorer 'pott'. Did you mean 'pot'?"),
    "--without row_lokup": (1, "there is no module 'row_lokup' to leave out"),
    "--without final_answer": (1, "final_answer cannot be left out: a plan must end with it"),
    "--workers 0": (2, "--workers"),
    "--limit 0": (2, "--limit"),
    "--max-cost -1": (2, "--max-cost"),
}


def test_faults_are_told(command: Command, problems: str) -> None:
    for options, (code, told) in REFUSED.items():
        outcome = command("eval", "tables_offline", problems, *options.split())
        assert outcome.code == code and not outcome.out
        assert told in (outcome.complaint if code == 1 else outcome.err)


def test_what_cannot_be_run_is_told_first(command: Command, problems: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    outcome = command("eval", "tabmwp", problems, "--out", str(out))
    assert outcome.code == 1 and "the inventory tabmwp asks a model" in outcome.complaint
    row = {"pid": "1", "answer": "7", "ques_type": "free_text", "ans_type": "integer_number"}
    outcome = command("eval", "tables_offline", str(write_rows(tmp_path / "d.jsonl", [row])))
    assert "This file holds recorded answers: `chameleon score` scores them." in outcome.complaint
    assert not out.exists()
    rows = make_rows(3)
    rows[1]["question"] = "  "
    data, out = str(write_rows(tmp_path / "d.jsonl", rows)), tmp_path / "run"
    for options in ((), ("--retry-failed",)):
        outcome = command("eval", "tables_offline", data, "--out", str(out), *options)
        assert outcome.code == 0 and "failed 1." in outcome.out
        failed = {line["id"]: line["error"] for line in read_lines(out / "results.jsonl")}["1001"]
        assert failed["kind"] == "InputError" and failed["message"] == "the question is empty"


FAILING = """
from chameleon import Module

class Tool(Module):
    '''Fails for reasons of its own.'''
    def run(self, state):
        raise ValueError(state.input["question"])
"""
REASONS = [*["it broke"] * 4, *["\x1b[31mred"] * 3, *["no ink"] * 2, "rare"]


def test_frequent_reasons_of_failures_and_right_guesses_are_told(command: Command, tmp_path: Path) -> None:
    write(tmp_path, FAILING, "tools.py")
    rows = [{**row, "question": reason} for row, reason in zip(make_rows(10), REASONS, strict=True)]
    outcome = command("eval", str(write(tmp_path, MINE)), str(write_rows(tmp_path / "d.jsonl", rows)))
    assert outcome.code == 1, "nothing but failures"
    answered, *reasons = outcome.out.split("\n\n")[-1].splitlines()
    assert answered == "Answered 0, right –% of them; declined 0, failed 10."
    assert [reason.split(":")[0] for reason in reasons] == [f"Failed, {n} times" for n in (4, 3, 2)]
    assert all(text in line for text, line in zip(("it broke", "red", "no ink"), reasons, strict=True))
    assert "\x1b" not in outcome.out
    rows = [{**row, "choices": [row["answer"], "x"]} for row in make_rows(6)]
    data = str(write_rows(tmp_path / "d.jsonl", rows))
    given = [{"pid": row["pid"], "prediction": None if n < 4 else "x"} for n, row in enumerate(rows)]
    outcome = command("score", "tabmwp", data, str(write_rows(tmp_path / "p.jsonl", given)))
    answered, guessed = outcome.out.split("\n\n")[-1].splitlines()
    assert answered == "Answered 2, right 0.00% of them; declined 4, failed 0."
    assert guessed == "Of those without a prediction, 4 are right: the rule guesses the first choice."


CALL = Call("openai:local", (), {}, usage=Usage(calls=1, cost=0.005))


def result(number: int, correct: bool = False, error: Failure | None = None) -> Result:
    return Result(str(number), "7", False, correct, error=error)


def test_elsewhere_a_line_now_and_then_says_what_is_known(monkeypatch: Patch) -> None:
    now, stderr = [0.0], io.StringIO()
    monkeypatch.setattr("chameleon.cli.terminal.time.monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", stderr)
    tally, spending = Tally(()), Spending()
    with Progress("problem", 2000) as progress:
        for number in range(220):
            now[0] += 0.25
            tally.add(result(number, correct=number % 2 == 0))
            spending.add([CALL, CALL])
            progress.show(tally.all.n, lambda: running(tally, spending.usage))
    lines = stderr.getvalue().splitlines()
    stderr.isatty = lambda: True  # type: ignore[method-assign]
    for name, value in {"TERM": "xterm", "COLUMNS": "120"}.items():
        monkeypatch.setenv(name, value)
    with Progress("problem", 60) as progress:  # a bar
        progress.show(60, lambda: "accuracy 0.667\x1b[31m")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Zac-ln-z]", "", stderr.getvalue())
    assert "60/60" in shown and "accuracy 0.667" in shown and "━" in shown and "\x1b[31m" not in shown
    assert len(lines) == 5
    assert lines[0] == "40 of 2,000 problems: accuracy 0.500, 80 calls, $0.40"
    assert lines[-1] == "200 of 2,000 problems: accuracy 0.500, 400 calls, $2.00"
    tally = Tally(())
    assert running(tally, Usage()) == "accuracy –"
    tally.add(result(1, correct=True))
    tally.add(result(2, error=Failure("ModelError", "it broke")))
    told = running(tally, Usage(calls=4, cost=None))
    assert told == "accuracy 0.500, failed 1, 4 calls, cost unknown"


LACKING = [
    (Fetaqa.scorers["official"], "sacrebleu.metrics.bleu", "text-metrics"),
    (Fetaqa.scorers["stemmed"], "rouge_score.rouge_scorer", "text-metrics"),
    (Wikitq.scorers["binder"], "recognizers_number", "binder-metric"),
]


def test_without_its_package_nothing_begins(monkeypatch: Patch, command: Command, tmp_path: Path) -> None:
    for each in (text_overlap._bleu, text_overlap._rouge, binder_rule._recognizers):  # that are loaded once
        monkeypatch.setattr(sys.modules[each.__module__], each.__name__, cache(each.__wrapped__))
    for scorer, package, extra in LACKING:
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingPackage) as caught:
            scorer().check()
        assert extra in caught.value.hint
    data, out = str(write_rows(tmp_path / "d.jsonl", GRADED)), tmp_path / "out"
    outcome = command("eval", "tables_offline", data, "--benchmark", "fetaqa", "--out", str(out))
    assert outcome.code == 1 and "chameleon-compose[text-metrics]" in outcome.err and not out.exists()

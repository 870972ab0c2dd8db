"""What `chameleon eval` and `score` print: columns, guesses, reasons, spending, progress."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from chameleon.cli.evaluating import running
from chameleon.cli.terminal import Progress
from chameleon.core.events import Failure
from chameleon.evaluation.results import Result, Spending, Tally
from chameleon.table.formats import places
from chameleon.usage import Call, Usage
from tests.e2e.commands import Command
from tests.e2e.rule_model import RuleModel
from tests.engine.files import write
from tests.evaluation.asking import MINE, PRICED, Start, model_rows
from tests.evaluation.rows import make_rows, write_rows

FAILING = """
from chameleon import Module

class Tool(Module):
    '''Fails for reasons of its own.'''
    def run(self, state):
        raise ValueError(state.input["question"])
"""
REASONS = [*["it broke"] * 4, *["\x1b[31mred"] * 3, *["no ink"] * 2, "rare"]


@pytest.mark.parametrize(("width", "blocks"), [(60, 2), (200, 1)])
def test_the_table_fits_the_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch, width: int, blocks: int, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    data = str(write_rows(tmp_path / "problems.jsonl", make_rows(3)))
    table = command("eval", "tables_offline", data).out.split("\n\n")[1:-1]
    assert all(places(line) <= width for block in table for line in block.splitlines())
    assert len(table) == blocks
    headers = " ".join(block.splitlines()[0] for block in table).split()
    assert headers == ["ALL", "FREE", "MC", "INT", "DEC", "EXTR", "BOOL", "OTH", "G1-6", "G7-8"]
    for block in table:
        names = [line.split("  ")[0] for line in block.splitlines()[2:]]
        assert names == ["right, %", "right", "of"]


def test_the_three_most_frequent_reasons_of_failures(command: Command, tmp_path: Path) -> None:
    write(tmp_path, FAILING, "tools.py")
    inventory = str(write(tmp_path, MINE))
    rows = [{**row, "question": reason} for row, reason in zip(make_rows(10), REASONS, strict=True)]
    outcome = command("eval", inventory, str(write_rows(tmp_path / "d.jsonl", rows)))
    assert outcome.code == 1, "nothing but failures"
    answered, *reasons = outcome.out.split("\n\n")[-1].splitlines()
    assert answered == "Answered 0, right – % of them; declined 0, failed 10."
    assert [reason.split(":")[0] for reason in reasons] == [f"Failed, {n} times" for n in (4, 3, 2)]
    assert all(text in line for text, line in zip(("it broke", "red", "no ink"), reasons, strict=True))
    assert "\x1b" not in outcome.out


def test_right_guesses_are_told(command: Command, tmp_path: Path) -> None:
    """Chameleon's rule takes the first choice where another system gave nothing."""
    rows = [{**row, "choices": [row["answer"], "x"]} for row in make_rows(6)]
    data = str(write_rows(tmp_path / "d.jsonl", rows))
    given = [{"pid": row["pid"], "prediction": None if n < 4 else "x"} for n, row in enumerate(rows)]
    outcome = command("score", "tabmwp", data, str(write_rows(tmp_path / "p.jsonl", given)))
    answered, guessed = outcome.out.split("\n\n")[-1].splitlines()
    assert answered == "Answered 2, right 0.00 % of them; declined 4, failed 0."
    assert guessed == "Of those without a prediction, 4 are right: the rule guesses the first choice."


def test_calls_and_replies_of_the_store_are_told(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(RuleModel())
    data = str(write_rows(tmp_path / "d.jsonl", model_rows(2)))
    asked = ("eval", str(write(tmp_path, PRICED)), data, "--model", "openai:local")
    first, calls = command(*asked), len(server.requests)
    told = next(line for line in first.out.splitlines() if line.startswith("Model: "))
    assert told.startswith(f"Model: {calls} calls, ") and "$" in told and "store" not in told
    assert f"\nModel: {calls} from the response store.\n" in command(*asked).out
    assert json.loads(command(*asked, "--json").out)["usage"]["calls"] == 0
    assert len(server.requests) == calls


CALL = Call("openai:local", (), {}, usage=Usage(calls=1, cost=0.005))


def result(number: int, correct: bool = False, error: Failure | None = None) -> Result:
    return Result(str(number), "7", False, correct, error=error)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress("problem", 60) as progress:
        progress.show(60, lambda: "accuracy 0.667\x1b[31m")
    shown = terminal.getvalue()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert "60/60" in text and "accuracy 0.667" in text and "━" in text and "\x1b[31m" not in shown


def test_elsewhere_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("chameleon.cli.terminal.time.monotonic", lambda: now[0])
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    tally, spending = Tally(()), Spending()
    with Progress("problem", 2000) as progress:
        for number in range(220):
            now[0] += 0.25
            tally.add(result(number, correct=number % 2 == 0))
            spending.add([CALL, CALL])
            progress.show(tally.all.n, lambda: running(tally, spending.usage))
    lines = stderr.getvalue().splitlines()
    assert len(lines) == 5
    assert lines[0] == "40 of 2,000 problems: accuracy 0.500, 80 calls, $0.40"
    assert lines[-1] == "200 of 2,000 problems: accuracy 0.500, 400 calls, $2.00"


def test_the_running_figures_say_what_is_not_known() -> None:
    tally = Tally(())
    assert running(tally, Usage()) == "accuracy –"
    tally.add(result(1, correct=True))
    assert running(tally, Usage(calls=2, cost=0.01)) == "accuracy 1.000, 2 calls, $0.01"
    tally.add(result(2, error=Failure("ModelError", "it broke")))
    told = running(tally, Usage(calls=4, cost=None))
    assert told == "accuracy 0.500, failed 1, 4 calls, cost unknown"

"""The page of text that `chameleon eval` and `score` print: columns in blocks, guesses, reasons, spending."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chameleon.table.formats import places
from tests.e2e.commands import Command
from tests.e2e.rule_model import RuleModel
from tests.engine.files import write
from tests.evaluation.asking import MINE, PRICED, Start, model_rows
from tests.evaluation.rows import make_rows, write_rows

FAILING = """
from chameleon import Module

REASONS = ["it broke", "\\x1b[31mred", "no ink", "rare"]


class Tool(Module):
    '''Fails for reasons of its own.'''

    def run(self, state):
        number = int(state.input["question"])
        raise ValueError(REASONS[0 if number < 4 else 1 if number < 7 else 2 if number < 9 else 3])
"""


@pytest.mark.parametrize("width", [40, 60, 200])
def test_the_table_fits_the_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch, width: int, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    data = str(write_rows(tmp_path / "problems.jsonl", make_rows(12)))
    table = command("eval", "tables_offline", data).out.split("\n\n")[1:-1]
    assert all(places(line) <= width for block in table for line in block.splitlines())
    assert (len(table) == 1) == (width == 200)
    headers = [block.splitlines()[0].split() for block in table]
    assert [name for header in headers for name in header] == [
        "ALL", "FREE", "MC", "INT", "DEC", "EXTR", "BOOL", "OTH", "G1-6", "G7-8",
    ]  # fmt: skip
    for block in table:
        names = [line.split("  ")[0] for line in block.splitlines()[2:]]
        assert names == ["right, %", "right", "of"]


def test_the_three_most_frequent_reasons_of_failures(command: Command, tmp_path: Path) -> None:
    write(tmp_path, FAILING, "tools.py")
    inventory = str(write(tmp_path, MINE))
    rows = [{**row, "question": str(number)} for number, row in enumerate(make_rows(10))]
    outcome = command("eval", inventory, str(write_rows(tmp_path / "d.jsonl", rows)))
    assert outcome.code == 1, "nothing but failures"
    answered, *reasons, seconds = outcome.out.split("\n\n")[-1].splitlines()
    assert answered == "Answered 0, right – % of them; declined 0, failed 10."
    assert [reason.split(":")[0] for reason in reasons] == [f"Failed, {n} times" for n in (4, 3, 2)]
    assert all(text in line for text, line in zip(("it broke", "red", "no ink"), reasons, strict=True))
    assert "\x1b" not in outcome.out and seconds.endswith(" s")


def test_right_guesses_are_told(command: Command, tmp_path: Path) -> None:
    """Chameleon's rule takes the first choice where another system gave nothing."""
    rows = [{**row, "choices": [row["answer"], "x"]} for row in make_rows(6)]
    data = str(write_rows(tmp_path / "d.jsonl", rows))
    given = [{"pid": row["pid"], "prediction": None if n < 4 else "x"} for n, row in enumerate(rows)]
    outcome = command("score", "tabmwp", data, str(write_rows(tmp_path / "p.jsonl", given)))
    answered, guessed, _ = outcome.out.split("\n\n")[-1].splitlines()
    assert answered == "Answered 2, right 0.00 % of them; declined 4, failed 0."
    assert guessed == "Of those without a prediction, 4 are right: the rule guesses the first choice."


def test_calls_and_replies_of_the_store_are_told(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(RuleModel())
    data = str(write_rows(tmp_path / "d.jsonl", model_rows(3)))
    inventory = str(write(tmp_path, PRICED))
    asked = ("eval", inventory, data, "--model", "openai:local")
    first, calls = command(*asked), len(server.requests)
    told = next(line for line in first.out.splitlines() if line.startswith("Model: "))
    assert told.startswith(f"Model: {calls} calls, ") and "$" in told and "store" not in told
    second = command(*asked)
    assert len(server.requests) == calls
    told = next(line for line in second.out.splitlines() if line.startswith("Model: "))
    assert told == f"Model: 0 calls; {calls} replies from the response store."
    assert json.loads(command(*asked, "--json").out)["usage"]["calls"] == 0

"""Everyday and plain questions over tables: what is answered, and what is easily misread and declined."""

from __future__ import annotations

import csv
import importlib.util
import json
from pathlib import Path

import pytest

from chameleon import Executor, Inventory
from chameleon.errors import Declined
from chameleon.modules.offline.judge import answer
from chameleon.table import Table, read_table

HERE = Path(__file__).parent
DATA = (HERE.parents[2] / "../shared/data/everyday").resolve()


@pytest.mark.skipif(not (DATA / "questions.jsonl").is_file(), reason="the shared data are not here")
def test_few_answers_are_wrong() -> None:
    spec = importlib.util.spec_from_file_location("everyday_score", DATA / "score.py")
    assert spec is not None and spec.loader is not None
    rule = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rule)
    lines = (json.loads(line) for line in (DATA / "questions.jsonl").read_text("utf-8").splitlines())
    asked = [line for line in lines if line["part"] == "dev"]
    names = {line["table"] for line in asked}
    tables = {name: Table(*_rows(name), name.replace("_", " ")) for name in names}
    inputs = [{"question": line["question"], "table": tables[line["table"]]} for line in asked]
    states = list(Executor(Inventory.load("tables_offline")).batch(inputs))
    assert {state.ended.reason for state in states if state.ended} <= {"answered", "declined"}
    pairs = zip(asked, states, strict=True)
    told = [(line, state.answer) for line, state in pairs if state.answer is not None]
    wrong = [line["id"] for line, said in told if not rule.right(said, line)]
    assert len(wrong) <= 3, wrong
    assert len(told) > len(asked) / 3


def _rows(name: str) -> tuple[list[str], list[list[str]]]:
    with (DATA / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


LINES = [
    (folder, *line.split("\t"))
    for folder in (HERE / "english", HERE / "german")
    for line in (folder / "questions.tsv").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(("folder", "name", "question", "expected"), LINES)
def test_questions_are_answered_or_declined(folder: Path, name: str, question: str, expected: str) -> None:
    """German needs no more than a file of words."""
    over = read_table(folder / f"{name}.csv").with_caption(name)
    try:
        found = ", ".join(answer(question, over).result.values)
    except Declined:
        found = ""
    assert found == expected

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


def table(text: str, caption: str) -> Table:
    header, *rows = ([cell.strip() for cell in line.split("|")] for line in text.strip().splitlines())
    return Table(header, rows, caption)


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


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("order_id | unit_price | total\n101 | 30 | 30\n102 | 25 | 100", "Which order cost the most?"),
        (
            "Trip | Start | End | Length (m)\nAlps | 2024-01-02 | 2024-01-09 | 900",
            "How long was the Alps trip?",
        ),
        ("Shop | Amount\nRewe | -20.50\nJob | 2000.00", "How much did I spend at Rewe?"),
        ("Name | Price | Price (2)\nA | 3 | 3\nB | 4 | 4", "What is the total price?"),
        ("Order | Returned\nA1 | yes\nA2 | no", "Who returned A1?"),
        ("Stock | Price per share\nX | 10.5\nY | 20.0", "What is the total price per share?"),
        ("Name | Salary\nAnn | 5\nBen | 7", "How much more does Ann earn than Ann?"),
    ],
)
def test_what_a_column_may_not_mean_is_declined(text: str, question: str) -> None:
    with pytest.raises(Declined):
        answer(question, table(text, "orders"))


def test_a_row_called_all_is_one_of_the_rows_where_it_sums_nothing_up() -> None:
    text = "Product | Shop | Units\nTide | North | 3\nAll | South | 4\nAriel | North | 9\nTotal | | 16"
    assert answer("How many units are there in total?", table(text, "sold")).result.values == ("16",)
    summed = "Class | Tickets | Won\nAll | 7 | 9\nFirst | 3 | 5\nSecond | 4 | 4"
    assert answer("What is the total of tickets?", table(summed, "classes")).result.values == ("7",)


def test_figures_after_a_year_are_months_where_one_of_them_is_no_season() -> None:
    months = table("Month | Goals\n2011-12 | 4\n2012-01 | 7\n2012-02 | 3", "months")
    assert answer("How many goals were there in December 2011?", months).result.values == ("4",)
    seasons = table("Season | Goals\n2011-12 | 4\n2012-13 | 7\n2013-14 | 3", "seasons")
    assert answer("How many goals were there in 2012-13?", seasons).result.values == ("7",)

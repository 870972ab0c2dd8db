"""Reading TabMWP's problems, its columns and its published results."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import Table
from chameleon.benchmarks.tabmwp import Tabmwp, inferred_types, read_text_table
from chameleon.evaluation.benchmark import Problem

ROW: dict[str, Any] = {
    "pid": "101",
    "question": "Which kite flew longest?",
    "choices": ["red", "blue"],
    "answer": "blue",
    "unit": None,
    "table_title": "Minutes in the air",
    "table": "Kite | Minutes\nred | 12\nblue | 15",
    "ques_type": "multi_choice",
    "ans_type": "extractive_text",
    "grade": 4,
    "solution": "15 is more than 12.",
    "split": "dev",
}
FREE = {"question": "How many minutes?", "choices": None, "answer": "27", "unit": "minutes"}


def problem(**changes: Any) -> Problem:
    return Tabmwp().problem({**ROW, **changes}, {})


def test_a_row_of_the_release() -> None:
    read = problem()
    assert (read.id, read.gold, read.columns) == ("101", "blue", ("MC", "EXTR", "G1-6"))
    assert ROW["solution"] not in str(read.input)
    assert [problem(grade=grade).columns[2] for grade in (6, 7)] == ["G1-6", "G7-8"]
    assert read.input == {
        "question": "Which kite flew longest?",
        "table": Table(["Kite", "Minutes"], [["red", "12"], ["blue", "15"]], "Minutes in the air"),
        "choices": ["red", "blue"],
        "unit": None,
    }
    choices = ["red", "blue"]
    assert read.detail == {"answer": "blue", "ans_type": "extractive_text", "unit": None, "choices": choices}


def test_a_row_without_title_types_and_grade() -> None:
    row = {"pid": 7, "table": ROW["table"], **FREE}
    read = Tabmwp().problem(row, {})
    assert (read.id, read.columns) == ("7", ("FREE", "INT"))
    assert read.input["table"].caption == "" and read.input["choices"] is None
    assert read.input["unit"] == read.detail["unit"] == "minutes"


def test_a_recorded_row_without_its_question() -> None:
    recorded = {"pid": "9", "answer": "blue", "ques_type": "multi_choice", "ans_type": "other_text"}
    read = Tabmwp().problem(recorded, {})
    assert (read.input, read.columns) == ({}, ("MC", "OTH"))
    assert Tabmwp.scorers["pot"]().right("blue", read) and Tabmwp.scorers["promptpg"]().right("Blue", read)
    free = {"pid": "9", "answer": "2,001", "ques_type": "free_text", "ans_type": "integer_number"}
    assert Tabmwp.scorers["chameleon"]().right(2001.0, Tabmwp().problem(free, {}))


@pytest.mark.parametrize(
    ("answer", "choices", "types"),
    [
        ("1,204", None, ("free_text", "integer_number")),
        ("-5", [], ("free_text", "integer_number")),
        ("5.0", None, ("free_text", "decimal_number")),
        ("3/4", None, ("free_text", "decimal_number")),
        ("No", ["No", "Yes"], ("multi_choice", "boolean_text")),
        ("surplus", ["shortage", "surplus"], ("multi_choice", "boolean_text")),
        ("RED", ["RED", "GREEN"], ("multi_choice", "extractive_text")),
        ("green", ["red", "green"], ("multi_choice", "other_text")),
        ("yes", ["yes", "no", "perhaps"], ("multi_choice", "other_text")),
    ],
)
def test_inferred_types(answer: str, choices: list[str] | None, types: tuple[str, str]) -> None:
    assert inferred_types(answer, choices, ROW["table"]) == types


def test_text_tables() -> None:
    table = read_text_table("Stem | Leaf \n1 | 0, 2\n2 | \n3", "Ages")
    assert table == Table(["Stem", "Leaf"], [["1", "0, 2"], ["2", ""], ["3", ""]], "Ages")
    assert read_text_table("alone") == Table(["alone"])
    assert read_text_table("a | a\n | b").header == ("a", "a")


def test_all_is_rounded_twice() -> None:
    percent = Tabmwp().percent
    assert percent("ALL", 7169, 7686) == "93.27" and percent("OTH", 0, 0) == percent("ALL", 0, 0) == "–"
    assert percent("ALL", 45, 7686) == "0.58"  # 0.58548… is 0.585 and then 0.58
    assert percent("FREE", 45, 7686) == "0.59"

"""Questions of your own: how rows are read, and what counts as right."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.benchmarks.scorers.own_answers import same_answer
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems, recognised

SAME = [
    ("Gus North", "gus north"),
    ("Gus  North.", "Gus North"),
    ("“Gus North”", "Gus North"),
    (67166.6667, "67,166.67"),
    ("67166.67", 67166.67),
    ("$1,250", "1250"),
    (12, "12.0"),
    ("12%", "12 %"),
    ("1.5 km", "1500 m"),
    ("1,5 km", "1,5 km"),
    ("May 4, 2024", "2024-05-04"),
    ("2024-05-04", "4 May 2024"),
    (["b", "a"], ["a", "b"]),
    ("a, b and c", ["c", "b", "a"]),
    ("a; b", ["b", "a"]),
    (["a", "a", "b"], ["b", "a"]),
    (True, "yes"),
    ("no", False),
    (["Gus North"], "Gus North"),
]
OTHER = [
    ("Gus South", "Gus North"),
    (67166.66, "67,166.67"),
    (12.4, "12"),
    ("12 km", "12 m"),
    ("12", "12.5"),
    ("2024-05-05", "May 4, 2024"),
    (["a"], ["a", "b"]),
    (["a", "b", "c"], ["a", "b"]),
    ("a, b", "a"),
    ("", "a"),
    ("five", "5"),
]


@pytest.mark.parametrize(("answer", "gold"), SAME)
def test_the_same_value_is_right_however_it_is_written(answer: Any, gold: Any) -> None:
    assert same_answer(answer, gold)


@pytest.mark.parametrize(("answer", "gold"), OTHER)
def test_another_value_is_wrong(answer: Any, gold: Any) -> None:
    assert not same_answer(answer, gold)


@pytest.mark.parametrize(
    ("answer", "tolerance", "is_right"),
    [(99, "1%", True), (98.9, "1%", False), (100.5, "0.5", True), (100.51, "0.5", False), (100, "", True)],
)
def test_a_tolerance_is_a_number_or_a_share_of_the_gold_one(
    answer: float, tolerance: str, is_right: bool
) -> None:
    assert same_answer(answer, "100", tolerance) is is_right


ANSWERS = st.one_of(st.text(max_size=12), st.integers(), st.floats(allow_nan=False, allow_infinity=False))


@given(st.one_of(ANSWERS, st.lists(ANSWERS, max_size=4)))
def test_every_answer_is_right_where_it_is_the_gold_one(answer: Any) -> None:
    assert same_answer(answer, answer)


@given(st.lists(ANSWERS, max_size=4), st.randoms())
def test_lists_are_sets(items: list[Any], random: Any) -> None:
    mixed = random.sample(items, len(items))
    assert same_answer(mixed, items) and same_answer([*mixed, *mixed], items)


LEAGUE = "Team,Points\nA,5\nB,7\n"


def problems(folder: Path, text: str, name: str = "q.csv", **also: str) -> list[Problem]:
    for file, content in {name: text, "league.csv": LEAGUE, **also}.items():
        (folder / file).write_text(content, "utf-8")
    benchmark = recognised(folder / name)
    assert benchmark.name == "questions"
    return list(read_problems(benchmark, DataFile(folder / name)))


def golds(found: list[Problem]) -> Mapping[str, Any]:
    return {each.id: each.gold for each in found}


def test_a_csv_has_a_question_a_line_and_tables_beside_it(tmp_path: Path) -> None:
    text = "Question;Answer;Table;Tags;Choices\nWho?;B;league.csv;a|b;\nWhich?;A;league.csv;x;A\n"
    text = text.replace("a|b", "'a'")
    first, second = problems(tmp_path, text)
    assert (first.id, first.input["question"], first.gold) == ("2", "Who?", "B")
    assert first.input["table"].rows == (("A", "5"), ("B", "7")) and first.input["table"].caption == "league"
    assert second.input["choices"] == ["A"] and second.columns == ("x",)


def test_json_lines_have_lists_numbers_and_ids(tmp_path: Path) -> None:
    rows = [
        {"id": "one", "question": "Which?", "answer": ["A", "B"], "table": "league.csv"},
        {"id": 2, "question": "How many?", "answer": 2, "table": "league.csv; league.csv", "unit": "km"},
        {"question": "Who is nicest?", "answer": "DECLINE", "table": "league.csv"},
    ]
    found = problems(tmp_path, "\n".join(map(json.dumps, rows)), "q.jsonl")
    assert golds(found) == {"one": ["A", "B"], "2": 2, "3": "DECLINE"}
    assert found[1].input["unit"] == "km" and len(found[1].input["tables"]) == 1
    assert [each.to_decline for each in found] == [False, False, True]


def test_a_workbook_is_read_as_a_csv_is(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["question", "answer", "table"], ["Who?", "B", "league.csv"], ["How many?", 2, "league.csv"]):
        book.active.append(row)
    book.save(tmp_path / "q.xlsx")
    (tmp_path / "league.csv").write_text(LEAGUE, "utf-8")
    found = list(read_problems(recognised(tmp_path / "q.xlsx"), DataFile(tmp_path / "q.xlsx")))
    assert golds(found) == {"2": "B", "3": "2"}


def test_a_row_that_cannot_be_used_is_told_with_its_line_and_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = (
        'id,question,answer,table\n1,"Who\nleads?",B,league.csv\n2,,B,league.csv\n\n3,Who?,,league.csv\n'
        "4,Who?,B,none.csv\n1,Who?,A,league.csv\n5,Who?,B,league.csv\n"
    )
    with caplog.at_level(logging.WARNING, "chameleon"):
        found = problems(tmp_path, text)
    assert [each.id for each in found] == ["1", "5"]
    told = [record.getMessage() for record in caplog.records]
    assert [each.partition("q.csv, ")[2].partition(":")[0] for each in told] == [
        "line 4",
        "line 6",
        "line 7",
        "line 8",
    ]
    assert "no question" in told[0] and "DECLINE" in told[1] and "none.csv" in told[2] and "twice" in told[3]


def test_a_text_is_read_as_the_text_and_as_passages(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "question,answer,text\nWhat?,A,note.txt\n", **{"note.txt": "It is A."})
    assert found.input["text"] == "It is A." and found.input["passages"][0]["text"] == "It is A."


def test_data_without_question_and_answer_says_what_is_needed(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(InputError, match="columns question and answer"):
        recognised(tmp_path / "q.csv")

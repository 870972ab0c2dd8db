"""Questions of your own: how rows are read, and what counts as right."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chameleon.benchmarks.questions import Questions
from chameleon.benchmarks.scorers.own_answers import ValueRule, same_answer
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems, recognised

SAME = [
    ("Gus North", "gus north"),
    ("“Gus North”", "Gus North"),
    ("Caf\u00e9", "Cafe\u0301"),
    (67166.6667, "67,166.67"),
    ("67166.67", 67166.67),
    ("$1,250", "1250"),
    (12, "12.0"),
    (12, "11.999999999999998"),
    ("12%", "12 %"),
    ("**12**", 12),
    ("$(5)", "-$5"),
    ("(5)", -5),
    ("5'11\"", "5 ft 11 in"),
    ("1.5 km", "1500 m"),
    ("1,5 km", "1,5 km"),
    ("149 min", "2 h 29 min"),
    ("02:29", "2:29"),
    ("3.24 million", "3.2 million"),
    ("3240000", "3.2 million"),
    (1.52e-05, 1.5e-05),
    ("May 4, 2024", "2024-05-04"),
    ("**May 4, 2024**", "2024-05-04"),
    ("2024-05-04", "4 May 2024"),
    ("2024-05", "May 2024"),
    ("2003-04", "2003-2004"),
    ("2024-05-04 00:00:00", "2024-05-04"),
    ("2024-05-04 14:30", "2024-05-04"),
    ("5 (Chelsea)", "5"),
    ("2024-05-04", "2024-05-04 (Saturday)"),
    ("May (actress)", "may (Actress)"),
    (["b", "a"], ["a", "b"]),
    ("a, b and c", ["c", "b", "a"]),
    ("a; b", ["b", "a"]),
    ("5; 5", "5"),
    (["a", "a", "b"], ["b", "a"]),
    ("Trinidad and Tobago; Kenya", ["Trinidad and Tobago", "Kenya"]),
    ("Kenya, Trinidad and Tobago", ["Trinidad and Tobago", "Kenya"]),
    ("Kenya, Trinidad and Tobago, and Peru", ["Trinidad and Tobago", "Kenya", "Peru"]),
    ("Smith, John; Doe, Jane", ["Smith, John", "Doe, Jane"]),
    ("Boston and Washington, D.C.", ["Washington, D.C.", "Boston"]),
    ("May 4, 2024; June 5, 2024", ["2024-05-04", "2024-06-05"]),
    ("- Paris\n- Rome", ["Rome", "Paris"]),
    ("1. Paris\n2. Rome", ["Rome", "Paris"]),
    ("one line two", "one\nline two"),
    (True, "yes"),
    (True, "true"),
    ("yes", "true"),
    ("no", False),
    (["Gus North"], "Gus North"),
]
OTHER = [
    ("Gus South", "Gus North"),
    (67166.66, "67,166.67"),
    (12.4, "12"),
    (9876543211, 9876543210),
    ("12 km", "12 m"),
    ("12", "12.5"),
    ("3.26 million", "3.2 million"),
    ("1234567890.9", 1234567890.1),
    ("12 m (39 ft)", "12 m (40 ft)"),
    (1.6e-05, 1.5e-05),
    ("2:29:00", "2:29"),
    ("2024-07", "2024-05"),
    ("2024", "2024-05"),
    ("2024-05", "2024"),
    ("2003-05", "2003-04"),
    ("2024-05-04 14:30", "2024-05-04 15:30"),
    ("2024-05-04", "2024-05-04 15:30"),
    ("5 (Chelsea)", "5 (Arsenal)"),
    ("May (actress)", "May (singer)"),
    ("May", "May (singer)"),
    (["a"], ["a", "b"]),
    (["a", "b", "c"], ["a", "b"]),
    ("a, b", "a"),
    ("a; b, c", ["a", "b", "c"]),
    ("3. May; 4. May", ["1. May", "2. May"]),
    ("John Smith; Jane Doe", ["Smith, John", "Doe, Jane"]),
    (True, "no"),
    (True, "1"),
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
    ("answer", "gold", "tolerance", "is_right"),
    [
        (99, "100", "1%", True),
        (98.9, "100", "1%", False),
        (99, "100", "±1%", True),
        (100.5, "100", "0.5", True),
        (100.51, "100", "0.5", False),
        (98, "100", "±2", True),
        (97, "100", "±2", False),
        (100, "100", "", True),
        (100.4, "100.0", "0", False),
        ("10 kg", "10500 g", "0.5 kg", True),
        ("9.9 kg", "10500 g", "0.5 kg", False),
        ("10.4 kg", "10000 g", "500", True),
        ("3.3 million", "3.2 million", "0.1 million", True),
        ("6", ["5", "6"], "1", False),
    ],
)
def test_a_tolerance_is_a_number_or_a_share_of_the_gold_one(
    answer: Any, gold: Any, tolerance: str, is_right: bool
) -> None:
    assert same_answer(answer, gold, tolerance) is is_right


@pytest.mark.parametrize(
    ("answer", "gold", "unit", "is_right"),
    [
        ("12000 g", "12", "kg", True),
        ("12 g", "12", "kg", False),
        ("12 kg", 12, "kg", True),
        ("12", "12000 g", "kg", True),
        (12, "12", "kg", True),
        ("12 Points", "12", "Points", True),
        ("12 goals", "12", "points", False),
        ("$5", "5", "$", True),
        ("€5", "5", "$", False),
        ("$5", "5", "$ million", True),
        ("3.24 million", "3.2", "million", True),
        ("3.24", "3.2", "million", True),
        ("May", "May", "kg", True),
    ],
)
def test_a_bare_number_is_in_the_unit(answer: Any, gold: Any, unit: str, is_right: bool) -> None:
    assert same_answer(answer, gold, unit=unit) is is_right


@pytest.mark.parametrize(
    ("answer", "gold", "is_right"),
    [
        ("B", "two", True),
        ("(b)", "two", True),
        ("B. two", "two", True),
        ("two", "B", True),
        ("A, B", ["one", "two"], True),
        ("A", "two", False),
        ("B. one", "two", False),
        ("C", "two", False),
    ],
)
def test_the_letter_of_a_choice_is_the_choice(answer: str, gold: Any, is_right: bool) -> None:
    assert same_answer(answer, gold, choices=["one", "two"]) is is_right


ANSWERS = st.one_of(st.text(max_size=12), st.integers(), st.floats(allow_nan=False, allow_infinity=False))


@given(st.one_of(ANSWERS, st.lists(ANSWERS, max_size=4)))
def test_every_answer_is_right_where_it_is_the_gold_one(answer: Any) -> None:
    assert same_answer(answer, answer)


@given(st.lists(ANSWERS, max_size=4), st.randoms())
def test_lists_are_sets(items: list[Any], random: Any) -> None:
    mixed = random.sample(items, len(items))
    assert same_answer(mixed, items) and same_answer([*mixed, *mixed], items)


WRITTEN = st.text(st.sampled_from("aB1257.,;:-()/%$€ \n|*'\"") | st.characters(codec="utf-8"), min_size=1)


@given(WRITTEN, st.sampled_from(["", "kg", "%", "$ million", "a"]), st.sampled_from([None, "a; b", "B; 5"]))
def test_the_gold_text_itself_is_always_right(text: str, unit: str, choices: str | None) -> None:
    assume(text.strip() and text.strip().casefold() not in ("decline", "declined"))
    row = {
        "id": "1",
        "question": "Which?",
        "answer": text,
        "unit": unit,
        "choices": choices,
        "folder": Path(),
    }
    assert ValueRule().right(text, Questions().problem(row, {}))


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


def test_the_unit_and_the_choices_of_a_row_decide(tmp_path: Path) -> None:
    text = "question,answer,unit,choices,tolerance\nHow much?,12,kg,,0.5\nWhich?,two,,one; two,\n"
    heavy, chosen = problems(tmp_path, text)
    right = ValueRule().right
    assert (
        right("12400 g", heavy) and not right("12 g", heavy) and right("b", chosen) and not right("a", chosen)
    )


@pytest.mark.parametrize(
    ("answer", "tolerance", "told"),
    [("12", "abc", "tolerance 'abc' is no number"), ("decline", "", "DECLINE"), ("Declined", "", "DECLINE")],
)
def test_a_tolerance_that_is_no_number_and_a_small_decline_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, answer: str, tolerance: str, told: str
) -> None:
    with caplog.at_level(logging.WARNING, "chameleon"):
        found = problems(tmp_path, f"question,answer,tolerance\nA?,{answer},{tolerance}\nB?,DECLINE,\n")
    assert [each.to_decline for each in found] == [True] and told in caplog.text

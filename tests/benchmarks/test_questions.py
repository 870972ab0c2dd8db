"""Questions of your own: how rows are read, and what counts as right."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chameleon.benchmarks.questions import Questions
from chameleon.benchmarks.scorers.own_answers import ValueRule, same_answer
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.shared_data import problems_in

Log = pytest.LogCaptureFixture
RIGHT = """
gus north = Gus North | “Gus North” = Gus North | $1,250 = 1250 | 12% = 12 % | $(5) = -$5 | 1.5 km = 1500 m
5'11" = 5 ft 11 in | 1,5 km = 1,5 km | 149 min = 2 h 29 min | 02:29 = 2:29 | 3.24 million = 3.2 million
3240000 = 3.2 million | 67166.67 = 67,166.67 | May 4, 2024 = 2024-05-04 | **May 4, 2024** = 2024-05-04
2024-05-04 = 4 May 2024 | 2024-05 = May 2024 | 2003-04 = 2003-2004 | 2024-05-04 00:00:00 = 2024-05-04
2024-05-04 14:30 = 2024-05-04 | 2024-05-04 = 2024-05-04 (Saturday) | May (actress) = may (Actress)
5 (Chelsea) = 5 | 5; 5 = 5 | yes = true
"""
WRONG = """
Gus South = Gus North | 12 km = 12 m | 12 = 12.5 | 3.26 million = 3.2 million | 12 m (39 ft) = 12 m (40 ft)
2:29:00 = 2:29 | 2024-07 = 2024-05 | 2024 = 2024-05 | 2024-05 = 2024 | 2003-05 = 2003-04 | a, b = a | five = 5
2024-05-04 14:30 = 2024-05-04 15:30 | 2024-05-04 = 2024-05-04 15:30 | 5 (Chelsea) = 5 (Arsenal)
May (actress) = May (singer) | May = May (singer)
"""
VALUES: list[tuple[Any, list[Any], list[Any]]] = [  # the gold answer, what is right, and what is wrong
    ("Cafe\u0301", ["Caf\u00e9"], []),
    ("Gus North", [["Gus North"]], []),
    ("67,166.67", [67166.6667], [67166.66]),
    (67166.67, ["67166.67"], []),
    (9876543210, [], [9876543211]),
    (1234567890.1, [], ["1234567890.9"]),
    ("12", [], [12.4]),
    ("12.0", [12], []),
    ("11.999999999999998", [12], []),
    (12, ["**12**"], []),
    (-5, ["(5)"], []),
    (1.5e-05, [1.52e-05], [1.6e-05]),
    (["a", "b"], [["b", "a"]], [["a"], ["a", "b", "c"]]),
    (["b", "a"], ["a; b", ["a", "a", "b"]], []),
    (["a", "b", "c"], ["a, b and c"], ["a; b, c"]),
    (["Trinidad and Tobago", "Kenya"], ["Trinidad and Tobago; Kenya", "Kenya, Trinidad and Tobago"], []),
    (["Trinidad and Tobago", "Kenya", "Peru"], ["Kenya, Trinidad and Tobago, and Peru"], []),
    (["Smith, John", "Doe, Jane"], ["Smith, John; Doe, Jane"], ["John Smith; Jane Doe"]),
    (["Washington, D.C.", "Boston"], ["Boston and Washington, D.C."], []),
    (["2024-05-04", "2024-06-05"], ["May 4, 2024; June 5, 2024"], []),
    (["Rome", "Paris"], ["- Paris\n- Rome", "1. Paris\n2. Rome"], []),
    (["1. May", "2. May"], [], ["3. May; 4. May"]),
    ("one\nline two", ["one line two"], []),
    ("yes", [True], []),
    ("true", [True], []),
    (False, ["no"], []),
    ("no", [], [True]),
    ("1", [], [True]),
    ("a", [], [""]),
]


def pairs(table: str) -> list[list[str]]:
    return [pair.split(" = ") for line in table.strip().splitlines() for pair in line.split(" | ")]


@pytest.mark.parametrize(("gold", "right", "wrong"), VALUES)
def test_the_same_value_is_right_however_it_is_written(gold: Any, right: list[Any], wrong: list[Any]) -> None:
    assert [each for each in [*right, *wrong] if same_answer(each, gold)] == right


def test_the_same_text_is_right_however_it_is_written() -> None:
    assert [pair for pair in pairs(RIGHT) + pairs(WRONG) if same_answer(*pair)] == pairs(RIGHT)


def test_tolerances_units_and_choices() -> None:
    for options, gold, right, wrong in (
        ({"tolerance": "1%"}, "100", [99], [98.9]),
        ({"tolerance": "±1%"}, "100", [99], []),
        ({"tolerance": "0.5"}, "100", [100.5], [100.51]),
        ({"tolerance": "±2"}, "100", [98], [97]),
        ({"tolerance": ""}, "100", [100], []),
        ({"tolerance": "0"}, "100.0", [], [100.4]),
        ({"tolerance": "0.5 kg"}, "10500 g", ["10 kg"], ["9.9 kg"]),
        ({"tolerance": "500"}, "10000 g", ["10.4 kg"], []),
        ({"tolerance": "0.1 million"}, "3.2 million", ["3.3 million"], []),
        ({"tolerance": "1"}, ["5", "6"], [], ["6"]),
        ({"unit": "kg"}, "12", ["12000 g", 12], ["12 g"]),
        ({"unit": "kg"}, 12, ["12 kg"], []),
        ({"unit": "kg"}, "12000 g", ["12"], []),
        ({"unit": "kg"}, "May", ["May"], []),
        ({"unit": "Points"}, "12", ["12 Points"], []),
        ({"unit": "points"}, "12", [], ["12 goals"]),
        ({"unit": "Points"}, "12", ["12 points"], ["12 goals", "12 kg"]),
        ({"unit": "$"}, "5", ["$5"], ["€5"]),
        ({"unit": "$ million"}, "5", ["$5"], []),
        ({"unit": "million"}, "3.2", ["3.24 million", "3.24"], []),
        ({"choices": ["one", "two"]}, "two", ["B", "(b)", "B. two"], ["A", "B. one", "C"]),
        ({"choices": ["one", "two"]}, "B", ["two"], []),
        ({"choices": ["one", "two"]}, ["one", "two"], ["A, B"], []),
    ):
        assert [each for each in [*right, *wrong] if same_answer(each, gold, **options)] == right


ANSWERS = st.one_of(st.text(max_size=12), st.integers(), st.floats(allow_nan=False, allow_infinity=False))


@given(ANSWERS, st.lists(ANSWERS, max_size=4), st.randoms())
def test_the_gold_answer_is_right_and_lists_are_sets(answer: Any, items: list[Any], random: Any) -> None:
    mixed = random.sample(items, len(items))
    assert same_answer(answer, answer) and same_answer(mixed, items) and same_answer([*mixed, *mixed], items)


WRITTEN = st.text(st.sampled_from("aB1257.,;:-()/%$€ \n|*'\"") | st.characters(codec="utf-8"), min_size=1)


@given(WRITTEN, st.sampled_from(["", "kg", "%", "$ million", "a"]), st.sampled_from([None, "a; b", "B; 5"]))
def test_the_gold_text_itself_is_always_right(text: str, unit: str, choices: str | None) -> None:
    assume(text.strip() and text.strip().casefold() not in ("decline", "declined"))
    row = {"id": "1", "question": "Which?", "answer": text, "unit": unit, "choices": choices}
    assert ValueRule().right(text, Questions().problem({**row, "folder": Path()}, {}))


LEAGUE = "Team,Points\nA,5\nB,7\n"


def problems(folder: Path, text: str, name: str = "q.csv", **also: str) -> list[Problem]:
    for file, content in {name: text, "league.csv": LEAGUE, **also}.items():
        (folder / file).write_text(content, "utf-8")
    return problems_in("questions", folder / name)


def test_a_csv_or_a_workbook_has_a_question_a_line_and_tables_beside_it(tmp_path: Path) -> None:
    text = "Question;Answer;Table;Tags;Choices\nWho?;B;league.csv;'a';b;\nWhich?;A;league.csv;x;A\n"
    first, second = problems(tmp_path, text)
    assert (first.id, first.input["question"], first.gold) == ("2", "Who?", "B")
    assert first.input["table"].rows == (("A", "5"), ("B", "7")) and first.input["table"].caption == "league"
    assert second.input["choices"] == ["A"] and second.columns == ("x",)
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["question", "answer", "table"], ["Who?", "B", "league.csv"], ["How many?", 2, "league.csv"]):
        book.active.append(row)
    book.save(tmp_path / "q.xlsx")
    (tmp_path / "league.csv").write_text(LEAGUE, "utf-8")
    found = problems_in("questions", tmp_path / "q.xlsx")
    assert [(each.id, each.gold) for each in found] == [("2", "B"), ("3", "2")]


def test_json_lines_have_lists_numbers_and_ids(tmp_path: Path) -> None:
    rows = [
        {"id": "one", "question": "Which?", "answer": ["A", "B"], "table": "league.csv"},
        {"id": 2, "question": "How many?", "answer": 2, "table": "league.csv; league.csv", "unit": "km"},
        {"question": "Who is nicest?", "answer": "DECLINE", "table": "league.csv"},
    ]
    found = problems(tmp_path, "\n".join(map(json.dumps, rows)), "q.jsonl")
    assert [(each.id, each.gold) for each in found] == [("one", ["A", "B"]), ("2", 2), ("3", "DECLINE")]
    assert found[1].input["unit"] == "km" and len(found[1].input["tables"]) == 1
    assert [each.to_decline for each in found] == [False, False, True]


def test_a_row_that_cannot_be_used_is_told_and_skipped(tmp_path: Path, caplog: Log) -> None:
    text = (
        'id,question,answer,table\n1,"Who\nleads?",B,league.csv\n2,,B,league.csv\n\n3,Who?,,league.csv\n'
        "4,Who?,B,none.csv\n1,Who?,A,league.csv\n5,Who?,B,league.csv\n"
    )
    with caplog.at_level(logging.WARNING, "chameleon"):
        assert [each.id for each in problems(tmp_path, text)] == ["1", "5"]
    told = {4: "no question", 6: "DECLINE", 7: "none.csv", 8: "twice"}
    for record, (line, what) in zip(caplog.records, told.items(), strict=True):
        assert f"q.csv, line {line}:" in record.getMessage() and what in record.getMessage()


def test_odd_tolerances_and_a_small_decline_are_told(tmp_path: Path, caplog: Log) -> None:
    for line, told in {"12,abc": "tolerance 'abc'", "decline,": "DECLINE", "Declined,": "DECLINE"}.items():
        caplog.clear()
        with caplog.at_level(logging.WARNING, "chameleon"):
            found = problems(tmp_path, f"question,answer,tolerance\nA?,{line}\nB?,DECLINE,\n")
        assert [each.to_decline for each in found] == [True] and told in caplog.text


def test_texts_units_and_choices_of_a_row(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "question,answer,text\nWhat?,A,note.txt\n", **{"note.txt": "It is A."})
    assert found.input["text"] == "It is A." and found.input["passages"][0]["text"] == "It is A."
    with pytest.raises(InputError, match="columns question and answer"):
        problems(tmp_path, "a,b\n1,2\n")
    text = "question,answer,unit,choices,tolerance\nHow much?,12,kg,,0.5\nWhich?,two,,one; two,\n"
    heavy, chosen = problems(tmp_path, text)
    right = ValueRule().right
    assert [right(each, heavy) for each in ("12400 g", "12 g")] == [True, False]
    assert [right(each, chosen) for each in ("b", "a")] == [True, False]

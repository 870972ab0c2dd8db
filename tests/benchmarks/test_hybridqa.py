"""HybridQA: reading questions with passages, and exact match and F1 of the words."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Table
from chameleon.benchmarks.hybridqa import Hybridqa, listed_passages
from chameleon.benchmarks.scorers.squad import ExactAndF1, f1, normalized, same_text
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.shared_data import needs_data, problems_in, rows, texts, write_files

HYBRID, RULE = Hybridqa(), ExactAndF1()
ROW: dict[str, Any] = {"id": "q1", "table_id": "Kites_0", "answer": "Ann Example", "answer_source": "passage"}
ROW["question"] = "Who made the kite that flew longest ?"
ROW["context"] = [
    "Kites | Flights | Flights of 1990 | A kite is flown .",
    "passages: Swift: Swift is a kite : it is red | blue . | Lark: The Kite: Ann made it . | Heron:  | ",
]
ROW["table"] = {"caption": "", "header": ["Kite", "Minutes"], "rows": [["Swift", "15"], ["Lark", "20"]]}
RELEASED = {"question_id": "r1", "question": "Who made it ?", "table_id": "Kites_0", "answer-text": "Ann"}
RELEASED["question_postag"] = "WP VBD PRP ."
LINKED: dict[str, Any] = {"title": "Kites", "section_title": "Flights", "section_text": ""}
LINKED |= {"intro": "A kite is flown ."}
LINKED["header"] = [["Kite", []], ["Maker", ["/wiki/Maker"]]]
LINKED["data"] = [[["Swift", ["/wiki/Swift_%28kite%29"]], ["Ann", ["/wiki/Ann", "/wiki/Nobody"]]]]
TEXTS = {"/wiki/Swift_%28kite%29": "Swift is a kite .", "/wiki/Ann": "Ann made kites ."}


def titled(read: Problem) -> dict[str, str]:
    return {each["title"]: each["text"] for each in read.input["passages"]}


def test_a_row_a_reference_without_its_table_and_what_is_missing() -> None:
    read = HYBRID.problem(ROW, {})
    assert (read.id, read.gold, read.columns) == ("q1", "Ann Example", ("passage", "small"))
    assert read.input["table"] == Table(ROW["table"]["header"], ROW["table"]["rows"], "Kites - Flights")
    lark, swift = {"Lark: The Kite": "Ann made it ."}, {"Swift": "Swift is a kite : it is red | blue ."}
    assert titled(read) == {"Kites": "A kite is flown .", "Kites - Flights": "Flights of 1990"} | swift | lark
    row = {"id": "q1", "answer": "Ann", "answer_source": None, "question": "who?", "table_id": "t"}
    read = HYBRID.problem(row, {})
    assert HYBRID.recognizes(row) and (read.input, read.columns) == ({}, ())
    grades = [RULE.grades(said, Problem("q", {}, "The")) for said in (None, "")]
    assert grades == [{"EM": 0, "F1": 0}, {"EM": 1, "F1": 1}]


def test_the_release(tmp_path: Path) -> None:
    table = "WikiTables-WithLinks/tables_tok/Kites_0.json"
    reference = {"reference": {"r1": "Ann"}, "table": ["r1"], "passage": []}
    files: dict[str, Any] = {"released_data/dev.json": [RELEASED]}
    files |= {"released_data/dev_reference.json": reference, table: LINKED}
    files["WikiTables-WithLinks/request_tok/Kites_0.json"] = TEXTS
    data = write_files(tmp_path, files) / "released_data/dev.json"
    [read] = problems_in("hybridqa", data)
    assert (read.id, read.gold, read.columns) == ("r1", "Ann", ("table", "small"))
    assert read.input["table"] == Table(["Kite", "Maker"], [["Swift", "Ann"]], "Kites - Flights")
    linked = {"Swift (kite)": "Swift is a kite .", "Ann": "Ann made kites ."}
    assert titled(read) == {"Kites": "A kite is flown ."} | linked
    found = problems_in("hybridqa", tmp_path / "released_data/dev_reference.json")
    assert [(each.id, each.gold, each.columns) for each in found] == [("r1", "Ann", ("table",))]
    for text in ("", "[]", '{"header": [[]], "data": []}', '{"header": 1}'):
        write_files(tmp_path, {table: text})
        with pytest.raises(InputError):
            problems_in("hybridqa", data)


_WORDS = st.lists(st.text("abcé'", min_size=1, max_size=6), min_size=1, max_size=4).map(" ".join)


@given(st.lists(st.tuples(_WORDS, _WORDS)))
def test_listed_passages_come_back(passages: list[tuple[str, str]]) -> None:
    listed = "".join(f"{title}: {text} . | " for title, text in passages)
    found = [(each["title"], each["text"]) for each in listed_passages(listed)]
    assert found == [(title, f"{text} .") for title, text in passages]


@given(texts, texts)
def test_f1_is_the_same_from_both_sides(said: str, gold: str) -> None:
    assert 0 <= f1(said, gold) == f1(gold, said) <= 1
    assert f1(said, gold) == 1 or not same_text(said, gold)
    assert same_text(said, said) and f1(f"The {said} .", said) == 1
    assert all(each["text"] for each in listed_passages(said))


@needs_data
def test_vectors() -> None:
    vectors = rows("vectors/hybridqa_eval.jsonl")
    for vector in vectors:
        grades = RULE.grades(vector["pred"], Problem("q", {}, vector["gold"]))
        assert (grades["EM"], round(grades["F1"], 6)) == (vector["em"], vector["f1"]), vector["id"]
        assert normalized(vector["gold"]) == vector["gold_norm"], vector["id"]
        assert normalized(vector["pred"]) == vector["pred_norm"], vector["id"]
    assert len(vectors) == 25

"""HybridQA: reading questions with passages, and exact match and F1 of the words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Table
from chameleon.benchmarks.hybridqa import Hybridqa, listed_passages
from chameleon.benchmarks.scorers.squad import ExactAndF1, f1, normalised, same_text
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems, recognised
from chameleon.evaluation.results import Tally
from chameleon.evaluation.score import Field, score
from tests.benchmarks.shared_data import anchors, needs_data, rows
from tests.benchmarks.values import texts
from tests.e2e.commands import Command

HYBRID, RULE = Hybridqa(), ExactAndF1()
ROW: dict[str, Any] = {
    "id": "q1",
    "table_id": "Kites_0",
    "question": "Who made the kite that flew longest ?",
    "answer": "Ann Example",
    "answer_source": "passage",
    "context": [
        "Kites | Flights | Flights of 1990 | A kite is flown .",
        "passages: Swift: Swift is a kite : it is red | blue . | "
        "Lark: The Kite: Ann Example made it . | Heron:  | ",
    ],
    "table": {"caption": "", "header": ["Kite", "Minutes"], "rows": [["Swift", "15"], ["Lark", "20"]]},
}
RELEASED = {
    "question_id": "r1",
    "question": "Who made it ?",
    "table_id": "Kites_0",
    "answer-text": "Ann",
    "question_postag": "WP VBD PRP .",
}
LINKED = {
    "title": "Kites",
    "section_title": "Flights",
    "section_text": "",
    "intro": "A kite is flown .",
    "header": [["Kite", []], ["Maker", ["/wiki/Maker"]]],
    "data": [[["Swift", ["/wiki/Swift_%28kite%29"]], ["Ann", ["/wiki/Ann", "/wiki/Nobody"]]]],
}
TEXTS = {"/wiki/Swift_%28kite%29": "Swift is a kite .", "/wiki/Ann": "Ann made kites ."}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release with one question, beside the tables and pages that it is about."""
    for folder in ("released_data", "WikiTables-WithLinks/tables_tok", "WikiTables-WithLinks/request_tok"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "released_data/dev.json").write_text(json.dumps([RELEASED]))
    reference = {"reference": {"r1": "Ann", "r2": "2"}, "table": ["r1"], "passage": []}
    (tmp_path / "released_data/dev_reference.json").write_text(json.dumps(reference))
    (tmp_path / "WikiTables-WithLinks/tables_tok/Kites_0.json").write_text(json.dumps(LINKED))
    (tmp_path / "WikiTables-WithLinks/request_tok/Kites_0.json").write_text(json.dumps(TEXTS))
    return tmp_path


def test_a_row() -> None:
    read = HYBRID.problem(ROW, {})
    assert (read.id, read.gold, read.columns) == ("q1", "Ann Example", ("passage", "small"))
    table = ROW["table"]
    assert read.input["table"] == Table(table["header"], table["rows"], "Kites - Flights")
    assert read.input["passages"] == [
        {"title": "Kites", "text": "A kite is flown ."},
        {"title": "Kites - Flights", "text": "Flights of 1990"},
        {"title": "Swift", "text": "Swift is a kite : it is red | blue ."},
        {"title": "Lark: The Kite", "text": "Ann Example made it ."},
    ]


def test_a_reference_without_its_table_can_be_scored() -> None:
    row = {"id": "q1", "answer": "Ann", "answer_source": None, "question": "who?", "table_id": "t"}
    assert HYBRID.recognises(row)
    read = HYBRID.problem(row, {})
    assert (read.input, read.columns) == ({}, ())


def test_the_release(release: Path) -> None:
    data = release / "released_data/dev.json"
    assert recognised(data).name == "hybridqa"
    (read,) = read_problems(HYBRID, DataFile(data, "question_id"))
    assert (read.id, read.gold, read.columns) == ("r1", "Ann", ("table", "small"))
    assert read.input["table"] == Table(["Kite", "Maker"], [["Swift", "Ann"]], "Kites - Flights")
    assert [(each["title"], each["text"]) for each in read.input["passages"]] == [
        ("Kites", "A kite is flown ."),
        ("Swift (kite)", "Swift is a kite ."),
        ("Ann", "Ann made kites ."),
    ]


def test_the_reference_file(release: Path) -> None:
    data = release / "released_data/dev_reference.json"
    assert recognised(data).name == "hybridqa"
    found = list(read_problems(HYBRID, DataFile(data, "question_id")))
    assert [(each.id, each.gold, each.columns) for each in found] == [
        ("r1", "Ann", ("table",)),
        ("r2", "2", ()),
    ]


def test_predictions_as_the_script_takes_them(release: Path, command: Command) -> None:
    said = release / "predictions.json"
    said.write_text(
        json.dumps([{"question_id": "r1", "pred": "the Ann"}, {"question_id": "r2", "pred": "3"}])
    )
    data = release / "released_data/dev_reference.json"
    found = json.loads(command("score", "hybridqa", str(data), str(said), "--field", "pred", "--json").out)
    assert found["breakdown"]["ALL"] == {"n": 2, "figures": {"EM": 50.0, "F1": 50.0}}
    assert found["breakdown"]["table"] == {"n": 1, "figures": {"EM": 100.0, "F1": 100.0}}


def test_pages_count_in_the_digest_of_the_tables(release: Path) -> None:
    folder = release / "WikiTables-WithLinks"
    before = DataFile(folder).sha256
    (folder / "request_tok/Kites_0.json").write_text("{}")
    assert DataFile(folder).sha256 != before


@pytest.mark.parametrize("text", ["", "[]", '{"header": [[]], "data": []}', '{"header": 1}'])
def test_what_is_no_table_is_told(release: Path, text: str) -> None:
    (release / "WikiTables-WithLinks/tables_tok/Kites_0.json").write_text(text)
    with pytest.raises(InputError):
        list(read_problems(HYBRID, DataFile(release / "released_data/dev.json", "question_id")))


_WORDS = st.lists(st.text("abcé'", min_size=1, max_size=6), min_size=1, max_size=4).map(" ".join)


@given(st.lists(st.tuples(_WORDS, _WORDS)))
def test_listed_passages_come_back(passages: list[tuple[str, str]]) -> None:
    listed = "".join(f"{title}: {text} . | " for title, text in passages)
    assert [(each["title"], each["text"]) for each in listed_passages(listed)] == [
        (title, f"{text} .") for title, text in passages
    ]


@given(texts)
def test_any_list_of_passages_is_read(text: str) -> None:
    assert all(each["text"] for each in listed_passages(text))


@given(texts)
def test_a_text_is_itself_in_any_case_and_with_articles(text: str) -> None:
    assert same_text(text, text) and f1(text, text) == 1
    assert normalised(normalised(text)) == normalised(text) or "'" in text
    assert f1(f"The {text} .", text) == 1


@given(texts, texts)
def test_f1_is_the_same_from_both_sides(said: str, gold: str) -> None:
    assert 0 <= f1(said, gold) == f1(gold, said) <= 1
    assert f1(said, gold) == 1 or not same_text(said, gold)


def test_what_is_missing_is_wrong_even_where_the_answer_is_nothing() -> None:
    asked = Problem("q", {}, "The")
    assert RULE.grades(None, asked) == {"EM": 0, "F1": 0}
    assert RULE.grades("", asked) == {"EM": 1, "F1": 1}


@needs_data
def test_vectors() -> None:
    vectors = rows("vectors/hybridqa_eval.jsonl")
    for vector in vectors:
        grades = RULE.grades(vector["pred"], Problem("q", {}, vector["gold"]))
        assert (grades["EM"], round(grades["F1"], 6)) == (vector["em"], vector["f1"]), vector["id"]
        assert normalised(vector["gold"]) == vector["gold_norm"], vector["id"]
        assert normalised(vector["pred"]) == vector["pred_norm"], vector["id"]
    assert len(vectors) == 25


SAID = {
    "gold": lambda gold: gold,
    "first_word": lambda gold: gold.split(" ")[0],
    "upper_with_the": lambda gold: f"The {gold.upper()}.",
    "drop_last_word": lambda gold: " ".join(gold.split(" ")[:-1]),
    "empty": lambda gold: "",
    "constant_2": lambda gold: "2",
}


@needs_data
@pytest.mark.parametrize("name", SAID)
def test_anchors(name: str) -> None:
    asked = [HYBRID.problem(row, {}) for row in rows("hybridqa/reference.jsonl.gz")]
    said = [{"id": each.id, "prediction": SAID[name](each.gold)} for each in asked]
    tally = Tally(HYBRID.columns, RULE)
    for result in score(asked, said, HYBRID.id_of, Field("prediction"), RULE).results:
        tally.add(result)
    for part, count in {"total": tally.all, **tally.columns}.items():
        for figure, called in (("EM", "exact"), ("F1", "f1")):
            if part in ("table", "passage", "total"):
                value, n = anchors()[f"hybridqa.reference.{name}.{part}_{called}"]
                assert (round(tally.figures(count)[figure] or 0.0, 4), count.n) == (value, n)


@needs_data
def test_every_row_is_read() -> None:
    found = [HYBRID.problem(row, {}) for row in rows("hybridqa/dev.jsonl.gz")]
    assert all(map(HYBRID.recognises, rows("hybridqa/dev.jsonl.gz")))
    titles = [each["title"] for problem in found for each in problem.input["passages"]]
    assert all(titles)
    assert sum("table" in each.columns for each in found) == 185
    assert sum("passage" in each.columns for each in found) == 287

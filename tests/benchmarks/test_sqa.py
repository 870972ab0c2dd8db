"""SQA: reading conversations, and scoring their answers by cells with the original's oddities."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Table
from chameleon.benchmarks.scorers.sqa_rule import CellRule
from chameleon.benchmarks.sqa import Sqa
from chameleon.benchmarks.tables.cells import cells_of
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.results import SEQUENCES, Tally
from chameleon.evaluation.score import Field, score
from tests.benchmarks.shared_data import needs_data, problems_in, rows, texts, write_files

SQA, RULE = Sqa(), CellRule()
TABLE: dict[str, Any] = {"table_id": "table_csv/9_1.csv", "caption": "Kites"}
TABLE["header"] = ["Kite", "Colour", "Minutes"]
TABLE["rows"] = [["Swift", "red", "15"], ["Lark", "blue", "20"], ["Heron", "red", "20"]]
ROW: dict[str, Any] = {"id": "ns-1", "annotator": 0, "position": 0, "question": "which kites are red?"}
ROW |= {"table_id": TABLE["table_id"], "answer_text": ["Swift", "Heron"]}
ROW["answer_coordinates"] = [[0, 0], [2, 0]]
SINGLE = {"id": "sqa-1", "query": "which?", "label": ["red", "blue"], "table": TABLE, "context": ""}
NEXT = {**ROW, "position": 1, "question": "which of those flew longest?"}
NEXT |= {"answer_coordinates": [[2, 0]], "answer_text": ["Heron"]}
RELEASE = (
    "id\tannotator\tposition\tquestion\ttable_file\tanswer_coordinates\tanswer_text\n"
    "ns-1\t0\t0\twhich kites are red?\ttable_csv/9_1.csv\t['(0, 0)', '(2, 0)']\t['Swift', 'Heron']\n"
    'ns-1\t0\t1\t"which is ""the"" kite?"\ttable_csv/9_1.csv\t[\'(1, 0)\']\t"[\'Lark\', ""o\'clock""]"\n'
)


def problem(**changes: Any) -> Problem:
    return SQA.problem({**ROW, **changes}, {TABLE["table_id"]: TABLE})


def test_a_row() -> None:
    read = problem(**NEXT)
    assert (read.id, read.sequence, read.position) == ("ns-1/0/1", "ns-1/0", 1)
    assert read.gold == ["Heron"] and read.detail["coordinates"] == {"(2, 0)"}
    assert read.columns == ("question 2", "small")
    table = Table(TABLE["header"], TABLE["rows"], "Kites")
    assert read.input == {"question": NEXT["question"], "table": table}


def test_the_release(tmp_path: Path) -> None:
    table = 'Kite,Colour\nSwift,"red, dark"\nLark,"the ""blue"""\n'
    data = write_files(tmp_path, {"some.tsv": RELEASE, "table_csv/9_1.csv": table}) / "some.tsv"
    first, second = problems_in("sqa", data)
    assert first.detail["coordinates"] == {"(0, 0)", "(2, 0)"} and first.gold == ["Swift", "Heron"]
    assert first.input["table"] == Table(["Kite", "Colour"], [["Swift", "red, dark"], ["Lark", 'the "blue"']])
    assert second.input["question"] == 'which is "the" kite?' and second.gold == ["Lark", "o'clock"]
    assert second.sequence == first.sequence


def test_a_row_of_tablerag_stands_alone() -> None:
    [row] = SQA.rows([SINGLE], Path("rows.jsonl"))
    assert SQA.recognizes(row)
    read = SQA.problem(row, {})
    assert (read.sequence, read.gold, read.columns) == ("", ["red", "blue"], ("without history", "small"))
    assert SQA.scorers["tablerag"]().right("The Red", read)
    with pytest.raises(InputError, match="needs the cells"):
        RULE.right("red", read)


RIGHT: list[Any] = [
    *([[0, 0], [2, 0]], ((2, 0), (0, 0), (2, 0)), ["(2, 0)", "(0, 0)"], "['(0, 0)', '(2, 0)']"),
    *(["swift", "HERON"], "Swift | Heron", "['Swift', 'Heron']"),
]
WRONG = [None, "", [], [[0, 0]], ["(0,0)", "(2, 0)"], "Swift", ["Swift", "kite"], "[(0, 0), (2, 0)]", 3, {}]


def test_right_and_wrong_and_texts_in_the_table() -> None:
    assert [said for said in [*RIGHT, *WRONG] if RULE.right(said, problem())] == RIGHT
    assert RULE.from_run("Swift", {"coordinates": [[2, 0]]}, problem()) == [[2, 0]]
    assert RULE.from_run("Swift", {}, problem()) == "Swift"
    bare = SQA.problem(ROW, {})
    assert RULE.right([[0, 0], [2, 0]], bare)
    with pytest.raises(InputError, match="needs the table"):
        RULE.right("Swift", bare)
    table = problem().input["table"]
    assert cells_of("20", table) == [(1, 2)] and cells_of(["20", "20"], table) == [(1, 2), (2, 2)]
    assert cells_of(["red", "20"], table) == [(0, 1), (1, 2)]
    assert cells_of("Lark\nHeron", table) == [(1, 0), (2, 0)]
    assert cells_of(["20", "20", "20"], table) is cells_of("no kite", table) is None


@given(st.data())
def test_the_texts_of_cells_are_cells_that_read_the_same(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 3))
    row = st.lists(texts, min_size=width, max_size=width)
    table = Table(data.draw(row), data.draw(st.lists(row, min_size=1, max_size=4)))
    places = [(at, column) for at in range(len(table.rows)) for column in range(width)]
    chosen = data.draw(st.lists(st.sampled_from(places), min_size=1, unique=True))
    said = [table.rows[at][column] for at, column in chosen]
    found = cells_of(said, table)
    assert found is not None and len(set(found)) == len(chosen)
    for text, (at, column) in zip(said, found, strict=True):
        assert " ".join(table.rows[at][column].split()).casefold() == " ".join(text.split()).casefold()


@needs_data
def test_vectors_and_gold_texts_that_are_found_again_in_most_tables() -> None:
    vectors = rows("vectors/sqa_eval.jsonl")
    names = ("id", "annotator", "position", "answer_coordinates")
    for vector in vectors:
        gold, said = ([dict(zip(names, row, strict=True)) for row in vector[key]] for key in ("gold", "pred"))
        tally, asked = Tally(SQA.columns, RULE), [SQA.problem(row, {}) for row in gold]
        scored = score(asked, said, SQA.id_of, Field("answer_coordinates"), RULE, last_counts=True)
        for result in filter(None, scored.results):
            tally.add(result)
        sequences = tally.columns[SEQUENCES]
        counts = (tally.all.correct, tally.all.n, sequences.correct, sequences.n)
        of_counts = ("ans_correct", "ans_total", "seq_correct", "seq_total")
        assert vector["expected"] == dict(zip(of_counts, counts, strict=True)), vector["name"]
    assert len(vectors) == 11

    tables = {row["table_id"]: row for row in rows("sqa/tables.jsonl.gz")}
    asked = [SQA.problem(row, tables) for row in rows("sqa/dev.jsonl.gz")]
    right = sum(RULE.right(each.gold, each) for each in asked)
    assert (right, len(asked)) == (2163, 2265)

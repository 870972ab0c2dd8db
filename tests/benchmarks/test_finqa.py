"""FinQA: reading reports and predictions of each form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon import State, Table
from chameleon.benchmarks.finqa import Finqa, line_as_text
from chameleon.benchmarks.finqa_gold import FinqaGold
from chameleon.errors import InputError
from tests.benchmarks.doubles import write_files
from tests.e2e.commands import Command

FINQA = Finqa()
_HEADER, _DUES = ["( in thousands )", "2011", "2010"], ["harbour dues", "$ 1250", "900"]
LINES = [_HEADER, _DUES, ["ferry fares", "310", "290"]]
ROW: dict[str, Any] = {
    "id": "PORT/2011/page_4.pdf-1",
    "filename": "PORT/2011/page_4.pdf",
    "pre_text": ["the port is small .", "dues rose ."],
    "post_text": ["fares rose to 310 ."],
    "table": LINES,
    "qa": {
        "question": "what was the percentage change in harbour dues from 2010 to 2011?",
        "answer": "38.9%",
        "program": "subtract(1250, 900), divide(#0, 900)",
        "exe_ans": 0.38889,
        "gold_inds": {"table_1": "the harbour dues of 2011 is $ 1250 ;", "text_2": "fares rose to 310 ."},
    },
}
SINGLE: dict[str, Any] = {
    "id": "dev-0001",
    "question": "did dues rise?",
    "table": LINES,
    "retrieved_context": [
        "( in thousands ) the harbour dues of 2011 is $ 1250 ; the harbour dues of 2010 is 900 ;",
        "dues rose .",
    ],
    "program": "greater(1250, 900)",
    "exe_ans": "yes",
    "invalid": 0,
}


def test_a_report() -> None:
    read = FINQA.problem(ROW, {})
    assert (read.id, read.gold, read.columns) == (ROW["id"], 0.38889, ("table and text", "2 steps"))
    assert read.input == {
        "question": ROW["qa"]["question"],
        "table": Table(LINES[0], LINES[1:]),
        "passages": [
            {"title": "", "text": "the port is small .", "place": "before"},
            {"title": "", "text": "dues rose .", "place": "before"},
            {"title": "", "text": "fares rose to 310 .", "place": "after"},
        ],
    }
    assert read.detail["facts"] == ["table_1", "text_2"] and read.detail["answer"] == "38.9%"


def test_no_gold_data_is_given_to_a_run() -> None:
    told = json.dumps(FINQA.problem(ROW, {}).input, default=lambda table: table.to_json())
    assert "38.9" not in told and "subtract" not in told and "text_2" not in told


def test_a_question_with_what_was_retrieved_for_it() -> None:
    """Its sentences that are lines of the table are left out: the table has them."""
    read = FINQA.problem(SINGLE, {})
    assert read.input["passages"] == [{"title": "", "text": "dues rose ."}]
    assert (read.gold, read.columns, read.detail["facts"]) == ("yes", ("1 step", "yes/no"), None)


def test_a_question_of_the_private_test_set_has_no_gold() -> None:
    read = FINQA.problem({**ROW, "qa": {"question": "what?"}}, {})
    assert (read.gold, read.columns) == (None, ())
    with pytest.raises(InputError, match="need the gold program"):
        FINQA.scorers["official"]().judged("add(1, 2)", read)


def test_a_line_as_the_published_retriever_reads_it() -> None:
    text = "( in thousands ) the ferry fares of 2011 is 310 ; the ferry fares of 2010 is 290 ;"
    assert line_as_text(LINES[0], LINES[2]) == text


def test_the_ceiling_gives_nothing_but_the_gold_facts() -> None:
    read = FinqaGold().problem(ROW, {})
    assert read.input["table"] == Table(LINES[0], [LINES[1]])
    assert [each["text"] for each in read.input["passages"]] == ["fares rose to 310 ."]
    assert read.detail["lines"] == LINES and not FinqaGold().recognises(ROW)
    with pytest.raises(InputError, match="gold facts are not known"):
        FinqaGold().problem(SINGLE, {})


def test_official_predictions(tmp_path: Path, command: Command) -> None:
    """A list of tokens for each id, as the original script takes them."""
    right = ["subtract(", "1250", "900", ")", "divide(", "#0", "900", ")", "EOF"]
    rewritten = ["divide(", "1250", "900", ")", "subtract(", "#0", "const_1", ")", "EOF"]
    wrong = ["add(", "1", "2", ")", "EOF"]
    predicted = zip((ROW["id"], "b", "c"), (right, rewritten, wrong), strict=True)
    said = [{"id": id, "predicted": tokens} for id, tokens in predicted]
    every = [{**ROW, "id": each["id"]} for each in said]
    write_files(tmp_path, {"dev.json": every, "said.json": said})
    files = (str(tmp_path / name) for name in ("dev.json", "said.json"))
    found = json.loads(command("score", "finqa", *files, "--json").out)
    assert found["n"] == 3
    assert found["figures"]["execution accuracy"] == pytest.approx(200 / 3)
    assert found["figures"]["program accuracy"] == pytest.approx(100 / 3)
    assert found["figures"]["execution ± 90 %"] == pytest.approx(44.77, abs=0.01)


def test_what_a_run_found() -> None:
    assert FINQA.found(State(cache={"finqa_program": "add(1, 2)"})) == {"program": "add(1, 2)"}
    assert FINQA.found(State(cache={"program": "ans = 1"})) == {}


def test_runs_are_given_dashes_and_whole_lines() -> None:
    """The release has the dashes of blank cells as 2013 and 2014."""
    lines = [
        ["( in millions )", "2011", "2010", "expires"],
        ["cash", "$ 2014", "2013", "2014"],
        ["loans", "5", "7", "2012"],
        ["fees", "5", "2014%", ""],
        ["year of purchase", "2013", "2014"],
    ]
    problem = Finqa().problem({**ROW, "table": lines}, {})
    assert problem.detail["lines"] == lines and problem.input["table"].rows == (
        ("cash", "$ —", "–", "2014"),
        ("loans", "5", "7", "2012"),
        ("fees", "5", "—%", ""),
        ("year of purchase", "2013", "2014", ""),
    )

"""FeTaQA: its readers, and its grades."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chameleon import Table
from chameleon.benchmarks.fetaqa import Fetaqa
from chameleon.evaluation.benchmark import GradedScorer, Problem
from tests.benchmarks.shared_data import problems_in, write_files

ROW: dict[str, Any] = {"id": 10, "table_id": "dev/7.json", "question": "Which kite flew longest?"}
ROW |= {"answer": "The blue kite flew longest, for 15 minutes.", "highlighted_cell_ids": [[2, 0]]}
TABLE: dict[str, Any] = {"table_id": "dev/7.json", "caption": "Kites - Spring", "header": ["Kite"] * 2}
TABLE["rows"] = [["blue", "15"]]
RELEASED: dict[str, Any] = {"feta_id": 11, "table_source_json": "dev/7.json", "table_page_title": "Kites"}
RELEASED |= {"table_section_title": "Spring", "table_array": [["Kite", "Minutes"], ["blue"]]}
RELEASED |= {"highlighted_cell_ids": [[1, 0]], "question": "Which kite flew?", "answer": "The blue kite did."}
RULE = Fetaqa.scorers["official"]()
assert isinstance(RULE, GradedScorer)


def problem(gold: str = ROW["answer"]) -> Problem:
    return Problem("1", {}, gold)


def figures(said: Any, gold: str, rule: GradedScorer = RULE) -> Mapping[str, float]:
    return rule.overall(rule.judged(said, problem(gold)).grades, 1)


def test_a_row() -> None:
    read = Fetaqa().problem(ROW, {"dev/7.json": TABLE})
    assert (read.id, read.gold, read.columns) == ("10", ROW["answer"], ("small",))
    assert read.input["table"] == Table(["Kite", "Kite"], [["blue", "15"]], "Kites - Spring")
    assert set(read.input) == {"question", "table"}
    recorded = Fetaqa().problem({"order": 1, "id": 3, "question": "who?", "gold": "She did."}, {})
    assert (recorded.input, recorded.gold) == ({}, "She did.")


def test_the_release(tmp_path: Path) -> None:
    release = {"json": {"version": "v1", "split": "dev", "data": [RELEASED]}, "jsonl": [RELEASED]}
    for form, content in release.items():
        name = f"fetaQA-v1_dev.{form}"
        [read] = problems_in("fetaqa", write_files(tmp_path, {name: content}) / name)
        assert read.id == "11" and read.gold == "The blue kite did."
        assert read.input["table"] == Table(["Kite", "Minutes"], [["blue", ""]], "Kites - Spring")


def test_grades() -> None:
    found = figures(ROW["answer"], ROW["answer"])
    assert found == {"BLEU": pytest.approx(100), "ROUGE-1": 1, "ROUGE-2": 1, "ROUGE-L": 1, "BP": 1}
    declined = RULE.judged("The blue kite", problem(), answered=False)
    assert declined.correct is None and declined.grades == RULE.grades("", problem())
    assert figures(None, ROW["answer"])["BLEU"] == 0
    pair, stemmed = ("kite flight", "kites flights"), Fetaqa.scorers["stemmed"]()
    assert isinstance(stemmed, GradedScorer)
    assert figures(*pair)["ROUGE-1"] == 0 and figures(*pair, stemmed)["ROUGE-1"] == 1

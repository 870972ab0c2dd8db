"""FeTaQA: its readers, and its grades."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chameleon import Table
from chameleon.benchmarks.fetaqa import Fetaqa
from chameleon.evaluation.benchmark import GradedScorer, Problem
from tests.benchmarks.doubles import problems_in, write_files

ROW: dict[str, Any] = {
    "id": 10,
    "table_id": "dev/7.json",
    "question": "Which kite flew longest?",
    "answer": "The blue kite flew longest, for 15 minutes.",
    "highlighted_cell_ids": [[2, 0]],
}
TABLE = {
    "table_id": "dev/7.json",
    "caption": "Kites - Spring",
    "header": ["Kite"] * 2,
    "rows": [["blue", "15"]],
}
RELEASED: dict[str, Any] = {
    "feta_id": 11,
    "table_source_json": "dev/7.json",
    "table_page_title": "Kites",
    "table_section_title": "Spring",
    "table_array": [["Kite", "Minutes"], ["blue"]],
    "highlighted_cell_ids": [[1, 0]],
    "question": "Which kite flew?",
    "answer": "The blue kite did.",
}
RULE = Fetaqa.scorers["official"]()
assert isinstance(RULE, GradedScorer)


def problem(gold: str = ROW["answer"]) -> Problem:
    return Problem("1", {}, gold)


def figures(*pairs: tuple[Any, str], rule: GradedScorer = RULE) -> Mapping[str, float]:
    grades = [rule.judged(prediction, problem(gold)).grades for prediction, gold in pairs]
    return rule.overall({name: sum(each[name] for each in grades) for name in grades[0]}, len(grades))


class TestReader:
    def test_a_row(self) -> None:
        read = Fetaqa().problem(ROW, {"dev/7.json": TABLE})
        assert (read.id, read.gold, read.columns) == ("10", ROW["answer"], ("small",))
        assert read.input["table"] == Table(["Kite", "Kite"], [["blue", "15"]], "Kites - Spring")
        assert set(read.input) == {"question", "table"}

    @pytest.mark.parametrize("form", ["jsonl", "json"])
    def test_the_release(self, form: str, tmp_path: Path) -> None:
        whole = {"version": "v1", "split": "dev", "data": [RELEASED]}
        name = f"fetaQA-v1_dev.{form}"
        files = {name: [RELEASED] if form == "jsonl" else whole}
        [read] = problems_in("fetaqa", write_files(tmp_path, files) / name)
        assert read.id == "11" and read.gold == "The blue kite did."
        assert read.input["table"] == Table(["Kite", "Minutes"], [["blue", ""]], "Kites - Spring")

    def test_a_recorded_row_can_be_graded(self) -> None:
        read = Fetaqa().problem({"order": 1, "id": 3, "question": "who?", "gold": "She did."}, {})
        assert (read.input, read.gold) == ({}, "She did.")


class TestGrades:
    def test_the_reference_itself(self) -> None:
        found = figures((ROW["answer"], ROW["answer"]))
        assert found == {"BLEU": pytest.approx(100), "ROUGE-1": 1, "ROUGE-2": 1, "ROUGE-L": 1, "BP": 1}

    def test_it_is_what_sacrebleu_gives_for_the_corpus(self) -> None:
        sacrebleu = pytest.importorskip("sacrebleu")
        said = ["The red kite, 12 minutes.", "", "Nobody flew longest"]
        gold = ["The red kite flew 12 minutes.", "The blue one did.", "Nobody flew."]
        expected = sacrebleu.corpus_bleu(said, [gold])
        found = figures(*zip(said, gold, strict=True))
        assert found["BLEU"] == pytest.approx(expected.score, abs=1e-9) and found["BP"] == expected.bp

    def test_what_was_not_answered_is_an_empty_text(self) -> None:
        declined = RULE.judged("The blue kite", problem(), answered=False)
        assert declined.correct is None and declined.grades == RULE.grades("", problem())
        assert figures((None, ROW["answer"]))["BLEU"] == 0

    def test_stems(self) -> None:
        rule = Fetaqa.scorers["stemmed"]()
        assert isinstance(rule, GradedScorer)
        pair = ("kite flight", "kites flights")
        assert figures(pair)["ROUGE-1"] == 0 and figures(pair, rule=rule)["ROUGE-1"] == 1

"""FeTaQA: its readers, its grades, and the figures measured with sacreBLEU and rouge_score."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Table
from chameleon.benchmarks.fetaqa import Fetaqa
from chameleon.evaluation.benchmark import GradedScorer, Problem
from chameleon.evaluation.data import DataFile, read_problems, recognised
from chameleon.evaluation.results import Result, Tally
from tests.benchmarks.doubles import texts
from tests.benchmarks.shared_data import DATA, anchors, needs_data, rows
from tests.e2e.commands import Command

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
    "header": ["Kite", "Kite"],
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
RUNS = ("t5_small", "t5_base", "t5_large", "tabsqlify_gpt35", "tablecot_davinci002")
RULE = Fetaqa.scorers["official"]()
_KEYS = {"sacrebleu": "BLEU", "bp": "BP", "rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L"}
_STEMMED = {f"rouge{order}_stem": f"ROUGE-{order}" for order in "12L"}

assert isinstance(RULE, GradedScorer)


def problem(gold: str = ROW["answer"]) -> Problem:
    return Problem("1", {}, gold)


def figures(*pairs: tuple[Any, str], rule: GradedScorer = RULE) -> Mapping[str, float | None]:
    tally = Tally((), rule)
    for number, (prediction, gold) in enumerate(pairs):
        judged = rule.judged(prediction, problem(gold))
        tally.add(Result(str(number), prediction, False, judged.correct, grades=judged.grades))
    return tally.figures(tally.all)


class TestReader:
    def test_a_row(self) -> None:
        read = Fetaqa().problem(ROW, {"dev/7.json": TABLE})
        assert (read.id, read.gold, read.columns) == ("10", ROW["answer"], ("small",))
        assert read.input["table"] == Table(["Kite", "Kite"], [["blue", "15"]], "Kites - Spring")
        assert set(read.input) == {"question", "table"}

    @pytest.mark.parametrize("form", ["jsonl", "json"])
    def test_the_release(self, form: str, tmp_path: Path) -> None:
        data = tmp_path / f"fetaQA-v1_dev.{form}"
        whole = {"version": "v1", "split": "dev", "data": [RELEASED]}
        data.write_text(json.dumps(RELEASED if form == "jsonl" else whole) + "\n")
        assert recognised(data).name == "fetaqa"
        (read,) = read_problems(Fetaqa(), DataFile(data, Fetaqa.id_key))
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

    @settings(max_examples=50)
    @given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
    def test_the_order_of_problems_does_not_matter(self, pairs: list[tuple[str, str]]) -> None:
        assert figures(*pairs) == pytest.approx(figures(*reversed(pairs)))


@needs_data
class TestAnchors:
    @pytest.mark.parametrize("run", RUNS)
    def test_recorded_runs(self, command: Command, run: str) -> None:
        data, recorded = (DATA / "fetaqa" / name for name in ("dev_test_half.jsonl.gz", "recorded.jsonl.gz"))
        asked = ("score", "fetaqa", str(data), str(recorded), "--field", run, "--given", "--json")
        found = json.loads(command(*asked).out)
        for key, name in _KEYS.items():
            assert (round(found["figures"][name], 4), found["n"]) == anchors()[f"fetaqa.{run}.{key}"]

    @pytest.mark.parametrize("run", RUNS[:3])
    def test_with_stems(self, command: Command, run: str) -> None:
        data, recorded = (DATA / "fetaqa" / name for name in ("dev_test_half.jsonl.gz", "recorded.jsonl.gz"))
        asked = ("score", "fetaqa", str(data), str(recorded), "--field", run, "--scorer", "stemmed", "--json")
        found = json.loads(command(*asked).out)
        for key, name in _STEMMED.items():
            assert (round(found["figures"][name], 4), found["n"]) == anchors()[f"fetaqa.{run}.{key}"]

    def test_duplicate_headers(self) -> None:
        tables = rows("fetaqa/tables.jsonl.gz")
        twice = sum(len(set(table["header"])) < len(table["header"]) for table in tables)
        assert (twice, len(tables)) == anchors()["fetaqa.duplicate_headers"]

    def test_every_figure_is_compared(self) -> None:
        names = {
            name.split(".", 2)[2]
            for name in anchors()
            if name.startswith(tuple(f"fetaqa.{r}." for r in RUNS))
        }
        assert names == {*_KEYS, *_STEMMED}

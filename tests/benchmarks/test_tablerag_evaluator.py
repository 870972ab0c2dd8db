"""TableRAG's evaluator, over the four benchmarks that it is for, and its rows of TabFact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from chameleon.benchmarks.scorers.tablerag import AnswerRule, LabelRule, label_in
from chameleon.benchmarks.tabfact import Tabfact
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.data import DataFile, read_problems, recognised
from tests.benchmarks.shared_data import DATA, anchors, needs_data, rows
from tests.benchmarks.values import texts
from tests.evaluation.rows import write_rows

ROW: dict[str, Any] = {
    "id": "tabfact-1",
    "table_id": "t",
    "query": "the lark flew 20 minutes",
    "label": "1",
    "context": "",
    "table": {"caption": "kites", "header": ["kite", "minutes"], "rows": [["lark", "20"]]},
}
_GOLD: dict[str, dict[str, str]] = {
    "tabfact": {"1": "yes", "0": "no"},
    "feverous": {"1": "SUPPORTS", "0": "REFUTES", "2": "NOT ENOUGH INFO"},
}


@needs_data
def test_vectors() -> None:
    vectors = rows("vectors/tablerag_eval.jsonl")
    for vector in vectors:
        if "text" in vector:
            assert label_in(vector["text"]) == vector["mapped"], vector["id"]
            continue
        labels = _GOLD.get(vector["dataset"])
        rule = LabelRule() if labels else AnswerRule()
        verdicts = []
        for said, gold in zip(vector["pred"], vector["gold"], strict=True):
            if labels is not None and gold not in labels:  # TabFact has no third label
                verdicts.append(label_in(said) == gold)
            else:
                verdicts.append(rule.right(said, Problem("q", {}, labels[gold] if labels else gold)))
        assert sum(verdicts) / len(verdicts) == vector["score"], vector["id"]
    assert len(vectors) == 22


def test_a_row_of_tabfact(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "small.jsonl", [ROW])
    assert recognised(data).name == "tabfact"
    (read,) = read_problems(Tabfact(), DataFile(data))
    assert (read.id, read.gold, read.columns) == ("tabfact-1", "yes", ("small",))
    assert read.input["question"] == ROW["query"] and read.input["table"].caption == "kites"


def test_labels_of_a_run_are_written_as_tablerag_does() -> None:
    rule, asked = LabelRule(), Problem("q", {}, "REFUTES")
    assert rule.right(rule.from_answer("REFUTES", asked), asked)
    assert not rule.right("REFUTES", asked)
    assert rule.right({"label": "no", "evidence": ["yes"]}, asked)


@given(texts)
def test_a_text_says_one_of_three_labels(text: str) -> None:
    assert label_in(text) in "012"
    assert label_in(f"{text} yes") == "1"


@given(texts)
def test_one_answer_of_several_is_enough(text: str) -> None:
    rule = AnswerRule()
    assert rule.right(f"The {text}", Problem("q", {}, ["nothing like it", text]))
    assert not rule.right(None, Problem("q", {}, [text]))


@needs_data
@pytest.mark.parametrize("label", ["1", "0"])
def test_anchors(label: str) -> None:
    small = DATA / "tablerag/tabfact_small.jsonl.gz"
    verdicts = [LabelRule().right(label, each) for each in read_problems(Tabfact(), DataFile(small))]
    assert anchors()[f"tablerag.tabfact_small.constant_{label}"] == (sum(verdicts), len(verdicts))

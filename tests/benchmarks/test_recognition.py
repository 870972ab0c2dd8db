"""Which benchmark a file of problems is of: each form that is read is of one benchmark alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from chameleon.evaluation.data import find_benchmark, recognised
from chameleon.inventory.resolve import shipped
from tests.benchmarks import (
    test_fetaqa,
    test_feverous,
    test_finqa,
    test_hybridqa,
    test_sara,
    test_sqa,
    test_tabfact,
    test_wikitq,
)
from tests.benchmarks.shared_data import DATA, needs_data
from tests.benchmarks.test_tablerag_evaluator import ROW as STATEMENT

_SINGLE = {"id": "s", "query": "which?", "label": ["red"], "table": test_sqa.TABLE, "context": ""}
_FORMS: list[tuple[str, Mapping[str, Any]]] = [
    ("wikitq", test_wikitq.ROW),
    ("tabfact", test_tabfact.ROW),
    ("fetaqa", test_fetaqa.ROW),
    ("sqa", test_sqa.ROW),
    ("sqa", _SINGLE),
    ("hybridqa", test_hybridqa.ROW),
    ("hybridqa", test_hybridqa.RELEASED),
    ("feverous", test_feverous.ROW),
    ("feverous", test_feverous.RELEASED),
    ("finqa", test_finqa.ROW),
    ("finqa", test_finqa.SINGLE),
    ("sara", test_sara.ROW),
    ("sara", test_sara.AMOUNT),
    ("tabfact", STATEMENT),
]
_FILES = {
    "fetaqa": ("fetaqa/dev.jsonl.gz", "fetaqa/dev_test_half.jsonl.gz"),
    "feverous": ("feverous/dev.jsonl.gz",),
    "finqa": ("finqa/dev_200.jsonl.gz", "finqa/dev_883.jsonl.gz", "finqa/train_100.jsonl.gz"),
    "hybridqa": ("hybridqa/dev.jsonl.gz", "hybridqa/reference.jsonl.gz"),
    "sara": ("sara/cases.jsonl",),
    "scienceqa": ("scienceqa/problems.jsonl.gz",),
    "sqa": ("sqa/dev.jsonl.gz", "tablerag/sqa_small.jsonl.gz"),
    "tabfact": ("tabfact/dev.jsonl", "tabfact/queries.jsonl.gz", "tablerag/tabfact_small.jsonl.gz"),
    "tabmwp": ("tabmwp/dev1k.jsonl.gz",),
    "wikitq": ("wikitq/dev.jsonl", "wikitq/dev_test_half.jsonl"),
}


@pytest.mark.parametrize(("name", "row"), _FORMS)
def test_a_row_is_of_one_benchmark(name: str, row: Mapping[str, Any], tmp_path: Any) -> None:
    path = tmp_path / "data.jsonl"
    every = [find_benchmark(each) for each in shipped("benchmarks")]
    found = [each.name for each in every if all(map(each.recognises, each.rows([row], path)))]
    assert found == [name]


@needs_data
@pytest.mark.parametrize("name", _FILES)
def test_files(name: str) -> None:
    assert {recognised(DATA / file).name for file in _FILES[name]} == {name}

"""What holds for every benchmark: its rows are its own, and its rules judge anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.errors import InputError
from chameleon.evaluation.benchmark import GradedScorer, ValueScorer
from chameleon.evaluation.data import OWN, find_benchmark, recognised
from chameleon.inventory.resolve import shipped
from tests.benchmarks import (
    test_fetaqa,
    test_feverous,
    test_finqa,
    test_hybridqa,
    test_sara,
    test_scienceqa,
    test_sqa,
    test_tabfact,
    test_tabmwp,
    test_wikitq,
)
from tests.benchmarks.doubles import anything, texts
from tests.benchmarks.shared_data import DATA, needs_data

_SINGLE = {"id": "s", "query": "which?", "label": ["red"], "table": test_sqa.TABLE, "context": ""}
_TYPED = {"ques_type": "free_text", "ans_type": "integer_number"}
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
    ("tabfact", test_tabfact.TABLERAG),
    ("tabmwp", test_tabmwp.ROW),
    ("tabmwp", {**test_tabmwp.ROW, **test_tabmwp.FREE, **_TYPED}),
    ("scienceqa", test_scienceqa.ROW),
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
    "wikitq": ("wikitq/dev.jsonl", "wikitq/dev_random_split_1.jsonl", "wikitq/dev_test_half.jsonl"),
}


@pytest.mark.parametrize(("name", "row"), _FORMS)
def test_a_row_is_of_one_benchmark(name: str, row: Mapping[str, Any], tmp_path: Any) -> None:
    path = tmp_path / "data.jsonl"
    every = [find_benchmark(each) for each in shipped("benchmarks")]
    found = [each.name for each in every if all(map(each.recognises, each.rows([row], path)))]
    assert [each for each in found if each != OWN] == [name]  # what no other is known by is your own


@needs_data
@pytest.mark.parametrize("name", _FILES)
def test_files(name: str) -> None:
    assert {recognised(DATA / file).name for file in _FILES[name]} == {name}


_ODD = st.sampled_from(
    [10**5000, "9" * 5000, {"answer": 1}, {"label": None, "evidence": [3]}, {1, 2}, "3/0", "%"]
)
_RULES = [(name, rule) for name in shipped("benchmarks") for rule in find_benchmark(name).scorers]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scorer"), _RULES)
@settings(max_examples=20)
@given(said=anything | _ODD, text=texts)
def test_any_prediction_is_judged(name: str, scorer: str, said: Any, text: str) -> None:
    benchmark = find_benchmark(name)
    rule = benchmark.scorers[scorer]()
    for form, row in _FORMS:
        if form != name or ((name, scorer) == ("sqa", "official") and "answer_coordinates" not in row):
            continue
        if (name, scorer) == ("feverous", "official"):
            row = {**row, "evidence": [["Kite_sentence_3"]]}
        [first] = benchmark.rows([row], Path("rows.jsonl"))
        problem = benchmark.problem(first, {row.get("table_id"): test_sqa.TABLE})
        read = [said, rule.from_value(said, problem), rule.from_run(said, {}, problem)]
        for prediction in read if isinstance(rule, ValueScorer) else [*read, rule.from_output(text, problem)]:
            judged = rule.judged(prediction, problem)
            assert isinstance(rule.right(prediction, problem), bool)
            assert (judged.correct is None) == isinstance(rule, GradedScorer) == bool(judged.grades)


MISSING = object()
_QA = {"question": "a", "program": "add(1, 2)"}
_FAULTS: dict[str, tuple[Mapping[str, Any], dict[str, list[Any]]]] = {  # by the key that is wrong, its values
    "wikitq": (
        test_wikitq.ROW,
        {"id": [None], "answer": ["red", []], "question": [None], "answer_canon": [["red"]]},
    ),
    "sqa": (
        test_sqa.ROW,
        {
            "answer_coordinates": ["red", [[0]]],
            "position": ["first"],
            "answer_text": ["red"],
            "question": [1],
        },
    ),
    "feverous": (
        test_feverous.ROW,
        {
            "label": ["NEI", None],
            "evidence": ["all", [{"content": "all"}], [["nothing"]]],
            "context": ["all"],
        },
    ),
    "hybridqa": (
        test_hybridqa.ROW,
        {"answer": [None], "context": ["all"], "table": [{"header": ["a"]}], "question": [["who"]]},
    ),
    "finqa": (
        test_finqa.ROW,
        {
            "id": [None],
            "qa": [1, {**_QA, "program": 1}, {**_QA, "exe_ans": []}],
            "table": [[], [[]]],
            "pre_text": ["all"],
        },
    ),
    "sara": (test_sara.ROW, {"answer": ["maybe"], "text": [None], "id": [None]}),
    "fetaqa": (test_fetaqa.RELEASED, {"feta_id": [None], "answer": [["a"]], "table_array": [[]]}),
    "scienceqa": (
        test_scienceqa.ROW,
        {"choices": [["one"], None], "answer": [3, True], "question": [" "]},
    ),
    "tabfact": (test_tabfact.ROW, {"label": [2, "1", None, True]}),
    "tabmwp": (
        test_tabmwp.ROW,
        {
            "pid": [None],
            "choices": [MISSING, "red, blue", [1, 2]],
            "answer": [MISSING, 27],
            "question": [MISSING],
            "table": [MISSING],
            "unit": [3],
            "grade": ["four", 9],
            "ques_type": ["essay"],
            "ans_type": [["text"], "date"],
        },
    ),
}
_OTHER_WORDS = {"answer_canon": "1 canonical values", "table_array": "a table needs", "qa": ""}


@pytest.mark.parametrize("name", _FAULTS)
def test_what_will_not_do_is_told(name: str) -> None:
    row, faults = _FAULTS[name]
    benchmark = find_benchmark(name)
    for key, value in ((key, value) for key, values in faults.items() for value in values):
        kept = {of: each for of, each in {**row, key: value}.items() if each is not MISSING}
        with pytest.raises(InputError) as caught:
            [changed] = benchmark.rows([kept], Path("rows.jsonl"))
            benchmark.problem(changed, {test_sqa.TABLE["table_id"]: test_sqa.TABLE})
        told = "header" if (name, key) == ("hybridqa", "table") else _OTHER_WORDS.get(key, key)
        assert told in caught.value.what, (key, value)

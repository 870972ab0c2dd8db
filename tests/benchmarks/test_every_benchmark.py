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
_TYPED = {**test_tabmwp.ROW, **test_tabmwp.FREE, "ques_type": "free_text", "ans_type": "integer_number"}
_ROWS: dict[str, list[Mapping[str, Any]]] = {
    "wikitq": [test_wikitq.ROW],
    "tabfact": [test_tabfact.ROW, test_tabfact.TABLERAG],
    "fetaqa": [test_fetaqa.ROW, test_fetaqa.RELEASED],
    "sqa": [test_sqa.ROW, _SINGLE],
    "hybridqa": [test_hybridqa.ROW, test_hybridqa.RELEASED],
    "feverous": [test_feverous.ROW, test_feverous.RELEASED],
    "finqa": [test_finqa.ROW, test_finqa.SINGLE],
    "sara": [test_sara.ROW, test_sara.AMOUNT],
    "tabmwp": [test_tabmwp.ROW, _TYPED],
    "scienceqa": [test_scienceqa.ROW],
}
_FILES = {
    "fetaqa": "fetaqa/dev.jsonl.gz fetaqa/dev_test_half.jsonl.gz",
    "feverous": "feverous/dev.jsonl.gz",
    "finqa": "finqa/dev_200.jsonl.gz finqa/dev_883.jsonl.gz finqa/train_100.jsonl.gz",
    "hybridqa": "hybridqa/dev.jsonl.gz hybridqa/reference.jsonl.gz",
    "sara": "sara/cases.jsonl",
    "scienceqa": "scienceqa/problems.jsonl.gz",
    "sqa": "sqa/dev.jsonl.gz tablerag/sqa_small.jsonl.gz",
    "tabfact": "tabfact/dev.jsonl tabfact/queries.jsonl.gz tablerag/tabfact_small.jsonl.gz",
    "tabmwp": "tabmwp/dev1k.jsonl.gz",
    "wikitq": "wikitq/dev.jsonl wikitq/dev_random_split_1.jsonl wikitq/dev_test_half.jsonl",
}


@pytest.mark.parametrize("name", _ROWS)
def test_a_row_is_of_one_benchmark(name: str, tmp_path: Path) -> None:
    path, every = tmp_path / "data.jsonl", [find_benchmark(each) for each in shipped("benchmarks")]
    for row in _ROWS[name]:
        found = [each.name for each in every if all(map(each.recognises, each.rows([row], path)))]
        assert [each for each in found if each != OWN] == [name]  # what no other is known by is your own


@needs_data
@pytest.mark.parametrize("name", _FILES)
def test_files(name: str) -> None:
    assert {recognised(DATA / file).name for file in _FILES[name].split()} == {name}


_OBJECTS = ({"answer": 1}, {"label": None, "evidence": [3]}, {1, 2})
_ODD = st.sampled_from([10**5000, "9" * 5000, *_OBJECTS, "3/0", "%"])
_RULES = [(name, rule) for name in shipped("benchmarks") for rule in find_benchmark(name).scorers]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scorer"), _RULES)
@settings(max_examples=20)
@given(said=anything | _ODD, text=texts)
def test_any_prediction_is_judged(name: str, scorer: str, said: Any, text: str) -> None:
    benchmark = find_benchmark(name)
    rule = benchmark.scorers[scorer]()
    for row in _ROWS.get(name, ()):
        if (name, scorer) == ("sqa", "official") and "answer_coordinates" not in row:
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
_QA: dict[str, Any] = {"question": "a", "program": "add(1, 2)"}
_FAULTS: dict[str, dict[str, list[Any]]] = {  # by the benchmark and the key that is wrong, its values
    "wikitq": {"id": [None], "answer": ["red", []], "question": [None], "answer_canon": [["red"]]},
    "sqa": {"answer_coordinates": ["red", [[0]]], "position": ["a"], "answer_text": ["red"], "question": [1]},
    "feverous": {"label": ["NEI", None], "context": ["all"], "evidence": ["", [{"content": ""}], [["no"]]]},
    "hybridqa": {"answer": [None], "context": ["all"], "table": [{"header": ["a"]}], "question": [["who"]]},
    "finqa": {"id": [None], "table": [[], [[]]], "pre_text": ["all"], "qa": [1, {**_QA, "exe_ans": []}]},
    "sara": {"answer": ["maybe"], "text": [None], "id": [None]},
    "fetaqa": {"answer": [["a"]], "table_array": [[]], "feta_id": [None]},
    "scienceqa": {"choices": [["one"], None], "answer": [3, True], "question": [" "]},
    "tabfact": {"label": [2, "1", None, True]},
    "tabmwp": {"pid": [None], "choices": [MISSING, "red, blue", [1, 2]], "answer": [MISSING, 27], "unit": [3]}
    | {"question": [MISSING], "table": [MISSING], "grade": ["four", 9]}
    | {"ques_type": ["essay"], "ans_type": [["text"], "date"]},
}
_OTHER_WORDS = {"answer_canon": "1 canonical values", "table_array": "a table needs", "qa": ""}


@pytest.mark.parametrize("name", _FAULTS)
def test_what_will_not_do_is_told(name: str) -> None:
    row = _ROWS[name][name == "fetaqa"]
    benchmark = find_benchmark(name)
    for key, value in ((key, value) for key, values in _FAULTS[name].items() for value in values):
        kept = {of: each for of, each in {**row, key: value}.items() if each is not MISSING}
        with pytest.raises(InputError) as caught:
            [changed] = benchmark.rows([kept], Path("rows.jsonl"))
            benchmark.problem(changed, {test_sqa.TABLE["table_id"]: test_sqa.TABLE})
        told = "header" if (name, key) == ("hybridqa", "table") else _OTHER_WORDS.get(key, key)
        assert told in caught.value.what, (key, value)

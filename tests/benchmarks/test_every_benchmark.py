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
_FAULTS: dict[str, tuple[Mapping[str, Any], list[tuple[dict[str, Any], str]]]] = {
    "wikitq": (
        test_wikitq.ROW,
        [
            ({"id": None}, 'needs its id as "id"'),
            ({"answer": "red"}, "the key \"answer\" is 'red', and should be a list of texts"),
            ({"answer": []}, 'the key "answer" is []'),
            ({"question": None}, 'the key "question" is None'),
            ({"answer_canon": ["red"]}, "there are 2 answers and 1 canonical values"),
        ],
    ),
    "sqa": (
        test_sqa.ROW,
        [
            ({"answer_coordinates": "red"}, "a list of pairs"),
            ({"answer_coordinates": [[0]]}, "a list of pairs"),
            ({"position": "first"}, "a number from 0"),
            ({"answer_text": "red"}, "a list of texts"),
            ({"question": 1}, "a text"),
        ],
    ),
    "feverous": (
        test_feverous.ROW,
        [
            ({"label": "NEI"}, "one of SUPPORTS"),
            ({"label": None}, "a text"),
            ({"evidence": "all"}, "a list of groups"),
            ({"evidence": [{"content": "all"}]}, "a list of groups"),
            ({"evidence": [["nothing"]]}, "groups of items"),
            ({"context": "all"}, "a list of texts"),
        ],
    ),
    "hybridqa": (
        test_hybridqa.ROW,
        [
            ({"answer": None}, "a text"),
            ({"context": "all"}, "a list of texts"),
            ({"table": {"header": ["a"]}}, '"header" and "rows"'),
            ({"question": ["who"]}, "a text"),
        ],
    ),
    "finqa": (
        test_finqa.ROW,
        [
            ({"id": None}, "needs its id"),
            ({"qa": 1}, "an object"),
            ({"table": []}, "a list of lines"),
            ({"table": [[]]}, "a list of lines"),
            ({"pre_text": "all"}, "a list of texts"),
            ({"qa": {"question": "a", "program": 1}}, "a text"),
            ({"qa": {"question": "a", "exe_ans": []}}, "a number, or yes or no"),
        ],
    ),
    "sara": (
        test_sara.ROW,
        [({"answer": "maybe"}, "Entailment"), ({"text": None}, "a text"), ({"id": None}, "id")],
    ),
    "fetaqa": (
        test_fetaqa.RELEASED,
        [
            ({"feta_id": None}, 'needs its id as "feta_id"'),
            ({"answer": ["a"]}, 'the key "answer" is'),
            ({"table_array": []}, 'a table needs "header" and "rows"'),
        ],
    ),
    "scienceqa": (
        test_scienceqa.ROW,
        [
            ({"choices": ["one"]}, "choices"),
            ({"answer": 3}, "answer"),
            ({"answer": True}, "answer"),
            ({"choices": None}, "choices"),
            ({"question": " "}, "question"),
        ],
    ),
    "tabfact": (
        test_tabfact.ROW,
        [({"label": label}, 'the key "label" is') for label in (2, "1", None, True)],
    ),
    "tabmwp": (
        test_tabmwp.ROW,
        [
            ({"pid": None}, 'needs its id as "pid"'),
            ({"choices": MISSING}, 'the key "choices" is missing, and should be a list of texts or null'),
            ({"answer": MISSING}, 'the key "answer" is missing, and should be a text'),
            *(({key: MISSING}, f'the key "{key}" is missing') for key in ("question", "table")),
            ({"choices": "red, blue"}, "the key \"choices\" is 'red, blue'"),
            ({"choices": [1, 2]}, 'the key "choices" is [1, 2]'),
            ({"answer": 27}, 'the key "answer" is 27'),
            ({"unit": 3}, 'the key "unit" is 3'),
            *(({"grade": grade}, "a whole number from 1 to 8") for grade in ("four", 9)),
            ({"ques_type": "essay"}, "should be one of free_text, multi_choice"),
            *(({"ans_type": kind}, "ans_type") for kind in (["text"], "date")),
        ],
    ),
}


@pytest.mark.parametrize("name", _FAULTS)
def test_what_will_not_do_is_told(name: str) -> None:
    row, faults = _FAULTS[name]
    for changes, told in faults:
        benchmark = find_benchmark(name)
        with pytest.raises(InputError) as caught:
            kept = {key: value for key, value in {**row, **changes}.items() if value is not MISSING}
            [changed] = benchmark.rows([kept], Path("rows.jsonl"))
            benchmark.problem(changed, {test_sqa.TABLE["table_id"]: test_sqa.TABLE})
        assert told in caught.value.what, changes

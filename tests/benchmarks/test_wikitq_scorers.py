"""WikiTableQuestions' rules: the official one, TableCoT's and Binder's, by vectors and by their nature."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.benchmarks.scorers.binder import BinderRule
from chameleon.benchmarks.scorers.denotation import DenotationRule, answers, normal_form, same_denotation
from chameleon.benchmarks.scorers.tablecot import TableCotRule
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.shared_data import needs_data, rows
from tests.benchmarks.values import texts

_KINDS = {"text": "StringValue", "number": "NumberValue", "date": "DateValue"}


def problem(*gold: str, canon: list[str] | None = None, question: str = "who?") -> Problem:
    return Problem("1", {}, list(gold), detail={"canon": canon, "question": question})


@needs_data
def test_vectors_of_the_official_rule() -> None:
    vectors = rows("vectors/wikitq_eval.jsonl")
    for vector in vectors:
        targets = answers(vector["gold"], vector["gold_canon"])
        predicted = answers(vector["pred"])
        assert same_denotation(targets, predicted) is vector["correct"], vector["name"]
        assert sorted(each.text for each in targets) == sorted(vector["gold_norm"]), vector["name"]
        assert sorted(each.text for each in predicted) == sorted(vector["pred_norm"]), vector["name"]
        kinds = sorted(_KINDS[each.identity[0]] for each in predicted)
        assert kinds == sorted(vector["pred_types"]), vector["name"]
    assert len(vectors) == 49


@needs_data
def test_vectors_of_tablecot() -> None:
    vectors = rows("vectors/tablecot_wikitq_eval.jsonl")
    for vector in vectors:
        assert TableCotRule().right(vector["pred"], problem(*vector["gold"].split("|"))) is vector["correct"]
    assert len(vectors) == 14


@needs_data
def test_vectors_of_binder() -> None:
    pytest.importorskip("recognizers_number")
    vectors = [row for row in rows("vectors/binder.jsonl") if row["kind"] == "binder_eval"]
    for vector in vectors:
        asked = problem(*vector["gold"], question=vector["question"])
        assert BinderRule().right(vector["pred"], asked) is vector["correct_semantic"], vector["id"]
    assert len(vectors) == 15


class TestOfficial:
    rule = DenotationRule()

    @pytest.mark.parametrize(
        ("prediction", "gold", "right"),
        [
            (["b", "a"], ("a", "b"), True),
            (("a",), ("a",), True),
            ("a|b", ("a", "b"), False),  # one item; a run's answer is parted, see below
            (32, ("32",), True),
            (32.0, ("32",), True),
            (True, ("yes",), True),
            (False, ("no",), True),
            (None, ("None",), False),
            ([], ("a",), False),
            ("12,467", ("12467",), False),
            ("1_000", ("1000",), False),  # Python 2 reads no underscores
            ("1995-13-01", ("1995-13-1",), False),  # no month: texts
            ("1995-xx-xx", ("1995",), True),
            ("xx-xx-xx", ("xx-xx-xx",), True),
            ("3.9999999", ("3",), True),  # cut, not rounded
            ("X (a).", ("X",), False),
            ("X (a)[1]*", ("X",), True),
            ("[a] [b]", ("[a]",), True),
            ("5´", ("5",), True),
            ("Ⅳ", ("iv",), True),
        ],
    )
    def test_what_is_right(self, prediction: Any, gold: tuple[str, ...], right: bool) -> None:
        assert self.rule.right(prediction, problem(*gold)) is right

    def test_canonical_values_say_what_is_meant(self) -> None:
        known = problem("four", canon=["4.0"])
        assert self.rule.right("4", known) and self.rule.right("four", known)
        assert not self.rule.right("4", problem("four"))

    def test_answers_of_runs_are_parted_by_bars(self) -> None:
        asked = problem("a", "b")
        assert self.rule.right(self.rule.from_answer("a | b", asked), asked)
        assert self.rule.right(self.rule.from_answer(["a", "b"], asked), asked)
        assert self.rule.right(self.rule.from_output("a|b", asked), asked)
        assert self.rule.from_answer(7, asked) == 7

    @given(st.lists(texts, min_size=1, max_size=5))
    def test_an_answer_equals_itself_in_any_order(self, gold: list[str]) -> None:
        assert self.rule.right(gold, problem(*gold))
        assert self.rule.right(gold[::-1], problem(*gold))

    @given(texts, texts)
    def test_single_answers_match_both_ways(self, one: str, other: str) -> None:
        assert self.rule.right([one], problem(other)) == self.rule.right([other], problem(one))

    @given(texts)
    def test_the_normal_form_has_no_space_around_and_no_capitals(self, text: str) -> None:
        form = normal_form(text)
        assert form == form.strip() == form.lower()

    @pytest.mark.parametrize(
        "text", ["[" * 50_000, "[1]" * 20_000 + "x", " (" * 20_000, "9" * 50_000, "*" * 50_000]
    )
    def test_long_texts_take_no_time(self, text: str) -> None:
        assert self.rule.right([text], problem(text))


class TestTableCot:
    rule = TableCotRule()

    @pytest.mark.parametrize(
        ("text", "prediction"),
        [
            ("It won. Therefore, the answer is 2009.", "2009"),
            ('\nThe answer is "B".\nMore.', "B"),
            ("The answer is 3.5.", "The answer is 3.5."),  # no stop may stand inside
            ("I think it is 7.", "I think it is 7."),
        ],
    )
    def test_of_a_text(self, text: str, prediction: str) -> None:
        assert self.rule.from_output(text, problem("x")) == prediction

    def test_lists_are_texts_with_commas(self) -> None:
        assert self.rule.right(["b", "a"], problem("a", "b"))
        assert self.rule.right("a and b", problem("b", "a"))
        assert self.rule.right([4], problem("four"))
        assert not self.rule.right(None, problem("none"))

    @given(texts)
    def test_a_text_equals_itself(self, text: str) -> None:
        if "|" not in text:
            assert self.rule.right(text, problem(text))

    @given(texts, texts)
    def test_single_answers_match_both_ways(self, one: str, other: str) -> None:
        if "|" not in one + other:
            assert self.rule.right(one, problem(other)) == self.rule.right(other, problem(one))


class TestBinder:
    rule = BinderRule()

    @pytest.fixture(autouse=True)
    def _recogniser(self) -> None:
        pytest.importorskip("recognizers_number")

    @pytest.mark.parametrize(
        ("prediction", "gold", "question", "right"),
        [
            (["1"], "home", "was it at home or away?", True),
            (["0"], "home", "was it at home or away?", False),
            (["0"], "away?", "was it at home or away?", True),  # the mark sticks to the word
            (["1"], "it?", "or was it?", True),  # counted from the end
            (["2011-10"], "October 2011", "when?", True),
            (["14"], "14 weeks", "how long?", False),
            (["14"], "14 days", "how long?", True),
            ("14", "14", "how long?", False),  # no list
            (["1991/92"], "1991/92", "when?", True),
        ],
    )
    def test_what_is_right(self, prediction: Any, gold: str, question: str, right: bool) -> None:
        assert self.rule.right(prediction, problem(gold, question=question)) is right

    def test_answers_of_runs_become_lists(self) -> None:
        asked = problem("14")
        assert self.rule.right(self.rule.from_answer(14, asked), asked)
        assert self.rule.right(self.rule.from_answer(["14"], asked), asked)

    def test_long_texts_take_no_time(self) -> None:
        assert self.rule.right(["jan 26, 1995 " * 5_000], problem("jan 26, 1995 " * 5_000))

    def test_the_question_is_needed(self) -> None:
        with pytest.raises(InputError, match="needs the question"):
            self.rule.right(["a"], Problem("1", {}, ["a"]))

    @settings(max_examples=60)
    @given(st.lists(texts, min_size=1, max_size=2))
    def test_an_answer_equals_itself(self, gold: list[str]) -> None:
        assert self.rule.right(gold, problem(*gold))

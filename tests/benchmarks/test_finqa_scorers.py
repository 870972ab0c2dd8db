"""FinQA's rules: equivalence of programs, with its oddities, and answers without their units."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.benchmarks.finqa import Finqa
from chameleon.benchmarks.scorers.finqa_answers import AnswerRule
from chameleon.benchmarks.scorers.finqa_equivalence import equivalent
from chameleon.benchmarks.scorers.finqa_rule import OfficialRule, as_program, tokens_in
from chameleon.errors import InputError, MissingPackage
from chameleon.evaluation.benchmark import Problem
from chameleon.modules.reports.finqa_program import tokens_of

OFFICIAL, ANSWER = OfficialRule(), AnswerRule()
PRECISION = Finqa.scorers["pot"]()


def same(gold: str, said: str) -> bool:
    return equivalent(tokens_of(gold), tokens_of(said))


def problem(gold: Any = 0.56197, answer: str | None = None, question: str = "how many?") -> Problem:
    row = {
        "id": "p",
        "question": question,
        "table": [["", "2011"], ["dues", "5"]],
        "retrieved_context": [],
        "program": "divide(25048, 44572)" if not isinstance(gold, str) else "greater(2, 1)",
        "exe_ans": gold,
        "answer": answer,
    }
    return Finqa().problem(row, {})


class TestEquivalence:
    @pytest.mark.parametrize(
        ("gold", "equal", "others"),
        [
            ("add(5, 3)", "add(3, 5); multiply(5, 3), add(5, 3)", ""),  # a step that is not used
            ("add(5, 3)", "", "add(#0, 3); add(5, #-1); add(5, 3), add(5, #-1); sum(5, 3)"),
            ("add(5, 3)", "", "add(5, 3; greater(5, 3)"),
            ("add(5, 3)", "", "multiply(5, 3); greater(5, 3), add(#0, 3); subtract(5, 5), divide(3, #0)"),
            ("subtract(5, 3)", "", "subtract(3, 5)"),
            ("subtract(5, 3), divide(#0, 3)", "divide(5, 3), divide(3, 3), subtract(#0, #1)", ""),
            ("multiply(5, 3), divide(#0, 2)", "divide(5, 2), multiply(3, #0)", ""),
            ("multiply(5, 2)", "", "add(5, 5)"),  # equal in value, not for every number
            ("exp(5, 2)", "exp(5, 2)", ""),
            ("divide(5, 3), subtract(#0, 3)", "divide(5, 3), subtract(##0, 3)", ""),
            ("add(5, const_100)", "", "add(5, 100)"),  # arguments are compared as they are written
            ("add(5.0, 3)", "", "add(5, 3)"),
            ("greater(5, 3)", "", "greater(3, 5)"),
        ],
    )
    def test_expressions(self, gold: str, equal: str, others: str) -> None:
        assert all(same(gold, each) for each in equal.split("; ") if equal)
        assert not any(same(gold, each) for each in others.split("; "))

    def test_a_step_over_a_table_must_stand_where_it_stands(self) -> None:
        """All steps but the first are cut out with a bar before them, and are other steps then."""
        gold = "table_sum(dues, none), divide(#0, 2)"
        assert same(gold, gold)
        assert not same(gold, "add(2, 2), table_sum(dues, none), divide(#1, 2)")
        second = "add(2, 2), table_sum(dues, none), divide(#1, #0)"
        assert same(second, "multiply(2, 2), add(2, 2), table_sum(dues, none), divide(#2, #1)")

    def test_a_program_that_grows_without_end_is_wrong(self) -> None:
        steps = ["add(5, 3)", *(f"multiply(#{number}, #{number})" for number in range(60))]
        assert not same("add(5, 3)", ", ".join(steps))
        towers = ["exp(5, 3)", *(f"exp(#{number}, #{number})" for number in range(7))]
        assert not same("exp(5, 3)", ", ".join(towers))

    def test_a_gold_program_that_is_none_is_told(self) -> None:
        with pytest.raises(InputError, match="gold program cannot be read"):
            same("nothing", "add(1, 2)")

    def test_sympy_is_asked_only_where_it_must_be(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sympy", None)
        assert same("add(5, 3)", "add(5, 3)") and not same("add(5, 3)", "subtract(5, 3)")
        with pytest.raises(MissingPackage) as told:
            same("add(5, 3)", "add(3, 5)")
        assert "chameleon-compose[programs]" in told.value.hint


OPERATIONS: dict[str, Any] = {"add": add, "subtract": sub, "multiply": mul, "divide": truediv}
_number = st.sampled_from(["5", "3", "2", "#0", "#1"])
_step = st.builds("{}({}, {})".format, st.sampled_from([*OPERATIONS]), _number, _number)
_steps = st.lists(_step, min_size=1, max_size=3).map(", ".join)


@given(_steps)
def test_a_program_is_equivalent_to_nothing_but_what_it_means(program: str) -> None:
    """Against its value in fractions, with numbers that have nothing in common."""
    numbers = {"5": Fraction(71, 3), "3": Fraction(13, 11), "2": Fraction(17)}
    values: list[Fraction | None] = []
    for operation, *arguments in re.findall(r"(\w+)\((\S+), (\S+)\)", program):
        sides: list[Any] = [numbers.get(each) for each in arguments]
        for place, each in enumerate(arguments):
            if each.startswith("#") and int(each[1:]) < len(values):
                sides[place] = values[int(each[1:])]
        fits = None not in sides and (sides[1] or operation != "divide")
        values.append(OPERATIONS[operation](*sides) if fits else None)
    means = values[-1] == (numbers["5"] - numbers["3"]) / numbers["2"]
    assert same("subtract(5, 3), divide(#0, 2)", program) is means


class TestRuns:
    @pytest.mark.parametrize(
        ("answer", "found", "program"),
        [
            ("56.2%", {"program": "divide(25048, 44572)"}, 1),
            (25048 / 44572, {}, 0),
            ("56.20%", {"value": 25048 / 44572}, 0),  # what a program of another language came to
        ],
    )
    def test_a_program_counts_before_the_answer(self, answer: Any, found: Any, program: int) -> None:
        prediction = OFFICIAL.from_run(answer, found, problem())
        assert OFFICIAL.grades(prediction, problem()) == {"execution": 1, "program": program, "answer": 1}

    def test_a_number_is_a_program_that_adds_nothing(self) -> None:
        assert as_program(25048 / 44572) == "add(0.56197, 0)" and as_program("34.7%") == "add(0.347, 0)"
        assert as_program("nothing") is None and as_program(10**400) is None

    def test_yes_and_no(self) -> None:
        for answer in ("yes", True, "Yes "):
            executed = [OFFICIAL.grades({"answer": answer}, problem(gold)) for gold in ("yes", "no")]
            assert [each["execution"] for each in executed] == [1, 0]

    def test_nothing_is_wrong(self) -> None:
        declined = OFFICIAL.judged("divide(25048, 44572)", problem(), answered=False)
        assert set(declined.grades.values()) == {0.0}

    def test_tokens(self) -> None:
        assert tokens_in(["add(", "1", "2", ")", "EOF"]) == tokens_in("add(1, 2)")
        assert tokens_in(["add(", 1]) is None and tokens_in(None) is None and tokens_in(["a"]) == ["a"]


class TestAnswers:
    @pytest.mark.parametrize(
        ("gold", "right", "wrong"),
        [
            (0.56197, [0.56197, "0.56", "$ 0.562 million", "56%", "56.2 percent"], ["0.57", "1", "0.6"]),
            (0.56197, [], ["56.2"]),  # nobody said that it is a percentage
            (0.03621, ["4%"], []),
            (0.00411, [], ["0"]),
            (5829.0, ["5,829 employees"], []),
            (-16.0, ["-16.0", "(16)", "−16"], ["16"]),
            (7.22222, [["7.22"]], ["7.30"]),
            ("yes", [True, "Yes, it did."], ["no", "3"]),
            ("no", ["no"], []),
            pytest.param(3.0, [], ["none", None, float("nan"), "9" * 5000, [10**5000], 1e300], id="three"),
        ],
    )
    def test_answers(self, gold: Any, right: list[Any], wrong: list[Any]) -> None:
        asked = problem(gold)
        every = [*right, *wrong]
        assert [each for each in every if ANSWER.right(ANSWER.from_answer(each, asked), asked)] == right

    def test_what_annotators_wrote_is_right_too(self) -> None:
        assert ANSWER.right("101 stores", problem(112.5, answer="101 stores created per year"))
        assert ANSWER.right("56.2", problem(0.56197, question="what percent of dues was paid?"))

    def test_a_share_is_not_taken_where_a_question_only_names_per_cent(self) -> None:
        asked = "if 5% of the units are free, what is the average price?"
        assert not ANSWER.right(500, problem(5.0, question=asked))
        assert ANSWER.right(5, problem(5.0, question=asked))

    def test_the_answer_in_a_text(self) -> None:
        text = "2011 and 2010 differ by 3. The answer is 12.\nNo: the final answer is: 0.562"
        assert ANSWER.from_output(text, problem()) == "0.562"


def test_precision() -> None:
    verdicts = {0.56: True, "0.5630": False, "56.2%": True, 0.57: False, None: False}
    for said, right in verdicts.items():
        assert PRECISION.right(PRECISION.from_answer(said, problem()), problem()) is right
    assert PRECISION.right(PRECISION.from_run("56.2%", {"value": 25048 / 44572}, problem()), problem())
    assert PRECISION.right(True, problem("yes")) and PRECISION.right("no", problem("no"))
    assert not PRECISION.right(1.0, problem("yes"))

"""FinQA programs run over a report, where their numbers are, and their value as the question wants it."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import State, Table
from chameleon.errors import ModuleError
from chameleon.modules.reports.report_answer import ReportAnswer, asks_percent, asks_share
from chameleon.modules.reports.report_programs import FinqaExecutor
from chameleon.values import freeze
from tests.modules.reports.pages import PASSAGES, page


def run(program: str, given: Any) -> Any:
    return FinqaExecutor().run(State(input=freeze(given), cache=freeze({"finqa_program": program})))


def test_each_step_has_its_value() -> None:
    output = run("subtract(1250, 900), divide(#0, 900)", page("?"))
    assert output["value"] == 0.38889
    steps = [(each["step"], each["value"]) for each in output["steps"]]
    assert steps == [("subtract( 1250 900 )", 350.0), ("divide( #0 900 )", 0.38889)]


def test_what_cannot_be_run() -> None:
    for program in ("divide(1, 0)", "", "table_sum(ferry fares, none)"):
        with pytest.raises(ModuleError, match="gave no answer"):
            run(program, {})


def test_what_an_answer_rests_on() -> None:
    assert run("divide(45, 1250), add(#0, 900)", page("?"))["sources"] == [
        {"table": "the table", "rows": [1], "columns": ["2011", "2010"], "of": 5},
        {"passage": 5, "text": PASSAGES[4]["text"]},
    ]
    output = run("table_average(ferry fares, none)", page("?"))
    (source,) = output["sources"]
    assert source["rows"] == [2] and source["columns"] == ["2011", "2010", "2009"]
    assert output["value"] == pytest.approx(291.66667)


_ROWS = [["gross margin", "40%", "38%", "35%"], ["fees", "12", "", "9"]]
MARGINS = Table(["", "2011", "2010", "2009"], _ROWS)


def answered(value: Any, question: str, **program: str) -> Any:
    given = freeze({"question": question, "table": MARGINS})
    return ReportAnswer().run(State(input=given, cache=freeze({"program_result": value, **program})))


@pytest.mark.parametrize(
    ("value", "program", "question", "answer"),
    [
        (0.38889, "subtract(1250, 900), divide(#0, 900)", "what was the percentage change?", "38.89%"),
        (0.38889, "subtract(1250, 900), divide(#0, 900)", "what is the ratio?", 0.38889),
        (38.889, "divide(350, 900), multiply(#0, const_100)", "what percent?", "38.89%"),
        (-2.4, "subtract(57.3, 59.7)", "what is the change in percentage points?", -2.4),
        (0.5, "divide(3, 2), subtract(#0, const_1)", "what percent more?", "50.00%"),
        (0.00001, "divide(3, 300000)", "what percentage?", "0.001%"),
        (5.0, "divide(500, 100)", "if 5% of the units are free, what is the average price?", 5),
        (7452.94118, "divide(1267, 17%)", "of what percentage is it the total?", 7452.94118),
        (0.02, "subtract(5%, 3%)", "what is the change in the rate?", "2.00 percentage points"),
        (0.02, "subtract(5%, 3%)", "by how much is it more, in percentage points?", "2.00 percentage points"),
        (0.04, "add(5%, 3%), divide(#0, const_2)", "what is the average rate?", "4.00%"),
        (0.25, "divide(5%, 20%)", "what is the ratio of the rates?", 0.25),
        (0.1, "divide(121, 100), exp(#0, 0.5), subtract(#1, 1)", "what percentage a year?", "10.00%"),
        (0.37667, "table_average(gross margin, none)", "what was the margin?", "37.67%"),
        (12.0, "table_max(fees, none)", "what were the highest fees?", 12),
    ],
)
def test_of_finqas_language(value: Any, program: str, question: str, answer: Any) -> None:
    assert answered(value, question, finqa_program=program) == answer


@pytest.mark.parametrize(
    ("program", "value", "question", "answer"),
    [
        ("a, b = 1250, 900\nans = (a - b) / b", 0.38889, "what was the percentage change?", "38.89%"),
        ("ans = round(45 / 90 * 100, 2)", 50.0, "what percent?", "50.00%"),
        ("ans = 1250 / 900 - 1", 0.38889, "by what percentage did it grow?", "38.89%"),
        ("x = [26.1, 26.3]\nans = sum(x) / len(x)", 26.2, "what was the average percentage?", 26.2),
        ("ans = (26.1 + 26.3) / 2", 26.2, "what was the average percentage?", 26.2),
        ("ans = " + "-" * 60 + "5", 5, "what percent?", 5),
    ],
)
def test_of_python(program: str, value: Any, question: str, answer: Any) -> None:
    assert answered(value, question, program=program) == answer


PERCENT = """
by what per cent did they grow?
dues are what % of income?
as of december 31 2010 percent of dues to income?
"""  # a year is no number of them
SHARE = """
what is the growth rate of dues?
what was the rate of change in dues?
what portion of income were dues?
what share of income were dues?
"""
NEITHER = """
if 5% of the units are free, what is the price?
what is the 12.5 percent fee?
what is the effect of a one-percentage-point increase?
what is the price per share of stock?
what is the interest rate?
"""


@pytest.mark.parametrize(("questions", "asked"), [(PERCENT, (1, 0)), (SHARE, (0, 1)), (NEITHER, (0, 0))])
def test_what_a_question_asks_for(questions: str, asked: tuple[int, int]) -> None:
    for question in questions.strip().splitlines():
        assert (asks_percent(question), asks_share(question)) == asked, question

"""FinQA's programs: what they come to, and what the official evaluator makes of odd ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.modules.reports.finqa_program import END, OPERATIONS, calculated, number_in, tokens_of

_LINES = """
( in thousands ) | 2011 | 2010
harbour dues | $ 1,250 | 900
ferry ( net ) | -32 ( 32 ) | 14
share of freight | 12.5% ( 12.5 % ) | 20%
notes | 2014 | n/a
fees | 1 | 2
fees | 3 | 4
years | 2011 | 2010
"""
LINES = [line.split(" | ") for line in _LINES.strip().splitlines()]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("subtract(1,250, 900), divide(#0, 900)", 0.38889),  # ", " separates, "," does not
        ("multiply(12.5%, const_100)", 12.5),
        ("add(const_m1, 1)", 0.0),
        ("exp(2, 10)", 1024.0),
        ("greater(1, 1)", "no"),
        ("add(1, 1), add(5, 5)", 10.0),  # the last step counts, whether the first is used or not
        ("table_average(harbour dues, none)", 1075.0),
        ("table_max(share of freight, none)", 0.2),  # a percentage with its repetition in brackets
        ("table_min(harbour dues, none), divide(#0, 2)", 450.0),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert calculated(tokens_of(text), LINES) == (value, "")


@pytest.mark.parametrize(
    ("program", "value", "fault"),
    [
        ("table_sum(fees, none)", 7, ""),  # of rows with the same name the last counts
        ("table_max(( in thousands ), none)", None, "'none' is no operation"),  # a name with brackets
        ("table_max(year, none)", 2011, ""),  # the header is a row
        (["add(", "1", "2", ")", "EOF"], 3, ""),  # the last token is dropped, whatever it is
        (["add(", "1", "2", ")", ")"], 3, ""),
        (["add(", "1", "2", ")"], None, ""),
        (["add(", "1", "2", ")", "(add", "1", "5", ")", END], 3, ""),
        (["table_max(", "ferry ( net )", "none", ")", END], None, "step 0 has a parenthesis in an argument"),
        ("greater(2, 1), greater(1, 2), greater(#0, #1)", "yes", ""),  # verdicts are compared as texts
        ("table_sum(fees, none), table_max(#0, none)", 4, ""),  # the row of the step before
        ("add(1, 1), table_max(#0, none)", 2, "an operation on tables needs the name of a row"),
        ([END], None, ""),
        ([], None, ""),
        ("add(1_000, 0)", 1000, ""),  # what Python calls a number is one
        ("divide(2, 3), add(x, 1)", 0.66667, "'x' is no number"),
        ("exp(-8, 0.5), add(x, 1)", None, "'x' is no number"),  # a complex value is none
        ("exp(-8, 0.5), add(1, 1)", 2, ""),
        ([None, "1", "2", ")", END], None, "a token is no text"),
        (["add(", 1, 2, ")", END], None, "a token is no text"),
    ],
)
def test_oddities_of_the_official_evaluator(program: Any, value: Any, fault: str) -> None:
    tokens = tokens_of(program) if isinstance(program, str) else program
    lines = [["year", "2011", "2010"], *LINES] if "year" in str(program) else LINES
    assert calculated(tokens, lines) == (value, fault)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("divide(1, 0)", "it divides by zero"),
        ("exp(10, 1000)", "a number becomes too large"),
        ("exp(-8, 0.5)", "it calculates with a value that is no number"),
        ("greater(2, 1), add(#0, #0)", "it calculates with a value that is no number"),
        ("add(#0, 1)", "'#0' is no earlier step"),
        ("add(const_x, 1)", "'const_x' is no number"),
        ("add(1, 2, 3)", "step 0 does not end after two arguments"),
        ("add(1)", "a step is not an operation with two arguments"),
        ("table_sum(rent, none)", "no row of the table is named 'rent'"),
        ("table_sum(notes, none)", "the row 'notes' has a cell that is no number"),
        ("__import__(os, system)", "'__import__' is no operation"),
    ],
)
def test_faults(text: str, told: str) -> None:
    assert calculated(tokens_of(text), LINES).fault.startswith(told)


def test_numbers() -> None:
    read = {"1,234.5": 1234.5, "-3": -3.0, "5%": 0.05, "const_1000": 1000.0, "const_m1": -1.0, "$ 3": None}
    assert {text: number_in(text) for text in read} == read


_arguments = st.sampled_from(["1", "0", "-2.5", "7%", "const_100", "#0", "#1", "fees", "none", "x (", ""])
_steps = st.tuples(st.sampled_from(OPERATIONS), _arguments, _arguments)


@settings(max_examples=50)
@given(st.lists(_steps, max_size=5))
def test_no_program_raises(steps: list[tuple[str, str, str]]) -> None:
    text = ", ".join(f"{operation}({first}, {second})" for operation, first, second in steps)
    value, fault = calculated(tokens_of(text), LINES)
    assert isinstance(fault, str) and (fault or value is None or isinstance(value, float | int | str))

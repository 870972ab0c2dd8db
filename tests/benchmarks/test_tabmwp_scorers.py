"""The official rules for TabMWP, with the oddities that are parts of them; PromptPG's is tested apart."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from chameleon.benchmarks.scorers import chameleon_rule
from chameleon.benchmarks.scorers.chameleon_rule import ChameleonRule, most_similar, similarity
from chameleon.benchmarks.scorers.program_of_thought import (
    ProgramOfThoughtRule,
    decimal_places,
    floatify,
    read_number,
    same_number,
)
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.tabmwp_problems import NO, UNKNOWN_CHOICES, WEEKEND, YES, choice, number

NAN = float("nan")
HUGE = 10**5000  # Python refuses to write it


# Shared by several rules


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("blue kite", "blue kite", 2.0),
        ("kite", "kite", 2.0),
        ("kite", "kites", 0.0),
        ("kite", "Kite", 0.0),
        ("a blue kite", "a red kite", 2 / 3),
        ("kite", "the kite flew off", 1 / 4),
        ("kite kite", "kite", 1 / 2),  # distinct common words, but all words in the length
        ("a  b", "b", 1 / 3),  # two spaces hold an empty word
        ("", "", 2.0),
    ],
)
def test_similarity(first: str, second: str, alike: float) -> None:
    assert similarity(first, second) == similarity(second, first) == alike


def test_the_first_of_equally_similar_choices() -> None:
    assert most_similar("swimming", ["rowing club", "swimming class", "swimming team"]) == "swimming class"
    assert most_similar("chess", ["rowing", "swimming"]) == "rowing"


@pytest.mark.parametrize(
    ("value", "as_float"),
    [
        (None, None),
        (True, True),
        (False, False),
        (3, 3.0),
        ("3", 3.0),
        (" 2.50 ", 2.5),
        ("1,204", "1,204"),
        ("3/4", "3/4"),
        (Fraction(3, 4), 0.75),
        ([], None),
        ((), None),
        (["7", "8"], 7.0),
        (("east", "west"), "east"),
        ([[1], 2], "[1]"),
        ({"total": 5, "rest": 1}, 5),
        ({"total": "5"}, "5"),
        ({"total": [5]}, [5]),
        ({}, None),
        ({3}, "{3}"),
        (2j, "2j"),
        pytest.param(HUGE, HUGE, id="huge"),
    ],
)
def test_floatify(value: Any, as_float: Any) -> None:
    assert floatify(value) == as_float
    assert type(floatify(value)) is type(as_float)


@pytest.mark.parametrize(
    ("text", "value"), [("3/4", 0.75), ("1,204.5", 1204.5), ("15%", 0.15), ("-2.5", -2.5), ("1/2/9", 0.5)]
)
def test_read_number(text: str, value: float) -> None:
    assert read_number(text) == value


@pytest.mark.parametrize("text", ["", "kite", "1.5/2", "1,000/2", "3/0", "12 kites"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        read_number(text)


@pytest.mark.parametrize(
    ("value", "places"), [(18.0, 1), (3.14, 2), (7, 5), (1e-07, 5), (1.5e-07, 5), (NAN, 5), (1 / 3, 16)]
)
def test_decimal_places(value: Any, places: int) -> None:
    assert decimal_places(value) == places


@pytest.mark.parametrize(
    ("prediction", "gold", "same"),
    [
        (18.04, 18.0, True),
        (3.1, 3.14, True),
        (3.0, 3.04, True),
        (0.333, 1 / 3, True),
        (1e-07, 2e-07, True),
        (2.675, 2.68, False),  # the binary number lies below 2.675
        (7, 7.0, True),
        (7.1, 7, False),
        (NAN, NAN, False),
        (float("inf"), 5.0, False),
        pytest.param(HUGE, 5.0, False, id="huge"),
        ("7", 7.0, False),
        ([7.0], 7.0, False),
        (2j, 2.0, False),
    ],
)
def test_same_number(prediction: Any, gold: float, same: bool) -> None:
    assert same_number(prediction, gold) is same


def test_gold_answers_that_cannot_be_used() -> None:
    for rule in (ChameleonRule(), ProgramOfThoughtRule()):
        with pytest.raises(InputError, match="'seven' should be a number"):
            rule.right(7.0, number("seven"))
        with pytest.raises(InputError, match="type of the answer, 'date', is unknown"):
            rule.right(7.0, Problem(id="4", input={}, gold="7", detail={"ans_type": "date", "choices": None}))


# Chameleon


@pytest.mark.parametrize(
    ("prediction", "problem", "right"),
    [
        (18.04, number("18"), True),
        (3.14, number("3.1"), True),
        (1 / 3, number("1/3"), True),
        (0.333, number("1/3"), True),
        ("1/3", number("1/3"), True),
        ("1/0", number("1/3"), False),
        (NAN, number("3"), False),
        (None, number("3"), False),
        (True, number("1"), False),
        ("$1,204", number("1204"), True),
        ("15%", number("0.15"), True),
        ("12 kites", number("12"), False),
        ("12 kites", number("12", unit="kites"), True),
        ("12 Kites", number("12", unit="kites"), False),  # the unit in its own case only
        ("12", number("1", unit="2"), True),  # wherever it occurs
        (7.0, choice("7", ["5", "7"]), False),
        (7, choice("7", ["5", "7"]), False),
        ("7", choice("7", ["5", "7"]), True),
        ("sunday", WEEKEND, True),
        (" $Sunday ", WEEKEND, True),
        ("on Sunday", WEEKEND, True),
        ("Monday", WEEKEND, False),  # becomes Saturday, which has no more in common
        ("Monday", choice("Saturday", ["Saturday", "Sunday"]), True),
        (None, choice("Saturday", ["Saturday", "Sunday"]), True),
        (None, WEEKEND, False),
        (True, YES, True),
        (True, NO, False),
        (False, NO, True),
        (True, choice("Yes", ["Yes", "No"]), False),
        (True, choice("true", ["true", "false"]), False),
        (["Sunday"], WEEKEND, False),
        ({}, WEEKEND, False),
    ],
)
def test_chameleon(prediction: Any, problem: Problem, right: bool) -> None:
    assert ChameleonRule().right(prediction, problem) is right


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("3 + 15 = 18. The answer is 18.", 18.0),
        ("The answer is 18", 1.0),  # the last character goes, whatever it is
        ("The answer is 18.\n", 18.0),
        ("The answer is 18.\n\n", "The answer is 18.\n\n"),
        ("The answer is 1,204.", "1,204"),
        ("The answer is 6:30 P.M.", "6:30 P.M"),
        ("The answer is 2. No, The answer is 3.", "2. No, The answer is 3"),
        ("The answer is red\nor blue.", "red\nor blue"),
        ("the answer is 18.", "the answer is 18."),
        ("The answer is 8", "The answer is 8"),
        ("18", 18.0),
        ("", ""),
    ],
)
def test_what_chameleon_reads_in_a_text(text: str, answer: Any) -> None:
    assert ChameleonRule().from_output(text, number("1")) == answer


def test_chameleon_needs_the_choices() -> None:
    with pytest.raises(InputError, match="problem 3: the choices of this multiple-choice question"):
        ChameleonRule().right("red", UNKNOWN_CHOICES)
    assert ChameleonRule().from_value(["4"], number("4")) == 4.0
    assert chameleon_rule.normalise(2.00049, (), None) == 2.0


# Program of Thoughts


@pytest.mark.parametrize(
    ("prediction", "problem", "right"),
    [
        (9606, number("9,606"), True),
        (18.04, number("18"), True),
        (0.333, number("1/3"), True),
        ("18", number("18"), False),
        (None, number("18"), False),
        (None, choice("Saturday", ["Saturday", "Sunday"]), False),
        ("Sunday", WEEKEND, True),
        ("sunday", WEEKEND, False),
        ("on Sunday", WEEKEND, False),
        (7.0, choice("7", ["5", "7"]), False),
        (True, YES, True),
        (False, NO, True),
        (False, YES, False),
        (True, number("1"), False),
        ([18], number("18"), False),
        ({"a"}, WEEKEND, False),
    ],
)
def test_program_of_thought(prediction: Any, problem: Problem, right: bool) -> None:
    assert ProgramOfThoughtRule().right(prediction, problem) is right


def test_program_of_thought_reads_values_and_no_texts() -> None:
    assert ProgramOfThoughtRule().from_value(Fraction(1, 2), number("1/2")) == 0.5
    with pytest.raises(InputError, match="no rule for a model's text"):
        ProgramOfThoughtRule().from_output("The answer is 5.", number("5"))


# All of them, on anything

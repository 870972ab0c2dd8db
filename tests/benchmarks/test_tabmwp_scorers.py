"""The rules for TabMWP, with the oddities that are parts of them: those of three papers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from chameleon.benchmarks.scorers import promptpg
from chameleon.benchmarks.scorers.promptpg import PromptPGRule
from chameleon.benchmarks.scorers.tabmwp_rule import (
    ChameleonRule,
    ProgramOfThoughtRule,
    floatify,
    most_similar,
    normalise,
    read_number,
    same_number,
    similarity,
)
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.doubles import UNKNOWN_CHOICES, WEEKEND, choice, number

NAN = float("nan")
HUGE = 10**5000  # Python refuses to write it
DAYS = choice("Friday", ["Wednesday", "Thursday", "Friday"])
YES, NO = (choice(gold, ["yes", "no"]) for gold in ("yes", "no"))


class TestShared:
    @pytest.mark.parametrize(
        ("first", "second", "alike"),
        [
            ("blue kite", "blue kite", 2.0),
            ("kite", "Kite", 0.0),
            ("a blue kite", "a red kite", 2 / 3),
            ("kite", "the kite flew off", 1 / 4),
            ("kite kite", "kite", 1 / 2),  # distinct common words, but all words in the length
            ("a  b", "b", 1 / 3),  # two spaces hold an empty word
            ("", "", 2.0),
        ],
    )
    def test_similarity(self, first: str, second: str, alike: float) -> None:
        assert similarity(first, second) == similarity(second, first) == alike

    def test_the_first_of_equally_similar_choices(self) -> None:
        clubs = ["rowing club", "swimming class", "swimming team"]
        assert most_similar("swimming", clubs) == "swimming class"
        assert most_similar("chess", clubs) == "rowing club"

    @pytest.mark.parametrize(
        ("value", "as_float"),
        [
            (None, None),
            (" 2.50 ", 2.5),
            ("1,204", "1,204"),
            (Fraction(3, 4), 0.75),
            ([], None),
            (("east", "west"), "east"),
            ([[1], 2], "[1]"),
            ({"total": 5, "rest": 1}, 5),
            ({"total": "5"}, "5"),
            ({}, None),
            ({3}, "{3}"),
            (2j, "2j"),
            pytest.param(HUGE, HUGE, id="huge"),
        ],
    )
    def test_floatify(self, value: Any, as_float: Any) -> None:
        assert floatify(value) == as_float and type(floatify(value)) is type(as_float)

    @pytest.mark.parametrize(
        ("text", "value"),
        [("3/4", 0.75), ("1,204.5", 1204.5), ("15%", 0.15), ("-2.5", -2.5), ("1/2/9", 0.5)]
        + [(text, None) for text in ("", "kite", "1.5/2", "1,000/2", "3/0", "12 kites")],
    )
    def test_read_number(self, text: str, value: float | None) -> None:
        if value is not None:
            assert read_number(text) == value
            return
        with pytest.raises((ValueError, ArithmeticError)):
            read_number(text)

    @pytest.mark.parametrize(
        ("prediction", "gold", "same"),
        [
            (18.04, 18.0, True),
            (3.1, 3.14, True),
            (3.0, 3.04, True),
            (1e-07, 2e-07, True),
            (2.675, 2.68, False),  # the binary number lies below 2.675
            (NAN, NAN, False),
            (float("inf"), 5.0, False),
            pytest.param(HUGE, 5.0, False, id="huge"),
            ("7", 7.0, False),
            ([7.0], 7.0, False),
            (2j, 2.0, False),
        ],
    )
    def test_same_number(self, prediction: Any, gold: float, same: bool) -> None:
        assert same_number(prediction, gold) is same

    @pytest.mark.parametrize("rule", [ChameleonRule(), ProgramOfThoughtRule()])
    def test_gold_answers_that_cannot_be_used(self, rule: Any) -> None:
        with pytest.raises(InputError, match="'seven' should be a number"):
            rule.right(7.0, number("seven"))
        dated = Problem("4", {}, "7", detail={"ans_type": "date", "choices": None})
        with pytest.raises(InputError, match="type of the answer, 'date', is unknown"):
            rule.right(7.0, dated)


@pytest.mark.parametrize(
    ("prediction", "problem", "chameleon", "pot"),
    [
        (3.14, number("3.1"), True, True),
        (0.333, number("1/3"), True, True),
        ("1/3", number("1/3"), True, False),
        ("1/0", number("1/3"), False, False),
        (9606, number("9,606"), True, True),
        ("18", number("18"), True, False),
        (NAN, number("3"), False, False),
        (True, number("1"), False, False),
        ([18], number("18"), False, False),
        ("$1,204", number("1204"), True, False),
        ("15%", number("0.15"), True, False),
        ("12 kites", number("12"), False, False),
        ("12 kites", number("12", unit="kites"), True, False),
        ("12 Kites", number("12", unit="kites"), False, False),  # the unit in its own case only
        ("12", number("1", unit="2"), True, False),  # wherever it occurs
        (7.0, choice("7", ["5", "7"]), False, False),
        (7, choice("7", ["5", "7"]), False, False),
        ("7", choice("7", ["5", "7"]), True, True),
        ("Sunday", WEEKEND, True, True),
        (" $sunday ", WEEKEND, True, False),
        ("on Sunday", WEEKEND, True, False),
        ("Monday", WEEKEND, False, False),  # becomes Saturday, which has no more in common
        ("Monday", choice("Saturday", ["Saturday", "Sunday"]), True, False),
        (None, choice("Saturday", ["Saturday", "Sunday"]), True, False),
        (None, WEEKEND, False, False),
        (True, YES, True, True),
        (True, NO, False, False),
        (False, NO, True, True),
        (True, choice("Yes", ["Yes", "No"]), False, False),
        (True, choice("true", ["true", "false"]), False, False),
        (["Sunday"], WEEKEND, False, False),
        ({"a"}, WEEKEND, False, False),
    ],
)
def test_what_is_right(prediction: Any, problem: Problem, chameleon: bool, pot: bool) -> None:
    assert ChameleonRule().right(prediction, problem) is chameleon
    assert ProgramOfThoughtRule().right(prediction, problem) is pot


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("3 + 15 = 18. The answer is 18.", 18.0),
        ("The answer is 18", 1.0),  # the last character goes, whatever it is
        ("The answer is 18.\n", 18.0),
        ("The answer is 18.\n\n", "The answer is 18.\n\n"),
        ("The answer is 6:30 P.M.", "6:30 P.M"),
        ("The answer is 2. No, The answer is 3.", "2. No, The answer is 3"),
        ("The answer is red\nor blue.", "red\nor blue"),
        ("the answer is 18.", "the answer is 18."),
        ("The answer is 8", "The answer is 8"),
    ],
)
def test_what_chameleon_reads_in_a_text(text: str, answer: Any) -> None:
    assert ChameleonRule().from_output(text, number("1")) == answer


def test_what_the_rules_need_and_do_not_read() -> None:
    unknown = "problem 3: the choices of this multiple-choice question are not known"
    with pytest.raises(InputError, match=unknown):
        ChameleonRule().right("red", UNKNOWN_CHOICES)
    with pytest.raises(InputError, match=unknown):
        PromptPGRule().from_output("(A)", UNKNOWN_CHOICES)
    with pytest.raises(InputError, match="no rule for a model's text"):
        ProgramOfThoughtRule().from_output("The answer is 5.", number("5"))
    assert ChameleonRule().from_value(["4"], number("4")) == 4.0
    assert ProgramOfThoughtRule().from_value(Fraction(1, 2), number("1/2")) == 0.5
    assert normalise(2.00049, (), None) == 2.0


class TestPromptPG:
    @pytest.mark.parametrize(
        ("text", "chosen"),
        [
            ("(b)", "Thursday"),
            ("b. as the table shows", "Thursday"),
            ("The answer is B.", "Thursday"),
            ("The answer is (C) Friday.", "Friday"),
            ("Thursday.", "Thursday"),
            ("It is Thursday", "Thursday"),  # I is no letter of a choice
            ("At noon, Friday", "Wednesday"),  # A, for what follows may be a part of its word
            ("The answer is Blue", "Thursday"),  # B
            ("the answer is C", "Wednesday"),  # "the" is no "The": no letter, and no word in common
            ("", "Wednesday"),
        ],
    )
    def test_choices(self, text: str, chosen: str) -> None:
        assert PromptPGRule().from_output(text, DAYS) == chosen

    def test_a_letter_beyond_the_choices_is_a_choice_at_random(self) -> None:
        """ "The answer is Friday" reads as F, and there is no sixth choice."""
        one, other = PromptPGRule(), PromptPGRule()
        series = [one.from_output("The answer is Friday", DAYS) for _ in range(40)]
        assert series == [other.from_output("(E)", DAYS) for _ in range(40)]
        assert set(series) == set(DAYS.detail["choices"])

    @pytest.mark.parametrize(
        ("text", "answer"),
        [
            ("The answer is 12 kites.", "12 kites"),
            ("The table shows that 14 people came in 2019.", "14"),
            ("2 + 3 = 5, 5 + 4 = 9", "9"),
            ("2+3=$5 in all, of 8", "$5"),
            ("He has 3, which is -4 or 5", "-4"),
            ("The median is 4 and there were 9", "4"),
            ("There are 12, there were 13", "12"),
            ("It leaves at 7:25 P.M.", "7:25 P.M."),
            (r"a share of $\frac{3}{16}$", "3/16"),
            ("a change of \N{MINUS SIGN}8 degrees", "-8"),
            ("the answer is seven", "the answer is seven"),
        ],
    )
    def test_free_answers(self, text: str, answer: str) -> None:
        assert PromptPGRule().from_output(text, number("1")) == answer

    @pytest.mark.parametrize(
        ("text", "normal"),
        [
            ("1,204", "1204"),
            ("$4.50", "4.5"),
            ("$4.", "4"),
            ("7/", "7"),
            ("2/3", "0.667"),
            ("56.4567", "56.457"),
            ("007", "7"),
            ("4%", "4%"),
            ("1/0", "1/0"),
            ("1.2.3", "1.2.3"),
            ("", ""),
        ],
    )
    def test_normal_form(self, text: str, normal: str) -> None:
        assert promptpg.normalise(text, None) == normal

    @pytest.mark.parametrize(
        ("prediction", "problem", "right"),
        [
            ("12 kites", number("12", unit="kites"), True),
            ("12 kites", number("12"), False),
            (9606, number("9,606"), True),
            (18.04, number("18"), False),
            ("0.6666", number("2/3"), True),
            (None, number("18"), False),
            ("SUNDAY", WEEKEND, True),
            ("SUNDAY", UNKNOWN_CHOICES, False),
            ([18], number("18"), False),
            pytest.param(HUGE, number("18"), False, id="huge"),
        ],
    )
    def test_what_is_right(self, prediction: Any, problem: Problem, right: bool) -> None:
        assert PromptPGRule().right(prediction, problem) is right

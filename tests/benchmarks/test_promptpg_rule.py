"""PromptPG's rule for TabMWP: what it reads in a text, its normal form, and its oddities."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon.benchmarks.scorers import promptpg
from chameleon.benchmarks.scorers.chameleon_rule import known_choices
from chameleon.benchmarks.scorers.promptpg import PromptPGRule
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Problem
from tests.benchmarks.tabmwp_problems import UNKNOWN_CHOICES, WEEKEND, choice, number

HUGE = 10**5000  # Python refuses to write it
_DAYS = choice("Friday", ["Wednesday", "Thursday", "Friday"])


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("(b)", "Thursday"),
        ("C", "Friday"),
        ("b. as the table shows", "Thursday"),
        ("The answer is B.", "Thursday"),
        ("The answer is (C) Friday.", "Friday"),
        ("(B) Thursday", "Thursday"),
        ("Thursday.", "Thursday"),
        ("It is Thursday", "Thursday"),  # I is no letter of a choice
        ("At noon, Friday", "Wednesday"),  # A, for what follows may be a part of its word
        ("The answer is Blue", "Thursday"),  # B
        ("the answer is C", "Wednesday"),  # "the" is no "The": no letter, and no word in common
        ("thursday", "Wednesday"),  # case counts, so nothing is in common
        ("", "Wednesday"),
    ],
)
def test_choices_that_promptpg_reads(text: str, chosen: str) -> None:
    assert PromptPGRule().from_output(text, _DAYS) == chosen


def test_a_letter_beyond_the_choices_is_a_choice_at_random() -> None:
    """ "The answer is Friday" reads as F, and there is no sixth choice."""
    assert promptpg.choice_letter("The answer is Friday") == "F"
    picks = [[PromptPGRule().from_output("(F)", _DAYS)] for _ in range(3)]
    assert picks[0] == picks[1] == picks[2]
    one, other = PromptPGRule(), PromptPGRule()
    series = [one.from_output("The answer is Friday", _DAYS) for _ in range(40)]
    assert series == [other.from_output("(E)", _DAYS) for _ in range(40)]
    assert set(series) == set(known_choices(_DAYS))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So 3 + 4 = 7. The answer is 7.", "7"),
        ("The answer is 12 kites.", "12 kites"),
        ("The table shows that 14 people came in 2019.", "14"),
        ("2 + 3 = 5, 5 + 4 = 9", "9"),
        ("2+3=$5 in all, of 8", "$5"),
        ("There will be 14 guests and 3 dogs", "14"),
        ("He has 3, which is -4 or 5", "-4"),
        ("The median is 4 and there were 9", "4"),
        ("There are 12, there were 13", "12"),
        ("there were 13", "13"),
        ("It leaves at 7:25 P.M.", "7:25 P.M."),
        ("It costs $4.50.", "$4.50"),
        (r"a share of $\frac{3}{16}$", "3/16"),
        ("a change of \N{MINUS SIGN}8 degrees", "-8"),
        ("the answer is seven", "the answer is seven"),
    ],
)
def test_free_answers_that_promptpg_reads(text: str, answer: str) -> None:
    assert PromptPGRule().from_output(text, number("1")) == answer


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("1,204", "1204"),
        ("$4.50", "4.5"),
        ("$4.", "4"),
        ("12,", "12"),
        ("7/", "7"),
        ("3/4", "0.75"),
        ("2/3", "0.667"),
        ("-3/2", "-1.5"),
        ("56.4567", "56.457"),
        ("18.00", "18"),
        ("007", "7"),
        ("4%", "4%"),
        ("1/0", "1/0"),
        ("1.2.3", "1.2.3"),
        ("", ""),
        ("12 kites", "12 kites"),
    ],
)
def test_normal_form_of_promptpg(text: str, normal: str) -> None:
    assert promptpg.normalise(text, None) == normal


@pytest.mark.parametrize(
    ("prediction", "problem", "right"),
    [
        ("$9,606", number("9,606"), True),
        ("12 kites", number("12", unit="kites"), True),
        ("12 kites", number("12"), False),
        (9606, number("9,606"), True),
        (18.0, number("18"), True),
        (18.04, number("18"), False),
        ("0.6666", number("2/3"), True),
        (None, number("18"), False),
        ("SUNDAY", WEEKEND, True),
        ("SUNDAY", UNKNOWN_CHOICES, False),
        ([18], number("18"), False),
        pytest.param(HUGE, number("18"), False, id="huge"),
    ],
)
def test_promptpg(prediction: Any, problem: Problem, right: bool) -> None:
    assert PromptPGRule().right(prediction, problem) is right


def test_promptpg_needs_the_choices_to_read_a_text() -> None:
    with pytest.raises(InputError, match="choices of this multiple-choice question are not known"):
        PromptPGRule().from_output("(A)", UNKNOWN_CHOICES)

"""From a program's result or a solution's last sentence to the final answer."""

from __future__ import annotations

import pytest

from chameleon import State
from chameleon.modules.answer_generator import AnswerGenerator, as_choice, tidy
from chameleon.modules.solution_generator import stated_answer
from chameleon.values import freeze


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        ("3 + 4 = 7. The answer is 7.", "7"),
        ("The answer is 7", "7"),
        ("The answer is 3.5.", "3.5"),
        ("the answer is: **$1,204.50**.", "$1,204.50"),
        ("The answer is Mr. Ito.", "Mr. Ito"),
        ("The answer is St. Olaf Bay.", "St. Olaf Bay"),
        ("The answer is 6:30 P.M.", "6:30 P.M."),
        ("The answer is 12. This is what was asked.", "12"),
        ("The answer is no.\nCheck: 4 < 5.", "no"),
        ("First the answer is 3. No: the answer is 4.", "4"),
        ("It is seven.", None),
        ("The answer is", None),
    ],
)
def test_what_a_solution_states(solution: str, answer: str | None) -> None:
    assert stated_answer(solution) == answer


@pytest.mark.parametrize(
    ("said", "choices", "chosen"),
    [
        ("thursday", ("Monday", "Thursday"), "Thursday"),
        ("(B)", ("Monday", "Thursday"), "Thursday"),
        ("B. Thursday", ("Monday", "Thursday"), "Thursday"),
        ("Thursday, since it rained", ("Monday", "Thursday"), "Thursday"),
        ("Fern Hill Park", ("Fern Hill", "Fern Hill Park"), "Fern Hill Park"),
        (True, ("yes", "no"), "yes"),
        (2.0, ("$2.00", "$3.00"), "$2.00"),
        (0.5, ("1/2", "1/4"), "1/2"),
        (1234, ("1,234", "4,321"), "1,234"),
        ("A", ("a cat", "a dog"), "a cat"),
        ("Sunday", ("Monday", "Thursday"), "Sunday"),
        (7, (), 7),
    ],
)
def test_the_choice_that_an_answer_stands_for(said: object, choices: tuple[str, ...], chosen: object) -> None:
    assert as_choice(said, choices) == chosen


@pytest.mark.parametrize(
    ("value", "shown"), [(18.0, 18), (1.6000000000000001, 1.6), (0.1 + 0.2, 0.3), ("a", "a")]
)
def test_numbers_lose_the_noise_of_binary_floats(value: object, shown: object) -> None:
    assert tidy(value) == shown


def test_a_program_result_goes_before_a_solution() -> None:
    cache = {"program_result": 12, "solution": "The answer is 13."}
    assert AnswerGenerator().run(State(cache=cache)) == 12
    assert AnswerGenerator().run(State(cache={"solution": "The answer is 13."})) == "13"


OPTIONS = ["a dog. It barks.", "Thursday", "an ash tree"]


@pytest.mark.parametrize(
    ("solution", "expected"),
    [
        ("The answer is B because it rained.", "Thursday"),
        ("The answer is B, since it rained.", "Thursday"),
        ("The answer is B – Thursday", "Thursday"),
        ("The answer is option C.", "an ash tree"),
        ("The answer is (c).", "an ash tree"),
        ("The answer is A because it barks.", "a dog. It barks."),
        ("The answer is A dog. It barks.", "a dog. It barks."),
        ("The answer is an ash tree.", "an ash tree"),
        ("The answer is A good question.", "A good question"),  # an article, no letter
        ("The answer is E.", "E"),
    ],
)
def test_a_solutions_letter_or_option_is_found(solution: str, expected: str) -> None:
    state = State(input=freeze({"choices": OPTIONS}), cache=freeze({"solution": solution}))
    assert AnswerGenerator().run(state) == expected

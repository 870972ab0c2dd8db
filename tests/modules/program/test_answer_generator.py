"""From a program's result or a solution's last sentence to the final answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import LLM, Executor, Inventory, State, Table
from chameleon.core.events import Redo
from chameleon.llm import ScriptedModel
from chameleon.modules.program.answer_generator import AnswerGenerator, as_choice, chosen, mentioned
from chameleon.values import freeze

TEAMS = ("Kingsmere Town", "Harbour Rovers")


@pytest.mark.parametrize(
    ("said", "choices", "chosen"),
    [
        ("thursday", ("Monday", "Thursday"), "Thursday"),
        ("(B)", ("Monday", "Thursday"), "Thursday"),
        ("Thursday, since it rained", ("Monday", "Thursday"), "Thursday"),
        (True, ("yes", "no"), "yes"),
        (2.0, ("$2.00", "$3.00"), "$2.00"),
        (0.5, ("1/2", "1/4"), "1/2"),
        (1234, ("1,234", "4,321"), "1,234"),
        ("Sunday", ("Monday", "Thursday"), "Sunday"),
        ("Kingsmere Town or Harbour Rovers", TEAMS, None),
        ("Kingsmere Town, Harbour Rovers", TEAMS, None),
        ("yes and no", ("yes", "no"), None),
        ("Kingsmere Town, since Harbour Rovers have less", TEAMS, "Kingsmere Town"),
        (7, (), 7),
        ("Your friend, Ada", ("your friend,\nAda", "Your friend,\nAda"), "Your friend,\nAda"),
        ("***Tides***", ('"Tides"', "***Tides***"), "***Tides***"),
        ("**B**", ("Monday", "Thursday"), "Thursday"),
        ("well-known", ("well", "ill"), "well-known"),
        ("3.5", ("3", "4"), "3.5"),
        ("It has:\nsalt. sand\nand more", ("It has:\nsalt", "It has:\nsalt. sand"), "It has:\nsalt. sand"),
    ],
)
def test_the_choice_that_an_answer_stands_for(said: object, choices: tuple[str, ...], chosen: object) -> None:
    assert as_choice(said, choices) == (said if chosen is None else chosen)


INVENTORY = {
    "name": "solves",
    "input": {"question": "str", "choices": "list?"},
    "planner": {"use": "fixed", "plan": ["solution_generator", "answer_generator"]},
    "repair": {"solution_generator": {"redo": "solution_generator", "attempts": 3}},
    "modules": {"solution_generator": {"prompt": "scienceqa/solution_generator"}, "answer_generator": {}},
}
OPTIONS = ["a dog. It barks.", "Thursday", "an ash tree"]


@pytest.mark.parametrize(
    ("solution", "expected"),
    [
        ("The answer is B, since it rained.", "Thursday"),
        ("The answer is B – Thursday", "Thursday"),
        ("The answer is (c).", "an ash tree"),
        ("The answer is A because it barks.", "a dog. It barks."),
        ("The answer is A dog. It barks.", "a dog. It barks."),
        ("The answer is A good question.", "A good question"),  # an article, no letter
        ("The answer is E.", "E"),
        ("The answer is surely Thursday.", "Thursday"),
        ("The answer is not Thursday.", "not Thursday"),
        ("The answer is B. I am sure that the answer is right.", "Thursday"),
        ("The answer is A. Wait. The answer is B.", "Thursday"),  # the official rule takes the first
        ("It rained.\n(b)", "Thursday"),
        ("\\boxed{B}", "Thursday"),
        ("It must be Thursday.", "Thursday"),
        ("It is an ash tree, and no dog.", "an ash tree"),
        ("It is not Thursday. So it is an ash tree.", "an ash tree"),
        ("It is Thursday, or an ash tree.", "It is Thursday, or an ash tree."),
    ],
)
def test_a_solutions_letter_or_option_is_found(solution: str, expected: str) -> None:
    state = State(input=freeze({"choices": OPTIONS}), cache=freeze({"solution": solution}))
    assert AnswerGenerator().run(state) == expected


def test_a_program_s_result_goes_first_and_a_statement_that_is_no_choice_as_the_option_says() -> None:
    cache = {"solution": "It rained. The answer is neither. "}
    state = State(input=freeze({"choices": OPTIONS}), cache=cache)
    assert AnswerGenerator("statement").run(state) == "neither"
    given, said = {"choices": ["a stretch", "yellow colour"]}, {"solution": "The answer is yellow coloured."}
    assert AnswerGenerator("option").run(State(freeze(given), freeze(said))) == "yellow colour"
    for result, shown in ((18.0, 18), (0.1 + 0.2, 0.3), ("a", "a")):  # without the noise of floats
        assert AnswerGenerator().run(State(cache={**cache, "program_result": result})) == shown
    assert AnswerGenerator().run(State(cache=cache)) == "neither"


def test_a_choice_inside_a_longer_one_is_not_mentioned() -> None:
    lakes = ("Erie", "Lake Erie", "a", "2")
    assert mentioned("Is a ship on Lake Erie?", lakes) == "Lake Erie"
    assert mentioned("Lake Erie is not Erie.", lakes) is None
    assert mentioned("There are 2 ships.", lakes) == "2"
    assert mentioned("There are 12 ships.", lakes) is None
    assert mentioned("a \x000\x00 ship", ("a",)) is None


@given(st.text(), st.lists(st.text(max_size=5), max_size=4))
def test_any_text_and_choices_come_to_a_choice_or_none(text: str, choices: list[str]) -> None:
    for solution in (text, f"The answer is {text}", rf"\boxed{{{text}}}"):
        assert chosen(solution, choices) in (None, *choices)


def attempted(*replies: Any) -> State:
    llm = LLM.connect(ScriptedModel(list(replies)))
    question = {"question": "When did it rain?", "choices": OPTIONS}
    return Executor(Inventory.parse(INVENTORY), llm).run(question)


def test_the_last_reply_is_kept_and_the_answer_found_in_it() -> None:
    state = attempted("It may be.", "It can be.", "It must be Thursday.")
    assert state.answer == "Thursday"
    assert [record.error is None for record in state.history] == [False, False, True, True]
    fault = 'the solution does not say "The answer is …"'
    first, second = (Redo(1, 0.1, False, fault, "It may be."), Redo(2, 0.1, True, fault, "It can be."))
    assert [record.step.redo for record in state.history[:3]] == [None, first, second]
    state = attempted(*["It must be Thursday."] * 3)
    assert state.answer == "Thursday" and len(state.calls) == 2, "the same again counts as the last"
    cut = {"text": "It rained on Thursday, since", "finish": "length"}
    assert attempted(cut, cut, cut).answer == "Thursday"
    empty = attempted("", " ", "\n")
    assert empty.ended is not None and empty.ended.reason == "failed"


def test_a_free_answer_that_is_unknown_is_declined_with_what_is_missing() -> None:
    solution = "The table has no row for the train. The answer is unknown."
    model = LLM.connect(ScriptedModel(['["solution_generator", "answer_generator"]', solution]))
    given = {"question": "How many came by train?", "table": Table(["Came by"], [["Car"]])}
    state = Executor(Inventory.load("tables"), model).run(given)
    assert state.answer is None and state.ended is not None and state.ended.reason == "declined"
    assert "no row for the train" in str(state.ended.error)

"""The grammar answers ordinary questions rightly, and declines the rest with a sentence that helps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from chameleon import Table
from chameleon.errors import Declined
from chameleon.modules.offline.grammar import relevant_columns, relevant_rows, write_program
from chameleon.sandbox import Sandbox, make_sandbox
from tests.modules.offline.asked import table

SALES, LEAGUE = table("sales"), table("league")


@pytest.fixture(scope="module")
def executor() -> Iterator[Sandbox]:
    with make_sandbox(libraries=()) as ready:
        yield ready


def answer(executor: Sandbox, question: str, table: Table, *choices: str) -> Any:
    program = write_program(question, table, choices)
    result = executor.run(program.code, {"table": table.to_program_input()})
    assert result.ok, f"{result.message} in\n{program.code}"
    return result.value


def test_the_answer_is_the_choice_as_it_is_written(executor: Sandbox) -> None:
    question = "Which team has the most points, Rovers or City?"
    assert answer(executor, question, LEAGUE, "the City", "the Rovers") == "the Rovers"


def test_no_choice_is_guessed() -> None:
    with pytest.raises(Declined, match="choices"):
        write_program("Which team has the most points?", LEAGUE, ("City", "Albion"))


def test_a_change_is_compared_without_its_sign_only_where_one_asks_for_it(executor: Sandbox) -> None:
    story = "She can get a discount with a used one. "
    choices = ("adding a case", "taking a used one")
    for question, expected in (
        ("Which option results in a greater change in price?", "taking a used one"),
        ("Which option results in a higher price?", "adding a case"),
    ):
        assert answer(executor, story + question, table("changes"), *choices) == expected


@pytest.mark.parametrize("cell", ["about 14", "closed", "n/a yet"])
@pytest.mark.parametrize(
    "question", ["Which city is the highest?", "What is the highest height?", "How many cities are above 10?"]
)
def test_words_among_numbers_turn_no_question_to_another_column(question: str, cell: str) -> None:
    rows = [["Arvik", "12", "3"], ["Lone", cell, "9"], ["Berg", "8", "5"]]
    with pytest.raises(Declined, match=f"Height is not all numbers: '{cell}'"):
        write_program(question, Table(["City", "Height", "Beds"], rows))


def test_a_number_with_its_unit_is_looked_up(executor: Sandbox) -> None:
    bolts = Table(["Item", "Weight"], [["Bolt", "1.5 kg"], ["Nut", "2 kg"], ["Nail", "3 kg"]])
    assert answer(executor, "What is the weight of Bolt?", bolts) == "1.5 kg"


@pytest.mark.parametrize("question", ["What is the total weight?", "Which item has the highest weight?"])
@pytest.mark.parametrize(("cell", "told"), [("800 g", "different units: g, kg"), ("800", "not all in kg")])
def test_different_units_are_not_compared(question: str, cell: str, told: str) -> None:
    with pytest.raises(Declined, match=told):
        write_program(question, Table(["Item", "Weight"], [["Bolt", "1.5 kg"], ["Nut", cell]]))


def test_equal_winners_leave_no_single_choice() -> None:
    with pytest.raises(Declined, match="equal"):
        write_program("Which team drew the most games?", LEAGUE, ("United", "Wanderers"))


def test_a_program_says_how_the_question_was_read() -> None:
    program = write_program("How many units were sold in the North region in March?", SALES)
    assert program.reading == "Sum of Units where Region is North and Date is March"
    assert "[9, 6]" in program.code


@pytest.mark.parametrize(
    "question",
    [
        "What is the total revenue in the North?",
        "How many units of tea were sold in March 2024?",
        "Which region had the highest total revenue?",
        "How many rows have more than 10 units?",
        "What is the average number of units sold before March?",
        "How many different products are there?",
        "What percentage of the units were sold in the North?",
    ],
)
def test_a_long_table_is_read_by_the_program(executor: Sandbox, question: str) -> None:
    """A hundred copies of the rows change sums and counts a hundredfold, and nothing else."""
    long = Table(SALES.header, SALES.rows * 100, SALES.caption)
    assert 'table["rows"]' in write_program(question, long).code or "different" in question
    short, many = answer(executor, question, SALES), answer(executor, question, long)
    factor = 100 if re.match("What is the total|How many (units|rows)", question) else 1
    assert many == (short if isinstance(short, str) else pytest.approx(short * factor))


_WORDS = (
    "how many|much|which|what|who is|was|the|of|in|and|or|not|than|more|most|total|average|at least|5|2024|"
    "March|Rovers|City|points|units|tea|North|highest|before|between|?"
)


@settings(max_examples=150, deadline=None)
@given(
    question=some.text(max_size=60)
    | some.lists(
        some.sampled_from(_WORDS.split("|")),
        max_size=12,
    ).map(" ".join),
    name=some.sampled_from(["sales", "league", "trains", "budget", "survey", "fruit", "riders", "trade"]),
)
def test_any_text_is_answered_or_declined(question: str, name: str) -> None:
    try:
        program = write_program(question, table(name))
    except Declined as declined:
        assert declined.what
    else:
        compile(program.code, "program", "exec")
        assert "ans = " in program.code


@settings(max_examples=60, deadline=None)
@given(
    cells=some.lists(
        some.tuples(
            some.sampled_from(["", "n/a", "7", "$3.50", "12%", "x", "2024-05-01", "9:30", "1/2"]),
            some.text(max_size=4),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_any_table_is_answered_or_declined(cells: list[tuple[str, str]]) -> None:
    table = Table(["Item", "Price"], [(name or "thing", cell) for cell, name in cells])
    for question in (
        "What is the total price?",
        "Which item has the highest price?",
        "How many items cost $7?",
    ):
        try:
            write_program(question, table)
        except Declined as declined:
            assert declined.what


def test_relevant_rows_are_those_that_the_question_names() -> None:
    found = relevant_rows("How many more points do Rovers have than City?", LEAGUE)
    assert [row[0] for row in found.rows] == ["Rovers", "City"]


@pytest.mark.parametrize("question", ["Which team has the most points?", "What is the average of points?"])
def test_every_row_stays_where_all_are_needed(question: str) -> None:
    assert relevant_rows(question, LEAGUE) is LEAGUE


def test_relevant_columns_keep_the_names_of_the_rows() -> None:
    found = relevant_columns("How many points do Rovers have?", LEAGUE)
    assert found.header == ("Team", "Points")


def test_every_column_stays_where_none_is_named() -> None:
    assert relevant_columns("How are Rovers doing?", LEAGUE) is LEAGUE

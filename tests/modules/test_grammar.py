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
from tests.modules.grammar_tables import (
    BUDGET,
    CLIMATE,
    FLIGHTS,
    FRUIT,
    HOTEL,
    LEAGUE,
    MOVIES,
    PETS,
    RIDERS,
    SALES,
    SPENDING,
    STOCK,
    SURVEY,
    TRADE,
    TRAINS,
)

VEHICLES = Table(
    ["id", "plate", "km", "bought"],
    [
        ["1", "AB-101", "120500", "2017-05-01"],
        ["2", "AB-102", "88300", "2019-03-12"],
        ["3", "AB-103", "45210", "2021-09-30"],
    ],
    "fleet: vehicles",
)
DISHES = Table(
    ["dish", "calories", "vegetarian"],
    [["Lentil soup", "310", "true"], ["Beef stew", "640", "false"], ["Mushroom risotto", "520", "true"]],
    "recipes",
)

RIGHT: list[tuple[Table, str, Any]] = [
    (VEHICLES, "How many vehicles were bought after 2018?", 2),
    (VEHICLES, "How many vehicles are there?", 3),
    (DISHES, "Which vegetarian dish has the most calories?", "Mushroom risotto"),
    (SALES, "What is the total revenue?", 359.75),
    (SALES, "What was the total revenue in the North region?", 144.25),
    (SALES, "How many units of tea were sold?", 53),
    (SALES, "How many units were sold in the North region in March 2024?", 15),
    (SALES, "How many units were sold after February?", 30),
    (SALES, "How many units of tea did we sell before March?", 32),
    (SALES, "What is the second highest revenue?", 67.5),
    (SALES, "Which region had the highest total revenue?", "North"),
    (SALES, "Which product sold the most units?", "Tea"),
    (SALES, "Which product has the lowest unit price?", "Cocoa"),
    (SALES, "How many different products are there?", 3),
    (SALES, "How many rows have more than 10 units?", 3),
    (SALES, "How many units of tea were sold in the North and South?", 33),
    (SALES, "How many more units were sold in the North than in the South?", 9),
    (SALES, "Did the North sell more units than the South?", "yes"),
    (SALES, "What is the median revenue?", 54),
    (SALES, "What percentage of the units were sold in the North?", 42.67),
    (SALES, "What is the price of tea?", 4.5),
    (SALES, "On which date was cocoa sold?", "2024-03-01"),
    (SALES, "What is the ratio of tea units to coffee units?", "53/13"),
    (LEAGUE, "Which team has the most points?", "Rovers"),
    (LEAGUE, "Which team has the second most points?", "Athletic"),
    (LEAGUE, "How many points do Rovers have?", 23),
    (LEAGUE, "How many games did Albion lose?", 9),
    (LEAGUE, "How many goals did United score?", 15),
    (LEAGUE, "How many more points do Rovers have than City?", 15),
    (LEAGUE, "How many teams have at least 12 points?", 4),
    (LEAGUE, "How many teams have more than 12 points and fewer than 3 losses?", 3),
    (LEAGUE, "How many teams won between 2 and 6 games?", 4),
    (LEAGUE, "Which teams won more than 5 games?", "Rovers, Athletic"),
    (LEAGUE, "Which team drew the most games?", "United, Wanderers"),
    (LEAGUE, "Which team has 18 points?", "United"),
    (LEAGUE, "What is the average number of points?", 14),
    (LEAGUE, "How many points do United and City have together?", 26),
    (LEAGUE, "Who won more games, United or City?", "United"),
    (LEAGUE, "Does United have more than 15 points?", "yes"),
    (LEAGUE, "Did any team win more than 7 games?", "no"),
    (TRAINS, "How long is the 8:15 train ride?", "50 minutes"),
    (TRAINS, "How long does Night 9 take?", "45 minutes"),
    (TRAINS, "When does Local 4 arrive?", "10:10 AM"),
    (TRAINS, "When does the 8:15 train arrive?", "9:05 AM"),
    (TRAINS, "Which train arrives at 9:05 AM?", "Express 1"),
    (TRAINS, "Which train departs first?", "Express 1"),
    (TRAINS, "How many trains leave before noon?", 3),
    (TRAINS, "How much more does Express 1 cost than Local 4?", 4.5),
    (TRAINS, "Which trains cost less than $9?", "Local 4, Local 6"),
    (BUDGET, "How much was spent on food in February?", 395),
    (BUDGET, "How much did we spend on rent in total?", 3600),
    (BUDGET, "What is the total spending in March?", 1800),
    (BUDGET, "What is the total spending?", 5470),
    (BUDGET, "In which month did we spend the most on leisure?", "February"),
    (BUDGET, "Which category cost the most in January?", "Rent"),
    (BUDGET, "How many categories are there?", 4),
    (BUDGET, "How much was spent on everything except rent in March?", 600),
    (BUDGET, "How much was spent on food and transport in March?", 540),
    (BUDGET, "Was more spent on food or transport in January?", "Food"),
    (SURVEY, "What is the average age?", 34.5),
    (SURVEY, "Who is the oldest?", "Eve"),
    (SURVEY, "How many people like blue?", 3),
    (SURVEY, "How many people are older than 30?", 3),
    (SURVEY, "How many people are between 20 and 40 years old?", 3),
    (SURVEY, "What is the average age of people from York?", 41.5),
    (SURVEY, "Where does Bob live?", "York"),
    (SURVEY, "What is the age difference between Eve and Dev?", 36),
    (SURVEY, "Who has the highest rating?", "Bob, Dev"),
    (SURVEY, "Which city has the highest average rating?", "Hull"),
    (SURVEY, "How many people live in Leeds or York?", 4),
    (SURVEY, "How many people are not from Leeds?", 4),
    (SURVEY, "Is Ann older than Bob?", "yes"),
    (STOCK, "How much do 2 laptops and 3 mice cost?", 1856.5),
    (STOCK, "Which product is the cheapest?", "Mouse"),
    (STOCK, "What is the cheapest product from Acme?", "Desk"),
    (STOCK, "How many products does Acme supply?", 2),
    (STOCK, "How many chairs are in stock?", 0),
    (STOCK, "Which supplier has the most stock?", "Globex"),
    (STOCK, "How heavy is the desk?", 31),
    (FRUIT, "How much do 3 apples and a melon cost?", 3.6),
    (FRUIT, "Ben has $5.00. Does he have enough to buy an apple and a pear?", "yes"),
    (RIDERS, "How many women take the train?", 25),
    (RIDERS, "How many people take the car?", 62),
    (RIDERS, "How many more men than women take the car?", 18),
    (MOVIES, "Which movie is the longest?", "Iron Tide"),
    (MOVIES, "Which movies were released in 2016?", "The Last Laugh, Night Circus"),
    (MOVIES, "What is the average rating of drama movies?", 7.95),
    (MOVIES, "How many movies were made between 2012 and 2016?", 4),
    (MOVIES, "How many movies did Lee direct?", 2),
    (MOVIES, "What is the rating of the shortest movie?", 6.4),
    (MOVIES, "What is the shortest drama?", "Night Circus"),
    (HOTEL, "How many guests had breakfast?", 2),
    (HOTEL, "What is the total number of nights?", 11),
    (HOTEL, "Which guests did not have breakfast?", "Jones, Chen"),
    (FLIGHTS, "How many flights leave London?", 2),
    (FLIGHTS, "How many seats are there from London?", 252),
    (FLIGHTS, "What time does the last flight from London depart?", "18:05"),
    (FLIGHTS, "How long is the flight BA1?", "2 hours and 15 minutes"),
    (PETS, "Who owns Misty?", "Tom"),
    (PETS, "How much heavier is Rex than Misty?", 17.5),
    (PETS, "Who has the oldest cat?", "Maria"),
    (SPENDING, "How much was spent on food?", 890),
    (SPENDING, "How much was spent in total?", 4230),
    (SPENDING, "Which month had the highest spending on fun?", "Feb"),
    (CLIMATE, "How many degrees colder is Oslo than Cairo in January?", 18),
    (TRADE, "What were exports in 2020?", 90),
    (TRADE, "In which year were imports highest?", "2021"),
    (TRADE, "What is the average of imports after 2018?", pytest.approx(415 / 3)),
]

DECLINED: list[tuple[Table, str, str]] = [
    (SALES, "What is the average revenue per region?", ""),
    (SALES, "What is the total revenue by product?", ""),
    (SALES, "What is the average of the top 3 revenues?", "top"),
    (SALES, "How many units were sold in the East region?", "East"),
    (SALES, "How many units of green tea were sold?", "green"),
    (SALES, "How many units were not sold in the North?", "not"),
    (SALES, "What was the total revenue in 2023?", "2023"),
    (SALES, "What is the total?", "Units, Unit price, Revenue"),
    (SALES, "What is the total unit price?", "adds up"),
    (SALES, "How many coffees were returned?", ""),
    (SALES, "Which regions sold tea and coffee?", "both"),
    (SALES, "What was the profit?", ""),
    (LEAGUE, "How many goals did Atlantis score?", "Atlantis"),
    (LEAGUE, "How many goals did United concede?", "concede"),
    (LEAGUE, "How many goals did Rovers score and how many did City score?", "two questions"),
    (LEAGUE, "What percentage of games did Rovers win?", ""),
    (LEAGUE, "How many points does each team have?", "each"),
    (LEAGUE, "How many more points does City have than Rovers?", "other way round"),
    (LEAGUE, "Who has the worst record?", ""),
    (TRAINS, "When does Express 8 arrive?", ""),
    (TRAINS, "How late was the 8:15 train?", "late"),
    (TRAINS, "What is the total fare?", ""),
    (BUDGET, "How much was spent in April?", "April"),
    (BUDGET, "How much was saved?", "saved"),
    (SURVEY, "How old is Zed?", "Zed"),
    (SURVEY, "What is the average income?", ""),
    (SURVEY, "How many people live in Paris?", "Paris"),
    (SURVEY, "How many people are older than 30 or live in Leeds?", "or"),
    (SURVEY, "What is the total age?", "sum of age"),
    (STOCK, "What is the total value of the stock?", "value"),
    (STOCK, "How much would a laptop cost with a 10% discount?", ""),
    (STOCK, "How much is the sofa?", ""),
    (FRUIT, "How much does a banana cost?", ""),
    (MOVIES, "Which movie is the best?", ""),
    (HOTEL, "How much did Smith pay?", ""),
    (HOTEL, "What is the total cost for Garcia?", ""),
    (FLIGHTS, "Which is the shortest flight?", "shortest"),
    (PETS, "Who is the oldest?", "Pet"),
    (CLIMATE, "What is the total temperature in January?", "temperature"),
    (TRADE, "What were exports in 2022?", "2022"),
    (TRADE, "Why did exports fall?", ""),
    (TRADE, "", "no question"),
]


@pytest.fixture(scope="module")
def executor() -> Iterator[Sandbox]:
    with make_sandbox(libraries=()) as ready:
        yield ready


def answer(executor: Sandbox, question: str, table: Table, *choices: str) -> Any:
    program = write_program(question, table, choices)
    result = executor.run(program.code, {"table": table.to_program_input()})
    assert result.ok, f"{result.message} in\n{program.code}"
    return result.value


@pytest.mark.parametrize(("table", "question", "expected"), RIGHT, ids=[case[1] for case in RIGHT])
def test_it_answers(executor: Sandbox, table: Table, question: str, expected: Any) -> None:
    assert answer(executor, question, table) == expected


@pytest.mark.parametrize(("table", "question", "says"), DECLINED, ids=[case[1] for case in DECLINED])
def test_it_declines(table: Table, question: str, says: str) -> None:
    with pytest.raises(Declined, match=re.escape(says) or ".+"):
        write_program(question, table)


def test_the_answer_is_the_choice_as_it_is_written(executor: Sandbox) -> None:
    question = "Which team has the most points, Rovers or City?"
    assert answer(executor, question, LEAGUE, "the City", "the Rovers") == "the Rovers"


def test_no_choice_is_guessed() -> None:
    with pytest.raises(Declined, match="choices"):
        write_program("Which team has the most points?", LEAGUE, ("City", "Albion"))


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
    table=some.sampled_from([SALES, LEAGUE, TRAINS, BUDGET, SURVEY, FRUIT, RIDERS, TRADE]),
)
def test_any_text_is_answered_or_declined(question: str, table: Table) -> None:
    try:
        program = write_program(question, table)
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

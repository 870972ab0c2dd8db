"""Where a table has no title, its story and its question may name the numbers, and nothing is assumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from chameleon import Table
from chameleon.errors import Declined
from chameleon.modules.offline.grammar import write_program
from chameleon.sandbox import Sandbox, make_sandbox
from tests.modules import untitled_tables as on

_VET = "A vet weighed the dogs that came in. "
_PLANTS = "The class measured how tall the plants grew. "
_DRIVES = "Nina timed how long her drives took. "
_TANKS = "A shop counted the number of fish in each tank. "
_SENT = "A report lists the aid that was sent to each country. "
_CASES = "A vet treats pets. "
_BIRDS = "A ranger recorded the number of birds at lakes. "
_REVENUES = "An analyst compiled the revenues of two restaurants. "
_SALES = "An editor looked at sales. "
_STUB = "Look at Ida's pay stub. "
_JUNE = "This is Nia's complete financial record for June. "
_WHEEL = "The pupils spun a wheel that shows the numbers 1 through 3. "
_PROPORTION = "There is a proportional relationship between hats, x, and their cost, y. "

ANSWERED: list[tuple[Table, str, Any]] = [
    (on.PLOT, _VET + "How many dogs weighed at least 20 pounds?", 4),
    (on.PLOT, _VET + "What is the weight of the heaviest dog?", 31),
    (on.DOG_WEIGHTS, "How many dogs weighed at least 20 kilograms?", 4),
    (on.PLOT, _PLANTS + "How many plants are less than 27 centimeters tall?", 4),
    (on.PLOT, _DRIVES + "How many drives took at least 20 minutes?", 4),
    (on.PLOT, _TANKS + "What is the largest number of fish per tank?", 31),
    (on.PLOT, "Lee counted the number of cups sold. How many shops have at least 20 cups?", 4),
    (on.PLOT, "The quiz results are in. How many students scored exactly 20 points?", 2),
    (on.PLOT, "The quiz results are in. What is the highest score?", 31),
    (on.PLOT, "Lee measures the rooms. How many rooms are at least 20 square meters?", 4),
    (on.AID, "How many people per square mile lived in Chad in 2000?", 9),
    (on.AID, "How many fewer Nobel winners did Togo have in 1990 than Mali?", 4),
    (on.AID, "Per capita, how many more cars did Mali have in 2000 than in 1990?", 1),
    (on.AID, _SENT + "How much aid did Togo receive in 1990?", 3),
    (on.AID, _SENT + "Of the countries shown, which received the most aid in 1990?", "Mali"),
    (on.MELONS, "A farmer checked prices. How much did a crate of Galia melons cost in 2015?", 4),
    (on.TOWNS, "3 nearby towns were surveyed. How many more people live in Ayr than in Bude?", 669),
    (on.SPINS, _WHEEL + "How many pupils spun a number less than 3?", 11),
    (on.SPINS, _WHEEL + "Which number was spun the fewest times?", 2),
    (on.COINS, "They counted coins for half an hour. Who has the most coins?", "Sam"),
    (on.PETS, _CASES + "What fraction of pets treated were cats?", "3/10"),
    (on.PETS, _CASES + "What fraction of pets treated were not cats?", "7/10"),
    (on.DRIVERS, "Two friends took turns driving. What fraction of the driving was done by Ida?", "2/5"),
    (on.HATS, "Rae asked what hats people own. How many people do not own a hat?", 4),
    (on.HATS, "Which number of hats do the fewest people have?", 0),
    (on.GOALS, "The coach noted goals in soccer. How many players did not score a goal?", 4),
    (on.SCORES, "Which score did the greatest number of people receive?", 6),
    (on.LAKES, _BIRDS + "Which lake has the fewest birds?", "Bo"),
    (on.LAKES, _BIRDS + "How many birds are at Ava?", 12),
    (on.LAKES, _BIRDS + "How many swans live in Ava?", 7),
    (on.CLASSES, "Two classes went out. How many more students are in Ms. Orr's class than Mr. Poe's?", 2),
    (on.BEACH, "Which activity are the fewest people doing?", "Eating lunch"),
    (on.COINS, "If you combine their coins, how many coins do Lisa and Sam have?", 120),
    (on.TOLLS, "An analyst compared tolls. Which bridge charges the least for a car?", "East"),
    (on.TAKINGS, _REVENUES + "How much did Al make from pie sales?", 16),
    (on.TAKINGS, _REVENUES + "How much more did Bo make from cheese pies than Al?", 5),
    (on.MAGAZINES, _SALES + "How many more copies were sold in May than in June?", 10),
    (on.STUB, _STUB + "How much payroll tax did Ida pay in total?", 150),
    (on.STUB, _STUB + "How much did Ida make after taxes?", 750),
    (on.WITH_BONUS, "What was her net income?", 850),
    (on.ROLLS, "What is the probability that a randomly selected roll is eel and not spicy?", "1/5"),
    (on.ROLLS, "What is the probability that a randomly selected roll is not spicy?", "3/5"),
    (on.SCREWS, "Ida buys 2 pounds of size 5 screws. What is the total cost?", 16),
    (on.TOYS, "How much money does Ida need to buy 2 jet skis and 3 atlases?", 16_090),
    (on.MULTIPLES, _PROPORTION + "What is the constant of proportionality?", 5),
    (on.LUNCH, "Pupils voted. How many more upper school students than lower school students like ham?", 5),
    (on.SHOPS, "How many more staff does More Tea have than Less Milk?", 5),
    (on.RECORD, _JUNE + "On June 3, how much money did Nia make?", 12.5),
    (on.RECORD, _JUNE + "How much money did Nia spend on June 14?", 12.25),
    (on.WEEKS, "How many more kilometres did Lena run in week 4 than in week 1?", 9),
    (on.WEEKS, "How many kilometres were run in week 2?", 15),
    (on.WEEKS, "In which week did she run the most?", "4"),
    (on.WEEKS, "In how many weeks did Lena run more than 10 kilometres?", 3),
    (on.GRADES, "How many girls are in grade 6?", 9),
    (on.GRADES, "How many more girls than boys are in grade 7?", 8),
    (on.GRADES, "Which grade has the most boys?", 5),
    (on.ROOMS, "How many seats does room 12 have?", 45),
    (on.ROOMS, "Which room costs $25?", "21"),
    (on.ROOMS, "How many rooms have more than 20 seats?", 2),
    (on.GAMES, "How many more shots than goals were there in game 1?", 5),
    (on.GAMES, "In which game were no goals scored?", "3"),
]

DECLINED: list[tuple[Table, str]] = [
    (on.PLOT, _VET + "How many dogs weighed at least 20 centimeters?"),
    (on.PLOT, _VET + "How many dogs are at least 20 years old?"),
    (on.PLOT, _VET + "How many cats weighed at least 20 pounds?"),
    (on.PLOT, _VET + "How many brown dogs weighed at least 20 pounds?"),
    (on.PLOT, _VET + "How many dogs weighed at least 20 pounds on Monday?"),
    (on.PLOT, _VET + "What is the average weight?"),
    (on.DOG_WEIGHTS, "How many dogs are at least 20 centimeters tall?"),
    (on.PLOT, _PLANTS + "How many plants measured at least 20 square meters?"),
    (on.PLOT, _PLANTS + "How many plants grew for at least 20 days?"),
    (on.PLOT, _DRIVES + "How many drives were at least 20 miles long?"),
    (on.PLOT, _TANKS + "How many girls have at least 20 fish?"),
    (on.PLOT, _TANKS + "How many ponds have at least 20 fish?"),
    (on.PLOT, _TANKS + "What is the largest number of fish per shop?"),
    (on.PLOT, "Lee measures the rooms. How many rooms are at least 20 square seconds?"),
    (on.PLOT, _TANKS + "How many tanks have at least 20 crabs?"),
    (on.AID, "How much aid did Togo receive in 1990?"),
    (on.AID, "It lists the aid each country sent to the poor. How much aid did Togo receive in 1990?"),
    (on.AID, "A table shows exports. How many imports did Chad have in 1990?"),
    (on.AID, "A book lists wins of the Fields Medal. How many Fields Medal losers did Chad have in 1990?"),
    (on.AID, "How many tourists left Mali in 2000?"),
    (on.AID, "How many people per year moved to Chad?"),
    (on.EXPORTS, "How many people per square mile lived in Chad in 2000?"),
    (on.EXPORTS, "How many Nobel winners did Chad have in 2000?"),
    (on.MELONS, "A farmer checked prices. How much did half a crate of Galia melons cost in 2015?"),
    (on.MELONS, "A farmer checked prices. How much did 3 crates of Galia melons cost in 2015?"),
    (on.TOWNS, "4 nearby towns were surveyed. How many people live in Ayr?"),
    (on.TOWNS, "Then 3 families moved to Ayr. How many people live in Ayr?"),
    (on.SPINS, "The pupils spun a wheel with the numbers 1 through 4. How many pupils spun a 3?"),
    (on.COINS, "Sam lost half of his coins. Who has the most coins?"),
    (on.PETS, _CASES + "What fraction of sick pets were cats?"),
    (on.PETS, _CASES + "What fraction of the cats treated were dogs?"),
    (on.PETS, "Boys and girls named their pets. What fraction of girls have cats?"),
    (on.DRIVERS, "What fraction of the singing was done by Ida?"),
    (on.HATS, "Rae asked what hats people own. How many people do not own a scarf?"),
    (on.HATS, "Rae asked what hats people own. How many people do not own 2 hats?"),
    (on.HATS, "How many hats are there in all?"),
    (on.HATS, "What is the total number of hats?"),
    (on.HATS, "Which number of hats do the most people have?"),
    (on.GOALS, "The coach noted goals in soccer. How many players did not play soccer?"),
    (on.SCORES, "Which score do most boys have?"),
    (on.LAKES, _BIRDS + "How many young birds are at Ava?"),
    (on.LAKES, "How many birds are at Ava?"),
    (on.DEEP_LAKES, _BIRDS + "Which lake has the fewest birds?"),
    (on.BEACH, "How many adults are walking?"),
    (on.COINS, "If you double her coins, how many coins does Lisa have?"),
    (on.COINS, "If Tom gives Lisa 5 coins, how many coins does Lisa have?"),
    (on.CHANGES, "A 10% discount applies. Which option results in a greater change in price?"),
    (on.TOLLS, "An analyst compared the tolls. Which bridge earned the most from cars?"),
    (on.TAKINGS, _REVENUES + "How much did Al spend on cheese pies?"),
    (on.TAKINGS, _REVENUES + "How many pies did Al sell?"),
    (on.TAKINGS, "A report lists the prices of pies. How much did Al make from pies?"),
    (on.MAGAZINES, _SALES + "How many copies were returned in May?"),
    (on.MAGAZINES, _SALES + "How many articles were sold in May?"),
    (on.STUB, _STUB + "How much other tax did Ida pay in total?"),
    (on.STUB, _STUB + "How much did Jon make after taxes?"),
    (on.STUB, _STUB + "How much did Ida make after taxes and rent?"),
    (on.WITH_INSURANCE, "What was her net income?"),
    (on.WITH_REFUND, "What was her net income?"),
    (on.ROLLS, "What is the probability that a randomly selected roll is not eel?"),
    (on.ROLLS, "What is the probability that a spicy roll is eel?"),
    (on.SCREWS, "Ida buys 4 pounds of size 6 screws. What is the total cost?"),
    (on.TOYS, "How much money does Ida need to rent 2 jet skis?"),
    (on.TOYS, "Ida has $9,000. How much money will Jon have left if he buys a jet ski?"),
    (on.NO_MULTIPLES, "What is the constant of proportionality?"),
    (on.RECORD, _JUNE + "How much money did Nia spend on July 14?"),
    (on.RECORD, _JUNE + "How much money did Nia spend on June 30?"),
    (on.RECORD, _JUNE + "How much money did Nia earn on June 14?"),
    (on.UNCLEAR_DATES, "What was the amount on March 4?"),
    (on.WEEKS, "How many kilometres did Lena run in week 5?"),
    (on.WEEKS, "How many kilometres did Lena run in 4 weeks?"),
    (on.WEEKS, "How many kilometres did Lena run after week 2?"),
    (on.WEEKS, "How many kilometres did she run on day 2?"),
    (on.BENS_WEEKS, "How many kilometres did Lena run in week 2?"),
    (on.RUNS, "How many kilometres did she swim in week 2?"),
    (on.GRADES, "What is the average grade?"),
    (on.GRADES, "How many students are in grade 8?"),
    (on.GAMES, "How many goals did Rex score in game 1?"),
    (on.GAMES, "How many goals were scored in the last game?"),
]


@pytest.fixture(scope="module")
def executor() -> Iterator[Sandbox]:
    with make_sandbox(libraries=()) as ready:
        yield ready


@pytest.mark.parametrize(
    ("table", "question", "expected"), ANSWERED, ids=[question for _, question, _ in ANSWERED]
)
def test_what_question_and_story_tell_is_answered(
    executor: Sandbox, table: Table, question: str, expected: Any
) -> None:
    result = executor.run(write_program(question, table).code, {"table": table.to_program_input()})
    assert result.ok, result.message
    assert result.value == (pytest.approx(expected) if isinstance(expected, float) else expected)


@pytest.mark.parametrize(("table", "question"), DECLINED, ids=[question for _, question in DECLINED])
def test_what_looks_alike_is_declined(table: Table, question: str) -> None:
    with pytest.raises(Declined) as declined:
        write_program(question, table)
    assert declined.value.what


def test_a_change_is_compared_without_its_sign_only_where_one_asks_for_it(executor: Sandbox) -> None:
    story = "She can get a discount with a used one. "
    choices = ("adding a case", "taking a used one")
    for question, expected in (
        ("Which option results in a greater change in price?", "taking a used one"),
        ("Which option results in a higher price?", "adding a case"),
    ):
        program = write_program(story + question, on.CHANGES, choices)
        assert executor.run(program.code, {"table": on.CHANGES.to_program_input()}).value == expected

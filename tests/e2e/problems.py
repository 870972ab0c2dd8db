"""A race, and word problems over tables of several kinds: made from a seed, no two alike."""

import random
from collections.abc import Callable
from typing import Any

from chameleon import Table

Problem = dict[str, Any]

_PEOPLE = ("Amara", "Boris", "Chiara", "Dilan", "Esra", "Farid", "Greta", "Hugo", "Ines", "Jonas")
_GOODS = ("lantern", "kettle", "rug", "stool", "vase", "mirror", "shelf", "clock", "basket", "blanket")
_TOWNS = ("Ashford", "Birkdale", "Colwick", "Denholm", "Elmstead", "Fairlie", "Gosford")
_YEARS = ("2016", "2017", "2018", "2019", "2020")


def make_problems(count: int, seed: int = 20) -> list[Problem]:
    chance = random.Random(seed)
    return [_KINDS[number % len(_KINDS)](chance, number) for number in range(count)]


def _prices(chance: random.Random, number: int) -> Problem:
    goods = chance.sample(_GOODS, 6)
    rows = [[good, f"${chance.randint(2, 90)}.{chance.randint(10, 99)}"] for good in goods]
    question = f"How much more does a {goods[0]} cost than a {goods[3]}?"
    return {"question": question, "table": Table(["Article", "Price"], rows, f"Shop {number}"), "unit": "$"}


def _results(chance: random.Random, number: int) -> Problem:
    people = chance.sample(_PEOPLE, 8)
    rows = [[name, *(str(chance.randint(10, 99)) for _ in _YEARS)] for name in people]
    year = chance.choice(_YEARS)
    question = f"Club {number}: how many points did {people[1]} and {people[5]} score together in {year}?"
    return {"question": question, "table": Table(["Player", *_YEARS], rows, f"Points, club {number}")}


def _timetable(chance: random.Random, number: int) -> Problem:
    stops = chance.sample(_TOWNS, 5)
    begins = [chance.randint(6, 11) for _ in range(4)]
    rows = [[stop, *(f"{hour}:{10 + 9 * n} A.M." for hour in begins)] for n, stop in enumerate(stops)]
    question = f"Line {number}: when does the first train reach {stops[2]}?"
    return {"question": question, "table": Table(rows[0], rows[1:], "Trains"), "choices": rows[2][1:]}


def _mean(chance: random.Random, number: int) -> Problem:
    rows = [[town, str(chance.randint(100, 9_999))] for town in chance.sample(_TOWNS, 5)]
    question = f"What is the mean of the numbers of visitors in week {number}?"
    return {"question": question, "table": Table(["Town", "Visitors"], rows, "Visitors"), "unit": "visitors"}


_KINDS: tuple[Callable[[random.Random, int], Problem], ...] = (_prices, _results, _timetable, _mean)


def table(text: str, caption: str = "") -> Table:
    header, *rows = (line.split(" | ") for line in text.strip().splitlines())
    return Table(header, rows, caption)


RACE = table(
    """
Rank | Cyclist | Team | Points
1 | Ugo Ferri (ITA) | Velo Nord | 40
2 | Iker Sola (ESP) | Tandem | 30
3 | Lev Orlov (RUS) | Tandem | 25
4 | Dario Bo (ITA) | Ruota | 20
5 | Jon Arana (ESP) | Ruota | 15
6 | Piero Neri (ITA) | Velo Nord | 11
""",
    "A race of ours",
)

"""Word problems over small tables, made from a seed: no two are alike, and tables come in several kinds."""

from __future__ import annotations

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
    """`count` inputs for the inventory tabmwp, each of the kinds below in turn."""
    chance = random.Random(seed)
    return [_KINDS[number % len(_KINDS)](chance, number) for number in range(count)]


def _prices(chance: random.Random, number: int) -> Problem:
    goods = chance.sample(_GOODS, 6)
    rows = [[good, f"${chance.randint(2, 90)}.{chance.randint(10, 99)}"] for good in goods]
    question = f"Shop {number}: how much more does a {goods[0]} cost than a {goods[3]}?"
    return {"question": question, "table": Table(["Article", "Price"], rows), "unit": "$"}


def _results(chance: random.Random, number: int) -> Problem:
    people = chance.sample(_PEOPLE, 8)
    rows = [[name, *(str(chance.randint(10, 99)) for _ in _YEARS)] for name in people]
    year = chance.choice(_YEARS)
    question = f"Club {number}: how many points did {people[1]} and {people[5]} score together in {year}?"
    return {"question": question, "table": Table(["Player", *_YEARS], rows, f"Points, club {number}")}


def _stems(chance: random.Random, number: int) -> Problem:
    rows = [[str(stem), ", ".join(str(chance.randint(0, 9)) for _ in range(4))] for stem in range(1, 5)]
    question = f"In survey {number}, how many people are at least {chance.randint(15, 40)} years old?"
    return {"question": question, "table": Table(["Stem", "Leaf"], rows), "unit": "people"}


def _timetable(chance: random.Random, number: int) -> Problem:
    stops = chance.sample(_TOWNS, 5)
    begins = [chance.randint(6, 11) for _ in range(4)]
    rows = [
        [stop, *(f"{hour}:{10 + 9 * position} A.M." for hour in begins)]
        for position, stop in enumerate(stops)
    ]
    question = f"Line {number}: when does the first train reach {stops[2]}?"
    return {"question": question, "table": Table(rows[0], rows[1:], "Trains"), "choices": rows[2][1:]}


def _function(chance: random.Random, number: int) -> Problem:
    slope, start = chance.randint(2, 9), chance.randint(1, 50)
    rows = [[str(x), str(start + slope * x + (chance.randint(0, 1)))] for x in range(3, 7)]
    question = f"Exercise {number} shows a function. Is the function linear or nonlinear?"
    choices = ["linear", "nonlinear"]
    return {"question": question, "table": Table(["x", "y"], rows), "choices": choices}


def _market(chance: random.Random, number: int) -> Problem:
    rows = [
        [f"${price}", f"{chance.randint(2, 9)},{chance.randint(100, 999)}", f"{chance.randint(1000, 9999)}"]
        for price in range(100, 160, 12)
    ]
    question = f"Look at market {number}. At a price of $124, is there a shortage or a surplus?"
    header = ["Price", "Quantity demanded", "Quantity supplied"]
    return {"question": question, "table": Table(header, rows), "choices": ["shortage", "surplus"]}


def _cross_table(chance: random.Random, number: int) -> Problem:
    rows = [[side, *(str(chance.randint(1, 9)) for _ in range(3))] for side in ("Clay", "Glass", "Wood")]
    question = f"Box {number}: what is the probability that a bead is small and made of glass?"
    return {"question": question, "table": Table(["", "Small", "Medium", "Large"], rows)}


def _mean(chance: random.Random, number: int) -> Problem:
    rows = [[town, str(chance.randint(100, 9_999))] for town in chance.sample(_TOWNS, 5)]
    return {
        "question": f"What is the mean of the numbers of visitors in week {number}?",
        "table": Table(["Town", "Visitors"], rows, "Visitors"),
        "unit": "visitors",
    }


def _wide(chance: random.Random, number: int) -> Problem:
    towns = chance.sample(_TOWNS, 4)
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    rows = [[day, *(str(chance.randint(0, 40)) for _ in towns)] for day in days]
    question = f"In month {number}, how many parcels were sent to {towns[0]} on {days[number % 5]}?"
    return {"question": question, "table": Table(["Day", *towns], rows, "Parcels")}


_KINDS: tuple[Callable[[random.Random, int], Problem], ...] = (
    _prices,
    _results,
    _stems,
    _timetable,
    _function,
    _market,
    _cross_table,
    _mean,
    _wide,
)

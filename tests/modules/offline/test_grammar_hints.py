"""A declined question is not advised to ask for what it asks for, nor shown columns without a name."""

from __future__ import annotations

import pytest

from chameleon import Declined, Table
from chameleon.modules.offline.grammar import write_program

WEATHER = Table(
    ["date", "temp_max", "wind"], [[f"2012-01-0{d}", f"{d}.5", f"{9 - d}.1"] for d in range(1, 8)]
)
CARS = Table(
    ["", "Model", "Min.Price", "Price"], [[str(n), f"Car{n}", f"{n + 7}", f"{n + 9}"] for n in range(1, 6)]
)
ADVICE = "Ask for their total, average, highest or lowest."


def declined(question: str, table: Table) -> Declined:
    with pytest.raises(Declined) as told:
        write_program(question, table)
    return told.value


@pytest.mark.parametrize("asked", ["the highest temp_max", "the total", "the average of wind in date"])
def test_what_was_asked_for_is_no_advice(asked: str) -> None:
    try:
        write_program(f"What was {asked}?", WEATHER)
    except Declined as told:
        assert ADVICE not in told.hint


def test_the_advice_stays_where_nothing_was_asked_for() -> None:
    assert declined("What was the wind?", WEATHER).hint == ADVICE


def test_a_column_without_a_name_is_told_by_its_number() -> None:
    told = declined("Which Model is over 10?", CARS)
    assert "There are: " in told.hint and ": ," not in told.hint and ", ," not in told.hint

"""What a cell means: numbers with units, dates, times, text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

from chameleon.table import read_value


@pytest.mark.parametrize(
    ("cell", "number", "unit"),
    [
        ("$1,250.50", Fraction("1250.5"), "$"),
        ("3/4", Fraction(3, 4), ""),
        ("1 1/2 cups", Fraction(3, 2), "cups"),
        ("-7", Fraction(-7), ""),
        ("(12)", Fraction(-12), ""),
        ("12 %", Fraction(12), "%"),
        ("$0.96/lb", Fraction("0.96"), "$ per lb"),
        ("2.5 million", Fraction(2_500_000), ""),
        ("4.5 kg", Fraction("4.5"), "kg"),
        ("3rd", Fraction(3), "rd"),
    ],
)
def test_numbers(cell: str, number: Fraction, unit: str) -> None:
    value = read_value(cell)
    assert (value.kind, value.number, value.unit) == ("number", number, unit)


@pytest.mark.parametrize("cell", ["43 BC", "1066 AD", "9th century", "2nd half", "4/0", "x 7", "19.5.5"])
def test_text_with_digits(cell: str) -> None:
    assert read_value(cell).kind == "text"


@pytest.mark.parametrize("cell", ["", " ", "-", "—", "n/a", "None"])
def test_empty_cells(cell: str) -> None:
    assert read_value(cell).kind == "empty"


@pytest.mark.parametrize(
    ("cell", "date"),
    [
        ("2024-05-04", "2024-05-04"),
        ("5/4/2024", "2024-05-04"),
        ("May 4, 2024", "2024-05-04"),
        ("4 May 2024", "2024-05-04"),
    ],
)
def test_dates(cell: str, date: str) -> None:
    value = read_value(cell)
    assert value.date is not None
    assert value.date.isoformat() == date


@pytest.mark.parametrize(
    ("cell", "time"), [("9:45 A.M.", "09:45"), ("12:05 pm", "12:05"), ("18:30", "18:30"), ("7 PM", "19:00")]
)
def test_times(cell: str, time: str) -> None:
    value = read_value(cell)
    assert value.time is not None
    assert value.time.isoformat("minutes") == time


@given(some.text(max_size=30))
def test_any_text_is_read(cell: str) -> None:
    value = read_value(cell)
    assert value.text == cell
    assert (value.number is not None) == (value.kind == "number")

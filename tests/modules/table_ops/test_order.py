"""In what order cells stand, and which are neither sorted, compared nor summed."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.aggregate import Aggregate
from chameleon.modules.table_ops.filter_rows import rows_where
from chameleon.modules.table_ops.order import datatype_of, date_in, keys_of, number_in, refuse_mixed_units
from chameleon.modules.table_ops.sort_by import ASCENDING, DESCENDING, Sorting

PLAIN = st.sampled_from(["0", "7", "-12", "+3", "1203", "1,203", "12,345,678", "1,203.50", "0.25", "007"])


ODD = st.sampled_from(
    ["", "1,5", "1 2", "12,34", "1,2345", "26 pts", "$4.5 million", "1:52.33", "w 20-7", "nan", "−4"]
)


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1,203", 1203.0),
        ("-1,203.5", -1203.5),
        ("1,5", 1.5),
        ("12,34", 12.34),
        (" 8 ", 8.0),
        ("1e3", 1000.0),
        ("26 pts", 26.0),
        ("1.200,50 €", None),
        ("about 1,200,50", None),
        ("$4.5 million", 4_500_000.0),
        ("1:52.33", 112.33),
        ("w 20-7", 20.0),
        ("nan", None),
        ("Infinity", None),
        ("1e999", None),
        ("", None),
    ],
)
def test_a_number_is_read_where_it_begins(cell: str, number: float | None) -> None:
    assert number_in(cell) == number


@settings(max_examples=100, deadline=None)
@given(st.lists(PLAIN) | st.lists(PLAIN | ODD) | st.lists(st.text("0123456789,.- ", max_size=6)))
def test_a_column_of_numbers_is_read_as_its_cells_are(cells: list[str]) -> None:
    assert keys_of(cells, "number") == [number_in(cell) for cell in cells]


@pytest.mark.parametrize(
    ("cell", "date"),
    [
        ("October 4, 2009", (2009, 10, 4)),
        ("Sept 14, 2012", (2012, 9, 14)),
        ("February 30, 2009", (2009, 2, 30)),
        ("2009-10-04", (2009, 10, 4)),
        ("4 October", (0, 10, 4)),
        ("Oct 2009", (2009, 10, 0)),
        ("2009", (2009, 0, 0)),
        ("Points 4, 2009", (2009, 0, 0)),
        ("no day", None),
    ],
)
def test_a_date_is_read_as_far_as_it_is_said(cell: str, date: tuple[int, ...] | None) -> None:
    found = date_in(cell)
    assert (found and found[:3]) == date


@settings(max_examples=100, deadline=None)
@given(
    cells=st.lists(PLAIN | ODD, min_size=1),
    descending=st.booleans(),
    datatype=st.sampled_from(["number", "date", "text"]),
)
def test_sorting_orders_keys_keeps_ties_and_puts_the_rest_last(
    cells: list[str], descending: bool, datatype: Any
) -> None:
    table = Table(["cell", "place"], [[cell, str(place)] for place, cell in enumerate(cells)])
    args = {"column": "cell", "order": DESCENDING if descending else "small to large", "datatype": datatype}
    keys = keys_of(cells, datatype)
    try:
        rows = Sorting().apply(table, args).rows
    except StepRejected:
        assert all(key is None for key in keys)
        return
    places = [int(row[1]) for row in rows]
    keyed = [place for place in places if keys[place] is not None]
    assert places == keyed + [place for place, key in enumerate(keys) if key is None]
    for before, after in pairwise(keyed):
        assert before < after if keys[before] == keys[after] else (keys[before] > keys[after]) == descending


def test_months_with_their_year_are_dates_to_every_operation() -> None:
    released = Table(["Released"], [["May 2020"], ["June 2021"], ["April 2019"], [""]])
    before = rows_where('Released < "May 2020"', released)
    latest = Aggregate().apply(released, {"function": "max", "column": "Released", "by": None})
    assert (
        datatype_of(["Sept. 2009", "Oct 2009"]) == "date" and datatype_of(["May", "Marching 2009"]) == "text"
    )
    assert before == [False, False, True, False] and latest.rows[0] == ("June 2021",)


GOODS = Table(["Product", "Weight"], [["Toaster", "950 g"], ["Kettle", "1.2 kg"], ["Oven", "12 kg"]])


NAMED = "the column 'Weight' has different units: g, kg"


def test_no_operation_takes_grams_for_kilograms() -> None:
    with pytest.raises(StepRejected, match=NAMED):
        Sorting().apply(GOODS, {"column": "Weight", "order": ASCENDING, "datatype": "number"})
    with pytest.raises(StepRejected, match=NAMED):
        Aggregate().apply(GOODS, {"function": "sum", "column": "Weight", "by": None})
    with pytest.raises(StepRejected, match=NAMED):
        rows_where('Weight > "1 kg"', GOODS)
    kilograms = Table(["Weight"], [["2 kg"], ["0.5 kg"]])
    assert rows_where("Weight > 1", kilograms) == [True, False]
    with pytest.raises(StepRejected, match="kg, g"):
        rows_where('Weight > "900 g"', kilograms)


@pytest.mark.parametrize(
    ("cells", "mixed"),
    [
        (["9.1 M€", "9,500,000 €"], True),
        (["$5", "€4"], True),
        (["3 h", "20 min"], True),
        (["6 ft", "6 ft 1 in"], True),
        (["1 win", "2 wins"], False),
        (["1 minute", "3 mins"], False),
        (["€ 4", "5 €"], False),
        (["4", "5 kg", "0¼"], False),
    ],
)
def test_scales_currencies_and_pairs_are_units_and_words_and_bare_numbers_are_not(
    cells: list[str], mixed: bool
) -> None:
    with pytest.raises(StepRejected) if mixed else nullcontext():
        refuse_mixed_units("Size", cells)

"""In what order the cells of a column stand, which columns have none, and how models write an order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.order import keys_of
from chameleon.modules.table_ops.sort_by import ASCENDING, DESCENDING, SortBy
from tests.modules.table_ops.doubles import TABLE

FORMS = (
    "|0|7|-12|+3|1,203|12,345,678|0.25|007|26 pts|$4.5 million|1:52.33|w 20-7|nan|−4|May 2020|5/4/2024|DNF"
)
CELLS = st.sampled_from(FORMS.split("|"))


def in_order(cells: list[str], datatype: str, order: str = ASCENDING) -> list[str]:
    table = Table(["V"], [[cell] for cell in cells])
    args = {"column": "V", "order": order, "datatype": datatype}
    return [cell for (cell,) in SortBy().apply(table, args).rows]


@pytest.mark.parametrize(
    ("cells", "datatype"),
    [
        (["$(900)", "$300", "$1,200"], "number"),
        (["(6.0%)", "1.0%", "4.0%"], "number"),
        (["300.00-", "45-", "10"], "number"),
        (["900K", "1.2M"], "number"),
        (["85 ms", "2.4 s"], "number"),
        (["1:49.10", "1:52.33"], "number"),
        (["7", "26 pts", ""], "number"),
        (["7", "9", "DNF"], "number"),
        (["l 7-14", "w 20-7"], "number"),  # the first number of a text, as in the published code
        (["2024-03-01 08:15", "2024-03-01 23:30"], "date"),
        (["Dec-23", "Jan-24"], "date"),
        (["14/06/2024", "25/12/2024"], "date"),
        (["sept 20", "oct 4", "nov 22"], "date"),
        (["9:45 am", "2:05 pm"], "date"),
        (["ann", "Bob", ""], "text"),
    ],
)
def test_cells_stand_in_the_order_of_what_they_mean(cells: list[str], datatype: str) -> None:
    assert in_order([*reversed(cells)], datatype) == cells


@pytest.mark.parametrize(
    "cells", [["$100", "€90"], ["5%", "0.04"], ["7", "<5"], ["12.500 €", "980 €"], ["1:05:12", "12:40"]]
)
def test_what_is_not_one_measure_is_not_sorted(cells: list[str]) -> None:
    with pytest.raises(StepRejected, match="the column 'V' is not clear"):
        in_order(cells, "number")


@settings(max_examples=100, deadline=None)
@given(
    cells=st.lists(CELLS, min_size=1),
    descending=st.booleans(),
    datatype=st.sampled_from(["number", "date", "text"]),
)
def test_sorting_orders_keys_keeps_ties_and_puts_the_rest_last(
    cells: list[str], descending: bool, datatype: Any
) -> None:
    table = Table(["cell", "place"], [[cell, str(place)] for place, cell in enumerate(cells)])
    args = {"column": "cell", "order": DESCENDING if descending else ASCENDING, "datatype": datatype}
    try:
        keys = keys_of(table.columns[0], datatype)
        rows = SortBy().apply(table, args).rows
    except StepRejected as refused:
        assert "is not clear" in str(refused) or all(key is None for key in keys)
        return
    places = [int(row[1]) for row in rows]
    keyed = [place for place in places if keys[place] is not None]
    assert places == keyed + [place for place, key in enumerate(keys) if key is None]
    for before, after in pairwise(keyed):
        assert before < after if keys[before] == keys[after] else (keys[before] > keys[after]) == descending


@pytest.mark.parametrize(
    ("reply", "order"),
    [
        ("f_sort_by(Rank). The order is from-large-to-small.", "large to small"),
        ("f_sort_by(Rank)\nOrder: Descend", "large to small"),
        ("f_sort_by(Rank). Order: ascend", "small to large"),
        ("f_sort_by(Rank) desc", "large to small"),
        ("f_sort_by(Rank), in descending order.", "large to small"),
        ("f_sort_by([Rank]), from the largest to the smallest.", "large to small"),
        ("f_sort_by(Rank, asc)", "small to large"),
        ('f_sort(Rank), the order is "largest to smallest".', "large to small"),
        ("In the order of the ranks. f_sort(Rank), the order is “lowest to highest”", "small to large"),
    ],
)
def test_an_order_is_read_in_all_forms_that_models_write(reply: str, order: str) -> None:
    args = SortBy().read_args(reply, TABLE)
    assert (args["column"], args["order"]) == ("Rank", order)


@pytest.mark.parametrize("rest", ["", ", small to large or large to small", ". Describe it."])
def test_an_order_that_is_not_named_is_not_guessed(rest: str) -> None:
    with pytest.raises(StepRejected, match="names no order"):
        SortBy().read_args(f"f_sort_by(Rank){rest}", TABLE)

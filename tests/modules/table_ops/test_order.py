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
from tests.modules.table_ops.doubles import TABLE, column

FORMS = (
    "|0|7|-12|+3|1,203|12,345,678|0.25|007|26 pts|$4.5 million|1:52.33|w 20-7|nan|−4|May 2020|5/4/2024|DNF"
)
CELLS = st.sampled_from(FORMS.split("|"))


def in_order(table: Table, datatype: str) -> str:
    args = {"column": "V", "order": ASCENDING, "datatype": datatype}
    return "|".join(cell for (cell,) in SortBy().apply(table, args).rows)


@pytest.mark.parametrize(
    ("cells", "datatype"),
    [
        ("$(900)|$300|$1,200", "number"),
        ("85 ms|2.4 s", "number"),
        ("1:49.10|1:52.33", "number"),
        ("7|26 pts|", "number"),
        ("7|9|DNF", "number"),
        ("l 7-14|w 20-7", "number"),  # the first number of a text, as in the published code
        ("2024-03-01 08:15|2024-03-01 23:30", "date"),
        ("14/06/2024|25/12/2024", "date"),
        ("sept 20|oct 4|nov 22", "date"),
        ("9:45 am|2:05 pm", "date"),
        ("ann|Bob|", "text"),
    ],
)
def test_cells_stand_in_the_order_of_what_they_mean(cells: str, datatype: str) -> None:
    assert in_order(column("|".join(reversed(cells.split("|")))), datatype) == cells


@pytest.mark.parametrize("cells", ["$100|€90", "7|<5", "1:05:12|12:40"])
def test_what_is_not_one_measure_is_not_sorted(cells: str) -> None:
    with pytest.raises(StepRejected, match="the column 'V' is not clear"):
        in_order(column(cells), "number")


@settings(max_examples=100, deadline=None)
@given(st.lists(CELLS, min_size=1), st.sampled_from([ASCENDING, DESCENDING]), st.sampled_from("ndt"))
def test_sorting_orders_keys_keeps_ties_and_puts_the_rest_last(
    cells: list[str], order: str, initial: str
) -> None:
    table = Table(["cell", "place"], [[cell, str(place)] for place, cell in enumerate(cells)])
    datatype: Any = {"n": "number", "d": "date", "t": "text"}[initial]
    try:
        keys = keys_of(table.columns[0], datatype)
        rows = SortBy().apply(table, {"column": "cell", "order": order, "datatype": datatype}).rows
    except StepRejected as refused:
        assert "is not clear" in str(refused) or all(key is None for key in keys)
        return
    places = [int(row[1]) for row in rows]
    keyed = [place for place in places if keys[place] is not None]
    assert places == keyed + [place for place, key in enumerate(keys) if key is None]
    for one, next in pairwise(keyed):
        assert one < next if keys[one] == keys[next] else (keys[one] > keys[next]) == (order == DESCENDING)


@pytest.mark.parametrize(
    ("reply", "order"),
    [
        ("f_sort_by(Rank). The order is from-large-to-small.", DESCENDING),
        ("f_sort_by(Rank)\nOrder: Descend", DESCENDING),
        ("f_sort_by(Rank). Order: ascend", ASCENDING),
        ("f_sort_by(Rank) desc", DESCENDING),
        ("f_sort_by(Rank), in descending order.", DESCENDING),
        ("f_sort_by([Rank]), from the largest to the smallest.", DESCENDING),
        ("f_sort_by(Rank, asc)", ASCENDING),
        ('f_sort(Rank), the order is "largest to smallest".', DESCENDING),
        ("In the order of the ranks. f_sort(Rank), the order is “lowest to highest”", ASCENDING),
        *(
            (f"f_sort_by(Rank){rest}", None)
            for rest in ("", ", small to large or large to small", ". It is.")
        ),
    ],
)
def test_an_order_is_read_in_all_forms_that_models_write(reply: str, order: str | None) -> None:
    if order is None:
        with pytest.raises(StepRejected, match="names no order"):
            SortBy().read_args(reply, TABLE)
        return
    args = SortBy().read_args(reply, TABLE)
    assert (args["column"], args["order"]) == ("Rank", order)

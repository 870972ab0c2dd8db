"""`f_sort_by`: an order is read in the forms that models write, or rejected."""

from __future__ import annotations

import pytest

from chameleon import StepRejected
from chameleon.modules.table_ops.sort_by import SortBy
from tests.modules.table_ops.doubles import TABLE


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

"""Replies to the operations of Chain-of-Table are read in full, in the forms models write, or rejected."""

from __future__ import annotations

import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.aggregate import GroupBy
from chameleon.modules.table_ops.selection import SelectColumn, SelectRow
from chameleon.modules.table_ops.sort_by import SortBy

ROWS = 12
TABLE = Table(
    ["Rank", "Team", "Won, lost", "Drawn and lost", "Count (all)"],
    [[str(row), "x", "y", "z", str(row)] for row in range(1, ROWS + 1)],
)


@pytest.mark.parametrize(
    ("inside", "rows"),
    [
        ("[row 1, row 3 to row 5]", [1, 3, 4, 5]),
        ("[row 1, row 3 to 5]", [1, 3, 4, 5]),
        ("[row 1, row 3-5, row 9]", [1, 3, 4, 5, 9]),
        ("[row 1, row 2, and row 3]", [1, 2, 3]),
        ("[rows 1, 2, 3]", [1, 2, 3]),
        ("[1 and 2]", [1, 2]),
        ("row 1 & row 2", [1, 2]),
        ("[row 1 - row 3]", [1, 2, 3]),
        ("[rows 2–4]", [2, 3, 4]),
        ("[row 1 through row 3; row 9]", [1, 2, 3, 9]),
        ("[row 1; row 2]", [1, 2]),
        ('["row 1", "row 2"]', [1, 2]),
        ("[Row1,\nRow 3]", [1, 3]),
        ("[row 2, row 1]", [1, 2]),
        ("[row 11 to row 999999999]", [11, 12]),
    ],
)
def test_rows_are_read_in_all_forms_that_models_write(inside: str, rows: list[int]) -> None:
    assert SelectRow().read_args(f"The answer is : f_row({inside}).", TABLE) == {"rows": rows}


@pytest.mark.parametrize(
    "inside",
    [
        "[row 1, ..., row 10]",
        "row 1, row 2, row 3…",
        "[row 1, row 2, …]",
        "[row 1, the last row]",
        "[row 1, row -2]",
        "[row 5 to row 3]",
        "[row 1, row 3 to 5 to 7]",
        "[row 1, 2.5]",
        "[row 1, row 12345678901]",
        "[row 1 row 2]",
        "[row 1, *]",
        "[row 1,",
        "[row 1, ro",
    ],
)
def test_rows_that_cannot_be_read_in_full_are_no_vote(inside: str) -> None:
    with pytest.raises(StepRejected):
        SelectRow().read_args(f"The answer is : f_row({inside})", TABLE)


JOINS = [", ", ",", "; ", " and ", ", and ", " & ", " - ", " to ", " ... ", ", …, ", "\n", " or ", " "]


@given(
    st.lists(st.tuples(st.sampled_from(["row ", "rows ", "", "Row"]), st.integers(1, ROWS)), min_size=1),
    st.data(),
)
def test_what_is_accepted_has_all_rows_that_the_text_names(
    parts: list[tuple[str, int]], data: st.DataObject
) -> None:
    text = "".join(
        f"{data.draw(st.sampled_from(JOINS)) if place else ''}{word}{number}"
        for place, (word, number) in enumerate(parts)
    )
    try:
        rows = SelectRow().read_args(f"f_row([{text}])", TABLE)["rows"]
    except StepRejected:
        return
    ranges = re.findall(r"(\d+)(?: - | to )\D*(\d+)", text)
    within = chain.from_iterable(range(int(first), int(last) + 1) for first, last in ranges)
    assert set(rows) == {number for _, number in parts} | set(within)


@pytest.mark.parametrize(
    ("inside", "columns"),
    [
        ("[Rank, and Team]", ["Rank", "Team"]),
        ("[rank and team]", ["Rank", "Team"]),
        ("[Rank; Team]", ["Rank", "Team"]),
        ("Team & Rank", ["Rank", "Team"]),
        ('["Rank", "Team"]', ["Rank", "Team"]),
        ("[Won, lost, and Rank]", ["Rank", "Won, lost"]),
        ("[won,lost]", ["Won, lost"]),
        ("[Drawn and lost and Rank]", ["Rank", "Drawn and lost"]),
        ("[Count (all), Rank]", ["Rank", "Count (all)"]),
    ],
)
def test_columns_are_read_in_all_forms_that_models_write(inside: str, columns: list[str]) -> None:
    assert SelectColumn().read_args(f"f_col({inside})", TABLE) == {"columns": columns}


@pytest.mark.parametrize("inside", ["[Rank, Teem]", "[Rank, ...]", "[Rank, Team,", "[Rank or Team]", "[]"])
def test_a_column_that_is_not_there_is_never_left_out(inside: str) -> None:
    with pytest.raises(StepRejected, match="no column is named"):
        SelectColumn().read_args(f"f_col({inside})", TABLE)


@given(st.lists(st.sampled_from([*TABLE.header, "Teem"]), min_size=1), st.data())
def test_what_is_accepted_has_all_columns_that_the_text_names(names: list[str], data: st.DataObject) -> None:
    joins = [data.draw(st.sampled_from(JOINS)) for _ in names[1:]]
    text = "".join(chain.from_iterable(zip(names, [*joins, ""], strict=True)))
    try:
        columns = SelectColumn().read_args(f"f_col([{text}])", TABLE)["columns"]
    except StepRejected:
        return
    assert set(columns) == set(names)


@pytest.mark.parametrize(
    "reply", ["f_group_by([Team])", "f_group(team)", 'f_group_by(["Team"])', "f_group_by('Team')"]
)
def test_a_group_may_be_named_in_brackets(reply: str) -> None:
    assert GroupBy().read_args(reply, TABLE) == {"column": "Team"}
    header = Table(["[Team]"], [["x"]])
    assert GroupBy().read_args("f_group([Team])", header) == {"column": "[Team]"}


@pytest.mark.parametrize(
    ("reply", "order"),
    [
        ("f_sort_by(Rank). The order is from-large-to-small.", "large to small"),
        ("f_sort_by(Rank). The order is from small to large.", "small to large"),
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


@pytest.mark.parametrize(
    "reply",
    ["f_sort_by(Rank)", "f_sort_by(Rank), small to large or large to small", "f_sort_by(Rank). Describe it."],
)
def test_an_order_that_is_not_named_is_not_guessed(reply: str) -> None:
    with pytest.raises(StepRejected, match="names no order"):
        SortBy().read_args(reply, TABLE)


@pytest.mark.parametrize(
    "reply",
    [
        "f_row([row 1]) and f_row([row 2])",
        "f_row([row 1])\nf_row([row 2])",
        "f_row([row 1]), and row 3",
        "f_row(row 1), row 2",
        "First f_row([row 1]), no: f_row([row 2, row 3])",
        "f_row([row 0, row 1])",
        "f_row([row 1,000])",
    ],
)
def test_no_row_beside_the_call_is_lost(reply: str) -> None:
    with pytest.raises(StepRejected):
        SelectRow().read_args(reply, TABLE)


def test_a_comma_within_a_number_is_not_taken_for_two_rows() -> None:
    long = Table(["n"], [[str(number)] for number in range(1200)])
    with pytest.raises(StepRejected, match="thousands"):
        SelectRow().read_args("f_row([row 1,100])", long)
    assert SelectRow().read_args("f_row([row 1, 100])", long) == {"rows": [1, 100]}


@pytest.mark.parametrize("reply", ["f_col([Rank]) and f_col([Team])", "f_col([Rank])\nf_col([Team])"])
def test_no_column_of_a_second_call_is_lost(reply: str) -> None:
    with pytest.raises(StepRejected):
        SelectColumn().read_args(reply, TABLE)


def test_a_call_that_is_repeated_counts_once() -> None:
    assert SelectRow().read_args("f_row([row 1])\n\nThe answer is: f_row([Row 1]).", TABLE) == {"rows": [1]}

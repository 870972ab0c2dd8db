"""What operations compute: which rows a condition keeps, sums by groups, and orders of rows."""

import re
from contextlib import nullcontext, suppress
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.aggregate import Aggregate, GroupBy
from chameleon.modules.table_ops.filter_rows import FilterRows, rows_where
from chameleon.modules.table_ops.order import keys_of
from chameleon.modules.table_ops.sort_by import ASCENDING, DESCENDING, SortBy
from tests.modules.table_ops.doubles import TABLE, column
from tests.modules.text_rows import grouped, lines_of

STAGES = Table(
    ["Rank", "Rider and team", "Points", "Date", "Remark"],
    [
        ["1", "Liquigas", "1,203", "October 4, 2009", ""],
        ["2", "Love and Peace", "20", "May 5, 2010", "fell"],
        ["3", "Caisse d'Epargne (ESP)", "n/a", "2009-01-02", "–"],
    ],
)


# The numbers of the rows that are left, and the conditions that leave them.
_HELD = """
1 | points>=20 and RIDER  and team = "liquigas" | Points = 1203 | Remark = "" | `Rank` < 3 and [Points] > 100
1 | Rank = 1 or Rank = 2 and Points = 0
2 | Rider and team = Love and Peace and Points = 20 | not Remark is empty | Remark is not empty
3 | Rider and team = Caisse d'Epargne (ESP) | not (Rank = 1 or Rank = 2)
12 | (Rider and team contains love or Rank = 1) | Rider and team > Liq | Date >= October 2009
13 | Points != 20 | Rider and team does not contain love | Date = 2009 | Date <= 2009-10-04
23 | Remark is fell or Rank is 3
"""
HELD = [(each, STAGES, rows) for each, rows in grouped(_HELD)]
# A condition, the rows that it leaves, and the cells of the column V.
_OF_COLUMNS = """
V < $300 | 2 | $1,200 | $(900) | $300
V > 6 | 2 | 5 kg | 8 kg
V > 30/06/2024 | 1 | 25/12/2024 | 14/06/2024
V > 2024-03-01 12:00 | 1 | 2024-03-01 23:30 | 2024-03-01 08:15
V > 10:00 | 2 | 9:45 AM | 2:05 PM
V < May 2020 | 2 | May 2020 | April 2019 |
V < 1:50 | 2 | 1:52.33 | 1:49.10
V > 02116 | 2 | 02116 | 12207
V > 8 | 3 | 7 | DNF | 9
V is empty | 12 | n/a | | x
"""
HELD += [(each, column(" | ".join(cells)), rows) for each, rows, *cells in lines_of(_OF_COLUMNS)]


@pytest.mark.parametrize(("condition", "table", "rows"), HELD)
def test_a_condition_keeps_the_rows_that_it_says(condition: str, table: Table, rows: str) -> None:
    held = rows_where(condition, table)
    assert "".join(str(number) for number, holds in enumerate(held, 1) if holds) == rows


# What is named of a condition that is not understood, and the condition.
_FAULTS = """
begins at 'Pointz > 3' | Pointz > 3
after 'Rank >' | Rank >
'20 and' | Points > 20 and
'x or Pontz > 3' | Rank = x or Pontz > 3
not closed before its end | (Rank = 1
continues with ')' | Rank = 1)
begins at | __import__('os').system('id')
"""
FAULTS = [*((condition, STAGES, named) for condition, named in grouped(_FAULTS)), ("", STAGES, "its end")]
FAULTS += [("not " * 99 + "Rank = 1", STAGES, "nested"), ("(" * 1_999, STAGES, "nested")]
FAULTS += [("Rank = " + "1" * 2_000, STAGES, "2,000 characters"), ("V > 6 cm", column("5 kg | 8 kg"), "'V'")]
FAULTS += [("V > 2024-04-01", column("03/04/2024 | 05/06/2024"), "'V'")]
FAULTS += [("V > 0.2", column("5% | 30%"), "'V'"), ("V > 20%", column("0.05 | 0.3"), "'V'")]


@pytest.mark.parametrize(("condition", "table", "named"), FAULTS)
def test_what_is_not_understood_is_named(condition: str, table: Table, named: str) -> None:
    with pytest.raises(StepRejected, match=re.escape(named)):
        rows_where(condition, table)


def test_a_reply_is_read_with_its_quotes_and_parentheses() -> None:
    reply = 'Explanation: two hold.\nSo: f_filter_rows((Rank = 1 or Rank = 2) and Remark != "fell").'
    args = FilterRows().read_args(reply, STAGES)
    assert args == {"condition": '(Rank = 1 or Rank = 2) and Remark != "fell"'}
    assert FilterRows().apply(STAGES, args).rows == STAGES.rows[:1]
    with pytest.raises(StepRejected, match="no row matches the condition"):
        FilterRows().apply(STAGES, {"condition": "Points > 5,000"})


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=60) | st.text(alphabet="Rank=<>()\"' andotr123", max_size=60))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    with suppress(StepRejected):
        held = rows_where(text, STAGES)
        assert len(held) == len(STAGES.rows) and all(isinstance(each, bool) for each in held)


RACES = Table(
    ["Team", "Points", "Date", "Won by (m)"],
    [
        ["Rapid", "1,203", "May 5, 2010", "0.1"],
        ["Union", "20 pts", "October 4, 2009", "0.2"],
        ["Rapid", "n/a", "2009-01-02", "3"],
        ["", "7", "", ""],
    ],
)


def summed(call: str, table: Table = RACES) -> Table:
    operation = Aggregate()
    return operation.apply(table, operation.read_args(f"So: f_aggregate({call}).", table))


# What is called, and what comes out: header and rows, with bars between cells.
@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ("sum of Points by Team", ["Team|Sum of Points", "Rapid|1203", "Union|20", "|7"]),
        ("Total of points", ["Sum of Points", "1230"]),
        ("mean of Won by (m)", ["Average of Won by (m)", "1.1"]),
        ("sum(Won by (m)) by Team", ["Team|Sum of Won by (m)", "Rapid|3.1", "Union|0.2", "|"]),
        ("count by Team", ["Team|Count", "Rapid|2", "Union|1", "|1"]),
        ("count", ["Count", "4"]),
        ("count of Date", ["Count of Date", "3"]),
        ("max of Points by Won by (m)", ["Won by (m)|Max of Points", "0.1|1,203", "0.2|20 pts", "3|", "|7"]),
        ("max of Date", ["Max of Date", "May 5, 2010"]),
        ("minimum of Points", ["Min of Points", "7"]),
        ("max of Team", ["Max of Team", "Union"]),
    ],
)
def test_a_call_makes_its_table(call: str, lines: list[str]) -> None:
    table = summed(call)
    assert [table.header, *table.rows] == [tuple(line.split("|")) for line in lines]
    operation = Aggregate()
    args = operation.read_args(f"f_aggregate({call})", RACES)
    assert operation.read_args(f"f_aggregate({operation.written(args)})", RACES) == args


@pytest.mark.parametrize(
    ("call", "table", "named"),
    [
        ("median of Points", RACES, "does not name sum"),
        ("sum of Points by Tem", RACES, "'Points by Tem'"),
        ("sum by Team", RACES, "no column"),
        ("sum of Team", RACES, "'Team'"),
        ("count", Table(["a"]), "no rows"),
        *(("sum of V", column(cells), "'V'") for cells in ("$100|€90", "12A|12B")),
    ],
)
def test_what_cannot_be_summed_up_is_refused_by_name(call: str, table: Table, named: str) -> None:
    with pytest.raises(StepRejected, match=named):
        summed(call, table)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(st.sampled_from("abc"), st.decimals(-999, 999, places=2)), min_size=1))
def test_sums_of_groups_add_up_exactly(rows: list[tuple[str, object]]) -> None:
    table = Table(["group", "value"], [(group, str(value)) for group, value in rows])
    of_groups = Aggregate().apply(table, {"function": "sum", "column": "value", "by": "group"})
    (whole,) = Aggregate().apply(table, {"function": "sum", "column": "value", "by": None}).rows
    assert [row[0] for row in of_groups.rows] == list(dict.fromkeys(group for group, _ in rows))
    total = sum(Fraction(str(value)) for _, value in rows)
    assert sum(Fraction(row[1]) for row in of_groups.rows) == Fraction(whole[0]) == total


def test_a_group_may_be_named_in_brackets() -> None:
    for name in ("[Team]", "team", '["Team"]', "'Team'"):
        assert GroupBy().read_args(f"f_group_by({name})", RACES) == {"column": "Team"}
    assert GroupBy().read_args("f_group([Team])", Table(["[Team]"], [["x"]])) == {"column": "[Team]"}


def test_figures_count_as_they_are_meant() -> None:
    for cells, total, lowest in (("$1,200|$(900)|$300", "600", "$(900)"), ("5 kg|800 g", "5.8", "800 g")):
        calls = (summed(f"{how} of V", column(cells)).rows for how in ("sum", "min"))
        assert [*calls] == [((total,),), ((lowest,),)]


FORMS = "|0|7|-12|+3|1,203|12,345,678|0.25|007|26 pts|$4.5 million|1:52.33|w 20-7|nan|−4|May 2020|DNF"
CELLS = st.sampled_from(FORMS.split("|"))
DATATYPES = st.sampled_from(["number", "date", "text"])


def in_order(table: Table, datatype: str) -> str:
    args = {"column": "V", "order": ASCENDING, "datatype": datatype}
    return "|".join(cell for (cell,) in SortBy().apply(table, args).rows)


@pytest.mark.parametrize(
    ("cells", "datatype"),
    [
        ("$(900)|$300|$1,200", "number"),
        ("7|26 pts|", "number"),
        ("7|9|DNF", "number"),
        ("l 7-14|w 20-7", "number"),  # the first number of a text, as in the published code
        ("sept 20|oct 4|nov 22", "date"),
        ("ann|Bob|", "text"),
    ],
)
def test_cells_stand_in_the_order_of_what_they_mean(cells: str, datatype: str) -> None:
    assert in_order(column("|".join(reversed(cells.split("|")))), datatype) == cells
    for unclear in ("$100|€90", "1:05:12|12:40"):  # not one measure
        with pytest.raises(StepRejected, match="the column 'V' is not clear"):
            in_order(column(unclear), "number")


@settings(max_examples=100, deadline=None)
@given(st.lists(CELLS, min_size=1), st.sampled_from([ASCENDING, DESCENDING]), DATATYPES)
def test_sorting_keeps_ties_and_puts_the_rest_last(cells: list[str], order: str, datatype: Any) -> None:
    table = Table(["cell", "place"], [[cell, str(place)] for place, cell in enumerate(cells)])
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


ORDERS = """
down | f_sort_by(Rank). The order is from-large-to-small. | f_sort_by(Rank) desc
down | f_sort_by(Rank), in descending order. | f_sort_by([Rank]), from the largest to the smallest.
down | f_sort_by(Rank) Order: Descend
up | f_sort_by(Rank). Order: ascend | f_sort_by(Rank, asc)
up | In the order of the ranks. f_sort(Rank), the order is “lowest to highest”
none | f_sort_by(Rank) | f_sort_by(Rank), small to large or large to small | f_sort_by(Rank). It is.
"""


@pytest.mark.parametrize(("reply", "order"), grouped(ORDERS))
def test_an_order_is_read_in_all_forms_that_models_write(reply: str, order: str) -> None:
    with pytest.raises(StepRejected, match="names no order") if order == "none" else nullcontext():
        args = SortBy().read_args(reply, TABLE)
        assert args == {**args, "column": "Rank", "order": {"up": ASCENDING, "down": DESCENDING}[order]}

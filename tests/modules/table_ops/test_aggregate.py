"""`f_aggregate` and `f_group_by`: sums, averages, counts and extremes, by groups or over all rows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.aggregate import Aggregate, GroupBy
from tests.modules.table_ops.doubles import column

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
        ("average of Points", ["Average of Points", "410"]),
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
        ("median of Points", RACES, "none of sum"),
        ("sum of Pints", RACES, "'Pints'"),
        ("sum of Points by Tem", RACES, "'Points by Tem'"),
        ("sum by Team", RACES, "no column"),
        ("sum of Team", RACES, "'Team'"),
        ("count", Table(["a"]), "no rows"),
        *(("sum of V", column(cells), "'V'") for cells in ("$100|€90", "7|8|DNF", "12A|12B")),
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
    header = Table(["[Team]"], [["x"]])
    assert GroupBy().read_args("f_group([Team])", header) == {"column": "[Team]"}


@pytest.mark.parametrize(
    ("cells", "total", "lowest"),
    [("$1,200|$(900)|$300", "600", "$(900)"), ("5 kg|800 g", "5.8", "800 g"), ("1,200|TBD", "1200", "1,200")],
)
def test_figures_count_as_they_are_meant(cells: str, total: str, lowest: str) -> None:
    assert summed("sum of V", column(cells)).rows == ((total,),)
    assert summed("min of V", column(cells)).rows == ((lowest,),)

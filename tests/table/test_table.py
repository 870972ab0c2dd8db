"""Tables made from tables are what a table of the same cells is, and hold nothing that a table may not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Executor, Inventory, Table
from chameleon.errors import InputError
from tests.table.strategies import tables


@given(table=tables(), data=st.data())
def test_taken_rows_and_columns_are_those_named(table: Table, data: st.DataObject) -> None:
    columns = data.draw(st.lists(st.integers(0, len(table.header) - 1), min_size=1, max_size=5))
    rows = data.draw(st.lists(st.integers(0, len(table.rows) - 1), max_size=5)) if table.rows else []
    header = [table.header[index] for index in columns]
    expected = Table(header, [[row[i] for i in columns] for row in table.rows], "c")
    assert table.with_caption("c").take_columns(iter(columns)) == expected
    assert table.take_rows(iter(rows)) == Table(table.header, [table.rows[index] for index in rows])
    assert table.take_columns(columns).columns == expected.columns


@given(table=tables(), name=st.text(max_size=3))
def test_a_column_more_stands_on_the_right(table: Table, name: str) -> None:
    cells = [str(number) for number in range(len(table.rows))]
    wider = table.with_column(name, iter(cells))
    rows = [[*row, cell] for row, cell in zip(table.rows, cells, strict=True)]
    assert wider == Table([*table.header, name], rows)
    assert wider.take_columns(range(len(table.header))) == table


def test_what_does_not_fit_is_refused() -> None:
    table = Table(["a"], [["1"], ["2"]])
    with pytest.raises(InputError, match="at least one column"):
        table.take_columns([])
    with pytest.raises(InputError, match="has 1 cells"):
        table.with_column("b", ["3"])
    with pytest.raises(InputError, match="cells are text, not int"):
        table.with_column("b", ["3", 4])  # type: ignore[list-item]
    with pytest.raises(InputError, match="cells are text, not NoneType"):
        Table(["a"], [["1"], [None]])  # type: ignore[list-item]
    with pytest.raises(InputError, match="row 2 has 2 cells"):
        Table(["a"], [["1"], ["2", "3"]])
    with pytest.raises(InputError, match="at least one column"):
        Table([])


def test_a_dataframe_becomes_a_table_and_back() -> None:
    pandas = pytest.importorskip("pandas")
    born = pandas.to_datetime(["1994-05-01", None])
    frame = pandas.DataFrame({"name": ["Ann", "Bob"], "age": [30.0, None], "in": [True, False], "born": born})
    table = Table.from_pandas(frame, "Staff")
    assert table.rows == (("Ann", "30", "true", "1994-05-01"), ("Bob", "", "false", ""))
    assert table.caption == "Staff" and next(iter(table.to_pandas()["age"])) == 30
    assert Table.from_pandas(frame.groupby("name").sum(numeric_only=True)).header == ("name", "age", "in")
    assert Table.from_pandas(frame[frame.age > 1]).header == table.header
    with pytest.raises(InputError, match=r"Call Table\.from_pandas\(df\)"):
        Table(frame)


def test_a_dataframe_of_polars_becomes_a_table() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, None], "b": ["x", "y"]})
    assert Table.from_polars(frame).rows == (("1", "x"), ("", "y"))


def test_records_become_a_table() -> None:
    found = Table.from_records([{"a": 1, "b": None}, {"c": [1]}])
    assert found == Table("abc", [["1", "", ""], ["", "", "[1]"]])
    assert Table.from_records([["Type", "Type"], [1, 2.0]]) == Table(["Type", "Type (2)"], [["1", "2"]])


def test_a_run_takes_dataframes_and_shows_itself_in_a_notebook() -> None:
    pandas = pytest.importorskip("pandas")
    executor = Executor(Inventory.load("tables_offline"))
    frame = pandas.DataFrame({"fruit": ["<b>apple</b>", "pear"], "price": [2, 3]})
    state = executor.run({"question": "What is the total price?", "table": frame})
    assert state.answer == "5" and state.input["table"] == Table.from_pandas(frame)
    for shown in (state, state.input["table"]):
        text = shown._repr_html_()
        assert text.startswith("<table>") and "<b>" not in text and len(text) < 5_000
    assert "<td>5</td>" in state._repr_html_() and "<th>read as</th>" in state._repr_html_()

"""The demo tables are ordinary files whose figures agree with each other."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path

import pytest

from chameleon.table import Table, read_table, read_value

FOLDER = Path(__file__).parents[2] / "demos" / "data"


def load(name: str) -> Table:
    return read_table(FOLDER / f"{name}.csv")


def numbers(table: Table, name: str) -> list[Fraction]:
    column = table.column(name)
    assert column.kind == "number"
    return [value.number for value in column.values if value.number is not None]


@pytest.mark.parametrize(
    ("name", "rows"), [("shop_sales", 40), ("league", 12), ("timetable", 18), ("budget", 10), ("survey", 30)]
)
def test_sizes(name: str, rows: int) -> None:
    assert len(load(name).rows) == rows


def test_shop_sales() -> None:
    table = load("shop_sales")
    triples = zip(numbers(table, "Units"), numbers(table, "Price"), numbers(table, "Revenue"), strict=True)
    assert all(units * price == revenue for units, price, revenue in triples)
    dates = [value.date for value in table.column("Date").values]
    assert dates == sorted(date for date in dates if date)


def test_league() -> None:
    table = load("league")
    column = {name: numbers(table, name) for name in table.header[1:]}
    for i in range(len(table.rows)):
        won, drawn, lost = (column[name][i] for name in ("Won", "Drawn", "Lost"))
        assert column["Played"][i] == won + drawn + lost == 22
        assert column["Points"][i] == 3 * won + drawn
        assert column["Goal difference"][i] == column["Goals for"][i] - column["Goals against"][i]
    assert sum(column["Won"]) == sum(column["Lost"]) and sum(column["Drawn"]) % 2 == 0
    assert sum(column["Goals for"]) == sum(column["Goals against"])
    assert column["Points"] == sorted(column["Points"], reverse=True)


def test_timetable() -> None:
    table = load("timetable")
    for departs, arrives, minutes in zip(
        table.column("Departs").values, table.column("Arrives").values, numbers(table, "Minutes"), strict=True
    ):
        assert departs.time and arrives.time
        day = dt.date(2025, 1, 1)
        took = dt.datetime.combine(day, arrives.time) - dt.datetime.combine(day, departs.time)
        assert took == dt.timedelta(minutes=int(minutes))


def test_budget() -> None:
    table = load("budget")
    for row in table.rows:
        cells = dict(zip(table.header, (read_value(cell).number or Fraction(0) for cell in row), strict=True))
        for kind in ("planned", "actual"):
            assert cells[f"Year {kind}"] == sum(cells[f"Q{quarter} {kind}"] for quarter in range(1, 5))
        assert abs(cells["Used"] - 100 * cells["Year actual"] / cells["Year planned"]) <= Fraction(1, 20)


def test_survey() -> None:
    table = load("survey")
    assert len(set(table.column("Respondent").cells)) == 30
    assert all(1 <= score <= 5 for score in numbers(table, "Satisfaction"))
    assert all(1 <= days <= 7 for days in numbers(table, "Days per week"))

"""Tables of many rows: answered from the rows themselves, or declined where no program could read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from chameleon import Table
from chameleon.errors import Declined
from chameleon.modules.offline.grammar import relevant_columns, relevant_rows, write_program
from chameleon.sandbox import Sandbox, make_sandbox

_CITIES = ("Leeds", "York", "Hull", "Bath", "Ely")
_ROWS = 50_000
_YEARS = [str(year) for year in range(2010, 2019)]


def _orders(rows: int) -> Table:
    """Order i costs $(i % 1000).25 and is from each city in turn."""
    header = ["Order ID", "Customer", "City", "Date", "Quantity", "Price"]
    cells = (
        [
            f"K{i}",
            f"Client {i % 777}",
            _CITIES[i % 5],
            f"2024-03-{i % 31 + 1:02}",
            str(i % 7),
            f"${i % 1000}.25",
        ]
        for i in range(rows)
    )
    return Table(header, cells)


@pytest.fixture(scope="module")
def orders() -> Table:
    return _orders(_ROWS)


@pytest.fixture(scope="module")
def executor() -> Iterator[Sandbox]:
    with make_sandbox(libraries=()) as ready:
        yield ready


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the average price?", 499.75),
        ("What is the total quantity in Leeds?", sum(i % 7 for i in range(0, _ROWS, 5))),
        ("How many orders are from York?", _ROWS // 5),
        ("How many orders cost more than $900?", _ROWS // 10),
        ("Which city has the highest average price?", "Ely"),
        ("What is the price of order K4321?", 321.25),
        ("What percentage of the orders are from Hull?", 20),
    ],
)
def test_a_long_table_is_answered(executor: Sandbox, orders: Table, question: str, expected: Any) -> None:
    program = write_program(question, orders)
    result = executor.run(program.code, {"table": orders.to_program_input()}, timeout=20)
    assert result.ok, result.message
    assert result.plain == expected


def test_rows_and_columns_of_a_long_table_are_kept_by_name(orders: Table) -> None:
    assert relevant_rows("What did order K4321 cost?", orders).rows == (orders.rows[4321],)
    assert "Price" in relevant_columns("What is the price of order K4321?", orders).header


def test_names_that_nearly_all_rows_share_are_not_listed(orders: Table) -> None:
    with pytest.raises(Declined, match="share the highest"):
        write_program("Which order has the most rows?", orders)


def test_a_table_beyond_what_a_program_reads_in_time_is_declined() -> None:
    long = Table(["City", *_YEARS], [[_CITIES[i % 5], *["1"] * 9] for i in range(150_001)])
    with pytest.raises(Declined, match="more than a program can read"):
        write_program("What is the total in 2010?", long)

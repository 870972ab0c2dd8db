"""`f_add_column` on tables that one prompt cannot show: no row gets a value that no prompt has shown."""

from __future__ import annotations

import re

import pytest

from chameleon import Table
from chameleon.modules.table_ops.add_column import AddColumn
from tests.modules.table_ops.doubles import Messages, case_in, rows_in, run


def long_rows(rows: int = 50) -> Table:
    """Each row some 2,500 characters, with what is asked for at its end."""
    return Table(["text"], [[f"{'lorem ipsum ' * 208}(C{row})"] for row in range(rows)], "texts")


def codes(messages: Messages) -> str:
    shown = " | ".join(re.findall(r"\((C\d+)\)", case_in(messages)))
    return f'We extract the value from column "text". f_add_column(Code). The value: {shown}'


def test_every_long_row_is_shown_once_within_the_limits_and_gets_its_value() -> None:
    output, client = run(AddColumn(), long_rows(), codes, max_table_tokens=6000)
    assert output["args"]["values"] == tuple(f"C{row}" for row in range(50))
    shown = [code for request in client.requests for code in re.findall(r"\((C\d+)\)", case_in(request))]
    assert sorted(shown) == sorted(output["args"]["values"])
    assert 1 < len(client.requests) <= 10
    assert all(sum(map(len, rows_in(request).values())) < 6000 * 6 for request in client.requests)
    _, client = run(AddColumn(), long_rows(), codes, max_rows=7, max_cell=9)
    rows = [rows_in(request).values() for request in client.requests]
    assert all(len(each) <= 7 and all(len(row) <= 9 for row in each) for each in rows)


@pytest.mark.parametrize(
    ("made", "tokens", "shown"),
    [(AddColumn(max_table_rows=50), 6000, None), (AddColumn(), 1000, None), (AddColumn(), 100, 0)],
)
def test_rows_that_would_take_more_calls_than_allowed_are_refused_before_any_call(
    made: AddColumn, tokens: int, shown: int | None
) -> None:
    output, client = run(made, long_rows(), [], max_table_tokens=tokens)
    assert re.fullmatch(r"only \d+ of 50 rows could be shown", output["refused"]) and not client.requests
    assert shown is None or output["refused"].startswith(f"only {shown} ")

"""Things that must not be lost, in one place; the rooms' own tests hold their details."""

from __future__ import annotations

import pytest

from chameleon import State, Table
from chameleon.errors import StepRejected
from chameleon.modules.lookup.lookup import ColumnLookup, RowLookup
from chameleon.sandbox.inside.seccomp import ALLOWED
from tests.modules.table_ops.test_published import DEPARTURES

PRICES = Table(["fruit", "price"], [["apple", "$2"], ["pear", "$3.50"]])


def test_lookups_programs_and_departures_are_held_to_what_is_published() -> None:
    rows, columns = RowLookup(), ColumnLookup()
    assert (rows.min_rows, rows.min_cells, columns.min_columns, columns.min_cells) == (4, 19, 2, 18)
    state = State(input={"question": "What is the total price?", "table": PRICES})
    assert rows.interpret("fruit | price\npear | $3.50", state).rows == (("pear", "$3.50"),)
    with pytest.raises(StepRejected, match="no part of the table"):
        rows.interpret("fruit | price\npear | $4.50", state)
    forbidden = {"open", "openat", "socket", "connect", "execve", "ptrace"}
    assert "read" in ALLOWED and not ALLOWED.keys() & forbidden
    assert len(DEPARTURES) >= 15 and all(len(reason) > 20 for reason in DEPARTURES.values())

"""A table as Binder's programs see it, and what it takes a cell for."""

from __future__ import annotations

from chameleon.modules.sql.binder_table import binder_table
from tests.modules.sql.given import TABLE

NORMAL = binder_table(TABLE)


def test_a_table_is_normalised_as_published() -> None:
    assert NORMAL.columns == {
        "row_id": "INTEGER",
        "year": "INTEGER",
        "runners up": "TEXT",
        "score": "INTEGER",
        "score_2": "REAL",
        "filledcolumnname": "TEXT",
        "day": "DATE",
        "group": "TEXT",
    }
    assert list(NORMAL.rows) == [
        (0, 1998, "port crocs (qld)", 3, 10.4, "none", "2024-05-04", "a"),
        (1, 1999, "south cutters", None, 8.0, "x", None, "b"),
        (2, 2000, "port crocs (qld)", 12, 9.5, "930251", "2023-06-01", "a"),
    ]

"""Parts of a table as people count them, and the words of a question that a table has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import Table
from chameleon.cli.show import sources_in_words
from chameleon.modules.documents.candidates import Candidate
from chameleon.modules.documents.table_region import TableRegion, answer_cells, region_kept
from chameleon.modules.offline.coverage import covered, telling_words

TABLE = Table(
    ["Team", "", "Points", "Lost"], [["a", "x", "1", "2"], ["b", "x", "3", "4"], ["a", "x", "1", "2"]]
)


def test_rows_are_counted_from_one_and_a_nameless_column_has_a_number() -> None:
    told = TableRegion([0, 2], [0, 1], [(2, 1)]).to_json(TABLE)
    assert told == {"of": 3, "rows": [1, 3], "columns": ["Team", "column 2"], "cells": [[3, "column 2"]]}
    assert TableRegion().to_json(TABLE)["rows"] == [1, 2, 3]
    long = Table(["a"], [["x"]] * 1001)
    assert TableRegion().to_json(long) == {"of": 1001, "columns": ["a"]}


@given(
    st.lists(st.integers(0, 2), unique=True, min_size=1), st.lists(st.integers(0, 3), unique=True, min_size=1)
)
def test_what_a_part_keeps_is_found_again(rows: list[int], columns: list[int]) -> None:
    part = TABLE.take_rows(rows).take_columns(columns)
    kept = region_kept(TABLE, part)
    assert kept is not None
    found_rows = range(3) if kept.rows is None else kept.rows
    found_columns = range(4) if kept.columns is None else kept.columns
    again = TABLE.take_rows(found_rows).take_columns(found_columns)
    assert (again.header, again.rows) == (part.header, part.rows)
    assert len(set(found_rows)) == len(rows) and len(set(found_columns)) == len(columns)


def test_a_changed_table_is_no_part() -> None:
    assert region_kept(TABLE, Table(["Team"], [["c"]])) is None
    assert region_kept(TABLE, TABLE.with_caption("other")) == TableRegion()


@pytest.mark.parametrize(
    ("answer", "part", "cells"),
    [
        ("b", TableRegion(), [(1, 0)]),
        ("a, b", TableRegion(), [(0, 0), (1, 0), (2, 0)]),
        (("a", "b"), TableRegion([0, 1]), [(0, 0), (1, 0)]),
        ("b", TableRegion([0], [0]), []),
        (3, TableRegion(), []),
        (True, TableRegion(), []),
        ("", TableRegion(), []),
        ("nowhere", TableRegion(), []),
    ],
)
def test_cells_in_which_an_answer_stands(
    answer: object, part: TableRegion, cells: list[tuple[int, int]]
) -> None:
    assert answer_cells(answer, TABLE, "Which team?", part) == cells


def test_the_telling_words_of_a_question() -> None:
    words = telling_words("How many points did Nord get in the 2024 season?")
    assert set(words.values()) == {"points", "Nord", "2024", "season"}
    candidate = Candidate("x", "league 2024", 1.0, TABLE, {"file": "club/league_2024.csv"})
    assert covered(words, candidate) == {"point", "2024"}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ({"id": "a.csv", "table": "a", "file": "a.csv", "of": 5, "rows": [3, 5], "columns": ["T", "P"]},
         "a.csv, rows 3 and 5, columns T and P"),
        ({"id": "a.csv#2", "table": "b", "file": "a.csv", "of": 9, "rows": [1, 2, 3, 7], "columns": ["x"]},
         "a.csv, table b, rows 1 to 3 and 7, column x"),
        ({"id": "b.xlsx#S", "table": "b", "file": "b.xlsx", "sheet": "S", "of": 1, "rows": [1]},
         "b.xlsx, sheet S, its one row"),
        ({"id": "c.md#H", "table": "H", "file": "c.md", "heading": "H", "of": 2000, "cells": [[7, "x"]]},
         "c.md, heading H, all 2,000 rows, the answer in row 7"),
        ({"id": "t", "table": "named", "of": 2, "rows": [1, 2]}, "named, all 2 rows"),
        ({"table": "x\x1b[2J", "columns": list("abcdefghi")}, "x[2J, columns a, b, c, d, e and 4 more"),
    ],
)  # fmt: skip
def test_a_source_in_words(source: dict[str, object], line: str) -> None:
    assert sources_in_words([source]) == [line]


def test_what_is_no_source_says_nothing() -> None:
    assert sources_in_words(None) == sources_in_words("x") == sources_in_words([1]) == []
    assert sources_in_words([{"table": str(i)} for i in range(6)])[-1] == "and 2 more tables"

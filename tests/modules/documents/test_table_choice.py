"""What a reply to the list of tables and passages chooses, and which part of a table an answer came from."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Declined, State, StepRejected, Table
from chameleon.core.sources import sources_in_words
from chameleon.documents.indexing import index_files
from chameleon.modules.documents.table_choice import TableChoice
from chameleon.modules.documents.table_sources import TableRegion, TableSources, region_kept
from chameleon.modules.tablerag.table_retriever import TableRetriever
from chameleon.retrieval.document import Document
from chameleon.retrieval.make import build_index

pytest.importorskip("tantivy")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    folder = tmp_path_factory.mktemp("harbour")
    for year in (2023, 2024):
        (folder / f"fees_{year}.csv").write_text("Berth,Fee\nA1,40\nB2,30\n")
    (folder / "rules.txt").write_text("The fee of a berth is due in May.")
    index_files([folder], folder / "index")
    asked = State(input={"question": "What is the fee of the berth A1?", "index": str(folder / "index")})
    return State(input=asked.input, cache={"retrieved": TableRetriever().run(asked)["retrieved"]})


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("2", 2),
        ("Table: 2.", 2),
        ("**Table 2**, not the passages", 2),
        ("passages", "passages"),
        ("Table: passages", "passages"),
        ("The passage.", "passages"),
        ("1 passage", "passages"),
        ("none", Declined),
        ("Table: none", Declined),
        ("Answer: None of the passages", Declined),
        ("7", StepRejected),
        ("I cannot say.", StepRejected),
        ("nonetheless 2", StepRejected),
    ],
)
def test_replies(state: State, reply: str, chosen: Any) -> None:
    with pytest.raises(chosen) if isinstance(chosen, type) else nullcontext():
        found = TableChoice().interpret(reply, state)
        assert ("passages" in found) == (chosen == "passages")
        assert found.get("id", "").startswith("fees_") == (chosen == 2)


@pytest.mark.parametrize("reply", ["1, passages", "Table: 1 and the passages", "passages and table 1"])
def test_a_table_is_read_with_the_passages(state: State, reply: str) -> None:
    table, rules = TableChoice().interpret(reply, state)["passages"]
    assert table["text"].splitlines()[:2] == ["Berth | Fee", "A1 | 40"] and "due in May" in rules["text"]
    assert table["source"]["of"] == 2 and table["source"]["columns"] == ["Berth", "Fee"]


LEAGUE = Table(["Team", "Points", "Lost"], [["Nord", "40", "2"], ["Sud", "38", "4"], ["West", "31", "9"]])


def test_with_a_model_the_rows_that_lookups_kept_or_the_columns_that_a_program_names(tmp_path: Path) -> None:
    build_index(tmp_path / "index", [Document("league", LEAGUE, source={"file": "a.csv"})])
    cut = LEAGUE.take_rows([1]).take_columns([0, 1])
    found = ({"id": "league", "name": "league", "score": 1.0, "source": {"file": "a.csv"}},)
    given = {"question": "Who has 38 points?", "index": str(tmp_path / "index"), "table": cut}
    (source,) = TableSources().run(State(input=given, cache={"retrieved": found, "answer": "Sud"}))
    assert (source["rows"], source["columns"]) == ([2], ["Team", "Points"])
    assert source["cells"] == [[2, "Team"]]
    program = 'df["Lost"].max() + "not code\\n'
    for code, columns in (('ans = df["Lost"].max()', ["Lost"]), (program, ["Team", "Points", "Lost"])):
        cache = {"retrieved": found, "answer": 9, "program_result": 9, "program": code}
        (source,) = TableSources().run(State(input={**given, "table": LEAGUE}, cache=cache))
        assert (source["rows"], source["columns"]) == ([1, 2, 3], columns)


ODD = Table(["Team", "", "Points", "Lost"], [[*"ax12"], [*"bx34"], [*"ax12"]])


def test_rows_are_counted_from_one_and_a_nameless_column_has_a_number() -> None:
    told = TableRegion([0, 2], [0, 1]).to_json(ODD, [(2, 1)])
    assert told == {"of": 3, "rows": [1, 3], "columns": ["Team", "column 2"], "cells": [[3, "column 2"]]}
    assert TableRegion().to_json(ODD)["rows"] == [1, 2, 3]
    assert region_kept(ODD, Table(["Team"], [["c"]])) is None
    assert region_kept(ODD, ODD.with_caption("other")) == TableRegion()
    long = Table(["a"], [["x"]] * 1001)
    assert TableRegion().to_json(long) == {"of": 1001, "columns": ["a"]}


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 2), unique=True, min_size=1), st.lists(st.integers(0, 3), unique=True, min_size=1)
)
def test_what_a_part_keeps_is_found_again(rows: list[int], columns: list[int]) -> None:
    part = ODD.take_rows(rows).take_columns(columns)
    kept = region_kept(ODD, part)
    assert kept is not None
    again = ODD if kept.rows is None else ODD.take_rows(kept.rows)
    again = again if kept.columns is None else again.take_columns(kept.columns)
    assert (again.header, again.rows) == (part.header, part.rows)
    assert len(set(kept.rows or range(3))) == len(rows)


@pytest.mark.parametrize(
    ("answer", "part", "cells"),
    [
        ("a", TableRegion(), []),  # two rows have it
        ("a", TableRegion([1, 2]), [(2, 0)]),
        ("a, b", TableRegion(), [(0, 0), (1, 0), (2, 0)]),
        (("a", "b"), TableRegion([0, 1]), [(0, 0), (1, 0)]),
        ("b", TableRegion([0], [0]), []),
        (True, TableRegion(), []),
        ("", TableRegion(), []),
    ],
)
def test_cells_in_which_an_answer_stands(answer: object, part: TableRegion, cells: object) -> None:
    assert part.answer_cells(answer, ODD, "Which team?") == cells


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

"""Choosing a table of an index without a model, and the part of it that an answer came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon import Executor, Inventory, State, Table
from chameleon.cli.show import sources_in_words
from chameleon.modules.documents.table_choice import Candidate
from chameleon.modules.documents.table_sources import TableRegion, TableSources, region_kept
from chameleon.modules.offline.coverage import covered, telling_words, texts_in
from chameleon.modules.offline.grammar import write_program
from chameleon.retrieval.document import Document
from chameleon.retrieval.make import build_index

pytest.importorskip("tantivy")

LEAGUE = Table(["Team", "Points", "Lost"], [["Nord", "40", "2"], ["Sud", "38", "4"], ["West", "31", "9"]])
RIVERS = Table(
    ["River", "Length (km)"], [["Po", "652"], ["Adige", "410"], ["Arno", "241"]], "Rivers of Italy"
)


BOTH = {"league": LEAGUE, "rivers": RIVERS}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Ask a question to an index of these tables, by their names; each index is built once."""
    folders: dict[str, Path] = {}

    def asked(question: str, tables: Mapping[str, Table], ahead: float = 1.5) -> State:
        if (key := repr(tables)) not in folders:
            folders[key] = tmp_path_factory.mktemp("tables") / "index"
            named = {
                name: table if table.caption else table.with_caption(name) for name, table in tables.items()
            }
            documents = [Document(name, table, source={"file": name}) for name, table in named.items()]
            build_index(folders[key], documents)
        changed = {"extends": "corpus_offline", "modules": {"table_choice": {"ahead": ahead}}}
        executor = Executor(Inventory.parse({"name": "changed", **changed}))
        return executor.run({"question": question, "index": str(folders[key])})

    return asked


def sources(state: State) -> list[Any]:
    return [(each["id"], list(each["rows"]), list(each["columns"])) for each in state.cache["sources"]]


def why(state: State) -> str:
    assert state.ended is not None and state.ended.reason == "declined", state.answer
    assert state.ended.error is not None
    return state.ended.error.message


@pytest.mark.parametrize(
    ("question", "answer", "source"),
    [
        ("How many points does Sud have?", 38, ("league", [2], ["Team", "Points"])),
        ("How many more points did Nord get than West?", 9, ("league", [1, 3], ["Team", "Points"])),
        ("Which river is the longest?", "Po", ("rivers", [1, 2, 3], ["River", "Length (km)"])),
    ],
)
def test_the_rows_and_columns_that_were_read(ask: Any, question: str, answer: Any, source: Any) -> None:
    state = ask(question, BOTH)
    assert state.answer == answer and sources(state) == [source]
    # A number may stand anywhere by chance.
    assert state.cache["sources"][0].get("cells") == (((1, "River"),) if answer == "Po" else None)


def test_tables_that_differ_are_named_and_none_is_chosen(ask: Any) -> None:
    other = Table(LEAGUE.header, [["Nord", "12", "2"], ["Sud", "11", "4"]])
    tables = {"league 2023": LEAGUE, "league 2024": other}
    told = why(ask("How many points does Nord have?", tables))
    assert "2 tables answer, and not alike" in told and "2023: 40" in told and "2024: 12" in told
    state = ask("How many points did Nord have in 2024?", tables)
    assert state.answer == 12 and sources(state)[0][0] == "league 2024"


def test_tables_that_agree_are_all_named(ask: Any) -> None:
    other = Table(LEAGUE.header, [["Nord", "40", "2"], ["Ost", "1", "30"]])
    state = ask("How many points does Nord have?", {"league a": LEAGUE, "league b": other})
    assert state.answer == 40 and {name for name, _, _ in sources(state)} == {"league a", "league b"}


@pytest.mark.parametrize("question", ["How many teams are there?", "How many points are there in total?"])
def test_a_count_or_sum_of_two_tables_agrees_only_where_they_are_copies(ask: Any, question: str) -> None:
    rows = [["Nord", "1", "2"], ["Ost", "8", "30"], ["Ulm", "100", "0"]]
    tables = {"league a": LEAGUE, "league b": Table(LEAGUE.header, rows)}
    told = why(ask(question, tables))
    assert "league a, league b come to the same number" in told
    assert len(sources(ask(question, {"league a": LEAGUE, "league b": LEAGUE}))) == 2


@pytest.mark.parametrize(("text", "answer"), [("Nord has 44 points now.", None), ("Nord plays.", 40)])
def test_a_text_that_says_as_much_as_the_table_is_shown(tmp_path: Path, text: str, answer: Any) -> None:
    build_index(tmp_path / "index", [Document("league", LEAGUE), Document("news", text=text)])
    executor = Executor(Inventory.parse({"name": "same", "extends": "corpus_offline"}))
    state = executor.run({"question": "How many points does Nord have?", "index": str(tmp_path / "index")})
    assert state.answer == answer
    assert text in [each["text"] for each in state.cache["nearest"]]


def test_a_table_with_more_of_the_words_goes_before_one_that_can_be_read(ask: Any) -> None:
    notes = Table(["Question", "Reply"], [["Points of Nord in the cup", "see the board"], ["Fees", "none"]])
    state = ask("How many points does Nord have in the cup?", {"league": LEAGUE, "notes": notes})
    assert "notes" in why(state)


def test_a_rival_that_cannot_be_read_is_told_of_unless_it_is_a_part(ask: Any) -> None:
    rival = Table(["Team", "Points at home", "Points away"], [["Nord", "8", "9"], ["Sud", "3", "1"]])
    told = why(ask("How many points does Nord have?", {"league": LEAGUE, "rival": rival}, ahead=9))
    assert (
        "it is not clear which table is meant: league would answer, and rival fits as well and is not" in told
    )
    both = {"league": LEAGUE, "rival": rival, "other": rival}
    assert "fit as well and are not" in why(ask("How many points does Nord have?", both, ahead=9))
    assert ask("How many points does Nord have?", {"league": LEAGUE, "rival": rival}, ahead=1).answer == 40
    best = Table(LEAGUE.header, LEAGUE.rows[:2], "best of the league")
    state = ask("How many points are there in total?", {"league": LEAGUE, "best": best}, ahead=9)
    assert state.answer == 109 and [name for name, _, _ in sources(state)] == ["league"]
    view = Table(["Team"], [["Nord"], ["West"]], "points of some")
    state = ask("How many points does Nord have?", {"league": LEAGUE, "view": view}, ahead=9)
    assert state.answer == 40


def test_an_index_that_has_no_word_of_the_question(ask: Any) -> None:
    assert "nothing in the index" in why(ask("Who is the mayor?", BOTH))


def test_a_code_with_a_line_below_is_read_whole() -> None:
    table = Table(["Name", "Amount"], [["item7_3", "5"], ["item7_4", "9"], ["item7_5", "11"]])
    program = write_program("What is the amount of item7_4?", table)
    assert program.reading == "Amount where Name is item7_4"
    with pytest.raises(Exception, match="not understood"):
        write_program("What is the amount of item7_33?", table)


def test_who_is_asked_for_is_not_answered_with_when() -> None:
    table = Table(["Name", "Joined"], [["Ann", "2015"], ["Bo", "2012"], ["Cy", "2018"]], "members")
    with pytest.raises(Exception, match="not understood"):
        write_program("Which member joined first?", table)
    assert write_program("Who joined first?", table).reading == "Name of the row with the earliest Joined"


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


ODD = Table(
    ["Team", "", "Points", "Lost"], [["a", "x", "1", "2"], ["b", "x", "3", "4"], ["a", "x", "1", "2"]]
)


def test_rows_are_counted_from_one_and_a_nameless_column_has_a_number() -> None:
    told = TableRegion([0, 2], [0, 1]).to_json(ODD, [(2, 1)])
    assert told == {"of": 3, "rows": [1, 3], "columns": ["Team", "column 2"], "cells": [[3, "column 2"]]}
    assert TableRegion().to_json(ODD)["rows"] == [1, 2, 3]
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


def test_a_changed_table_is_no_part() -> None:
    assert region_kept(ODD, Table(["Team"], [["c"]])) is None
    assert region_kept(ODD, ODD.with_caption("other")) == TableRegion()


@pytest.mark.parametrize(
    ("answer", "part", "cells"),
    [
        ("b", TableRegion(), [(1, 0)]),
        ("a", TableRegion(), []),  # two rows have it
        ("a", TableRegion([1, 2]), [(2, 0)]),
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
    assert part.answer_cells(answer, ODD, "Which team?") == cells


def test_the_telling_words_of_a_question() -> None:
    words = telling_words("How many points did Nord get in the 2024 season?")
    assert set(words.values()) == {"points", "Nord", "2024", "season"}
    candidate = Candidate("x", "league 2024", 1.0, ODD, {"file": "club/league_2024.csv"})
    assert covered(words, texts_in(candidate)) == {"point", "2024"}


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

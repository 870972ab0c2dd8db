"""Choosing a table of an index without a model, and the part of it that an answer came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chameleon import Executor, Inventory, State, Table
from chameleon.modules.offline.among import covered, telling_words
from chameleon.retrieval.document import Document
from chameleon.retrieval.make import build_index
from tests.modules.offline.test_table_reader import why

pytest.importorskip("tantivy")

LEAGUE = Table(["Team", "Points", "Lost"], [["Nord", "40", "2"], ["Sud", "38", "4"], ["West", "31", "9"]])
_ROWS = [["Po", "652"], ["Adige", "410"], ["Arno", "241"]]
RIVERS = Table(["River", "Length (km)"], _ROWS, "Rivers of Italy")
BOTH = {"league": LEAGUE, "rivers": RIVERS}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Ask a question to an index of these tables, by their names; each index is built once."""
    folders: dict[str, Path] = {}

    def asked(question: str, tables: Mapping[str, Table], ahead: float = 1.5) -> State:
        if (key := str({name: each.to_json() for name, each in tables.items()})) not in folders:
            folders[key] = tmp_path_factory.mktemp("tables") / "index"
            named = {name: each.with_caption(each.caption or name) for name, each in tables.items()}
            documents = [Document(name, each, source={"file": name}) for name, each in named.items()]
            build_index(folders[key], documents)
        changed = {"extends": "corpus_offline", "modules": {"index_reader": {"ahead": ahead}}}
        executor = Executor(Inventory.parse({"name": "changed", **changed}))
        return executor.run({"question": question, "index": str(folders[key])})

    return asked


def sources(state: State) -> list[Any]:
    return [(each["id"], list(each["rows"]), list(each["columns"])) for each in state.cache["sources"]]


def test_the_rows_and_columns_that_were_read(ask: Any) -> None:
    columns = ["Team", "Points"]
    for question, answer, source, cells in (
        ("How many points does Sud have?", "38", ("league", [2], columns), ((2, "Points"),)),
        ("How many more points did Nord get than West?", "9", ("league", [1, 3], columns), None),
        ("Which river is the longest?", "Po", ("rivers", [1], ["River", "Length (km)"]), ((1, "River"),)),
    ):
        state = ask(question, BOTH)
        assert state.answer == answer and sources(state) == [source]
        assert state.cache["sources"][0].get("cells") == cells


def test_tables_that_differ_are_named_and_none_is_chosen(ask: Any) -> None:
    other = Table(LEAGUE.header, [["Nord", "12", "2"], ["Sud", "11", "4"]])
    tables = {"league 2023": LEAGUE, "league 2024": other}
    told = why(ask("How many points does Nord have?", tables))
    assert "it is not clear which table is meant (" in told and "2023: 40" in told and "2024: 12" in told
    state = ask("How many points did Nord have in 2024?", tables)
    assert state.answer == "12" and sources(state)[0][0] == "league 2024"


def test_tables_that_agree_are_all_named(ask: Any) -> None:
    other = Table(LEAGUE.header, [["Nord", "40", "2"], ["Ost", "1", "30"]])
    state = ask("How many points does Nord have?", {"league a": LEAGUE, "league b": other})
    assert state.answer == "40" and {name for name, _, _ in sources(state)} == {"league a", "league b"}


@pytest.mark.parametrize("question", ["How many teams are there?", "How many points are there in total?"])
def test_a_count_or_sum_of_two_tables_agrees_only_where_they_are_copies(ask: Any, question: str) -> None:
    rows = [["Nord", "1", "2"], ["Ost", "8", "30"], ["Ulm", "100", "0"]]
    tables = {"league a": LEAGUE, "league b": Table(LEAGUE.header, rows)}
    told = why(ask(question, tables))
    assert "it is not clear which table is meant (" in told
    assert len(ask(question, {"league a": LEAGUE, "league b": LEAGUE}).sources) == 2


@pytest.mark.parametrize(("text", "answer"), [("Nord has 44 points now.", None), ("Nord plays.", "40")])
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
    assert "it is not clear which table is meant (league: 40; rival: cannot tell)" in told
    assert ask("How many points does Nord have?", {"league": LEAGUE, "rival": rival}, ahead=1).answer == "40"
    best = Table(LEAGUE.header, LEAGUE.rows[:2], "best of the league")
    state = ask("How many points are there in total?", {"league": LEAGUE, "best": best}, ahead=9)
    assert state.answer == "109" and [name for name, _, _ in sources(state)] == ["league"]
    view = Table(["Team"], [["Nord"], ["West"]], "points of some")
    state = ask("How many points does Nord have?", {"league": LEAGUE, "view": view}, ahead=9)
    assert state.answer == "40"


def test_an_index_that_has_no_word_of_the_question(ask: Any) -> None:
    assert "nothing in the index" in why(ask("Who is the mayor?", BOTH))


def test_the_telling_words_of_a_question() -> None:
    words = telling_words("How many points did Nord get in the 2024 season?")
    assert set(words.values()) == {"points", "Nord", "2024", "season"}
    assert covered(words, ["league 2024", "club/league_2024.csv", "Points"]) == {"point", "2024"}

"""The chain of table operations by which a statement or a question is told without a model."""

from __future__ import annotations

from functools import cache

from chameleon import Executor, Inventory, State, Table
from tests.modules.offline.asked import table

LEAGUE, MEDALS = table("told league"), table("medals")


@cache
def _executor(inventory: str) -> Executor:
    return Executor(Inventory.load(inventory))


def _state(table: Table, text: str, inventory: str = "tabfact_offline") -> State:
    return _executor(inventory).run({"question": text, "table": table})


def test_the_table_evolves_and_the_chain_tells_how() -> None:
    state = _state(LEAGUE, "albion has the most wins")
    assert state.program == ("statement", "select_column", "sort_by", "table_query")
    assert state.table is not None
    assert state.table.header == ("club", "wins")
    assert [row[0] for row in state.table.rows][:2] == ["albion", "wanderers"]
    assert [link["call"] for link in state.cache["chain"]] == [
        "f_select_column(club, wins)",
        "f_sort_by(wins, large to small)",
    ]


def test_rows_are_selected_before_they_are_counted() -> None:
    state = _state(LEAGUE, "there are 2 clubs in leith")
    assert state.table is not None
    assert len(state.table.rows) == 2
    assert state.cache["chain"][0]["args"] == {"rows": (1, 3)}


def test_an_operation_that_would_change_nothing_is_told_as_refused() -> None:
    state = _state(MEDALS, "norway has the highest total")
    assert state.answer == "yes"
    assert any("refused" in link for link in state.cache["chain"]) or state.table != MEDALS


def test_what_is_declined_says_which_words_stay_unread() -> None:
    state = _state(LEAGUE, "rovers is admired by philosophers and poets from leith unless bananas bloom")
    assert state.ended is not None and state.ended.error is not None
    assert state.ended.reason == "declined"
    assert "bananas" in state.ended.error.message


def test_no_model_is_asked() -> None:
    assert _state(LEAGUE, "rovers have 31 points").calls == ()


def test_the_most_frequent_is_found_by_grouping() -> None:
    state = _state(LEAGUE, "which town has the most clubs?", "wikitq_offline")
    assert "group_by" in state.program
    assert state.table is not None
    assert state.table.header == ("town", "Count")
    assert state.table.rows[0] == ("leith", "2")

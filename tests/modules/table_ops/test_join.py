"""`f_join`: the rows of another table beside those that they belong to."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings

from chameleon import LLM, Executor, Inventory, State, StepRejected, Table
from chameleon.core.prompt import named_tables
from chameleon.llm import ScriptedModel
from chameleon.modules.table_ops.join import Join
from chameleon.table.replies import normal
from tests.table.strategies import tables

RIDERS = Table(
    ["Rank", "Team"], [["1", "Liquigas"], ["2", " LIQUIGAS "], ["3", ""], ["4", "Astana"]], "riders"
)
_ROWS = [["Liquigas", "7", "Italy"], ["Astana", "8", "Kazakhstan"], ["Astana", "9", "China"]]
TEAMS = Table(["Name", "Rank", "Country"], [*_ROWS, ["", "0", "nowhere"]], "Teams of 2009, on tour")


def given_with(*others: Table) -> State:
    return State(input={"question": "?", "table": RIDERS, "tables": others})


STATE = given_with(Table(["x"], [["y"]], "other"), TEAMS)


def joined(on: str, state: State = STATE) -> Table:
    operation = Join()
    args = operation.interpret(f"So: f_join({on}).", state)
    assert operation.interpret(f"f_join({operation.written(args)})", state) == args
    return operation.applied(state.input, args)


def test_rows_that_agree_stand_side_by_side() -> None:
    for on in ("teams of 2009, on tour, on Team = Name", "'Teams of 2009, on tour', on name = `team`"):
        table = joined(on)
        assert table.header == ("Rank", "Team", "Rank (Teams of 2009, on tour)", "Country")
        pairs = [("1", "Italy"), ("2", "Italy"), ("4", "Kazakhstan"), ("4", "China")]
        assert [row[::3] for row in table.rows] == pairs and table.caption == "riders"
    # Tables without captions are called by their places.
    state = given_with(Table(["x"], [["y"]]), Table(TEAMS.header, TEAMS.rows))
    assert joined("Table 3, on Team = Name", state).header == ("Rank", "Team", "Rank (table 3)", "Country")
    same = Table(["x"], [["y"]], "same")
    assert [name for name, _ in named_tables([same, same])] == ["same", "table 3"]


def test_what_cannot_be_joined_is_refused() -> None:
    for call, fault in (
        ("clubs, on Team = Name", "clubs"),
        ("other", "no columns"),
        ("other, on Team = y", "'y'"),
    ):
        with pytest.raises(StepRejected, match=fault):
            joined(call)
    with pytest.raises(StepRejected, match="stands in 'x'"):
        joined("other, on Team = x")
    many = Table(["k"], [["same"]] * 1_001, "many")  # refused before it is made
    with pytest.raises(StepRejected, match="1,002,001 rows"):
        Join().apply(many, {"table": "many", "on": ["k", "k"], "other": many})


def test_a_join_says_how_many_rows_it_leaves_out() -> None:
    for teams, note in ((["Liquigas", "Astana", ""], "1 row has"), (["Astana", "Rabobank"], "3 rows have")):
        asked = Join().with_llm(LLM.connect(ScriptedModel(["So: f_join(teams, on Team)."])))
        link = asked.run(given_with(Table(["Team"], [[each] for each in teams], "teams")))
        assert link["note"] == f"{note} no partner"
    same = Table(["Rank"], [["1"]], "same")
    assert not Join().noted({"table": same, "tables": (same,)}, {"table": "same", "on": ["Rank", "Rank"]})


@settings(max_examples=50, deadline=None)
@given(left=tables(min_columns=2), right=tables(min_columns=2))
def test_a_join_is_all_pairs_of_rows_whose_keys_agree(left: Table, right: Table) -> None:
    left = Table(["k", *left.header[1:]], left.rows)
    right = Table(["k", *right.header[1:]], right.rows, "right")
    every = product(left.rows, right.rows)
    pairs = [(*one, *other[1:]) for one, other in every if normal(one[0]) == normal(other[0]) != ""]
    try:
        table = Join().apply(left, {"table": "right", "on": ["k", "k"], "other": right})
    except StepRejected:
        assert not pairs
    else:
        assert list(table.rows) == pairs


def run(inventory: str | Path, replies: list[str], state: State) -> tuple[State, ScriptedModel]:
    client = ScriptedModel(replies)
    return Executor(Inventory.load(inventory), LLM.connect(client)).run(state.input), client


def test_with_one_table_there_is_no_join() -> None:
    alone = State(input={"question": "?", "table": RIDERS})
    assert Join().run(alone)["refused"] == "the question comes with no other table"
    state, client = run("chain_of_table_extended", ["f_join(teams) -> <END>", "Astana"], alone)
    assert "f_join" not in client.requests[0][-1][1] and "Other table" not in client.requests[0][-1][1]
    assert [record.step.module for record in state.executed] == [
        "table_query",
        "table_sources",
        "final_answer",
    ]


def test_the_extended_inventory_joins_filters_and_sums_up_in_one_chain() -> None:
    calls = ["f_join(Teams of 2009, on tour, on Team = Name)", 'f_filter_rows(Country != "China")']
    calls += ["f_aggregate(sum of Rank by Country)"]
    replies = ["f_join(x) -> f_aggregate(x) -> <END>", calls[0], "f_filter_rows(x) -> <END>", calls[1]]
    replies += ["f_aggregate(x) -> <END>", calls[2], "<END>", "The answer is: Italy"]
    state, client = run("chain_of_table_extended", replies, STATE)
    assert [link["call"] for link in state.cache["chain"]] == calls
    assert state.input["table"].rows == (("Italy", "3"), ("Kazakhstan", "4"))
    assert state.answer == ("Italy",) and len(client.requests) == len(replies)
    assert [source["table"] for source in state.sources] == ["riders", TEAMS.caption]  # not "other"
    state, _ = run("chain_of_table_extended", [*replies[:-1], "<END>"], STATE)
    assert state.status == "failed"  # the end of a chain is no answer


@pytest.mark.parametrize("task", ["wikitq", "tabfact", "fetaqa"])
def test_the_planner_sees_what_is_one_join_away(task: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"extends: chain_of_table_extended\nname: mine\nplanner: {{prompt: {task}/planner}}\n")
    long = Table(["Team", "Story"], [["Astana", "x" * 500]], "stories */")
    _, client = run(file, ["f_add_column(x)", "nothing", "<END>", "Astana"], given_with(TEAMS, long))
    shown = client.requests[0][-1][1].partition("row 4 : 4 | Astana\n*/\n")[2]
    assert shown.startswith(
        "Other table : Teams of 2009, on tour (4 rows)\n/*\ncol : Name | Rank | Country\n"
        "row 1 : Liquigas | 7 | Italy\nrow 2 : Astana | 8 | Kazakhstan\n… 2 more rows not shown\n*/\n"
        "Other table : stories */ (1 row)\n/*\ncol : Team | Story\n"
    )
    assert "x" * 39 + "…" in shown and "x" * 40 not in shown

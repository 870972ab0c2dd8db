"""The rows of another table beside those that they belong to, and tables below each other."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from chameleon import LLM, Executor, Inventory, State, StepRejected, Table, ask
from chameleon.core.prompt import named_tables
from chameleon.llm import ScriptedModel
from chameleon.modules.table_ops.join import Join, Union
from chameleon.modules.table_ops.unions import differences, has_same_columns, union_of
from chameleon.table.replies import normal
from tests.table.strategies import tables

RIDERS = Table(["Rank", "Team"], [["1", "Liquigas"], ["2", " LIQUIGAS "], ["3", ""], ["4", "Astana"]], "all")
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
        assert [row[::3] for row in table.rows] == pairs and table.caption == "all"
    # Tables without captions are called by their places.
    state = given_with(Table(["x"], [["y"]]), Table(TEAMS.header, TEAMS.rows))
    assert joined("Table 3, on Team = Name", state).header == ("Rank", "Team", "Rank (table 3)", "Country")
    same = Table(["x"], [["y"]], "same")
    assert [name for name, _ in named_tables([same, same])] == ["same", "table 3"]


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("clubs, on Team = Name", "clubs"),
        ("other", "no columns"),
        ("other, on Team = y", "'y'"),
        ("other, on Team = x", "occurs in 'x'"),
    ],
)
def test_what_cannot_be_joined_is_refused(call: str, fault: str) -> None:
    with pytest.raises(StepRejected, match=fault):
        joined(call)
    many = Table(["k"], [["same"]] * 1_001, "many")  # refused before it is made
    with pytest.raises(StepRejected, match="1,002,001 rows"):
        Join().apply(many, {"table": "many", "on": ["k", "k"], "other": many})


def test_a_join_says_how_many_rows_it_leaves_out() -> None:
    for teams, note in (("Liquigas|Astana|", "1 row has"), ("Astana|Rabobank", "3 rows have")):
        asked = Join().with_llm(LLM.connect(ScriptedModel(["So: f_join(teams, on Team)."])))
        link = asked.run(given_with(Table(["Team"], [[each] for each in teams.split("|")], "teams")))
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
    assert Join().run(alone)["refused"] == "the question has no other table"
    state, client = run("chain_of_table_extended", ["f_join(teams) -> <END>", "Astana"], alone)
    assert not re.search("f_join|Other table", client.requests[0][-1][1])
    assert state.executed_names == ("table_query", "table_sources", "final_answer")


def test_the_extended_inventory_joins_filters_and_sums_up_in_one_chain() -> None:
    calls = ["f_join(Teams of 2009, on tour, on Team = Name)", 'f_filter_rows(Country != "China")']
    calls += ["f_aggregate(sum of Rank by Country)"]
    replies = ["f_join(x) -> f_aggregate(x) -> <END>", calls[0], "f_filter_rows(x) -> <END>", calls[1]]
    replies += ["f_aggregate(x) -> <END>", calls[2], "<END>", "The answer is: Italy"]
    state, client = run("chain_of_table_extended", replies, STATE)
    assert [link["call"] for link in state.cache["chain"]] == calls
    assert state.input["table"].rows == (("Italy", "3"), ("Kazakhstan", "4"))
    assert state.answer == ("Italy",) and len(client.requests) == len(replies)
    assert [source["table"] for source in state.sources] == [RIDERS.caption, TEAMS.caption]  # not "other"
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
    assert "x" * 39 + "…" in shown


_LEAGUE = ["Team", "Points"]
OF_2023 = Table(_LEAGUE, [["Rovers", "46"], ["Quarry Lane", "30"]], "league 2023")
OF_2024 = Table(["points", "team"], [["41", "Rovers"], ["27", "Quarry Lane"]], "league 2024")
TOWNS = Table(["Team", "Town"], [["Rovers", "Arvik"], ["Quarry Lane", "Colm"]], "teams")


def test_names_are_differences() -> None:
    assert differences(["league 2023", "league 2024"]) == ["2023", "2024"]
    assert differences(["Sales of May", "Sales of June"]) == ["May", "June"]
    for names in (["a", "a b"], ["north", "south"]):
        assert differences(names) == names


def test_a_union_has_the_columns_of_the_first_and_what_tells_the_tables_apart() -> None:
    both = union_of([(each.caption, each) for each in (OF_2023, OF_2024)])
    assert both.header == ("Year", "Team", "Points") and both.caption == "league"
    assert both.rows[2:] == (("2024", "Rovers", "41"), ("2024", "Quarry Lane", "27"))
    assert has_same_columns(OF_2023, OF_2024) and not has_same_columns(OF_2023, TOWNS)
    named = union_of([("Year", OF_2023), ("Table", OF_2023.with_caption("x"))])
    assert named.header[0] == "Table"


def test_the_operation_names_tables_and_refuses_other_columns() -> None:
    given: dict[str, Any] = {"table": OF_2023, "tables": [OF_2024, TOWNS]}
    assert len(Union().applied(given, {"tables": ["League 2024"]}).rows) == 4
    for name, fault in (("teams", "other columns"), ("league 2025", "no other table")):
        with pytest.raises(StepRejected, match=fault):
            Union().applied(given, {"tables": [name]})


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many points did Quarry Lane get in 2023 and 2024?", "57"),
        ("How many points did Quarry Lane get in both years?", "57"),
        ("How many more points did Quarry Lane get in 2023 than in 2024?", "3"),
        ("Which team has the most points over both seasons?", "Rovers"),
        ("How many points did Quarry Lane get in 2024?", "27"),
        ("In which town is Quarry Lane?", "Colm"),
        ("How many points did Quarry Lane get?", None),  # which year?
        ("How many points did the team from Arvik get in 2023?", None),  # a join
    ],
)
def test_without_a_model(question: str, answer: str | None) -> None:
    state = ask(question, OF_2023, tables=[OF_2024, TOWNS])
    assert state.answer == answer
    if answer in ("57", "3"):
        rows = [(source["table"], list(source["rows"])) for source in state.sources]
        assert rows == [("league 2023", [2]), ("league 2024", [2])]
    if answer is None:
        assert "league 2023" in state.why


def of_years(*years: int, header: tuple[str, str] = ("City", "Visitors")) -> list[Table]:
    return [Table(header, [["Oslo", str(year - 2012)], ["Lone", "1"]], f"visitors {year}") for year in years]


NOTED = Table(["City", "Visitors", "Note"], [["Oslo", "9", ""]], "visitors 2021")
IN_COLUMNS = [
    Table(["City", "Year", "People"], [["Oslo", str(n), str(n)] for n in years], f"city {years[1]}")
    for years in ((2020, 2021), (2021, 2022))
]
PRICES = of_years(2022, 2023, header=("City", "Price"))


@pytest.mark.parametrize(
    ("question", "tables"),
    [
        ("How many visitors did Oslo have from 2022 to 2024?", of_years(2022, 2023, 2024)),
        ("How many visitors did Oslo have between 2022 and 2024?", of_years(2022, 2023, 2024)),
        ("How many visitors did Oslo have in both years?", of_years(2022, 2023, 2024)),
        ("What is the price of Oslo in 2022 and 2023?", PRICES),
        ("Which city has the highest price in 2022 and 2023?", PRICES),
        ("How many visitors did Oslo have in all years?", [*of_years(2022, 2023), NOTED]),
        ("How many people did Oslo have in 2021 and 2022?", IN_COLUMNS),
    ],
)
def test_what_is_not_sure_to_be_a_union_is_declined(question: str, tables: list[Table]) -> None:
    assert ask(question, tables[0], tables=tables[1:]).status == "declined"


def test_years_that_are_all_are_added_up() -> None:
    first, *others = of_years(2022, 2023, 2024)
    assert ask("How many visitors did Oslo have in all years?", first, tables=others).answer == "33"

"""Lookups keep what a reply shows and ask nothing about small or long tables; what knowledge reads."""

from typing import Any

import pytest

from chameleon import Executor, Inventory, State, Table
from chameleon.llm import ScriptedModel

HEADER = ["Boat", "Port", "Crew", "Year"]
BOATS = Table(HEADER, [[f"Boat {n}", "Tarn", str(n), "1990"] for n in range(6)], "boats")


def ran(names: list[str], reply: str, table: Table = BOATS, **settings: Any) -> tuple[State, ScriptedModel]:
    model = ScriptedModel([reply] * len(names))
    spec: dict[str, Any] = {"name": "mine", "input": {"question": "str", "table": "Table", "choices": "list"}}
    spec |= {"planner": {"use": "fixed", "plan": names}, "modules": dict.fromkeys(names, settings)}
    asked = {"question": "Which boat has a crew of 3?", "table": table, "choices": ["Boat 3", "Boat 9"]}
    return Executor(Inventory.parse(spec), model).run(asked), model


@pytest.mark.parametrize(
    ("name", "reply", "kept"),
    [
        ("row_lookup", "Boat | Port | Crew | Year\nBoat 3 | Tarn | 3 | 1990", BOATS.take_rows([3])),
        ("column_lookup", "Boat | Crew\nBoat 3 | 3", BOATS.take_columns([0, 2])),  # with all its rows
    ],
)
def test_a_lookup_keeps_what_the_reply_shows(name: str, reply: str, kept: Table) -> None:
    state, _ = ran([name], reply)
    assert state.input["table"] == kept, state.ended


@pytest.mark.parametrize(
    ("name", "table", "settings"),
    [
        ("row_lookup", BOATS.take_rows(range(2)), {}),  # of 3 rows with the header
        ("row_lookup", BOATS.take_columns([0, 1]), {}),  # of 14 cells
        ("row_lookup", BOATS, {"max_rows": 5}),  # the prompt would not show the last
        ("column_lookup", Table(["Boat"], [[f"Boat {n}"] for n in range(30)]), {}),
        ("column_lookup", BOATS.take_rows(range(3)), {}),  # of 16 cells
    ],
)
def test_other_tables_stay_whole_without_a_call(name: str, table: Table, settings: dict[str, Any]) -> None:
    state, model = ran([name], "", table, **settings)
    assert state.input["table"] == table and not model.requests, state.ended


def test_knowledge_sees_the_choices_and_solutions_see_knowledge_and_description() -> None:
    state, model = ran(
        ["knowledge_retrieval", "table_verbalizer", "solution_generator"], "A gig has two masts."
    )
    *first, last = map(str, model.requests)  # the first two run at the same time
    assert "Boat 9" in last and sum("Boat 9" in each for each in first) == 1, "the description is of its rows"
    assert last.count("A gig has two masts.") == 2, "one of knowledge, one of description"
    assert state.cache["table_description"] == state.cache["knowledge"] == "A gig has two masts."

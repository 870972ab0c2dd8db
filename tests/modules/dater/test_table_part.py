"""Dater's part of the table: both choices see the whole table, and then it is cut to both."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import LLM, Module, State, Table
from chameleon.llm import ScriptedModel
from chameleon.modules.dater.column_choice import ColumnChoice
from chameleon.modules.dater.row_choice import RowChoice
from chameleon.modules.dater.table_part import TablePart

TABLE = Table(
    ["Crew", "Country", "Time"],
    [["otters", "sel", "6:41"], ["herons", "ost", "6:44"], ["pikes", "sel", "6:45"]],
    "regatta",
)
STATE = State(input={"question": "which crews are from sel?", "table": TABLE})


def noted(module: Any, replies: list[str]) -> tuple[dict[str, Any], ScriptedModel]:
    """What a choice writes to the cache, and the model that it asked; the table must stay."""
    client = ScriptedModel(replies)
    module.samples = len(replies)
    output = module.with_llm(LLM.connect(client)).run(STATE)
    assert module.update_input(STATE.input, output) == {}
    return dict(module.update_cache(STATE.cache, output)), client


def cut(columns: str, rows: str) -> tuple[Table, list[Any]]:
    """The table and the chain after choices for which the model gave these replies."""
    cache = noted(ColumnChoice(), [columns])[0] | noted(RowChoice(), [rows])[0]
    part: Module = TablePart()
    output = part.run(State(input=STATE.input, cache=cache))
    return part.update_input(STATE.input, output)["table"], part.update_cache(cache, output)["chain"]


def test_a_choice_is_noted_by_vote_and_the_table_stays() -> None:
    replies = ["f_row([row 1])", "f_row([row 3])", "f_row([row 3])", "f_row([row 2])", "f_row([row 1])"]
    cache, client = noted(RowChoice(top=2), replies)
    assert cache["row_choice"]["args"]["rows"] == (1, 3) and len(client.requests) == 5
    assert "sel" in client.requests[0][-1][1].rpartition("/*")[2]


@pytest.mark.parametrize(
    ("columns", "rows", "kept"),
    [
        ("f_col([Time, Crew])", "f_row([row 1, row 3])", TABLE.take_columns([0, 2]).take_rows([0, 2])),
        ("f_col([Crew])", "f_row([*])", TABLE.take_columns([0])),
        ("f_col([Depth])", "f_row([row 2])", TABLE.take_rows([1])),
        ("none", "none", TABLE),
    ],
)
def test_the_table_is_cut_to_both_and_a_refused_choice_cuts_nothing(
    columns: str, rows: str, kept: Table
) -> None:
    table, chain = cut(columns, rows)
    assert table == kept
    refused = ["refused" in link for link in chain]
    assert refused == ["Depth" in columns or columns == "none", rows == "none"]

"""TabFact's prompts end as the published code's do, to the letter, but for the departures named here."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any, cast

import pytest

from chameleon import Inventory, State, Step, Table
from chameleon.core.events import StepRecord
from chameleon.llm import LLM, ScriptedModel
from chameleon.modules.table_ops.selection import SelectRow
from chameleon.modules.table_ops.table_query import TableQuery

VECTORS = (Path(__file__).parents[2] / "../shared/data/vectors").resolve()
STATEMENT = "there are two athletes from ind"
DEPARTURES = {
    "plan-020": "a selection that names no column is refused, and is no link of the chain",
    "query-002": "grouping changes the table; the groups do not stand beside it",
}


def vectors(name: str) -> pytest.MarkDecorator:
    """Give a test the rows of a file of vectors; none where the shared vectors are not here."""
    path = VECTORS / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []
    return pytest.mark.parametrize("row", rows, ids=lambda row: f"{row['id']} {row['name']}")


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return Inventory.load(Path(__file__).with_name("aliases.yaml"))


def table_in(row: dict[str, Any], caption: str) -> Table:
    table = Table(row["table"][0], row["table"][1:], caption)
    for link in row["prior_chain"]:
        if link["operation_name"] == "select_row" and link["parameter_and_conf"]:
            numbers = ast.literal_eval(link["parameter_and_conf"][0][0])
            table = SelectRow().apply(table, {"rows": [int(number) for number in numbers]})
    return table


def check(id: str, asked: str, tail: str) -> None:
    """Check that a prompt ends so, but for blanks, which the providers ask to trim."""
    assert asked.endswith(tail.rstrip()) == (id not in DEPARTURES), f"{asked[-len(tail) :]}\n---\n{tail}"


@vectors("chain_of_table_ops")
def test_operations(row: dict[str, Any], inventory: Inventory) -> None:
    module = inventory.modules[row["op"]]
    state = State(input={"question": row["statement"], "table": table_in(row, row["caption"])})
    check(row["id"], module.messages(state)[-1][1], row["prompt_tail_first_call"])
    if "prompt_tail_second_call" in row:
        client = ScriptedModel([reply for replies in row["responses"] for reply in replies])
        module.with_llm(LLM.connect(client)).run(state)
        later = [request[-1][1] for request in client.requests[1:]]
        assert later == [] or any(text.endswith(row["prompt_tail_second_call"]) for text in later)


@vectors("chain_of_table_plan")
def test_the_planner(row: dict[str, Any], inventory: Inventory) -> None:
    history = tuple(map(record, row["prior_chain"]))
    state = State(input={"question": STATEMENT, "table": table_in(row, "race")}, history=history)
    client, planner = ScriptedModel(["<END>"]), cast(Any, inventory.planner)
    planner.with_llm(LLM.connect(client)).propose(state, inventory)
    assert bool(client.requests) == row["called_llm"]
    if client.requests:
        check(row["id"], client.requests[0][-1][1], row["prompt_tail"])
        assert planner._template.stop == (row["stop"],)


def record(link: dict[str, Any]) -> StepRecord:
    """An operation that ran: the published chain renumbers the rows that it kept."""
    name, known = link["operation_name"], link["parameter_and_conf"]
    if not known:
        return StepRecord(Step(name), output={"call": f"f_{name}()", "refused": "it does not apply"})
    rows = ast.literal_eval(known[0][0]) if name == "select_row" else []
    call = f"f_{name}({', '.join(f'row {number}' for number, _ in enumerate(rows, 1))})"
    return StepRecord(Step(name), output={"call": call})


@vectors("chain_of_table_query")
def test_the_last_question(row: dict[str, Any], inventory: Inventory) -> None:
    module = inventory.modules["table_query"]
    assert isinstance(module, TableQuery)
    state = State(input={"question": STATEMENT, "table": table_in(row, "race")})
    check(row["id"], module.messages(state)[-1][1], row["full_prompt_tail"])
    assert module.parse(row["response"]).upper() == row["answer"]

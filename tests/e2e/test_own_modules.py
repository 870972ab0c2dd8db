"""Plug in a module of one's own by three lines: it is planned, runs, and what it finds changes the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, Module, Table
from tests.loopback import Start

STOPS = Table(["Stop", "Arrives"], [["market", "12:10"], ["station", "12:25"]])
FACT = "The bus waits ten minutes."


class BusFacts(Module):
    """Tells facts about the bus company. For questions about buses."""

    def run(self, state: Any) -> str:
        return FACT


@pytest.mark.parametrize(
    ("inventory", "plan"),  # a fixed one where no model plans
    [
        ("tables", ""),
        ("tabmwp", ""),
        ("pictures", ""),
        ("wikitq_pot", "program_generator program_executor table_answer"),
        ("wikitq_text_to_sql", "sql_generator sql_executor"),
        ("wikitq_end_to_end", "table_query"),
    ],
)
def test_what_it_finds_changes_the_answer(loopback: Start, inventory: str, plan: str) -> None:
    def reply(request: dict[str, Any]) -> str:
        prompt = request["messages"][-1]["content"]
        if prompt.rstrip().endswith("Modules:"):
            way = "program" if inventory == "tables" else "solution"  # as it stands in no cell
            return json.dumps(["bus_facts", f"{way}_generator", "answer_generator"])
        time = "12:35" if FACT in prompt else "12:25"
        said = {"wikitq_pot": f'ans = "{time}"', "wikitq_text_to_sql": f"SELECT '{time}'"}
        said["tables"] = f'ans = max("12:10", "{time}")'
        return said.get(inventory, f"The answer is {time}.")

    loopback(reply)
    planner = {"planner": {"use": "fixed", "plan": ["bus_facts", *plan.split()]}} if plan else {}
    mine = {"name": "mine", "extends": inventory, "modules": {"bus_facts": BusFacts}, **planner}
    given = {"text": "It arrives at 12:25."} if inventory == "pictures" else {"table": STOPS}
    state = Executor(Inventory.parse(mine), LLM.connect("openai:local")).run({"question": "When?", **given})
    assert "12:35" in str(state.answer) and "bus_facts" in state.plan, state.ended

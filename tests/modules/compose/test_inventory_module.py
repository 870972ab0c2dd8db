"""Inventories within inventories: one log and one budget."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State, Table, tool
from chameleon.core.events import Event, Nested
from chameleon.errors import InventoryError
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.fixed import Fixed

TABLE = Table(["City", "Visitors"], [["Lisbon", "4200"], ["Lyon", "3100"]])
GIVEN = {"question": "What of Lisbon?", "table": TABLE}
ASKED = ("How many visitors did Lisbon have?", "Will it rain?")
REPLIES: list[Any] = [
    {"text": "", "tool_calls": [{"name": "middle", "args": {"question": each}} for each in ASKED]},
    "4200",
]


@tool
def shout() -> str:
    """Shouts."""
    return "HEY"


def nested() -> Inventory:
    takes = {"question": "str", "table": "Table"}
    low = Inventory("low", Fixed(["rules"]), {"rules": Inventory.load("tables_offline")}, input_types=takes)
    middle = Inventory(
        "middle", Fixed(["low"]), {"low": low, "shout": shout}, input_types=takes, on_error={"low": ["shout"]}
    )
    return Inventory.of([middle], "react")


def executor() -> Executor:
    return Executor(nested(), LLM.connect(ScriptedModel(REPLIES, tools=True)))


def depth(event: Event) -> int:
    return 1 + depth(event.event) if isinstance(event, Nested) else 0


def test_a_run_three_deep_is_one_log() -> None:
    events = list(executor().stream(GIVEN))
    state = State.fold(events)
    assert state.answer == "4200" and state.executed_names == ("middle", "middle", "model_answer")
    assert [record.output for record in state.history] == ["4200", "HEY", "4200"]
    assert max(map(depth, events)) == 3 and state.usage.calls == 2 and state.steps_taken == 11
    assert state.cache["sources"][0]["rows"] == (1,)


def test_an_inventory_that_declines_within_declines_the_run() -> None:
    inner = {"rules": Inventory.load("tables_offline")}
    state = Executor(Inventory("outer", Fixed(["rules"]), inner)).run({**GIVEN, "question": ASKED[1]})
    assert state.ended is not None and state.ended.reason == "declined"
    assert "rain" in str(state.ended.error)


def test_inventories_that_run_one_another_are_refused(tmp_path: Any) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        text = (
            f"name: {name}\nplanner: {{use: fixed, plan: [x]}}\nmodules: {{x: {{inventory: {other}.yaml}}}}\n"
        )
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    with pytest.raises(InventoryError, match="circle"):
        Inventory.load(tmp_path / "a.yaml")

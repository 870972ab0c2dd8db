"""Inventories within inventories: one log and one budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from chameleon import LLM, Executor, Inventory, State, Table, tool
from chameleon.errors import InventoryError
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.fixed import Fixed
from tests.engine.doubles import why

TABLE = Table(["City", "Visitors"], [["Lisbon", "4200"], ["Lyon", "3100"]])
ASKED = ("How many visitors did Lisbon have?", "Will it rain?")


@tool
def shout() -> str:
    """Shouts."""
    return "HEY"


def test_a_run_three_deep_is_one_log_and_what_declines_within_declines() -> None:
    takes, rules = {"question": "str", "table": "Table"}, {"rules": Inventory.load("tables_offline")}
    low = Inventory("low", Fixed(["rules"]), rules, input_types=takes)
    modules, on_error = {"low": low, "shout": shout}, {"low": ["shout"]}
    middle = Inventory("middle", Fixed(["low"]), modules, input_types=takes, on_error=on_error)
    calls = [{"name": "middle", "args": {"question": each}} for each in ASKED]
    script = ScriptedModel([{"text": "", "tool_calls": calls}, "4200"], tools=True)
    given = {"question": "What of Lisbon?", "table": TABLE}
    events = list(Executor(Inventory.of([middle], "react"), LLM.connect(script)).stream(given))
    state = State.fold(events)
    assert state.answer == "4200" and state.executed_names == ("middle", "middle", "model_answer")
    assert [record.output for record in state.history] == ["4200", "HEY", "4200"]
    assert state.usage.calls == 2 and state.steps_taken == 11
    assert state.cache["sources"][0]["rows"] == (1,)
    declined = Executor(Inventory("outer", Fixed(["rules"]), rules)).run({**given, "question": ASKED[1]})
    assert declined.ended is not None and declined.ended.reason == "declined" and "rain" in why(declined)


def test_inventories_that_run_one_another_are_refused(tmp_path: Path) -> None:
    plan = "planner: {use: fixed, plan: [x]}\nmodules: {x: {inventory: "
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\n{plan}{other}.yaml}}}}\n", "utf-8")
    with pytest.raises(InventoryError, match="circle"):
        Inventory.load(tmp_path / "a.yaml")

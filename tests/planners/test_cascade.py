"""Cascade: rungs in order, the cheapest first; what one declines or fails at, the next is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, Table
from chameleon.core.log import event_from_json, event_to_json
from chameleon.core.state import State
from chameleon.errors import InventoryError
from chameleon.llm import ScriptedModel

TABLE = Table(["City", "Visitors"], [["Lisbon", "4200"], ["Porto", "2900"]], "Visits")
TAKES = {"question": "str", "table": "Table"}
SURE = "Which city had the most visitors?"
UNREAD = "Is Lisbon sunnier?"
PROGRAM = '```python\nans = "yes" if "Lisbon" in list(df["City"]) else "no"\n```'


def run(question: str, replies: Sequence[str] = (), *, rungs: Any = None) -> tuple[State, list[Any]]:
    inventory = Inventory.load("tables_first") if rungs is None else Inventory.parse(rungs)
    executor = Executor(inventory, LLM.connect(ScriptedModel(list(replies))))
    events = list(executor.stream({"question": question, "table": TABLE}))
    return State.fold(events), events


def test_the_first_that_answers_wins_and_nothing_dearer_is_asked() -> None:
    state, _ = run(SURE)
    assert (state.answer, state.plan, len(state.calls)) == ("Lisbon", ("tables_offline",), 0)
    assert state.cache["sources"] and state.cache["reading"]


def test_what_a_rung_declines_goes_to_the_next_and_the_log_says_why() -> None:
    state, _ = run(UNREAD, ['["program_generator"]', PROGRAM])
    assert (state.answer, state.executed_names, len(state.calls)) == ("yes", ("tables_offline", "tables"), 2)
    assert "sunnier" in state.plans[1].note and state.history[0].error is not None


def mine(modules: dict[str, Any]) -> dict[str, Any]:
    return {"name": "mine", "input": TAKES, "planner": "cascade", "modules": modules}


def test_a_rung_is_held_to_its_confidence() -> None:
    state, _ = run(SURE, rungs=mine({"sure": {"inventory": "tables_offline", "at_least": 1.0}}))
    assert state.ended is not None and state.ended.reason == "declined" and state.ended.error is not None
    assert "below 1" in state.ended.error.message
    with pytest.raises(InventoryError, match=r"at_least.*1"):
        Inventory.parse(mine({"sure": {"inventory": "tables_offline", "at_least": 2}}))


def test_a_run_goes_on_from_every_prefix_to_the_same_end() -> None:
    replies = ['["program_generator"]', PROGRAM]
    state, events = run(UNREAD.replace("sunnier", "liked"), replies)
    for count in range(1, len(events)):
        before = [event_from_json(json.loads(json.dumps(event_to_json(each)))) for each in events[:count]]
        done = len(State.fold(before).calls)
        executor = Executor("tables_first", LLM.connect(ScriptedModel(replies[done:])))
        given = {"question": UNREAD.replace("sunnier", "liked"), "table": TABLE}
        assert executor.run(given, before).answer == state.answer, count


def test_a_question_that_follows_others_is_not_read_without_what_they_were() -> None:
    executor = Executor("tables_first", LLM.connect(ScriptedModel(['["program_generator"]', PROGRAM])))
    given = {"question": "Is Lisbon there?", "history": [{"question": SURE, "answer": "Lisbon"}]}
    state = executor.run({**given, "table": TABLE})
    assert (state.answer, state.plan) == ("yes", ("tables",))

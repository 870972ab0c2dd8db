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
REPLIES = ['["program_generator"]', PROGRAM]


def run(question: str, replies: Sequence[str] = (), rungs: Any = "tables_first", **given: Any) -> State:
    executor = Executor(rungs, LLM.connect(ScriptedModel(list(replies))))
    return executor.run({"question": question, "table": TABLE, **given})


def mine(at_least: float) -> dict[str, Any]:
    sure = {"inventory": "tables_offline", "at_least": at_least}
    return {"name": "mine", "input": TAKES, "planner": "cascade", "modules": {"sure": sure}}


def test_the_first_that_answers_wins_and_nothing_dearer_is_asked() -> None:
    state = run(SURE)
    assert (state.answer, state.plan, len(state.calls)) == ("Lisbon", ("tables_offline",), 0)
    assert state.cache["sources"] and state.cache["reading"]


def test_what_a_rung_declines_goes_to_the_next_and_the_log_says_why() -> None:
    state = run(UNREAD, REPLIES)
    assert (state.answer, state.executed_names, len(state.calls)) == ("yes", ("tables_offline", "tables"), 2)
    assert "sunnier" in state.plans[1].note and state.history[0].error is not None


def test_a_rung_is_held_to_its_confidence() -> None:
    state = run(SURE, rungs=mine(1.0))
    assert state.status == "declined" and "below 1" in state.why
    with pytest.raises(InventoryError, match=r"at_least.*1"):
        Inventory.parse(mine(2))


def test_a_run_goes_on_from_every_prefix_to_the_same_end() -> None:
    given = {"question": "Is Lisbon liked?", "table": TABLE}
    events = list(Executor("tables_first", LLM.connect(ScriptedModel(REPLIES))).stream(given))
    for count in range(1, len(events)):
        before = [event_from_json(json.loads(json.dumps(event_to_json(each)))) for each in events[:count]]
        left = REPLIES[len(State.fold(before).calls) :]
        again = Executor("tables_first", LLM.connect(ScriptedModel(left))).run(given, before)
        assert again.answer == State.fold(events).answer == "yes", count


def test_a_question_that_follows_others_is_not_read_without_what_they_were() -> None:
    state = run("Is Lisbon there?", REPLIES, history=[{"question": SURE, "answer": "Lisbon"}])
    assert (state.answer, state.plan) == ("yes", ("tables",))

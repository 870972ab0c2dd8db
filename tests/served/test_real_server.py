"""Chameleon and a real model server: answers, usage, cut-off replies."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chameleon import LLM, Executor, Inventory, State
from chameleon.log import EventLog
from chameleon.table import read_table
from tests.e2e.commands import ROOT, Command
from tests.served.conftest import Relay, Server, require_server

require_server()

LEAGUE = ROOT / "demos/data/league.csv"
QUESTION = "How many points does Kingsmere Town have?"
PLAN = ("solution_generator", "answer_generator")
IMPATIENT = "name: impatient\nextends: tables\nllm: {retries: 0}\n"
BRIEF = """
name: brief
input: {question: str, table: Table}
llm: {retries: 0, max_tokens: 16}
planner: {use: fixed, plan: [solution_generator, answer_generator]}
modules:
  solution_generator: {prompt: tables/solution_generator}
  answer_generator: {}
"""
_REDO = "{redo: solution_generator, attempts: 3, temperature_step: 0.1}"
REPAIRED = f"{BRIEF}repair: {{solution_generator: {_REDO}}}\n"


def answered(relay: Relay, log: Path, **settings: Any) -> State:
    """The question's run with `tables` and tiny/plans, as its log has it."""
    llm = LLM.connect("openai:tiny/plans", base_url=relay.url, **settings)
    with EventLog(log) as events:
        Executor(Inventory.load("tables"), llm).run(
            {"question": QUESTION, "table": read_table(str(LEAGUE))}, events
        )
    with EventLog(log) as events:
        return State.fold(events)


def ask(folder: Path, inventory: str, model: str, *options: str) -> list[str]:
    """The arguments of `chameleon ask` for an inventory that is written into the folder."""
    file = folder / "inventory.yaml"
    file.write_text(inventory)
    named = ["--table", str(LEAGUE), "--inventory", str(file), "--model", f"openai:{model}"]
    return ["ask", QUESTION, *named, "--store", "off", *options]


def test_a_question_takes_two_calls_and_their_usage_is_the_servers(
    served: Server, relay: Relay, tmp_path: Path
) -> None:
    state = answered(relay, tmp_path / "run.jsonl")
    assert (state.answer, state.program) == ("42", PLAN)
    assert (state.usage.calls, state.usage.input_tokens, state.usage.output_tokens) == relay.usage
    assert relay.usage[0] == 2
    for request, call in zip(relay.requests, state.calls, strict=True):
        again = served.ask(request)
        assert again["choices"][0]["message"]["content"] == call.text
        assert again["usage"]["prompt_tokens"] == call.usage.input_tokens
        assert again["usage"]["completion_tokens"] == call.usage.output_tokens


def test_a_model_that_is_not_there_is_one_line(relay: Relay, command: Command, tmp_path: Path) -> None:
    outcome = command(*ask(tmp_path, IMPATIENT, "tiny/nothing"))
    assert outcome.code == 1
    assert "tiny/nothing" in outcome.complaint


def test_a_silent_model_is_one_line(relay: Relay, command: Command, tmp_path: Path) -> None:
    outcome = command(*ask(tmp_path, BRIEF, "tiny/ends"))
    assert outcome.code == 1
    assert "empty reply" in outcome.complaint


ROOM = pytest.mark.parametrize("inventory", [BRIEF, REPAIRED], ids=["as it is", "repaired"])


@ROOM
def test_a_reply_that_is_cut_off_is_one_line(
    relay: Relay, command: Command, tmp_path: Path, inventory: str
) -> None:
    outcome = command(*ask(tmp_path, inventory, "tiny/random"))
    assert outcome.code == 1 and "Answer:" not in outcome.out
    assert "cut off" in outcome.complaint


@ROOM
def test_a_reply_that_is_cut_off_is_asked_for_with_more_room(
    relay: Relay, command: Command, tmp_path: Path, inventory: str
) -> None:
    command(*ask(tmp_path, inventory, "tiny/random"))
    limits: dict[str, list[int]] = {}
    for request in relay.requests:
        limit = request.get("max_completion_tokens") or request["max_tokens"]
        limits.setdefault(json.dumps(request["messages"]), []).append(limit)
    assert limits
    for each in limits.values():
        assert len(each) > 1 and all(less < more for less, more in pairwise(each))

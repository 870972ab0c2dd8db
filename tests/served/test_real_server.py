"""Chameleon and a real model server: answers, usage, cut-off replies, and what was paid when either dies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chameleon import LLM, Executor, Inventory, State
from chameleon.core.log import EventLog
from chameleon.table import read_table
from tests.e2e.commands import ROOT, Command, spawn
from tests.evaluation.rows import Row, read_events, read_lines
from tests.served.conftest import Relay, Server, require_server

require_server()

LEAGUE = ROOT / "demos/data/league.csv"
PROBLEMS = ROOT / "demos/data/problems.jsonl"
QUESTION = "How many points does Kingsmere Town have?"
PLAN = ("solution_generator", "answer_generator")
IMPATIENT = "name: impatient\nextends: tabmwp\nllm: {retries: 0}\n"


def answered(relay: Relay, log: Path, **settings: Any) -> State:
    """The question's run with `tabmwp` and tiny/plans, as its log has it."""
    llm = LLM.connect("openai:tiny/plans", base_url=relay.url, **settings)
    given = {"question": QUESTION, "table": read_table(str(LEAGUE))}
    with EventLog(log) as events:
        Executor(Inventory.load("tabmwp"), llm).run(given, events)
    with EventLog(log) as events:
        return State.fold(events)


def test_a_question_takes_two_calls_of_known_usage(served: Server, relay: Relay, tmp_path: Path) -> None:
    state = answered(relay, tmp_path / "run.jsonl")
    assert (state.answer, state.executed_names) == ("42", PLAN)
    assert (state.usage.calls, state.usage.input_tokens, state.usage.output_tokens) == relay.usage
    assert relay.usage[0] == 2
    for request, call in zip(relay.requests, state.calls, strict=True):
        again = served.ask(request)
        assert again["choices"][0]["message"]["content"] == call.text
        assert again["usage"]["prompt_tokens"] == call.usage.input_tokens
        assert again["usage"]["completion_tokens"] == call.usage.output_tokens


def assert_paid_once(relay: Relay, events: list[Row]) -> None:
    """Every reply of the server is in the log, with its tokens, and none was asked for again."""
    calls = [call for line in events for call in line.get("calls", ()) if not call["error"]]
    asked, written = (sum(call["usage"][f"{kind}_tokens"] for call in calls) for kind in ("input", "output"))
    assert (len(calls), asked, written) == relay.usage
    requests = [json.dumps(request, sort_keys=True) for request, _ in relay.answered]
    assert len({*requests}) == len(requests)


def test_an_evaluation_whose_server_dies_goes_on_and_pays_nothing_twice(
    mortal: Server, relay: Relay, tmp_path: Path
) -> None:
    inventory, out = tmp_path / "impatient.yaml", tmp_path / "out"
    inventory.write_text(IMPATIENT)
    arguments = ["eval", str(inventory), str(PROBLEMS), "--out", str(out), "--workers", "2"]
    arguments += ["--model", "openai:tiny/plans", "--store", "off"]
    relay.kills_at = 10
    stopped = spawn(*arguments)
    assert "Traceback" not in stopped.err and "a fault of ours" not in stopped.err
    assert "--retry-failed tries them again" in stopped.err or "goes on" in stopped.err
    before = relay.usage[0]
    assert 8 <= before <= 9, "one of the nine may have been under way"

    mortal.restart()
    resumed = spawn(*arguments, "--retry-failed")
    assert resumed.code == 0 and "Goes on in" in resumed.err, resumed.err
    results = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert len({result["id"] for result in results}) == len(results) == 12
    assert not any(result["error"] for result in results)
    assert relay.usage[0] > before
    assert_paid_once(relay, read_events(out))


def test_a_question_whose_server_dies_goes_on_and_pays_nothing_twice(
    mortal: Server, relay: Relay, command: Command, tmp_path: Path
) -> None:
    log, inventory = tmp_path / "run.jsonl", tmp_path / "impatient.yaml"
    inventory.write_text(IMPATIENT)
    arguments = ["ask", QUESTION, "--table", str(LEAGUE), "--inventory", str(inventory), "--log", str(log)]
    arguments += ["--model", "openai:tiny/plans", "--store", "off"]
    relay.kills_at = 2
    failed = command(*arguments)
    assert failed.code == 1 and "Check that the server runs" in failed.complaint
    mortal.restart()
    outcome = command(*arguments)
    assert outcome.code == 0 and outcome.out == "42\n", outcome.err
    assert relay.usage[0] == 2, "the plan had been paid for"
    assert_paid_once(relay, read_lines(log))

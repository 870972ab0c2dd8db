"""What evaluations spend: the printed usage is all that the server served, wherever a run is cut short."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import InputError
from chameleon.evaluation.evaluate import Spending
from chameleon.usage import Call, Usage
from tests.e2e.commands import Command, Outcome
from tests.e2e.rule_model import RuleModel
from tests.evaluation.asking import PRICED, Asking, Start
from tests.loopback import Answer, Fault, LoopbackServer

BROKEN = Fault(500)


def usage_of(outcome: Outcome) -> dict[str, Any]:
    usage: dict[str, Any] = json.loads(outcome.out)["usage"]
    return usage


def assert_all_is_counted(outcome: Outcome, server: LoopbackServer, model: RuleModel) -> None:
    """The printed usage is the sum over all requests that the server ever had."""
    usage = usage_of(outcome)
    assert usage["calls"] == len(server.requests)
    assert (usage["input_tokens"], usage["output_tokens"]) == model.tokens
    assert usage["cost"] == pytest.approx(sum(model.tokens) / 1e6)


def test_max_cost_stops_and_goes_on(loopback: Start, command: Command, tmp_path: Path) -> None:
    workers, model = 4, RuleModel(delay=0.005)
    server = loopback(model)
    asking = Asking(command, tmp_path, 24, PRICED)
    several = ("--workers", str(workers))
    stopped = asking.run("--max-cost", "0.03", *several)
    assert stopped.code == 1
    found, asked = json.loads(stopped.out), len(server.requests)
    dearest = max(sum(len(m["content"]) for m in each["messages"]) for each in server.requests) / 4e6 + 1e-4
    # A step may ask several times; each worker ends the one that it is at.
    assert 0.03 <= found["usage"]["cost"] < 0.03 + 3 * workers * dearest
    assert found["n"] < 24 and found["n"] == len(asking.results)
    assert stopped.err.splitlines()[-2:] == [
        f"Stopped after {found['n']} of 24.",
        "chameleon: the cost has reached --max-cost 0.03. A larger one goes on.",
    ]
    assert_all_is_counted(stopped, server, model)
    again = asking.run("--max-cost", "0.03", *several)
    assert again.code == 1 and json.loads(again.out)["n"] == found["n"] and len(server.requests) == asked
    assert usage_of(again) == pytest.approx(usage_of(stopped))
    done = asking.run("--max-cost", "5", *several)
    assert done.code == 0 and json.loads(done.out)["n"] == 24
    assert_all_is_counted(done, server, model)


def test_a_cost_that_is_not_known_is_told(loopback: Start, command: Command, tmp_path: Path) -> None:
    server = loopback(RuleModel())
    asking = Asking(command, tmp_path, 6)
    stopped = asking.run("--max-cost", "1")
    assert stopped.code == 1 and not stopped.out
    assert "the provider reports no cost, so --max-cost cannot be kept" in stopped.err
    assert {request["model"] for request in server.requests} == {"local"}
    assert not asking.results, "it is seen after the first step, not after the first problem"
    done = asking.run()
    assert done.code == 0 and usage_of(done)["cost"] is None and usage_of(done)["input_tokens"] > 0


def test_what_failures_cost_still_counts_when_they_are_tried_again(
    loopback: Start, command: Command, tmp_path: Path
) -> None:
    first: dict[str, list[Answer]] = {name: [BROKEN] * 4 for name in ("planner", "program_generator")}
    model = RuleModel(first)
    server = loopback(model)
    asking = Asking(command, tmp_path, 12, PRICED)
    failed = asking.run("--workers", "2")
    count = sum(result["error"] is not None for result in asking.results.values())
    assert count > 4 and f"{count} problems failed: --retry-failed tries them again." in failed.err
    assert_all_is_counted(failed, server, model)
    model._first["solution_generator"] = [BROKEN]
    model._first["program_generator"] = [BROKEN]
    for _ in range(2):
        assert_all_is_counted(asking.run("--retry-failed"), server, model)
    assert all(result["error"] is None for result in asking.results.values())
    assert sum(result["usage"]["calls"] for result in asking.results.values()) == len(server.requests)
    again = asking.run()
    assert_all_is_counted(again, server, model)


def call(cost: float | None, cached: bool = False) -> Call:
    return Call("openai:local", (), {}, usage=Usage(0 if cached else 1, 5, 2, cost), cached=cached)


def test_the_sum_goes_on_from_what_was_spent_before() -> None:
    spending = Spending(1.0)
    spending.usage = Usage(3, 10, 10, 0.5)
    spending.add([call(0.25), call(0.0, cached=True)])
    assert spending.usage == Usage(4, 20, 14, 0.75) and spending.stored == 1
    assert not spending.is_over
    spending.add([call(0.25)])
    assert spending.is_over


def test_a_limit_needs_costs_that_are_known() -> None:
    unlimited, limited = Spending(), Spending(1.0)
    for spending in (unlimited, limited):
        spending.add([call(None)])
    assert not unlimited.is_over
    with pytest.raises(InputError, match=r"the provider reports no cost.*prices"):
        assert limited.is_over

"""An inventory of 232 tools: what a prompt takes, and whether it shows the tool that is needed."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from pydantic import ConfigDict, Field, create_model

from chameleon import LLM, Executor, Inventory, Module, Planner, State
from chameleon.llm.scripted import ScriptedModel
from chameleon.planners.one_shot import OneShot
from chameleon.planners.react import MORE, React
from chameleon.text import estimated_tokens

KINDS = {"string": str, "number": float, "integer": int, "boolean": bool, "array": list, "object": dict}


class Tool(Module):
    """A tool of the data, which gives its arguments back."""

    reads = ()

    def run(self, state: State, /, **args: Any) -> Any:
        return args


def tool_of(card: dict[str, Any]) -> Module:
    fields: dict[str, Any] = {}
    for place, (name, told) in enumerate((card.get("args") or {}).items()):
        kind = Literal[tuple(told["enum"])] if told.get("enum") else KINDS[told["type"]]
        default = told.get("default", ...)
        fields[f"argument_{place}"] = (kind, Field(default, alias=name, description=told.get("description")))
    args = create_model("Args", __config__=ConfigDict(extra="forbid"), **fields) if fields else None
    declared = {"name": card["name"], "__doc__": card["description"], "Args": args}
    module: Module = type(card["name"], (Tool,), declared)()
    return module


@cache
def read(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load(Path(__file__).with_name(name).read_text("utf-8")))


def with_tools(planner: Planner, script: ScriptedModel) -> Executor:
    inventory = Inventory.of([tool_of(card) for card in read("tools_232.yaml")], planner)
    return Executor(inventory, LLM.connect(script))


YEN = {"question": "what's 350 Swiss francs in yen?"}
ARGS = {"amount": 350, "from": "CHF", "to": "JPY", "date": "2026-11-24"}


@pytest.mark.slow
@pytest.mark.parametrize(("part", "shown", "called"), [("tuning", 66, 70), ("frozen", 66, 75)])
def test_the_tool_that_is_needed_is_told_in_4000_tokens(part: str, shown: int, called: int) -> None:
    script = ScriptedModel(lambda messages: "none of them")
    executor = with_tools(OneShot(embeddings="none"), script)
    requests = [each for each in read("tool_requests.yaml") if each["set"] == part]
    by_card = with_arguments = longest = 0
    for each in requests:
        script.requests.clear()
        executor.run({"question": each["request"]})
        prompt = "\n".join(text for _, text in script.requests[0])
        longest = max(longest, estimated_tokens(prompt))
        needed = each["tool"] if isinstance(each["tool"], list) else [each["tool"]]
        cards, _, others = prompt.partition("Others, by name and arguments, or by name alone: ")
        others = f", {others.splitlines()[0]}, "
        is_shown = any(f"\n- {name}(" in cards or f"\n- {name}:" in cards for name in needed)
        by_card += is_shown
        with_arguments += is_shown or any(f", {name}(" in others for name in needed)
    assert len(requests) == 100 and longest <= 4_000
    assert by_card >= shown and with_arguments >= called  # as measured; the aim of 95 is missed


def test_a_tool_that_was_only_named_is_called_once_its_card_is_told() -> None:
    plan = '[{"module": "convert_currency", "args": {"sum": 350}}]'
    script = ScriptedModel([plan, json.dumps([{"module": "convert_currency", "args": ARGS}])])
    state = with_tools(OneShot(embeddings="none"), script).run(YEN)
    first, second = ("\n".join(text for _, text in request) for request in script.requests)
    assert "\n- convert_currency(" not in first and "\n- convert_currency(" in second
    assert state.executed_names == ("convert_currency",), state.ended


def test_native_tools_beyond_those_that_are_given_are_called_by_name_first() -> None:
    more = {"text": "", "tool_calls": [{"name": MORE, "args": {"names": ["convert_currency"]}}]}
    call = {"text": "", "tool_calls": [{"name": "convert_currency", "args": ARGS}]}
    script = ScriptedModel([more, call, "58,000 yen"])
    state = with_tools(React(embeddings="none"), script).run(YEN)
    assert state.executed_names == (MORE, "convert_currency", "model_answer"), state.ended
    offered = [call.params["tools"] for plan in state.plans for call in plan.calls]
    assert "convert_currency" not in offered[0] and "convert_currency" in offered[1]
    assert state.answer == "58,000 yen"

"""Tools and results as they are asked, kept in stores and logs, and scripted."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from chameleon.errors import InputError, ModelError, PromptError, StoreError
from chameleon.llm import LLM, Reply, ResponseStore, ScriptedModel
from chameleon.llm.message import ModelRequest
from chameleon.llm.tools import CallingText, ResultText, ToolCall
from chameleon.usage import Call, Meter, recording
from tests.llm import asking
from tests.llm.asking import QUESTION, TOOLS, TWO, WEATHER, Host, Json, Start, connect, continued, local

NOW = {"tool_calls": [{"name": "now", "args": {}}]}


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ({"name": "my tool"}, "'my tool' is not the name of a tool"),
        ({"name": "x" * 65}, "is not the name of a tool"),
        ({}, "None is not the name of a tool"),
        ({"name": "a", "parameters": {"type": "string"}}, "no schema of an object"),
        ({"name": "a", "parameters": {"type": "object", "x": object()}}, "not described in JSON"),
        (WEATHER, "two tools have the name 'weather'"),
    ],
)
def test_a_tool_that_is_none_fails_before_anything_is_sent(loopback: Start, tool: Json, said: str) -> None:
    server = loopback()
    with pytest.raises(ModelError, match=said):
        local().ask("hi", tools=[WEATHER, tool])
    with pytest.raises(ModelError, match="tools and an output schema"):
        local().ask("hi", tools=TOOLS, schema={"type": "object"})
    assert not server.requests


@pytest.mark.parametrize("message", [("tool", "12:00"), ("user", ResultText("12:00", "c1", "now"))])
def test_results_of_another_role_fail_before_they_are_sent(message: Any) -> None:
    model = ScriptedModel(["x"], tools=True)
    with pytest.raises(PromptError, match="the role tool is a ResultText"):
        LLM.connect(model).ask([QUESTION, message], tools=TOOLS)
    assert not model.requests


def test_keys_of_requests_without_tools_are_what_they_were() -> None:
    settings: Json = {"sample": 2, "schema": {"type": "object"}}
    recorded = ModelRequest.of("openai:m", [QUESTION], {"temperature": 0.0}, **settings)
    assert recorded.key == "eeb8d16e9936e2a258bb6da044a7471cb712b16e6b7c9ba0fc29c8cf6da405b2"
    asked: list[Json] = [{}, {"tools": TOOLS}, {"tools": TOOLS[:1]}]
    others = [ModelRequest.of("openai:m", [QUESTION], {"temperature": 0.0}, **each) for each in asked]
    assert len({each.key for each in others}) == len({each.identity for each in others}) == 3


def test_messages_are_texts() -> None:
    call = [ToolCall("weather", {"city": "Kraków"}, "c1")]
    line = '{"name": "weather", "args": {"city": "Kraków"}}'
    for each, text in (
        (CallingText("I look.", call, [{"type": "thinking"}]), f"I look.\n{line}"),
        (CallingText("", call), line),
        (ResultText("31", "c1", "weather"), "31"),
    ):
        again = pickle.loads(pickle.dumps(each))
        assert each == text and (again, vars(again)) == (each, vars(each))


def test_a_reply_is_recorded_replayed_and_logged(hosted: Host, tmp_path: Path) -> None:
    server = hosted(asking.in_turn(TWO, "Rome."))

    def run(mode: Any) -> tuple[list[Call], Reply]:
        llm = connect(server, "anthropic:claude-opus-5", store=ResponseStore(tmp_path / "r.sqlite", mode))
        with recording(Meter()) as recorder:
            first = llm.ask([QUESTION], tools=TOOLS)
            assert llm.ask(continued(first, "31", "12"), tools=TOOLS).text == "Rome."
        return recorder.calls, first

    calls, first = run("record")
    _, replayed = run("replay")
    assert len(server.served) == 2 and replayed.cached
    assert (replayed.tool_calls, replayed.blocks) == (first.tool_calls, first.blocks)
    assert all(Call.from_json(json.loads(json.dumps(call.to_json()))) == call for call in calls)
    assert calls[0].params["tools"] == ["weather", "now"] and calls[0].blocks == first.blocks and first.blocks
    called = {"name": "weather", "args": {"city": "Rome"}, "id": first.tool_calls[0].id}
    assert calls[0].tool_calls[0] == called
    said = str.__str__(CallingText(first.text, first.tool_calls))
    assert calls[1].messages[1:] == (("assistant", said), ("tool", "31"), ("tool", "12"))
    assert not {"tool_calls", "blocks"} & calls[1].to_json().keys()


@pytest.mark.parametrize(
    "damage",
    [
        {"tool_calls": 3},
        {"tool_calls": ["x"]},
        {"tool_calls": [{"name": "a", "args": []}]},
        {"tool_calls": [{"name": "a", "args": {}, "id": 3}]},
        {"tool_calls": [{"name": "a", "args": {}, "id": "1", "more": ""}]},
        {"tool_calls": [{"name": "a", "args": {}}]},
        {"blocks": {}},
        {"blocks": [None]},
    ],
)
def test_what_is_kept_may_be_damaged(damage: Json) -> None:
    written = Call("openai:m", (("user", "hi"),), {}).to_json()
    with pytest.raises((TypeError, ValueError)):
        Call.from_json({**written, **damage})
    with pytest.raises(StoreError, match="damaged"):
        Reply.from_record("openai:m", {"text": "", "finish": "stop", **damage})


def test_a_script_calls_tools() -> None:
    calls = [{"name": "weather", "args": {"city": "Rome"}}, {"name": "now", "args": "noon?"}]
    model = ScriptedModel([{"tool_calls": calls, "text": "I look."}, "Rome."])
    llm = LLM.connect(model)
    assert llm.offers("tools")
    reply = llm.ask([QUESTION], tools=TOOLS)
    assert [call.id for call in reply.tool_calls] == ["call_1", "call_2"]
    assert "no JSON object" in reply.tool_calls[1].fault and reply.tool_calls[1].fault.endswith(": noon?")
    assert llm.ask(continued(reply, "31", "no"), tools=TOOLS).text == "Rome."
    assert [role for role, _ in model.requests[1]] == ["user", "assistant", "tool", "tool"]
    said = model.requests[1][1][1]
    assert isinstance(said, CallingText) and said.calls[0].args == {"city": "Rome"}
    assert said.startswith('I look.\n{"name": "weather"') and model.requests[1][2] == ("tool", "31")


def test_a_function_and_a_file_call_tools(tmp_path: Path) -> None:
    def script(messages: list[tuple[str, str]]) -> Any:
        role, text = messages[-1]
        return f"It is {text}." if role == "tool" else NOW

    file = tmp_path / "replies.jsonl"
    file.write_text(f'{json.dumps(NOW)}\n"It is 12:00."\n', encoding="utf-8")
    for llm in (asking.scripted(script), LLM.connect(f"scripted:{file}")):
        assert llm.offers("tools")
        reply = llm.ask("hi", tools=TOOLS)
        assert reply.text == "" and reply.tool_calls == (ToolCall("now", {}, "call_1"),)
        assert llm.ask(continued(reply, "12:00", before=[("user", "hi")]), tools=TOOLS).text == "It is 12:00."
    for bad in ("[]", '[{"name": 3, "args": {}}]', '"now"'):
        file.write_text(f'{{"tool_calls": {bad}}}', encoding="utf-8")
        with pytest.raises(InputError, match="line 1"):
            LLM.connect(f"scripted:{file}")

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
from tests.llm.asking import Host, Json, Start, local
from tests.llm.tool_talk import QUESTION, TOOLS, TWO, WEATHER, continued, in_turn

# What is asked


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ({"name": "my tool"}, "'my tool' is not the name of a tool"),
        ({"name": "x" * 65}, "is not the name of a tool"),
        ({}, "None is not the name of a tool"),
        (
            {"name": "a", "parameters": {"type": "string"}},
            "parameters of the tool a are no schema of an object",
        ),
        (
            {"name": "a", "parameters": {"type": "object", "x": object()}},
            "the tool a is not described in JSON",
        ),
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


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([("tool", "12:00")], "a message of the role tool is a ResultText"),
        ([("user", ResultText("12:00", "c1", "now"))], "the role tool is a ResultText, and no other is one"),
    ],
)
def test_results_of_another_role_fail_before_they_are_sent(messages: Any, said: str) -> None:
    model = ScriptedModel(["x"], tools=True)
    with pytest.raises(PromptError, match=said):
        LLM.connect(model).ask([QUESTION, *messages], tools=TOOLS)
    assert not model.requests


def test_keys_of_requests_without_tools_are_what_they_were() -> None:
    settings = {"sample": 2, "schema": {"type": "object"}}
    recorded = ModelRequest.of("openai:m", [QUESTION], {"temperature": 0.0}, **settings)
    assert recorded.key == "eeb8d16e9936e2a258bb6da044a7471cb712b16e6b7c9ba0fc29c8cf6da405b2"
    plain = ModelRequest.of("openai:m", [QUESTION], {"temperature": 0.0})
    with_tools = ModelRequest.of("openai:m", [QUESTION], {"temperature": 0.0}, tools=TOOLS)
    fewer = ModelRequest.of("openai:m", [QUESTION], {"temperature": 0.0}, tools=TOOLS[:1])
    assert len({plain.key, with_tools.key, fewer.key}) == 3
    assert len({plain.identity, with_tools.identity, fewer.identity}) == 3


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


# Kept


def test_a_reply_is_recorded_replayed_and_logged(hosted: Host, tmp_path: Path) -> None:
    server = hosted(in_turn(TWO, "Rome."))
    path = tmp_path / "store.sqlite"
    settings = {"base_url": server.url, "api_key": "k"}
    pytest.importorskip("langchain_anthropic")

    def run(mode: Any) -> tuple[list[Call], Reply]:
        llm = LLM.connect("anthropic:claude-opus-5", store=ResponseStore(path, mode), retries=0, **settings)
        with recording(Meter()) as recorder:
            first = llm.ask([QUESTION], tools=TOOLS)
            assert llm.ask(continued(first, "31", "12"), tools=TOOLS).text == "Rome."
        return recorder.calls, first

    calls, first = run("record")
    _, replayed = run("replay")
    assert len(server.served) == 2 and replayed.cached
    assert (replayed.tool_calls, replayed.blocks) == (first.tool_calls, first.blocks)
    for call in calls:
        written = json.loads(json.dumps(call.to_json()))
        assert Call.from_json(written) == call
    assert calls[0].params["tools"] == ["weather", "now"]
    assert calls[0].tool_calls[0] == {
        "name": "weather",
        "args": {"city": "Rome"},
        "id": first.tool_calls[0].id,
    }
    assert calls[0].blocks == first.blocks and calls[0].blocks
    assert calls[1].messages[1:] == (
        ("assistant", str.__str__(CallingText(first.text, first.tool_calls))),
        ("tool", "31"),
        ("tool", "12"),
    )
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
    with pytest.raises(StoreError, match="a recorded reply is damaged"):
        Reply.from_record("openai:m", {"text": "", "finish": "stop", **damage})


# Scripts


def test_a_script_calls_tools() -> None:
    calls = [{"name": "weather", "args": {"city": "Rome"}}, {"name": "now", "args": "noon?"}]
    model = ScriptedModel([{"tool_calls": calls, "text": "I look."}, "Rome."])
    llm = LLM.connect(model)
    assert llm.offers("tools")
    reply = llm.ask([QUESTION], tools=TOOLS)
    assert [call.id for call in reply.tool_calls] == ["call_1", "call_2"]
    assert (
        reply.tool_calls[1].fault
        == "its arguments are no JSON object (Expecting value: line 1 column 1 (char 0)): noon?"
    )
    assert llm.ask(continued(reply, "31", "no"), tools=TOOLS).text == "Rome."
    assert [role for role, _ in model.requests[1]] == ["user", "assistant", "tool", "tool"]
    said = model.requests[1][1][1]
    assert isinstance(said, CallingText) and said.calls[0].args == {"city": "Rome"}
    assert said.startswith('I look.\n{"name": "weather"')
    assert model.requests[1][2] == ("tool", "31")


def test_a_function_and_a_file_call_tools(tmp_path: Path) -> None:
    def script(messages: list[tuple[str, str]]) -> Any:
        role, text = messages[-1]
        return f"It is {text}." if role == "tool" else {"tool_calls": [{"name": "now", "args": {}}]}

    file = tmp_path / "replies.jsonl"
    file.write_text('{"tool_calls": [{"name": "now", "args": {}}]}\n"It is 12:00."\n', encoding="utf-8")
    for llm in (LLM.connect(ScriptedModel(script)), LLM.connect(f"scripted:{file}")):
        assert llm.offers("tools")
        reply = llm.ask("hi", tools=TOOLS)
        assert reply.text == "" and reply.tool_calls == (ToolCall("now", {}, "call_1"),)
        assert llm.ask(continued(reply, "12:00", before=[("user", "hi")]), tools=TOOLS).text == "It is 12:00."
    for bad in ('{"tool_calls": []}', '{"tool_calls": [{"name": 3, "args": {}}]}', '{"tool_calls": "now"}'):
        file.write_text(bad, encoding="utf-8")
        with pytest.raises(InputError, match=r'line 1: a reply is a text, {"text": …} or {"tool_calls"'):
            LLM.connect(f"scripted:{file}")

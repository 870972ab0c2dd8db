"""What each family of clients is asked in its own way: schemas, samples, beginnings of prompts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from chameleon.errors import ModelError
from chameleon.llm import LLM
from chameleon.llm.capabilities import Capabilities
from chameleon.llm.dialects import AnthropicDialect
from chameleon.usage import Budget, Meter, recording
from tests.llm.asking import Host, Start, connect, local, scripted

LONG = "\n".join(f"Example {number}: which team has the most points?" for number in range(300))
STEPS = {"steps": {"type": "array", "items": {"type": "string"}}}
SCHEMA: dict[str, Any] = {"title": "plan", "type": "object", "properties": STEPS, "required": ["steps"]}
SCHEMA["additionalProperties"] = False


def test_costs_are_those_of_the_list_of_prices(hosted: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("genai_prices")
    server = hosted()
    monkeypatch.setenv("HTTP_PROXY", server.url)  # it stands in for api.openai.com
    monkeypatch.setenv("OPENAI_BASE_URL", "http://api.openai.com/v1")
    # LangChain shares connections, and with them a proxy, among clients of one address and timeout.
    llm = LLM.connect("openai:gpt-4.1-mini", api_key="k", timeout=float(server.port), retries=0)
    with recording(Meter(Budget(cost=1.0))) as recorder:
        for end in "ABC":
            llm.ask(LONG + end)
    told = server.tokens()
    assert told.cached > 0
    expected = ((told.input - told.cached) * 0.4 + told.cached * 0.1 + told.output * 1.6) / 1e6
    assert recorder.meter.spent.cost == pytest.approx(expected)


def test_claude_is_shown_what_prompts_share_from_the_second_on(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "anthropic:claude-opus-5")
    replies = [llm.ask([("system", "Be brief."), ("user", f"{LONG}\nQuestion {end}")]) for end in "ABCD"]
    contents = [seen.body["messages"][0]["content"] for seen in server.requests]
    marks = [[block["text"] for block in each if "cache_control" in block] for each in contents]
    assert marks == [[], *[[LONG + "\n"]] * 3]
    told = [reply.usage.cached_tokens for reply in replies]
    assert told == [seen.usage.cached for seen in server.requests if seen.usage]
    # The second one is where it is written; a prompt alone is not worth its price.
    assert told[:2] == [0, 0] and all(each and each > 3_000 for each in told[2:])
    assert all("cache_control" not in seen.body for seen in server.requests)


LINES = "Table: teams and points.\n" * 200  # 5,000 characters


@given(st.lists(st.builds(lambda end: LINES + end, st.text("ab\n", max_size=9)), min_size=1, max_size=8))
def test_what_is_marked_is_what_all_prompts_share_in_whole_lines(texts: list[str]) -> None:
    dialect, seen = AnthropicDialect(Any, "anthropic:m", Capabilities()), list[str]()
    for text in texts:
        length = dialect.shared_length(text)
        seen += [text]
        pairs = enumerate(zip(*seen, strict=False))
        shared = next((place for place, each in pairs if len({*each}) > 1), min(map(len, seen)))
        assert length in (0, text.rfind("\n", 0, shared) + 1)
        assert length or len({*seen}) == 1 or len(text) == shared
    assert dialect.shared_length("short") == 0


def test_output_schemas_are_passed_on_and_the_text_is_the_json(loopback: Start) -> None:
    server = loopback(['{"steps": ["a"]}'])
    assert local().ask("plan", schema=SCHEMA).text == '{"steps": ["a"]}'
    local().ask("plan", schema={"type": "object", "properties": {"a": {}}})
    form, loose = (request["response_format"] for request in server.requests)
    assert form["type"] == "json_schema" and form["json_schema"]["schema"] == SCHEMA
    assert (form["json_schema"]["name"], form["json_schema"]["strict"]) == ("plan", True)
    assert loose["json_schema"]["strict"] is False


def test_models_that_reply_in_a_form_by_calling_a_tool_give_the_same_text() -> None:
    class ToolCaller(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **settings: Any) -> Any:
            assert tools[0]["title"] == "plan"
            return self

    call = {"name": "plan", "args": {"steps": ["a"]}, "id": "1", "type": "tool_call"}
    replies = iter([AIMessage("Let me plan.", tool_calls=[call]), AIMessage("unused")])
    llm = LLM.connect(ToolCaller(messages=replies))
    assert llm.ask("plan", schema=SCHEMA).text == '{"steps": ["a"]}'
    with pytest.raises(ModelError, match="cannot take top_p together with an output schema"):
        llm.ask("plan", schema=SCHEMA, top_p=1)
    with pytest.raises(ModelError, match="offers no structured output"):
        scripted(["x"]).ask("plan", schema=SCHEMA)


def test_streaming_clients_are_read_as_well(loopback: Start) -> None:
    said = "a streamed reply, longer than one piece"
    server = loopback([said])
    made: Any = {"base_url": server.url, "streaming": True, "stream_usage": True}
    reply = LLM.connect(ChatOpenAI(model="local", api_key=SecretStr("k"), **made)).ask("hi")
    assert server.requests[0]["stream"] is True and (reply.text, reply.finish) == (said, "stop")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)


def test_the_responses_api_at_an_address_of_ones_own_gets_its_own_limit(hosted: Host) -> None:
    server = hosted()
    assert connect(server, "openai:gpt-5-mini", max_tokens=40, use_responses_api=True).ask("hi").text == "ok"
    (seen,) = server.requests
    assert seen.path == "/v1/responses" and seen.body["max_output_tokens"] > 40

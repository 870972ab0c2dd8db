"""What each family of clients is asked in its own way; our own client says what LangChain's says."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from chameleon.errors import ModelError, RateLimited
from chameleon.llm import LLM
from chameleon.llm.capabilities import Capabilities, section
from chameleon.llm.chat_clients import asked_by
from chameleon.llm.dialects import AnthropicDialect
from chameleon.llm.message import ModelRequest, MultimodalText
from chameleon.llm.openai_chat import OpenAIChat, profiles
from chameleon.pictures.opening import Attachment
from tests.llm import asking
from tests.llm.asking import TOOLS, Host, Start, connect, failing, local, scripted, sending, use_langchain
from tests.loopback import Reply

LONG = "\n".join(f"Example {number}: which team has the most points?" for number in range(300))
STEPS = {"steps": {"type": "array", "items": {"type": "string"}}}
SCHEMA: dict[str, Any] = {"title": "plan", "type": "object", "properties": STEPS, "required": ["steps"]}
SCHEMA["additionalProperties"] = False


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
    with pytest.raises(ModelError, match="has no structured output"):
        scripted(["x"]).ask("plan", schema=SCHEMA)


openai, Patch = pytest.importorskip("langchain_openai"), pytest.MonkeyPatch

ASKED: dict[str, Any] = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 60, "stop": ["X"], "seed": 3}
PIXEL = Attachment(b"not looked at", "image/png", "0" * 8, (1, 1))
MESSAGES = [("system", "Be brief."), ("user", MultimodalText("What?", [PIXEL])), ("user", "hi")]


def made_by(llm: LLM) -> str:
    return type(llm._pipeline.connection.client.chat).__name__


def without(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


@pytest.mark.parametrize("schema", [None, {"type": "object", "properties": {"a": {"type": "string"}}}])
@pytest.mark.parametrize("model", ["local", "gpt-4.1-mini", "gpt-5-mini", "o4-mini"])
def test_both_send_the_same(loopback: Start, monkeypatch: Patch, model: str, schema: Any) -> None:
    calls = asking.calling(("weather", '{"city": "Oslo", "ü": [1.5, null]}'), ("now", ""), text="I look.")
    server = loopback(lambda request: calls if "tools" in request else '{"a": "b"}', models=None)
    bodies = []
    for theirs in (False, True):
        use_langchain(monkeypatch, theirs)
        llm = LLM.connect(f"openai:{model}", retries=0)
        assert made_by(llm) == ("ChatOpenAI" if theirs else "OpenAIChat")
        for params in ({}, ASKED, {"reasoning": "low", "max_tokens": 60}, {"logprobs": True}):
            llm.ask(MESSAGES, schema=schema, **params)
        if schema is None:  # tools are called and answered
            reply = llm.ask([asking.QUESTION], tools=TOOLS)
            assert [dict(call.args) for call in reply.tool_calls] == [{"city": "Oslo", "ü": [1.5, None]}, {}]
            llm.ask(asking.continued(reply, "31", "12"), tools=TOOLS)
        bodies.append([without(request, "stream") for request in server.requests])
        server.requests.clear()
    assert bodies[0] == bodies[1]
    assert schema or bodies[0][4]["tools"][0] == {"type": "function", "function": asking.WEATHER}
    assert not {"parallel_tool_calls", "tool_choice"} & bodies[0][-1].keys()


def test_models_of_the_responses_api_and_unknown_settings_stay_with_langchain() -> None:
    assert tuple(section("responses_only")) == openai.chat_models.base._RESPONSES_API_ONLY_PREFIXES
    for model in (*section("responses_only"), "gpt-5.3-codex"):
        assert made_by(LLM.connect(f"openai:{model}", api_key="k")) == "ChatOpenAI"
        assert "Responses API" in asked_by(f"openai:{model}")
    assert "own client" in asked_by("openai:m") and "groq" in asked_by("groq:m")
    for settings in ({"use_responses_api": True}, {"openai_proxy": "http://127.0.0.1:1"}):
        assert made_by(LLM.connect("openai:m", api_key="k", **settings)) == "ChatOpenAI"
    for model in ("gpt-4.1-mini", "gpt-5-mini", "o4-mini", "nobody-knows-it"):
        theirs = openai.ChatOpenAI(model=model, api_key="k").profile or {}
        tools = "mid_conversation_tools"  # that depends on further settings
        assert without(OpenAIChat(model=model).profile, tools) == without(theirs, tools)
    assert profiles()


def test_headers_say_who_asks(loopback: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    server = loopback()
    monkeypatch.setenv("OPENAI_PROJECT_ID", "p1")
    local(api_key="key-1", organization="o1", default_headers={"X-Team": "blue"}).ask("hi")
    local(base_url=server.url.replace("://", "://ann:pass%20word@")).ask("hi")
    keyed, with_login = server.headers
    assert keyed["authorization"] == "Bearer key-1" and keyed["x-team"] == "blue"
    assert [keyed[f"openai-{name}"] for name in ("organization", "project")] == ["o1", "p1"]
    assert with_login["authorization"] == "Basic YW5uOnBhc3Mgd29yZA=="


NO_REPLIES = [
    ('{"error": {"message": "slow down", "code": 429}}', RateLimited, "slow down"),
    ('{"error": {"message": "no such thing"}}', ModelError, "no such thing"),
    ('{"choices": null}', ModelError, "no choices"),
    ("[1]", ModelError, "no choices"),
    ('{"choices": []}', ModelError, "from the server: the reply has no choices"),
    ("<html>hello</html>", ModelError, "HTML page"),
]


def test_a_reply_that_is_none_is_told() -> None:
    for reply, kind, said in NO_REPLIES:
        with sending(reply.encode()) as url, pytest.raises(kind, match=said):
            local(base_url=url, api_key="k").ask("hi")


def streamed(*events: Any) -> bytes:
    texts = [each if isinstance(each, str) else json.dumps(each) for each in events]
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def delta(text: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, **more}]}


def asked_in_pieces(url: str) -> tuple[Any, list[str]]:
    heard: list[str] = []
    connection = LLM.connect("openai:local", base_url=url, api_key="k", retries=0)._pipeline.connection
    request = ModelRequest.of("openai:local", "hi", {})
    replies = connection.send(request, connection.fit(request), on_text=heard.append)
    assert isinstance(replies, list), replies
    return replies[0], heard


def test_pieces_of_a_reply_make_one() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}
    logprobs = {"content": [{"token": "a", "logprob": -1.0}]}
    events = (delta("It "), delta("is."), delta(finish_reason="length", logprobs=logprobs), usage, "[DONE]")
    with sending(b": ping\n\n" + streamed(*events), kind="text/event-stream") as url:
        reply, heard = asked_in_pieces(url)
    assert (reply.text, reply.finish, reply.logprob, heard) == ("It is.", "length", -1.0, ["It ", "is."])
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (3, 2)


def test_a_refusal_an_error_or_a_whole_reply_instead_of_pieces(loopback: Start) -> None:
    refused = {"choices": [{"index": 0, "delta": {"refusal": "I will not"}, "finish_reason": "stop"}]}
    with sending(streamed(refused), kind="text/event-stream") as url:
        assert "I will not" in str(asked_in_pieces(url)[0].error)
    failed = streamed(delta("It "), {"error": {"message": "overloaded", "code": 503}})
    with sending(failed, kind="text/event-stream") as url, pytest.raises(AssertionError, match="503"):
        asked_in_pieces(url)
    message = {"role": "assistant", "content": "whole"}
    with sending(json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()) as url:
        reply, heard = asked_in_pieces(url)
    assert (reply.text, heard) == ("whole", [])
    fault = failing("Unrecognized request argument supplied: stream_options")
    server = loopback(lambda request: fault if "stream_options" in request else "ok")
    assert asked_in_pieces(server.url)[0].text == "ok"
    assert [request.get("stream") for request in server.requests] == [True, None]


def test_questions_in_several_loops_share_the_client(loopback: Start) -> None:
    server = loopback(lambda request: request["messages"][-1]["content"])
    llm = local()

    async def both() -> list[str]:
        return [reply.text for reply in await asyncio.gather(llm.aask("a"), llm.aask("b"))]

    assert asyncio.run(both()) == asyncio.run(both()) == ["a", "b"]
    assert llm.ask("c").text == "c" and len(server.requests) == 5


def test_a_question_that_is_cancelled_is_let_go(loopback: Start) -> None:
    server = loopback(lambda request: Reply("late", delay=20) if server.requests[1:] == [] else "ok")
    llm = local(timeout=30)

    async def impatient() -> str:
        task = asyncio.create_task(llm.aask("a"))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await llm.aask("a")).text

    assert asyncio.run(impatient()) == "ok"


@pytest.mark.parametrize("theirs", [False, True])
def test_coroutines_end_in_time(loopback: Start, monkeypatch: pytest.MonkeyPatch, theirs: bool) -> None:
    use_langchain(monkeypatch, theirs)
    loopback(lambda request: Reply("late", delay=20))
    with pytest.raises(ModelError, match="did not answer in time"):
        asyncio.run(local(timeout=0.3).aask("a"))


def test_clients_that_stream_are_read_and_ours_sends_further_parameters(loopback: Start) -> None:
    server = loopback(lambda request: "in pieces of eight characters")
    made: Any = {"base_url": server.url, "streaming": True, "stream_usage": True}
    theirs = LLM.connect(ChatOpenAI(model="local", api_key=SecretStr("k"), **made))
    ours = local(streaming=True, model_kwargs={"user": "ann"})
    for reply in (theirs.ask("hi"), ours.ask("hi", top_k=3)):
        assert (reply.text, reply.finish) == ("in pieces of eight characters", "stop")
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    first, sent = server.requests
    assert first["stream"] is True and (sent["stream"], sent["user"], sent["top_k"]) == (True, "ann", 3)
    assert not sent.keys() & {"streaming", "model_kwargs"}

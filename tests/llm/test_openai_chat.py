"""Our own client of OpenAI's chat completions says what LangChain's says, and reads what it reads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import pytest

from chameleon.errors import ModelError, RateLimited
from chameleon.llm import LLM
from chameleon.llm.capabilities import section
from chameleon.llm.chat_clients import asked_by
from chameleon.llm.message import MultimodalText
from chameleon.llm.openai_chat import OpenAIChat, profiles
from chameleon.pictures.opening import Attachment
from tests.llm.asking import Start, local, talking
from tests.loopback import Fault, Reply

openai = pytest.importorskip("langchain_openai")

ASKED: dict[str, Any] = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 60, "stop": ["X"], "seed": 3}
PIXEL = Attachment(b"not looked at", "image/png", "0" * 8, (1, 1))


TOOLS = "mid_conversation_tools"


def made_by(chat: Any) -> str:
    return type(chat).__name__


def chat_of(llm: LLM) -> Any:
    return llm._pipeline.connection.client.chat


def without(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


@pytest.mark.parametrize("schema", [None, {"type": "object", "properties": {"a": {"type": "string"}}}])
@pytest.mark.parametrize("model", ["local", "gpt-4.1-mini", "gpt-5-mini", "o4-mini"])
def test_it_sends_what_langchains_client_sends(
    loopback: Start, monkeypatch: pytest.MonkeyPatch, model: str, schema: Any
) -> None:
    server = loopback(lambda request: '{"a": "b"}', models=None)
    messages = [("system", "Be brief."), ("user", MultimodalText("What?", [PIXEL])), ("user", "hi")]
    bodies = []
    for theirs in (False, True):
        if theirs:
            monkeypatch.setattr("chameleon.llm.chat_clients._why_langchain", lambda *_: "a test asks for it")
        llm = LLM.connect(f"openai:{model}", retries=0)
        assert made_by(chat_of(llm)) == ("ChatOpenAI" if theirs else "OpenAIChat")
        for params in ({}, ASKED, {"reasoning": "low", "max_tokens": 60}, {"logprobs": True}):
            llm.ask(messages, schema=schema, **params)
        bodies.append([without(request, "stream") for request in server.requests])
        server.requests.clear()
    assert bodies[0] == bodies[1]


def test_models_of_the_responses_api_and_unknown_settings_stay_with_langchain() -> None:
    from langchain_openai.chat_models import base

    assert tuple(section("responses_only")) == base._RESPONSES_API_ONLY_PREFIXES
    for model in (*section("responses_only"), "gpt-5.3-codex"):
        assert made_by(chat_of(LLM.connect(f"openai:{model}", api_key="k"))) == "ChatOpenAI"
        assert asked_by(f"openai:{model}") == "LangChain's client, since it is asked by the Responses API"
    assert asked_by("openai:m").startswith("Chameleon's own client of OpenAI's protocol")
    assert asked_by("groq:m") == "LangChain's client, since its provider is groq"
    for settings in ({"use_responses_api": True}, {"openai_proxy": "http://127.0.0.1:1"}):
        assert made_by(chat_of(LLM.connect("openai:m", api_key="k", **settings))) == "ChatOpenAI"


def test_it_knows_of_models_what_langchain_knows() -> None:
    for model in ("gpt-4.1-mini", "gpt-5-mini", "o4-mini", "nobody-knows-it"):
        theirs = openai.ChatOpenAI(model=model, api_key="k").profile or {}
        # That of tools depends on further settings.
        assert without(OpenAIChat(model=model).profile, TOOLS) == without(theirs, TOOLS)
    assert profiles()


def test_headers_say_who_asks(loopback: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    server = loopback()
    monkeypatch.setenv("OPENAI_PROJECT_ID", "p1")
    local(api_key="key-1", organization="o1", default_headers={"X-Team": "blue"}).ask("hi")
    local(base_url=server.url.replace("://", "://ann:pass%20word@")).ask("hi")
    keyed, with_login = server.headers
    assert keyed["authorization"] == "Bearer key-1"
    assert [keyed[f"openai-{name}"] for name in ("organization", "project")] == ["o1", "p1"]
    assert keyed["x-team"] == "blue" and with_login["authorization"] == "Basic YW5uOnBhc3Mgd29yZA=="


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        ('{"error": {"message": "slow down", "code": 429}}', RateLimited, "slow down"),
        ('{"error": {"message": "no such thing"}}', ModelError, "no such thing"),
        ('{"choices": null}', ModelError, "no choices"),
        ("[1]", ModelError, "no choices"),
        ('{"choices": []}', ModelError, "from the server: the reply has no choices"),
        ("<html>hello</html>", ModelError, r"sent an HTML page\. Check its address"),
    ],
)
def test_a_reply_that_is_none_is_told(reply: str, kind: type[ModelError], said: str) -> None:
    with sending(reply) as url, pytest.raises(kind, match=said):
        LLM.connect("openai:local", base_url=url, api_key="k", retries=0).ask("hi")


def sending(body: str, kind: str = "application/json") -> AbstractContextManager[str]:
    """A server that always sends this."""
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return talking(lambda connection: connection.sendall((head + body).encode()))


def streamed(*events: Any) -> str:
    return "".join(f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n" for each in events)


def delta(text: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, **more}]}


def asked_in_pieces(url: str) -> tuple[Any, list[str]]:
    heard: list[str] = []
    connection = LLM.connect("openai:local", base_url=url, api_key="k", retries=0)._pipeline.connection
    from chameleon.llm.message import ModelRequest

    request = ModelRequest.of("openai:local", "hi", {})
    replies = connection.send(request, connection.fit(request), tell=heard.append)
    assert isinstance(replies, list), replies
    return replies[0], heard


def test_pieces_of_a_reply_make_one() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}
    logprobs = {"content": [{"token": "a", "logprob": -1.0}]}
    events = (delta("It "), delta("is."), delta(finish_reason="length", logprobs=logprobs), usage, "[DONE]")
    with sending(": ping\n\n" + streamed(*events), kind="text/event-stream") as url:
        reply, heard = asked_in_pieces(url)
    assert (reply.text, reply.finish, reply.logprob, heard) == ("It is.", "length", -1.0, ["It ", "is."])
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (3, 2)


def test_a_refusal_an_error_or_a_whole_reply_instead_of_pieces() -> None:
    refused = {"choices": [{"index": 0, "delta": {"refusal": "I will not"}, "finish_reason": "stop"}]}
    with sending(streamed(refused), kind="text/event-stream") as url:
        assert "I will not" in str(asked_in_pieces(url)[0].error)
    failed = {"error": {"message": "overloaded", "code": 503}}
    failing = sending(streamed(delta("It "), failed), kind="text/event-stream")
    with failing as url, pytest.raises(AssertionError, match="503"):
        asked_in_pieces(url)
    message = {"role": "assistant", "content": "whole"}
    with sending(json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})) as url:
        reply, heard = asked_in_pieces(url)
    assert (reply.text, heard) == ("whole", [])


def test_a_server_that_takes_no_stream_options_is_asked_without(loopback: Start) -> None:
    def reply(request: dict[str, Any]) -> Any:
        said = "Unrecognized request argument supplied: stream_options"
        return Fault(400, {"error": {"message": said}}) if "stream_options" in request else "ok"

    server = loopback(reply)
    assert asked_in_pieces(server.url)[0].text == "ok"
    assert [request.get("stream") for request in server.requests] == [True, None]


def test_questions_in_several_loops_share_the_client(loopback: Start) -> None:
    server = loopback(lambda request: Reply(request["messages"][-1]["content"]))
    llm = local()

    async def both() -> list[str]:
        return [reply.text for reply in await asyncio.gather(llm.aask("a"), llm.aask("b"))]

    assert asyncio.run(both()) == asyncio.run(both()) == ["a", "b"]
    assert llm.ask("c").text == "c"
    assert len(server.requests) == 5


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


@pytest.mark.parametrize("is_direct", [True, False])
def test_coroutines_end_at_the_timeout(
    loopback: Start, monkeypatch: pytest.MonkeyPatch, is_direct: bool
) -> None:
    if not is_direct:
        monkeypatch.setattr("chameleon.llm.chat_clients._why_langchain", lambda *_: "a test asks for it")
    loopback(lambda request: Reply("late", delay=20))
    llm = local(timeout=0.3)
    with pytest.raises(ModelError, match="did not answer in time"):
        asyncio.run(llm.aask("a"))


def test_it_streams_where_it_is_told_to_and_sends_further_parameters(loopback: Start) -> None:
    server = loopback(lambda request: "in pieces")
    reply = local(streaming=True, model_kwargs={"user": "ann"}).ask("hi", top_k=3)
    (sent,) = server.requests
    assert (reply.text, reply.finish, reply.usage.input_tokens) == ("in pieces", "stop", 11)
    assert (sent["stream"], sent["user"], sent["top_k"]) == (True, "ann", 3)
    assert not sent.keys() & {"streaming", "model_kwargs"}

"""The client against a real server: what is sent, what comes back, what goes wrong."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import SecretStr

from chameleon.errors import (
    AuthFailed,
    ContextTooLong,
    EmptyReply,
    ModelError,
    NoModel,
    PromptError,
    RateLimited,
    Refused,
)
from chameleon.llm import LLM, Backoff, ScriptedModel
from tests.loopback import Fault, LoopbackServer, Reply

Start = Callable[..., LoopbackServer]
SCHEMA = {
    "title": "plan",
    "type": "object",
    "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
    "required": ["steps"],
    "additionalProperties": False,
}


def connect(retries: int = 0, naps: list[float] | None = None, **params: Any) -> LLM:
    sleep = (lambda seconds: None) if naps is None else naps.append
    return LLM.connect("openai:local", retries=Backoff(retries=retries, sleep=sleep), **params)


def test_sends_messages_and_parameters_and_reads_the_reply(loopback: Start) -> None:
    server = loopback([Reply("Paris", usage=(12, 3))])
    reply = connect(temperature=0.5).ask(
        [("system", "Be brief."), ("user", "Capital?")], max_tokens=9, stop="END"
    )
    assert (reply.text, reply.finish, reply.cached, reply.attempts) == ("Paris", "stop", False, 1)
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 12, 3)
    assert reply.model == "openai:local" and not reply.truncated
    sent = server.requests[0]
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Capital?"},
    ]
    assert (sent["model"], sent["temperature"], sent["stop"]) == ("local", 0.5, ["END"])


def test_own_servers_get_max_tokens_under_the_name_that_all_of_them_know(loopback: Start) -> None:
    server = loopback()
    connect().ask("hi", max_tokens=9)
    assert server.requests[0]["max_tokens"] == 9
    assert "max_completion_tokens" not in server.requests[0]


def test_a_view_has_its_own_parameters_and_shares_the_client(loopback: Start) -> None:
    server = loopback()
    llm = connect(temperature=0, seed=3)
    llm.with_params(temperature=1, seed=None).ask("hi")
    llm.ask("hi")
    assert [(sent["temperature"], sent.get("seed")) for sent in server.requests] == [(1, None), (0, 3)]
    assert llm.params == {"temperature": 0, "seed": 3}
    assert repr(llm) == "LLM('openai:local', temperature=0, seed=3)"


def test_samples_are_asked_at_once_and_returned_in_order_with_seeds_of_their_own(loopback: Start) -> None:
    together = threading.Barrier(4, timeout=10)

    def reply(request: dict[str, Any]) -> str:
        together.wait()
        return str(request["seed"])

    server = loopback(reply)
    replies = connect(seed=10).ask_many("hi", 4)
    assert [reply.text for reply in replies] == ["10", "11", "12", "13"]
    assert server.peak == 4


def test_coroutines_do_not_block_the_event_loop(loopback: Start) -> None:
    loopback(lambda request: Reply(request["messages"][-1]["content"], delay=0.3))
    llm = connect()

    async def ask_two_and_count() -> tuple[list[str], int]:
        ticks = 0
        asked = [asyncio.create_task(llm.aask(text)) for text in ("a", "b")]
        while not all(task.done() for task in asked):
            ticks += 1
            await asyncio.sleep(0.01)
        return [task.result().text for task in asked], ticks

    texts, ticks = asyncio.run(ask_two_and_count())
    assert texts == ["a", "b"] and ticks >= 5


def test_cost_comes_from_the_provider_or_from_given_prices_and_is_else_unknown(loopback: Start) -> None:
    loopback([Reply("a", extra={"cost": 0.0012}), Reply("b"), Reply("c"), Reply("d", usage=None)])
    assert connect().ask("a").usage.cost == 0.0012
    assert connect().ask("b").usage.cost is None
    assert connect(prices=(1.0, 10.0)).ask("c").usage.cost == pytest.approx((11 * 1 + 7 * 10) / 1e6)
    unknown = connect(prices=(1.0, 10.0)).ask("d").usage
    assert (unknown.calls, unknown.input_tokens, unknown.output_tokens, unknown.cost) == (1, None, None, None)


def test_a_reply_cut_off_by_length_is_returned_and_says_so(loopback: Start) -> None:
    loopback([Reply("The answer is", finish="length")])
    assert connect().ask("hi").truncated
    loopback([Reply('{"steps": ["a"', finish="length")])
    assert connect().ask("hi", schema=SCHEMA).truncated


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Reply(""), EmptyReply, "empty reply"),
        (Reply("", finish="length"), EmptyReply, "Raise max_tokens"),
        (Reply("<think>still thinking", finish="length"), EmptyReply, "Raise max_tokens"),
        (Reply(None, message={"refusal": "I cannot help."}), Refused, "I cannot help"),
        (Reply("par", finish="content_filter"), Refused, "content filter"),
        (Fault(401), AuthFailed, "refused the key"),
        (Fault(403), AuthFailed, "refused the key"),
        (Fault(400, {"error": {"message": "maximum context length is 8"}}), ContextTooLong, "does not fit"),
        (Fault(400, {"error": {"message": "x", "code": "context_length_exceeded"}}), ContextTooLong, "fit"),
        (Fault(400, {"error": {"message": "x", "code": "content_filter"}}), Refused, "refused the prompt"),
        (Fault(400, {"error": {"message": "response_format is not supported"}}), ModelError, "output schema"),
        (Fault(400, {"error": {"message": "bad top_p"}}), ModelError, "bad top_p"),
        (Fault(404, {"detail": "Not Found"}), ModelError, "/v1"),
        (Fault(429, {"error": {"message": "slow", "code": "insufficient_quota"}}), RateLimited, "quota"),
    ],
)
def test_faults_that_no_retry_can_mend_are_raised_at_once(
    loopback: Start, answer: Reply | Fault, kind: type[ModelError], words: str
) -> None:
    server = loopback([answer])
    with pytest.raises(kind, match=words) as caught:
        connect(retries=5).ask("hi")
    assert type(caught.value) is kind
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429),
        Fault(500),
        Fault(503, "<html>Bad gateway</html>"),
        Fault(broken_json=True),
        Fault(drop=True),
        Fault(delay=1.5),
    ],
)
def test_faults_that_pass_are_retried_once_each_and_no_oftener(loopback: Start, fault: Fault) -> None:
    server = loopback([fault, Reply("ok")])
    naps: list[float] = []
    reply = connect(retries=2, naps=naps, timeout=0.5).ask("hi")
    assert (reply.text, reply.attempts, len(naps), len(server.requests)) == ("ok", 2, 1, 2)


def test_a_user_made_client_is_retried_by_us_alone(loopback: Start) -> None:
    from langchain_openai import ChatOpenAI

    server = loopback([Fault(500)])
    chat = ChatOpenAI(model="local", api_key=SecretStr("k"), base_url=server.url, max_retries=4)
    with pytest.raises(ModelError, match="server failed"):
        LLM.connect(chat, retries=Backoff(retries=1, sleep=lambda seconds: None)).ask("hi")
    assert len(server.requests) == 2


def test_retry_after_is_honoured(loopback: Start) -> None:
    loopback(
        [Fault(429, headers={"Retry-After": "7"}), Fault(429, headers={"Retry-After": "9999"}), Reply("ok")]
    )
    naps: list[float] = []
    connect(retries=3, naps=naps).ask("hi")
    assert naps == [7.0, 60.0]


def test_a_server_that_dies_is_an_error_that_names_the_address_as_the_suspect(loopback: Start) -> None:
    loopback(dies_after=1)
    llm = connect(retries=1)
    assert llm.ask("hi").text == "ok"
    with pytest.raises(ModelError, match="its address is right") as caught:
        llm.ask("hi again")
    assert caught.value.hint


def test_an_unknown_model_is_answered_with_what_the_server_offers(loopback: Start) -> None:
    server = loopback(models=["qwen3:8b", "llama3.2:3b", "nomic-embed-text"], only_models=True)
    llm = LLM.connect("llama3.2:1b", retries=0)
    for _ in range(2):
        with pytest.raises(NoModel, match=r"The server offers: llama3\.2:3b, .*qwen3:8b"):
            llm.ask("hi")
    assert server.model_lists == 1


def test_a_server_that_echoes_the_key_does_not_leak_it(
    loopback: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-loopback-0123456789abcdef"
    loopback([Fault(401, {"error": {"message": "bad header {authorization}"}})])
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(AuthFailed) as by_environment:
        connect().ask("hi")
    monkeypatch.delenv("OPENAI_API_KEY")
    plain = "plainpassword"
    with pytest.raises(AuthFailed) as by_parameter:
        LLM.connect("openai:local", retries=0, api_key=plain).ask("hi")
    for caught in (by_environment, by_parameter):
        assert "bad header" in str(caught.value)
        assert key not in str(caught.value) and plain not in str(caught.value)
        assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert plain not in repr(LLM.connect("openai:local", api_key=plain))


def test_output_schemas_are_passed_on_and_the_text_is_the_json(loopback: Start) -> None:
    server = loopback(['{"steps": ["a"]}'])
    assert connect().ask("plan", schema=SCHEMA).text == '{"steps": ["a"]}'
    form = server.requests[0]["response_format"]
    assert form["type"] == "json_schema" and form["json_schema"]["schema"] == SCHEMA
    assert (form["json_schema"]["name"], form["json_schema"]["strict"]) == ("plan", True)
    connect().ask("plan", schema={"type": "object", "properties": {"a": {}}})
    assert server.requests[1]["response_format"]["json_schema"]["strict"] is False


def test_models_that_reply_in_a_form_by_calling_a_tool_give_the_same_text() -> None:
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

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


def test_a_model_without_structured_output_says_so() -> None:
    with pytest.raises(ModelError, match="offers no structured output"):
        LLM.connect(ScriptedModel(["x"])).ask("plan", schema=SCHEMA)


def test_the_same_question_in_flight_is_asked_once(loopback: Start) -> None:
    server = loopback(lambda request: Reply("ok", delay=0.3))
    llm = connect()
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda _: llm.with_params(top_p=1).ask("hi"), range(8)))
    assert len(server.requests) == 1
    assert [reply.text for reply in replies] == ["ok"] * 8
    assert sum(reply.usage.calls for reply in replies) == 1
    assert sum(reply.cached for reply in replies) == 7


def test_thirty_two_threads_wait_at_the_same_time(loopback: Start) -> None:
    loopback(lambda request: Reply(request["messages"][-1]["content"], delay=0.1))
    llm = connect()
    with ThreadPoolExecutor(32) as threads:
        begun = time.perf_counter()
        texts = list(threads.map(lambda number: llm.ask(f"q{number}").text, range(128)))
    assert texts == [f"q{number}" for number in range(128)]
    assert time.perf_counter() - begun < 0.1 * 128 / 4  # a serial client needs 12.8 s; CI machines are slow


def test_lone_surrogates_reach_the_server_as_replacement_characters(loopback: Start) -> None:
    server = loopback()
    connect().ask("a\ud800b \ud83d\ude00")
    assert server.requests[0]["messages"][0]["content"] == "a\ufffdb \U0001f600"


def test_wrong_roles_and_parameters_fail_before_anything_is_sent(loopback: Start) -> None:
    server = loopback()
    llm = connect()
    with pytest.raises(PromptError, match="'tool' is not a role"):
        llm.ask([("tool", "x")])
    with pytest.raises(PromptError, match="no message"):
        llm.ask([])
    with pytest.raises(ModelError, match="seed is a object, not JSON"):
        llm.ask("x", seed=object())
    with pytest.raises(ModelError, match="api_key is a setting of the connection"):
        llm.with_params(api_key="x")
    assert not server.requests


def test_streaming_clients_are_read_as_well(loopback: Start) -> None:
    from langchain_openai import ChatOpenAI

    server = loopback(["a streamed reply, longer than one piece"])
    chat = ChatOpenAI(
        model="local", api_key=SecretStr("k"), base_url=server.url, streaming=True, stream_usage=True
    )
    reply = LLM.connect(chat).ask("hi")
    assert server.requests[0]["stream"] is True
    assert (reply.text, reply.finish) == ("a streamed reply, longer than one piece", "stop")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)


def test_silence_is_explained_once(loopback: Start, caplog: pytest.LogCaptureFixture) -> None:
    loopback().stop()
    llm = connect(retries=2)
    for text in ("a", "b"):
        with pytest.raises(ModelError):
            llm.ask(text)
    said = "openai:local does not answer (connection refused); trying again, up to 2 times"
    assert [(record.name, record.message) for record in caplog.records if record.levelname == "WARNING"] == [
        ("chameleon", said)
    ]

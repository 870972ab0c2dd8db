"""The client finds out what a model takes, keeps to it, and tells what it was asked without."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from chameleon.errors import ContextTooLong, ModelError, ParameterRefused
from chameleon.llm import LLM
from tests.llm.asking import Host, Json, Start, connect, refusals, too_large, unsupported
from tests.loopback import Answer, Fault, Reply

ASKED: Mapping[str, Any] = {"temperature": 0, "top_p": 0.5, "stop": ["X"], "max_tokens": 60, "logprobs": True}
GONE = {"temperature", "top_p", "logprobs"}


@pytest.mark.parametrize("model", ["gpt-9-mini", "gpt-9-luna"])
def test_each_parameter_is_refused_once_and_not_sent_again(hosted: Host, model: str) -> None:
    server = hosted(lambda asked: "an answer X and more")
    llm = connect(server, f"openai:{model}")
    assert llm.dropped(**ASKED) == {}
    reply = llm.ask("hi", **ASKED)
    assert (reply.text, reply.finish, set(reply.dropped)) == ("an answer ", "stop", GONE)
    assert set(refusals(server).values()) == {1}
    refused = len(server.requests)
    again = llm.ask("hi again", **ASKED)
    assert len(server.requests) == refused + 1
    assert again.dropped == reply.dropped == llm.dropped(**ASKED)
    assert all(again.dropped.values())
    sent = server.requests[-1].body
    assert not sent.keys() & {*GONE, "stop", "max_tokens"} and sent["max_completion_tokens"] > 800


def test_a_claude_that_nobody_knows(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "anthropic:claude-opus-9")
    first, second = (llm.ask(text, **{**ASKED, "seed": 3}) for text in ("hi", "hi again"))
    assert set(first.dropped) == set(second.dropped) == {*GONE, "seed"}
    assert set(refusals(server).values()) == {1}
    assert {seen.body["stop_sequences"][0] for seen in server.served} == {"X"}
    assert len(server.served) == 2


def test_other_limits_of_one_parameter_are_found_one_after_the_other(loopback: Start) -> None:
    def reply(request: Json) -> Answer:
        if "max_tokens" in request:
            message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return Fault(400, {"error": {"message": message, "param": "max_tokens", "code": None}})
        limit = request["max_completion_tokens"]
        return too_large(limit) if limit > 16_384 else Reply("half", finish="length")

    server = loopback(reply)
    reply_of = connect(server, "openai:local").ask("hi", max_tokens=5_000)
    limits = [request.get("max_completion_tokens", "no") for request in server.requests]
    assert limits == ["no", 5_000, 20_000, 5_000 + 15_000 // 4]
    assert reply_of.truncated and not reply_of.dropped


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(400, {"error": {"message": "bad top_p"}}), ModelError),
        (
            Fault(400, {"error": {"message": "maximum context length is 9: reduce max_tokens"}}),
            ContextTooLong,
        ),
        (Fault(401, {"error": {"message": "temperature is not supported"}}), ModelError),
    ],
)
def test_nothing_is_dropped_for_another_reason(loopback: Start, fault: Fault, kind: type[ModelError]) -> None:
    server = loopback([fault, "ok"])
    llm = connect(server, "openai:local")
    with pytest.raises(kind):
        llm.ask("hi", **ASKED)
    assert len(server.requests) == 1 and llm.dropped(**ASKED) == {}
    llm.ask("hi", **ASKED)
    assert {"temperature", "top_p", "max_tokens"} <= server.requests[-1].keys()


def test_a_method_that_needs_all_parameters_is_told_at_once(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "openai:gpt-5-mini", allow_dropped=False, temperature=0)
    assert set(llm.dropped()) == {"temperature"} and llm.dropped(temperature=1) == {}
    with pytest.raises(ParameterRefused, match="temperature: 0"):
        llm.ask("hi")
    assert not server.requests
    assert llm.ask("hi", temperature=1, top_p=1, logprobs=False, stop=["X"]).text == "ok"


@pytest.mark.parametrize("stop", ["\n\n", [" "], ["\t", "END"]])
@pytest.mark.parametrize("model", ["openai:gpt-4.1-mini", "openai:gpt-5-mini", "anthropic:claude-opus-5"])
def test_white_space_is_cut_at_here(hosted: Host, model: str, stop: str | list[str]) -> None:
    server = hosted(lambda asked: "\n\n one \n\n\ttwo END")
    reply = connect(server, model).ask("hi", stop=stop)
    assert (reply.text.strip(), reply.finish, dict(reply.dropped)) == ("one", "stop", {})
    sent = server.requests[0].body
    assert all(each.strip() for name in ("stop", "stop_sequences") for each in sent.get(name, ()))
    assert not server.refused


def test_more_stops_than_servers_take_all_hold(hosted: Host) -> None:
    server = hosted(lambda asked: "a6b5")
    assert connect(server, "openai:gpt-4.1-mini").ask("hi", stop=list("123456")).text == "a"
    assert server.requests[0].body["stop"] == list("1234")


def test_room_for_thinking_gives_way_to_a_small_context(loopback: Start) -> None:
    context, prompt = 8192, 500
    words = "maximum context length is 8192 tokens and your request has 500 input tokens"

    def small(request: dict[str, Any]) -> Answer:
        if prompt + request["max_tokens"] > context:
            return Fault(400, {"error": {"message": f"max_tokens is too large. This model's {words}"}})
        return Reply("ok", usage=(prompt, 9), extra={"completion_tokens_details": {"reasoning_tokens": 8}})

    server = loopback(small)
    llm = LLM.connect("openai:a-thinker", base_url=server.url, api_key="k", max_tokens=256, retries=0)
    assert [llm.ask(str(number)).text for number in range(4)] == ["ok"] * 4
    limits = [request["max_tokens"] for request in server.requests]
    assert limits == [256, 256 + 16_384, 256 + 4_096, 256 + 4_096, 256 + 4_096]


def test_a_prompt_that_leaves_no_room_at_all_is_told(loopback: Start) -> None:
    server = loopback(
        lambda request: Fault(400, {"error": {"message": "maximum context length is 100 tokens"}})
    )
    llm = connect(server, "openai:gpt-5-mini", max_tokens=256)
    with pytest.raises(ContextTooLong):
        llm.ask("x")
    assert len(server.requests) < 6


@pytest.mark.parametrize("model", ["gpt-9-mini", "gpt-9-luna"])
def test_a_model_that_is_found_to_think_answers_the_second_time(hosted: Host, model: str) -> None:
    server = hosted(["an answer"], thinking=800)
    llm = connect(server, f"openai:{model}")
    reply = llm.ask("hi", max_tokens=60)
    assert (reply.text, reply.finish, dict(reply.dropped)) == ("an answer", "stop", {})
    assert (len(server.refused), len(server.served)) == (1, 2)  # the name of its limit was refused
    assert llm.ask("hi again", max_tokens=60).text == "an answer" and len(server.requests) == 4


def test_what_is_refused_of_many_at_once_is_left_out_by_each(loopback: Start) -> None:
    together = threading.Barrier(4)

    def reply(request: Json) -> Answer:
        if request.get("temperature", 1) == 1:
            return "ok"
        with suppress(threading.BrokenBarrierError):
            together.wait(0.3)
        return unsupported("temperature")

    llm = connect(loopback(reply), "openai:local")
    with ThreadPoolExecutor(4) as threads:
        replies = list(threads.map(lambda number: llm.ask(f"q{number}", temperature=0), range(4)))
    assert [(reply.text, set(reply.dropped)) for reply in replies] == [("ok", {"temperature"})] * 4


def test_an_effort_that_is_refused_is_told_and_the_model_has_room_to_think(hosted: Host) -> None:
    server = hosted(thinking=800)
    llm = connect(server, "openai:gpt-9-mini")
    reply = llm.ask("hi", reasoning="none", max_tokens=60)
    assert (reply.text, set(reply.dropped)) == ("ok", {"reasoning"})
    assert server.requests[-1].body["max_completion_tokens"] > 800


@pytest.mark.parametrize("limit", [{}, {"max_tokens": 60}])
@pytest.mark.parametrize(
    "model",
    [
        "openai:gpt-6-luna",
        "anthropic:claude-haiku-4-5",
        "anthropic:claude-opus-4-8",
        "anthropic:claude-opus-5",
        "anthropic:claude-opus-9",
    ],
)
def test_a_model_that_can_be_kept_from_thinking_is(hosted: Host, model: str, limit: Json) -> None:
    server = hosted(thinking=800)
    reply = connect(server, model, allow_dropped=False).ask("hi", reasoning="none", **limit)
    assert (reply.text, dict(reply.dropped), len(server.requests)) == ("ok", {}, 1)
    assert server.tokens().reasoning == 0


def test_a_value_out_of_range_costs_no_other_value(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "openai:gpt-4.1-mini")
    with suppress(ModelError):
        llm.ask("hi", temperature=2.1)
    assert not llm.ask("hi", temperature=0).dropped
    assert server.requests[-1].body["temperature"] == 0

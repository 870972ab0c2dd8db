"""The client finds out what a model takes, keeps to it, and tells what it was asked without."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from chameleon.errors import ChameleonError, ContextTooLong, ModelError, ParameterRefused
from chameleon.llm import LLM
from chameleon.llm import connection as connection_module
from chameleon.usage import Budget, Meter, recording
from tests.llm.asking import (
    Host,
    Json,
    Start,
    connect,
    refusals,
    too_large,
    unsupported,
)
from tests.loopback import Answer, Fault, Reply

ASKED: Mapping[str, Any] = {"temperature": 0, "top_p": 0.5, "stop": ["X"], "max_tokens": 60, "logprobs": True}
GONE = {"temperature", "top_p", "logprobs"}


def outcome(ask: Callable[[], Any]) -> str:
    """The reply's text, or the error's words."""
    try:
        return str(ask().text)
    except ChameleonError as error:
        return str(error)


@pytest.mark.parametrize("model", ["o9-mini", "gpt-9-mini", "gpt-9-luna"])
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


def test_a_gemini_that_nobody_knows(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "google_genai:gemini-9-flash")
    first = llm.ask("hi", temperature=0, max_tokens=60, reasoning="minimal")
    second = llm.ask("hi again", temperature=0, max_tokens=60, reasoning="minimal")
    assert set(first.dropped) == set(second.dropped) == {"reasoning"}
    assert len(server.refused) == 1 and len(server.served) == 2


def test_many_threads_are_not_all_refused(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "openai:gpt-9-mini")
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda number: llm.ask(f"q{number}", **ASKED), range(8)))
    assert {reply.text for reply in replies} == {"ok"}
    assert all(set(reply.dropped) == GONE for reply in replies)
    assert set(refusals(server).values()) == {1}


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
    assert limits == ["no", 5_000, 20_000, 16_384]
    assert reply_of.truncated and not reply_of.dropped


def test_efforts_are_learned_from_what_the_server_lists(loopback: Start) -> None:
    def reply(request: Json) -> Answer:
        if request.get("reasoning_effort") in (None, "low", "high"):
            return "ok"
        message = "`reasoning_effort` must be one of `low` or `high`"
        return Fault(400, {"error": {"message": message, "type": "invalid_request_error"}})

    server = loopback(reply)
    llm = connect(server, "openai:local")
    for asked, sent in [("medium", "low"), ("xhigh", "high"), ("high", "high")]:
        told = llm.ask(asked, reasoning=asked).dropped
        assert server.requests[-1]["reasoning_effort"] == sent
        assert set(told) == (set() if asked == sent else {"reasoning"})
    assert len(server.requests) == 4


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
    llm = connect(server, "openai:o4-mini", allow_dropped=False, temperature=0)
    assert set(llm.dropped()) == {"temperature"} and llm.dropped(temperature=1) == {}
    with pytest.raises(ParameterRefused, match="temperature: 0"):
        llm.ask("hi")
    assert not server.requests
    assert llm.ask("hi", temperature=1, top_p=1, logprobs=False, stop=["X"]).text == "ok"


def test_a_refusal_is_final_where_nothing_may_be_dropped(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "openai:o9-mini", allow_dropped=False)
    for count in (1, 1):
        with pytest.raises(ParameterRefused, match="temperature: 0"):
            llm.ask("hi", temperature=0)
        assert len(server.requests) == count
    with pytest.raises(ParameterRefused):
        llm.ask_many("hi", 3, temperature=0)
    assert llm.ask("hi", stop=["X"]).text == "ok"  # a stop is no loss


@pytest.mark.parametrize("stop", ["\n\n", [" "], ["\t", "END"]])
@pytest.mark.parametrize("model", ["openai:gpt-4.1-mini", "openai:o4-mini", "anthropic:claude-opus-5"])
def test_white_space_is_cut_at_here(hosted: Host, model: str, stop: str | list[str]) -> None:
    server = hosted(lambda asked: "\n\n one \n\n\ttwo END")
    reply = connect(server, model).ask("hi", stop=stop)
    assert (reply.text.strip(), reply.finish, dict(reply.dropped)) == ("one", "stop", {})
    sent = server.requests[0].body
    assert all(each.strip() for name in ("stop", "stop_sequences") for each in sent.get(name, ()))
    assert not server.refused


def test_a_stop_that_is_refused_is_cut_at_here(hosted: Host) -> None:
    server = hosted(lambda asked: "one STOP two")
    llm = connect(server, "openai:o9-mini", allow_dropped=False, stop="STOP")
    for text in ("hi", "hi again"):
        reply = llm.ask(text)
        assert (reply.text, reply.finish, dict(reply.dropped)) == ("one ", "stop", {})
    assert len(server.refused) == 1


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


@pytest.mark.parametrize(
    "model",
    [
        "openai:gpt-5-mini",
        "openai:o4-mini",
        "openai:gpt-6-luna",
        "anthropic:claude-opus-5",
        "google_genai:gemini-2.5-flash",
        "google_genai:gemini-3.8-flash",
    ],
)
def test_a_model_that_is_known_to_think_answers_at_once(hosted: Host, model: str) -> None:
    server = hosted(["an answer"], thinking=800)
    reply = connect(server, model).ask("hi", max_tokens=60)
    assert (reply.text, reply.finish, len(server.requests)) == ("an answer", "stop", 1)
    assert reply.usage.reasoning_tokens == 800


@pytest.mark.parametrize(
    ("model", "refused"),
    [
        ("openai:gpt-9-mini", 1),  # the name of its limit
        ("openai:gpt-9-luna", 1),
        ("openai:o9-mini", 2),  # and that it thought up to the limit
    ],
)
def test_a_model_that_is_found_to_think_answers_the_second_time(
    hosted: Host, model: str, refused: int
) -> None:
    server = hosted(["an answer"], thinking=800)
    llm = connect(server, model)
    reply = llm.ask("hi", max_tokens=60)
    assert (reply.text, reply.finish, dict(reply.dropped)) == ("an answer", "stop", {})
    assert (len(server.refused), len(server.served)) == (refused, 2 if refused < 2 else 1)
    before = len(server.requests)
    assert llm.ask("hi again", max_tokens=60).text == "an answer"
    assert len(server.requests) == before + 1


def together(parties: int) -> Callable[[], None]:
    """Wait until so many requests are in work at once, or for half a second."""
    barrier = threading.Barrier(parties)

    def wait() -> None:
        with suppress(threading.BrokenBarrierError):
            barrier.wait(0.5)

    return wait


def test_a_value_that_is_refused_of_many_at_once(loopback: Start) -> None:
    wait = together(4)

    def reply(request: Json) -> Answer:
        if request.get("temperature", 1) == 1:
            return "ok"
        wait()
        return unsupported("temperature")

    llm = connect(loopback(reply), "openai:local")
    llm.ask("hi", temperature=1)
    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda n: outcome(lambda: llm.ask(f"q{n}", temperature=0)), range(4)))
    assert told == ["ok"] * 4


@pytest.mark.slow
def test_a_parameter_that_is_refused_of_many_who_waited_for_another(loopback: Start) -> None:
    begun, wait = threading.Event(), together(3)

    def reply(request: Json) -> Answer:
        if "top_p" in request:
            wait()
            return unsupported("top_p")
        begun.set()
        return Reply("ok", delay=0.3)

    llm = connect(loopback(reply), "openai:local")
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(llm.ask, "hi", temperature=0)
        begun.wait(5)
        told = list(threads.map(lambda n: outcome(lambda: llm.ask(f"q{n}", top_p=0.5)), range(3)))
    assert (first.result().text, told) == ("ok", ["ok"] * 3)


def test_limits_that_are_too_large_of_many_at_once(loopback: Start) -> None:
    wait = together(4)

    def reply(request: Json) -> Answer:
        if (limit := request.get("max_tokens", 0)) > 16_384:
            wait()
            return too_large(limit)
        return Reply("half", finish="length") if 0 < limit <= 8_000 else "whole"

    server = loopback(reply)
    llm = connect(server, "openai:local")
    with ThreadPoolExecutor(4) as threads:
        replies = list(threads.map(lambda n: llm.ask(f"q{n}", max_tokens=8_000), range(4)))
    assert [(reply.text, dict(reply.dropped)) for reply in replies] == [("whole", {})] * 4
    llm.ask("later", max_tokens=9_000)
    assert server.requests[-1]["max_tokens"] == 9_000


def test_samples_that_are_refused_of_many_at_once(loopback: Start) -> None:
    wait = together(3)

    def reply(request: Json) -> Answer:
        if "n" not in request:
            return "ok"
        wait()
        return Fault(400, {"error": {"message": "only one choice can be had"}})

    llm = connect(loopback(reply), "openai:gpt-5-mini")
    llm.ask("hi")
    assert [reply.text for reply in llm.ask_many("hi", 20)] == ["ok"] * 20


def test_a_server_that_takes_no_effort_is_not_asked_for_ever(loopback: Start) -> None:
    def reply(request: Json) -> Answer:
        if "reasoning_effort" not in request or len(server.requests) > 20:
            return "ok"
        message = "Unrecognized request argument supplied: reasoning_effort"
        return Fault(400, {"error": {"message": message}})

    server = loopback(reply)
    reply_of = connect(server, "openai:gpt-5-mini").ask("hi", reasoning="low")
    assert "reasoning_effort" not in server.requests[-1] and set(reply_of.dropped) == {"reasoning"}


@pytest.mark.parametrize("model", ["gpt-4o-mini", "o9-mini"])
def test_a_limit_above_that_of_the_model_is_refused_once_at_most(hosted: Host, model: str) -> None:
    server = hosted()
    reply = connect(server, f"openai:{model}").ask("hi", max_tokens=200_000)
    assert reply.text == "ok" and sum("too large" in said for said in refusals(server).elements()) <= 1


def test_thoughts_up_to_the_limit_do_not_use_up_a_budget_of_tokens(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "openai:o9-mini")
    with recording(Meter(Budget(tokens=100_000))) as recorder:
        assert llm.ask("hi", max_tokens=60).text == "ok"
    told, spent = server.tokens(), recorder.meter.spent
    assert (spent.input_tokens, spent.output_tokens) == (told.input, told.output)


@pytest.mark.parametrize("model", ["gpt-9-mini", "o9-mini"])
def test_a_model_that_thinks_though_it_was_asked_not_to(hosted: Host, model: str) -> None:
    server = hosted()
    reply = connect(server, f"openai:{model}").ask("hi", reasoning="none")
    assert set(reply.dropped) == {"reasoning"}
    assert server.requests[-1].body["reasoning_effort"] in ("minimal", "low")


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("anthropic:claude-opus-9", "minimal"),
        ("google_genai:gemini-9-flash", "none"),
        ("google_genai:gemini-9-flash", "xhigh"),
    ],
)
def test_an_effort_that_the_client_does_not_know(hosted: Host, model: str, effort: str) -> None:
    llm = connect(hosted(), model)
    reply = llm.ask("hi", reasoning=effort)
    assert reply.text == "ok" and set(reply.dropped) == set(llm.dropped(reasoning=effort)) == {"reasoning"}


@pytest.mark.parametrize("limit", [{}, {"max_tokens": 60}])
@pytest.mark.parametrize(
    "model",
    [
        "openai:gpt-6-luna",
        "anthropic:claude-haiku-4-5",
        "anthropic:claude-opus-4-8",
        "anthropic:claude-opus-5",
        "anthropic:claude-opus-9",
        "google_genai:gemini-2.5-flash",
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


def test_a_server_that_refuses_what_it_lists_is_not_asked_for_ever(loopback: Start) -> None:
    def reply(request: Json) -> Answer:
        if "reasoning_effort" not in request or len(server.requests) > 20:
            return "ok"
        message = "Unsupported value. Supported values are: 'low' and 'high'."
        return Fault(400, {"error": {"message": message, "param": "reasoning_effort", "code": None}})

    server = loopback(reply)
    connect(server, "openai:local").ask("hi", reasoning="low")
    assert len(server.requests) <= 4


def test_that_a_model_thinks_is_learned_once_by_many(
    loopback: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(request: Json) -> Answer:
        thoughts = {"completion_tokens_details": {"reasoning_tokens": 60}}
        return Reply("", finish="length", extra=thoughts) if request["max_tokens"] == 60 else "ok"

    def later(*args: Any, **options: Any) -> Any:
        threading.Event().wait(0.2)
        return parse(*args, **options)

    parse = connection_module.parse_reply
    monkeypatch.setattr(connection_module, "parse_reply", later)
    server = loopback(reply)
    llm = connect(server, "openai:local")
    with ThreadPoolExecutor(8) as threads:
        texts = [each.text for each in threads.map(lambda n: llm.ask(f"q{n}", max_tokens=60), range(8))]
    assert texts == ["ok"] * 8
    assert [request["max_tokens"] for request in server.requests].count(60) == 1

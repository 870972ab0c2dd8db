"""The client finds out what a model takes, keeps to it, and tells what it was asked without."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chameleon.budget import Budget, Meter, Usage, recording
from chameleon.errors import ChameleonError, ContextTooLong, ModelError, ParameterRefused
from chameleon.llm import LLM, Backoff, ResponseStore
from chameleon.llm import connection as connection_module
from tests.hosted import RULES, HostedServer
from tests.loopback import Answer, Fault, LoopbackServer, Reply

Start = Callable[..., LoopbackServer]
Host = Callable[..., HostedServer]
Json = dict[str, Any]

ALIASES = {  # models that nobody knows, and whose rules they have
    "openai": {"o9-mini": "o4-mini", "gpt-9-mini": "gpt-5-mini", "gpt-9-luna": "gpt-6-luna"},
    "anthropic": {"claude-opus-9": "claude-opus-5"},
    "google": {"gemini-9-flash": "gemini-3.8-flash"},
}
LONG = "\n".join(f"Example {number}: which team has the most points?" for number in range(300))


@pytest.fixture(autouse=True)
def _unknown_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider, names in ALIASES.items():
        for name, known in names.items():
            monkeypatch.setitem(RULES[provider], name, RULES[provider][known])  # type: ignore[arg-type]


@pytest.fixture
def hosted() -> Iterator[Host]:
    """Start servers: `server = hosted(reply, …)` as `HostedServer(reply, …)`; stop them after the test."""
    servers: list[HostedServer] = []

    def start(*args: Any, **options: Any) -> HostedServer:
        servers.append(HostedServer(*args, **options).__enter__())
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def connect(server: HostedServer | LoopbackServer, model: str, **params: Any) -> LLM:
    """Connect to a model, whose package may be missing."""
    provider = model.partition(":")[0]
    packages = {"anthropic": "langchain_anthropic", "google_genai": "langchain_google_genai"}
    if provider in packages:
        pytest.importorskip(packages[provider])
    is_openai = provider == "openai" and isinstance(server, HostedServer)
    address = server.openai_url if is_openai else server.url  # type: ignore[union-attr]
    params = {"base_url": address, "api_key": "k", "retries": Backoff(retries=0), **params}
    return LLM.connect(model, **params)


@pytest.fixture
def openai_itself(hosted: Host, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[LLM, HostedServer]]:
    """Connect to a model at api.openai.com, which a server here stands in for as its proxy."""

    def start(model: str, **params: Any) -> tuple[LLM, HostedServer]:
        server = hosted()
        monkeypatch.setenv("HTTP_PROXY", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", "http://api.openai.com/v1")
        # LangChain shares connections, and with them a proxy, among clients of one address and timeout.
        timeout = float(server.url.rpartition(":")[2])
        return LLM.connect(model, api_key="k", timeout=timeout, retries=0, **params), server

    return start


def refusals(server: HostedServer) -> Counter[str]:
    """How often the server refused for the same reason."""
    return Counter(str((seen.error or {})["error"]["message"]) for seen in server.refused)


def unsupported(name: str) -> Fault:
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    return Fault(400, {"error": {"message": message, "param": name, "code": "unsupported_parameter"}})


def too_large(limit: int, most: int = 16_384) -> Fault:
    message = f"max_tokens is too large: {limit}. This model supports at most {most} completion tokens, "
    message += f"whereas you provided {limit}."
    return Fault(400, {"error": {"message": message, "param": "max_tokens", "code": "invalid_value"}})


def outcome(ask: Callable[[], Any]) -> str:
    """The reply's text, or the error's words."""
    try:
        return str(ask().text)
    except ChameleonError as error:
        return str(error)


ASKED: Mapping[str, Any] = {"temperature": 0, "top_p": 0.5, "stop": ["X"], "max_tokens": 60, "logprobs": True}
GONE = {"temperature", "top_p", "logprobs"}


# A model that nobody knows


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


def test_what_is_dropped_is_logged_with_the_call(hosted: Host) -> None:
    llm = connect(hosted(), "openai:o9-mini")
    with recording(Meter()) as recorder:
        llm.ask("hi", temperature=0)
        llm.ask("hi again", temperature=1)
        llm.ask_many("hi", 2, temperature=0)
    assert [set(call.dropped) for call in recorder.calls] == [{"temperature"}, set(), *[{"temperature"}] * 2]
    assert "temperature" in recorder.calls[0].dropped["temperature"]
    assert recorder.calls[0].to_json()["dropped"] == recorder.calls[0].dropped
    assert recorder.calls[0].params == {"temperature": 0}


def test_many_threads_are_not_all_refused(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "openai:gpt-9-mini")
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda number: llm.ask(f"q{number}", **ASKED), range(8)))
    assert {reply.text for reply in replies} == {"ok"}
    assert all(set(reply.dropped) == GONE for reply in replies)
    assert set(refusals(server).values()) == {1}


@pytest.mark.parametrize("model", ["gpt-9-mini", "o9-mini"])
def test_many_samples_are_not_all_refused(hosted: Host, model: str) -> None:
    server = hosted(lambda asked: "an answer X and more")
    replies = connect(server, f"openai:{model}").ask_many("q", 20, **ASKED)
    assert [reply.text for reply in replies] == ["an answer "] * 20
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


# Where nothing may be dropped


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


def test_a_stored_reply_remembers_what_it_was_asked_without(hosted: Host, tmp_path: Path) -> None:
    server = hosted()
    for mode in ("auto", "auto", "replay"):
        store = ResponseStore(tmp_path / "replies.sqlite", mode)  # type: ignore[arg-type]
        llm, strict = (
            connect(server, "openai:o9-mini", store=store, temperature=0, allow_dropped=allow)
            for allow in (True, False)
        )
        assert set(llm.ask("hi").dropped) == {"temperature"}
        with pytest.raises(ParameterRefused, match="temperature: 0"):
            strict.ask("hi")
        with pytest.raises(ParameterRefused, match="temperature: 0"):
            strict.ask_many("hi", 1)
    assert len(server.requests) == 2  # refused once, answered once


# Stops


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


# Limits


def test_a_reply_that_is_cut_off_is_asked_for_with_more_room_and_no_oftener(loopback: Start) -> None:
    server = loopback([Reply("half", finish="length")])
    llm = connect(server, "openai:local")
    with recording(Meter()) as recorder:
        reply = llm.ask("hi", max_tokens=60)
    assert [request["max_tokens"] for request in server.requests] == [60, 240, 960]
    assert (reply.text, reply.truncated, reply.attempts) == ("half", True, 3)
    assert reply.usage == recorder.meter.spent == recorder.calls[0].usage
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (3, 33, 21)
    assert llm.ask("hi", max_tokens=60, whole=False).truncated
    assert len(server.requests) == 4 and server.requests[-1]["max_tokens"] == 60


@pytest.mark.parametrize("halves", [1, 2])
def test_the_first_whole_reply_is_taken(loopback: Start, tmp_path: Path, halves: int) -> None:
    server = loopback([*[Reply("half", finish="length")] * halves, "whole"])
    llm = connect(server, "openai:local", store=ResponseStore(tmp_path / "replies.sqlite"))
    reply = llm.ask("hi", max_tokens=60)
    assert (reply.text, reply.finish, reply.usage.calls) == ("whole", "stop", halves + 1)
    assert llm.ask("hi", max_tokens=60).text == "whole" and len(server.requests) == halves + 1


def test_half_a_reply_is_better_than_none(loopback: Start) -> None:
    fault = Fault(400, {"error": {"message": "maximum context length is 100 tokens"}})
    server = loopback([Reply("half", finish="length"), fault])
    reply = connect(server, "openai:local").ask("hi", max_tokens=60)
    assert (reply.text, reply.truncated, len(server.requests)) == ("half", True, 2)


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


def test_a_budget_of_calls_holds_for_those_that_were_cut_off(loopback: Start) -> None:
    server = loopback([Reply("half", finish="length")])
    with recording(Meter(Budget(calls=2))) as recorder, pytest.raises(ChameleonError, match="budget of 2"):
        connect(server, "openai:local").ask("hi", max_tokens=60)
    assert len(server.requests) == recorder.meter.spent.calls == 2


def test_samples_that_are_cut_off_are_asked_for_again_each(hosted: Host) -> None:
    server = hosted(lambda asked: "long " * 100 if asked.sample == 1 else f"short {asked.sample}")
    llm = connect(server, "openai:gpt-4.1-mini", max_tokens=60)
    with recording(Meter()) as recorder:
        replies = llm.ask_many("hi", 3)
    assert [reply.text for reply in replies] == ["short 0", "short 0", "short 2"]
    assert [seen.body.get("n", 1) for seen in server.requests] == [3, 1]
    told = server.tokens()
    spent = recorder.meter.spent
    assert (spent.calls, spent.input_tokens, spent.output_tokens) == (2, told.input, told.output)


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


@pytest.mark.parametrize(
    "model",
    ["openai:gpt-9-mini", "openai:gpt-5-mini", "anthropic:claude-opus-9", "google_genai:gemini-9-flash"],
)
def test_all_that_was_answered_is_booked(hosted: Host, model: str) -> None:
    server = hosted(lambda asked: "word " * 200, thinking=800)
    llm = connect(server, model)
    with recording(Meter()) as recorder:
        replies = [llm.ask(f"q{number}", max_tokens=60, temperature=0) for number in range(2)]
        replies += llm.ask_many("again", 3, max_tokens=60, temperature=0)
    told, spent = server.tokens(), recorder.meter.spent
    assert (spent.input_tokens, spent.output_tokens) == (told.input, told.output)
    assert (spent.cached_tokens or 0, spent.reasoning_tokens) == (told.cached, told.reasoning)
    assert sum((reply.usage for reply in replies), Usage()) == spent
    assert spent.calls == len(server.served) == sum(call.usage.calls for call in recorder.calls)


# Samples


@pytest.mark.parametrize("model", ["gpt-4.1-mini", "gpt-5-mini", "o4-mini"])
def test_samples_are_one_request_where_that_is_offered(hosted: Host, model: str) -> None:
    server = hosted(lambda asked: f"answer {asked.sample}")
    llm = connect(server, f"openai:{model}")
    replies = llm.ask_many("hi", 5)
    assert [seen.body["n"] for seen in server.requests] == [5]
    assert [reply.text for reply in replies] == [f"answer {number}" for number in range(5)]
    assert [reply.usage.calls for reply in replies] == [1, 0, 0, 0, 0]
    told = server.tokens()
    assert (replies[0].usage.input_tokens, replies[0].usage.output_tokens) == (told.input, told.output)


@pytest.mark.parametrize(("model", "sizes"), [("gpt-4.1-mini", [20]), ("gpt-5-mini", [4, 8, 8])])
def test_a_model_that_thinks_gives_eight_samples_at_once(hosted: Host, model: str, sizes: list[int]) -> None:
    server = hosted(lambda asked: "ok")
    assert len(connect(server, f"openai:{model}").ask_many("hi", 20)) == 20
    assert sorted(seen.body["n"] for seen in server.requests) == sizes


def test_only_samples_that_are_missing_are_asked_for(hosted: Host, tmp_path: Path) -> None:
    server = hosted(lambda asked: "ok")
    llm = connect(server, "openai:gpt-4.1-mini", store=ResponseStore(tmp_path / "replies.sqlite"))
    llm.ask_many("hi", 2)
    replies = llm.ask_many("hi", 5)
    assert [reply.cached for reply in replies] == [True, True, False, False, False]
    assert [seen.body["n"] for seen in server.requests] == [2, 3]


def test_a_server_that_gives_one_sample_is_asked_for_each(loopback: Start) -> None:
    counted = iter(range(100))
    server = loopback(lambda request: str(next(counted)))
    llm = connect(server, "openai:local")
    replies = llm.ask_many("hi", 5)
    assert sorted(reply.text for reply in replies) == list("01234")
    assert [request.get("n") for request in server.requests] == [5, None, None, None, None]
    llm.ask_many("hi again", 3)
    assert [request.get("n") for request in server.requests[5:]] == [None] * 3
    assert all(not reply.dropped and reply.usage.calls == 1 for reply in replies)


def test_a_server_that_refuses_samples_is_asked_for_each(loopback: Start) -> None:
    server = loopback(lambda request: unsupported("n") if "n" in request else "ok")
    llm = connect(server, "openai:local", allow_dropped=False)
    assert [reply.text for reply in llm.ask_many("hi", 5)] == ["ok"] * 5
    assert [request.get("n") for request in server.requests] == [5, *[None] * 5]


def test_samples_with_seeds_are_asked_for_each(hosted: Host) -> None:
    server = hosted(lambda asked: str(asked.body["seed"]))
    replies = connect(server, "openai:gpt-4.1-mini", seed=7).ask_many("hi", 4)
    assert [reply.text for reply in replies] == ["7", "8", "9", "10"]
    assert not any("n" in seen.body for seen in server.requests)


@pytest.mark.parametrize("model", ["anthropic:claude-opus-5", "google_genai:gemini-2.5-flash"])
def test_samples_of_others_are_asked_for_each(hosted: Host, model: str) -> None:
    server = hosted(lambda asked: "ok")
    assert [reply.text for reply in connect(server, model).ask_many("hi", 3)] == ["ok"] * 3
    assert len(server.served) == 3 and not server.refused


# Prices and what providers keep


def test_costs_are_those_of_the_list_of_prices(
    openai_itself: Callable[..., tuple[LLM, HostedServer]],
) -> None:
    pytest.importorskip("genai_prices")
    llm, server = openai_itself("openai:gpt-4.1-mini")
    with recording(Meter(Budget(cost=1.0))) as recorder:
        for end in "ABC":
            llm.ask(LONG + end)
    told = server.tokens()
    assert told.cached > 0
    expected = ((told.input - told.cached) * 0.4 + told.cached * 0.1 + told.output * 1.6) / 1e6
    assert recorder.meter.spent.cost == pytest.approx(expected)


def test_costs_are_those_that_were_given(loopback: Start) -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 400}}
    server = loopback([Reply("ok", usage=(1000, 50), extra=details)])
    usage = connect(server, "openai:local", prices=(2.0, 8.0, 0.5)).ask("hi").usage
    assert usage.cached_tokens == 400
    assert usage.cost == pytest.approx((600 * 2 + 400 * 0.5 + 50 * 8) / 1e6)
    assert connect(server, "openai:local").ask("hi").usage.cost is None


def test_claude_is_shown_what_prompts_share_from_the_second_on(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "anthropic:claude-opus-5")
    replies = [llm.ask([("system", "Be brief."), ("user", f"{LONG}\nQuestion {end}")]) for end in "ABCD"]
    marks = [
        [block["text"] for block in seen.body["messages"][0]["content"] if "cache_control" in block]
        if isinstance(seen.body["messages"][0]["content"], list)
        else []
        for seen in server.requests
    ]
    assert marks == [[], *[[LONG + "\n"]] * 3]
    told = [reply.usage.cached_tokens for reply in replies]
    assert told == [seen.usage.cached for seen in server.requests if seen.usage]
    # The second one is where it is written; a prompt alone is not worth its price.
    assert told[:2] == [0, 0] and all(each and each > 3_000 for each in told[2:])
    assert all("cache_control" not in seen.body for seen in server.requests)


def test_a_claude_marks_no_prompt_that_is_short(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "anthropic:claude-opus-5")
    for end in "ABC":
        llm.ask(f"{LONG[:3_000]}\nQuestion {end}")
    assert all(isinstance(seen.body["messages"][0]["content"], str) for seen in server.requests)


def test_openai_is_told_which_prompts_share_a_beginning(
    openai_itself: Callable[..., tuple[LLM, HostedServer]],
) -> None:
    llm, server = openai_itself("openai:gpt-4.1-mini")
    replies = [llm.ask(f"{LONG}\nQuestion {end}") for end in "ABC"]
    llm.ask("short")
    llm.ask("Other " + LONG)
    keys = [seen.body.get("prompt_cache_key") for seen in server.requests]
    assert len({*keys[:3]}) == 1 and keys[3] is None and keys[4] not in (None, keys[0])
    told = [reply.usage.cached_tokens for reply in replies]
    assert told[0] == 0 and all(each and each > 3_000 for each in told[1:])
    assert sum(each or 0 for each in told) == server.tokens().cached


def test_a_server_of_ones_own_gets_no_cache_key(loopback: Start) -> None:
    server = loopback()
    llm = connect(server, "openai:local")
    for end in "ABC":
        llm.ask(LONG + end)
    assert not any("prompt_cache_key" in request for request in server.requests)


def test_what_is_kept_may_be_refused_and_nobody_misses_it(
    loopback: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(request: Json) -> Answer:
        message = "Unrecognized request argument supplied: prompt_cache_key"
        return Fault(400, {"error": {"message": message}}) if "prompt_cache_key" in request else "ok"

    server = loopback(reply)
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://api.openai.com/v1")
    llm = LLM.connect("gpt-x", api_key="k", timeout=float(server.port), retries=0, allow_dropped=False)
    assert [dict(llm.ask(LONG + end).dropped) for end in "ABC"] == [{}, {}, {}]
    assert ["prompt_cache_key" in request for request in server.requests] == [True, False, False, False]


# Another model


def test_another_model_shares_the_store_and_its_client_is_made_once(
    loopback: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import chameleon.llm.chat_clients as module

    made: list[str] = []
    make = module.make_client
    monkeypatch.setattr(module, "make_client", lambda name, *args: (made.append(name), make(name, *args))[1])
    server = loopback(lambda request: request["model"])
    llm = connect(server, "openai:first", store=ResponseStore(tmp_path / "replies.sqlite"), seed=3)
    other = llm.with_model("second")
    assert (other.name, other.params, other.address) == ("openai:second", llm.params, llm.address)
    assert [each.ask("hi").text for each in (llm, other, llm.with_model("openai:second"))] == [
        "first",
        "second",
        "second",
    ]
    assert other.with_model("first").ask("hi").cached and llm.with_model("second").ask("hi").cached
    assert [request["model"] for request in server.requests] == ["first", "second"]
    assert sorted(set(made)) == ["openai:first", "openai:second"]
    before = len(made)
    llm.with_model("second").with_model("first").with_params(seed=3).ask("hi")
    assert len(made) == before


def test_what_one_model_refuses_another_is_still_asked_with(hosted: Host) -> None:
    server = hosted()
    llm = connect(server, "openai:o9-mini", temperature=0)
    assert set(llm.ask("hi").dropped) == {"temperature"}
    other = llm.with_model("gpt-4.1-mini")
    assert not other.ask("hi").dropped and server.requests[-1].body["temperature"] == 0
    assert set(other.with_model("o9-mini").dropped()) == {"temperature"}


def test_a_model_of_another_provider_gets_no_key_of_this_one(
    hosted: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = connect(hosted(), "openai:gpt-4.1-mini")
    with pytest.raises(ChameleonError, match="ANTHROPIC_API_KEY"):
        llm.with_model("anthropic:claude-opus-5")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key")
    sibling = llm.with_model("anthropic:claude-opus-5")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ChameleonError, match="ANTHROPIC_API_KEY"):
        sibling.with_model("anthropic:claude-opus-4-8")


# Refused of many at once, of any effort, and above a limit


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
        return unsupported("n")

    llm = connect(loopback(reply), "openai:gpt-5-mini")
    llm.ask("hi")
    assert [reply.text for reply in llm.ask_many("hi", 20)] == ["ok"] * 20


def test_efforts_that_are_refused_of_many_at_once(loopback: Start) -> None:
    wait = together(4)

    def reply(request: Json) -> Answer:
        if request["reasoning_effort"] in ("low", "high"):
            return "ok"
        wait()
        return Fault(400, {"error": {"message": "`reasoning_effort` must be one of `low` or `high`"}})

    server = loopback(reply)
    llm = connect(server, "openai:local")
    llm.ask("hi", reasoning="low")
    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda n: outcome(lambda: llm.ask(f"q{n}", reasoning="xhigh")), range(4)))
    assert told == ["ok"] * 4
    assert server.requests[-1]["reasoning_effort"] == "high"


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


# Not to think


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


# Many at once, and values that there are not


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


@pytest.mark.parametrize("model", ["local", "gpt-5-mini"])
def test_an_effort_that_there_is_not_is_an_error_that_names_those_there_are(
    loopback: Start, model: str
) -> None:
    llm = connect(loopback(), f"openai:{model}")
    with pytest.raises(ModelError, match=r"deep.*medium"):
        llm.ask("hi", reasoning="deep", max_tokens=60)


def test_many_threads_make_the_client_of_another_model_once(
    loopback: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    import chameleon.llm.chat_clients as module

    made: list[str] = []
    make = module.make_client

    def slowly(name: str, *args: Any) -> Any:
        made.append(name)
        threading.Event().wait(0.1)
        return make(name, *args)

    llm = connect(loopback(), "openai:first")
    monkeypatch.setattr(module, "make_client", slowly)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: llm.with_model("second"), range(8)))
    assert made == ["openai:second"]

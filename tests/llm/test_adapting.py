"""The client finds out what a model takes, keeps to it, and tells what it was asked without."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chameleon.budget import Budget, Meter, Usage, recording
from chameleon.errors import ChameleonError, ContextTooLong, ModelError, ParameterRefused
from chameleon.llm import LLM, Backoff, ResponseStore
from chameleon.llm.probe import Probe
from tests.hosted import RULES, Asked, HostedServer
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
    assert len(server.served) == 3  # the first reply was cut off


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
    assert limits == ["no", 5_000, 20_000, 16_384, 16_384]
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
        (Fault(400, {"error": {"message": "maximum context length is 9: reduce max_tokens"}}), ContextTooLong),
        (Fault(401, {"error": {"message": "temperature is not supported"}}), ModelError),
    ],
)
def test_nothing_is_dropped_for_another_reason(
    loopback: Start, fault: Fault, kind: type[ModelError]
) -> None:
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
    with pytest.raises(ParameterRefused, match="temperature: 0") as caught:
        llm.ask("hi")
    assert "--allow-dropped" in str(caught.value)
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
        with ResponseStore(tmp_path / "r.sqlite", mode) if False else closing(tmp_path, mode) as store:
            reply = connect(server, "openai:o9-mini", store=store).ask("hi", temperature=0)
            assert set(reply.dropped) == {"temperature"}
            assert not store or len(server.served) == 1
            with pytest.raises(ParameterRefused, match="temperature: 0"):
                connect(server, "openai:o9-mini", store=store, allow_dropped=False).ask("hi", temperature=0)
    assert len(server.requests) == 2

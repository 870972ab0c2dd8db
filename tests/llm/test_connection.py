"""What a model takes is found out and kept to; nobody waits, reads or asks without an end."""

import asyncio
import gzip
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress

import pytest

from chameleon.errors import ModelError, NoModel
from chameleon.llm import LLM, deadline
from chameleon.llm.model_choice import offered_models
from chameleon.llm.pace import Pace, pace_of
from chameleon.usage import Budget, Meter, recording
from tests.llm.asking import Host, Json, Start, connect, failing, refusals, talking, too_large
from tests.loopback import Answer, Reply

ASKED: Json = {"temperature": 0, "top_p": 0.5, "stop": ["X"], "max_tokens": 60, "logprobs": True}
GONE = {"temperature", "top_p", "logprobs"}
MINIMAL: Json = {"temperature": 0, "max_tokens": 60, "reasoning": "minimal", "stop": ["X"]}


@pytest.mark.parametrize(
    ("model", "asked", "gone"),
    [
        ("openai:o9-mini", ASKED, GONE),
        ("openai:gpt-9-mini", ASKED, GONE),
        ("openai:gpt-9-luna", ASKED, GONE),
        ("anthropic:claude-opus-9", {**ASKED, "seed": 3}, {*GONE, "seed"}),
        ("google_genai:gemini-9-flash", MINIMAL, {"reasoning"}),
    ],
)
def test_a_parameter_is_refused_but_once(hosted: Host, model: str, asked: Json, gone: set[str]) -> None:
    server = hosted(lambda asked: "an answer X and more")
    llm = connect(server, model)
    first = llm.ask("hi", **asked)
    assert (first.text, first.finish, set(first.dropped)) == ("an answer ", "stop", gone)
    assert set(refusals(server).values()) == {1}
    before = len(server.requests)
    again = llm.ask("hi again", **asked)
    assert len(server.requests) == before + 1
    assert again.dropped == first.dropped == llm.dropped(**asked) and all(again.dropped.values())
    sent = server.requests[-1].body
    assert not sent.keys() & gone
    if "temperature" in gone:
        assert set(llm.dropped(temperature=0)) == {"temperature"} and llm.dropped(temperature=1) == {}
    if model.startswith("openai:"):
        assert not sent.keys() & {"stop", "max_tokens"} and sent["max_completion_tokens"] > 800


def test_other_limits_of_one_parameter_are_found_one_after_the_other(loopback: Start) -> None:
    def reply(request: Json) -> Answer:
        if "max_tokens" in request:
            return failing("'max_tokens': use 'max_completion_tokens' instead.", param="max_tokens")
        limit = request["max_completion_tokens"]
        return too_large(limit) if limit > 16_384 else Reply("half", finish="length")

    server = loopback(reply)
    told = connect(server, "openai:local").ask("hi", max_tokens=5_000)
    limits = [request.get("max_completion_tokens", "no") for request in server.requests]
    assert limits == ["no", 5_000, 20_000, 16_384] and told.truncated and not told.dropped


def test_replies_are_cut_here_at_every_stop(hosted: Host) -> None:
    for model, stop, sent in (
        ("openai:gpt-4.1-mini", ["\n\n"], []),
        ("openai:gpt-4.1-mini", ["\t", "END"], ["END"]),
        ("openai:gpt-4.1-mini", ["END", *"1234567"], ["END", *"123"]),
        ("openai:o4-mini", [" ", "END"], []),  # it takes none, as is known
        ("openai:o9-mini", ["END"], []),  # it refuses a stop
        ("anthropic:claude-opus-5", [" "], []),
        ("anthropic:claude-opus-5", ["\t", "END"], ["END"]),
    ):
        server = hosted(lambda asked: "one \n\n\tEND 1 2 3 4 5 6 7")
        llm = connect(server, model, allow_dropped=False, stop=stop)
        for question in ("hi", "hi again"):
            reply = llm.ask(question)
            assert (reply.text.strip(), reply.finish, dict(reply.dropped)) == ("one", "stop", {})
        body = server.requests[-1].body
        assert (body.get("stop") or body.get("stop_sequences") or []) == sent
        assert len(server.refused) == ("o9" in model)


def test_thinking_gives_way_to_context(loopback: Start) -> None:
    for prompt, told, limits in (
        (500, "ok", [256, 256 + 16_384, 256 + 4_096, 256 + 4_096, 256 + 4_096]),
        (9_000, "does not fit the context", [256] * 4),  # no room at all
    ):

        def small(request: Json, prompt: int = prompt) -> Answer:
            if prompt + request["max_tokens"] > 8_192:
                return failing("max_tokens is too large. This model's maximum context length is 8192 tokens")
            details = {"completion_tokens_details": {"reasoning_tokens": 8}}
            return Reply("ok", usage=(prompt, 9), extra=details)

        server = loopback(small)
        llm = connect(server, "openai:a-thinker", max_tokens=256)
        for number in range(4):
            with nullcontext() if told == "ok" else pytest.raises(ModelError, match=told):
                assert llm.ask(str(number)).text == told
        assert [request["max_tokens"] for request in server.requests] == limits


@pytest.mark.parametrize(
    ("model", "refused", "served"),
    [
        *((f"openai:{name}", 0, 1) for name in ("gpt-5-mini", "o4-mini", "gpt-6-luna")),
        *((f"google_genai:gemini-{name}-flash", 0, 1) for name in ("2.5", "3.8")),
        ("anthropic:claude-opus-5", 0, 1),
        ("openai:gpt-9-mini", 1, 2),  # nobody knows it; it refuses the name of its limit
        ("openai:o9-mini", 2, 1),  # and it says that it thought up to the limit
    ],
)
def test_a_model_that_thinks_answers_once_known(hosted: Host, model: str, refused: int, served: int) -> None:
    server = hosted(["an answer"], thinking=800)
    llm = connect(server, model)
    with recording(Meter(Budget(tokens=100_000))) as recorder:
        reply = llm.ask("hi", max_tokens=60)
    assert (reply.text, reply.finish, dict(reply.dropped)) == ("an answer", "stop", {})
    assert (len(server.refused), len(server.served)) == (refused, served)
    told, spent = server.tokens(), recorder.meter.spent
    assert (spent.input_tokens, spent.output_tokens) == (told.input, told.output)
    assert spent.reasoning_tokens == told.reasoning >= 800
    assert llm.ask("hi again", max_tokens=60).text == "an answer"
    assert len(server.requests) == refused + served + 1


def test_what_is_refused_of_many_at_once(loopback: Start) -> None:
    fault, together = (
        failing("Unsupported parameter: 'temperature'", param="temperature"),
        threading.Barrier(4),
    )

    def reply(request: Json) -> Answer:
        if request.get("temperature") != 0:
            return "ok"
        with suppress(threading.BrokenBarrierError):
            together.wait(0.5)
        return fault

    llm = connect(loopback(reply), "openai:local")
    llm.ask("hi", temperature=1)
    with ThreadPoolExecutor(4) as threads:
        texts = threads.map(lambda n: llm.ask(f"q{n}", temperature=0).text, range(4))
        assert list(texts) == ["ok"] * 4


EFFORTS = """
openai:gpt-9-mini none minimal, openai:o9-mini none low, anthropic:claude-opus-9 minimal None
google_genai:gemini-9-flash none None, google_genai:gemini-9-flash xhigh None
"""


def test_an_effort_that_is_not_known(hosted: Host) -> None:
    for model, effort, sent in (row.split() for row in EFFORTS.strip().replace("\n", ", ").split(", ")):
        server = hosted()
        llm = connect(server, model)
        reply = llm.ask("hi", reasoning=effort)
        assert reply.text == "ok" and {*reply.dropped} == {*llm.dropped(reasoning=effort)} == {"reasoning"}
        assert str(server.requests[-1].body.get("reasoning_effort")) == sent


def test_what_is_refused_is_left_out_whatever_the_words_and_a_value_costs_no_other(loopback: Start) -> None:
    for words, more in (
        ("Unrecognized request argument supplied: reasoning_effort", {}),
        ("Unsupported value. Supported values are: 'low' and 'high'.", {"param": "reasoning_effort"}),
    ):
        fault = failing(words, **more)
        server = loopback(lambda request, no=fault: no if "reasoning_effort" in request else "ok")
        assert set(connect(server, "openai:local").ask("hi", reasoning="low").dropped) == {"reasoning"}
        assert ["reasoning_effort" in request for request in server.requests] == [True, False]
    above = failing("Invalid 'temperature': decimal above maximum value. Expected <= 2", param="temperature")
    server = loopback(lambda request: above if request["temperature"] > 2 else "ok")
    llm = connect(server, "openai:local")
    with suppress(ModelError):
        llm.ask("hi", temperature=2.1)
    assert not llm.ask("hi", temperature=0).dropped and server.requests[-1]["temperature"] == 0


KEPT = "openai:gpt-6-luna anthropic:claude-haiku-4-5 anthropic:claude-opus-4-8 anthropic:claude-opus-5"


@pytest.mark.parametrize("model", f"{KEPT} anthropic:claude-opus-9 google_genai:gemini-2.5-flash".split())
def test_a_model_that_can_be_kept_from_thinking_is(hosted: Host, model: str) -> None:
    server = hosted(thinking=800)
    llm = connect(server, model, allow_dropped=False, reasoning="none")
    for limit in ({}, {"max_tokens": 60}):
        reply = llm.ask("hi", **limit)
        assert (reply.text, dict(reply.dropped)) == ("ok", {})
    assert len(server.requests) == 2 and server.tokens().reasoning == 0


def test_the_longest_wait_counts_and_ends_and_a_model_at_an_address_has_one_pace() -> None:
    times = [100.0]
    pace, turns = Pace(lambda: times[-1]), []
    assert [pace.turn() for _ in range(500)] == [0] * 500
    for seconds in (3, 7, 5):
        pace.wait(seconds)
    for time_now in (100.0, 106.0, 108.0):
        times.append(time_now)
        turns.append(pace.turn())
    assert turns == [7, 1, 0]
    assert pace_of("openai:m", "a") is pace_of("openai:m", "a") is not pace_of("openai:m", "b")
    assert pace_of("openai:m", "a", ("key",)) is not pace_of("openai:m", "a")


Patch = pytest.MonkeyPatch

JSON = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
ADDRESSES = {"openai:local": "OPENAI_BASE_URL", "anthropic:claude-haiku-4-5": "ANTHROPIC_BASE_URL"}
ADDRESSES |= {"google_genai:gemini-2.5-flash": "GOOGLE_GEMINI_BASE_URL"}
MODELS = pytest.mark.parametrize(("model", "address"), ADDRESSES.items())


def test_work_that_is_given_up_ends_no_thread_that_others_wait_for() -> None:
    gate = threading.Event()
    given_up = deadline.started(gate.wait)
    given_up.cancel()
    gate.set()
    assert [deadline.within(5.0, lambda: 3) for _ in range(50)] == [3] * 50


PACKED = gzip.compress(b" " * 4_000_000)  # bounded by what it unpacks to
ENDLESS = {"": [b" " * 100_000] * 1_000, "Content-Encoding: gzip\r\n": [PACKED]}


@pytest.mark.parametrize("head", ENDLESS)
@MODELS
def test_a_reply_is_read_up_to_a_bound(monkeypatch: Patch, model: str, address: str, head: str) -> None:
    cut = threading.Event()

    def flood(connection: socket.socket) -> None:
        connection.sendall(f"{JSON}{head}\r\n".encode())
        try:
            for piece in ENDLESS[head]:
                connection.sendall(piece)
        except OSError:
            cut.set()

    monkeypatch.setattr(deadline, "MAX_REPLY_BYTES", 2_000_000)
    with talking(flood) as server:
        monkeypatch.setenv(address, server)
        with pytest.raises(ModelError, match=f"{model}: the reply is longer than 2 MB"):
            LLM.connect(model, api_key="k", retries=2).ask("hi")
        assert head or cut.wait(10)


@MODELS
def test_nobody_reads_on_after_the_timeout(monkeypatch: Patch, model: str, address: str) -> None:
    cut = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(f"{JSON}\r\n".encode())
        try:
            while not cut.wait(0.02):
                connection.sendall(b" ")
        except OSError:
            cut.set()

    with talking(drip) as server:
        monkeypatch.setenv(address, server)
        with pytest.raises(ModelError, match=r"did not answer in time$"):
            LLM.connect(model, api_key="k", timeout=0.2, retries=0).ask("hi")
        try:
            assert cut.wait(10)
            cut.clear()
            with pytest.raises(NoModel, match="no reply in time"):
                offered_models(server, seconds=0.3)
        finally:
            cut.set()


@pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")  # google-genai's, of aiohttp
@pytest.mark.parametrize("in_loop", [False, True])
@MODELS
def test_no_prompt_follows_a_redirect(monkeypatch: Patch, model: str, address: str, in_loop: bool) -> None:
    asked: list[socket.socket] = []
    with talking(asked.append) as other:
        head = f"HTTP/1.1 307 X\r\nLocation: {other}\r\nContent-Length: 0\r\n\r\n".encode()
        with talking(lambda connection: connection.sendall(head)) as server:
            monkeypatch.setenv(address, server)
            llm = LLM.connect(model, api_key="k", retries=0)
            with pytest.raises(ModelError):
                asyncio.run(llm.aask("The secret plan.")) if in_loop else llm.ask("The secret plan.")
    assert not asked

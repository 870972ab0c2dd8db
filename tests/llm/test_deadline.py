"""Nobody waits, or reads, without an end; and all calls of a model wait after a 429."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import time
from typing import Any

import pytest

from chameleon.errors import ModelError, NoModel
from chameleon.llm import LLM, deadline
from chameleon.llm.model_choice import offered_models
from chameleon.llm.pace import Pace, pace_of
from tests.llm.asking import Start, local, talking
from tests.loopback import Answer, Fault

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
PACKED = gzip.compress(b" " * 4_000_000)


def test_a_reply_that_drips_is_waited_for_no_longer_than_the_timeout() -> None:
    gone = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"Content-Length: 6000\r\n\r\n")
        try:
            while not gone.wait(0.02):
                connection.sendall(b" ")
        except OSError:
            gone.set()

    with talking(drip) as address:
        begun = time.monotonic()
        with pytest.raises(ModelError, match=r"did not answer in time$"):
            local(base_url=address, timeout=0.3).ask("hi")
        assert time.monotonic() - begun < 5
        assert gone.wait(10), "nobody reads on after the timeout"
        gone.clear()
        with pytest.raises(NoModel, match="no reply in time"):
            offered_models(address, seconds=0.3)
        assert time.monotonic() - begun < 15
        gone.set()


def test_work_that_is_given_up_ends_no_thread_that_others_wait_for() -> None:
    gate = threading.Event()
    given_up = deadline.started(gate.wait)
    given_up.cancel()
    gate.set()
    assert [deadline.within(5.0, lambda: 3) for _ in range(50)] == [3] * 50


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_reply_has_a_bound_also_unpacked(monkeypatch: pytest.MonkeyPatch, is_packed: bool) -> None:
    cut = threading.Event()

    def flood(connection: socket.socket) -> None:
        if is_packed:
            length = f"Content-Encoding: gzip\r\nContent-Length: {len(PACKED)}\r\n\r\n"
            return connection.sendall(HEAD + length.encode() + PACKED)
        connection.sendall(HEAD + b"\r\n")
        try:
            for _ in range(1_000):
                connection.sendall(b" " * 100_000)
        except OSError:
            cut.set()
        return None

    monkeypatch.setattr(deadline, "MAX_REPLY_BYTES", 2_000_000)
    with talking(flood) as server:
        with pytest.raises(ModelError, match="openai:local: the reply is longer than 2 MB"):
            local(base_url=server, retries=2).ask("hi")
        assert is_packed or cut.wait(10)


@pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")  # google-genai's, of aiohttp
@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("openai:local", "OPENAI_BASE_URL"),
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL"),
        ("google_genai:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL"),
    ],
)
def test_no_redirect_is_followed(
    monkeypatch: pytest.MonkeyPatch, model: str, address: str, in_loop: bool
) -> None:
    asked: list[socket.socket] = []
    with talking(asked.append) as other:
        head = f"HTTP/1.1 307 X\r\nLocation: {other}\r\nContent-Length: 0\r\n\r\n".encode()
        with talking(lambda connection: connection.sendall(head)) as server:
            monkeypatch.setenv(address, server)
            llm = LLM.connect(model, api_key="k", retries=0)
            with pytest.raises(ModelError):
                asyncio.run(llm.aask("The secret plan.")) if in_loop else llm.ask("The secret plan.")
    assert not asked


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


@pytest.mark.slow
@pytest.mark.parametrize("headers", [{"Retry-After": "0.4"}, {}])
def test_clients_of_one_model_wait_together(loopback: Start, headers: dict[str, str]) -> None:
    begun: list[float] = []
    lock, is_refused = threading.Lock(), threading.Event()

    def reply(request: dict[str, Any]) -> Answer:
        with lock:
            begun.append(time.monotonic())
            if len(begun) > 1:
                return "ok"
            is_refused.set()
            return Fault(429, headers=headers)

    loopback(reply)
    first, second = LLM.connect("openai:local"), LLM.connect("openai:local")
    asking = threading.Thread(target=first.ask, args=["hi"])
    asking.start()
    is_refused.wait(10)
    time.sleep(0.1)  # until the refusal is read
    assert second.ask("hi again").text == "ok"
    asking.join()
    assert min(begun[1:]) - begun[0] >= (0.4 if headers else 0.25)

"""Nobody waits, or reads, without an end; and nobody follows where a server sends a prompt on to."""

from __future__ import annotations

import asyncio
import gc
import gzip
import socket
import threading
import time
from contextlib import suppress

import pytest

from chameleon.errors import ModelError, NoModel
from chameleon.llm import LLM, deadline
from chameleon.llm.model_choice import offered_models
from tests.llm.asking import local, talking

MODELS = pytest.mark.parametrize(
    ("model", "address"),
    [
        ("openai:local", "OPENAI_BASE_URL"),
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL"),
        ("google_genai:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL"),
    ],
)


def drip(connection: socket.socket) -> None:
    """A byte each tenth of a second, for a minute at most."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 600\r\n\r\n")
    for _ in range(600):
        connection.sendall(b" ")
        time.sleep(0.1)


def test_a_reply_that_drips_is_waited_for_no_longer_than_the_timeout() -> None:
    with talking(drip) as address:
        begun = time.monotonic()
        with pytest.raises(ModelError, match="did not answer in time"):
            local(base_url=address, timeout=0.3).ask("hi")
        assert time.monotonic() - begun < 5
        with pytest.raises(NoModel, match="no reply in time"):
            offered_models(address, seconds=0.3)
        assert time.monotonic() - begun < 10


def test_work_that_is_given_up_ends_no_thread_that_others_wait_for() -> None:
    gate = threading.Event()
    given_up = deadline.started(gate.wait)
    given_up.cancel()
    gate.set()
    assert [deadline.within(5.0, lambda: 3) for _ in range(50)] == [3] * 50


def test_nothing_of_a_call_that_failed_is_kept() -> None:
    gone = threading.Event()

    class Failed(Exception):
        def __del__(self) -> None:
            gone.set()

    def fail() -> None:
        raise Failed

    gc.disable()
    try:
        with suppress(Failed):
            deadline.within(5.0, fail)
        assert gone.wait(10)
    finally:
        gc.enable()


@MODELS
def test_a_reply_without_an_end_is_read_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch, model: str, address: str
) -> None:
    cut = threading.Event()

    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        try:
            for _ in range(1_000):
                connection.sendall(b" " * 100_000)
        except OSError:
            cut.set()

    monkeypatch.setattr(deadline, "MAX_REPLY_BYTES", 2_000_000)
    with talking(flood) as server:
        monkeypatch.setenv(address, server)
        with pytest.raises(ModelError, match=f"{model}: the reply is longer than 2 MB"):
            LLM.connect(model, api_key="k", retries=2).ask("hi")
        assert cut.wait(10)


def test_a_packed_reply_is_bounded_by_what_it_unpacks_to(monkeypatch: pytest.MonkeyPatch) -> None:
    body = gzip.compress(b" " * 4_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    monkeypatch.setattr(deadline, "MAX_REPLY_BYTES", 2_000_000)
    send = talking(lambda connection: connection.sendall(head + body))
    with send as server, pytest.raises(ModelError, match="longer than 2 MB"):
        local(base_url=server).ask("hi")


@MODELS
def test_nobody_reads_on_after_the_timeout(monkeypatch: pytest.MonkeyPatch, model: str, address: str) -> None:
    cut = threading.Event()

    def pour(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        try:
            while not cut.wait(0.02):
                connection.sendall(b" ")
        except OSError:
            cut.set()

    with talking(pour) as server:
        monkeypatch.setenv(address, server)
        with pytest.raises(ModelError, match=r"did not answer in time$"):
            LLM.connect(model, api_key="k", timeout=0.2, retries=0).ask("hi")
        try:
            assert cut.wait(10)
        finally:
            cut.set()


@pytest.mark.filterwarnings("ignore:Inheritance class:DeprecationWarning")  # google-genai's, of aiohttp
@pytest.mark.parametrize("in_loop", [False, True])
@MODELS
def test_no_prompt_follows_a_redirect(
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

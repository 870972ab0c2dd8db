"""Nobody waits, or reads, without an end; and nobody follows where a server sends a prompt on to."""

from __future__ import annotations

import asyncio
import gc
import gzip
import socket
import threading
from contextlib import suppress

import pytest

from chameleon.errors import ModelError, NoModel
from chameleon.llm import LLM, deadline
from chameleon.llm.model_choice import offered_models
from tests.llm.asking import talking

Patch = pytest.MonkeyPatch

JSON = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
MODELS = pytest.mark.parametrize(
    ("model", "address"),
    [
        ("openai:local", "OPENAI_BASE_URL"),
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL"),
        ("google_genai:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL"),
    ],
)


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

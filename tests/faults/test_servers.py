"""Servers that break in every way, asked whole and in pieces: told in a line, or answered all the same."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chameleon.llm import LLM
from tests.e2e.commands import Command
from tests.faults.running import TABLE, WORDS, Case, asked_for, reply, told
from tests.local_server import JsonHandler, LocalServer
from tests.loopback import Answer, Fault, LoopbackServer

Start = Callable[..., LoopbackServer]
HASTY = "name: hasty\nextends: tabmwp_cot\nllm: {retries: 1, timeout: 0.4}\n"
WAYS = {"whole": (), "streamed": ("--stream",)}
streamed_or_not = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


class Raw(LocalServer):
    """A server that sends bytes of its own to whoever asks; `asked` counts the requests."""

    def __init__(self, send: Callable[[socket.socket, Raw], None]) -> None:
        super().__init__(_RawHandler)
        self.send, self.asked, self.stopped = send, 0, threading.Event()

    def stop(self) -> None:
        self.stopped.set()
        super().stop()


class _RawHandler(JsonHandler):
    owner: Raw

    def do_POST(self) -> None:
        self.body()
        self.owner.asked += 1
        self.close_connection = True
        with suppress(OSError):  # the client has gone
            self.owner.send(self.connection, self.owner)


OK = b"HTTP/1.1 200 OK\r\n"
EVENTS = OK + b"Content-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def piece(text: str) -> bytes:
    choices = [{"index": 0, "delta": {"content": text}, "finish_reason": None}]
    return b"data: " + json.dumps({"id": "1", "model": "local", "choices": choices}).encode() + b"\n\n"


def resets(client: socket.socket, _: Raw) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def resets_midway(client: socket.socket, server: Raw) -> None:
    client.sendall(EVENTS + piece("The answer"))
    server.stopped.wait(0.1)
    resets(client, server)


def cuts_off(client: socket.socket, _: Raw) -> None:
    client.sendall(EVENTS + piece("The answer is ")[:-30])


def cuts_the_body(client: socket.socket, _: Raw) -> None:
    client.sendall(OK + b'Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{"choices": [{')


def hangs(_: socket.socket, server: Raw) -> None:
    server.stopped.wait(20)


def hangs_midway(client: socket.socket, server: Raw) -> None:
    client.sendall(EVENTS + piece("The answer"))
    server.stopped.wait(20)


def drips(client: socket.socket, server: Raw) -> None:
    client.sendall(OK + b"Content-Type: application/json\r\n\r\n")
    while not server.stopped.wait(0.1):
        client.sendall(b" ")


def drips_pieces(client: socket.socket, server: Raw) -> None:
    client.sendall(EVENTS)
    while not server.stopped.wait(0.1):
        client.sendall(b": still there\n\n")


def floods(client: socket.socket, server: Raw) -> None:
    client.sendall(OK + b"Content-Type: application/json\r\n\r\n")
    while not server.stopped.wait(0.005):
        client.sendall(b" " * 65_536)


def floods_pieces(client: socket.socket, server: Raw) -> None:
    client.sendall(EVENTS)
    while not server.stopped.wait(0.005):
        client.sendall(piece("word " * 13_000))


def floods_a_line(client: socket.socket, server: Raw) -> None:
    client.sendall(EVENTS + b"data: ")
    while not server.stopped.wait(0.005):
        client.sendall(b"x" * 65_536)


def is_html(client: socket.socket, _: Raw) -> None:
    page = b"<html><body>Please sign in to the network</body></html>"
    client.sendall(OK + b"Content-Type: text/html\r\nConnection: close\r\n\r\n" + page)


def is_no_http(client: socket.socket, _: Raw) -> None:
    client.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")


BROKEN = (
    *(resets, resets_midway, cuts_off, cuts_the_body, hangs, hangs_midway, drips, drips_pieces),
    *(floods, floods_pieces, floods_a_line, is_html, is_no_http),
)


@pytest.fixture
def raw(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Raw]]:
    """Start a server that sends what it is told to; OPENAI_BASE_URL points to it."""
    servers: list[Raw] = []

    def start(send: Callable[[socket.socket, Raw], None]) -> Raw:
        servers.append(Raw(send))
        servers[-1].__enter__()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{servers[-1].port}/v1")
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.llm.pipeline.Pipeline._wait_before_retry", lambda *_: 0.01)


def question(place: Path, number: int = 7, inventory: str = HASTY) -> list[str]:
    (place / "inventory.yaml").write_text(inventory)
    (place / "table.csv").write_text(TABLE.replace(" | ", ","))
    asked = ["ask", f"What is number {number}?", "--table", str(place / "table.csv")]
    return [*asked, "--inventory", str(place / "inventory.yaml"), "--model", "openai:local"]


@pytest.mark.usefixtures("no_wait")
@streamed_or_not
@pytest.mark.parametrize("send", BROKEN)
def test_a_broken_server_ends_a_question_in_one_line(
    raw: Callable[..., Raw], command: Command, tmp_path: Path, send: Any, way: tuple[str, ...]
) -> None:
    server, begun = raw(send), time.monotonic()
    outcome = command(*question(tmp_path), "--store", "off", *way)
    assert "openai:local" in outcome.out + told_somewhere(outcome.out, outcome.err)
    assert outcome.code == 1 and time.monotonic() - begun < 20
    assert 1 <= server.asked <= 3, "once, and once more; in pieces the server may be asked without options"
    assert not outcome.out, "half a reply is none"


def told_somewhere(out: str, err: str) -> str:
    """Return what a question's failure is told by; neither stream has a traceback."""
    assert "Traceback" not in out + err and "a fault of ours" not in out + err, out + err
    assert "exception was never retrieved" not in err
    return err


@pytest.mark.usefixtures("no_wait")
@streamed_or_not
def test_what_passes_is_asked_again_until_the_answer_comes(
    loopback: Start, command: Command, tmp_path: Path, way: tuple[str, ...]
) -> None:
    faults: list[Answer] = [Fault(500), Fault(500), Fault(500)]
    server = loopback(lambda request: faults.pop() if faults else reply(request))
    asked = question(tmp_path, inventory=WORDS.replace("retries: 0", "retries: 3"))
    outcome = command(*asked, "--store", "off", *way)
    assert outcome.code == 0 and outcome.out == "1007\n" and len(server.requests) == 4


SOON = ["nan", "-5", "", "soon", "-inf", "Thu, 01 Jan 1970 00:00:00 GMT", "0x10", "1e-300", "\u00b2"]
LATE = ["1e9", "99999999999999999999", "Fri, 01 Jan 2100 00:00:00 GMT"]


@pytest.mark.parametrize("asked", SOON)
def test_an_odd_time_to_wait_is_as_good_as_none(
    loopback: Start, command: Command, tmp_path: Path, asked: str
) -> None:
    busy: list[Answer] = [Fault(429, headers={"Retry-After": asked})]
    server, begun = loopback(lambda request: busy.pop() if busy else reply(request)), time.monotonic()
    outcome = command(
        *question(tmp_path, inventory=HASTY.replace("timeout: 0.4", "timeout: 9")), "--store", "off"
    )
    assert outcome.code == 0 and outcome.out == "1007\n"
    assert len(server.requests) == 2 and time.monotonic() - begun < 20


@pytest.mark.parametrize("asked", LATE)
def test_a_long_time_to_wait_ends_with_the_runs_own(
    loopback: Start, command: Command, tmp_path: Path, asked: str
) -> None:
    server, begun = loopback([Fault(429, headers={"Retry-After": asked})]), time.monotonic()
    outcome = command(*question(tmp_path, inventory=f"{HASTY}budget: {{seconds: 1}}\n"), "--store", "off")
    told_somewhere(outcome.out, outcome.err)
    assert outcome.code == 1 and len(server.requests) == 1 and time.monotonic() - begun < 20


def test_a_reply_that_nobody_asked_for_answers_no_later_question() -> None:
    """It comes while the connection is idle: HTTP has no such reply, and the connection is of no use."""
    sent = threading.Event()

    def completion(text: str) -> bytes:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body = json.dumps({"id": "1", "model": "local", "object": "chat.completion", "choices": [choice]})
        head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return OK + head.encode() + body.encode()

    class Twice(_RawHandler):
        def do_POST(self) -> None:
            number = asked_for(self.body())
            with suppress(OSError):  # the client has gone
                self.connection.sendall(completion(f"right for {number}"))
                time.sleep(0.2)
                self.connection.sendall(completion("for somebody else"))
                sent.set()

    with LocalServer(Twice) as server:
        address = f"http://127.0.0.1:{server.port}/v1"
        llm = LLM.connect("openai:local", base_url=address, api_key="k", store=None, timeout=9)
        for number in range(3):
            sent.clear()
            assert llm.ask(f"What is number {number}?").text == f"right for {number}"
            assert sent.wait(20)
            time.sleep(0.1)


@pytest.mark.parametrize("kind", ["dies", "hangs"])
def test_an_evaluation_stops_with_its_server_and_goes_on_with_the_next(
    loopback: Start, command: Command, tmp_path: Path, kind: str
) -> None:
    case = Case(tmp_path, 16, WORDS.replace("retries: 0", "retries: 0, timeout: 0.5"))
    if kind == "dies":
        server = loopback(reply, dies_after=6)
    else:
        server = loopback(lambda request: reply(request) if asked_for(request) < 6 else Fault(delay=20))
    stopped = command(*case.arguments())
    if kind == "dies":
        assert "try" in told(stopped) and "Stopped after" in stopped.err
    right = [each for each in case.results if each["correct"]]
    assert len(right) == 6 and all(each["error"] for each in case.results if not each["correct"])
    asked = len(server.requests)
    server.stop()
    second = loopback(reply, port=server.port)
    assert command(*case.arguments("--retry-failed")).code == 0
    case.check()
    assert len(second.requests) == 10 and asked <= 6 + 16

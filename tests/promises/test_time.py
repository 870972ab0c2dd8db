"""Servers that break in every way, asked whole and in pieces: told in a line, or answered all the same."""

import json
import socket
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pytest import MonkeyPatch

from chameleon.llm import LLM
from tests.e2e.commands import Command
from tests.local_server import JsonHandler, LocalServer
from tests.loopback import Fault, Start
from tests.promises.running import ENTRIES, asked_for, ended, entered, question

HASTY = "name: hasty\nextends: tabmwp_cot\nllm: {retries: 1, timeout: 0.4}\n"
OK = b"HTTP/1.1 200 OK\r\n"
EVENTS = OK + b"Content-Type: text/event-stream\r\nConnection: close\r\n\r\n"
JSON = OK + b"Content-Type: application/json\r\n"
PAGE = b"Content-Type: text/html\r\nConnection: close\r\n\r\n<html>Please sign in to the network</html>"


def piece(text: str) -> bytes:
    choices = [{"index": 0, "delta": {"content": text}, "finish_reason": None}]
    return b"data: " + json.dumps({"id": "1", "model": "local", "choices": choices}).encode() + b"\n\n"


class Broken(NamedTuple):
    """What a server sends: bytes, then more of them again and again; at last it waits, or resets."""

    start: bytes = b""
    again: bytes = b""
    pause: float = 0.1
    waits: bool = False
    resets: bool = False

    def send(self, client: socket.socket, stopped: threading.Event) -> None:
        client.sendall(self.start)
        while self.again and not stopped.wait(self.pause):
            client.sendall(self.again)
        if self.waits:
            stopped.wait(20)
        if self.resets:
            stopped.wait(0.1)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()


HALF = EVENTS + piece("The answer")
BROKEN = {
    "resets": Broken(resets=True),
    "resets midway": Broken(HALF, resets=True),
    "cuts off": Broken(EVENTS + piece("The answer is ")[:-30]),
    "cuts the body": Broken(JSON + b'Content-Length: 900\r\n\r\n{"choices": [{'),
    "hangs": Broken(waits=True),
    "hangs midway": Broken(HALF, waits=True),
    "drips": Broken(JSON + b"\r\n", b" "),
    "drips pieces": Broken(EVENTS, b": still there\n\n"),
    "floods": Broken(JSON + b"\r\n", b" " * 65_536, 0.005),
    "floods pieces": Broken(EVENTS, piece("word " * 13_000), 0.005),
    "floods a line": Broken(EVENTS + b"data: ", b"x" * 65_536, 0.005),
    "is HTML": Broken(OK + PAGE),
    "is no HTTP": Broken(b"SSH-2.0-OpenSSH_9.6\r\n"),
}


@pytest.mark.parametrize("way", [(), ("--stream",)], ids=["whole", "streamed"])
@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_server_ends_a_question_in_one_line(
    command: Command, monkeypatch: MonkeyPatch, tmp_path: Path, broken: str, way: tuple[str, ...]
) -> None:
    monkeypatch.setattr("chameleon.llm.pipeline.Pipeline._wait_before_retry", lambda *_: 0.01)
    asked, stopped, begun = list[Any](), threading.Event(), time.monotonic()

    class Breaks(JsonHandler):
        def do_POST(self) -> None:
            asked.append(self.body())
            self.close_connection = True
            with suppress(OSError):  # the client has gone
                BROKEN[broken].send(self.connection, stopped)

    with LocalServer(Breaks) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.port}/v1")
        outcome = command(*question(tmp_path, "--store", "off", *way, inventory=HASTY))
        stopped.set()
    assert "openai:local" in outcome.err and "exception was never retrieved" not in outcome.err
    assert "Traceback" not in outcome.err and "a fault of ours" not in outcome.err and outcome.code == 1
    assert time.monotonic() - begun < 20 and not outcome.out, "half a reply is none"
    assert 1 <= len(asked) <= 3, "once, and once more; in pieces the server may be asked without options"


def test_a_long_time_to_wait_ends_with_the_run(loopback: Start, command: Command, tmp_path: Path) -> None:
    server, begun = loopback([Fault(429, headers={"Retry-After": "1e9"})]), time.monotonic()
    brief = f"{HASTY}budget: {{seconds: 1}}\n"
    outcome = command(*question(tmp_path, "--store", "off", inventory=brief))
    assert outcome.code == 1 and "Traceback" not in outcome.err and "a fault of ours" not in outcome.err
    assert len(server.requests) == 1 and time.monotonic() - begun < 50


def test_a_reply_that_nobody_asked_for_answers_no_later_question() -> None:
    """It comes while the connection is idle: HTTP has no such reply, and the connection is of no use."""
    sent = threading.Event()

    def completion(text: str) -> bytes:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body = json.dumps({"id": "1", "model": "local", "object": "chat.completion", "choices": [choice]})
        return JSON + f"Content-Length: {len(body)}\r\n\r\n{body}".encode()

    class Twice(JsonHandler):
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


@pytest.mark.parametrize("name", ENTRIES)
def test_each_entry_point_ends_in_time(loopback: Start, tmp_path: Path, name: str) -> None:
    loopback([Fault(drip=10_000)])
    begun = time.monotonic()
    with entered(name, tmp_path) as process:
        outcome = ended(process)
    assert "openai:local" in outcome.out + outcome.err and "Traceback" not in outcome.err, outcome
    assert outcome.code in (0, 1) and "1007" not in outcome.out and time.monotonic() - begun < 50

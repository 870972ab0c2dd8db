"""A real model server, `transformers serve`, over the models of `tiny_model.py`."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import command as command
from tests.local_server import JsonHandler, LocalServer

NEEDED = ("torch", "transformers", "accelerate", "fastapi", "uvicorn")
TINY_MODEL = Path(__file__).with_name("tiny_model.py")
UP_WITHIN_S, MOST_KILOBYTES = 90, 12_000_000
JSON = {"Content-Type": "application/json"}
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1", "OMP_NUM_THREADS": "1"}


class Server:
    """`transformers serve` on a port of its own, which can be killed and started again."""

    def __init__(self, cache: Path, output: Path) -> None:
        self.cache, self.output = cache, output
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process; `wait` until it answers."""
        command = [sys.executable, "-m", "transformers.cli.transformers", "serve", "--host", "127.0.0.1"]
        command += ["--port", str(self.port), "--device", "cpu", "--default-seed", "1"]
        bounded = ["sh", "-c", f'ulimit -v {MOST_KILOBYTES}; exec "$@"', "sh", *command]
        environment = {**os.environ, **OFFLINE, "HF_HUB_CACHE": str(self.cache)}
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                bounded, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
            )

    def wait(self) -> None:
        """Wait until the server answers; fail with its output where it does not."""
        until = time.monotonic() + UP_WITHIN_S
        while self.runs and time.monotonic() < until:
            with suppress(OSError, HTTPException), self.connection(5) as connection:
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            time.sleep(0.2)
        pytest.fail(f"the server did not come up:\n{self.output.read_text(errors='replace')[-3000:]}")

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def restart(self) -> None:
        """Start it on the same port, and wait until it answers."""
        self.start()
        self.wait()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to a chat request, as a plain HTTP client gets it."""
        with self.connection() as connection:
            connection.request("POST", "/v1/chat/completions", json.dumps(request), JSON)
            return dict(json.loads(connection.getresponse().read()))

    def connection(self, seconds: float = 60) -> closing[HTTPConnection]:
        return closing(HTTPConnection("127.0.0.1", self.port, timeout=seconds))


class Relay(LocalServer):
    """Notes the chat requests, and those that were answered, and kills the server at that of `kills_at`."""

    def __init__(self, server: Server) -> None:
        super().__init__(_Handler)
        self.server = server
        self.kills_at = 0
        self.requests: list[dict[str, Any]] = []
        self.answered: list[tuple[dict[str, Any], bytes]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def usage(self) -> tuple[int, int, int]:
        """How many replies the server gave, and the input and output tokens that it told of them."""
        lines = [reply.splitlines()[-1].removeprefix(b"data: ") for _, reply in self.answered]
        told = [json.loads(line)["usage"] for line in lines]  # of a reply that is whole or streamed
        asked, written = (sum(each[f"{kind}_tokens"] for each in told) for kind in ("prompt", "completion"))
        return len(told), asked, written


def require_server() -> None:
    """Skip the test, or the whole module, where the server is not installed."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        told = f"{', '.join(missing)} not installed (pip install 'transformers[serving]')"
        pytest.skip(told, allow_module_level=True)


def free_port() -> int:
    """A port that is free, and not among those that the system gives to outgoing connections."""
    while True:
        port = random.randrange(20_000, 30_000)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


class _Handler(JsonHandler):
    wbufsize = 0  # pieces pass as they come
    owner: Relay

    def do_GET(self) -> None:
        self._pass_on(None)

    def do_POST(self) -> None:
        self._pass_on(self.rfile.read(int(self.headers["Content-Length"])))

    def _pass_on(self, body: bytes | None) -> None:
        with suppress(OSError, HTTPException), self.owner.server.connection() as upstream:
            self.close_connection = True  # unless all goes well
            if body is not None:
                self._begin(json.loads(body))
            upstream.request(self.command, self.path, body, JSON)
            answer = upstream.getresponse()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            reply = b""
            # Of a reply whose length is known, `read` alone tells that it was cut.
            while piece := answer.read1(65_536) if answer.chunked else answer.read():
                self._send_chunk(piece)
                reply += piece
            if body is not None and answer.status == 200:
                with self.owner.lock:
                    self.owner.answered.append((json.loads(body), reply))
            self._send_chunk(b"")
            self.close_connection = False

    def _begin(self, request: dict[str, Any]) -> None:
        with self.owner.lock:
            self.owner.requests.append(request)
            number = len(self.owner.requests)
        if number == self.owner.kills_at:
            self.owner.server.kill()

    def _send_chunk(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server, running."""
    require_server()
    place = tmp_path_factory.mktemp("served")
    cache = place / "cache"
    cache.mkdir()
    server = Server(cache, place / "server.txt")
    try:
        server.start()  # it comes up while the models are made, and looks for them when asked
        make = [sys.executable, str(TINY_MODEL), str(cache)]
        subprocess.run(make, check=True, timeout=UP_WITHIN_S, env=os.environ | OFFLINE)
        server.wait()
        yield server
    finally:
        server.kill()


@pytest.fixture
def mortal(served: Server) -> Iterator[Server]:
    """The server, for a test that kills it; it runs again afterwards."""
    yield served
    if not served.runs:
        served.restart()


@pytest.fixture
def relay(served: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Relay]:
    """A relay before the server; OPENAI_BASE_URL points to it."""
    with Relay(served) as relay:
        monkeypatch.setenv("OPENAI_BASE_URL", relay.url)
        yield relay

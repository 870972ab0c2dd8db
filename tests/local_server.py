"""A server on this machine for tests, in a thread of its own."""

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeVar

Answer = TypeVar("Answer")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that go away midway are part of the tests."""


class LocalServer:
    """Serves HTTP on 127.0.0.1 by a class of handlers; `port` 0 is any free one."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        self._server = _Server(("127.0.0.1", port), type("Handler", (handler,), {"owner": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.stopped = threading.Event()  # ends every delay

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Close the listening socket; later connections are refused."""
        self.stopped.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class JsonHandler(BaseHTTPRequestHandler):
    """Answers in JSON for its `owner`, a `LocalServer`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    owner: Any

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the tests' output clean."""

    def body(self) -> Any:
        """Read the JSON of the request."""
        return json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))

    def lowered(self) -> dict[str, str]:
        """Return the headers of the request, their names in lower case."""
        return {name.lower(): value for name, value in self.headers.items()}

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the status and these headers."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def send(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        """Answer with these bytes, or with anything else as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        length = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        self.head(status, {**length, **(headers or {})})
        self.wfile.write(data)


def in_turn(answers: Sequence[Answer]) -> Callable[[Any], Answer]:
    """Give these answers in turn, and the last again and again."""
    lock, remaining = threading.Lock(), list(answers)

    def reply(asked: Any) -> Answer:
        with lock:
            return remaining.pop(0) if len(remaining) > 1 else remaining[0]

    return reply


@contextmanager
def serving(say: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve whatever `say` writes to each connection; give "host:port"."""

    def serve() -> None:
        while not ended.is_set():
            with suppress(OSError), listener.accept()[0] as connection:
                connection.recv(65_536)
                say(connection)

    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(1)  # before the number of this socket is free for the next server


def free_port() -> int:
    """Return a port of this machine that nothing listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def listening(command: Sequence[str], port: int, **options: Any) -> subprocess.Popen[bytes]:
    """Start a server in a process, and return it once it listens at the port."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    for _ in range(200):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    return process

"""Run an OpenAI-compatible server that replies after a fixed time, in a separate process.

    with ModelServer(seconds=0.2) as server:
        llm = LLM.connect("openai:local", base_url=server.url, api_key="k")

It only serves `POST …/chat/completions` and always gives the same reply. A fraction of a core is enough for
thousands of replies a second, so the client is measured, not the server.
"""

import asyncio
import json
import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

_COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "local",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "The answer is 42.", "refusal": None},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}
_BODY = json.dumps(_COMPLETION).encode()
_REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_BODY) + _BODY
)


class _Conversation(asyncio.Protocol):
    """One connection: counts the bytes of a request, and replies after the delay."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, blank, body = self.received.partition(b"\r\n\r\n")
        if not blank or len(body) < _length(head):
            return
        self.received = body[_length(head) :]
        asyncio.get_running_loop().call_later(self.seconds, self._reply)

    def _reply(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(_REPLY)


def _length(head: bytes) -> int:
    name = b"content-length:"
    found = (line for line in head.lower().split(b"\r\n") if line.startswith(name))
    return int(next(found, name + b"0")[len(name) :])


async def _serve(seconds: float, ready: Connection) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Conversation(seconds), "127.0.0.1", 0, backlog=1024)
    ready.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _run(seconds: float, ready: Connection, core: int | None) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})
    asyncio.run(_serve(seconds, ready))


class ModelServer:
    """The server. `url` is its base address, with /v1; `seconds` is the time per reply.

    While it runs, the server gets the last core and this process keeps to the others, on systems with several
    cores that support it.
    """

    def __init__(self, seconds: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._ready, theirs = context.Pipe()
        self._cores = os.sched_getaffinity(0) if sys.platform == "linux" else set()
        core = max(self._cores) if len(self._cores) > 1 else None
        self._others = self._cores - {core}
        self._process = context.Process(target=_run, args=(seconds, theirs, core), daemon=True)
        self.url = ""

    def __enter__(self) -> Self:
        self._process.start()
        self.url = f"http://127.0.0.1:{self._ready.recv()}/v1"
        if self._others:
            os.sched_setaffinity(0, self._others)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._others:
            os.sched_setaffinity(0, self._cores)
        self._process.terminate()
        self._process.join()

"""An OpenAI-compatible server on this machine, for tests of the real client over real sockets.

with LoopbackServer(lambda request: "echo") as server:   # a text, a `Reply`, a `Fault`, or a list of them
    llm = LLM.connect("openai:local", base_url=server.url, api_key="k")
    assert llm.ask("hello").text == "echo" and server.requests[0]["model"] == "local"
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.local_server import JsonHandler, LocalServer, in_turn


@dataclass(frozen=True)
class Reply:
    """A model's reply with more than its text. `usage` None leaves the usage out; `extra` goes into it."""

    text: str | None
    finish: str = "stop"
    delay: float = 0.0
    usage: tuple[int, int] | None = (11, 7)
    extra: Mapping[str, Any] = field(default_factory=dict)
    message: Mapping[str, Any] = field(default_factory=dict)
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong: an HTTP status with a body (a mapping becomes JSON), or worse.

    `broken_json`: half a JSON document; `drop`: the connection is closed midway; `drip`: so many bytes, one
    each tenth of a second; `delay`: seconds of silence before (longer than the client's timeout: a timeout).
    In the body, `{authorization}` is replaced by the request's Authorization header, as careless servers do.
    """

    status: int = 500
    body: Any = field(default_factory=lambda: {"error": {"message": "it broke", "type": "server_error"}})
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    broken_json: bool = False
    drop: bool = False
    drip: int = 0


Answer = str | Reply | Fault
ReplyFunction = Callable[[dict[str, Any]], Answer]


class LoopbackServer(LocalServer):
    """Serves `/v1/chat/completions` (whole and streamed) and `/v1/models` on 127.0.0.1.

    `models` is what the server lists; None makes the list a 404. `only_models` refuses other models. After
    `dies_after` requests it takes no more connections. `peak`: the most requests that were in work at once.
    """

    def __init__(
        self,
        reply: ReplyFunction | Sequence[Answer] = lambda request: "ok",
        *,
        models: Sequence[str] | None = ("local",),
        only_models: bool = False,
        dies_after: int | None = None,
        port: int = 0,
    ) -> None:
        super().__init__(_Handler, port)
        self._reply = reply if callable(reply) else in_turn(reply)
        self.models, self.only_models, self.dies_after = models, only_models, dies_after
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.model_lists = 0
        self.peak = 0
        self._working = 0
        self._lock = threading.Lock()
        self.stopped = threading.Event()  # ends every delay

    @property
    def url(self) -> str:
        """The base address, with /v1."""
        return f"http://127.0.0.1:{self.port}/v1"

    def stop(self) -> None:
        """Close the listening socket; later connections are refused."""
        self.stopped.set()
        super().stop()

    def answer(self, request: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        """Record a request and make up its answer."""
        with self._lock:
            self.requests.append(request)
            self.headers.append(dict(headers))
            self._working += 1
            self.peak = max(self.peak, self._working)
            dead = self.dies_after is not None and len(self.requests) > self.dies_after
        try:
            if dead:
                threading.Thread(target=self.stop, daemon=True).start()
                return Fault(drop=True)
            if self.only_models and request.get("model") not in (self.models or ()):
                message = f"The model `{request.get('model')}` does not exist"
                return Fault(404, {"error": {"message": message, "code": "model_not_found"}})
            answer = self._reply(request)
            if not isinstance(answer, str) and answer.delay:
                self.stopped.wait(answer.delay)
            return answer
        finally:
            with self._lock:
                self._working -= 1


Start = Callable[..., LoopbackServer]
"""The fixture `loopback`, which makes a server of these arguments."""


class _Handler(JsonHandler):
    owner: LoopbackServer

    def do_GET(self) -> None:
        if not self.path.endswith("/v1/models") or self.owner.models is None:
            return self.send(404, {"detail": "Not Found"})
        self.owner.model_lists += 1
        about = {"object": "model", "owned_by": "tests", "max_model_len": 4_096}
        listing = [{"id": name, **about} for name in self.owner.models]
        return self.send(200, {"object": "list", "data": listing})

    def do_POST(self) -> None:
        request = self.body()
        if not self.path.endswith("/v1/chat/completions"):
            return self.send(404, {"detail": "Not Found"})
        answer = self.owner.answer(request, self.lowered())
        if isinstance(answer, Fault):
            return self._fail(answer)
        reply = Reply(answer) if isinstance(answer, str) else answer
        if request.get("stream"):
            usage_wanted = (request.get("stream_options") or {}).get("include_usage")
            return self._stream(request, reply, bool(usage_wanted))
        return self.send(200, _completion(request, reply))

    def _fail(self, fault: Fault) -> None:
        if fault.drop:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "half')
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(2)
            return None
        if fault.drip:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(fault.drip + 1))
            self.end_headers()
            self.close_connection = True
            with suppress(OSError):  # the client has gone
                for _ in range(fault.drip):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    self.owner.stopped.wait(0.1)
            return None
        if fault.broken_json:
            return self.send(200, b'{"id": "x", "choices": [{"mess')
        body = fault.body if isinstance(fault.body, str) else json.dumps(fault.body)
        body = body.replace("{authorization}", self.headers.get("authorization", ""))
        return self.send(fault.status, body.encode(), fault.headers)

    def _stream(self, request: dict[str, Any], reply: Reply, usage_wanted: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        text = reply.text or ""
        pieces = [text[i : i + 8] for i in range(0, len(text), 8)]
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        if thoughts := reply.message.get("reasoning_content"):
            deltas += [{"reasoning_content": thoughts[i : i + 8]} for i in range(0, len(thoughts), 8)]
        deltas += [{"content": piece} for piece in pieces]
        for index, call in enumerate(reply.message.get("tool_calls", ())):
            args = call["function"]["arguments"]
            first = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
            rest = [
                {"index": index, "function": {"arguments": args[i : i + 5]}} for i in range(0, len(args), 5)
            ]
            deltas += [{"tool_calls": [piece]} for piece in (first, *rest)]
        for delta in deltas:
            self._event(_chunk(request, [{"index": 0, "delta": delta, "finish_reason": None}]))
        self._event(_chunk(request, [{"index": 0, "delta": {}, "finish_reason": reply.finish}]))
        if usage_wanted and reply.usage is not None:
            self._event({**_chunk(request, []), "usage": _usage(reply)})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, data: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")
        self.wfile.flush()


def _completion(request: dict[str, Any], reply: Reply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text, "refusal": None, **reply.message}
    completion: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request.get("model", "local"),
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
    }
    if reply.logprobs and request.get("logprobs"):
        tokens = [
            {"token": "x", "logprob": each, "bytes": None, "top_logprobs": []} for each in reply.logprobs
        ]
        completion["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    if reply.usage is not None:
        completion["usage"] = _usage(reply)
    return completion


def _chunk(request: dict[str, Any], choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": request.get("model", "local"),
        "choices": choices,
    }


def _usage(reply: Reply) -> dict[str, Any]:
    tokens_in, tokens_out = reply.usage or (0, 0)
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        **reply.extra,
    }

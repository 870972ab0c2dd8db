"""An OpenAI-compatible server on this machine, for tests of the real client over real sockets.

with LoopbackServer(lambda request: "echo") as server:   # a text, a `Reply`, a `Fault`, or a list of them
    llm = LLM.connect("openai:local", base_url=server.url, api_key="k")
    assert llm.ask("hello").text == "echo" and server.requests[0]["model"] == "local"
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.local_server import JsonHandler, LocalServer, in_turn

Json = dict[str, Any]


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
ReplyFunction = Callable[[Json], Answer]


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
        self.requests: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.model_lists = self.peak = self._working = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The base address, with /v1."""
        return f"{super().url}/v1"

    def answer(self, request: Json, headers: Mapping[str, str]) -> Answer:
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
        listed = [{"id": name, **about} for name in self.owner.models]
        return self.send(200, {"object": "list", "data": listed})

    def do_POST(self) -> None:
        request = self.body()
        if not self.path.endswith("/v1/chat/completions"):
            return self.send(404, {"detail": "Not Found"})
        answer = self.owner.answer(request, self.lowered())
        if isinstance(answer, Fault):
            return self._fail(answer)
        reply, model = Reply(answer) if isinstance(answer, str) else answer, request.get("model", "local")
        if request.get("stream"):
            self.head(200, {"Content-Type": "text/event-stream", "Connection": "close"})
            self.close_connection = True
            return self._write(f"data: {event}\n\n" for event in _events(request, reply, model))
        message = {"role": "assistant", "content": reply.text, "refusal": None, **reply.message}
        choice: Json = {"index": 0, "message": message, "finish_reason": reply.finish}
        if reply.logprobs and request.get("logprobs"):
            told = [{"token": "x", "logprob": p, "bytes": None, "top_logprobs": []} for p in reply.logprobs]
            choice["logprobs"] = {"content": told, "refusal": None}
        return self.send(200, chat_completion(model, [choice], **_usage(reply)))

    def _write(self, pieces: Iterator[str], pause: float = 0.0) -> None:
        with suppress(OSError):  # the client has gone
            for piece in pieces:
                self.wfile.write(piece.encode())
                self.wfile.flush()
                self.owner.stopped.wait(pause)

    def _fail(self, fault: Fault) -> None:
        if fault.drop or fault.drip:  # it promises more than comes
            self.head(200, {"Content-Type": "application/json", "Content-Length": "1000"})
            self.close_connection = True
            pieces = [" "] * fault.drip or ['{"id": "half']
            self._write(iter(pieces), 0.1 if fault.drip else 0.0)
            return self.connection.shutdown(2) if fault.drop else None
        if fault.broken_json:
            return self.send(200, b'{"id": "x", "choices": [{"mess')
        body = fault.body if isinstance(fault.body, str) else json.dumps(fault.body)
        body = body.replace("{authorization}", self.headers.get("authorization", ""))
        return self.send(fault.status, body.encode(), fault.headers)


def _events(request: Json, reply: Reply, model: str) -> Iterator[str]:
    """Yield what is streamed, in pieces of eight characters (five of arguments)."""

    def cut(text: str, size: int = 8) -> list[str]:
        return [text[i : i + size] for i in range(0, len(text), size)]

    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in cut(reply.message.get("reasoning_content", ""))]
    deltas += [{"content": piece} for piece in cut(reply.text or "")]
    for index, call in enumerate(reply.message.get("tool_calls", ())):
        first = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        rest = cut(call["function"]["arguments"], 5)
        parts = [first, *({"index": index, "function": {"arguments": piece}} for piece in rest)]
        deltas += [{"tool_calls": [part]} for part in parts]
    ends = [*({"delta": delta, "finish_reason": None} for delta in deltas)]
    for end in [*ends, {"delta": {}, "finish_reason": reply.finish}]:
        yield json.dumps(chat_completion(model, [{"index": 0, **end}], "chat.completion.chunk"))
    if (request.get("stream_options") or {}).get("include_usage") and reply.usage is not None:
        yield json.dumps(chat_completion(model, [], "chat.completion.chunk", **_usage(reply)))
    yield "[DONE]"


def _usage(reply: Reply) -> Json:
    return {} if reply.usage is None else {"usage": chat_usage(*reply.usage) | reply.extra}


def chat_completion(model: str, choices: Sequence[Json], kind: str = "chat.completion", **more: Any) -> Json:
    """Return a reply, or a chunk of one, as OpenAI's chat completions word it."""
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": model, "choices": choices, **more}


def chat_usage(read: int, written: int) -> Json:
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}

"""Requests of half the price: what runs ask is collected, sent as batches, and answered when they go on.

A run asks as ever. Where a reply is not there yet, its request is kept as the provider's client wrote it, and
`Awaited` stops the run; later it goes on from its log, makes the same requests, and finds their replies.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from chameleon.errors import ModelError
from chameleon.llm.deadline import speakers
from chameleon.llm.message import ModelRequest, Reply
from chameleon.llm.prices import Pricing, TokenCounts
from chameleon.text import estimated_tokens
from chameleon.usage import Call

Json = dict[str, Any]
PROVIDERS = ("openai", "anthropic")
HALF = 0.5
"""The share of its ordinary price that a request of a batch costs, at OpenAI as at Anthropic."""
_USUAL_REPLY = 1_000  # tokens, where nothing bounds the reply
_PROMPT = frozenset({"messages", "input", "system", "instructions", "prompt_cache_key"})
_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")


def require_batches(model: str) -> None:
    """Raise `ModelError` for a model of a provider that is not asked by batches."""
    if model.partition(":")[0] not in PROVIDERS:
        told = " and ".join(f"{provider}:" for provider in PROVIDERS)
        raise ModelError(
            f"{model} cannot be asked by batches", hint=f"Models of {told} can. Ask others without batches."
        )


class Awaited(BaseException):
    """A reply is not there yet: its run stops without an end, and goes on once the reply has come.

    No `Exception`, so that no module or planner takes it for a failure.
    """


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A request as it would have gone out, of the run `owner`, which pays for it.

    `key` names the request and `place` how many replies it had before; `samples` are the keys of all samples
    that it asks for; `call` is what the run's log knows it by; `form` tells its parameters apart; `cost` is
    the most that it may cost, in US dollars, None where prices are not known.
    """

    key: str
    place: int
    owner: str
    samples: tuple[str, ...]
    call: str
    form: str
    cost: float | None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Json = field(default_factory=dict)

    def to_json(self) -> Json:
        """Return what is kept of a request that was sent: neither its headers nor its prompt."""
        told = ("key", "place", "owner", "samples", "call", "form", "cost")
        return {name: getattr(self, name) for name in told}

    @classmethod
    def from_json(cls, data: Json) -> BatchRequest:
        """Read what `to_json` wrote. Raises TypeError for what is none."""
        return cls(**{**data, "samples": tuple(data["samples"])})


@dataclass(frozen=True, slots=True)
class BatchReply:
    """What came back for a request: an HTTP status, and the JSON that the ordinary API would have sent."""

    request: BatchRequest
    status: int
    body: Json


class BatchQueue:
    """The replies that came, by request in their order, and the requests that wait; safe to share."""

    def __init__(self) -> None:
        self.waiting: dict[str, BatchRequest] = {}
        self._replies: dict[str, list[BatchReply]] = {}
        self._keys_of: dict[str, dict[str, None]] = {}
        self._paid_by: dict[str, str] = {}
        self._booked: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def put(self, request: BatchRequest) -> None:
        """Let a request wait for the next batch; what several runs ask waits once."""
        with self._lock:
            self.waiting.setdefault(request.key, request)

    def reply(self, reply: BatchReply) -> None:
        """Take in what came back."""
        asked = reply.request
        with self._lock:
            before = self._replies.setdefault(asked.key, [])
            self._replies[asked.key] = [*before[: asked.place], reply]
            self._keys_of.setdefault(asked.owner, {})[asked.key] = None
            self._paid_by |= dict.fromkeys(asked.samples, asked.owner)
            self.waiting.pop(asked.key, None)

    def replies_to(self, key: str) -> Sequence[BatchReply]:
        """Return what came back for a request, in the order in which it was asked."""
        return self._replies.get(key, ())

    def payer(self, key: str) -> str | None:
        """Return the run that pays for a sample which came in a batch."""
        return self._paid_by.get(key)

    def book(self, owner: str, calls: Iterable[Call]) -> None:
        """Note the calls that are in a run's log by now; what failed there is asked anew if asked again."""
        for call in calls:
            named = _name_of(call)
            if call.error:
                self._forget_failures(owner, named)
            else:
                self._booked.add((owner, named))

    def take_back(self, owner: str) -> None:
        """Note that a run's failure was taken out of its log: that is asked anew, and all else is paid."""
        self._forget_failures(owner)
        for key in self._keys_of.get(owner, ()):
            asked = (each.request for each in self._replies[key])
            self._booked |= {(owner, each.call) for each in asked if each.owner == owner}

    def is_booked(self, owner: str, call: str) -> bool:
        """Tell whether a call is in the log of its run."""
        return (owner, call) in self._booked

    def _forget_failures(self, owner: str, call: str = "") -> None:
        with self._lock:
            for key in self._keys_of.get(owner, ()):
                found = self._replies[key]
                if found and found[0].request.owner == owner and call in ("", found[0].request.call):
                    good = [place for place, each in enumerate(found, 1) if each.status < 400]
                    self._replies[key] = found[: max(good, default=0)]

    def unbooked(self, done: Iterable[str] = ()) -> float:
        """Sum the most that replies may cost which came, and are in no log yet; not of runs that are done."""
        ended = frozenset(done)
        replies = [each for found in self._replies.values() for each in found if each.status < 400]
        asked = (each.request for each in replies)
        return sum(
            each.cost or 0.0
            for each in asked
            if each.owner not in ended and not self.is_booked(each.owner, each.call)
        )


@dataclass
class BatchedRun:
    """One run over the queue; `owner` names it."""

    queue: BatchQueue
    owner: str

    def holds(self, request: ModelRequest) -> bool:
        """Tell whether its reply came for this run and is in no log: then it is taken and paid for here."""
        if self.queue.payer(request.key) != self.owner:
            return False
        return not self.queue.is_booked(self.owner, _name_of(Reply("").to_call(request)))


_run: ContextVar[BatchedRun | None] = ContextVar("chameleon_batched_run", default=None)
_exchange: ContextVar[Exchange | None] = ContextVar("chameleon_exchange", default=None)


@contextmanager
def batching(queue: BatchQueue, owner: str) -> Iterator[BatchedRun]:
    """Answer what is asked in this context from the queue; the rest waits there."""
    token = _run.set(run := BatchedRun(queue, owner))
    try:
        yield run
    finally:
        _run.reset(token)


def current_run() -> BatchedRun | None:
    """Return the run of which requests go by batches; None where they are asked at once."""
    return _run.get()


def current_exchange() -> Exchange | None:
    """Return the exchange that is to answer a request; None where the server is asked."""
    return _exchange.get()


class Asking:
    """Asks one question by batches, as often as it must be: each time the next of its replies is taken."""

    def __init__(self, run: BatchedRun) -> None:
        self.run = run
        self._places: dict[str, int] = {}

    @contextmanager
    def exchange(self, requests: Sequence[ModelRequest], pricing: Pricing) -> Iterator[Exchange]:
        """Let the requests of provider clients in this context be answered here."""
        made = Exchange(self.run, requests, pricing, self._places)
        token = _exchange.set(made)
        try:
            yield made
        finally:
            _exchange.reset(token)


class Exchange:
    """Stands for the server while samples of one question are asked for in one request."""

    def __init__(
        self, run: BatchedRun, requests: Sequence[ModelRequest], pricing: Pricing, places: dict[str, int]
    ) -> None:
        self.run, self._requests, self._pricing, self._places = run, requests, pricing, places
        self.is_paid_here = True

    def answer(self, url: str, headers: Mapping[str, str], written: bytes) -> tuple[int, Json]:
        """Return status and JSON of the reply. Raises `Awaited` where there is none yet."""
        queue, owner = self.run.queue, self.run.owner
        body: Json = json.loads(written)
        body.pop("stream", None)
        parts = urlsplit(url)
        url = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()  # a login is a secret
        key, form = self._requests[0].key, _form_of(url, body, written)
        found, place = queue.replies_to(key), self._places.get(key, 0)
        # What was refused in another form says nothing of this one: it has been learned from.
        while place < len(found) and _is_refusal(found[place]) and found[place].request.form != form:
            place += 1
        self._places[key] = place + 1
        if place < len(found):
            asked = found[place].request
            self.is_paid_here = asked.owner == owner and not queue.is_booked(owner, asked.call)
            return found[place].status, found[place].body
        samples = tuple(each.key for each in self._requests)
        named = _name_of(Reply("").to_call(self._requests[0]))
        cost = _most_cost(body, written, self._pricing)
        queue.put(BatchRequest(key, place, owner, samples, named, form, cost, url, headers, body))
        raise Awaited


def _is_refusal(reply: BatchReply) -> bool:
    return reply.status in (400, 403, 413, 422)


def _name_of(call: Call) -> str:
    """Return what tells a call of a run's log apart, whatever came back."""
    asked = json.dumps([call.model, call.messages, call.params, call.sample], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:32]


def _form_of(url: str, body: Json, written: bytes) -> str:
    told = {name: value for name, value in body.items() if name not in _PROMPT}
    marks = ["prompt_cache_key" in body, b'"cache_control"' in written]
    form = json.dumps([url, told, marks], sort_keys=True)
    return hashlib.sha256(form.encode()).hexdigest()[:16]


def _most_cost(body: Json, written: bytes, pricing: Pricing) -> float | None:
    """Return what a request may cost, with a reply that is as long as its limit allows."""
    limits = [body[name] for name in _LIMITS if isinstance(body.get(name), int)]
    output = body.get("n", 1) * (limits[0] if limits else _USUAL_REPLY)
    return pricing.cost(TokenCounts(estimated_tokens(written.decode("utf-8", "replace")), output))


def listen(chat: Any) -> None:
    """Let the HTTP clients of a LangChain client ask the exchange of their context, where there is one."""
    for speaker in speakers(chat):
        if not hasattr(speaker, "aclose") and getattr(speaker.send, "func", None) is not _sent:
            speaker.send = partial(_sent, speaker.send)


def _sent(send: Callable[..., Any], request: Any, **named: Any) -> Any:
    """Return the response of httpx, or of the package of the same form that has made the request."""
    if (exchange := current_exchange()) is None:
        return send(request, **named)
    status, body = exchange.answer(str(request.url), dict(request.headers), request.content)
    package = sys.modules[type(request).__module__.partition(".")[0]]
    return package.Response(status, json=body, request=request)

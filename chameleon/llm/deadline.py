"""Stop waiting for a model in time, and stop reading a reply that is too long or that nobody waits for."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from functools import partial, reduce
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias, TypeVar, cast

from chameleon import bridge
from chameleon.errors import ModelError

MOST_BYTES = 32_000_000  # of a reply, unpacked: eight long samples with the probabilities of their tokens fit

_READS_UNTIL = ContextVar("_READS_UNTIL", default=math.inf)  # of the work in this context; monotonic clock
# Where LangChain's clients of OpenAI and its like, Anthropic and Google keep the client that speaks HTTP.
_HTTP_CLIENTS = (
    ("root_client", "_client"),
    ("_client", "_client"),
    ("client", "_api_client", "_httpx_client"),
)
_Tell: TypeAlias = Callable[[Any, BaseException | None], None]
_Works: TypeAlias = SimpleQueue[tuple[Callable[[], Any], _Tell]]
_IDLE: list[_Works] = []  # of the threads that wait for work: as many as were ever busy at once
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # threads are not copied
T = TypeVar("T")


class TooLate(TimeoutError):
    """The work is not done in time; it goes on without anybody waiting for it."""


class LongReply(ModelError):
    """A reply is longer than any that is of use."""


def within(seconds: float, work: Callable[[], T], *, reads: float | None = None) -> T:
    """Run the work in a thread, or bridged, and return its result.

    No provider's client can be stopped from outside, so the work is left to itself. It reads no more of a
    reply once `reads` seconds (by default as many) are over. Raises `TooLate`.
    """
    context = copy_context()
    context.run(_READS_UNTIL.set, time.monotonic() + (seconds if reads is None else reads))
    if bridge.is_bridged():
        try:
            return context.run(bridge.in_time, work, max(0.0, seconds))
        except TimeoutError:
            raise TooLate from None
    outcomes = SimpleQueue[tuple[Any, BaseException | None]]()
    _start(partial(context.run, work), lambda value, error: outcomes.put((value, error)))
    try:
        value, error = outcomes.get(timeout=min(max(0.0, seconds), threading.TIMEOUT_MAX / 2))
    except Empty:
        raise TooLate from None
    try:
        if error is not None:
            raise error
        return cast(T, value)
    finally:
        del error  # it holds this frame


def started(work: Callable[[], T]) -> Future[T]:
    """Start the work in a thread; none keeps the process from ending."""
    future = Future[T]()
    future.set_running_or_notify_cancel()  # who gives it up cannot cancel what a thread does

    def tell(value: T, error: BaseException | None) -> None:
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    _start(partial(copy_context().run, work), tell)
    return future


def _start(work: Callable[[], Any], tell: _Tell) -> None:
    """Hand the work to a thread that waits for some, or to a new one; tell its result or what it raised."""
    try:
        works = _IDLE.pop()
    except IndexError:
        works = SimpleQueue()
        threading.Thread(target=_worker, args=(works,), name="chameleon-call", daemon=True).start()
    works.put((work, tell))


def _worker(works: _Works) -> None:
    while True:
        work, tell = works.get()
        outcome: tuple[Any, BaseException | None]
        try:
            outcome = work(), None
        except BaseException as error:
            outcome = None, error
        _IDLE.append(works)  # before whoever waits for this starts the next
        tell(*outcome)
        del work, tell, outcome  # nothing of it is kept while the thread waits


def bound_replies(chat: Any) -> None:
    """Bound what the client's HTTP client reads of each reply, and have it follow no redirect.

    A prompt goes to the server that the user named, and to no other. What else is set of it (proxies, …)
    stays as it is. A client that keeps it elsewhere stays without a bound.
    """
    for path in _HTTP_CLIENTS:
        client = reduce(lambda owner, name: getattr(owner, name, None), path, chat)
        if not (hooks := getattr(client, "event_hooks", None)):
            continue
        client.follow_redirects = False
        if _watch not in hooks["response"]:  # clients of one address share it
            hooks["response"].append(_watch)


class ReplyBound:
    """Counts what is read of one reply, up to `MOST_BYTES`."""

    def __init__(self) -> None:
        self._left = MOST_BYTES

    def count(self, part: bytes) -> None:
        """Count a part. Raises `LongReply` where it is too much."""
        self._left -= len(part)
        if self._left < 0:
            raise LongReply(f"the reply is longer than {MOST_BYTES // 1_000_000} MB")


def _watch(response: Any) -> None:
    """Count what is read of a response of httpx, as it comes and unpacked."""

    def watched(read: Callable[..., Iterator[bytes]], *sizes: Any, **options: Any) -> Iterator[bytes]:
        bound, ends = ReplyBound(), _READS_UNTIL.get()
        for chunk in read(*sizes, **options):
            bound.count(chunk)
            if time.monotonic() > ends:
                raise TooLate
            yield chunk

    for name in ("iter_raw", "iter_bytes"):
        setattr(response, name, partial(watched, getattr(response, name)))

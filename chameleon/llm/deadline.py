"""Stop waiting for a model in time, stop reading a reply that is too long or late, and follow no redirect."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import partial, reduce
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

from chameleon import bridge
from chameleon.errors import ModelError

MAX_REPLY_BYTES = 32_000_000  # unpacked: eight long samples with the probabilities of their tokens fit

# Where LangChain's clients of OpenAI and its like, Anthropic and Google keep the client that speaks HTTP.
_HTTP_CLIENTS = (
    ("root_client", "_client"),
    ("_client", "_client"),
    ("client", "_api_client", "_httpx_client"),
)
T = TypeVar("T")
Jobs: TypeAlias = SimpleQueue[Callable[[], None]]
_IDLE: list[Jobs] = []  # of the threads that wait for work: a new one for each call costs 70 µs more
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # threads are not copied


class TooLate(TimeoutError):
    """The work is not done in time; it continues without anybody waiting for it."""


class LongReply(ModelError):
    """A reply is longer than any that is of use."""


class ReplyBound:
    """Counts what is read of one reply, up to `MAX_REPLY_BYTES`."""

    def __init__(self) -> None:
        self._left = MAX_REPLY_BYTES

    def count(self, part: bytes) -> None:
        """Count a part. Raises `LongReply` where it is too much."""
        self._left -= len(part)
        if self._left < 0:
            raise LongReply(f"the reply is longer than {MAX_REPLY_BYTES // 1_000_000} MB")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Run the work in a thread, or bridged, and return its result. Raises `TooLate`.

    No provider's client can be stopped from outside, so work that is late is left to itself.
    """
    if bridge.is_bridged():
        try:
            return bridge.in_time(work, max(0.0, seconds))
        except TimeoutError:
            raise TooLate from None
    future = started(work)
    wait([future], timeout=min(max(0.0, seconds), threading.TIMEOUT_MAX / 2))
    if not future.done():
        raise TooLate
    try:
        return future.result()
    finally:
        del future  # an error of its holds this frame


def started(work: Callable[[], T]) -> Future[T]:
    """Start the work in a thread that does not keep the process from ending."""
    future, context = Future[T](), copy_context()
    future.set_running_or_notify_cancel()  # who gives it up cannot cancel what a thread does

    def job(made: Future[T]) -> None:
        try:
            finish: Callable[[], None] = partial(made.set_result, context.run(work))
        except BaseException as error:
            finish = partial(made.set_exception, error)
        _IDLE.append(jobs)  # before the caller wakes up: its next call uses this thread again
        finish()
        del made, finish  # an error holds this frame

    try:
        jobs = _IDLE.pop()
    except IndexError:
        jobs = SimpleQueue()
        threading.Thread(target=_run_jobs, args=(jobs,), name="chameleon-call", daemon=True).start()
    jobs.put(partial(job, future))
    return future


def _run_jobs(jobs: Jobs) -> None:
    while True:
        jobs.get()()


def bound_replies(chat: Any) -> None:
    """Bound what the client's HTTP client reads of each reply, and have it follow no redirect.

    A prompt goes to no server but the one named. A client that keeps it elsewhere stays as it is.
    """
    for path in _HTTP_CLIENTS:
        client = reduce(lambda owner, name: getattr(owner, name, None), path, chat)
        if hooks := getattr(client, "event_hooks", None):
            client.follow_redirects = False
            if _watch not in hooks["response"]:  # clients of one address share it
                hooks["response"].append(_watch)


def _watch(response: Any) -> None:
    """Bound what is read of a response of httpx, unpacked, and for how long: the client's timeout."""
    seconds = response.request.extensions.get("timeout", {}).get("read")
    ends = math.inf if seconds is None else time.monotonic() + seconds

    def watched(read: Callable[..., Iterator[bytes]], *sizes: Any, **options: Any) -> Iterator[bytes]:
        bound = ReplyBound()
        for chunk in read(*sizes, **options):
            bound.count(chunk)
            if time.monotonic() > ends:
                raise TooLate
            yield chunk

    for name in ("iter_raw", "iter_bytes"):
        setattr(response, name, partial(watched, getattr(response, name)))

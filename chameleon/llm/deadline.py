"""Stop waiting for a model after its timeout, limit long or late replies, and follow no redirects."""

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

MAX_REPLY_BYTES = 32_000_000  # decompressed: enough for eight long samples with token probabilities

# The HTTP client inside LangChain's clients of OpenAI and compatible servers, Anthropic and Google.
_HTTP_CLIENTS = (
    ("root_client", "_client"),
    ("_client", "_client"),
    ("client", "_api_client", "_httpx_client"),
)
T = TypeVar("T")
Jobs: TypeAlias = SimpleQueue[Callable[[], None]]
_IDLE: list[Jobs] = []  # of idle threads: a new thread per call costs 70 µs more
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # threads are not forked


class TooLate(TimeoutError):
    """The work did not finish in time; it continues, but nobody waits for it."""


class LongReply(ModelError):
    """A reply is longer than any useful one."""


class ReplyBound:
    """Counts the bytes read of one reply, up to `MAX_REPLY_BYTES`."""

    def __init__(self) -> None:
        self._left = MAX_REPLY_BYTES

    def count(self, part: bytes) -> None:
        """Count a part. Raises `LongReply` above the limit."""
        self._left -= len(part)
        if self._left < 0:
            raise LongReply(f"the reply is longer than {MAX_REPLY_BYTES // 1_000_000} MB")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Run the work in a thread, or bridged, and return its result. Raises `TooLate`.

    No provider's client can be stopped from outside, so late work is left running.
    """
    if bridge.is_bridged():
        try:
            return bridge.in_time(work, max(0.0, seconds))
        except TimeoutError:
            raise TooLate from None
    future = started(work)
    wait([future], timeout=min(max(0.0, seconds), threading.TIMEOUT_MAX / 2))  # `seconds` may be
    if not future.done():
        raise TooLate
    try:
        return future.result()
    finally:
        del future  # its error would hold this frame


def started(work: Callable[[], T]) -> Future[T]:
    """Start the work in a thread that does not keep the process alive."""
    future, context = Future[T](), copy_context()
    future.set_running_or_notify_cancel()  # a caller that gives up cannot cancel the thread's work

    def job(outcome: Future[T]) -> None:
        try:
            finish: Callable[[], None] = partial(outcome.set_result, context.run(work))
        except BaseException as error:
            finish = partial(outcome.set_exception, error)
        _IDLE.append(jobs)  # before the caller wakes up, so its next call reuses this thread
        finish()
        del outcome, finish  # an error would hold this frame

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
    """Limit what the client's HTTP client reads of each reply, and make it follow no redirects.

    A prompt must go only to the configured server. A client that keeps it elsewhere is unchanged.
    """
    for path in _HTTP_CLIENTS:
        client = reduce(lambda owner, name: getattr(owner, name, None), path, chat)
        if hooks := getattr(client, "event_hooks", None):
            client.follow_redirects = False
            if _watch not in hooks["response"]:  # clients of one address share their HTTP client
                hooks["response"].append(_watch)


def _watch(response: Any) -> None:
    """Limit the decompressed bytes read from an httpx response, and the time: the client's timeout."""
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

"""Stop waiting for a model in time, bound what is read of a reply, and follow no redirect."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import reduce
from typing import Any, TypeVar

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
    return future.result()


def started(work: Callable[[], T]) -> Future[T]:
    """Start the work in a thread of its own, which does not keep the process from ending."""
    future, context = Future[T](), copy_context()
    future.set_running_or_notify_cancel()  # who gives it up cannot cancel what a thread does

    def run() -> None:
        try:
            result = context.run(work)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="chameleon-call", daemon=True).start()
    return future


def refuse_redirects(chat: Any) -> None:
    """Have the client's HTTP client follow no redirect: a prompt goes to no server but the one named.

    A client that keeps it elsewhere stays as it is.
    """
    for path in _HTTP_CLIENTS:
        client = reduce(lambda owner, name: getattr(owner, name, None), path, chat)
        if hasattr(client, "follow_redirects"):
            client.follow_redirects = False

"""Stop reading a server's reply when it is too long, or when nobody waits for it any more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any

from chameleon.errors import ModelError
from chameleon.llm.deadline import DEADLINE, TooLate

MOST_BYTES = 32_000_000  # of a reply, unpacked: eight long samples with the probabilities of their tokens fit
# Where LangChain's clients of OpenAI and its like, Anthropic and Google keep the client that speaks HTTP.
_SPEAKERS = (("root_client", "_client"), ("_client", "_client"), ("client", "_api_client", "_httpx_client"))


class LongReply(ModelError):
    """A reply is longer than any that is of use."""


def bound_replies(chat: Any) -> None:
    """Bound what the client's HTTP client reads of each reply; what is set of it (proxies, …) stays as it is.

    A client that keeps it elsewhere stays without a bound.
    """
    for path in _SPEAKERS:
        speaker = reduce(lambda held, name: getattr(held, name, None), path, chat)
        hooks = getattr(speaker, "event_hooks", None)
        if hooks and _watch not in hooks["response"]:  # clients of one address share it
            hooks["response"].append(_watch)


def _watch(response: Any) -> None:
    """Count what is read of a response of httpx, as it comes and unpacked."""
    for name in ("iter_raw", "iter_bytes"):
        setattr(response, name, partial(_watched, getattr(response, name)))


def _watched(read: Callable[..., Iterator[bytes]], *sizes: Any, **named: Any) -> Iterator[bytes]:
    left, ends = MOST_BYTES, DEADLINE.get()
    for chunk in read(*sizes, **named):
        left -= len(chunk)
        if left < 0:
            raise LongReply(f"the reply is longer than {MOST_BYTES // 1_000_000} MB")
        if time.monotonic() > ends:
            raise TooLate
        yield chunk

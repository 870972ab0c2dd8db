"""Find the part that prompts share, so that a provider can keep it: what it has read before costs less."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from chameleon.text import shared_start

LEAST = 4_096
"""The fewest characters that are worth keeping: providers keep no less than 1,024 tokens."""
_MOST_FAMILIES = 64

Messages = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of a prompt: a name for it, and how much of it earlier prompts had as well.

    `length` is in characters of the messages' texts, one after the other; 0 until a second prompt came.
    """

    name: str
    length: int = 0


class Prefixes:
    """Remembers how the prompts of a connection begin; safe to use from many threads.

    Prompts that share their first `LEAST` characters are one family: the demonstrations of one module.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[str, int]] = OrderedDict()  # the last text, and what all shared

    def of(self, messages: Messages) -> Prefix | None:
        """Return the prefix of a prompt; None for one that is too short to be kept."""
        text = "".join(text for _, text in messages)
        if len(text) < LEAST:
            return None
        name = hashlib.sha256(text[:LEAST].encode()).hexdigest()[:16]
        with self._lock:
            before, shared = self._seen.pop(name, (text, 0))
            found = shared_start(before, text)
            # The same prompt again, as for another sample, says nothing of what other prompts share.
            length = shared if before == text else min(shared or found, found)
            self._seen[name] = (text, length)
            if len(self._seen) > _MOST_FAMILIES:
                self._seen.popitem(last=False)
        return Prefix(name, length)


def split_at(messages: Messages, length: int) -> tuple[int, int]:
    """Find the message in which the first `length` characters end, and where in it."""
    for number, (_, text) in enumerate(messages):
        if length <= len(text):
            return number, length
        length -= len(text)
    return len(messages) - 1, len(messages[-1][1])

"""Find the part that prompts share, so that a provider can cache it: what it has read before costs less."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from chameleon.text import shared_start

MIN_CHARS = 4_096
"""The fewest characters that are worth caching: providers cache no less than 1,024 tokens."""
_MAX_FAMILIES = 64

Messages = Sequence[tuple[str, str]]


class Prefixes:
    """Remembers how the prompts of a connection begin; safe to use from many threads.

    Prompts that share their first `MIN_CHARS` characters are one family: the demonstrations of one module.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shared: dict[str, str] = {}  # of each family, the last to be asked last

    def shared_length(self, messages: Messages) -> int:
        """Count the characters that earlier prompts of the family share with this one; 0 for the first."""
        text = "".join(text for _, text in messages)
        if len(text) < MIN_CHARS:
            return 0
        with self._lock:
            before = self._shared.pop(text[:MIN_CHARS], text)
            length = shared_start(before, text)
            self._shared[text[:MIN_CHARS]] = text[:length]
            if len(self._shared) > _MAX_FAMILIES:
                del self._shared[next(iter(self._shared))]
        # The same prompt again, as for another sample, says nothing of what other prompts share.
        return 0 if before == text else length


def split_at(messages: Messages, length: int) -> tuple[int, int]:
    """Find the message in which the first `length` characters end, and where in it."""
    for number, (_, text) in enumerate(messages):
        if length <= len(text):
            return number, length
        length -= len(text)
    return len(messages) - 1, len(messages[-1][1])

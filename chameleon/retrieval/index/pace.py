"""When a segment is full, so that a build which dies loses little of what was slow to make."""

from __future__ import annotations

import time
from collections import deque

SECONDS = 10.0
"""About so long takes what is in no segment yet."""

_FIRST, _GROWTH = 16, 4


class Pace:
    """A segment is due with `most` documents, or after `SECONDS`.

    Where parts are `slow`, the time that the last segment took tells how many documents the next may have;
    the first has few.
    """

    def __init__(self, most: int, *, slow: bool) -> None:
        self._most, self._slow = most, slow
        self._size = min(most, _FIRST) if slow else most
        self._begun: deque[tuple[int, float]] = deque()
        self._last = time.monotonic()

    def is_due(self, documents: int) -> bool:
        """Whether so many documents are a segment."""
        return documents >= self._size or time.monotonic() - self._last >= SECONDS

    def begins(self, documents: int) -> None:
        """A segment of so many is about to be written."""
        self._begun.append((documents, time.monotonic()))

    def ends(self) -> None:
        """The first of those that are being written is on the disk."""
        documents, begun = self._begun.popleft()
        self._last = time.monotonic()
        if self._slow:
            fitting = int(documents * SECONDS / max(self._last - begun, 1e-3))
            self._size = max(1, min(self._most, _GROWTH * documents, fitting))

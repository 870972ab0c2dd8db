"""Let one request go first where nobody knows yet whether a model takes its parameters."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE_S = 2.0  # a server refuses at once: who has not been refused by then is being answered


class Probe:
    """Keeps many requests at once from being refused for the same reason.

    The first request with names that no request has succeeded with goes ahead; others with unproven names
    wait for its end, two seconds at most.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._proven: frozenset[str] = frozenset()
        self._first: threading.Event | None = None

    @contextmanager
    def turn(self, names: frozenset[str]) -> Iterator[None]:
        """Wait for one's turn; the names are proven where the block ends without an exception."""
        mine = None if names <= self._proven else self._wait(names)
        try:
            yield
            if not names <= self._proven:
                with self._lock:
                    self._proven |= names
        finally:
            if mine is not None:
                with self._lock:
                    self._first = None
                mine.set()

    def _wait(self, names: frozenset[str]) -> threading.Event | None:
        """Wait until the names are proven or nobody is ahead; the event of who goes first now."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            with self._lock:
                ahead = self._first
                if names <= self._proven:
                    return None
                if ahead is None:
                    self._first = threading.Event()
                    return self._first
            if not ahead.wait(max(until - time.monotonic(), 0)):
                return None

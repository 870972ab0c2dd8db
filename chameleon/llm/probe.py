"""Let one request go first where nobody knows yet whether a model takes its parameters."""

from __future__ import annotations

import threading
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
        if names <= self._proven:
            yield
            return
        with self._lock:
            ahead = self._first
            mine = threading.Event() if ahead is None else None
            self._first = self._first or mine
        if ahead is not None:
            ahead.wait(_PATIENCE_S)
        try:
            yield
            with self._lock:
                self._proven |= names
        finally:
            if mine is not None:
                with self._lock:
                    self._first = None
                mine.set()

"""Ask one host no oftener than it likes, however many threads ask."""

from __future__ import annotations

import threading
import time


class Pace:
    """Gives out turns for each host, at least so many seconds apart."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def turn(self, host: str, spacing: float) -> float:
        """Take the next turn at this host; return the seconds to wait until it comes.

        `spacing` is the least number of seconds between this turn and the next. The wait is left to the
        caller, so that nobody sleeps while holding the lock.
        """
        with self._lock:
            now = time.monotonic()
            begins = max(now, self._next.get(host, now))
            self._next[host] = begins + spacing
            return begins - now

    def delay(self, host: str, seconds: float) -> None:
        """Let nobody ask this host before so many seconds have passed: it asked for that."""
        with self._lock:
            later = time.monotonic() + seconds
            self._next[host] = max(later, self._next.get(host, later))


SHARED_PACE = Pace()
"""Of this process: a host counts all requests of one machine, whichever module makes them."""

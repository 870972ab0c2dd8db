"""How fast one model is asked: all calls of a process slow down together after a 429, and speed up again."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import cache

WINDOW_S = 10.0  # over which the rate is measured that was too much
DOUBLING_S = 10.0  # in which the rate doubles again while replies come
PAUSE_S = 2.0  # between two times that it is halved
MIN_RATE = 1.0  # requests a second: a model is asked so often whatever it says


class Pace:
    """Limits how often a model is asked, in any thread; `rate` is the most requests a second, or infinite."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._started: deque[float] = deque(maxlen=1_000)
        self.rate = self._too_much = math.inf
        self._next = self._slowed = self._raised = -math.inf

    def turn(self) -> float:
        """Take a turn and return 0; or return the seconds after which to try for one again."""
        with self._lock:
            now = self._clock()
            if self._next > now:
                return self._next - now
            self._started.append(now)
            self._next = now + 1 / self.rate
            return 0.0

    def slow_down(self, started: float) -> None:
        """Halve the rate after a 429 of a request started then; refusals of one moment count as one."""
        with self._lock:
            now = self._clock()
            if started < self._slowed or now - self._slowed < PAUSE_S:
                return
            recent = [each for each in self._started if now - WINDOW_S < each]
            measured = len(recent) / max(now - min(recent, default=now), 1.0)
            self._too_much = max(min(self.rate, measured), 2 * MIN_RATE)
            self.rate = self._too_much / 2
            self._slowed = self._raised = now
            self._next = max(self._next, now + 1 / self.rate)

    def wait(self, seconds: float) -> None:
        """Let nobody start for so long: the server has asked for it."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)

    def speed_up(self) -> None:
        """Raise the rate after a reply, up to no limit at twice the rate that was too much."""
        if self.rate == math.inf:
            return
        with self._lock:
            now = self._clock()
            self.rate *= 2 ** ((now - self._raised) / DOUBLING_S)
            self._raised = now
            if self.rate >= 2 * self._too_much:
                self.rate = self._too_much = math.inf


@cache
def pace_of(model: str, address: str, account: tuple[str, ...] = ()) -> Pace:
    """Return the pace of a model at an address, for whoever holds these secrets; one for the process."""
    return Pace()

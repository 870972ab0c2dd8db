"""How fast one model is asked: all calls of a process slow down together after a 429, and speed up again."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import cache

_WINDOW_S = 10.0  # over which the rate is measured that was too much
_DOUBLES_S = 10.0  # in which the rate doubles again while replies come
_PAUSE_S = 2.0  # between two times that it is halved
_LEAST = 1.0  # requests a second: a model is asked so often whatever it says


class Pace:
    """The most requests a second that a model is asked, no limit until it says that they are too many.

    Safe to use from many threads; `clock` tells seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._begun: deque[float] = deque(maxlen=1_000)
        self._rate = self._too_much = math.inf
        self._next = self._closed = self._slowed = self._raised = -math.inf

    @property
    def rate(self) -> float:
        """Return the requests a second that are made at most; infinite where there is no limit."""
        return self._rate

    def turn(self) -> float:
        """Take a turn: return 0; or the seconds after which to ask for one again."""
        with self._lock:
            now = self._clock()
            if (until := max(self._closed, self._next)) > now:
                return until - now
            self._begun.append(now)
            self._next = now + 1 / self._rate
            return 0.0

    def slow_down(self, begun: float) -> None:
        """Halve the rate after a 429 of a request begun then; refusals of one moment count as one."""
        with self._lock:
            now = self._clock()
            if begun < self._slowed or now - self._slowed < _PAUSE_S:
                return
            recent = [each for each in self._begun if now - _WINDOW_S < each <= now]
            measured = len(recent) / max(now - min(recent, default=now), 1.0)
            self._too_much = max(min(self._rate, measured), 2 * _LEAST)
            self._rate = self._too_much / 2
            self._slowed = self._raised = now
            self._next = now + 1 / self._rate

    def wait(self, seconds: float) -> None:
        """Let nobody begin for so long: the server has asked for it."""
        with self._lock:
            self._closed = max(self._closed, self._clock() + seconds)

    def speed_up(self) -> None:
        """Raise the rate after a reply, up to no limit at twice the rate that was too much."""
        if self._rate == math.inf:
            return
        with self._lock:
            now = self._clock()
            self._rate *= 2 ** ((now - self._raised) / _DOUBLES_S)
            self._raised = now
            if self._rate >= 2 * self._too_much:
                self._rate = self._too_much = math.inf
                self._next = -math.inf


@cache
def pace_of(model: str, address: str, account: tuple[str, ...] = ()) -> Pace:
    """Return the pace of a model at an address, for whoever holds these secrets; one for the process."""
    return Pace()

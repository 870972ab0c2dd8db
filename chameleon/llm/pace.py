"""When a model may be asked again: after a 429, all calls of a process wait."""

import math
import threading
import time
from collections.abc import Callable
from functools import cache


class Pace:
    """Holds back the calls of one model, in any thread, until a wait is over."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._next = -math.inf

    def turn(self) -> float:
        """Return the seconds after which the model may be asked; 0 for now."""
        with self._lock:
            return max(0.0, self._next - self._clock())

    def wait(self, seconds: float) -> None:
        """Hold back calls for this long; a longer wait that has already started stays."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)


@cache
def pace_of(model: str, address: str, account: tuple[str, ...] = ()) -> Pace:
    """Return the pace of a model at an address and account, shared by the process."""
    return Pace()

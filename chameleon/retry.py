"""Try again where that can help, and no oftener."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often and how long apart a failed request is made again.

    The wait doubles from `first` to `longest` seconds, each time a random part of it between a half and the
    whole, so that many callers do not come back at once. A provider's Retry-After is honoured up to
    `longest_asked` seconds.
    """

    retries: int = 6
    first: float = 0.5
    longest: float = 30.0
    longest_asked: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random

    def wait(self, attempt: int, asked: float | None = None) -> float:
        """Return the seconds to wait after the given attempt (counted from 1)."""
        doubled = min(self.longest, self.first * 2.0 ** min(attempt - 1, 60))
        jittered = doubled * (0.5 + 0.5 * self.chance())
        return jittered if asked is None else min(max(asked, jittered), self.longest_asked)

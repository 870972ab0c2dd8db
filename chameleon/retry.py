"""Try again where that can help, and no oftener."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from chameleon.errors import ModelError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """What a failed request amounts to: the error to raise, whether trying again may help, when, and why."""

    error: ModelError
    retryable: bool = False
    retry_after: float | None = None
    reason: str = ""


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

    def run(
        self,
        request: Callable[[], T],
        classify: Callable[[Exception], Failure],
        patience: Callable[[], float] | None = None,
        notice: Callable[[Failure], None] | None = None,
    ) -> tuple[T, int]:
        """Make the request until it succeeds; return its result and the number of attempts.

        `patience` tells how many seconds are left; a wait that would outlast them is not begun. `notice`
        hears of the first failure that is tried again. Raises `GaveUp` with the last failure.
        """
        attempt = 1
        while True:
            try:
                return request(), attempt
            except Exception as error:
                failure = classify(error)
            wait = self.wait(attempt, failure.retry_after)
            hopeless = not failure.retryable or attempt > self.retries
            if hopeless or (patience is not None and wait >= patience()):
                # From None: the provider's own exception may quote the request's headers.
                raise GaveUp(failure.error, attempt) from None
            if notice is not None and attempt == 1:
                notice(failure)
            self.sleep(wait)
            attempt += 1

    def wait(self, attempt: int, asked: float | None = None) -> float:
        """Seconds to wait after the given attempt (counted from 1)."""
        doubled = min(self.longest, self.first * 2.0 ** min(attempt - 1, 60))
        jittered = doubled * (0.5 + 0.5 * self.chance())
        return jittered if asked is None else min(max(asked, jittered), self.longest_asked)


class GaveUp(Exception):
    """Carries the final error and the number of attempts that were made."""

    def __init__(self, error: ModelError, attempts: int) -> None:
        super().__init__(str(error))
        self.error, self.attempts = error, attempts

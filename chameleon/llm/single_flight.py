"""The same question in flight twice is asked once."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class WaitedTooLong(Exception):
    """Somebody else's work took longer than this caller could wait."""


class Flight(Generic[T]):
    """One piece of work; `result` is None until somebody has done it."""

    def __init__(self) -> None:
        self.result: T | None = None
        self.landed = threading.Event()


class SingleFlight(Generic[T]):
    """Lets one caller per key do the work at a time; whoever comes meanwhile shares the result."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[str, Flight[T]] = {}

    @contextmanager
    def join(self, key: str, until: float = math.inf) -> Iterator[Flight[T]]:
        """Hold the flight of `key`: with a result that somebody else came to, or to be given one.

        Where it is given none, because the work failed or its result is its owner's alone, the next one who
        waits does the work.

        Args:
            until: the time, by the monotonic clock, up to which to wait for somebody else.

        Raises:
            WaitedTooLong: The time came first.
        """
        while True:
            with self._lock:
                leads = key not in self._flights
                flight = self._flights.setdefault(key, Flight())
            if leads:
                break
            if not flight.landed.wait(None if until == math.inf else max(0.0, until - time.monotonic())):
                raise WaitedTooLong
            if flight.result is not None:
                yield flight
                return
        try:
            yield flight
        finally:
            with self._lock:
                del self._flights[key]
            flight.landed.set()

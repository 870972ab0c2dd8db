"""The same question in flight twice is asked once."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class WaitedTooLong(Exception):
    """Somebody else's work took longer than this caller could wait."""


class SingleFlight(Generic[T]):
    """Runs one piece of work per key at a time; whoever asks meanwhile shares its result or its failure.

    Exceptions of the classes in `private` concern only the caller who ran the work (its own budget, its
    own Ctrl-C): then the next waiter does the work itself.
    """

    def __init__(self, private: tuple[type[Exception], ...] = ()) -> None:
        self._private = private
        self._lock = threading.Lock()
        # None while nobody waits for the result, as nearly always.
        self._flights: dict[str, Future[T | None] | None] = {}

    def run(
        self, key: str, work: Callable[[], T], patience: Callable[[], float] | None = None
    ) -> tuple[T, bool]:
        """Return the result for `key`, and whether somebody else did the work.

        `patience` tells how many seconds are left to wait for somebody else; then `WaitedTooLong` is raised.
        """
        while (waiting_for := self._join(key)) is not None:
            result = self._result_of(waiting_for, patience)
            if result is not None:
                return result, True
        return self._lead(key, work), False

    def _join(self, key: str) -> Future[T | None] | None:
        """The flight of that key, to wait for; None for whoever begins one, and must lead it to its end."""
        with self._lock:
            if key not in self._flights:
                self._flights[key] = None
                return None
            flight = self._flights[key] or Future()
            self._flights[key] = flight
            return flight

    def _lead(self, key: str, work: Callable[[], T]) -> T:
        result: T | None = None
        failure: Exception | None = None
        try:
            result = work()
            return result
        except Exception as error:
            failure = None if isinstance(error, self._private) else error
            raise
        finally:
            with self._lock:
                flight = self._flights.pop(key)
            if flight is not None and failure is not None:
                flight.set_exception(failure)
            elif flight is not None:
                flight.set_result(result)  # None: nobody may share it, the next waiter leads

    @staticmethod
    def _result_of(flight: Future[T | None], patience: Callable[[], float] | None) -> T | None:
        try:
            failure = flight.exception(None if patience is None else max(0.0, patience()))
        except TimeoutError:
            raise WaitedTooLong from None
        if failure is not None:
            # One exception object raised in several threads would mix up their tracebacks.
            raise copy.copy(failure)
        return flight.result()

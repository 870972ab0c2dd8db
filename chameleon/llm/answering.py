"""How a request is answered: from the store, from the same question in flight, or by the model."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from chameleon.budget import Meter, Recorder, Usage
from chameleon.errors import BudgetExceeded, ReplayMiss, StoreError
from chameleon.llm.connection import Connection
from chameleon.llm.deadline import OutOfTime, TooLate, out_of_time, time_left, within
from chameleon.llm.failures import Failure
from chameleon.llm.flight import SingleFlight, WaitedTooLong
from chameleon.llm.message import Request
from chameleon.llm.outcome import Outcome, from_record, to_record
from chameleon.llm.reading import Prices, Reading
from chameleon.llm.retry import Backoff, GaveUp
from chameleon.llm.store import ResponseStore

_log = logging.getLogger("chameleon")
_MOST_AT_ONCE = 32
_MOST_ASYNC = 128
_FAILED = Usage(calls=1, input_tokens=0, output_tokens=0, cost=0.0)
Patience = Callable[[], float] | None  # tells how many seconds are left; None: as many as it takes
_UNKNOWN = Usage(calls=1, input_tokens=None, output_tokens=None, cost=None)


class Answering:
    """Answers requests to one connected model; all views of it share this."""

    def __init__(
        self, connection: Connection, store: ResponseStore | None, backoff: Backoff, prices: Prices | None
    ) -> None:
        self.connection = connection
        self._store = store
        self._backoff = backoff
        self._prices = prices
        self._flights: SingleFlight[Outcome] = SingleFlight(private=(BudgetExceeded, OutOfTime))
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None
        self._store_failed = False
        self._reasons_said: set[str] = set()

    def answer(self, request: Request, recorder: Recorder | None) -> Outcome:
        """Answer from the store, from the same question in flight, or from the model."""
        meter = None if recorder is None else recorder.meter
        left = time_left(meter)
        work = partial(self._look_or_call, request, meter, left)
        try:
            outcome, shared = self._flights.run(request.key, work, left)
        except OutOfTime as late:
            return late.outcome
        except WaitedTooLong:
            return Outcome(
                request, Reading("", "", Usage()), out_of_time(meter, self.connection.name), attempts=0
            )
        return outcome.shared() if shared else outcome

    def answer_together(
        self, requests: Sequence[Request], recorder: Recorder | None
    ) -> list[Future[Outcome]]:
        """Answer several requests at once; the futures are done, and in the order of the requests."""
        if len(requests) < 2:
            return [_done(partial(self.answer, request, recorder)) for request in requests]
        with ThreadPoolExecutor(min(len(requests), _MOST_AT_ONCE), "chameleon-ask") as threads:
            return [
                threads.submit(contextvars.copy_context().run, self.answer, request, recorder)
                for request in requests
            ]

    def threads(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_MOST_ASYNC, "chameleon-aask")
            return self._threads

    def _look_or_call(self, request: Request, meter: Meter | None, left: Patience) -> Outcome:
        if self._store is not None:
            try:
                found = self._store.get(request)
            except ReplayMiss as miss:
                return Outcome(request, Reading("", "", Usage()), miss, attempts=0)
            if found is not None:
                return Outcome(request, from_record(found), cached=True)
        return self._call(request, None) if meter is None else self._booked_call(request, meter, left)

    def _booked_call(self, request: Request, meter: Meter, left: Patience) -> Outcome:
        meter.reserve()
        spent = _FAILED
        try:
            outcome = self._call(request, None) if left is None else self._call_in_time(request, meter, left)
            spent = outcome.reading.usage
            return outcome
        except OutOfTime:
            spent = _UNKNOWN
            raise
        finally:
            meter.settle(spent)

    def _call_in_time(self, request: Request, meter: Meter, left: Callable[[], float]) -> Outcome:
        """Call, but wait no longer than the run's time lasts; then raise `OutOfTime`."""
        begun = time.monotonic()
        try:
            return within(left(), partial(self._call, request, left))
        except TooLate:
            error = out_of_time(meter, self.connection.name)
            seconds = round(time.monotonic() - begun, 6)
            raise OutOfTime(Outcome(request, Reading("", "", _UNKNOWN), error, seconds=seconds)) from None

    def _call(self, request: Request, patience: Patience) -> Outcome:
        begun = time.monotonic()
        try:
            message, attempts = self._backoff.run(
                partial(self.connection.send, request), self.connection.failure, patience, self._say_again
            )
        except GaveUp as gave_up:
            seconds = round(time.monotonic() - begun, 6)
            return Outcome(
                request, Reading("", "", _FAILED), gave_up.error, seconds=seconds, attempts=gave_up.attempts
            )
        seconds = round(time.monotonic() - begun, 6)
        reading = self.connection.read(message, self._prices)
        fault = reading.fault(self.connection.name)
        outcome = Outcome(request, reading, fault, seconds=seconds, attempts=attempts)
        if fault is None:
            self._keep(outcome)
        return outcome

    def _say_again(self, failure: Failure) -> None:
        """Log why there is silence, once for each reason: many calls may wait for one server."""
        with self._lock:
            first = failure.reason not in self._reasons_said
            self._reasons_said.add(failure.reason)
        if first:
            _log.warning(
                "%s does not answer (%s); trying again, up to %d times",
                self.connection.name,
                failure.reason or "no reason known",
                self._backoff.retries,
            )

    def _keep(self, outcome: Outcome) -> None:
        """Record a reply; a store that fails must not lose one that is paid for."""
        if self._store is None:
            return
        try:
            self._store.put(outcome.request, to_record(outcome.reading))
        except StoreError as error:
            with self._lock:
                first, self._store_failed = not self._store_failed, True
            if first:
                _log.warning("replies are not recorded: %s", error)


def _done(work: partial[Outcome]) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    try:
        future.set_result(work())
    except Exception as error:
        future.set_exception(error)
    return future

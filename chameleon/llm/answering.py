"""How a request is answered: from the store, from the same question in flight, or by the model."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TypeVar

from chameleon.budget import UNKNOWN, Meter, Recorder, Usage
from chameleon.errors import BudgetExceeded, ReplayMiss, StoreError
from chameleon.llm.connection import Connection
from chameleon.llm.deadline import OutOfTime, TooLate, out_of_time, time_left, within
from chameleon.llm.flight import SingleFlight, WaitedTooLong
from chameleon.llm.message import Request
from chameleon.llm.outcome import Outcome, from_record, to_record
from chameleon.llm.prices import Prices, Pricing
from chameleon.llm.reading import Reading
from chameleon.llm.store import ResponseStore
from chameleon.retry import Backoff, Failure, GaveUp

_log = logging.getLogger("chameleon")
_MOST_AT_ONCE = 32
_MOST_ASYNC = 128
_MOST_ENLARGED = 2  # a reply that is cut off at sixteen times its limit comes to no end
_FAILED = Usage(calls=1)
T = TypeVar("T")
Patience = Callable[[], float] | None  # tells how many seconds are left; None: as many as it takes


class Answering:
    """Answers requests to one connected model; all views of it share this."""

    def __init__(
        self,
        connection: Connection,
        store: ResponseStore | None,
        backoff: Backoff,
        prices: Prices | None,
        timeout: float,
    ) -> None:
        self.connection = connection
        self._store = store if connection.has_name else None
        self._timeout = timeout
        if store is not None and store.mode != "off" and not connection.has_name:
            _log.warning("replies of %s are not recorded: it tells no name to know it by", connection.name)
        self._backoff = backoff
        self._pricing = Pricing(connection.name, prices)
        self._flights: SingleFlight[Sequence[Outcome]] = SingleFlight(private=(BudgetExceeded, OutOfTime))
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None
        self._store_failed = False
        self._reasons_said: set[str] = set()

    def answer(self, request: Request, recorder: Recorder | None) -> Outcome:
        """Answer from the store, from the same question in flight, or from the model."""
        return self._answered([request], recorder)[0]

    def answer_samples(self, requests: Sequence[Request], recorder: Recorder | None) -> list[Future[Outcome]]:
        """Answer several samples of one question, in one request where the provider offers that.

        The futures are done, and in the order of the requests.
        """
        found = {request.sample: known for request in requests if (known := self._stored(request))}
        missing = [request for request in requests if request.sample not in found]
        at_once = self.connection.samples_at_once(missing[0]) if len(missing) > 1 else 1
        groups = [missing[start : start + at_once] for start in range(0, len(missing), at_once)]
        asked = self._in_groups(groups, recorder)
        # A server may give fewer samples than it was asked for.
        late = [request for request in missing if request.sample not in asked]
        rest = self.answer_together(late, recorder)
        asked |= {request.sample: future for request, future in zip(late, rest, strict=True)}
        asked |= {sample: _done(partial(_same, known)) for sample, known in found.items()}
        return [asked[request.sample] for request in requests]

    def _in_groups(
        self, groups: Sequence[Sequence[Request]], recorder: Recorder | None
    ) -> dict[int, Future[Outcome]]:
        """Ask for each group of samples in one request, all groups at once; the futures by sample."""
        asked = self._together([partial(self._answered, group, recorder) for group in groups])
        found: dict[int, Future[Outcome]] = {}
        for group, future in zip(groups, asked, strict=True):
            if future.exception() is not None:
                found |= {request.sample: future for request in group}  # type: ignore[misc]
                continue
            outcomes = zip(group, future.result(), strict=False)
            found |= {request.sample: _done(partial(_same, outcome)) for request, outcome in outcomes}
        return found

    def answer_together(
        self, requests: Sequence[Request], recorder: Recorder | None
    ) -> list[Future[Outcome]]:
        """Answer several requests at once; the futures are done, and in the order of the requests."""
        return self._together([partial(self.answer, request, recorder) for request in requests])

    def _together(self, works: Sequence[Callable[[], T]]) -> list[Future[T]]:
        """Do these things at once; the futures are done."""
        if len(works) < 2:
            return [_done(work) for work in works]
        with ThreadPoolExecutor(min(len(works), _MOST_AT_ONCE), "chameleon-ask") as threads:
            return [threads.submit(contextvars.copy_context().run, work) for work in works]

    def threads(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(_MOST_ASYNC, "chameleon-aask")
            return self._threads

    def _answered(self, requests: Sequence[Request], recorder: Recorder | None) -> Sequence[Outcome]:
        """The outcomes of samples of one question that are asked for in one request."""
        meter = None if recorder is None else recorder.meter
        left = time_left(meter)
        key = "+".join(request.key for request in requests)
        try:
            outcomes, shared = self._flights.run(
                key, partial(self._look_or_call, requests, meter, left), left
            )
        except OutOfTime as late:
            rest = [replace(late.outcome.shared(), request=each, cached=False) for each in requests[1:]]
            return [late.outcome, *rest]
        except WaitedTooLong:
            error = out_of_time(meter, self.connection.name)
            return [Outcome(each, Reading("", "", Usage()), error, attempts=0) for each in requests]
        return [outcome.shared() for outcome in outcomes] if shared else outcomes

    def _look_or_call(
        self, requests: Sequence[Request], meter: Meter | None, left: Patience
    ) -> Sequence[Outcome]:
        if len(requests) == 1 and (found := self._stored(requests[0])) is not None:
            return [found]
        return self._whole(self._paid(requests, meter, left), meter, left)

    def _stored(self, request: Request) -> Outcome | None:
        """The recorded reply, or the error that there is none; None where the model is to be asked."""
        if self._store is None:
            return None
        try:
            found = self._store.get(request)
        except ReplayMiss as miss:
            return Outcome(request, Reading("", "", Usage()), miss, attempts=0)
        if found is None:
            return None
        outcome = from_record(request, found)
        if _lacks_room(outcome) and not outcome.enlarged and self._store.mode == "auto":
            return None  # whoever asked for it took it as it was
        if outcome.dropped and not self.connection.allow_dropped:
            return replace(outcome, error=self.connection.refused(outcome.dropped, request.params))
        return outcome

    def _whole(self, outcomes: list[Outcome], meter: Meter | None, left: Patience) -> list[Outcome]:
        """The outcomes, with those that are cut off asked for again with more room, together."""
        for enlarged in range(1, _MOST_ENLARGED + 1):
            lacking = [
                place
                for place, outcome in enumerate(outcomes)
                if _lacks_room(outcome) and outcome.enlarged < enlarged
            ]
            if not lacking or not self.connection.can_widen(outcomes[lacking[0]].request, enlarged):
                break
            try:
                wider = self._paid([outcomes[place].request for place in lacking], meter, left, enlarged)
            except BudgetExceeded as problem:
                for place in lacking:
                    outcomes[place] = replace(outcomes[place], error=problem)
                return outcomes
            except OutOfTime as late:
                first, *rest = lacking
                outcomes[first] = late.outcome.after(outcomes[first])
                for place in rest:
                    outcomes[place] = replace(outcomes[place], error=late.outcome.error)
                return outcomes
            for place, found in zip(lacking, wider, strict=False):
                if found.error is None or found.reading.is_cut_off:
                    outcomes[place] = replace(found.after(outcomes[place]), enlarged=enlarged)
                else:  # better cut off than lost
                    outcomes[place] = replace(outcomes[place].after(found), enlarged=_MOST_ENLARGED)
        return [self._kept(outcome) if _lacks_room(outcome) else outcome for outcome in outcomes]

    def _paid(
        self, requests: Sequence[Request], meter: Meter | None, left: Patience, enlarged: int = 0
    ) -> list[Outcome]:
        """Ask the model, and book what that takes."""
        if meter is None:
            return self._call(requests, None, enlarged)
        meter.reserve()
        spent = _FAILED
        try:
            if left is None:
                outcomes = self._call(requests, None, enlarged)
            else:
                outcomes = self._call_in_time(requests, meter, left, enlarged)
            spent = sum((outcome.reading.usage for outcome in outcomes), Usage())
            return outcomes
        except OutOfTime:
            spent = UNKNOWN
            raise
        finally:
            meter.settle(spent)

    def _call_in_time(
        self, requests: Sequence[Request], meter: Meter, left: Callable[[], float], enlarged: int
    ) -> list[Outcome]:
        """Call, but wait no longer than the run's time lasts; then raise `OutOfTime`."""
        begun = time.monotonic()
        try:
            return within(left(), partial(self._call, requests, left, enlarged))
        except TooLate:
            error = out_of_time(meter, self.connection.name)
            seconds = round(time.monotonic() - begun, 6)
            reading = Reading("", "", UNKNOWN)
            raise OutOfTime(Outcome(requests[0], reading, error, seconds=seconds)) from None

    def _call(self, requests: Sequence[Request], patience: Patience, enlarged: int) -> list[Outcome]:
        """Ask the model for these samples of one question, and record what is whole."""
        begun = time.monotonic()
        send = partial(self.connection.send, requests[0], n=len(requests), enlarged=enlarged)
        # The client's own time-out is one for each read: a server may send a byte at a time.
        ask = send if self.connection.is_scripted else partial(within, self._timeout, send)
        try:
            sent, attempts = self._backoff.run(ask, self.connection.failure, patience, self._say_again)
        except GaveUp as gave_up:
            seconds, tries = round(time.monotonic() - begun, 6), gave_up.attempts
            failed = Outcome(
                requests[0], Reading("", "", _FAILED), gave_up.error, seconds=seconds, attempts=tries
            )
            return [failed, *(replace(failed.shared(), request=each, cached=False) for each in requests[1:])]
        seconds = round(time.monotonic() - begun, 6)
        if not sent.messages:  # all thoughts, which the server makes an error of: nothing is paid
            reading = Reading("", "length", _FAILED)
            fault = reading.fault(self.connection.name)
            spent = Outcome(requests[0], reading, fault, seconds=seconds, attempts=attempts)
            return [spent, *(replace(spent.shared(), request=each, cached=False) for each in requests[1:])]
        outcomes: list[Outcome] = []
        for request, message in zip(requests, sent.messages, strict=False):
            reading = self.connection.read(message, sent.fitted, self._pricing)
            if outcomes:  # one request was paid, whichever of its samples is looked at
                reading, seconds = replace(reading, usage=Usage()), 0.0
            fault, dropped = reading.fault(self.connection.name), sent.fitted.dropped
            outcome = Outcome(request, reading, fault, seconds=seconds, attempts=attempts, dropped=dropped)
            outcomes.append(outcome if _lacks_room(outcome) else self._kept(outcome))
        return outcomes

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

    def _kept(self, outcome: Outcome) -> Outcome:
        """Record a reply; a store that fails must not lose one that is paid for."""
        if self._store is None or outcome.error is not None or outcome.cached:
            return outcome
        try:
            self._store.put(outcome.request, to_record(outcome))
        except StoreError as error:
            with self._lock:
                first, self._store_failed = not self._store_failed, True
            if first:
                _log.warning("replies are not recorded: %s", error)
        return outcome


def _lacks_room(outcome: Outcome) -> bool:
    """Whether the reply was cut off at a limit that can be widened, and its asker wants it whole."""
    request = outcome.request
    return outcome.reading.is_cut_off and request.whole and "max_tokens" in request.params


def _same(outcome: Outcome) -> Outcome:
    return outcome


def _done(work: Callable[[], T]) -> Future[T]:
    """What the work gives or raises, as a future that is done."""
    future: Future[T] = Future()
    try:
        future.set_result(work())
    except Exception as error:
        future.set_exception(error)
    return future

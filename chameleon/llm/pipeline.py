"""One model call from start to finish.

Wait for the same question in flight, look in the response store, take the call from the budget, ask (again,
if that may help and the run has time), record the reply, and ask for more room if it was cut off.
"""

import logging
import math
import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any

from chameleon import bridge
from chameleon.errors import BudgetExceeded, ChameleonError, ModelError, RateLimited, ReplayMiss, StoreError
from chameleon.llm.connection import Connection, Outcome
from chameleon.llm.deadline import TooLate, within
from chameleon.llm.failures import CallFailure
from chameleon.llm.message import MAX_WIDENED, ModelRequest, Reply
from chameleon.llm.parameters import Fitted
from chameleon.llm.reply_stream import Hear, ReplyStream
from chameleon.llm.store import ResponseStore
from chameleon.usage import UNKNOWN, Meter, Usage, current_recorder

_log = logging.getLogger("chameleon")
_MAX_PARALLEL_REQUESTS = 32
MAX_RETRY_AFTER_S = 60.0  # the longest wait that a provider may ask for
MAX_BACKOFF_S = 30.0
Requests = Sequence[ModelRequest]


@dataclass(frozen=True, slots=True)
class CallContext:
    """The run's context of a call: its meter, its deadline (monotonic clock), and the stream for the text."""

    meter: Meter
    ends: float
    stream: ReplyStream | None


class Pipeline:
    """Answers requests to one connected model and its views. Raises `ModelError` for invalid `retries`."""

    sleep = staticmethod(bridge.sleep)

    def __init__(
        self, connection: Connection, store: ResponseStore | None, retries: int, timeout: float
    ) -> None:
        if type(retries) is not int or retries < 0:
            raise ModelError(f"retries is {str(retries)[:40]!r}", hint="Use an integer of 0 or more.")
        self.connection = connection
        client = connection.client
        self._store = store if client.has_name else None
        is_unnamed = not client.has_name and not client.is_scripted
        if store is not None and store.mode != "off" and is_unnamed:
            _log.warning("replies of %s are not recorded: it does not report a model name", connection.name)
        self._retries, self._timeout = retries, timeout
        self._flights: dict[Any, tuple[Future[list[Reply] | None], int]] = {}  # with the thread of the caller
        self._lock = threading.Lock()
        self._warned: set[str] = set()

    def answer_samples(self, requests: Requests) -> list[Reply | BaseException]:
        """Answer several samples of one question, in one request if the provider supports it."""
        by_sample: dict[int, Reply | BaseException] = {
            each.sample: reply for each in requests if (reply := self._stored(each)) is not None
        }
        missing = [each for each in requests if each.sample not in by_sample]
        size = self.connection.samples_at_once(missing[0]) if len(missing) > 1 else 1
        groups = [missing[start : start + size] for start in range(0, len(missing), size)]
        for _ in range(2):  # a server may return fewer samples than requested
            for group, replies in zip(groups, self.answer_each(groups), strict=True):
                by_sample |= {each.sample: reply for each, reply in zip(group, replies, strict=False)}
            groups = [[each] for each in missing if each.sample not in by_sample]
        return [by_sample[each.sample] for each in requests]

    def answer_each(self, groups: Sequence[Requests]) -> list[Sequence[Reply | BaseException]]:
        """Answer several groups of samples at once, each in one request; return replies or exceptions."""
        calls = [partial(self.answer, group) for group in groups]
        answered = bridge.each(calls, _MAX_PARALLEL_REQUESTS, "chameleon-ask")
        return [
            [replies] * len(group) if isinstance(replies, BaseException) else replies
            for group, replies in zip(groups, answered, strict=True)
        ]

    def answer(self, requests: Requests, on_text: Hear | None = None) -> list[Reply]:
        """Answer samples of one question in one request; a question already in flight is not asked again.

        `on_text` receives a single sample's text as it arrives. Raises `BudgetExceeded` and `StoreError`.
        """
        recorder = current_recorder()
        meter = Meter() if recorder is None else recorder.meter
        ends = time.monotonic() + meter.time_left
        stops, secrets = requests[0].params.get("stop", ()), self.connection.client.secrets
        stream = ReplyStream(on_text, stops, secrets) if on_text else None
        try:
            replies = self._answer_once(requests, CallContext(meter, ends, stream))
            if stream is not None:
                stream.end(replies[0].text)
            return replies
        finally:
            if stream is not None:
                stream.close()

    def _answer_once(self, requests: Requests, context: CallContext) -> list[Reply]:
        """Answer, or wait for the reply to the same question in flight and share it."""
        key, future = tuple(each.identity for each in requests), Future[list[Reply] | None]()
        thread, ends = threading.get_ident(), context.ends
        while True:
            with self._lock:
                in_flight, owner = self._flights.setdefault(key, (future, thread))
            if in_flight is future:
                break
            if owner == thread and not bridge.is_bridged():  # otherwise it would wait for itself
                return self._answer_now(requests, context)
            left = None if ends == math.inf else max(0.0, ends - time.monotonic())
            try:
                shared = bridge.result(in_flight, left)
            except TimeoutError:
                return self._failed(requests, self._out_of_time(context.meter), Usage())
            if shared is not None:
                return [reply.unpaid(cached=True) for reply in shared]
        shareable: list[Reply] | None = None
        try:
            replies = self._answer_now(requests, context)
            # One run's spent budget does not affect others: callers that wait then ask for themselves.
            is_shared = not any(isinstance(reply.error, BudgetExceeded) for reply in replies)
            shareable = replies if is_shared else None
            return replies
        finally:
            with self._lock:
                del self._flights[key]  # before the result: callers that ask for themselves must not find it
            future.set_result(shareable)

    def _answer_now(self, requests: Requests, context: CallContext) -> list[Reply]:
        """Return the recorded reply of one sample, else ask; retry a cut-off reply with more room."""
        if len(requests) == 1 and (stored := self._stored(requests[0])) is not None:
            return [stored]
        fitted = self.connection.fit(requests[0])
        replies, limit = self._ask_in_budget(requests, fitted, context), fitted.limit
        both = [*enumerate(zip(requests, replies, strict=False))]
        cut = [place for place, (request, reply) in both if request.lacks_room(reply)]
        for widened in range(1, MAX_WIDENED + 1):
            fitted = self.connection.fit(requests[0], widened)
            if not cut or fitted.limit <= limit:
                break
            limit, retried = fitted.limit, [requests[place] for place in cut]
            try:
                wider = self._ask_in_budget(retried, fitted, context)
            except BudgetExceeded as problem:
                wider = self._failed(retried, problem, Usage())
            for place, reply in zip(cut, wider, strict=False):
                replies[place] = replies[place].with_more_room(reply, widened)
            results = [replies[place] for place in cut]
            cut = [
                place
                for place, request, reply in zip(cut, retried, results, strict=True)
                if request.lacks_room(reply) and reply.widened <= widened
            ]
        for request, reply in zip(requests, replies, strict=False):
            if request.lacks_room(reply):
                self._record(request, reply)
        return replies

    def _ask_in_budget(self, requests: Requests, fitted: Fitted, context: CallContext) -> list[Reply]:
        """Reserve budget for a request before sending it, then settle with its actual usage."""
        started, spent = time.monotonic(), Usage(calls=1)
        context.meter.reserve()
        try:
            made, attempts = self._ask(requests, fitted, context)
            spent = reduce(add, [reply.usage for reply in made])
        finally:
            context.meter.settle(spent)
        took = round(time.monotonic() - started, 6)
        both = zip(made, [took, *[0.0] * (len(made) - 1)], strict=True)
        return [replace(each, attempts=attempts, seconds=seconds) for each, seconds in both]

    def doubt(self, request: ModelRequest) -> None:
        """Mark the stored reply as doubtful, because it was of no use, so that it is requested again."""
        if self._store is not None:
            with suppress(StoreError):
                self._store.doubt(request)

    def _stored(self, request: ModelRequest) -> Reply | None:
        """Return the recorded reply, the error of a replay without one, or None to ask the model."""
        if self._store is None:
            return None
        try:
            record = self._store.get(request)
        except ReplayMiss as miss:
            return self._failed([request], miss, Usage())[0]
        if record is None:
            return None
        reply = Reply.from_record(request.model, record)
        if request.lacks_room(reply) and not reply.widened and self._store.mode == "auto":
            return None  # its caller accepted it cut off
        if reply.dropped and not self.connection.allow_dropped:
            return replace(reply, error=self.connection.refused(reply.dropped, request.params))
        return reply

    def _ask(self, requests: Requests, fitted: Fitted, context: CallContext) -> tuple[list[Reply], int]:
        """Ask in one request, retrying if that may help and time allows; return replies and attempts."""
        ends, attempts = context.ends, 0
        while True:
            started, attempts = self._take_turn(ends), attempts + 1
            if started >= ends:
                return self._failed(requests, self._out_of_time(context.meter), Usage()), attempts
            try:
                outcome = self._attempt(requests, fitted, context, ends - started)
            except Exception as error:
                outcome = self.connection.failure(error)
            if not isinstance(outcome, CallFailure):
                return outcome, attempts
            if isinstance(outcome.raised, TooLate) and time.monotonic() >= ends:
                return self._failed(requests, self._out_of_time(context.meter), UNKNOWN), attempts
            failure = self.connection.explained(outcome)
            seconds = self._wait_before_retry(attempts, failure) if failure.retryable else 0.0
            is_last = not failure.retryable or attempts > self._retries
            if is_last or time.monotonic() + seconds >= ends:
                return self._failed(requests, failure.error, Usage(calls=1)), attempts
            if attempts == 1:
                wait = min(failure.retry_after or 0.0, MAX_RETRY_AFTER_S)
                when = f" in {wait:.0f} s, as requested" if wait >= 1 else ""
                reason = failure.reason or "unknown reason"
                self._warn(f"{self.connection.name} does not answer ({reason}); trying again{when}")
            self.sleep(seconds)

    def _take_turn(self, ends: float) -> float:
        """Wait until the model may be asked or time runs out; return the current time (monotonic clock)."""
        while (seconds := self.connection.pace.turn()) > 0 and time.monotonic() < ends:
            seconds *= random.uniform(1.0, 1.25)  # noqa: S311 - spreads out callers that wait
            self.sleep(min(seconds, ends - time.monotonic()))
        return time.monotonic()

    def _attempt(self, requests: Requests, fitted: Fitted, context: CallContext, seconds: float) -> Outcome:
        """Make one request; record complete replies even if late. Raises `TooLate` after `seconds`."""
        tell = context.stream.begin() if context.stream else None

        def send() -> Outcome:
            replies = self.connection.send(requests[0], fitted, len(requests), tell)
            if isinstance(replies, CallFailure):
                return replies
            for request, reply in zip(requests, replies, strict=False):
                if not request.lacks_room(reply):
                    self._record(request, reply)
            return replies

        if seconds > self._timeout and self.connection.ends_in_time:
            return send()
        # The client's own timeout is per read, and a server may send one byte at a time.
        return within(min(self._timeout, seconds), send)

    def _wait_before_retry(self, attempts: int, failure: CallFailure) -> float:
        """Return the seconds until the next attempt: at least what the provider asks for, up to a minute.

        The wait starts at half a second and doubles. Half of it is random, so that many callers do not come
        back at once. After a 429, all callers of the model wait.
        """
        seconds = min(0.5 * 2.0 ** (attempts - 1), MAX_BACKOFF_S) * random.uniform(0.5, 1.0)  # noqa: S311
        if failure.retry_after is not None:
            seconds = min(max(failure.retry_after, seconds), MAX_RETRY_AFTER_S)
        if isinstance(failure.error, RateLimited):
            self.connection.pace.wait(seconds)
            return 0.0
        return seconds

    def _failed(self, requests: Requests, error: ChameleonError, usage: Usage) -> list[Reply]:
        """Return a reply with the error for each request; only the first has the cost."""
        reply = Reply("", "", usage, attempts=0, model=self.connection.name, error=error)
        return [reply] + [reply.unpaid() for _ in requests[1:]]

    def _out_of_time(self, meter: Meter) -> BudgetExceeded:
        ended = meter.first_to_end
        limit = f"its budget of {ended.budget.seconds or 0.0:g} seconds"
        what = f"the {ended.place or 'run'} reached {limit} before {self.connection.name} answered"
        return BudgetExceeded(what, where=ended.place, hint="Raise budget.seconds in the inventory.")

    def _record(self, request: ModelRequest, reply: Reply) -> None:
        """Record a reply; if the store fails, a paid reply must not be lost."""
        if self._store is None or reply.error is not None:
            return
        try:
            self._store.put(request, reply.to_record())
        except StoreError as error:
            self._warn("replies are not recorded", f": {error}")

    def _warn(self, reason: str, details: str = "") -> None:
        """Log a warning once per reason, because many calls may wait for one server."""
        with self._lock:
            is_new = reason not in self._warned
            self._warned.add(reason)
        if is_new:
            _log.warning("%s%s", reason, details)

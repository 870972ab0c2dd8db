"""One call of a model, from top to bottom.

Look into the response store; wait for the same question in flight; take the call from the budget; ask, as
often as that may help and as long as the run lasts; record the reply; ask for more room where it was cut off.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import tenacity.nap
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random_exponential,
)

from chameleon import bridge
from chameleon.errors import BudgetExceeded, ChameleonError, ModelError, RateLimited, ReplayMiss, StoreError
from chameleon.llm.connection import Connection
from chameleon.llm.deadline import TooLate, within
from chameleon.llm.failures import CallFailure
from chameleon.llm.message import ModelRequest, Reply
from chameleon.llm.store import ResponseStore
from chameleon.llm.telling import Hear, Telling
from chameleon.usage import UNKNOWN, Meter, Usage, current_recorder

_log = logging.getLogger("chameleon")
_MOST_AT_ONCE = 32
_LONGEST_ASKED = 60.0  # seconds that a provider may have us wait
_MOST_WIDENED = 2  # a reply that is cut off at sixteen times its limit comes to no end


def retrying(retries: int | Retrying) -> Retrying:
    """Return the rule to ask so often again, at most half a second later at first and 30 at last.

    Half of each wait is random, so that many callers do not come back at once. Of a rule of tenacity's own
    `stop`, `wait` and `sleep` count; what is asked again is decided here. Raises `ModelError` for a rule that
    sets anything else, and for what is neither.
    """
    if type(retries) is int and retries >= 0:
        half = {"multiplier": 0.25, "max": 15}
        waits = wait_exponential(**half) + wait_random_exponential(**half)
        return Retrying(stop=stop_after_attempt(retries + 1), wait=waits)
    if type(retries) is not Retrying:
        told = f"retries is {str(retries)[:40]}, of the type {type(retries).__name__}"
        raise ModelError(told, hint="Give a number from 0 on, or tenacity's Retrying.")
    counts, plain = ("sleep", "stop", "wait", "_local"), vars(Retrying())
    others = [
        name for name, value in vars(retries).items() if name not in counts and value is not plain[name]
    ]
    if others:
        raise ModelError(
            f"a rule to ask again sets {', '.join(others)}", hint="Give it stop, wait and sleep."
        )
    for name in counts[:3]:
        if not callable(value := getattr(retries, name)):
            raise ModelError(f"the {name} of a rule to ask again is {str(value)[:40]!r}, and no function")
    return retries


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a question is asked: the run's meter, when its time ends, to whom its text is told."""

    meter: Meter | None
    ends: float
    telling: Telling | None = None


class NotBegun(TooLate):
    """The run's time is over before a request is made."""


def _raised(error: Exception) -> NoReturn:
    raise error


class Pipeline:
    """Answers requests to one connected model; all views of it share this.

    `timeout` is in seconds, for a whole attempt.
    """

    def __init__(
        self, connection: Connection, store: ResponseStore | None, rule: Retrying, timeout: float
    ) -> None:
        self.connection = connection
        self._store = store if connection.has_name else None
        is_told = connection.has_name or connection.name.startswith("scripted:")
        if store is not None and store.mode != "off" and not is_told:
            _log.warning("replies of %s are not recorded: it does not report a model name", connection.name)
        self._rule, self._timeout = rule, timeout
        self._flights: dict[Any, tuple[Future[list[Reply] | None], int]] = {}  # with the thread of who asks
        self._lock = threading.Lock()
        self._warned: set[str] = set()

    def answer_samples(self, requests: Sequence[ModelRequest]) -> list[Reply | BaseException]:
        """Answer several samples of one question, in one request where the provider offers that."""
        found: dict[int, Reply | BaseException] = {
            each.sample: reply for each in requests if (reply := self._stored(each)) is not None
        }
        missing = [each for each in requests if each.sample not in found]
        size = self.connection.samples_at_once(missing[0]) if len(missing) > 1 else 1
        groups = [missing[start : start + size] for start in range(0, len(missing), size)]
        for _ in range(2):  # a server may give fewer samples than it was asked for
            for group, replies in zip(groups, self.answer_each(groups), strict=True):
                found |= {each.sample: reply for each, reply in zip(group, replies, strict=False)}
            groups = [[each] for each in missing if each.sample not in found]
        return [found[each.sample] for each in requests]

    def answer_each(self, groups: Sequence[Sequence[ModelRequest]]) -> list[Sequence[Reply | BaseException]]:
        """Answer several groups of samples at once, each in one request: with replies, or what was raised."""
        answered = bridge.each(
            [partial(self.answer, group) for group in groups], _MOST_AT_ONCE, "chameleon-ask"
        )
        return [
            [replies] * len(group) if isinstance(replies, BaseException) else replies
            for group, replies in zip(groups, answered, strict=True)
        ]

    def answer(self, requests: Sequence[ModelRequest], hear: Hear | None = None) -> list[Reply]:
        """Answer samples of one question that go into one request; the same question in flight is asked once.

        `hear` is told the text of a single sample as it comes.

        Raises:
            BudgetExceeded: The run's budget forbids the call.
            StoreError: The recording cannot be read.
        """
        recorder = current_recorder()
        meter = None if recorder is None else recorder.meter
        ends = math.inf if meter is None else time.monotonic() + meter.time_left
        key, mine = tuple(each.identity for each in requests), Future[list[Reply] | None]()
        here = threading.get_ident()
        while True:
            with self._lock:
                ahead, owner = self._flights.setdefault(key, (mine, here))
            if ahead is mine:
                break
            if owner == here and not bridge.is_bridged():  # it would wait for itself
                return self._found(requests, Terms(meter, ends), hear)
            try:
                shared = bridge.result(ahead, None if ends == math.inf else max(0.0, ends - time.monotonic()))
            except TimeoutError:
                return self._failed(requests, self._out_of_time(meter), Usage())
            if shared is not None:
                if hear is not None:
                    Telling(hear).end(shared[0].text)
                return [reply.unpaid(cached=True) for reply in shared]
        landed: list[Reply] | None = None
        try:
            replies = self._found(requests, Terms(meter, ends), hear)
            # The end of one run's budget is nobody else's: whoever waits asks for itself.
            is_shared = not any(isinstance(reply.error, BudgetExceeded) for reply in replies)
            landed = replies if is_shared else None
            return replies
        finally:
            with self._lock:
                del self._flights[key]
            mine.set_result(landed)

    def _found(self, requests: Sequence[ModelRequest], terms: Terms, hear: Hear | None) -> list[Reply]:
        """Return the recorded reply of one sample, else ask."""
        stored = self._stored(requests[0]) if len(requests) == 1 else None
        if hear is None:
            return [stored] if stored else self._ask_until_whole(requests, terms)
        telling = Telling(hear, requests[0].params.get("stop", ()), self.connection.client.secrets)
        replies = [stored] if stored else self._ask_until_whole(requests, replace(terms, telling=telling))
        telling.end(replies[0].text)
        return replies

    def _stored(self, request: ModelRequest) -> Reply | None:
        """Return the recorded reply, or the error that there is none; None where the model is to be asked."""
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
            return None  # whoever asked for it took it as it was
        if reply.dropped and not self.connection.allow_dropped:
            return replace(reply, error=self.connection.refused(reply.dropped, request.params))
        return reply

    def _ask_until_whole(self, requests: Sequence[ModelRequest], terms: Terms) -> list[Reply]:
        """Ask the model, and ask again with more room for those replies that are cut off."""
        replies = self._ask_in_budget(requests, 0, terms)
        for widened in range(1, _MOST_WIDENED + 1):
            cut = [
                place
                for place, (request, reply) in enumerate(zip(requests, replies, strict=False))
                if request.lacks_room(reply) and reply.widened < widened
            ]
            if not cut or not self.connection.can_widen(requests[cut[0]], widened):
                break
            try:
                wider = self._ask_in_budget([requests[place] for place in cut], widened, terms)
            except BudgetExceeded as problem:
                wider = [self._failed([requests[place]], problem, Usage())[0] for place in cut]
            for place, found in zip(cut, wider, strict=False):
                if found.error is None or found.truncated or isinstance(found.error, BudgetExceeded):
                    replies[place] = replace(found.after(replies[place]), widened=widened)
                else:  # better cut off than lost
                    replies[place] = replace(replies[place].after(found), widened=_MOST_WIDENED)
        for request, reply in zip(requests, replies, strict=False):
            if request.lacks_room(reply):
                self._record(request, reply)
        return replies

    def _ask_in_budget(self, requests: Sequence[ModelRequest], widened: int, terms: Terms) -> list[Reply]:
        """Take the call from the budget before it is made, and book what it really took."""
        if (meter := terms.meter) is None:
            return self._ask(requests, widened, terms)
        meter.reserve()
        spent = Usage(calls=1)
        try:
            replies = self._ask(requests, widened, terms)
            spent = sum((reply.usage for reply in replies), Usage())
            return replies
        finally:
            meter.settle(spent)

    def _ask(self, requests: Sequence[ModelRequest], widened: int, terms: Terms) -> list[Reply]:
        """Ask in one request, again where that may help and the run's time allows it."""
        begun, attempts, ends = time.monotonic(), 1, terms.ends
        sleep = bridge.sleep if self._rule.sleep is tenacity.nap.sleep else self._rule.sleep
        attempt = partial(self._attempt, requests, widened, terms, sleep)
        try:
            try:
                replies = attempt()
            except Exception as first:  # most calls need no rule
                failed = [first]
                asking = self._rule.copy(
                    retry=retry_if_exception(lambda error: self._failure(error).retryable),
                    wait=self._wait,
                    stop=lambda state: (
                        self._rule.stop(state) or time.monotonic() + state.upcoming_sleep >= ends
                    ),
                    before_sleep=self._tell,
                    sleep=sleep,
                    reraise=True,
                )
                try:
                    replies = asking(lambda: _raised(failed.pop()) if failed else attempt())
                finally:
                    attempts = asking.statistics["attempt_number"]
        except Exception as error:
            if isinstance(error, TooLate) and time.monotonic() >= ends:
                spent = Usage() if isinstance(error, NotBegun) else UNKNOWN
                replies = self._failed(requests, self._out_of_time(terms.meter), spent)
            else:
                replies = self._failed(requests, self._failure(error).error, Usage(calls=1))
        seconds = round(time.monotonic() - begun, 6)
        paid, *rest = replies
        rest = [replace(reply, attempts=attempts) for reply in rest]
        return [replace(paid, seconds=seconds, attempts=attempts), *rest]

    def _failure(self, error: BaseException | None) -> CallFailure:
        """Return what an error amounts to; what is no `Exception` is not asked again."""
        if isinstance(error, Exception):
            return self.connection.failure(error)
        return CallFailure(ModelError(str(error)))

    def _wait(self, state: RetryCallState) -> float:
        """Return the seconds until the next attempt, no fewer than the provider asks for, up to a minute."""
        failure = self._failure(state.outcome.exception() if state.outcome else None)
        asked = failure.retry_after
        own: float = self._rule.wait(state)
        if asked is not None and isinstance(failure.error, RateLimited):
            self.connection.pace.wait(min(max(asked, own), _LONGEST_ASKED))  # for all, each in its turn
            return 0.0
        return own if asked is None else min(max(asked, own), _LONGEST_ASKED)

    def _tell(self, state: RetryCallState) -> None:
        if state.attempt_number == 1 and state.outcome:
            failure = self._failure(state.outcome.exception())
            reason, asked = failure.reason or "no reason known", failure.retry_after or 0.0
            when = f" in {min(asked, _LONGEST_ASKED):.0f} s, as it asks" if asked >= 1 else ""
            self._warn(f"{self.connection.name} does not answer ({reason}); trying again{when}")

    def _attempt(
        self,
        requests: Sequence[ModelRequest],
        widened: int,
        terms: Terms,
        sleep: Callable[[float], Any],
    ) -> list[Reply]:
        """Make one request in its turn, and record what is whole: also where it comes too late for who asked.

        Raises:
            TooLate: The timeout or the run's time is over.
            Exception: Whatever the provider's client raises.
        """

        ends, telling = terms.ends, terms.telling

        def send() -> list[Reply]:
            tell = telling.piece if telling else None
            replies = self.connection.send(requests[0], n=len(requests), widened=widened, tell=tell)
            self.connection.pace.speed_up()
            for request, reply in zip(requests, replies, strict=False):
                if not request.lacks_room(reply):
                    self._record(request, reply)
            return replies

        while (seconds := self.connection.pace.turn()) > 0 and time.monotonic() < ends:
            sleep(min(seconds, ends - time.monotonic()))
            if sleep is not bridge.sleep:  # a rule's own may take no time
                break
        begun = time.monotonic()
        if (left := ends - begun) <= 0:
            raise NotBegun
        if telling is not None:
            telling.begin()
        try:
            if left > self._timeout and self.connection.ends_in_time:
                return send()
            # The client's own timeout is one for each read: a server may send a byte at a time.
            return within(min(self._timeout, left), send, reads=self._timeout)
        except Exception as error:
            failure = self._failure(error)
            if failure.retryable and isinstance(failure.error, RateLimited):
                self.connection.pace.slow_down(begun)
            raise

    def _failed(self, requests: Sequence[ModelRequest], error: ChameleonError, usage: Usage) -> list[Reply]:
        """Return what stands for replies that did not come; one of them bears the cost."""
        reply = Reply("", "", usage, attempts=0, model=self.connection.name, error=error)
        return [reply] + [reply.unpaid() for _ in requests[1:]]

    def _out_of_time(self, meter: Meter | None) -> BudgetExceeded:
        ended = Meter() if meter is None else meter.first_to_end
        told = f"the {ended.place or 'run'} reached its budget of {ended.budget.seconds or 0.0:g} seconds"
        return BudgetExceeded(
            f"{told} before {self.connection.name} had answered",
            where=ended.place,
            hint="Raise budget.seconds in the inventory.",
        )

    def _record(self, request: ModelRequest, reply: Reply) -> None:
        """Record a reply; a store that fails must not lose one that is paid for."""
        if self._store is None or reply.error is not None:
            return
        try:
            self._store.put(request, reply.to_record())
        except StoreError as error:
            self._warn(f"replies are not recorded: {error}", "replies are not recorded")

    def _warn(self, message: str, reason: str = "") -> None:
        """Log a warning once for each reason: many calls may wait for one server."""
        with self._lock:
            is_new = (reason or message) not in self._warned
            self._warned.add(reason or message)
        if is_new:
            _log.warning("%s", message)

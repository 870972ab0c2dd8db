"""Ask a chat model: through the response store, once per question, with retries, counted and logged."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from chameleon.budget import Meter, Recorder, Usage, current_recorder
from chameleon.errors import BudgetExceeded, ModelError, ReplayMiss, StoreError
from chameleon.llm.connection import Connection
from chameleon.llm.deadline import OutOfTime, TooLate, out_of_time, time_left, within
from chameleon.llm.failures import Failure
from chameleon.llm.flight import SingleFlight, WaitedTooLong
from chameleon.llm.message import Messages, Reply, Request
from chameleon.llm.outcome import Outcome, from_record, to_record
from chameleon.llm.providers import belongs_to_connection
from chameleon.llm.reading import Prices, Reading
from chameleon.llm.retry import Backoff, GaveUp
from chameleon.llm.store import ResponseStore

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

_log = logging.getLogger("chameleon")
_MOST_AT_ONCE = 32
_MOST_ASYNC = 128
_FAILED = Usage(calls=1, input_tokens=0, output_tokens=0, cost=0.0)
_UNKNOWN = Usage(calls=1, input_tokens=None, output_tokens=None, cost=None)


class LLM:
    """A chat model that can be asked from any thread.

        llm = LLM.connect("openai:gpt-4.1-mini", temperature=0)
        print(llm.ask("What is the capital of France?").text)

    Views with other parameters (`with_params`) share the client, the store and the questions in flight.
    Inside a run, calls are booked on the run's meter and logged with its recorder.
    """

    __slots__ = ("_core", "_params")

    def __init__(self, core: _Core, params: Mapping[str, Any]) -> None:
        self._core, self._params = core, params

    @classmethod
    def connect(
        cls,
        model: str | BaseChatModel,
        *,
        store: ResponseStore | None = None,
        retries: int | Backoff = 6,
        timeout: float = 120.0,
        prices: Prices | None = None,
        **params: Any,
    ) -> LLM:
        """Connect to "provider:name", to a bare OpenAI name, "scripted:FILE", or a LangChain chat model.

        `timeout` is in seconds; `prices` are US dollars per million input and output tokens, for providers
        that report no cost; `params` are the request's defaults (temperature, max_tokens, stop, …) and the
        client's settings (api_key, base_url, …). Raises `MissingPackage`, `AuthFailed` or `NoModel`.
        """
        settings = {name: value for name, value in params.items() if belongs_to_connection(name)}
        defaults = {name: value for name, value in params.items() if name not in settings}
        backoff = retries if isinstance(retries, Backoff) else Backoff(retries=retries)
        # A replay never asks, so that it needs neither a key nor the provider's package.
        replaying = store is not None and store.mode == "replay"
        connection = Connection.open(model, timeout, settings, at_once=not replaying)
        return cls(_Core(connection, store, backoff, prices), defaults)

    @property
    def name(self) -> str:
        """The model's full name, "provider:model"."""
        return self._core.connection.name

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters that every request starts from."""
        return dict(self._params)

    def __repr__(self) -> str:
        return f"LLM({', '.join([repr(self.name), *(f'{k}={v!r}' for k, v in self._params.items())])})"

    def with_params(self, **params: Any) -> LLM:
        """A view with other default parameters; None removes one."""
        return LLM(self._core, self._merged(params))

    def ask(
        self,
        messages: Messages,
        *,
        sample: int = 0,
        schema: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> Reply:
        """Ask once. `messages` is a user's text or pairs of role (system, user, assistant) and text.

        `sample` tells repeated questions apart; `schema`, a JSON Schema, asks for JSON text of that form.
        Raises `ModelError` (`RateLimited`, `ContextTooLong`, `AuthFailed`, `Refused`, `NoModel`,
        `ReplayMiss`), `BudgetExceeded` before a call that the budget forbids or when its seconds
        are over (a reply that comes later is still recorded), and `StoreError`.
        """
        recorder = current_recorder()
        outcome = self._core.answer(self._request(messages, sample, schema, params), recorder)
        if recorder is not None:
            recorder.calls.append(outcome.call())
        return outcome.reply()

    def ask_many(
        self,
        messages: Messages,
        n: int,
        *,
        first: int = 0,
        schema: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> list[Reply]:
        """Ask for n samples at once, numbered from `first`, and return them in order.

        Raises the first error, if any.
        """
        recorder = current_recorder()
        requests = [self._request(messages, sample, schema, params) for sample in range(first, first + n)]
        futures = self._core.answer_together(requests, recorder)
        if recorder is not None:
            recorder.calls.extend(future.result().call() for future in futures if future.exception() is None)
        return [future.result().reply() for future in futures]

    async def aask(
        self,
        messages: Messages,
        *,
        sample: int = 0,
        schema: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> Reply:
        """`ask` for coroutines: the same call in a thread, so that the event loop is never blocked."""
        import asyncio

        ask = partial(self.ask, messages, sample=sample, schema=schema, **params)
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._core.threads(), context.run, ask)

    def _request(
        self, messages: Messages, sample: int, schema: Mapping[str, Any] | None, params: Mapping[str, Any]
    ) -> Request:
        connection = self._core.connection
        return Request.of(
            self.name,
            messages,
            self._merged(params),
            sample=sample,
            schema=schema,
            own_settings=connection.own_settings,
            address=connection.address,
        )

    def _merged(self, params: Mapping[str, Any]) -> dict[str, Any]:
        for name in params:
            if belongs_to_connection(name):
                raise ModelError(f"{name} is a setting of the connection", hint="Give it to LLM.connect.")
        return {name: value for name, value in {**self._params, **params}.items() if value is not None}


class _Core:
    """What all views of one connected model share."""

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
        work = partial(self._look_or_call, request, meter)
        try:
            outcome, shared = self._flights.run(request.key, work, time_left(meter))
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

    def _look_or_call(self, request: Request, meter: Meter | None) -> Outcome:
        if self._store is not None:
            try:
                found = self._store.get(request)
            except ReplayMiss as miss:
                return Outcome(request, Reading("", "", Usage()), miss, attempts=0)
            if found is not None:
                return Outcome(request, from_record(found), cached=True)
        return self._booked_call(request, meter)

    def _booked_call(self, request: Request, meter: Meter | None) -> Outcome:
        if meter is None:
            return self._call(request, None)
        meter.reserve()
        spent = _FAILED
        try:
            outcome = self._call_in_time(request, meter)
            spent = outcome.reading.usage
            return outcome
        except OutOfTime:
            spent = _UNKNOWN
            raise
        finally:
            meter.settle(spent)

    def _call_in_time(self, request: Request, meter: Meter) -> Outcome:
        """Call, but wait no longer than the run's time lasts; then raise `OutOfTime`."""
        left = time_left(meter)
        if left is None:
            return self._call(request, None)
        begun = time.monotonic()
        try:
            return within(left(), partial(self._call, request, left))
        except TooLate:
            error = out_of_time(meter, self.connection.name)
            seconds = round(time.monotonic() - begun, 6)
            raise OutOfTime(Outcome(request, Reading("", "", _UNKNOWN), error, seconds=seconds)) from None

    def _call(self, request: Request, patience: Callable[[], float] | None) -> Outcome:
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

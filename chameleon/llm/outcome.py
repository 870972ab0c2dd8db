"""How one request ended, and the forms in which that is returned, logged and recorded."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from chameleon.budget import Call, Usage
from chameleon.errors import ChameleonError, StoreError
from chameleon.llm.message import Reply, Request
from chameleon.llm.reading import Reading


@dataclass(frozen=True)
class Outcome:
    """A reading or an error, and what it took; `enlarged` counts how often its limit was widened."""

    request: Request
    reading: Reading
    error: ChameleonError | None = None
    cached: bool = False
    seconds: float = 0.0
    attempts: int = 1
    dropped: Mapping[str, str] = field(default_factory=dict)
    enlarged: int = 0

    def after(self, earlier: Outcome) -> Outcome:
        """This outcome with what an earlier one of the same request took."""
        return replace(
            self,
            reading=replace(self.reading, usage=earlier.reading.usage + self.reading.usage),
            seconds=earlier.seconds + self.seconds,
            attempts=earlier.attempts + self.attempts,
        )

    def shared(self) -> Outcome:
        """The same outcome for a caller who did not pay for it."""
        return replace(
            self,
            reading=replace(self.reading, usage=Usage()),
            error=copy.copy(self.error),  # one exception raised in two threads would mix up their tracebacks
            cached=True,
            seconds=0.0,
        )

    def call(self) -> Call:
        """The entry for the run's log."""
        request, reading = self.request, self.reading
        return Call(
            model=request.model,
            messages=request.logged_messages,
            params=request.logged_params,
            text=reading.text,
            finish=reading.finish,
            sample=request.sample,
            usage=reading.usage,
            seconds=self.seconds,
            attempts=self.attempts,
            cached=self.cached,
            error="" if self.error is None else f"{type(self.error).__name__}: {self.error}",
            dropped=self.dropped,
        )

    def reply(self) -> Reply:
        """The reply, or the error raised."""
        if self.error is not None:
            raise self.error
        reading = self.reading
        return Reply(
            reading.text,
            reading.finish,
            reading.usage,
            self.cached,
            self.seconds,
            self.attempts,
            self.request.model,
            reading.logprob,
            self.dropped,
        )


def to_record(outcome: Outcome) -> dict[str, Any]:
    """The form in which the response store keeps a reply, with what the model was asked without."""
    reading = outcome.reading
    record: dict[str, Any] = {
        "text": reading.text,
        "finish": reading.finish,
        "usage": reading.usage.to_json(),
    }
    if reading.logprob is not None:
        record["logprob"] = reading.logprob
    if outcome.enlarged:
        record["enlarged"] = outcome.enlarged
    return {**record, "dropped": dict(outcome.dropped)} if outcome.dropped else record


def from_record(request: Request, record: Mapping[str, Any]) -> Outcome:
    """The outcome of a recorded reply, which costs nothing now; raise `StoreError` for a damaged one."""
    text, finish = record.get("text"), record.get("finish")
    if not isinstance(text, str) or not isinstance(finish, str):
        raise StoreError("a recorded reply is damaged", hint="Record it again with the store in mode record.")
    logprob, dropped = record.get("logprob"), record.get("dropped")
    reading = Reading(text, finish, Usage(), logprob=logprob if isinstance(logprob, (int, float)) else None)
    dropped = dropped if isinstance(dropped, dict) else {}
    return Outcome(request, reading, cached=True, dropped=dropped, enlarged=int(record.get("enlarged", 0)))

"""Stop waiting for a model when the run's time is up."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from typing import TypeVar

from chameleon.budget import Meter
from chameleon.errors import BudgetExceeded
from chameleon.llm.outcome import Outcome

T = TypeVar("T")
DEADLINE = ContextVar("DEADLINE", default=math.inf)  # of the work in this context, by the monotonic clock


class TooLate(TimeoutError):
    """The work is not done in time; it goes on without anybody waiting for it."""


class OutOfTime(Exception):
    """Carries how a call ended that the run could not wait for."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome.error))
        self.outcome = outcome


def within(seconds: float, work: Callable[[], T]) -> T:
    """Do the work in a thread and return its result; raise `TooLate` after that many seconds.

    No provider's client can be stopped from outside, so the thread is left to itself; it does not keep the
    process from ending, and reads no more of a reply (`bounds`).
    """
    done: Future[T] = Future()
    context = copy_context()
    context.run(DEADLINE.set, time.monotonic() + seconds)

    def run() -> None:
        try:
            done.set_result(context.run(work))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="chameleon-call", daemon=True).start()
    try:
        failure = done.exception(max(0.0, seconds))
    except TimeoutError:
        raise TooLate from None
    if failure is not None:
        raise failure
    return done.result()


def time_left(meter: Meter | None) -> Callable[[], float] | None:
    """A clock of the seconds that a run has left; None where it has no limit."""
    if meter is None or meter.budget.seconds is None:
        return None
    limit = meter.budget.seconds
    return lambda: limit - meter.seconds()


def out_of_time(meter: Meter | None, model: str) -> BudgetExceeded:
    """The error for a run whose time was up before the model had answered."""
    limit = 0.0 if meter is None else meter.budget.seconds or 0.0
    return BudgetExceeded(
        f"the run reached its budget of {limit:g} seconds before {model} had answered",
        hint="Raise budget.seconds in the inventory.",
    )

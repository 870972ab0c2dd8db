"""Limits on what a run may spend, and the meter that keeps count."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeGuard

from chameleon.errors import BudgetExceeded
from chameleon.figures import in_digits, in_dollars

MAX_SECONDS = 1e9  # that a step or a call may have taken, as a log says: 31 years


def is_amount(value: Any) -> TypeGuard[int | float]:
    """Tell whether a value is a number that a float can hold: NaN and the infinities are not."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls consumed. `None` means that the provider did not say; it is never taken for 0.

    Tokens are counted as the provider counts them: `cached_tokens` are part of `input_tokens`,
    `reasoning_tokens` part of `output_tokens`. `cost` is in US dollars.
    """

    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost: float | None = 0.0
    cached_tokens: int | None = 0
    reasoning_tokens: int | None = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(_sum, _COUNTS(self), _COUNTS(other)))

    @property
    def in_words(self) -> str:
        """Write "3 calls, 812 + 40 tokens (512 cached), $0.0012"; leave out what is not known."""
        if not self.calls:
            return "no model calls"
        parts = [f"{self.calls:,} call{'' if self.calls == 1 else 's'}"]
        if self.input_tokens or self.output_tokens or self.cost:  # else nothing was reported, or paid
            if self.input_tokens is not None and self.output_tokens is not None:
                counts = ((self.cached_tokens, "cached"), (self.reasoning_tokens, "of thoughts"))
                kinds = ", ".join(f"{count:,} {name}" for count, name in counts if count)
                tokens = f"{self.input_tokens:,} + {self.output_tokens:,} tokens"
                parts.append(f"{tokens} ({kinds})" if kinds else tokens)
            if self.cost is not None:
                parts.append(in_dollars(self.cost))
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the counts by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Usage:
        """Read what `to_json` wrote. Raises TypeError or ValueError for what is none."""
        told = (count for name, count in data.items() if name == "calls" or count is not None)
        if not all(map(is_amount, told)):
            raise ValueError("a count is no number")
        return cls(**data)


_COUNTS = attrgetter(*Usage.__slots__)

UNKNOWN = Usage(1, None, None, None, None, None)
"""A call whose price nobody told."""


def _sum(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b


_OPTIONAL = frozenset({"dropped", "tool_calls", "blocks"})
_OF_CALL = frozenset({"name", "args", "id", "fault"})


@dataclass(frozen=True, slots=True)
class Call:
    """One model call as it is logged: what was asked, what came back, what it took.

    `finish` is the provider's reason for stopping ("stop", "length", …); `cached` marks a reply from
    the response store, which costs nothing; `error` names why there is no reply. `dropped` has the
    parameters that the model was asked without, and why. `tool_calls` have name, args, id, and a fault where
    the arguments were none; `blocks` are what the provider wants back with them.
    """

    model: str
    messages: tuple[tuple[str, str], ...]
    params: dict[str, Any]
    text: str = ""
    finish: str = ""
    sample: int = 0
    usage: Usage = Usage(calls=1)
    seconds: float = 0.0
    attempts: int = 1
    cached: bool = False
    error: str = ""
    dropped: Mapping[str, str] = field(default_factory=dict)
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    blocks: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the call as JSON has it; `dropped`, `tool_calls` and `blocks` only where there are any."""
        written = {name: getattr(self, name) for name in self.__slots__}
        written["messages"] = [list(message) for message in self.messages]
        written["usage"] = self.usage.to_json()
        written["seconds"] = round(self.seconds, 6)
        written["dropped"] = dict(self.dropped)
        written |= {name: [*map(dict, written[name])] for name in ("tool_calls", "blocks")}
        return {name: value for name, value in written.items() if value or name not in _OPTIONAL}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Call:
        """Read what `to_json` wrote. Raises TypeError or ValueError for what is none."""
        read = {
            "messages": tuple((role, text) for role, text in data["messages"]),
            "usage": Usage.from_json(data["usage"]),
            "seconds": checked_seconds(data.get("seconds", 0.0)),
            "tool_calls": checked_calls(data.get("tool_calls", ())),
            "blocks": checked_blocks(data.get("blocks", ())),
        }
        return cls(**data | read)


def checked_seconds(value: Any) -> float:
    """Return how long something took. Raises ValueError for what is no number of seconds."""
    if not (is_amount(value) and 0 <= value <= MAX_SECONDS):
        raise ValueError(f"it took {str(value)[:40]} seconds")
    return float(value)


def checked_calls(data: Any) -> tuple[Mapping[str, Any], ...]:
    """Return calls of tools as they were written. Raises TypeError or ValueError for what is none."""
    calls = checked_blocks(data)
    for call in calls:
        if not isinstance(call.get("args"), dict) or not {"name", "args", "id"} <= call.keys() <= _OF_CALL:
            raise ValueError("a call of a tool has no name, args and id")
        if not all(isinstance(value, str) for name, value in call.items() if name != "args"):
            raise TypeError("a call of a tool has a name, an id or a fault that is no text")
    return calls


def checked_blocks(data: Any) -> tuple[Mapping[str, Any], ...]:
    """Return JSON objects as they were written. Raises TypeError for anything else."""
    if not isinstance(data, (list, tuple)) or not all(isinstance(each, dict) for each in data):
        raise TypeError("not a list of JSON objects")
    return tuple(data)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one run may spend; `None` is no limit. Seconds are wall time, cost US dollars.

    `megabytes` bounds what an output, the arguments of a step, or the state may hold.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    steps: int | None = 64
    megabytes: float | None = 16.0

    def check(self, name: str, spent: float | None, of: str = "") -> None:
        """Raise `BudgetExceeded` where the limit of that name is reached, or cannot be kept.

        `of` is the `place` of the meter that keeps it.
        """
        limit: float | None = getattr(self, name)
        if limit is None:
            return
        if spent is None:
            instead = "Give llm.prices, or limit" if name == "cost" else "Limit"
            raise BudgetExceeded(
                f"the provider does not report {name}, so the limit of {in_digits(limit, 6)} cannot be kept",
                where=of,
                hint=f"{instead} budget.calls or budget.seconds instead of budget.{name}.",
            )
        if spent >= limit:
            hint = f"Raise budget.{name} in the inventory, or give Executor a budget=Budget({name}=…)."
            most = f"{in_digits(limit, 6)} {name.removesuffix('s') if limit == 1 else name}"
            raise BudgetExceeded(f"the {of or 'run'} reached its budget of {most}", where=of, hint=hint)


@dataclass
class Meter:
    """Counts what one run spends against its budget; safe to share between threads.

    On resume it starts from what the log already records. What the run of an inventory within spends counts
    for the `parent` as well; `place` then says which inventory it is, and tells its limits from those around.
    `doubts` are those of its plans: see `Recorder`.
    """

    budget: Budget = field(default_factory=Budget)
    spent: Usage = Usage()
    seconds_before: float = 0.0
    steps: int = 0
    parent: Meter | None = None
    place: str = ""
    doubts: list[Callable[[], None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _begun: float = field(default_factory=time.monotonic)
    _reserved: int = 0

    def place_of(self, name: str) -> str:
        """Return the place of the meter for an inventory of that name which runs within."""
        around = f" in {self.place.removeprefix('inventory ')}" if self.place else ""
        return f"inventory {name}{around}"

    def seconds(self) -> float:
        """Return how long the run has taken, from its first start on."""
        return self.seconds_before + time.monotonic() - self._begun

    @property
    def _chain(self) -> list[Meter]:
        """Return this meter, then those of the runs around it; they share the lock of the outermost."""
        return [self] if self.parent is None else [self, *self.parent._chain]

    @property
    def time_left(self) -> float:
        """Return the seconds until the run, or one around it, has to end."""
        return min(meter._own_time_left() for meter in self._chain)

    @property
    def first_to_end(self) -> Meter:
        """Return the meter whose seconds end first: that of the run, or of one that it is in."""
        return min(reversed(self._chain), key=Meter._own_time_left)

    def _own_time_left(self) -> float:
        return math.inf if self.budget.seconds is None else self.budget.seconds - self.seconds()

    def take_steps(self, wanted: int) -> int:
        """Count steps that are about to be run; return how many of them may be, one at least.

        Raises `BudgetExceeded`, naming the limit, when the run may take no further step.
        """
        self.check()
        chain = self._chain
        with chain[-1]._lock:
            for meter in chain:
                meter.budget.check("steps", meter.steps, meter.place)
                if meter.budget.steps is not None:
                    wanted = min(wanted, meter.budget.steps - meter.steps)
            for meter in chain:
                meter.steps += wanted
        return wanted

    def drop_step(self) -> None:
        """Count a step no longer: what it did does not count."""
        chain = self._chain
        with chain[-1]._lock:
            for meter in chain:
                meter.steps -= 1

    def check(self) -> None:
        """Raise `BudgetExceeded`, naming the limit, when the run has reached one; the outermost run first."""
        for meter in reversed(self._chain):
            limits, spent = meter.budget, meter.spent
            if limits.seconds is not None:
                limits.check("seconds", meter.seconds(), meter.place)
            if limits.tokens is not None:
                limits.check("tokens", _sum(spent.input_tokens, spent.output_tokens), meter.place)
            if limits.cost is not None:
                limits.check("cost", spent.cost, meter.place)

    def reserve(self) -> None:
        """Take one call from the budget before it is made, so that concurrent calls cannot overrun it."""
        self.check()
        chain = self._chain
        with chain[-1]._lock:
            for meter in chain:
                meter.budget.check("calls", meter.spent.calls + meter._reserved, meter.place)
            for meter in chain:
                meter._reserved += 1

    def settle(self, usage: Usage) -> None:
        """Book what a reserved call really took."""
        chain = self._chain
        with chain[-1]._lock:
            for meter in chain:
                meter._reserved -= 1
                meter.spent = meter.spent + usage


@dataclass
class Recorder:
    """Collects the calls of one step or plan, whichever threads make them.

    `hear` is called with the pieces of replies as they come, and with None where a reply begins anew.
    `doubts` have each reply asked anew another time, rather than served from the store.
    """

    meter: Meter
    hear: Callable[[str | None], None] | None = None
    calls: list[Call] = field(default_factory=list)
    doubts: list[Callable[[], None]] = field(default_factory=list)


_recorder: ContextVar[Recorder | None] = ContextVar("chameleon_recorder", default=None)


current_recorder = _recorder.get
"""Return the recorder of the step that runs in this context; `None` outside a run."""


@contextmanager
def recording(meter: Meter, hear: Callable[[str | None], None] | None = None) -> Iterator[Recorder]:
    """Book every model call made in this context on `meter`, and collect it for the log."""
    recorder = Recorder(meter, hear)
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)

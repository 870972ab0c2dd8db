"""The budget of a run, and the meter that counts its usage."""

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

MAX_SECONDS = 1e9  # the longest time of a step or call in a log: 31 years


def is_amount(value: Any) -> TypeGuard[int | float]:
    """Return whether a value is a number that a float can hold; NaN and infinities are not."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of model calls. `None` means that the provider did not report it; it never counts as 0.

    Attributes:
        input_tokens, output_tokens: the provider's counts, as for all tokens.
        cached_tokens: part of `input_tokens`.
        reasoning_tokens: part of `output_tokens`.
        cost: in US dollars.
    """

    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost: float | None = 0.0
    cached_tokens: int | None = 0
    reasoning_tokens: int | None = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*map(_sum, _COUNTS(self), _COUNTS(other)))

    @property
    def in_words(self) -> str:
        """Write "3 calls, 812 + 40 tokens (512 cached), $0.0012"; omit unknown parts."""
        if not self.calls:
            return "no model calls"
        parts = [f"{self.calls:,} call{'' if self.calls == 1 else 's'}"]
        if self.input_tokens or self.output_tokens or self.cost:  # otherwise nothing was reported or paid
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
    def from_json(cls, data: Mapping[str, Any]) -> "Usage":
        """Read what `to_json` wrote. Raises TypeError or ValueError for invalid data."""
        counts = (count for name, count in data.items() if name == "calls" or count is not None)
        if not all(map(is_amount, counts)):
            raise ValueError("a count is not a number")
        return cls(**data)


_COUNTS = attrgetter(*Usage.__slots__)

UNKNOWN = Usage(1, None, None, None, None, None)
"""A call with unknown usage."""


def _sum(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b


_OPTIONAL_KEYS = frozenset({"dropped", "tool_calls", "blocks"})
_CALL_KEYS = frozenset({"name", "args", "id", "fault"})


@dataclass(frozen=True, slots=True)
class Call:
    """One model call as it is logged: the request, the reply and the usage.

    Attributes:
        finish: the provider's reason for stopping: "stop", "length", ….
        cached: whether the reply is from the response store, which costs nothing.
        error: why there is no reply, or "".
        dropped: the parameters left out of the request, and why.
        tool_calls: each with name, args, id, and a fault if the arguments were invalid.
        blocks: data that the provider wants back with the tool calls.
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
        """Return the call as JSON; `dropped`, `tool_calls` and `blocks` only if not empty."""
        data = {name: getattr(self, name) for name in self.__slots__}
        data["messages"] = [list(message) for message in self.messages]
        data["usage"] = self.usage.to_json()
        data["seconds"] = round(self.seconds, 6)
        data["dropped"] = dict(self.dropped)
        data |= {name: [*map(dict, data[name])] for name in ("tool_calls", "blocks")}
        return {name: value for name, value in data.items() if value or name not in _OPTIONAL_KEYS}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Call":
        """Read what `to_json` wrote. Raises TypeError or ValueError for invalid data."""
        fields = {
            "messages": tuple((role, text) for role, text in data["messages"]),
            "usage": Usage.from_json(data["usage"]),
            "seconds": checked_seconds(data.get("seconds", 0.0)),
            "tool_calls": checked_calls(data.get("tool_calls", ())),
            "blocks": checked_blocks(data.get("blocks", ())),
        }
        return cls(**data | fields)


def checked_seconds(value: Any) -> float:
    """Return a duration. Raises ValueError if it is not a number of seconds."""
    if not (is_amount(value) and 0 <= value <= MAX_SECONDS):
        raise ValueError(f"{str(value)[:40]} seconds is not a valid duration")
    return float(value)


def checked_calls(data: Any) -> tuple[Mapping[str, Any], ...]:
    """Return tool calls as they were written. Raises TypeError or ValueError for invalid ones."""
    calls = checked_blocks(data)
    for call in calls:
        if not isinstance(call.get("args"), dict) or not {"name", "args", "id"} <= call.keys() <= _CALL_KEYS:
            raise ValueError("a tool call must have name, args and id")
        if not all(isinstance(value, str) for name, value in call.items() if name != "args"):
            raise TypeError("the name, id or fault of a tool call is not text")
    return calls


def checked_blocks(data: Any) -> tuple[Mapping[str, Any], ...]:
    """Return JSON objects as they were written. Raises TypeError for anything else."""
    if not isinstance(data, (list, tuple)) or not all(isinstance(each, dict) for each in data):
        raise TypeError("not a list of JSON objects")
    return tuple(data)


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one run; `None` means no limit. Seconds are wall time, cost is in US dollars.

    `megabytes` limits the size of an output, of the arguments of a step, and of the state.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    steps: int | None = 64
    megabytes: float | None = 16.0

    def check(self, name: str, spent: float | None, of: str = "") -> None:
        """Raise `BudgetExceeded` if a limit is reached, or cannot be kept.

        Args:
            name: the limit: "calls", "tokens", "seconds", "cost" or "steps".
            spent: the amount so far; None if the provider does not report it.
            of: the `place` of the meter with this budget.
        """
        limit: float | None = getattr(self, name)
        if limit is None:
            return
        if spent is None:
            instead = "Set llm.prices, or limit" if name == "cost" else "Limit"
            raise BudgetExceeded(
                f"the provider does not report {name}, so the limit of {in_digits(limit, 6)} cannot be kept",
                where=of,
                hint=f"{instead} budget.calls or budget.seconds instead of budget.{name}.",
            )
        if spent >= limit:
            hint = f"Raise budget.{name} in the inventory, or pass Executor a budget=Budget({name}=…)."
            amount = f"{in_digits(limit, 6)} {name.removesuffix('s') if limit == 1 else name}"
            raise BudgetExceeded(f"the {of or 'run'} reached its budget of {amount}", where=of, hint=hint)


@dataclass
class Meter:
    """Counts the usage of one run against its budget; safe to share between threads.

    On resume it starts from what the log already records.

    Attributes:
        parent: the meter of the outer run, for which the usage of a nested inventory also counts.
        place: names the nested inventory, to separate its limits from the outer ones.
        doubts: those of the run's plans: see `Recorder`.
    """

    budget: Budget = field(default_factory=Budget)
    spent: Usage = Usage()
    seconds_before: float = 0.0
    steps: int = 0
    parent: "Meter | None" = None
    place: str = ""
    doubts: list[Callable[[], None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _begun: float = field(default_factory=time.monotonic)
    _reserved: int = 0

    def place_of(self, name: str) -> str:
        """Return the place of the meter for a nested inventory of that name."""
        around = f" in {self.place.removeprefix('inventory ')}" if self.place else ""
        return f"inventory {name}{around}"

    def seconds(self) -> float:
        """Return the seconds the run has taken since its first start."""
        return self.seconds_before + time.monotonic() - self._begun

    @property
    def _chain(self) -> "list[Meter]":
        """Return this meter, then those of the outer runs; they share the outermost's lock."""
        return [self] if self.parent is None else [self, *self.parent._chain]

    @property
    def time_left(self) -> float:
        """Return the seconds until the run, or an outer one, must end."""
        return min(meter._own_time_left() for meter in self._chain)

    @property
    def first_to_end(self) -> "Meter":
        """Return the meter whose time runs out first: that of the run or of an outer one."""
        return min(reversed(self._chain), key=Meter._own_time_left)  # of equal ones the outermost

    def _own_time_left(self) -> float:
        return math.inf if self.budget.seconds is None else self.budget.seconds - self.seconds()

    def take_steps(self, steps: int) -> int:
        """Count steps that are about to run; return how many of them may run, at least one.

        Raises `BudgetExceeded`, naming the limit, if the run may take no further step.
        """
        self.check()
        chain = self._chain
        with chain[-1]._lock:
            for meter in chain:  # check all before counting in any
                meter.budget.check("steps", meter.steps, meter.place)
                if meter.budget.steps is not None:
                    steps = min(steps, meter.budget.steps - meter.steps)
            for meter in chain:
                meter.steps += steps
        return steps

    def drop_step(self) -> None:
        """Uncount a step whose result was dropped."""
        chain = self._chain
        with chain[-1]._lock:
            for meter in chain:
                meter.steps -= 1

    def check(self) -> None:
        """Raise `BudgetExceeded`, naming the limit, if a run has reached one; the outermost run first."""
        for meter in reversed(self._chain):
            limits, usage = meter.budget, meter.spent
            limits.check("seconds", meter.seconds(), meter.place)
            limits.check("tokens", _sum(usage.input_tokens, usage.output_tokens), meter.place)
            limits.check("cost", usage.cost, meter.place)

    def reserve(self) -> None:
        """Reserve one call before it is made, so that concurrent calls cannot exceed the budget."""
        self.check()
        chain = self._chain
        with chain[-1]._lock:
            for meter in chain:  # check all before reserving in any
                meter.budget.check("calls", meter.spent.calls + meter._reserved, meter.place)
            for meter in chain:
                meter._reserved += 1

    def settle(self, usage: Usage) -> None:
        """Record the actual usage of a reserved call."""
        chain = self._chain
        with chain[-1]._lock:
            for meter in chain:
                meter._reserved -= 1
                meter.spent = meter.spent + usage


@dataclass
class Recorder:
    """Collects the calls of one step or plan, from any thread.

    Attributes:
        hear: receives the pieces of replies as they arrive, and None when a reply starts over.
        doubts: each marks a reply to be requested again next time, instead of served from the store.
    """

    meter: Meter
    hear: Callable[[str | None], None] | None = None
    calls: list[Call] = field(default_factory=list)
    doubts: list[Callable[[], None]] = field(default_factory=list)


_recorder: ContextVar[Recorder | None] = ContextVar("chameleon_recorder", default=None)


current_recorder = _recorder.get
"""Return the recorder of the step that runs in this context; `None` outside a run."""


@contextmanager
def recording(meter: Meter, on_text: Callable[[str | None], None] | None = None) -> Iterator[Recorder]:
    """Count every model call made in this context on `meter`, and collect it for the log."""
    recorder = Recorder(meter, on_text)
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)

"""A run as an event log, and the state that it folds to.

Five kinds of events make a run: `Begun` (the input), `Plan` (steps to take, or a refused plan),
`Record` (one step taken), `Dropped` (a parameter that a model does not take) and `Ended`. `State.after` is
the only way that a state changes, so a trace, a checkpoint, a resumed run and a replay all read the same
lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chameleon import values
from chameleon.errors import ChameleonError, LogError
from chameleon.table import Table
from chameleon.usage import Call, Usage

Reason = Literal["answered", "declined", "failed", "budget"]
PlanKind = Literal["proposed", "again", "repair", "on_error", "fallback"]

# What a model is told of a failure: what an error says may hold paths, hosts and words of libraries.
_TO_A_MODEL: Mapping[str, str] = {
    "InputError": "what it was given cannot be used",
    "InventoryError": "it is not set up here",
    "MissingPackage": "it is not installed here",
    "SandboxUnavailable": "it cannot run here",
    "CutOff": "it came to no usable result",
    "StepRejected": "it came to no usable result",
    "StoreError": "its store cannot be used",
    "WebError": "the web gave no answer",
}
_FAILED = "it failed"


@dataclass(frozen=True, slots=True)
class Step:
    """One module to run, by name, with arguments for this step alone (such as a warmer temperature)."""

    module: str
    args: Mapping[str, Any] = field(default_factory=values.ReadOnly)

    def to_json(self) -> dict[str, Any]:
        if not self.args:
            return {"module": self.module}
        return {"module": self.module, "args": values.to_json(self.args)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Step:
        return cls(data["module"], values.from_json(data.get("args", {})))


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a step, a plan or a run went wrong: the error's class, what it said, where, and what to do.

    A class of the user's own counts as the class of `chameleon.errors` that it is made from.
    """

    kind: str
    message: str
    hint: str = ""
    where: str = ""

    @classmethod
    def of(cls, error: BaseException, where: str = "") -> Failure:
        """The failure that an error is; `where` is added to the place that the error names itself."""
        if isinstance(error, ChameleonError):
            place = ": ".join(part for part in (where, error.where) if part)
            return cls(_kind(error), error.what, error.hint, place)
        return cls(type(error).__name__, _said(error), where=where)

    @property
    def advice(self) -> str:
        """What was wrong and what to do, without the place."""
        return f"{self.message.rstrip('.')}. {self.hint}" if self.hint else self.message

    @property
    def reason(self) -> str:
        """What kind of lack it is, in a few plain words for a model; nothing that the error said."""
        return _TO_A_MODEL.get(self.kind, _FAILED)

    def __str__(self) -> str:
        return f"{self.where}: {self.advice}" if self.where else self.advice

    def to_json(self) -> dict[str, str]:
        return {"kind": self.kind, "message": self.message, "hint": self.hint, "where": self.where}


def _kind(error: ChameleonError) -> str:
    """The nearest class of ours: what a run does next depends on it."""
    return next(cls.__name__ for cls in type(error).__mro__ if cls.__module__ == ChameleonError.__module__)


def _said(error: BaseException) -> str:
    try:
        return str(error) or "no message"
    except Exception:
        return "its message cannot be read"


@dataclass(frozen=True, slots=True)
class Begun:
    """A run begins: its inventory, its input, and the settings that made it."""

    inventory: str
    input: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=values.ReadOnly)


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps to take next, who chose them (`by`) and why (`note`).

    As an event it replaces what is still pending, unless `refused` says what is wrong with it. `kind` tells
    a planner's proposal, or its other plan after a failure ("again"), from what the inventory has for a
    step that failed: its repair, its `on_error` plan (both `by` that module), or the fallback. `path` is the
    place that planners of planners keep: the number of the planner or of the attempt, the outermost first.
    """

    steps: tuple[Step, ...]
    by: str
    note: str = ""
    kind: PlanKind = "proposed"
    refused: str = ""
    seconds: float = 0.0
    calls: tuple[Call, ...] = ()
    path: tuple[int, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(step.module for step in self.steps)


@dataclass(frozen=True, slots=True)
class Record:
    """One step taken: what the module returned, what it changed, what it cost, or why it failed.

    `dropped` marks work done beside a step that failed: its calls count, its output does not.
    """

    step: Step
    output: Any = None
    input_changes: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    cache_changes: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    error: Failure | None = None
    seconds: float = 0.0
    calls: tuple[Call, ...] = ()
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """A model was asked without a parameter that is set for it, the first time in this run; and why."""

    model: str
    parameter: str
    value: Any
    why: str

    @property
    def calls(self) -> tuple[Call, ...]:
        """None: they are those of the plan or step that follows."""
        return ()

    def __str__(self) -> str:
        return f"{self.model} was asked without {self.parameter} {json.dumps(self.value)}: {self.why}"


@dataclass(frozen=True, slots=True)
class Ended:
    """A run ends: answered, declined, failed, or out of budget."""

    reason: Reason
    error: Failure | None = None
    calls: tuple[Call, ...] = ()


Event = Begun | Plan | Record | Dropped | Ended


@dataclass(frozen=True, slots=True)
class Lack:
    """The keys that a module would have written had it not failed, and what kept it (`Failure.reason`)."""

    keys: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class State:
    """What a run has come to: input, cache, history, plans and pending steps. Immutable.

    Mappings are read-only; lists in values appear as tuples. `plan` names the modules as they were planned,
    in order: a plan that takes the place of another follows what of that was done, and repairs, which repeat
    steps, are left out. `failure` is the last step if it failed and
    no plan has been made since; `step` is the step that a module is now running, and `lacking` what it could
    have read had not another module failed. A module that declares `reads` sees only those keys.
    """

    input: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    cache: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    history: tuple[Record, ...] = ()
    plans: tuple[Plan, ...] = ()
    plan: tuple[str, ...] = ()
    pending: tuple[Step, ...] = ()
    failure: Record | None = None
    ended: Ended | None = None
    begun: Begun | None = None
    dropped: tuple[Dropped, ...] = ()
    step: Step | None = field(default=None, compare=False)
    lacking: tuple[Lack, ...] = field(default=(), compare=False)

    @classmethod
    def fold(cls, events: Iterable[Event]) -> State:
        state = cls()
        for event in events:
            state = state.after(event)
        return state

    def after(self, event: Event) -> State:
        """The state once the event has happened. Raises `LogError` for an event out of order."""
        if isinstance(event, Begun):
            if self.begun is not None:
                raise LogError("the log holds two beginnings", hint="Give every run a log of its own.")
            return self.with_changes(begun=event, input=event.input)
        if self.begun is None or self.ended is not None:
            raise LogError("the log goes on after its end" if self.begun else "the log has no beginning")
        if isinstance(event, Record):
            return self._after_step(event)
        if isinstance(event, Dropped):
            return self.with_changes(dropped=(*self.dropped, event))
        if isinstance(event, Plan):
            if event.refused:
                return self.with_changes(plans=(*self.plans, event))
            return self.with_changes(
                plans=(*self.plans, event), plan=self._plan_with(event), pending=event.steps, failure=None
            )
        return self.with_changes(ended=event)

    def news_of(self, event: Plan | Record | Ended) -> tuple[Dropped, ...]:
        """The parameters that models were first asked without in this plan, step or end."""
        told = {(each.model, each.parameter) for each in self.dropped}
        found = {
            (call.model, name): Dropped(call.model, name, call.params.get(name), why)
            for call in event.calls
            for name, why in call.dropped.items()
            if (call.model, name) not in told
        }
        return tuple(found.values())

    def _plan_with(self, plan: Plan) -> tuple[str, ...]:
        """The modules as they are planned once this plan is taken."""
        if plan.kind == "repair":
            return self.plan
        if plan.kind == "proposed":
            return self.plan + plan.names
        done = max(len(self.plan) - len(self.pending), 0)
        return self.plan[:done] + plan.names

    def _after_step(self, record: Record) -> State:
        history = (*self.history, record)
        if record.dropped:
            return self.with_changes(history=history)
        if self.pending[:1] != (record.step,):
            raise LogError(f"the log records a step that was not pending: {record.step.module}")
        return self.with_changes(
            history=history,
            pending=self.pending[1:],
            failure=record if record.error else None,
            input=values.merge(self.input, record.input_changes) if record.input_changes else self.input,
            cache=values.merge(self.cache, record.cache_changes) if record.cache_changes else self.cache,
        )

    def with_changes(self, **changed: Any) -> State:
        """This state with some fields changed: `dataclasses.replace`, in a third of its time."""
        state = object.__new__(State)
        state.__dict__.update(self.__dict__, **changed)
        return state

    @property
    def keys(self) -> frozenset[str]:
        """What is there to read, written as modules declare it: "input.table", "cache.knowledge"."""
        return frozenset([f"input.{key}" for key in self.input] + [f"cache.{key}" for key in self.cache])

    @property
    def taken(self) -> tuple[Record, ...]:
        """The steps that count: all but those dropped beside a failure."""
        return tuple(record for record in self.history if not record.dropped)

    @property
    def answer(self) -> Any:
        """What the last module returned, once the run has answered; else None."""
        if self.ended is None or self.ended.reason != "answered":
            return None
        return self.taken[-1].output

    @property
    def program(self) -> tuple[str, ...]:
        """The names of the modules that ran, in order."""
        return tuple(record.step.module for record in self.taken)

    @property
    def passed_over(self) -> tuple[Failure, ...]:
        """Why modules failed that the run went on without: those that did not do their work later either."""
        return tuple(self.failures.values())

    @property
    def failures(self) -> Mapping[str, Failure]:
        """The modules that failed and did not do their work later either, and why."""
        worked = {record.step.module for record in self.taken if record.error is None}
        failed = {record.step.module: record.error for record in self.taken if record.error is not None}
        return {name: error for name, error in failed.items() if name not in worked}

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every model call of the run, those of planners included."""
        parts: list[Plan | Record | Ended] = [
            *self.plans,
            *self.history,
            *([self.ended] if self.ended else []),
        ]
        return tuple(call for part in parts for call in part.calls)

    @property
    def usage(self) -> Usage:
        return sum((call.usage for call in self.calls), Usage())

    @property
    def seconds(self) -> float:
        """Time spent planning and in modules; steps that ran side by side count each."""
        return sum(plan.seconds for plan in self.plans) + sum(record.seconds for record in self.history)

    @property
    def table(self) -> Table | None:
        """The table as it now stands, if the question came with one."""
        table = self.input.get("table")
        return table if isinstance(table, Table) else None

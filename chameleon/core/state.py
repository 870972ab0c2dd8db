"""A run as an event log, and the state that it folds to.

Seven kinds of events make a run: `RunStarted` (the input), `Plan` (steps to take, or a refused plan),
`Approval` (steps that a person is asked to allow, or the answer), `StepRecord` (one step taken), `Nested`
(what happens in a step that runs an inventory), `Dropped` (a parameter that a model does not take) and
`RunEnded`.
`State.after` is the only way that a state changes, so a trace, a checkpoint, a resumed run and a replay all
read the same lines.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

from chameleon import errors, values
from chameleon.core.conversation import HISTORY, with_turn
from chameleon.errors import ChameleonError, LogError, ModuleError, lack_of
from chameleon.table import Table
from chameleon.text import html_rows, one_line
from chameleon.usage import Call, Usage

Reason = Literal["answered", "declined", "failed", "budget"]
Status = Literal["answered", "declined", "failed", "budget", "waiting", "running"]
PlanKind = Literal["proposed", "replan", "repair", "on_error", "fallback"]
Said = Literal["asked", "yes", "no", "begun"]
Ran = Mapping[tuple[str, ...], int]

# What a model is told of a failure: what an error says may hold paths, hosts and words of libraries.
_TO_A_MODEL: Mapping[str, str] = {
    "InputError": "what it was given cannot be used",
    "InventoryError": "it is not set up here",
    "MachineError": "it cannot run here",
    "MissingPackage": "it is not installed here",
    "SandboxUnavailable": "it cannot run here",
    "CutOff": "it came to no usable result",
    "NotApproved": "the user did not allow it",
    "StepRejected": "it came to no usable result",
    "StoreError": "its store cannot be used",
    **dict.fromkeys(("Unanswered", "WebError"), "the web gave no answer"),
}
_FAILED = "it failed"
ONE_QUESTION = "for_one_question"
"""The setting of a run that names the modules whose changes of the input hold for its question alone."""
_MAX_ARGUMENTS_CHARS, _MAX_REPR_CHARS = 200, 300
LONGEST_REPLY = 4_000  # characters


@dataclass(frozen=True, slots=True)
class Redo:
    """How a repair runs a step again: as which attempt (0 ran first) and how much warmer.

    Nothing comes after the `last` attempt. `reply` is what the model had said, up to `LONGEST_REPLY`, and
    `fault` what was wrong with it, where the model is to be told.
    """

    attempt: int
    temperature_step: float = 0.0
    last: bool = False
    fault: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One module to run, by name: with the arguments that a planner chose, and as a redo where it is one."""

    module: str
    args: Mapping[str, Any] | None = None
    redo: Redo | None = None

    def __str__(self) -> str:
        """Write the step on one line, with its arguments: `weather (city: "Paris")`."""
        if not self.args:
            return self.module
        given = (f"{k}: {json.dumps(values.to_json(v), ensure_ascii=False)}" for k, v in self.args.items())
        return f"{self.module} ({one_line(', '.join(given), _MAX_ARGUMENTS_CHARS)})"

    def __repr__(self) -> str:
        return f"<Step {self}>"

    def to_json(self) -> dict[str, Any]:
        """Write the step as JSON; `from_json` gives it back."""
        written: dict[str, Any] = {"module": self.module}
        if self.args is not None:
            written["args"] = values.to_json(self.args)
        if self.redo is not None:
            written["redo"] = asdict(self.redo)
        return written

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Step:
        """Read what `to_json` wrote."""
        redo = Redo(**data["redo"]) if "redo" in data else None
        return cls(data["module"], values.from_json(data.get("args")), redo)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a step, a plan or a run went wrong: the error's class, what it said, where, and what to do.

    A class of the user's own counts as the class of `chameleon.errors` that it is made from. `cause` is what
    was raised, as long as the process lives.
    """

    kind: str
    message: str
    hint: str = ""
    where: str = ""
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    code: str = ""

    @classmethod
    def of(cls, error: BaseException, where: str = "") -> Failure:
        """Return the failure that an error is; `where` is added to the place that the error names itself."""
        error = lack_of(error) or error
        if isinstance(error, ChameleonError):
            # The nearest class of ours: what a run does next depends on it.
            ours = (kind for kind in type(error).__mro__ if kind.__module__ == ChameleonError.__module__)
            place = ": ".join(part for part in (where, error.where) if part)
            return cls(next(ours).__name__, error.what, error.hint, place, error, error.code)
        try:
            message = str(error) or "no message"
        except Exception:  # whatever a user's class does when it is written out
            message = "its message cannot be read"
        return cls(type(error).__name__, message, where=where, cause=error)

    @property
    def exception(self) -> ChameleonError:
        """Return the error to raise, of the class that is named; what was raised is its cause."""
        named = getattr(errors, self.kind, None)
        if not (isinstance(named, type) and issubclass(named, ChameleonError)):
            named = ModuleError
        made = named(self.message, where=self.where, hint=self.hint, code=self.code)
        made.__cause__ = self.cause
        return made

    @property
    def advice(self) -> str:
        """Return what was wrong and what to do, without the place."""
        return f"{self.message.rstrip('.')}. {self.hint}" if self.hint else self.message

    @property
    def reason(self) -> str:
        """Return what is wrong in a few plain words for a model: nothing that the error said."""
        return _TO_A_MODEL.get(self.kind, _FAILED)

    def __str__(self) -> str:
        return f"{self.where}: {self.advice}" if self.where else self.advice

    def to_json(self) -> dict[str, str]:
        told = {"kind": self.kind, "message": self.message, "hint": self.hint, "where": self.where}
        return {**told, "code": self.code} if self.code else told

    @classmethod
    def from_json(cls, data: Mapping[str, str]) -> Failure:
        kind, message, hint, where = (data[key] for key in ("kind", "message", "hint", "where"))
        return cls(kind, message, hint, where, code=data.get("code", ""))


def not_approved(step: Step) -> Failure:
    """Return why a step that a person did not allow is not run."""
    return Failure(errors.NotApproved.__name__, f"{step} was not approved", where=f"module {step.module}")


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins: its inventory, its input, and the settings that made it.

    `at` is when, in seconds since 1970; 0 where the log does not say.
    """

    inventory: str
    input: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    at: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The steps to take next, who chose them (`by`) and why (`note`).

    As an event it replaces what is still pending, unless `refused` says what is wrong with it. `kind` tells
    a planner's proposal, or its other plan after a failure ("replan"), from what the inventory has for a
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

    def __str__(self) -> str:
        return " → ".join(map(str, self.steps))

    def __repr__(self) -> str:
        steps = f"refused: {self.refused}" if self.refused else str(self)
        return f"<Plan {self.kind} by {self.by}: {one_line(steps, _MAX_REPR_CHARS)}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of its modules, in order."""
        return tuple(step.module for step in self.steps)

    def without(self, left_out: Collection[str]) -> Plan:
        """Return the plan without the steps of these modules, with a note that says so."""
        dropped = sorted({name for name in self.names if name in left_out}) if left_out else ()
        if not dropped:
            return self
        note = "; ".join(part for part in (self.note, f"without {', '.join(dropped)}") if part)
        steps = tuple(step for step in self.steps if step.module not in left_out)
        refused = self.refused or ("" if steps else "every module of the plan is left out")
        return replace(self, steps=steps, note=note, refused=refused)


@dataclass(frozen=True, slots=True, repr=False)
class StepRecord:
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

    def __repr__(self) -> str:
        return f"<StepRecord {one_line(f'{self.step}: {self.error or self.output}', _MAX_REPR_CHARS)}>"


@dataclass(frozen=True, slots=True)
class Nested:
    """Something happens in the run of an inventory, which the pending step of that module runs."""

    module: str
    event: Event

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return the model calls of that event."""
        return getattr(self.event, "calls", ())

    @property
    def innermost(self) -> Event:
        """Return what happens in the run within, or in the one within that."""
        return self.event.innermost if isinstance(self.event, Nested) else self.event


@dataclass(frozen=True, slots=True)
class Approval:
    """A person is asked whether pending steps may run, or has answered; `by` says who, or by what way.

    "begun" says that steps which were allowed now run: the yes is used up, whatever comes of them.
    """

    steps: tuple[Step, ...]
    said: Said
    by: str = ""
    calls: ClassVar[tuple[Call, ...]] = ()  # no model has a part in it

    def __str__(self) -> str:
        return ", ".join(map(str, self.steps))


@dataclass(frozen=True, slots=True)
class Dropped:
    """A model was asked without a parameter that is set for it, the first time in this run; and why."""

    model: str
    parameter: str
    value: Any
    why: str
    calls: ClassVar[tuple[Call, ...]] = ()  # they are those of the plan or step that follows

    def __str__(self) -> str:
        return f"{self.model} was asked without {self.parameter} {json.dumps(self.value)}: {self.why}"


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run ends: answered, declined, failed, or out of budget."""

    reason: Reason
    error: Failure | None = None
    calls: tuple[Call, ...] = ()


Event = RunStarted | Plan | Approval | StepRecord | Nested | Dropped | RunEnded


@dataclass(frozen=True, slots=True)
class MissingKeys:
    """The keys that a module would have written had it not failed, and why it failed (`Failure.reason`)."""

    keys: tuple[str, ...]
    reason: str


@dataclass(frozen=True, repr=False)
class State:
    """What a run has come to: input, cache, history, plans and pending steps. Immutable.

    Mappings are read-only; lists in values appear as tuples. `plan` names the modules as they were planned,
    in order: a plan that takes the place of another follows what of that was done, and repairs, which repeat
    steps, are left out. `inside` is what has happened in the step that is pending first, where it runs an
    inventory, `within` the same of steps that were taken, by their number in the history. Of pending steps
    `asked` wait for a person's answer, `allowed` and `denied` have it.
    `failure` is the last step if it failed and
    no plan has been made since; `step` is the step that a module is now running, and `missing` what it could
    have read had not another module failed. A module that declares `reads` sees only those keys.
    """

    input: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    cache: Mapping[str, Any] = field(default_factory=values.ReadOnly)
    history: tuple[StepRecord, ...] = ()
    plans: tuple[Plan, ...] = ()
    plan: tuple[str, ...] = ()
    pending: tuple[Step, ...] = ()
    failure: StepRecord | None = None
    ended: RunEnded | None = None
    started: RunStarted | None = None
    dropped: tuple[Dropped, ...] = ()
    inside: tuple[Event, ...] = ()
    within: Mapping[int, tuple[Event, ...]] = field(default_factory=dict)
    asked: tuple[Step, ...] = ()
    allowed: tuple[Step, ...] = ()
    denied: tuple[Step, ...] = ()
    step: Step | None = field(default=None, compare=False)
    missing: tuple[MissingKeys, ...] = field(default=(), compare=False)

    @classmethod
    def fold(cls, events: Iterable[Event]) -> State:
        """Return the state that the events of a run come to."""
        state = cls()
        for event in events:
            state = state.after(event)
        return state

    def with_fields(self, **changes: Any) -> State:
        """Return the state with these fields changed; `dataclasses.replace` takes ten times as long."""
        made = object.__new__(State)
        held = made.__dict__
        held.update(self.__dict__)
        held.update(changes)
        return made

    def after(self, event: Event) -> State:
        """Return the state once the event has happened. Raises `LogError` for an event out of order."""
        if isinstance(event, RunStarted):
            if self.started is not None:
                raise LogError("the log holds two beginnings", hint="Give every run a log of its own.")
            return self.with_fields(started=event, input=event.input)
        if self.started is None or self.ended is not None:
            raise LogError("the log goes on after its end" if self.started else "the log has no beginning")
        if isinstance(event, StepRecord):
            return self._after_step(event)
        if isinstance(event, Nested):
            if not self.pending or self.pending[0].module != event.module:
                raise LogError(f"the log tells of what happened in {event.module}, which was not pending")
            return self.with_fields(inside=(*self.inside, event.event))
        if isinstance(event, Dropped):
            return self.with_fields(dropped=(*self.dropped, event))
        if isinstance(event, Approval):
            return self._after_approval(event)
        if isinstance(event, Plan):
            if event.refused:
                return self.with_fields(plans=(*self.plans, event))
            plan = self._plan_with(event)
            plans = (*self.plans, event)
            after = self.with_fields(plans=plans, plan=plan, pending=event.steps, failure=None)
            # What was allowed is a plan as it stood; of one that a repair goes on with, what is left of it.
            return after if event.kind == "repair" else after.with_fields(asked=(), allowed=(), denied=())
        return self.with_fields(ended=event)

    def _after_approval(self, event: Approval) -> State:
        if not event.steps or any(step not in self.pending for step in event.steps):
            raise LogError(f"the log asks for, or gives, approval of what is not pending: {event}")
        if event.said == "asked":
            return self.with_fields(asked=event.steps)
        if event.said == "begun":
            allowed = self.allowed
            for step in event.steps:
                allowed = _without_one(allowed, step)
            return self.with_fields(allowed=allowed)
        answered = "allowed" if event.said == "yes" else "denied"
        return self.with_fields(asked=(), **{answered: (*getattr(self, answered), *event.steps)})

    @property
    def waiting(self) -> tuple[Step, ...]:
        """Return the steps, of this run or of the inventory that it is in, that wait for a person's yes."""
        if self.asked or not self.inside:
            return self.asked
        return State.fold(self.inside).waiting

    def answered(self, said: Said, by: str) -> Event:
        """Return the event of an answer to what waits. Raises `LogError` where nothing does."""
        if self.asked:
            return Approval(self.asked, said, by)
        if self.waiting:
            return Nested(self.pending[0].module, State.fold(self.inside).answered(said, by))
        raise LogError("nothing in the run waits for approval")

    def new_dropped_params(self, event: Event) -> tuple[Dropped, ...]:
        """Return the parameters that models were first asked without in this plan, step or end."""
        if isinstance(event, RunStarted | Nested) or not event.calls:  # the run within tells its own
            return ()
        told = {(each.model, each.parameter) for each in self.dropped}
        found = {
            (call.model, name): Dropped(call.model, name, call.params.get(name), why)
            for call in event.calls
            for name, why in call.dropped.items()
            if (call.model, name) not in told
        }
        return tuple(found.values())

    def _plan_with(self, plan: Plan) -> tuple[str, ...]:
        """Return the modules as they are planned once this plan is taken."""
        if plan.kind == "repair":
            return self.plan
        if plan.kind == "proposed":
            return self.plan + plan.names
        done = max(len(self.plan) - len(self.pending), 0)
        return self.plan[:done] + plan.names

    def _after_step(self, record: StepRecord) -> State:
        if self.inside:
            within = {**self.within, len(self.history): self.inside}
            return self.with_fields(within=within, inside=())._after_step(record)
        history = (*self.history, record)
        if record.dropped:
            return self.with_fields(history=history)
        if self.pending[:1] != (record.step,):
            raise LogError(f"the log records a step that was not pending: {record.step.module}")
        return self.with_fields(
            history=history,
            pending=self.pending[1:],
            denied=_without_one(self.denied, record.step),
            failure=record if record.error else None,
            input=values.merge(self.input, record.input_changes) if record.input_changes else self.input,
            cache=values.merge(self.cache, record.cache_changes) if record.cache_changes else self.cache,
        )

    @property
    def keys(self) -> frozenset[str]:
        """Return what is there to read, as modules declare it: "input.table", "cache.knowledge"."""
        return frozenset([f"input.{key}" for key in self.input] + [f"cache.{key}" for key in self.cache])

    @property
    def executed(self) -> tuple[StepRecord, ...]:
        """Return the steps that count: all but those dropped beside a failure."""
        return tuple(record for record in self.history if not record.dropped)

    @property
    def status(self) -> Status:
        """Return how the run stands: with an answer, without one, or "waiting" for a person's approval."""
        return self.ended.reason if self.ended else "waiting" if self.waiting else "running"

    @property
    def why(self) -> str:
        """Return why there is no answer, or which steps wait; "" if there is one, or the run goes on."""
        if self.ended is None:
            return f"it waits for approval of {', '.join(map(str, self.waiting))}" if self.waiting else ""
        return str(self.ended.error) if self.ended.error else ""

    @property
    def sources(self) -> tuple[Mapping[str, Any], ...]:
        """Return what the answer is from: files, tables, rows, columns, cells or pages, a mapping each."""
        found = self.cache.get("sources")
        return tuple(each for each in found if isinstance(each, Mapping)) if isinstance(found, tuple) else ()

    def __str__(self) -> str:
        """Write how the run ended, and by which modules: "answered: 39.2 (weather → convert)"."""
        return f"{self.status}: {self.why or self.answer} ({' → '.join(self.executed_names)})"

    def __repr__(self) -> str:
        return f"<State {one_line(str(self), _MAX_REPR_CHARS)}>"

    def _repr_html_(self) -> str:
        """Show it in a notebook: the question, the plan, the answer or why there is none."""
        why = self.ended.error if self.ended else None
        steps = [(record.step.module, record.error or record.output) for record in self.history]
        rows = [("question", self.input.get("question")), ("plan", " → ".join(self.plan)), *steps]
        return html_rows([*rows, ("answer", self.answer), ("read as", self.reading), ("why not", why)])

    @property
    def answer(self) -> Any:
        """Return what the last module returned, once the run has answered; else None."""
        if self.ended is None or self.ended.reason != "answered":
            return None
        return self.executed[-1].output

    @property
    def reading(self) -> str:
        """Return how a reader without a model took the question, in words; "" where none did."""
        found = self.cache.get("reading")
        return str(found.get("means", "")) if isinstance(found, Mapping) else ""

    def follow_up(self, question: str, **changes: Any) -> dict[str, Any]:
        """Return the input of the next run of a conversation: this run's, with another question.

        `history` holds the earlier turns and this one, a run without an answer as an empty one. The table and
        all else that came with the question stand there as modules left them, without what was done for this
        question alone: by a module that declares to read the question, or what such a one wrote to the cache.
        `changes` are inputs to take in their place, such as `table=state.table`.
        """
        given = self.started.input if self.started is not None else self.input
        alone = self.started.settings.get(ONE_QUESTION, ()) if self.started is not None else ()
        turns = with_turn(given.get(HISTORY), given.get("question", ""), self.answer)
        now = dict(given)
        for record in self.executed:
            if record.step.module not in alone:
                now |= {key: each for key, each in record.input_changes.items() if key in given}
        return now | {"question": question, HISTORY: turns} | changes

    @property
    def executed_names(self) -> tuple[str, ...]:
        """Return the names of the modules that ran, in order."""
        return tuple(record.step.module for record in self.executed)

    @property
    def skipped(self) -> tuple[Failure, ...]:
        """Return why modules failed that the run went on without; one that declined handed over."""
        return tuple(each for each in self.failures.values() if each.kind != "InnerDeclined")

    @property
    def failures(self) -> Mapping[str, Failure]:
        """Return the modules that failed and did not do their work later either, and why."""
        worked = {record.step.module for record in self.executed if record.error is None}
        failed = {record.step.module: record.error for record in self.executed if record.error is not None}
        return {name: error for name, error in failed.items() if name not in worked}

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return every model call of the run, those of planners included."""
        ended = (self.ended,) if self.ended else ()
        parts = (*self.plans, *self.history, *ended, *(Nested("", event) for event in self.nested))
        return tuple(call for part in parts for call in part.calls)

    @property
    def nested(self) -> tuple[Event, ...]:
        """Return all that happened in steps that run inventories."""
        return (*(event for events in self.within.values() for event in events), *self.inside)

    @property
    def steps_taken(self) -> int:
        """Count the steps that were taken, those of inventories within included."""
        return len(self.executed) + sum(map(_steps_in, self.nested))

    def ran_in(self, module: str, before: Ran) -> Ran:
        """Count the steps that ran in those of a module which runs an inventory, by their names from there.

        `before` are those that count for this run from the start.
        """
        found = {path[1:]: count for path, count in before.items() if path[0] == module and path[1:]}
        for number, events in self.within.items():
            if self.history[number].step.module == module:
                for path in filter(None, map(_path_of, events)):
                    found[path] = found.get(path, 0) + 1
        return found

    @property
    def usage(self) -> Usage:
        """Add up what all calls consumed."""
        return sum((call.usage for call in self.calls), Usage())

    @property
    def seconds(self) -> float:
        """Add up the time spent planning and in modules; steps that ran side by side count each."""
        timed = (event for event in self.inside if isinstance(event, Plan | StepRecord))
        return sum(each.seconds for each in (*self.plans, *self.history, *timed))

    @property
    def table(self) -> Table | None:
        """Return the table as it now stands, if the question came with one."""
        table = self.input.get("table")
        return table if isinstance(table, Table) else None


def _without_one(steps: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    """Return the steps without the first that is this one."""
    if step not in steps:
        return steps
    place = steps.index(step)
    return steps[:place] + steps[place + 1 :]


def _path_of(event: Event) -> tuple[str, ...]:
    """Return the names that lead to the step which an event tells of; () where none ran."""
    if isinstance(event, Nested):
        inner = _path_of(event.event)
        return (event.module, *inner) if inner else ()
    ran = isinstance(event, StepRecord) and not (event.error and event.error.kind == "NotApproved")
    return (event.step.module,) if ran and isinstance(event, StepRecord) else ()


def _steps_in(event: Event) -> int:
    """Count the step that an event tells of, however deep."""
    happened = event.innermost if isinstance(event, Nested) else event
    return int(isinstance(happened, StepRecord) and not happened.dropped)

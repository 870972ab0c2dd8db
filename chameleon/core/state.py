"""`State`: the current point of a run, folded from its events.

`State.after` is the only way a state changes, so a trace, a checkpoint, a resumed run and a replay all read
the same lines.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from importlib import import_module
from typing import Any, Literal

from chameleon import values
from chameleon.core.conversation import HISTORY, with_turn
from chameleon.core.events import (
    ONE_QUESTION,
    Approval,
    Dropped,
    Event,
    Failure,
    Nested,
    Plan,
    Ran,
    RunEnded,
    RunStarted,
    Step,
    StepRecord,
)
from chameleon.errors import LogError
from chameleon.table import Table
from chameleon.text import html_rows, one_line
from chameleon.usage import Call, Usage

Status = Literal["answered", "declined", "failed", "budget", "waiting", "running"]
_MAX_REPR_CHARS = 300


@dataclass(frozen=True, slots=True)
class MissingKeys:
    """The keys that a failed module would have written, and why it failed (`Failure.reason`)."""

    keys: tuple[str, ...]
    reason: str


@dataclass(frozen=True, repr=False)
class State:
    """The current point of a run: input, cache, history, plans and pending steps. Immutable.

    Mappings are read-only; lists in values appear as tuples. A module that declares `reads` sees only those
    keys.

    Attributes:
        plan: the modules as planned, in order. A plan that replaces another one follows the steps already
            done, and repairs, which repeat steps, are left out.
        failure: the last step, if it failed and there has been no plan since.
        inside: the events of the first pending step, if it runs an inventory.
        within: the same for completed steps, by their number in the history.
        asked: pending steps that wait for a person's answer.
        allowed, denied: pending steps that have one.
        step: the step that a module is running.
        missing: what that module could have read if no other module had failed.
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
    inside: tuple[Event, ...] = ()
    within: Mapping[int, tuple[Event, ...]] = field(default_factory=dict)
    asked: tuple[Step, ...] = ()
    allowed: tuple[Step, ...] = ()
    denied: tuple[Step, ...] = ()
    step: Step | None = field(default=None, compare=False)
    missing: tuple[MissingKeys, ...] = field(default=(), compare=False)

    @classmethod
    def fold(cls, events: Iterable[Event]) -> "State":
        """Return the state after these events."""
        state = cls()
        for event in events:
            state = state.after(event)
        return state

    def with_fields(self, **changes: Any) -> "State":
        """Return the state with these fields changed, ten times faster than `dataclasses.replace`."""
        new = object.__new__(State)  # the class is frozen: bypass its `__setattr__`
        fields = new.__dict__
        fields.update(self.__dict__)
        fields.update(changes)
        return new

    def after(self, event: Event) -> "State":
        """Return the state after the event. Raises `LogError` for an event out of order."""
        if isinstance(event, RunStarted):
            if self.started is not None:
                raise LogError("the log has two starts", hint="Give each run a log of its own.")
            return self.with_fields(started=event, input=event.input)
        if self.started is None or self.ended is not None:
            raise LogError("the log continues after its end" if self.started else "the log has no start")
        if isinstance(event, Dropped):
            return self
        if isinstance(event, StepRecord):
            return self._after_step(event)
        if isinstance(event, Nested):
            if not self.pending or self.pending[0].module != event.module:
                raise LogError(f"the log has an event of {event.module}, which was not pending")
            return self.with_fields(inside=(*self.inside, event.event))
        if isinstance(event, Approval):
            return self._after_approval(event)
        if isinstance(event, Plan):
            state = self.with_fields(plans=(*self.plans, event))
            if event.refused:
                return state
            state = state.with_fields(pending=event.steps, failure=None)
            if event.kind == "repair":  # keeps the rest of the approved plan
                return state
            done = max(len(self.plan) - len(self.pending), 0)  # of the planned steps
            # Approval covers a plan as it was shown.
            return state.with_fields(plan=self.plan[:done] + event.names, asked=(), allowed=(), denied=())
        return self.with_fields(ended=event)

    def _after_approval(self, event: Approval) -> "State":
        if not event.steps or any(step not in self.pending for step in event.steps):
            raise LogError(f"the log asks for or gives approval of steps that are not pending: {event}")
        if event.said == "asked":
            return self.with_fields(asked=event.steps)
        if event.said == "begun":
            return self.with_fields(allowed=reduce(_without_one, event.steps, self.allowed))
        answered = "allowed" if event.said == "yes" else "denied"
        return self.with_fields(asked=(), **{answered: (*getattr(self, answered), *event.steps)})

    @property
    def waiting(self) -> tuple[Step, ...]:
        """Return the steps of this run, or of the inventory it is running, that wait for approval."""
        if self.asked or not self.inside:
            return self.asked
        return State.fold(self.inside).waiting

    def answer_approval(self, answer: Literal["yes", "no"], by: str) -> Event:
        """Return the event that answers a waiting approval.

        Args:
            answer: "yes" or "no".
            by: who or what answered.

        Raises:
            LogError: if none is waiting.
        """
        if self.asked:
            return Approval(self.asked, answer, by)
        if self.waiting:
            return Nested(self.pending[0].module, State.fold(self.inside).answer_approval(answer, by))
        raise LogError("nothing in the run is waiting for approval")

    def _after_step(self, record: StepRecord) -> "State":
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
        """Return the keys that can be read, in the form modules declare: "input.table", "cache.knowledge"."""
        return frozenset([f"input.{key}" for key in self.input] + [f"cache.{key}" for key in self.cache])

    @property
    def executed(self) -> tuple[StepRecord, ...]:
        """Return the steps that count: all except those dropped because of a failure."""
        return tuple(record for record in self.history if not record.dropped)

    @property
    def status(self) -> Status:
        """Return the status: ended with an answer, without one, running, or "waiting" for approval."""
        return self.ended.reason if self.ended else "waiting" if self.waiting else "running"

    @property
    def why(self) -> str:
        """Return why there is no answer, or which steps wait; "" if answered or still running."""
        if self.ended is None:
            return f"it waits for approval of {', '.join(map(str, self.waiting))}" if self.waiting else ""
        return str(self.ended.error) if self.ended.error else ""

    @property
    def sources(self) -> tuple[Mapping[str, Any], ...]:
        """Return the answer's sources, a mapping each: file, table, rows, columns, cells or page."""
        value = self.cache.get("sources")
        return tuple(each for each in value if isinstance(each, Mapping)) if isinstance(value, tuple) else ()

    def __str__(self) -> str:
        """Write how the run ended, and which modules ran: "answered: 39.2 (weather → convert)"."""
        return f"{self.status}: {self.why or self.answer} ({' → '.join(self.executed_names)})"

    def __repr__(self) -> str:
        return f"<State {one_line(str(self), _MAX_REPR_CHARS)}>"

    def _repr_html_(self) -> str:
        """Show the run in a notebook: the question, the plan, and the answer or why it is missing."""
        why = self.ended.error if self.ended else None
        steps = [(record.step.module, record.error or record.output) for record in self.history]
        rows = [("question", self.input.get("question")), ("plan", " → ".join(self.plan)), *steps]
        return html_rows([*rows, ("answer", self.answer), ("read as", self.reading), ("why not", why)])

    def to_html(self) -> str:
        """Return a self-contained page of the run: each step, and the table as it changed."""
        page = import_module("chameleon.evaluation.run_page")  # imports this module
        html: str = page.page_of(page.events_of(self))
        return html

    @property
    def answer(self) -> Any:
        """Return the last module's output once the run has answered, else None."""
        if self.ended is None or self.ended.reason != "answered":
            return None
        return self.executed[-1].output

    @property
    def reading(self) -> str:
        """Return how a reader without a model understood the question, in words, or ""."""
        reading = self.cache.get("reading")
        return str(reading.get("means", "")) if isinstance(reading, Mapping) else ""

    def follow_up(self, question: str, **changes: Any) -> dict[str, Any]:
        """Return the input of the next run of a conversation: this run's input with another question.

        `history` holds the earlier turns and this one, with an empty answer if the run had none. The table
        and other inputs are as modules left them, minus any change made only for this question: by a module
        that reads the question, or from something that module wrote to the cache. `changes` replace inputs,
        for example `table=state.table`.
        """
        inputs = self.started.input if self.started is not None else self.input
        for_question = self.started.settings.get(ONE_QUESTION, ()) if self.started is not None else ()
        turns = with_turn(inputs.get(HISTORY), inputs.get("question", ""), self.answer)
        now = dict(inputs)
        for record in self.executed:
            if record.step.module not in for_question:
                now |= {key: each for key, each in record.input_changes.items() if key in inputs}
        return now | {"question": question, HISTORY: turns} | changes

    @property
    def executed_names(self) -> tuple[str, ...]:
        """Return the names of the modules that ran, in order."""
        return tuple(record.step.module for record in self.executed)

    @property
    def skipped(self) -> tuple[Failure, ...]:
        """Return the failures of modules that the run continued without, except those that declined."""
        return tuple(each for each in self.failures.values() if each.kind != "InnerDeclined")

    @property
    def failures(self) -> Mapping[str, Failure]:
        """Return the modules that failed and did not succeed later, and why."""
        worked = {record.step.module for record in self.executed if record.error is None}
        failed = {record.step.module: record.error for record in self.executed if record.error is not None}
        return {name: error for name, error in failed.items() if name not in worked}

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return every model call of the run, including planners' calls."""
        ended = (self.ended,) if self.ended else ()
        parts = (*self.plans, *self.history, *ended, *(Nested("", event) for event in self.nested))
        return tuple(call for part in parts for call in part.calls)

    @property
    def dropped(self) -> list[Dropped]:
        """Return the parameters that were dropped from model calls."""
        return Dropped.of_calls(self.calls)

    @property
    def nested(self) -> tuple[Event, ...]:
        """Return all events of steps that run inventories."""
        return (*(event for events in self.within.values() for event in events), *self.inside)

    @property
    def steps_taken(self) -> int:
        """Count the steps taken, including nested inventories."""
        return len(self.executed) + sum(map(_steps_in, self.nested))

    def ran_in(self, module: str, before: Ran) -> Ran:
        """Count the steps that ran inside a module which runs an inventory, by their path from there.

        `before` holds the counts that this run started with.
        """
        counts = {path[1:]: count for path, count in before.items() if path[0] == module and path[1:]}
        for number, events in self.within.items():
            if self.history[number].step.module == module:
                for path in filter(None, map(_path_of, events)):
                    counts[path] = counts.get(path, 0) + 1
        return counts

    @property
    def usage(self) -> Usage:
        """Return the total usage of all calls."""
        return sum((call.usage for call in self.calls), Usage())

    @property
    def seconds(self) -> float:
        """Add up the time spent planning and in modules; parallel steps each count in full."""
        # Not `within`: that would count the time of completed steps twice.
        steps: Iterable[Plan | StepRecord] = (*self.plans, *self.history)
        return sum(each.seconds for each in steps) + self.seconds_inside

    @property
    def seconds_inside(self) -> float:
        """Add up the time of the inventory that the first pending step has run so far."""
        return State.fold(self.inside).seconds if self.inside else 0.0

    @property
    def table(self) -> Table | None:
        """Return the current table, or None."""
        table = self.input.get("table")
        return table if isinstance(table, Table) else None

    @property
    def tables(self) -> list[Table]:
        """Return all tables of the question in order, if any."""
        return [*filter(None, [self.table]), *(self.input.get("tables") or ())]


def _without_one(steps: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    """Return the steps without the first occurrence of this one."""
    if step not in steps:
        return steps
    place = steps.index(step)
    return steps[:place] + steps[place + 1 :]


def _path_of(event: Event) -> tuple[str, ...]:
    """Return the module names that lead to the step of an event; () if none ran."""
    if isinstance(event, Nested):
        inner = _path_of(event.event)
        return (event.module, *inner) if inner else ()
    ran = isinstance(event, StepRecord) and not (event.error and event.error.kind == "NotApproved")
    return (event.step.module,) if ran and isinstance(event, StepRecord) else ()


def _steps_in(event: Event) -> int:
    """Return 1 if the event, however deeply nested, is a step that counts, else 0."""
    happened = event.innermost if isinstance(event, Nested) else event
    return int(isinstance(happened, StepRecord) and not happened.dropped)

"""`State`: where a run is, the fold of its events.

`State.after` is the only way that a state changes, so a trace, a checkpoint, a resumed run and a replay all
read the same lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
    Said,
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
    """The keys that a module would have written had it not failed, and why it failed (`Failure.reason`)."""

    keys: tuple[str, ...]
    reason: str


@dataclass(frozen=True, repr=False)
class State:
    """Where a run is: input, cache, history, plans and pending steps. Immutable.

    Mappings are read-only; lists in values appear as tuples. `plan` names the modules as they were planned,
    in order: a plan that takes the place of another follows what of that was done, and repairs, which repeat
    steps, are left out. `inside` is what has happened in the step that is pending first, where it runs an
    inventory, `within` the same of steps that were taken, by their number in the history. Of pending steps
    `asked` wait for a person's answer, `allowed` and `denied` have it. `failure` is the last step if it
    failed and no plan has been made since; `step` is the step that a module is now running, and `missing`
    what it could have read had no other module failed. A module that declares `reads` sees only those keys.
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
    def fold(cls, events: Iterable[Event]) -> State:
        """Return the state after these events."""
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
            raise LogError("the log continues after its end" if self.started else "the log has no beginning")
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

    def answer_approval(self, said: Said, by: str) -> Event:
        """Return the event of an answer to what waits. Raises `LogError` where nothing does."""
        if self.asked:
            return Approval(self.asked, said, by)
        if self.waiting:
            return Nested(self.pending[0].module, State.fold(self.inside).answer_approval(said, by))
        raise LogError("nothing in the run waits for approval")

    def _plan_with(self, plan: Plan) -> tuple[str, ...]:
        """Return the modules as they are planned once this plan is taken."""
        done = max(len(self.plan) - len(self.pending), 0)
        return self.plan if plan.kind == "repair" else self.plan[:done] + plan.names

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
        """Return the keys that can be read, as modules declare them: "input.table", "cache.knowledge"."""
        return frozenset([f"input.{key}" for key in self.input] + [f"cache.{key}" for key in self.cache])

    @property
    def executed(self) -> tuple[StepRecord, ...]:
        """Return the steps that count: all but those dropped because of a failure."""
        return tuple(record for record in self.history if not record.dropped)

    @property
    def status(self) -> Status:
        """Return where the run is: with an answer, without one, or "waiting" for a person's approval."""
        return self.ended.reason if self.ended else "waiting" if self.waiting else "running"

    @property
    def why(self) -> str:
        """Return why there is no answer, or which steps wait; "" if there is one, or the run continues."""
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

    def to_html(self) -> str:
        """Return a page of the run, which needs nothing else: each step, and the table as it changed."""
        page = import_module("chameleon.evaluation.run_page")  # which is made of states
        html: str = page.page_of(page.events_of(self))
        return html

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
        all other inputs are as modules left them, without what was done for this
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
    def dropped(self) -> list[Dropped]:
        """Return the parameters that models were asked without."""
        return Dropped.of_calls(self.calls)

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
        """Return the table as it is now, or None."""
        table = self.input.get("table")
        return table if isinstance(table, Table) else None

    @property
    def tables(self) -> list[Table]:
        """Return all tables of the question, the first first; none where it has no table."""
        return [*filter(None, [self.table]), *(self.input.get("tables") or ())]


def _without_one(steps: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    """Return the steps without the first that is this one."""
    if step not in steps:
        return steps
    place = steps.index(step)
    return steps[:place] + steps[place + 1 :]


def _path_of(event: Event) -> tuple[str, ...]:
    """Return the names that lead to the step of an event; () if none ran."""
    if isinstance(event, Nested):
        inner = _path_of(event.event)
        return (event.module, *inner) if inner else ()
    ran = isinstance(event, StepRecord) and not (event.error and event.error.kind == "NotApproved")
    return (event.step.module,) if ran and isinstance(event, StepRecord) else ()


def _steps_in(event: Event) -> int:
    """Count the step of an event, however deep."""
    happened = event.innermost if isinstance(event, Nested) else event
    return int(isinstance(happened, StepRecord) and not happened.dropped)

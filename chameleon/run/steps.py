"""Run one step: its module, and the record of the result."""

import inspect
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from chameleon import bridge, values
from chameleon.core.access import Access
from chameleon.core.arguments import references
from chameleon.core.events import Failure, Nested, Ran, Step, StepRecord
from chameleon.core.module import InnerRun, Module, needs_model
from chameleon.core.state import State
from chameleon.errors import ChameleonError, MachineError, ModuleError, NoSuchKey, raised_at, show_traceback
from chameleon.table import Table
from chameleon.text import redact, type_in_words
from chameleon.usage import Meter, Recorder, recording

LARGE_CHARS = 100_000  # the whole state is measured after a larger step; 64 smaller ones fit into 16 MB


def parallel_group(pending: Sequence[Step], access: Mapping[str, Access]) -> tuple[Step, ...]:
    """Return the first pending steps that may run in parallel, because none reads what another writes.

    All of them see the state from before, and their results are merged in plan order. A step whose arguments
    refer to another waits for it, and so does one that shares an `exclusive_group` with another.
    """
    group = [pending[0]]
    turns = {access[pending[0].module].exclusive_group}
    written = access[pending[0].module].writes
    for step in pending[1:]:
        if access[step.module].depends_on(written):
            break
        if step.args and any(references(step.args, [each.module for each in group])):
            break
        if (turn := access[step.module].exclusive_group) and turn in turns:
            break
        group.append(step)
        turns.add(turn)
        written |= access[step.module].writes
    return tuple(group)


class PreparedModule:
    """A module that is checked and set up once for all threads, before its first step."""

    def __init__(self, module: Module) -> None:
        self.module = module
        is_async = inspect.iscoroutinefunction(module.run)
        # Shipped modules that ask a model wait in the caller's loop; the others may compute for long.
        self._blocks = not is_async and (bridge.may_block(module.run) or not needs_model(module))
        self._is_ready = False
        self._lock = threading.Lock()

    def ready(self) -> Module:
        """Return the module, checked and set up. Raises whatever its `check` or `setup` raises."""
        if not self._is_ready:
            bridge.in_thread(self._set_up)
        return self.module

    def _set_up(self) -> None:
        with self._lock:
            if not self._is_ready:  # another thread may have done it meanwhile
                self.module.check()
                self.module.setup()
                self._is_ready = True

    def run(self, state: State, args: Mapping[str, Any]) -> Any:
        """Run the module, in a thread if it could block an event loop."""
        return bridge.called(partial(self.module.run, state, **args), blocks=self._blocks)


@dataclass(frozen=True, slots=True)
class RunContext:
    """The budget of a run, the listener for its text (see `Recorder`), its stop signal and its approver.

    `ran` counts the steps that the inventory already ran in earlier steps of the outer run.
    """

    meter: Meter
    hear: Callable[[str | None], None] | None = None
    stop: threading.Event | None = None
    approve: Callable[..., Any] | None = None
    approve_each: bool = False
    ran: Ran = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a step: its output or answer, and the cache keys that an inventory leaves."""

    answer: Any
    cache: Mapping[str, Any] = field(default_factory=values.ReadOnly)


def run_step(
    step: Step,
    module: PreparedModule,
    everyones: Mapping[str, Access],
    state: State,
    context: RunContext,
) -> Iterator[Nested | StepRecord]:
    """Run a module on the state; yield the events inside it, and finally the record of the step.

    A failure becomes the record's error, with the module's name. A step that runs an inventory resumes from
    `state.inside`, and yields no record if it was stopped early.

    Args:
        everyones: what each module of the inventory may read and change, by name.
    """
    access = everyones[step.module]
    view = access.view(state, step, everyones)
    started = time.monotonic()
    recording_or_not = (
        nullcontext(Recorder(context.meter))
        if isinstance(module.module, InnerRun)
        else recording(context.meter, context.hear)
    )
    with recording_or_not as recorder:  # an inner run records its own calls
        try:
            args = _begin(step, access, state, context)
            ready = module.ready()
            outcome: Outcome | None
            if isinstance(ready, InnerRun):
                inner = replace(context, ran=state.ran_in(step.module, context.ran))  # for `max_runs`
                outcome = yield from ready.run_inside(view, state.inside, inner, **args)
                if outcome is None:
                    return
            else:
                outcome = Outcome(module.run(view, args))
            record = _record(step, ready, access, outcome, state=state, view=view, context=context)
        except (Exception, SystemExit) as problem:  # a user's module may raise anything; it is recorded
            record = StepRecord(step, error=failure_of(problem, f"module {step.module}"))
    seconds = state.seconds_inside + time.monotonic() - started
    yield replace(record, seconds=seconds, calls=tuple(recorder.calls))


def _begin(step: Step, access: Access, state: State, context: RunContext) -> dict[str, Any]:
    """Return the arguments of a step. Raises `ModuleError` if something is missing."""
    if access.required and (missing := access.missing(state.keys)):
        # The step that provides it may have been skipped.
        raise ModuleError(f"it reads {missing[0].replace('|', ' or ')}, but nothing before it provided that")
    arguments = access.arguments
    return arguments.values(step.args or {}, state, _room(state, context)) if arguments is not None else {}


def _room(state: State, context: RunContext) -> values.Room:
    """Return the room for a value of this run: its budget, in addition to the tables of its input."""
    inputs = state.started.input.values() if state.started is not None else ()
    tables = [each for each in inputs if isinstance(each, Table)]
    return values.Room(context.meter.budget.megabytes, lambda: sum(table.chars for table in tables))


def _record(
    step: Step,
    module: Module,
    access: Access,
    outcome: Outcome,
    *,
    state: State,
    view: State,
    context: RunContext,
) -> StepRecord:
    """Return the record of a step from its module's output, and the changes that follow from it.

    Raises `ModuleError` for an output that a run cannot hold, or a change the module does not declare. `view`
    is the part of the state that the module could read.
    """
    room = _room(state, context)
    output = values.freeze(outcome.answer, "its output", room)
    changed = module.update_input(view.input, output)
    for key in changed if isinstance(changed, Mapping) else ():
        if isinstance(state.input.get(key), Table) and not isinstance(changed[key], Table):
            what = f"it replaces the table input.{key} with {type_in_words(changed[key])}"
            raise ModuleError(what, hint="Return a chameleon.Table, such as `state.table.take_rows([0])`.")
    input_changes = _changes("input", changed, access, output, room, current=view.input)
    cache_changes = module.update_cache(view.cache, output)
    if outcome.cache:
        cache_changes = {**cache_changes, **outcome.cache}
    cache_changes = _changes("cache", cache_changes, access, output, room, current=view.cache)
    if room.taken > LARGE_CHARS:  # small values cannot add up to a large state
        contents = [{**state.input, **input_changes}, {**state.cache, **cache_changes}]
        values.freeze(contents, "the state with it", _room(state, context))
    return StepRecord(step, output, input_changes, cache_changes)


def failure_of(problem: BaseException, where: str) -> Failure:
    """Return an exception as a failure; a foreign one includes its class and the line that raised it."""
    show_traceback(problem)
    failure = Failure.of(problem, where)
    failure = replace(failure, message=redact(failure.message), hint=redact(failure.hint))
    if isinstance(problem, NoSuchKey):  # add the line where the user's module reads the key
        failure = replace(failure, message=f"{failure.message}{raised_at(problem)}")
    elif not isinstance(problem, ChameleonError) and failure.kind != MachineError.__name__:
        message = redact(f"{failure.kind}: {failure.message}{raised_at(problem)}")
        failure = replace(failure, kind="ModuleError", message=message)
    return failure


def _changes(
    kind: str, changes: Any, access: Access, output: Any, room: values.Room, *, current: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the changes, frozen. Raises `ModuleError` for keys that the module does not declare.

    A value unchanged from `current` is not a change: hooks may return the whole mapping, as in the paper.
    """
    if not isinstance(changes, (dict, Mapping)):
        raise ModuleError(f"update_{kind} returned {type_in_words(changes)}, but must return a mapping")
    changes = {
        key: value
        for key, value in changes.items()
        if f"{kind}.{key}" in access.writes or not (key in current and _is_same(value, current[key]))
    }
    for key in changes:
        if not access.may_write(f"{kind}.{key}"):
            raise ModuleError(
                f"it writes {kind}.{key}, which it does not declare",
                hint=f'Add "{kind}.{key}" to its `writes`.',
            )
    if all(value is output for value in changes.values()):  # already frozen
        return values.ReadOnly(changes)
    frozen: Mapping[str, Any] = values.freeze(changes, f"update_{kind}", room)
    return frozen


def _is_same(value: Any, current: Any) -> bool:
    """Return whether a hook returned a value it has seen, either itself or a copy."""
    try:
        return value is current or bool(values.freeze(value) == current)
    except ChameleonError:
        return False

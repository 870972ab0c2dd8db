"""One step: what its module may see and change (`Access`), running it, and the record of it."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from chameleon import bridge, values
from chameleon.conversation import HISTORY
from chameleon.earlier import references
from chameleon.errors import (
    ChameleonError,
    MachineError,
    ModuleError,
    NoSuchKey,
    raised_at,
    read_at,
    show_traceback,
)
from chameleon.module import Module, split_keys
from chameleon.state import Event, Failure, MissingKeys, Nested, Ran, State, Step, StepRecord
from chameleon.table import Table
from chameleon.text import nearest, redact, type_in_words
from chameleon.usage import Meter, Recorder, recording

if TYPE_CHECKING:
    from chameleon.arguments import Arguments

_NOTHING: Mapping[str, Any] = values.ReadOnly()
LARGE_CHARS = 100_000  # a step that writes more has the whole state measured; 64 smaller ones fit into 16 MB


class _Seen(values.ReadOnly):
    """What a module may read of the input or of the cache (`kind`); `given` is all that came with the run.

    Whether another module has written a key yet must not matter to one that does not declare to read it.
    """

    __slots__ = ("given", "kind", "reads")
    given: Mapping[str, Any]
    kind: str
    reads: frozenset[str]

    def __missing__(self, key: object) -> NoReturn:
        name = f"{self.kind}.{key}"
        near = nearest(str(key), self) if self else ""
        if _is_in(name, self.reads):
            raise NoSuchKey(f"there is no {name}{read_at()}", hint=near)
        what = f"it reads {name}, which it does not declare{read_at()}"
        raise NoSuchKey(what, hint=f'Add "{name}" to its `reads`. {near}'.strip())

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self or key in self.given else default


@dataclass(frozen=True, slots=True)
class Access:
    """What one module may see and change, from its declarations."""

    reads: frozenset[str] | None
    required: tuple[tuple[str, ...], ...]
    writes: frozenset[str]
    non_text: frozenset[str] = frozenset()
    in_turn: str = ""

    @classmethod
    def of(cls, module: Module) -> Access:
        """Read what a module declares."""
        reads = None if module.reads is None else split_keys(module.reads)
        if module.also_reads:
            reads = (*(reads or ()), *module.also_reads)
        if reads is not None and module.needs_model:
            reads = (*reads, f"input.{HISTORY}?")  # a model is told the conversation
        needed = (key for key in reads or () if not key.endswith("?") and "*" not in key and key != "history")
        return cls(
            None if reads is None else frozenset(part for key in reads for part in _alternatives(key)),
            tuple(_alternatives(key) for key in needed),
            frozenset(part for key in module.written_keys for part in _alternatives(key)),
            frozenset(split_keys(module.non_text)),
            module.in_turn,
        )

    def view(
        self, state: State, step: Step | None = None, others: Mapping[str, Access] = MappingProxyType({})
    ) -> State:
        """Return the state without what the module did not declare to read; "history" opens plans as well.

        What is hidden cannot differ between steps that run side by side and one after the other.

        Args:
            step: the one that the module is to run.
            others: the modules by name; `State.lacking` tells of those that failed, as far as this one would
                have read what they write.
        """
        lacking = tuple(self._lacking(state, others)) if state.failures else ()
        if self.reads is None:
            return state.with_fields(step=step, lacking=lacking)
        whole = state if "history" in self.reads else State()
        given = state.begun.input if state.begun is not None else _NOTHING
        shown = {}
        for kind, held, whole_of in (("input", state.input, given), ("cache", state.cache, _NOTHING)):
            shown[kind] = seen = _Seen({k: v for k, v in held.items() if _is_in(f"{kind}.{k}", self.reads)})
            seen.kind, seen.reads, seen.given = kind, self.reads, whole_of
        return whole.with_fields(input=shown["input"], cache=shown["cache"], step=step, lacking=lacking)

    def _lacking(self, state: State, others: Mapping[str, Access]) -> Iterator[MissingKeys]:
        """Yield what is not there to be read since its module failed, unless that is yet to run again."""
        pending = {step.module for step in state.pending}
        for name, failure in state.failures.items():
            if name not in others or name in pending:
                continue
            missing = sorted(others[name].writes - others[name].non_text - state.keys)
            if read := [key.partition(".")[2] for key in missing if self._may_read(key)]:
                yield MissingKeys(tuple(name if key == "*" else key for key in read), failure.reason)

    def missing(self, present: Iterable[str]) -> tuple[str, ...]:
        """Return the required keys that are not present, alternatives joined by "|"."""
        have = frozenset(present)
        return tuple("|".join(keys) for keys in self.required if not any(_is_in(key, have) for key in keys))

    def is_read_by(self, other: Access) -> bool:
        """Return whether another module declares to read what it writes."""
        return other.reads is not None and not self.writes.isdisjoint(other.reads)

    def depends_on(self, writes: Iterable[str]) -> bool:
        """Return whether it may read one of these keys: if so it must wait for whoever writes them."""
        return self.reads is None or "history" in self.reads or any(map(self._may_read, writes))

    def may_write(self, key: str) -> bool:
        """Return whether it declares to write the key."""
        return _is_in(key, self.writes)

    def _may_read(self, key: str) -> bool:
        """Return whether it may read the key, "cache.*" standing for every key of the cache."""
        if self.reads is None or _is_in(key, self.reads):
            return True
        kind, _, name = key.partition(".")
        return name == "*" and any(other.startswith(f"{kind}.") for other in self.reads)


def _alternatives(key: str) -> tuple[str, ...]:
    return tuple(key.removesuffix("?").split("|"))


def _is_in(key: str, keys: frozenset[str]) -> bool:
    return key in keys or f"{key.partition('.')[0]}.*" in keys


def parallel_group(pending: Sequence[Step], access: Mapping[str, Access]) -> tuple[Step, ...]:
    """Return the first pending steps that read nothing which another of them writes: they may run at once.

    All of them see the state as it was before, and their results are merged in plan order. A step whose
    arguments refer to another waits for it, and so does one that shares `in_turn` with another.
    """
    group = [pending[0]]
    turns = {access[pending[0].module].in_turn}
    written = access[pending[0].module].writes
    for step in pending[1:]:
        if access[step.module].depends_on(written):
            break
        if step.args and any(references(step.args, [each.module for each in group])):
            break
        if (turn := access[step.module].in_turn) and turn in turns:
            break
        group.append(step)
        turns.add(turn)
        written |= access[step.module].writes
    return tuple(group)


class PreparedModule:
    """A module that is checked and set up before its first step, once for all threads."""

    def __init__(self, module: Module, arguments: Arguments | None = None) -> None:
        self.module, self.arguments = module, arguments
        is_async = inspect.iscoroutinefunction(module.run)
        self._blocks = not is_async and (bridge.may_block(module.run) or not module.needs_model)
        self._is_ready = False
        self._lock = threading.Lock()

    def ready(self) -> Module:
        """Return the module, checked and set up. Raises what its `check` or `setup` raises."""
        if not self._is_ready:
            bridge.in_thread(self._set_up)
        return self.module

    def _set_up(self) -> None:
        with self._lock:
            if not self._is_ready:
                self.module.check()
                self.module.setup()
                self._is_ready = True

    def run(self, state: State, args: Mapping[str, Any]) -> Any:
        """Run the module; what may block gets a thread where it would hold up an event loop."""
        return bridge.called(partial(self.module.run, state, **args), blocks=self._blocks)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run may spend, who hears its text (see `Recorder`), what stops it, who approves its steps.

    `ran` counts what the inventory ran before, in other steps of the run that it is in.
    """

    meter: Meter
    hear: Callable[[str | None], None] | None = None
    stop: threading.Event | None = None
    approve: Callable[..., Any] | None = None
    approve_each: bool = False
    ran: Ran = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Inside:
    """What a step that runs an inventory goes on from: what has happened in it, and the terms of its run."""

    events: tuple[Event, ...]
    terms: Terms


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step came to: its output or answer, and what an inventory leaves in the cache beside it."""

    answer: Any
    cache: Mapping[str, Any] = field(default_factory=values.ReadOnly)


def run_step(
    step: Step,
    module: PreparedModule,
    everyones: Mapping[str, Access],
    state: State,
    terms: Terms,
) -> Iterator[Nested | StepRecord]:
    """Run a module on the state; yield what happens in it, and at last the record of the step.

    A failure becomes the record's error, told with the module's name. A step that runs an inventory goes on
    from `state.inside`, and gives no record where it was stopped before its end.

    `everyones`: what each module of the inventory may see and change, by name.
    """
    access = everyones[step.module]
    seen = access.view(state, step, everyones)
    begun = time.monotonic()
    is_inventory = module.module.inner is not None
    recording_or_not = (
        nullcontext(Recorder(terms.meter)) if is_inventory else recording(terms.meter, terms.hear)
    )
    with recording_or_not as recorder:  # the run within records its own calls
        try:
            args = _begin(step, module, access, state, terms)
            ready = module.ready()
            outcome: Outcome | None
            if is_inventory:
                inner = replace(terms, ran=state.ran_in(step.module, terms.ran))
                work = ready.run_inside(seen, Inside(state.inside, inner), **args)
                if (outcome := (yield from _nested(step.module, work))) is None:
                    return
            else:
                outcome = Outcome(module.run(seen, args))
            record = _record(step, ready, access, outcome, state=state, seen=seen, terms=terms)
        except (Exception, SystemExit) as problem:  # whatever a user's module raises is recorded
            record = StepRecord(step, error=failure_of(problem, f"module {step.module}"))
    yield replace(record, seconds=time.monotonic() - begun, calls=tuple(recorder.calls))


def _nested(
    name: str, work: Generator[Event, None, Outcome | None]
) -> Generator[Nested, None, Outcome | None]:
    """Yield the events of a run within as those of its module."""
    while True:
        try:
            event = next(work)
        except StopIteration as ended:
            outcome: Outcome | None = ended.value
            return outcome
        yield Nested(name, event)


def _begin(step: Step, module: PreparedModule, access: Access, state: State, terms: Terms) -> dict[str, Any]:
    """Return the arguments of a step that may run. Raises `ModuleError` for what is missing."""
    if access.required and (missing := access.missing(state.keys)):
        # The step that gives it may have been skipped.
        raise ModuleError(f"it reads {missing[0].replace('|', ' or ')}, and nothing before it gave that")
    if module.arguments is not None:
        return module.arguments.values(step.args or {}, state, _room(state, terms))
    return {}


def _room(state: State, terms: Terms) -> values.Room:
    """Return the room for a value of this run: what its budget says, beside the tables that it began with."""
    given = state.begun.input.values() if state.begun is not None else ()
    tables = [each for each in given if isinstance(each, Table)]
    return values.Room(terms.meter.budget.megabytes, lambda: sum(table.chars for table in tables))


def _record(
    step: Step, module: Module, access: Access, found: Outcome, *, state: State, seen: State, terms: Terms
) -> StepRecord:
    """Return the record of what a module that has `seen` this of the state returned, and what that changes.

    Raises `ModuleError` for what a run cannot hold, or what it does not declare.
    """
    room = _room(state, terms)
    output = values.freeze(found.answer, "its output", room)
    changed = module.update_input(seen.input, output)
    for key in changed if isinstance(changed, Mapping) else ():
        if isinstance(state.input.get(key), Table) and not isinstance(changed[key], Table):
            what = f"it puts {type_in_words(changed[key])} in place of the table input.{key}"
            raise ModuleError(what, hint="Return a chameleon.Table, such as `state.table.take_rows([0])`.")
    input_changes = _changes("input", changed, access, output, room, seen=seen.input)
    cache_changes = module.update_cache(seen.cache, output)
    if found.cache:
        cache_changes = {**cache_changes, **found.cache}
    cache_changes = _changes("cache", cache_changes, access, output, room, seen=seen.cache)
    if room.taken > LARGE_CHARS:  # many small values make no large state
        whole = [{**state.input, **input_changes}, {**state.cache, **cache_changes}]
        values.freeze(whole, "the state with it", _room(state, terms))
    return StepRecord(step, output, input_changes, cache_changes)


def failure_of(problem: BaseException, where: str) -> Failure:
    """Return what failed, with its name; of an error that is not ours with its class and place."""
    show_traceback(problem)
    failure = Failure.of(problem, where)
    failure = replace(failure, message=redact(failure.message), hint=redact(failure.hint))
    if not isinstance(problem, ChameleonError) and failure.kind != MachineError.__name__:
        message = redact(f"{failure.kind}: {failure.message}{raised_at(problem)}")
        failure = replace(failure, kind="ModuleError", message=message)
    return failure


def _changes(
    kind: str, changes: Any, access: Access, output: Any, room: values.Room, *, seen: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the changes, frozen. Raises `ModuleError` for keys that the module does not declare.

    What it gives back as it has `seen` it is no change: hooks may return the whole mapping, as in the paper.
    """
    if not isinstance(changes, (dict, Mapping)):
        raise ModuleError(f"update_{kind} returned {type_in_words(changes)}, and must return a mapping")
    changes = {
        key: value
        for key, value in changes.items()
        if f"{kind}.{key}" in access.writes or not (key in seen and _is_same(value, seen[key]))
    }
    if not changes:
        return _NOTHING
    is_output = True
    for key, value in changes.items():
        if not access.may_write(f"{kind}.{key}"):
            raise ModuleError(
                f"it writes {kind}.{key}, which it does not declare",
                hint=f'Add "{kind}.{key}" to its `writes`.',
            )
        is_output = is_output and value is output
    if is_output:  # that is frozen
        return values.ReadOnly(changes)
    frozen: Mapping[str, Any] = values.freeze(changes, f"update_{kind}", room)
    return frozen


def _is_same(value: Any, seen: Any) -> bool:
    """Tell whether a hook gives back what it has seen, as it is or copied."""
    try:
        return value is seen or bool(values.freeze(value) == seen)
    except ChameleonError:
        return False

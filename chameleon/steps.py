"""Running one step: what a module sees, what it may change, and the record of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from chameleon import values
from chameleon.errors import ChameleonError, ModuleError, raised_at
from chameleon.module import Access, Module
from chameleon.state import Failure, Record, State, Step
from chameleon.usage import Meter, recording

_NOTHING: Mapping[str, Any] = values.ReadOnly()


def beside(pending: Sequence[Step], access: Mapping[str, Access]) -> tuple[Step, ...]:
    """The first pending steps that read nothing which another of them writes: they may run at once.

    All of them see the state as it was before, and their results are merged in plan order.
    """
    group = [pending[0]]
    written = access[pending[0].module].writes
    for step in pending[1:]:
        if access[step.module].depends_on(written):
            break
        group.append(step)
        written |= access[step.module].writes
    return tuple(group)


def run_step(
    step: Step, module: Module, everyones: Mapping[str, Access], state: State, meter: Meter
) -> Record:
    """Run a module on the state; a failure becomes the record's error, told with the module's name.

    `everyones`: what each module of the inventory may see and change, by name.
    """
    access = everyones[step.module]
    seen = access.view(state, step, everyones)
    output, input_changes, cache_changes, failure = None, _NOTHING, _NOTHING, None
    begun = time.monotonic()
    with recording(meter) as recorder:
        try:
            _require(access, state)
            module.ready()
            output, input_changes, cache_changes = _run(module, seen, access)
        except (Exception, SystemExit) as problem:  # whatever a user's module raises is recorded
            failure = _failure(problem, f"module {step.module}")
    seconds = time.monotonic() - begun
    return Record(step, output, input_changes, cache_changes, failure, seconds, tuple(recorder.calls))


def _run(module: Module, seen: State, access: Access) -> tuple[Any, Mapping[str, Any], Mapping[str, Any]]:
    """What the module returns, and what that changes in the input and in the cache."""
    output = values.freeze(module.run(seen), "output")
    input_changes = _changes("input", module.update_input(seen.input, output), access)
    return output, input_changes, _changes("cache", module.update_cache(seen.cache, output), access)


def _require(access: Access, state: State) -> None:
    """Raise `ModuleError` for a key that the module needs: the step that gives it may have been skipped."""
    if access.required and (missing := access.missing(state.keys)):
        raise ModuleError(f"it reads {missing[0].replace('|', ' or ')}, and nothing before it gave that")


def _failure(problem: BaseException, where: str) -> Failure:
    failure = Failure.of(problem, where)
    if isinstance(problem, ChameleonError):
        return failure
    message = f"{failure.kind}: {failure.message}{raised_at(problem)}"
    return replace(failure, kind="ModuleError", message=message)


def _changes(kind: str, changes: Any, access: Access) -> Mapping[str, Any]:
    if not isinstance(changes, (dict, Mapping)):
        raise ModuleError(f"update_{kind} returned a {type(changes).__name__}, and must return a mapping")
    if not changes:
        return _NOTHING
    for key in changes:
        if not access.may_write(f"{kind}.{key}"):
            raise ModuleError(
                f"it writes {kind}.{key}, which it does not declare",
                hint=f'Add "{kind}.{key}" to its `writes`.',
            )
    frozen: Mapping[str, Any] = values.freeze(changes, f"update_{kind}")
    return frozen

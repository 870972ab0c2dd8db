"""Approval: which steps a person is to allow, what is shown for that, and which may not run at all.

A step asks if its module does (`Module.requires_approval`). The executor asks before anything of a plan
runs, or before each such step; question and answer are events, so a run without an answer is a log that
resumes later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from chameleon import bridge
from chameleon.core.arguments import filled, references
from chameleon.core.events import Failure, Ran, Step, not_approved
from chameleon.core.module import InnerRun, Module
from chameleon.core.state import State
from chameleon.errors import ChameleonError, InventoryError, NotApproved
from chameleon.values import Room, freeze, to_json

if TYPE_CHECKING:
    from chameleon.inventory import Inventory

SHOWN_CHARS = 2_000  # of an argument, its beginning and its end; all of it where that is asked for
SHOWN_MB = 16.0  # of the values of a step's references; a run bounds its arguments by budget.megabytes
_BLANKS = re.compile(r" {3,}")


@dataclass(frozen=True)
class Request:
    """What a person is asked to allow: these steps of the run that has come to `state`.

    `inventory` has their modules. `str()` writes one line a step and argument, with the values that
    references have so far; nothing in it steers a terminal. Of a long value it shows the beginning and the
    end, and `whole` all.
    """

    steps: tuple[Step, ...]
    state: State
    inventory: Inventory

    def __str__(self) -> str:
        return "\n".join(line for step in self.steps for line in described(step, self.state))

    @property
    def whole(self) -> str:
        """Return the same with every value to its last character."""
        return "\n".join(line for step in self.steps for line in described(step, self.state, whole=True))


Approve = Callable[[Request], bool | Awaitable[bool | None] | None]
"""Answers a request: True allows its steps, False does not, None leaves the run waiting. May be async."""


def refuse(request: Request) -> bool:
    """Allow nothing: the way of runs that nobody attends."""
    return False


def described(step: Step, state: State, *, whole: bool = False) -> Iterator[str]:
    """Yield the module of a step, then each argument, invisible characters escaped and blanks counted."""
    yield step.module
    done = set(state.executed_names)
    to_come = {each.module for each in takewhile(lambda each: each != step, state.pending)}
    room = Room(SHOWN_MB)
    for name, value in (step.args or {}).items():
        line = f"  {_written(name, whole=whole)[1:-1]}: {_written(value, whole=whole)}"
        if open_ones := ", ".join(map(str, references(value, to_come))):
            line += f" (what comes of {open_ones})"
        elif any(references(value, done)):
            try:
                value_now = freeze(filled(value, state), "the value of its arguments", room)
                line += f" = {_written(value_now, whole=whole)}"
            except ChameleonError as problem:
                line += f" ({problem.what})"
        yield line


def _written(value: Any, *, whole: bool) -> str:
    """Write a value as JSON in one line: every invisible character escaped, and rows of blanks counted."""
    text = json.dumps(to_json(value), ensure_ascii=False)
    if not text.isprintable():
        text = "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)
    text = _BLANKS.sub(lambda blanks: f"⟨{len(blanks[0]):,} blanks⟩", text)
    if whole or len(text) <= SHOWN_CHARS:
        return text
    half = SHOWN_CHARS // 2
    return f"{text[:half]} ⟨{len(text) - 2 * half:,} more characters⟩ {text[-half:]}"


def held(state: State, inventory: Inventory, *, each: bool) -> tuple[Step, ...]:
    """Return the pending steps that a person has not answered for: all of the plan, or with `each` the first.

    Steps that are waiting already are those.
    """
    if state.asked:
        return state.asked
    answered = [*state.allowed, *state.denied]
    found = []
    for step in state.pending[:1] if each else state.pending:
        if step in answered:
            answered.remove(step)
        elif inventory.modules[step.module].requires_approval:
            found.append(step)
    return tuple(found)


def may_run(
    group: Sequence[Step], state: State, inventory: Inventory, before: Ran
) -> tuple[tuple[Step, ...], Failure | None]:
    """Return the first steps of a group that may run; where none may, also why the first may not.

    That is so where a person said no, nobody has said yes, or the run has run the module `max_runs` times,
    what it ran `before` included.
    """
    answered, allowed = list(state.allowed), list[Step]()
    refused = NotApproved.__name__
    ran = [each.step.module for each in state.history if not (each.error and each.error.kind == refused)]
    for step in group:
        module = inventory.modules[step.module]
        times_run = ran.count(step.module) + before.get((step.module,), 0)
        if allowed and (module.requires_approval or _limits_inside(module)):
            break  # it may wait, and must not run if one fails
        failure = None
        if step in state.denied or (module.requires_approval and step not in answered):
            failure = not_approved(step)
        elif module.max_runs is not None and times_run >= module.max_runs:
            times = "once" if module.max_runs == 1 else f"{module.max_runs:,} times"
            what = f"it may run at most {times} in a run, and has"
            failure = Failure("StepRejected", what, where=f"module {step.module}")
        if failure is not None:
            return tuple(allowed), None if allowed else failure
        if step in answered:
            answered.remove(step)
        ran.append(step.module)
        allowed.append(step)
        if _limits_inside(module):
            break
    return tuple(allowed), None


def _limits_inside(module: Module) -> bool:
    """Return whether an inventory that the module runs has steps that ask or are bounded, however deep."""
    within = module.inner.present.values() if isinstance(module, InnerRun) else ()
    return any(each.requires_approval or each.max_runs or _limits_inside(each) for each in within)


def answer_of(approve: Approve | None, request: Request) -> bool | None:
    """Return what a person says of a request; None where there is nobody to ask, or no answer yet.

    Raises `InventoryError` for an answer that is none of True, False and None.
    """
    if approve is None:
        return None
    said = bridge.called(partial(approve, request), blocks=bridge.may_block(approve))
    if said is not None and not isinstance(said, bool):
        hint = "Return True, False, or None to let the run wait."
        raise InventoryError(f"approve gave {str(said)[:60]!r}", hint=hint)
    return said


def needs_approval(state: State) -> NotApproved:
    """Return the error of a run that waits."""
    steps = ", ".join(map(str, state.waiting))
    hint = "Give Executor(…, approve=FUNCTION), or answer in the log: state.answer_approval."
    return NotApproved(f"the run waits for approval of {steps}", hint=hint)

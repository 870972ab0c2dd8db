"""Approval: which steps need a person's approval, what the person sees, and which steps may not run at all.

A step needs it if its module does (`Module.requires_approval`). The executor asks before anything of a plan
runs, or before each of these steps. Question and answer are events, so a run without an answer can be resumed
later from its log.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Any

from chameleon import bridge
from chameleon.core.arguments import filled, references
from chameleon.core.events import Failure, Ran, Step, not_approved
from chameleon.core.module import InnerRun, Module
from chameleon.core.state import State
from chameleon.errors import ChameleonError, InventoryError, NotApproved
from chameleon.inventory import Inventory
from chameleon.values import Room, freeze, to_json

SHOWN_CHARS = 2_000  # of the start and end of an argument, unless `whole`
SHOWN_MB = 16.0  # of a step's resolved references; a run limits them by budget.megabytes
_BLANKS = re.compile(r" {3,}")


@dataclass(frozen=True)
class Request:
    """A request for approval of these steps.

    `str()` writes one line per step and argument, with the current values of references; nothing in it can
    control a terminal. A long value is shortened in the middle, except in `whole`.

    Attributes:
        state: the current point of their run.
        inventory: has their modules.
    """

    steps: tuple[Step, ...]
    state: State
    inventory: Inventory

    def __str__(self) -> str:
        return "\n".join(line for step in self.steps for line in described(step, self.state))

    @property
    def whole(self) -> str:
        """Return the same text with every value in full."""
        return "\n".join(line for step in self.steps for line in described(step, self.state, whole=True))


Approve = Callable[[Request], bool | Awaitable[bool | None] | None]
"""Answers a request: True approves its steps, False denies them, None keeps the run waiting. May be async."""


def refuse(request: Request) -> bool:
    """Deny everything, for unattended runs."""
    return False


def described(step: Step, state: State, *, whole: bool = False) -> Iterator[str]:
    """Yield the module of a step, then each argument with invisible characters escaped and blanks counted."""
    yield step.module
    executed = set(state.executed_names)
    to_come = {each.module for each in takewhile(lambda each: each != step, state.pending)}  # no output yet
    room = Room(SHOWN_MB)
    for name, value in (step.args or {}).items():
        line = f"  {_written(name, whole=whole)[1:-1]}: {_written(value, whole=whole)}"
        if open_ones := ", ".join(map(str, references(value, to_come))):
            line += f" (the result of {open_ones})"
        elif any(references(value, executed)):
            try:
                value_now = freeze(filled(value, state), "the value of its arguments", room)
                line += f" = {_written(value_now, whole=whole)}"
            except ChameleonError as problem:
                line += f" ({problem.what})"
        yield line


def _written(value: Any, *, whole: bool) -> str:
    """Write a value as JSON on one line, with invisible characters escaped and runs of blanks counted."""
    text = json.dumps(to_json(value), ensure_ascii=False)
    if not text.isprintable():
        text = "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)
    text = _BLANKS.sub(lambda blanks: f"⟨{len(blanks[0]):,} blanks⟩", text)
    if whole or len(text) <= SHOWN_CHARS:
        return text
    half = SHOWN_CHARS // 2
    return f"{text[:half]} ⟨{len(text) - 2 * half:,} more characters⟩ {text[-half:]}"


def held(state: State, inventory: Inventory, *, each: bool) -> tuple[Step, ...]:
    """Return the pending steps that still need approval: all in the plan, or with `each` only the next one.

    If steps are already waiting, return those.
    """
    if state.asked:
        return state.asked
    answered = [*state.allowed, *state.denied]
    steps = []
    for step in state.pending[:1] if each else state.pending:
        if step in answered:
            answered.remove(step)
        elif inventory.modules[step.module].requires_approval:
            steps.append(step)
    return tuple(steps)


def may_run(
    group: Sequence[Step], state: State, inventory: Inventory, before: Ran
) -> tuple[tuple[Step, ...], Failure | None]:
    """Return the first steps of a group that may run; if none may, also why the first may not.

    A step may not run if a person denied it, nobody has approved it, or the run has used the module
    `max_runs` times, counting its runs `before`.
    """
    answered, allowed = list(state.allowed), list[Step]()
    refused = NotApproved.__name__  # such steps are in the history, but did not run
    ran = [each.step.module for each in state.history if not (each.error and each.error.kind == refused)]
    for step in group:
        module = inventory.modules[step.module]
        times_run = ran.count(step.module) + before.get((step.module,), 0)
        if allowed and (module.requires_approval or _limits_inside(module)):
            break  # it may have to wait, and must not run if another step fails
        failure = None
        if step in state.denied or (module.requires_approval and step not in answered):
            failure = not_approved(step)
        elif module.max_runs is not None and times_run >= module.max_runs:
            times = "once" if module.max_runs == 1 else f"{module.max_runs:,} times"
            what = f"it may run at most {times} in one run, and already did"
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
    """Return whether the module runs an inventory whose steps need approval or are limited, at any depth."""
    within = module.inner.present.values() if isinstance(module, InnerRun) else ()
    return any(each.requires_approval or each.max_runs or _limits_inside(each) for each in within)


def answer_of(approve: Approve | None, request: Request) -> bool | None:
    """Return a person's answer to a request, or None if there is nobody to ask or no answer yet.

    Raises `InventoryError` for an answer other than True, False and None.
    """
    if approve is None:
        return None
    answer = bridge.called(partial(approve, request), blocks=bridge.may_block(approve))
    if answer is not None and not isinstance(answer, bool):
        hint = "Return True, False, or None to let the run wait."
        raise InventoryError(f"approve returned {str(answer)[:60]!r}", hint=hint)
    return answer


def needs_approval(state: State) -> NotApproved:
    """Return the error of a waiting run."""
    steps = ", ".join(map(str, state.waiting))
    hint = "Pass Executor(…, approve=FUNCTION), or answer in the log with state.answer_approval."
    return NotApproved(f"the run waits for approval of {steps}", hint=hint)

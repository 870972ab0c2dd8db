"""Decide what happens next in a run: a pure function of the state, so a resumed run decides the same."""

from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import takewhile

from chameleon import errors
from chameleon.core.events import (
    LONGEST_REPLY,
    Failure,
    Plan,
    Reason,
    Redo,
    RunEnded,
    Step,
    StepRecord,
    not_approved,
)
from chameleon.core.planner import REPAIR_TURNS
from chameleon.core.state import State
from chameleon.errors import NotApproved, PlanError
from chameleon.inventory import Inventory
from chameleon.inventory.schema import OnError

_FATAL_ERRORS = (errors.ModelError, errors.StoreError, errors.MachineError)

# How a run ends after this kind of failure if nothing makes up for it; after any other it has failed.
_REASONS: Mapping[str, Reason] = {
    "InnerBudget": "budget",
    "InnerDeclined": "declined",
    NotApproved.__name__: "declined",
    "Unverified": "declined",
}


class Next(Enum):
    """The next action, if its outcome does not follow from the state."""

    STEPS = "run the pending steps, in parallel where possible"
    PLAN = "ask the planner: nothing is pending"


Decision = Next | Plan | RunEnded


def decide(state: State, inventory: Inventory) -> Decision:
    """Return the next action: run steps, ask the planner, take this plan, or end."""
    if (failed := state.failure) is not None and failed.error is not None:
        return _repair(state, failed, inventory) or _by_policy(state, failed, failed.error, inventory)
    if state.pending:
        return _denied(state, inventory) or Next.STEPS
    if (refused := _refused_plans(state)) and len(refused) > REPAIR_TURNS:
        return fall_back(state, inventory, _no_valid(refused, inventory))
    return Next.PLAN


def _refused_plans(state: State) -> Sequence[Plan]:
    """Return the refused plans since the last accepted one; a planner may correct `REPAIR_TURNS` of them."""
    since = takewhile(lambda plan: plan.refused, reversed(state.plans))
    return tuple(since)[::-1]


def continues_after(record: StepRecord, state: State, inventory: Inventory) -> bool:
    """Return whether the steps pending after this one still run, given its outcome."""
    if record.error is None:
        return True
    name = record.step.module
    skipped = _policy(name, state, inventory) == "skip" and name not in inventory.repair
    return skipped and _ending(record.error) is None


def finished(state: State) -> RunEnded:
    """Return how a run ends when the planner has nothing more to do."""
    if not state.executed:
        refused = _refused_plans(state)  # by a planner that counts a refused plan as run
        no_step = Failure(PlanError.__name__, "the planner proposed no steps")
        return RunEnded("failed", _no_valid(refused) if refused else no_step)
    if state.failure is not None and (error := state.failure.error) is not None:
        return RunEnded(_REASONS.get(error.kind, "failed"), error)
    last = state.executed[-1]
    if last.output is None:  # cache keys are for other modules, and none follows
        where, hint = f"module {last.step.module}", "Return the answer from its function or `run`."
        return RunEnded("failed", Failure("ModuleError", "the last module returned nothing", hint, where))
    return RunEnded("answered")


def _denied(state: State, inventory: Inventory) -> RunEnded | None:
    """Return the end of a run if a person denied a step it cannot continue without, else None."""
    replans = inventory.planner.replans_after_failure
    for step in state.denied:
        if _policy(step.module, state, inventory) == "stop" and not replans(state):
            return RunEnded("declined", not_approved(step))
    return None


def _repair(state: State, failed: StepRecord, inventory: Inventory) -> Plan | None:
    """Return the plan that redoes a rejected step, or None if none is configured or all attempts are used."""
    name, repair = failed.step.module, inventory.repair.get(failed.step.module)
    if repair is None or failed.error is None or failed.error.kind != "StepRejected":
        return None
    runs = _runs(state, repair.redo)
    ran = [record for record in state.executed if record.step.module == repair.redo]
    if runs >= repair.attempts or (runs > 1 and _repeat(ran[-2:])):
        return None
    previous = ran[-1] if ran else None
    advice = failed.error.advice if repair.show_error else ""
    redo = Redo(runs, repair.temperature_step, runs + 1 == repair.attempts, advice, _reply_of(previous))
    redone = Step(repair.redo, previous.step.args if previous else None, redo)
    steps = (redone,) if repair.redo == name else (redone, failed.step)
    note = f"{name} rejected ({failed.error.message}); attempt {runs + 1} of {repair.attempts}"
    return Plan((*steps, *state.pending), name, note, "repair")


def _repeat(records: Sequence[StepRecord]) -> bool:
    """Return whether a model repeated its reply when asked again: a third time would change nothing."""
    texts = [[call.text.strip() for call in record.calls] for record in records]
    return len(texts) == 2 and texts[0] == texts[1] and len(texts[0]) == 1


def _reply_of(record: StepRecord | None) -> str:
    """Return the reply that a redo shows the model: the output made from several, else the first."""
    if record is None or not record.calls:
        return ""
    is_made = len(record.calls) > 1 and isinstance(record.output, str)
    return str(record.output if is_made else record.calls[0].text).strip()[:LONGEST_REPLY]


def _policy(name: str, state: State, inventory: Inventory) -> OnError:
    """Return the policy for a failure of a module: the inventory's, else its planner's."""
    by_planner: OnError = "skip" if inventory.planner.continue_after_failure(state) else "stop"
    return inventory.on_error.get(name, by_planner)


def _ending(error: Failure) -> Reason | None:
    """Return how a run ends after a failure that no other step can make up for, or None if one may.

    A failed model call is reported, never worked around, and so is anything the machine lacks. `repair` and
    `on_error` are for a module that could not do its work, or an unusable reply.
    """
    if error.kind in ("Declined", "BudgetExceeded"):
        return "declined" if error.kind == "Declined" else "budget"
    kind = getattr(errors, error.kind, None)
    if not isinstance(kind, type) or kind is errors.EmptyReply:  # a module's own error may have any name
        return None
    return "failed" if issubclass(kind, _FATAL_ERRORS) else None


def _by_policy(state: State, failed: StepRecord, error: Failure, inventory: Inventory) -> Decision:
    """Return the action that the policy for a failed step requires."""
    name = failed.step.module
    policy, reason = _policy(name, state, inventory), f"{name} failed: {error.message}"
    if error.kind == errors.ContextTooLong.__name__:  # the fallback's prompts may be shorter
        return fall_back(state, inventory, error)
    if (end := _ending(error)) is not None:
        return RunEnded(end, error)
    tried = any(plan.kind == "on_error" and plan.by == name for plan in state.plans)  # once per run
    if isinstance(policy, list) and not tried:
        return Plan(tuple(Step(step) for step in policy), name, reason, "on_error")
    if policy == "skip" and state.pending:
        return Next.STEPS
    if policy == "fallback" and not _fell_back(state):
        failure = Failure(error.kind, reason, where=f"inventory {inventory.name}")
        return fall_back(state, inventory, failure)
    if policy != "skip" and not inventory.planner.replans_after_failure(state):
        return RunEnded(_REASONS.get(error.kind, "failed"), error)
    if len(refused := _refused_plans(state)) <= REPAIR_TURNS:
        return Next.PLAN
    if policy == "skip":  # a skipped step does not matter: treat the plans as a first proposal
        return fall_back(state, inventory, _no_valid(refused, inventory))
    return RunEnded("failed", _no_valid(refused))


def _no_valid(refused: Sequence[Plan], inventory: Inventory | None = None) -> Failure:
    """Say why the last of these plans was refused, and earlier ones if for other reasons."""
    *reasons, last = dict.fromkeys(plan.refused for plan in refused)
    earlier = f" (before that: {'; '.join(reasons)})" if reasons else ""
    where = f"inventory {inventory.name}" if inventory else ""
    return Failure(PlanError.__name__, f"no valid plan: {last}{earlier}", where=where)


def _runs(state: State, redo: str) -> int:
    """Count the runs of a module: one, plus one for each repair since the last accepted plan of another kind.

    Repairs requested by different modules count alike: the cost is in the module that is redone.
    """
    count = 1
    for plan in reversed([plan for plan in state.plans if not plan.refused]):
        if plan.kind != "repair":
            break
        count += plan.steps[0].module == redo
    return count


def _fell_back(state: State) -> bool:
    return any(plan.kind == "fallback" for plan in state.plans)


def fall_back(state: State, inventory: Inventory, failure: Failure) -> Plan | RunEnded:
    """Return the inventory's fallback, once per run: a second time would change nothing."""
    if not inventory.fallback or _fell_back(state):
        return RunEnded("failed", failure)
    steps = tuple(Step(name) for name in inventory.fallback)
    return Plan(steps, inventory.name, failure.message, "fallback")

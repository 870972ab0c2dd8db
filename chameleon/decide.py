"""What happens next in a run: a pure function of the state, so a resumed run takes the same turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon import values
from chameleon.errors import PlanError
from chameleon.inventory import Inventory
from chameleon.inventory.schema import RepairSpec
from chameleon.state import Ended, Failure, Plan, Reason, Record, State, Step

REPAIR_TURNS = 1

# Failures that no other step makes good. A model call that fails is told, never worked around in silence;
# what repair and on_error are for is a module that could not do its work, or a reply that will not do.
_ENDS_RUN: Mapping[str, Reason] = {
    "Declined": "declined",
    "BudgetExceeded": "budget",
    "AuthFailed": "failed",
    "ContextTooLong": "failed",
    "ModelError": "failed",
    "NoModel": "failed",
    "ParameterRefused": "failed",
    "RateLimited": "failed",
    "Unreachable": "failed",
    "Refused": "failed",
    "ReplayMiss": "failed",
    "ScriptExhausted": "failed",
    "StoreError": "failed",
}


@dataclass(frozen=True, slots=True)
class RunSteps:
    """Run the pending steps, as far as they can be run side by side."""


@dataclass(frozen=True, slots=True)
class AskPlanner:
    """Nothing is pending: ask the planner."""


Decision = RunSteps | AskPlanner | Plan | Ended


def decide(state: State, inventory: Inventory) -> Decision:
    """The next thing to do: run steps, ask the planner, take this plan, or end."""
    if state.failure is not None:
        return _after_failure(state, state.failure, inventory)
    if state.pending:
        return RunSteps()
    if (refused := _refused(state)) and len(refused) > REPAIR_TURNS:
        return _fall_back(state, inventory, f"no valid plan: {refused[-1].refused}", PlanError.__name__)
    return AskPlanner()


def goes_on(record: Record, inventory: Inventory) -> bool:
    """Whether the steps that are pending after this one still run, whatever came of it."""
    if record.error is None:
        return True
    name = record.step.module
    skipped = inventory.on_error.get(name, "stop") == "skip" and name not in inventory.repair
    return skipped and record.error.kind not in _ENDS_RUN


def finished(state: State) -> Ended:
    """How a run ends when the planner has nothing more to do."""
    if not state.taken:
        return Ended("failed", Failure("PlanError", "the planner proposed no step"))
    if state.failure is not None:
        return Ended("failed", state.failure.error)
    last = state.taken[-1]
    if last.output is None:  # what it writes into the cache is for other modules: nobody reads it any more
        where, hint = f"module {last.step.module}", "The last module's `run` returns the answer."
        return Ended("failed", Failure("ModuleError", "it returned nothing, and is the last", hint, where))
    return Ended("answered")


def _refused(state: State) -> Sequence[Plan]:
    """The refused plans since the last accepted one."""
    refused: list[Plan] = []
    for plan in reversed(state.plans):
        if not plan.refused:
            break
        refused.insert(0, plan)
    return refused


def _after_failure(state: State, failed: Record, inventory: Inventory) -> Decision:
    assert failed.error is not None
    if (reason := _ENDS_RUN.get(failed.error.kind)) is not None:
        return Ended(reason, failed.error)
    name = failed.step.module
    repair = inventory.repair.get(name)
    if repair is not None and failed.error.kind == "StepRejected":
        runs = _runs(state, repair.redo)
        if runs < repair.attempts:
            args = {**_args(state, repair.redo), "warmer": repair.warmer, "attempt": runs}
            redone = Step(repair.redo, values.freeze(args | _last(runs + 1, repair)))
            redo = (redone,) if repair.redo == name else (redone, failed.step)
            note = f"{name} rejected ({failed.error.message}); attempt {runs + 1} of {repair.attempts}"
            return Plan((*redo, *state.pending), name, note, "repair")
    return _by_policy(state, failed, inventory)


def _by_policy(state: State, failed: Record, inventory: Inventory) -> Decision:
    assert failed.error is not None
    policy = inventory.on_error.get(failed.step.module, "stop")
    name, reason = failed.step.module, f"{failed.step.module} failed: {failed.error.message}"
    tried = any(plan.kind == "on_error" and plan.by == name for plan in state.plans)
    if isinstance(policy, list) and not tried:
        return Plan(tuple(Step(step) for step in policy), name, reason, "on_error")
    if policy == "skip" and state.pending:
        return RunSteps()
    if policy == "fallback" and not _fell_back(state):
        return _fall_back(state, inventory, reason, failed.error.kind)
    if policy == "skip" or inventory.planner.takes_failure(state):
        refused = _refused(state)
        if len(refused) > REPAIR_TURNS:
            reason = f"no valid plan: {refused[-1].refused}"
            if policy == "skip":  # the step did not matter: as if the planner had been asked without it
                return _fall_back(state, inventory, reason, PlanError.__name__)
            return Ended("failed", Failure("PlanError", reason))
        return AskPlanner()
    return Ended("failed", failed.error)


def _runs(state: State, redo: str) -> int:
    """How often a module has run: once, and for each repair since the last accepted plan that was none.

    Repairs that different modules asked for count alike: it is the redone module that costs.
    """
    count = 1
    for plan in reversed([plan for plan in state.plans if not plan.refused]):
        if plan.kind != "repair":
            break
        count += plan.steps[0].module == redo
    return count


def _last(attempt: int, repair: RepairSpec) -> dict[str, Any]:
    """What tells a module that nothing comes after this attempt."""
    return {"last": True} if attempt == repair.attempts else {}


def _args(state: State, name: str) -> Mapping[str, Any]:
    """The arguments with which the module ran last."""
    steps = (record.step for record in reversed(state.taken))
    args = next((step.args for step in steps if step.module == name), {})
    return {key: value for key, value in args.items() if key != "last"}


def _fell_back(state: State) -> bool:
    return any(plan.kind == "fallback" for plan in state.plans)


def _fall_back(state: State, inventory: Inventory, reason: str, kind: str) -> Decision:
    """The inventory's fallback, once a run: a second time it would come to the same."""
    if not inventory.fallback or _fell_back(state):
        return Ended("failed", Failure(kind, reason, where=f"inventory {inventory.name}"))
    return Plan(tuple(Step(name) for name in inventory.fallback), inventory.name, reason, "fallback")

"""Another plan after a failure: bounded, and only where an inventory asks for it."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from typing import Any

from chameleon.inventory import Inventory
from chameleon.planner import Planner, bind, plan_of
from chameleon.state import Plan, State

_BY = re.compile(r"replanning\[(\d+)\]:")


class Replanning:
    """Asks its planner again, up to `attempts` times, when a step has failed for good.

    The planner sees the failure in the state (`state.failure`) and puts it into its prompt.
    """

    name = "replanning"

    def __init__(self, planner: Any, attempts: int = 1) -> None:
        self.planner: Planner = planner
        self.attempts = attempts

    @property
    def needs_model(self) -> bool:
        return bool(getattr(self.planner, "needs_model", False))

    @property
    def whole(self) -> bool:
        return bool(getattr(self.planner, "whole", True))

    def bound(self, llm: Any) -> Replanning:
        bound = copy.copy(self)
        bound.planner = bind(self.planner, llm)
        return bound

    @property
    def fixed_plans(self) -> list[list[str]]:
        """The plans that `chameleon check` can hold against the rules beforehand."""
        return list(getattr(self.planner, "fixed_plans", []))

    def takes_failure(self, state: State) -> bool:
        """Whether an attempt is left."""
        return _attempt(state) < self.attempts

    def propose(self, state: State, inventory: Inventory) -> Plan:
        if state.failure is not None and not self.takes_failure(state):
            return Plan((), self.name)
        attempt = _attempt(state) + (state.failure is not None)
        plan = plan_of(self.planner, replace(state, plans=_plans_of(attempt, state)), inventory)
        if not plan.steps and not plan.refused:
            return plan
        by = f"{self.name}[{attempt}]:{plan.by}"
        if state.failure is None:
            return replace(plan, by=by)
        return replace(plan, by=by, note=f"after {state.failure.error}", kind="again")


def _attempt(state: State) -> int:
    """The number of the attempt that is under way: 0 for the first, that of the last accepted plan."""
    numbers = [int(match[1]) for plan in state.plans if not plan.refused and (match := _BY.match(plan.by))]
    return max(numbers, default=0)


def _plans_of(attempt: int, state: State) -> tuple[Plan, ...]:
    """The plans of one attempt, as its planner named them: to that planner an attempt is a fresh start."""
    plans: list[Plan] = []
    current = 0
    for plan in state.plans:
        match = _BY.match(plan.by)
        current = int(match[1]) if match else current
        if current == attempt:
            plans.append(replace(plan, by=plan.by[match.end() :]) if match else plan)
    return tuple(plans)

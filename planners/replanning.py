"""Another plan after a failure: bounded, and only where an inventory asks for it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from chameleon.inventory import Inventory
from chameleon.planner import Planner, bind, plan_of, planned
from chameleon.state import Plan, State


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

    def takes_failure(self, state: State) -> bool:
        """Whether an attempt is left."""
        plans = [plan for plan in state.plans if plan.by.startswith(self.name) and not plan.refused]
        return len(plans) <= self.attempts

    def propose(self, state: State, inventory: Inventory) -> Plan:
        if planned(state) and state.failure is None:
            return Plan((), self.name)
        plan = plan_of(self.planner, replace(state, plans=_since_accepted(state)), inventory)
        note = f"after {state.failure.error}" if state.failure else plan.note
        return replace(plan, by=f"{self.name}:{plan.by}", note=note) if plan.steps or plan.refused else plan


def _since_accepted(state: State) -> tuple[Plan, ...]:
    """The refused plans since the last accepted one: to the inner planner this is a fresh start."""
    plans = list(state.plans)
    start = max((index + 1 for index, plan in enumerate(plans) if not plan.refused), default=0)
    return tuple(plans[start:])

"""The same plan for every question, as chain-of-thought and program-of-thought have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chameleon.core.events import Step
from chameleon.core.planner import Planner, as_steps, planned
from chameleon.core.state import State
from chameleon.errors import InventoryError
from chameleon.inventory import Inventory


class Fixed(Planner):
    """Always proposes `plan` once: module names, or {module: NAME, args: {…}} where one takes arguments."""

    def __init__(self, plan: str | list[str | dict[str, Any]]) -> None:
        plan = [plan] if isinstance(plan, str) else plan
        if not plan:
            raise InventoryError("a fixed plan needs at least one module", where="planner fixed")
        self.steps = as_steps(plan, "plan")
        self.plan = tuple(step.module for step in self.steps)

    @property
    def fixed_plans(self) -> list[list[str]]:
        """Return the plan, for `chameleon check` to hold against the rules."""
        return [list(self.plan)]

    @property
    def fixed_steps(self) -> list[list[Step]]:
        return [list(self.steps)]

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:
        return () if planned(state) else self.steps

"""The same plan for every question, as in chain-of-thought and program-of-thought."""

from collections.abc import Sequence
from typing import Any

from chameleon.core.events import Step
from chameleon.core.planner import Planner, as_steps, planned
from chameleon.core.state import State
from chameleon.errors import InventoryError
from chameleon.inventory import Inventory


class Fixed(Planner):
    """Always proposes `plan` once: module names, or {module: NAME, args: {…}} for one with arguments."""

    fixed_plans: Sequence[Sequence[str]] = ()
    fixed_steps: Sequence[Sequence[Step]] = ()

    def __init__(self, plan: str | list[str | dict[str, Any]]) -> None:
        plan = [plan] if isinstance(plan, str) else plan
        if not plan:
            raise InventoryError("a fixed plan needs at least one module", where="planner fixed")
        self.steps = as_steps(plan, "plan")
        self.plan = tuple(step.module for step in self.steps)
        self.fixed_steps, self.fixed_plans = [self.steps], [self.plan]

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:
        return () if planned(state) else self.steps

"""The same plan for every question, as chain-of-thought and program-of-thought have it."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.errors import InventoryError
from chameleon.inventory import Inventory
from chameleon.planner import Planner, planned
from chameleon.state import State, Step


class Fixed(Planner):
    """Always proposes `plan`, a list of module names, once."""

    def __init__(self, plan: list[str]) -> None:
        if not plan:
            raise InventoryError("a fixed plan needs at least one module", where="planner fixed")
        self.plan = tuple(plan)

    @property
    def fixed_plans(self) -> list[list[str]]:
        """Return the plan, for `chameleon check` to hold against the rules."""
        return [list(self.plan)]

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:
        return () if planned(state) else tuple(Step(name) for name in self.plan)

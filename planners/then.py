"""One planner after another: when the first has nothing more to do, the next is asked."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from chameleon.errors import InventoryError
from chameleon.inventory import Inventory
from chameleon.planner import Planner, bind, plan_of
from chameleon.state import Plan, State


class Then:
    """Asks its planners in order; each sees only the plans that it made itself.

    Plans made by the executor (repairs, the fallback) belong to the planner whose plan they mend. The
    rules of order hold for the last planner's plans.
    """

    name = "then"

    def __init__(self, planners: list[Any]) -> None:
        if len(planners) < 2:
            raise InventoryError("then needs two planners or more", where="planner then")
        self.planners: list[Planner] = planners
        self.whole = False

    @property
    def needs_model(self) -> bool:
        return any(getattr(planner, "needs_model", False) for planner in self.planners)

    def bound(self, llm: Any) -> Then:
        bound = copy.copy(self)
        bound.planners = [bind(planner, llm) for planner in self.planners]
        return bound

    def propose(self, state: State, inventory: Inventory) -> Plan:
        for position, planner in enumerate(self.planners):
            plan = plan_of(planner, _own(state, position), inventory)
            if plan.steps or plan.refused:
                return replace(plan, by=f"then[{position}]:{plan.by}")
        return Plan((), self.name)


def _own(state: State, position: int) -> State:
    """The state with the plans of this planner only."""
    mine: list[Plan] = []
    turn = 0
    for plan in state.plans:
        if plan.by.startswith("then["):
            turn = int(plan.by[5 : plan.by.index("]")])
        if turn == position:
            mine.append(plan)
    return replace(state, plans=tuple(mine))

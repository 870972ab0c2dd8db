"""One planner after another: when the first has nothing more to do, the next is asked."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from chameleon.errors import InventoryError
from chameleon.inventory import Inventory
from chameleon.planner import Planner, ask
from chameleon.state import Plan, State


class Then(Planner):
    """Asks its planners in order; each sees only the plans that it made itself.

    Plans made by the executor (repairs, the fallback) belong to the planner whose plan they mend. The
    rules of order hold for the last planner's plans.
    """

    whole = False

    def __init__(self, planners: list[Any]) -> None:
        if len(planners) < 2:
            raise InventoryError("then needs two planners or more", where="planner then")
        self.planners: list[Planner] = planners

    def with_llm(self, llm: Any) -> Then:
        bound = copy.copy(self)
        bound.planners = [planner.with_llm(llm) for planner in self.planners]
        return bound

    def handles_failure(self, state: State) -> bool:
        """Whether the planner whose plan failed wants to be asked again."""
        turn = _turns(state)[1]
        return self.planners[turn].handles_failure(_own(state, turn))

    def propose(self, state: State, inventory: Inventory) -> Plan:
        for position, planner in enumerate(self.planners):
            plan = ask(planner, _own(state, position), inventory)
            if plan.steps or plan.refused:
                return replace(plan, path=(position, *plan.path))
        return Plan((), self.name)


def _own(state: State, position: int) -> State:
    """The state with this planner's own plans, as it made them, and its own failure."""
    plans, turn = _turns(state)
    mine = tuple(plan for owner, plan in plans if owner == position)
    return replace(state, plans=mine, failure=state.failure if turn == position else None)


def _turns(state: State) -> tuple[list[tuple[int, Plan]], int]:
    """Every plan with the position of the planner that it belongs to, and the position of the last one."""
    plans: list[tuple[int, Plan]] = []
    turn = 0
    for plan in state.plans:
        turn, *inner = plan.path or (turn,)
        plans.append((turn, replace(plan, path=tuple(inner))))
    return plans, turn

"""One planner after another: when the first has nothing more to do, the next one plans."""

from dataclasses import replace
from typing import Any

from chameleon.core.events import Plan
from chameleon.core.planner import Planner, ask, plans_at, state_at
from chameleon.core.state import State
from chameleon.errors import InventoryError
from chameleon.inventory import Inventory


class Then(Planner):
    """Asks its planners in order; each sees only its own plans.

    Plans made by the executor (repairs, the fallback) belong to the planner whose plan they fix. Each planner
    proposes only a part, so the rules of order do not apply to it.
    """

    returns_full_plan = False

    def __init__(self, planners: list[Any]) -> None:
        if len(planners) < 2:
            raise InventoryError("then needs two planners or more", where="planner then")
        self.planners: list[Planner] = planners

    def replans_after_failure(self, state: State) -> bool:
        """Return whether the planner whose plan failed wants to be asked again."""
        place = plans_at(0, state)[1]
        return self.planners[place].replans_after_failure(state_at(place, state))

    def continue_after_failure(self, state: State) -> bool:
        """Return the setting of the planner whose plan failed."""
        place = plans_at(0, state)[1]
        return self.planners[place].continue_after_failure(state_at(place, state))

    def propose(self, state: State, inventory: Inventory) -> Plan:
        for position, planner in enumerate(self.planners):
            plan = ask(planner, state_at(position, state), inventory)
            if plan.steps or plan.refused:
                return replace(plan, path=(position, *plan.path))
        return Plan((), self.name)

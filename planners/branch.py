"""One of two planners: which one, a key of the state tells when the first plan is to be made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chameleon.errors import InventoryError
from chameleon.inventory import Inventory
from chameleon.planner import Planner, ask, plans_at, state_at
from chameleon.state import Plan, State


class Branch(Planner):
    """Asks the first of its two `planners` where the state has `key`, else the second.

    A key is such as "input.table" or "cache.table_choice". Whichever made the first plan makes all of
    them.
    """

    whole = False

    def __init__(self, key: str, planners: list[Any]) -> None:
        kind, _, name = key.partition(".")
        if kind not in ("input", "cache") or not name:
            raise InventoryError(
                f"{key!r} is no key of the state",
                where="planner branch",
                hint='Write one such as "input.table" or "cache.answer".',
            )
        if len(planners) != 2:
            raise InventoryError(
                f"branch takes two planners, with and without the key, not {len(planners)}",
                where="planner branch",
            )
        self.key, self.reads = key, (key,)
        self.planners: list[Planner] = planners

    def handles_failure(self, state: State) -> bool:
        """Return whether the planner whose plan failed wants to be asked again."""
        place = self._place(state)
        return self.planners[place].handles_failure(state_at(place, state))

    def propose(self, state: State, inventory: Inventory) -> Plan:
        place = self._place(state)
        plan = ask(self.planners[place], state_at(place, state), inventory)
        return replace(plan, path=(place, *plan.path))

    def _place(self, state: State) -> int:
        return plans_at(0, state)[1] if state.plans else int(self.key not in state.keys)

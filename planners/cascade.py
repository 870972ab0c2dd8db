"""One inventory after another, the cheapest first, until one of them answers."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.errors import InventoryError
from chameleon.inventory import Inventory
from chameleon.planner import Planner
from chameleon.state import Plan, State, Step


class Cascade(Planner):
    """Asks the rungs, in order, until one of them answers: each is a module that runs an inventory.

    What a rung declines or fails at goes to the next; where the last does, the run ends with its reason. A rung
    that is surely read without a model may be held to a confidence: `{inventory: tables_offline, at_least: 0.9}`
    declines what it is less sure of. By default all modules of the inventory are rungs, in its order.
    """

    def __init__(self, rungs: list[str] | None = None) -> None:
        self.rungs = rungs

    @property
    def names_modules(self) -> dict[str, list[str]]:
        return {"rungs": self.rungs or []}

    @property
    def fixed_plans(self) -> Sequence[Sequence[str]]:
        return [[name] for name in self.rungs or ()]

    def handles_failure(self, state: State) -> bool:
        """Return that the next rung is asked, if there is one."""
        return True

    def propose(self, state: State, inventory: Inventory) -> Plan:
        rungs = [name for name in self.rungs or inventory.modules if name in inventory.present]
        if plain := [name for name in rungs if inventory.modules[name].inner is None]:
            hint = f"Write `{plain[0]}: {{inventory: NAME}}`."
            raise InventoryError(f"the rung {plain[0]} runs no inventory", where="planner cascade", hint=hint)
        asked = {record.step.module for record in state.executed}
        left = [name for name in rungs if name not in asked]
        if not left or (asked and state.failure is None):
            return Plan((), self.name)
        error = state.failure and state.failure.error
        note = f"{state.failure.step.module}: {error.message}" if state.failure and error else ""
        return Plan((Step(left[0]),), self.name, note, "replan" if error else "proposed")

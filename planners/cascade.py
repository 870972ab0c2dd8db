"""One inventory after another, the cheapest first, until one of them answers."""

from __future__ import annotations

from chameleon.core.events import Plan, Step
from chameleon.core.planner import Planner
from chameleon.core.state import State
from chameleon.inventory import Inventory


class Cascade(Planner):
    """Asks the modules of the inventory, each an inventory itself, in their order, until one of them answers.

    What one declines or fails at goes to the next; the last one's reason is the run's. One that reads without
    a model may be held to a confidence: `{inventory: tables_offline, at_least: 0.9}`.
    """

    def replans_after_failure(self, state: State) -> bool:
        """Return that the next rung is asked, if there is one."""
        return True

    def propose(self, state: State, inventory: Inventory) -> Plan:
        asked = {record.step.module for record in state.executed}
        left = [name for name in inventory.present if name not in asked]
        if not left or (asked and state.failure is None):
            return Plan((), self.name)
        failed = state.failure
        note = f"{failed.step.module}: {failed.error.message}" if failed and failed.error else ""
        return Plan((Step(left[0]),), self.name, note)

"""One inventory after another, cheapest first, until one of them answers."""

from chameleon.core.events import Plan, Step
from chameleon.core.planner import Planner
from chameleon.core.state import State
from chameleon.inventory import Inventory


class Cascade(Planner):
    """Asks the modules of the inventory, each an inventory itself, in order until one of them answers.

    If one declines or fails, the next is asked; the last one's reason is the run's. One that reads without a
    model may need a minimum confidence: `{inventory: tables_offline, at_least: 0.9}`.
    """

    def replans_after_failure(self, state: State) -> bool:
        """Return True: the next inventory is asked, if any."""
        return True

    def propose(self, state: State, inventory: Inventory) -> Plan:
        tried = {record.step.module for record in state.executed}
        untried = [name for name in inventory.present if name not in tried]
        if not untried or (tried and state.failure is None):
            return Plan((), self.name)
        failed = state.failure
        note = f"{failed.step.module}: {failed.error.message}" if failed and failed.error else ""
        return Plan((Step(untried[0]),), self.name, note)

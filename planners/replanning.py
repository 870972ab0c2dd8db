"""Another plan after a failure, a limited number of times, if an inventory asks for it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chameleon.core.events import Plan, Step
from chameleon.core.planner import Planner, ask, plans_at
from chameleon.core.state import State
from chameleon.inventory import Inventory


class Replanning(Planner):
    """Asks its planner again, up to `attempts` times, if a step has failed for good.

    The planner sees the failure in the state (`state.failure`) and puts it into its prompt; each attempt is a
    fresh start for it. The number of the attempt is the first item in the `path` of its plans.
    """

    fixed_plans: Sequence[Sequence[str]] = ()
    fixed_steps: Sequence[Sequence[Step]] = ()

    def __init__(self, planner: Any, attempts: int = 1) -> None:
        self.planners: list[Planner] = [planner]
        self.attempts = attempts
        self.returns_full_plan = planner.returns_full_plan
        self.fixed_plans, self.fixed_steps = planner.fixed_plans, planner.fixed_steps

    def replans_after_failure(self, state: State) -> bool:
        """Return whether another attempt is left."""
        return _attempt(state) < self.attempts

    def continue_after_failure(self, state: State) -> bool:
        return self.planners[0].continue_after_failure(state)

    def propose(self, state: State, inventory: Inventory) -> Plan:
        if state.failure is not None and not self.replans_after_failure(state):
            return Plan((), self.name)
        attempt = _attempt(state) + (state.failure is not None)
        plan = ask(self.planners[0], replace(state, plans=plans_at(attempt, state)[0]), inventory)
        if not plan.steps and not plan.refused:
            return plan
        plan = replace(plan, path=(attempt, *plan.path))
        if state.failure is None:
            return plan
        return replace(plan, note=f"after {state.failure.error}", kind="replan")


def _attempt(state: State) -> int:
    """Return the number of the current attempt, that of the last accepted plan: 0 for the first."""
    return max((plan.path[0] for plan in state.plans if plan.path and not plan.refused), default=0)

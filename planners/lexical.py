"""Chain-of-Table without a model: the operations that a reading of the question wants, one by one."""

from __future__ import annotations

from typing import Any

from pydantic import PositiveInt

from chameleon.inventory import Inventory
from chameleon.planners.dynamic import END, Dynamic
from chameleon.state import Plan, State, Step


class Lexical(Dynamic):
    """Asked after every operation, takes the next one that `cache.reading` wants and the grammar allows.

    - `first`: the modules that read the question; one of them writes `cache.reading`, whose `chain` lists
      what is to be done to the table, each with the name of its `operation`.
    - `follows`, `then`, `max_operations`: as for the dynamic planner.

    An operation that would change nothing refuses, and the chain goes on with the next.
    """

    needs_model = False

    def __init__(
        self,
        first: list[str],
        follows: dict[str, list[str]],
        then: list[str],
        *,
        max_operations: PositiveInt = 5,
    ) -> None:
        super().__init__(follows, then, max_operations=max_operations)
        self.first = tuple(first)

    def with_llm(self, llm: Any) -> Lexical:
        return self

    @property
    def fixed_plans(self) -> list[list[str]]:
        return [[*self.first, *plan] for plan in super().fixed_plans]

    def propose(self, state: State, inventory: Inventory) -> Plan:
        taken = [record.step.module for record in state.executed]
        if not taken:
            return Plan(tuple(Step(name) for name in self.first), self.name, "read the question")
        if any(name in self.then for name in taken):
            return Plan((), self.name)
        chain = list(self._links(state))
        wanted = [link["operation"] for link in state.cache["reading"]["chain"]]
        candidates = self._candidates(chain, state, inventory)
        if len(chain) >= len(wanted):
            return self._end("nothing else is wanted")
        if (name := wanted[len(chain)]) not in candidates:
            return self._end(f"{name} may not follow, only {', '.join(candidates) or END}")
        return Plan((Step(name),), self.name, f"wanted of {', '.join(candidates)}")

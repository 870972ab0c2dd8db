"""The part of an inventory that needs no model, run by itself: what comes to the modules that ask one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from chameleon.executor import Executor
from chameleon.inventory import Inventory
from chameleon.inventory.grid import fixed_plan
from chameleon.inventory.schema import RulesSpec
from chameleon.llm_module import LLMModule
from chameleon.planner import Planner, planned
from chameleon.state import RunStarted, State, Step

_TABLE = "input.table"


@dataclass(frozen=True)
class Prepared:
    """What of a fixed plan runs without a model.

    Of the modules up to the last one that asks a model, `runs` are those that ask none and depend on nothing
    that others would have written, `asks` those that ask one, and `waiting` the rest. `unknown` are the keys
    that the latter two would write.
    """

    inventory: Inventory
    runs: tuple[str, ...]
    asks: tuple[str, ...]
    waiting: tuple[str, ...]
    unknown: frozenset[str]

    @classmethod
    def of(cls, inventory: Inventory) -> Prepared | None:
        """None where the inventory has no fixed plan: then a model decides what runs."""
        plan = fixed_plan(inventory)
        if plan is None:
            return None
        runs, asks, waiting = list[str](), list[str](), list[str]()
        unknown = set[str]()
        for name in _up_to_the_last_that_asks(plan, inventory):
            access = inventory.access[name]
            if inventory.modules[name].needs_model:
                asks.append(name)
            elif unknown and access.depends_on(unknown):
                waiting.append(name)
            else:
                runs.append(name)
                continue
            unknown |= access.writes
        return cls(inventory, tuple(runs), tuple(asks), tuple(waiting), frozenset(unknown))

    def state(self, given: Mapping[str, Any]) -> State:
        """The state after what runs, for the input of a problem. Raises `InputError` for one that is none."""
        return self._executor.run(self._taken(given)) if self.runs else self.begun(given)

    def begun(self, given: Mapping[str, Any]) -> State:
        """The state before anything runs. Raises `InputError` for an input that is none."""
        return State().after(RunStarted(self.inventory.name, self.inventory.check_input(self._taken(given))))

    def _taken(self, given: Mapping[str, Any]) -> dict[str, Any]:
        taken = self.inventory.input_types
        return {key: value for key, value in given.items() if not taken or key in taken}

    @property
    def knows_table(self) -> bool:
        """Whether the table that comes to the model is that of the state."""
        return _TABLE not in self.unknown and "input.*" not in self.unknown

    def prompted(self, state: State) -> str | None:
        """The table as the prompt shows it; None where that is not known."""
        if not self.knows_table or self.waiting:
            return None
        return prompted_table(self.inventory, self.asks, state)

    @cached_property
    def part(self) -> Inventory:
        """The inventory with what runs alone: nothing is repaired, and a failure ends the run."""
        others = frozenset(self.inventory.modules) - set(self.runs)
        return replace(
            self.inventory,
            planner=_Once(self.runs),
            rules=RulesSpec(),
            fallback=(),
            repair={},
            on_error={},
            left_out=others,
        )

    @cached_property
    def _executor(self) -> Executor:
        return Executor(self.part)


def _up_to_the_last_that_asks(plan: Sequence[str], inventory: Inventory) -> Sequence[str]:
    asking = [place for place, name in enumerate(plan) if inventory.modules[name].needs_model]
    return plan[: asking[-1] + 1] if asking else plan


def prompted_table(inventory: Inventory, asks: Collection[str], state: State) -> str | None:
    """The table as the last of these modules shows it in its prompt; None where it shows none."""
    for name in reversed(list(asks)):
        module, access = inventory.modules[name], inventory.access[name]
        if isinstance(module, LLMModule) and access.depends_on({_TABLE}) and state.table is not None:
            text = module.slots(access.view(state)).get("table")
            return text if isinstance(text, str) else None
    return None


class _Once(Planner):
    """A plan that is taken once."""

    name = "prepared"

    def __init__(self, plan: Sequence[str]) -> None:
        self.plan = tuple(plan)

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step]:
        return () if planned(state) else tuple(map(Step, self.plan))

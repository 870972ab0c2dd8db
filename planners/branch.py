"""Choose one of two planners, by keys of the state at the first plan, or by the model."""

from dataclasses import replace
from typing import Any, Self

from chameleon.core.events import Plan
from chameleon.core.llm_module import AsksModel
from chameleon.core.module import split_keys
from chameleon.core.planner import ask, plans_at, state_at
from chameleon.core.state import State
from chameleon.errors import InventoryError
from chameleon.inventory import Inventory
from chameleon.planners.then import Then

SEES = "model.sees"


class Branch(Then):
    """Asks the first of its two `planners` if everything that `key` names is present, else the second.

    The planner of the first plan makes all later ones too.

    Args:
        key: such as "input.table" or "cache.table_choice"; commas join several. "model.sees" is present if
            the models asked in the first planner's fixed plans, or else the run's model, are known to accept
            pictures.
        planners: the one to ask with the key, and the one to ask without it.
    """

    llm: Any = None

    def __init__(self, key: str, planners: list[Any]) -> None:
        self.keys = split_keys(key)
        for each in self.keys or (key,):
            kind, _, name = each.partition(".")
            if each != SEES and (kind not in ("input", "cache") or not name):
                hint = 'Write one such as "input.table", "cache.answer" or "model.sees".'
                raise InventoryError(f"{each!r} is not a key of the state", where="planner branch", hint=hint)
        if len(planners) != 2:
            what = f"branch takes two planners, one with the key and one without, not {len(planners)}"
            raise InventoryError(what, where="planner branch")
        self.reads = tuple(each for each in self.keys if each != SEES)
        super().__init__(planners)
        self.returns_full_plan = all(planner.returns_full_plan for planner in self.planners)

    def with_llm(self, llm: Any) -> Self:
        copied = super().with_llm(llm)
        copied.llm = llm
        return copied

    def propose(self, state: State, inventory: Inventory) -> Plan:
        place = plans_at(0, state)[1] if state.plans else int(not self._holds(state, inventory))
        plan = ask(self.planners[place], state_at(place, state), inventory)
        return replace(plan, path=(place, *plan.path))

    def _holds(self, state: State, inventory: Inventory) -> bool:
        if not state.keys.issuperset(self.reads):
            return False
        modules = {name for plan in self.planners[0].fixed_plans for name in plan}
        if SEES not in self.keys:
            return True
        asking = [each for name, each in inventory.modules.items() if name in modules]
        models = [each.model for each in asking if isinstance(each, AsksModel)] or [self.llm]
        return all(model is not None and model.sees for model in models)

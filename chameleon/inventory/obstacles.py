"""What keeps an inventory from working here: all of it at once, and what a run can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from chameleon.errors import ChameleonError, InventoryError, PlanError, raised_at
from chameleon.inventory.source import KeyPath
from chameleon.module import Module
from chameleon.planner import check_names, every_planner
from chameleon.state import State

if TYPE_CHECKING:
    from chameleon.inventory.inventory import Inventory


@dataclass(frozen=True)
class Obstacle:
    """One thing that is missing or wrong: `part` of the inventory ("modules.text_detector"), and the error.

    `module` names the module that cannot run, "" where it is something else. `stops` is False where a run
    goes on all the same: the inventory's `on_error` says what it does without that module.
    """

    part: str
    error: ChameleonError
    module: str = ""
    stops: bool = True

    def to_json(self) -> dict[str, str | bool]:
        error = self.error
        told = {"part": self.part, "what": error.what, "hint": error.hint, "where": error.where}
        return {**told, "stops": self.stops}


def obstacles(inventory: Inventory) -> list[Obstacle]:
    """Everything that loading leaves lazy and that is not as it should be: prompts, modules, plans.

    Modules and planners are asked by their `check`. What is left out is not looked at.
    """
    return [
        *_of_prompts(inventory),
        *_of_modules(inventory),
        *_of_planners(inventory),
        *_of_plans(inventory),
    ]


def all_of(found: Sequence[Obstacle], name: str) -> ChameleonError:
    """One error that tells them all; `name` is the inventory's. There is at least one."""
    if len(found) == 1:
        return found[0].error
    told = "; ".join(" ".join(filter(None, (each.error.what, each.error.hint))) for each in found)
    return InventoryError(f"{len(found)} things keep it from running here: {told}", where=name)


def _of_prompts(inventory: Inventory) -> Iterator[Obstacle]:
    for prompt in inventory.prompts:
        try:
            prompt.check()
        except ChameleonError as problem:
            yield Obstacle("prompts", problem)


def _of_modules(inventory: Inventory) -> Iterator[Obstacle]:
    for name, module in inventory.modules.items():
        if name in inventory.left_out:
            continue
        check = module.check if type(module).run is not Module.run else partial(module.run, State())
        if (problem := _problem(check, f"module {name}")) is not None:
            error = _placed(inventory, problem, ("modules", name))
            yield Obstacle(f"modules.{name}", error, name, not _does_without(inventory, name))


def _of_planners(inventory: Inventory) -> Iterator[Obstacle]:
    for part in every_planner(inventory.planner):
        if (problem := _problem(part.check, f"planner {part.name}")) is not None:
            yield Obstacle("planner", _placed(inventory, problem, ("planner",)))


def _of_plans(inventory: Inventory) -> Iterator[Obstacle]:
    """Plans that are fixed and break a rule; each is told once, though plans share their parts."""
    keys = list(inventory.input_types) or ["question"]
    state = State(input=dict.fromkeys((key.removesuffix("?") for key in keys), ""))
    told: set[tuple[str, str]] = set()
    for whole, key, plan in _plans(inventory):
        kept = [name for name in plan if name not in inventory.left_out]
        try:
            if whole:
                inventory.check_plan(kept, state)
            else:
                check_names(kept, inventory.modules, inventory.rules)
        except PlanError as problem:
            if (key, problem.what) in told:
                continue
            told.add((key, problem.what))
            yield Obstacle(key, _broken_rule(inventory, key, plan, problem))


def _plans(inventory: Inventory) -> Iterator[tuple[bool, str, list[str]]]:
    """Whether it is a whole plan, the key below which it stands, and the plan."""
    for part in every_planner(inventory.planner):
        for plan in part.fixed_plans:
            yield part is inventory.planner, "planner", list(plan)
    if inventory.fallback:
        yield True, "fallback", list(inventory.fallback)


def _broken_rule(inventory: Inventory, key: str, plan: list[str], problem: PlanError) -> InventoryError:
    """The plan that breaks a rule, with the line of the file where it stands."""
    source = inventory.source
    where = source.place(source.path_to(plan, key)) if source else inventory.name
    what = f"the plan {' → '.join(plan)} breaks a rule: {problem.what}"
    return InventoryError(what, where=where, hint=problem.hint)


def _problem(check: Callable[[], object], part: str) -> InventoryError | None:
    """What a check says; a check that is itself at fault is told as one."""
    try:
        returned = check()
    except ChameleonError as problem:
        return InventoryError(f"the {part} cannot run here: {problem.what}", hint=problem.hint)
    except (Exception, SystemExit) as problem:  # a user's check may raise anything
        told = " ".join(f"{type(problem).__name__}: {problem}".split())[:300]
        return InventoryError(
            f"the check of the {part} failed: {told}{raised_at(problem)}",
            hint="To tell what is missing, a check raises a ChameleonError.",
        )
    if returned is None:
        return None
    return InventoryError(
        f"the check of the {part} returned {str(returned)[:60]!r}, and is to return nothing",
        hint="To tell what is missing, a check raises a ChameleonError.",
    )


def _placed(inventory: Inventory, problem: InventoryError, path: KeyPath) -> InventoryError:
    return problem.at(inventory.source.place(path) if inventory.source else inventory.name)


def _does_without(inventory: Inventory, name: str) -> bool:
    """Whether a run goes on where this module fails, by a policy that does not itself need the module."""
    policy = inventory.on_error.get(name, "stop")
    if policy == "fallback":
        return bool(inventory.fallback) and name not in inventory.fallback
    return policy == "skip" or (isinstance(policy, list) and name not in policy)

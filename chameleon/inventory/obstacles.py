"""What keeps an inventory from working here: all of it at once, and what a run can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from chameleon.errors import ChameleonError, InventoryError, PlanError, PromptError, raised_at
from chameleon.inventory.own_methods import undeclared_reads, wrong_signatures
from chameleon.inventory.own_prompts import hides_modules, unfilled
from chameleon.inventory.schema import CUSTOMARY_TYPES
from chameleon.llm_module import AsksModel
from chameleon.module import Module
from chameleon.planner import Planner, as_steps, check_arguments, check_names, every_planner
from chameleon.state import State, Step
from chameleon.text import nearest

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
        """Write the obstacle as JSON."""
        error = self.error
        told = {"part": self.part, "what": error.what, "hint": error.hint, "where": error.where}
        return {**told, "stops": self.stops}


def obstacles(inventory: Inventory) -> Iterator[Obstacle]:
    """Yield all that loading leaves lazy and that is not as it should be: prompts, modules, planners, plans.

    Modules and planners are asked by their `check`. What is left out is not looked at.
    """
    for asker in [*every_planner(inventory.planner), *inventory.modules.values()]:
        try:
            if isinstance(asker, AsksModel):
                asker.template.check()
        except ChameleonError as problem:
            yield Obstacle("prompts", problem)
    for name, module in inventory.present.items():
        has_run = module.inner is not None or type(module).run is not Module.run
        check = module.check if has_run else partial(module.run, State())
        fault = _failed(check, f"module {name}")
        found = [fault.at(inventory.place(("modules", name)))] if fault else []
        for error in (*found, *_faults(module, inventory)):
            yield Obstacle(f"modules.{name}", error, name, stops=not _does_without(inventory, name))
    for part in every_planner(inventory.planner):
        lacks = type(part).propose is Planner.propose
        check = partial(part.propose, State(), inventory) if lacks else part.check
        fault = _failed(check, f"planner {part.name}")
        found = [fault.at(inventory.place(("planner",)))] if fault else []
        yield from (Obstacle("planner", error) for error in (*found, *_faults(part, inventory)))
    yield from _unwritten(inventory)
    yield from _plans(inventory)


def _faults(part: Module | Planner, inventory: Inventory) -> Iterator[InventoryError]:
    """Yield what is wrong with the class, where it is the user's own, and with the prompt."""
    if not type(part).__module__.startswith("chameleon."):
        yield from wrong_signatures(part)
        reads = inventory.access[part.name].reads if isinstance(part, Module) else None
        if isinstance(part, Module) and reads is not None and (fault := undeclared_reads(part, reads)):
            yield fault
    with suppress(InventoryError, PromptError):  # a prompt that cannot be read is told of as such
        if isinstance(part, Planner) and (fault := hides_modules(part, inventory)):
            yield fault
        yield from unfilled(part, inventory)


def _unwritten(inventory: Inventory) -> Iterator[Obstacle]:
    """Yield keys that a planner, or a module that it may choose, needs and that nothing gives."""
    planners = [*every_planner(inventory.planner)]
    given = {f"input.{key.removesuffix('?')}" for key in inventory.input_types or ["*"]}
    there = given.union(*(access.writes for access in inventory.access.values()))
    for part in planners:
        for key in part.reads:
            if there.isdisjoint((key, f"{key.partition('.')[0]}.*")):
                what = f"planner {part.name} asks for {key}, which neither the input nor a module gives"
                error = InventoryError(what, hint=nearest(key, there), where=inventory.place(("planner",)))
                yield Obstacle("planner", error)
    if all(part.planners or part.fixed_plans for part in planners):
        return  # `_plans` looks at plans that are fixed
    planned = {name for part in planners for plan in part.fixed_plans for name in plan}
    free = [name for name in inventory.present if name not in inventory.brought | planned]
    lacking = {name: keys[0] for name in free if (keys := inventory.access[name].missing(there))}
    for name, key in lacking.items():
        told = f"it reads {key.replace('|', ' or ')}, which neither the input nor a module gives"
        place, _, wanted = key.partition("|")[0].partition(".")
        hint = f"Add `{wanted}: {CUSTOMARY_TYPES.get(wanted, 'any')}` to `input`."
        error = InventoryError(
            f"the module {name} cannot run here: {told}",
            hint=hint if place == "input" else nearest(key, there),
            where=inventory.place(("modules", name)),
        )
        yield Obstacle(f"modules.{name}", error, name, stops=len(lacking) == len(free))


def all_of(found: Sequence[Obstacle], name: str) -> ChameleonError:
    """Make one error that tells them all; `name` is the inventory's. There is at least one."""
    if len(found) == 1:
        return found[0].error
    told = "; ".join(" ".join(filter(None, (each.error.what, each.error.hint))) for each in found)
    return InventoryError(f"{len(found)} things keep it from running here: {told}", where=name)


def _plans(inventory: Inventory) -> Iterator[Obstacle]:
    """Yield plans that are fixed and break a rule, each once, though plans share their parts."""
    keys = list(inventory.input_types) or ["question"]
    state = State(input=dict.fromkeys((key.removesuffix("?") for key in keys), ""))
    fixed = [
        (part is inventory.planner, "planner", list(plan))
        for part in every_planner(inventory.planner)
        for plan in part.fixed_steps
    ]
    fallback = [Step(name) for name in inventory.fallback]
    told: set[tuple[str, str]] = set()
    for whole, key, plan in [*fixed, (True, "fallback", fallback)]:
        kept = [step for step in plan if step.module not in inventory.left_out]
        names = [step.module for step in plan]
        try:
            if whole and plan:
                inventory.check_plan(kept, state)
            elif plan:
                check_names([step.module for step in kept], inventory.modules, inventory.rules)
                check_arguments(
                    kept, inventory.arguments, [*inventory.modules], inputs={"input", *state.input}
                )
        except PlanError as problem:
            if (key, problem.what) not in told:
                told.add((key, problem.what))
                what = f"the plan {' → '.join(names)} breaks a rule: {problem.what}"
                path = inventory.source.path_to(partial(_is_plan, plan), key) if inventory.source else (key,)
                if problem.path:
                    step = plan.index(kept[int(problem.path[0])])
                    what = f"step {step + 1} of the plan {' → '.join(names)}: {problem.what}"
                    path = (*path, step)
                yield Obstacle(key, InventoryError(what, hint=problem.hint, where=inventory.place(path)))


def _is_plan(plan: Sequence[Step], written: Any) -> bool:
    """Return whether this is how an inventory writes the plan."""
    with suppress(InventoryError):
        return isinstance(written, list) and [*as_steps(written)] == plan
    return False


def _does_without(inventory: Inventory, name: str) -> bool:
    """Return whether a run goes on where this module fails, by a policy that does not itself need it."""
    policy, fallback = inventory.on_error.get(name, "stop"), inventory.fallback
    if policy == "fallback":
        return bool(fallback) and name not in fallback
    return policy == "skip" or (isinstance(policy, list) and name not in policy)


def _failed(check: Callable[[], object], part: str) -> InventoryError | None:
    """Run a check; return what it says, or what is wrong with the check itself."""
    try:
        returned = check()
    except ChameleonError as problem:
        return InventoryError(f"the {part} cannot run here: {problem.what}", hint=problem.hint)
    except (Exception, SystemExit) as problem:  # a user's check may raise anything
        told = " ".join(f"{type(problem).__name__}: {problem}".split())[:300]
        fault = f"failed: {told}{raised_at(problem)}"
    else:
        if returned is None:
            return None
        fault = f"returned {str(returned)[:60]!r}, and is to return nothing"
    return InventoryError(
        f"the check of the {part} {fault}", hint="To tell what is missing, a check raises a ChameleonError."
    )

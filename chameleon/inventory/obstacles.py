"""Everything that keeps an inventory from working here, and what a run can do without."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chameleon.core.events import Step
from chameleon.core.llm_module import AsksModel, template_of
from chameleon.core.module import Module
from chameleon.core.planner import Planner, check_plan, resolved
from chameleon.errors import ChameleonError, InventoryError, PlanError, PromptError, raised_at
from chameleon.inventory.composition import Composition
from chameleon.text import nearest


@dataclass(frozen=True)
class Obstacle:
    """One missing or wrong thing, with its error.

    Attributes:
        part: the part of the inventory, such as "modules.text_detector".
        module: the module that cannot run; "" for anything else.
        stops: False if a run continues anyway, because the inventory's `on_error` covers that module.
    """

    part: str
    error: ChameleonError
    module: str = ""
    stops: bool = True

    def to_json(self) -> dict[str, str | bool]:
        """Write the obstacle as JSON."""
        error = self.error
        data = {"part": self.part, "what": error.what, "hint": error.hint, "where": error.where}
        return {**data, "stops": self.stops}


def obstacles(inventory: Composition) -> Iterator[Obstacle]:
    """Yield everything missing or wrong that loading does not notice: prompts, modules, planners, plans.

    Modules and planners report through their `check`. Excluded modules are skipped.
    """
    for name, module in inventory.present.items():
        for error in _faults(module, f"module {name}", inventory.place(("modules", name))):
            stops = isinstance(error, PromptError) or not _continues_without(name, inventory)
            yield Obstacle(f"modules.{name}", error, name, stops)
    keys, where = _known_keys(inventory), inventory.place(("planner",))
    for planner in inventory.planners.values():
        for error in _faults(planner, f"planner {planner.name}", where):
            yield Obstacle("planner", error)
        for key in planner.reads:  # otherwise it would always choose the same
            if keys.isdisjoint((key, f"{key.partition('.')[0]}.*")):
                what = f"planner {planner.name} asks for {key}, which neither the input nor a module provides"
                yield Obstacle("planner", InventoryError(what, hint=nearest(key, keys), where=where))
    yield from _faults_of_plans(inventory)


def all_of(obstacles: Sequence[Obstacle], name: str) -> ChameleonError:
    """Combine at least one obstacle into one error; `name` is the inventory's."""
    if len(obstacles) == 1:
        return obstacles[0].error
    details = "; ".join(" ".join(filter(None, (each.error.what, each.error.hint))) for each in obstacles)
    return InventoryError(f"{len(obstacles)} problems keep it from running here: {details}", where=name)


def _faults(part: Module | Planner, label: str, where: str) -> Iterator[ChameleonError]:
    """Yield the errors of the part's own check and of its prompt."""
    try:
        part.check()
    except ChameleonError as problem:
        yield InventoryError(f"the {label} cannot run here: {problem.what}", hint=problem.hint, where=where)
    except (Exception, SystemExit) as problem:  # a user's check may raise anything
        message = " ".join(f"{type(problem).__name__}: {problem}".split())[:300]
        what = f"the check of the {label} failed: {message}{raised_at(problem)}"
        hint = "A check should raise a ChameleonError that says what is missing."
        yield InventoryError(what, hint=hint, where=where)
    if isinstance(part, AsksModel):
        try:
            template_of(part).check()
        except ChameleonError as problem:
            yield problem


def _known_keys(inventory: Composition) -> set[str]:
    """Return the keys of a state that the input and the modules provide; "input.*" for any input."""
    keys = {f"input.{key}" for key in inventory.input_types or ("*",)}
    return keys.union(*(inventory.access[name].writes for name in inventory.present))


def _faults_of_plans(inventory: Composition) -> Iterator[Obstacle]:
    """Yield fixed plans that break a rule: full ones at the start of a run, others after any modules."""
    inputs, known = {f"input.{key}" for key in inventory.input_types or ("question",)}, _known_keys(inventory)
    fixed = [
        (planner is inventory.planner, ("planner", "plan"), [resolved(step, inventory) for step in plan])
        for planner in inventory.planners.values()
        for plan in planner.fixed_steps
        if plan
    ]
    fallback = [Step(name) for name in inventory.fallback]
    reported = set[tuple[str, str]]()  # plans share steps
    for is_full, path, plan in [*fixed, *([(True, ("fallback",), fallback)] if fallback else [])]:
        steps = [step for step in plan if step.module not in inventory.left_out]
        keys, done = (inputs, []) if is_full else (known, [*inventory.modules])
        try:
            check_plan(steps, inventory, keys, done, whole=is_full)
        except PlanError as problem:
            if (path[0], problem.what) in reported:
                continue
            reported.add((path[0], problem.what))
            names = " → ".join(step.module for step in plan)
            what, where = f"the plan {names} breaks a rule: {problem.what}", inventory.place(path)
            if problem.path:
                index = plan.index(steps[int(problem.path[0])])  # `steps` lacks the excluded modules
                what = f"step {index + 1} of the plan {names}: {problem.what}"
                where = inventory.place((*path, index))
            yield Obstacle(path[0], InventoryError(what, hint=problem.hint, where=where))


def _continues_without(name: str, inventory: Composition) -> bool:
    """Return whether a run continues after this module fails, under a policy that does not need it."""
    policy, fallback = inventory.on_error.get(name, "stop"), inventory.fallback
    if policy == "fallback":
        return bool(fallback) and name not in fallback
    return policy == "skip" or (isinstance(policy, list) and name not in policy)

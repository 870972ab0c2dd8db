"""What keeps an inventory from working here: all of it at once, and what a run can do without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chameleon.core.access import is_users_own
from chameleon.core.llm_module import AsksModel, template_of
from chameleon.core.module import Module
from chameleon.core.planner import Planner, check_arguments, check_names, every_planner
from chameleon.core.state import State, Step
from chameleon.errors import ChameleonError, InventoryError, PlanError, PromptError, raised_at
from chameleon.inventory.source import KeyPath
from chameleon.text import nearest

if TYPE_CHECKING:
    from chameleon.inventory.inventory import Inventory

_EVERY_STATE_HAS = ("title", "context", "unavailable")
_FILLS_SLOTS = ("slots", "messages", "ask", "run", "propose", "choose")  # methods that may add slots


@dataclass(frozen=True)
class Obstacle:
    """One thing that is missing or wrong: `part` of the inventory ("modules.text_detector"), and the error.

    `module` names the module that cannot run, "" for anything else. `stops` is False if a run continues
    all the same: the inventory's `on_error` says what it does without that module.
    """

    part: str
    error: ChameleonError
    module: str = ""
    stops: bool = True

    def to_json(self) -> dict[str, str | bool]:
        """Write the obstacle as JSON."""
        error = self.error
        shown = {"part": self.part, "what": error.what, "hint": error.hint, "where": error.where}
        return {**shown, "stops": self.stops}


def obstacles(inventory: Inventory) -> Iterator[Obstacle]:
    """Yield all that loading leaves lazy and that is not as it should be: prompts, modules, planners, plans.

    Modules and planners are asked by their `check`. What is left out is not looked at.
    """
    for name, module in inventory.present.items():
        for error in _faults(module, ("modules", name), inventory):
            stops = isinstance(error, PromptError) or not _does_without(inventory, name)
            yield Obstacle(f"modules.{name}", error, name, stops)
    for planner in every_planner(inventory.planner):
        for error in (*_faults(planner, ("planner",), inventory), *_unwritten(planner, inventory)):
            yield Obstacle("planner", error)
    yield from _plans(inventory)


def remarks(inventory: Inventory) -> Iterator[InventoryError]:
    """Yield what a module of one's own writes that another one overwrites, or that nobody reads."""
    modules = {name: each for name, each in inventory.present.items() if name not in inventory.brought}
    writers: dict[str, list[str]] = {}
    for name in modules:
        access = inventory.access[name]
        for key in access.writes.difference(access.reads or ()):  # else it passes on what was there
            writers.setdefault(key, []).append(name)
    for key, names in sorted(writers.items()):
        own = [name for name in names if is_users_own(modules[name])]
        if not own or key.startswith("input."):
            continue
        where = inventory.place(("modules", own[0]))
        if len(names) > 1:
            what = f"{' and '.join(names)} write {key}: the later takes the place of the other"
            yield InventoryError(what, hint="Name another key in the `writes` of its class.", where=where)
        elif key.startswith("cache.") and _is_lost(names[0], key, inventory):
            hint = f"Name a key that others read in `writes` of its class, or give one `reads: {key}?`."
            yield InventoryError(f"nothing reads {key}, which {names[0]} writes", hint=hint, where=where)


def _is_lost(name: str, key: str, inventory: Inventory) -> bool:
    """Tell whether what a module writes reaches neither the answer, the planner, an argument nor a module."""
    last = [*inventory.rules.last, *(plan[-1] for plan in inventory.planner.fixed_plans if plan)]
    planners = [*every_planner(inventory.planner)]
    readers = (access for other, access in inventory.access.items() if other != name)
    is_seen = (
        not last
        or name in last
        or not all(each.returns_full_plan for each in planners)
        or any(inventory.takes)
    )
    is_read = any(key in each.reads for each in planners) or any(each.depends_on([key]) for each in readers)
    return not (is_seen or is_read)


def all_of(found: Sequence[Obstacle], name: str) -> ChameleonError:
    """Make one error of them all; `name` is the inventory's. There is at least one."""
    if len(found) == 1:
        return found[0].error
    listed = "; ".join(" ".join(filter(None, (each.error.what, each.error.hint))) for each in found)
    return InventoryError(f"{len(found)} things keep it from running here: {listed}", where=name)


def _faults(part: Module | Planner, path: KeyPath, inventory: Inventory) -> Iterator[ChameleonError]:
    """Yield what the part's own check says, and what is wrong with its prompt."""
    label, where = f"{'module' if isinstance(part, Module) else 'planner'} {part.name}", inventory.place(path)
    try:
        part.check()
    except ChameleonError as problem:
        what = f"the {label} cannot run here: {problem.what}"
        yield InventoryError(what, hint=problem.hint, where=where)
    except (Exception, SystemExit) as problem:  # a user's check may raise anything
        message = " ".join(f"{type(problem).__name__}: {problem}".split())[:300]
        what = f"the check of the {label} failed: {message}{raised_at(problem)}"
        hint = "To say what is missing, a check raises a ChameleonError."
        yield InventoryError(what, hint=hint, where=where)
    if isinstance(part, AsksModel):
        try:
            template_of(part).check()
        except ChameleonError as problem:
            yield problem
        else:
            yield from _unfilled(part, (*path, "prompt"), inventory)


def _unfilled(part: Any, path: KeyPath, inventory: Inventory) -> Iterator[InventoryError]:
    """Yield an error for each slot of a prompt that neither the input, a module nor its asker fills."""
    if part._slots_filled is None:
        return
    classes = type(part).__mro__
    declaring = next(number for number, each in enumerate(classes) if "_slots_filled" in vars(each))
    if any(name in vars(each) for each in classes[:declaring] for name in _FILLS_SLOTS):
        return  # a subclass fills slots in its own way, and does not say which
    given = {key.partition(".")[2] for key in _given_keys(inventory)}
    filled = part._slots_filled.union(_EVERY_STATE_HAS, given)
    for slot in () if "*" in given else sorted({*template_of(part).needs} - filled):
        what = (
            f"the prompt {template_of(part).name} has the slot {slot!r}, and neither the input nor a module"
        )
        where = inventory.place(path)
        yield InventoryError(f"{what} fills it", hint=nearest(slot, filled), where=where)


def _given_keys(inventory: Inventory) -> set[str]:
    """Return the keys of a state that the input and the modules give; "input.*" for any input."""
    given = {f"input.{key}" for key in inventory.input_types or ("*",)}
    return given.union(*(inventory.access[name].writes for name in inventory.present))


def _unwritten(planner: Planner, inventory: Inventory) -> Iterator[InventoryError]:
    """Yield keys that a planner chooses by and that nothing gives: it would choose the same each time."""
    given = _given_keys(inventory)
    for key in planner.reads:
        if given.isdisjoint((key, f"{key.partition('.')[0]}.*")):
            what = f"planner {planner.name} asks for {key}, which neither the input nor a module gives"
            yield InventoryError(what, hint=nearest(key, given), where=inventory.place(("planner",)))


def _plans(inventory: Inventory) -> Iterator[Obstacle]:
    """Yield plans that are fixed and break a rule, each once, though plans share their parts."""
    state = State(input=dict.fromkeys(inventory.input_types or ["question"], ""))
    fixed = [
        (planner is inventory.planner, ("planner", "plan"), [inventory.meant(step) for step in plan])
        for planner in every_planner(inventory.planner)
        for plan in planner.fixed_steps
    ]
    seen = set[tuple[str, str]]()
    for is_whole, path, plan in [*fixed, (True, ("fallback",), [Step(name) for name in inventory.fallback])]:
        kept = [step for step in plan if step.module not in inventory.left_out]
        names = [step.module for step in kept]
        try:
            if is_whole and plan:
                inventory.check_plan(kept, state)
            elif plan:
                check_names(names, inventory.modules, inventory.rules)
                check_arguments(kept, inventory.arguments, [*inventory.modules], {"input", *state.input})
        except PlanError as problem:
            if (path[0], problem.what) in seen:
                continue
            seen.add((path[0], problem.what))
            shown = " → ".join(step.module for step in plan)
            what = f"the plan {shown} breaks a rule: {problem.what}"
            where = inventory.place(path)
            if problem.path:
                index = plan.index(kept[int(problem.path[0])])
                what = f"step {index + 1} of the plan {shown}: {problem.what}"
                where = inventory.place((*path, index))
            yield Obstacle(path[0], InventoryError(what, hint=problem.hint, where=where))


def _does_without(inventory: Inventory, name: str) -> bool:
    """Return whether a run continues after this module fails, by a policy that does not itself need it."""
    policy, fallback = inventory.on_error.get(name, "stop"), inventory.fallback
    if policy == "fallback":
        return bool(fallback) and name not in fallback
    return policy == "skip" or (isinstance(policy, list) and name not in policy)

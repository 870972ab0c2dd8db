"""Planners, and how a plan is proposed, checked, and accepted or refused."""

import copy
import difflib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, Protocol, Self

from chameleon import bridge, values
from chameleon.core.access import Access
from chameleon.core.events import Plan, Step, StepRecord
from chameleon.core.llm_module import AsksModel
from chameleon.core.module import Module
from chameleon.core.prompt import Messages
from chameleon.core.state import State
from chameleon.errors import InventoryError, ModuleError, PlanError, within
from chameleon.text import nearest, snake_case, type_in_words

REPAIR_TURNS = 1  # how many refused plans in a row a planner may correct
RETURN_NOTHING = "Return () from `propose` when there is nothing more to do."
_FORM_OF_A_STEP = "Write a name, or {module: NAME, args: {…}}."
_MAX_QUOTE_CHARS = 1_000
_MAX_KEYS = 8  # listed in a hint


class PlanContext(Protocol):
    """The parts of an inventory that the check of a plan needs; `rules` are its `rules:`."""

    @property
    def rules(self) -> Any: ...
    @property
    def planner(self) -> "Planner": ...
    @property
    def access(self) -> Mapping[str, Access]: ...
    @property
    def aliases(self) -> Mapping[str, str]: ...
    @property
    def left_out(self) -> Collection[str]: ...


class Planner:
    """Chooses the next steps of a run. Subclass it and write `propose`.

    The executor asks it whenever no steps are pending. A planner needs no memory, because the state holds
    everything that happened. All attributes are optional.

    Attributes:
        name: the name on its plans; default: the class name in snake_case.
        returns_full_plan: whether it proposes whole plans, which are checked against all rules.
        fixed_plans: plans known in advance, which `chameleon check` can check against the rules.
        reads: keys of the state that it needs; the input or a module must provide them.
        planners: the planners it delegates to; they are checked too, and resolved in the same inventory.
        extra_modules: modules that its plans need in addition to the inventory's own, by name.
    """

    name: str = ""
    returns_full_plan: bool = True
    reads: Sequence[str] = ()
    planners: "Sequence[Planner]" = ()
    extra_modules: Mapping[str, Module] = MappingProxyType({})

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__dict__.get("name"):
            cls.name = snake_case(cls.__name__)

    def __repr__(self) -> str:
        return f"<planner {self.name}>"

    def propose(self, state: State, inventory: Any) -> Sequence[Step] | Plan:
        """Return the next steps, `()` if nothing is left to do, or a `Plan` with a note.

        Args:
            inventory: the run's `Inventory`: its `cards` describe the modules, its `rules` their order.

        Raises:
            PlanError: if no plan could be read.
            Declined: if the question cannot be answered.
        """
        raise ModuleError(
            f"{type(self).__name__} has no propose method",
            hint="Write `def propose(self, state, inventory)` in the class.",
        )

    def check(self) -> None:
        """Raise a `ChameleonError` if something is missing on this machine, as `Module.check` does."""

    def runtime_info(self, inventory: Any) -> Mapping[str, Any]:
        """Return how open settings are resolved on this machine, as `Module.runtime_info` does."""
        return {}

    def replans_after_failure(self, state: State) -> bool:
        """Return whether to ask the planner again after a failed step."""
        return False

    def continue_after_failure(self, state: State) -> bool:
        """Return whether to run the pending steps after a failed one and only then ask the planner again.

        It applies if the inventory's `on_error` does not cover a failure of that module.
        """
        return False

    def with_llm(self, llm: Any) -> Self:
        """Return a copy of the planner, and of the planners it delegates to, that uses this model."""
        if not self.planners:
            return self
        copied = copy.copy(self)
        copied.planners = [planner.with_llm(llm) for planner in self.planners]
        return copied

    @property
    def referenced_modules(self) -> Mapping[str, Collection[str]]:
        """Return the modules named in each parameter, so that an inventory can report missing ones."""
        return {}

    @property
    def needs_model(self) -> bool:
        """Return whether it, or a planner it delegates to, calls a language model."""
        return isinstance(self, AsksModel) or any(planner.needs_model for planner in self.planners)

    @property
    def fixed_plans(self) -> Sequence[Sequence[str]]:
        """Return the plans known in advance, as module names; none by default."""
        return ()

    @property
    def fixed_steps(self) -> Sequence[Sequence[Step]]:
        """Return the same plans with the arguments of their steps."""
        return [[Step(name) for name in plan] for plan in self.fixed_plans]


def ask(planner: Planner, state: State, inventory: PlanContext) -> Plan:
    """Ask a planner and return its answer as a `Plan`, refused if the planner could not read one.

    `propose` may be `async`. Raises `ModuleError` if the planner returns anything but steps, or arguments
    that a log cannot hold.
    """
    try:
        propose = partial(planner.propose, state, inventory)
        proposed = bridge.called(propose, blocks=bridge.may_block(planner.propose))
        if isinstance(proposed, Iterable) and not isinstance(proposed, str):
            return Plan(tuple(_logged_step(step, inventory) for step in proposed), planner.name)
    except PlanError as problem:
        return Plan((), planner.name, refused=str(problem))
    if not isinstance(proposed, Plan):
        raise _no_steps(proposed)
    return replace(proposed, steps=tuple(_logged_step(step, inventory) for step in proposed.steps))


def _logged_step(item: Any, inventory: PlanContext) -> Step:
    """Return the step as it would be read back from a log."""
    if not isinstance(item, Step):
        raise _no_steps(item)
    step = resolved(item, inventory)
    if step.args is None:
        return step
    args = values.freeze(step.args, f"the argument of {step.module}") if step.args else None
    return Step(step.module, args, step.redo)


def resolved(step: Step, inventory: PlanContext) -> Step:
    """Return the step under its module's name if it uses the name on the server, such as `get-sum`."""
    name = step.module
    return step if name in inventory.access else replace(step, module=inventory.aliases.get(name, name))


def _no_steps(value: Any) -> ModuleError:
    return ModuleError(
        f"propose returned {str(value)[:60]!r}, which is {type_in_words(value)}",
        hint='It must return steps, such as [Step("row_lookup")].',
    )


def as_steps(plan: Iterable[Step | str | Mapping[str, Any]], *path: str | int) -> tuple[Step, ...]:
    """Return steps from the forms that inventories use: a name, or {module: …, args: {…}}.

    Raises `InventoryError` for anything else, with its place below `path`.
    """
    steps = []
    for place, entry in enumerate(plan):
        data: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {"module": entry}
        module, args = data.get("module"), data.get("args", {})
        with within(*path, place):
            if unknown := [str(key) for key in data if key not in ("module", "args")]:
                hint = f"{nearest(unknown[0], ('module', 'args'))} {_FORM_OF_A_STEP}"
                raise InventoryError(f"a step has no key {unknown[0][:60]!r}", hint=hint)
            if isinstance(entry, Step):
                steps.append(entry)
            elif isinstance(module, str) and isinstance(args, Mapping):
                frozen = values.freeze(args, f"the argument of {module}") if args else None
                steps.append(Step(module, frozen))
            else:
                raise InventoryError(f"{str(entry)[:80]} is not a step", hint=_FORM_OF_A_STEP)
    return tuple(steps)


def every_planner(planner: Planner) -> Iterator[Planner]:
    """Yield a planner and all planners it delegates to, recursively."""
    yield planner
    for part in planner.planners:
        yield from every_planner(part)


def planned(state: State) -> bool:
    """Return whether a plan has been accepted, which is all that a planner of one plan needs to know."""
    return any(not plan.refused for plan in state.plans)


def plans_at(place: int, state: State) -> tuple[tuple[Plan, ...], int]:
    """Return the plans made at one place of a nested planner, as they were made there, and the last place.

    A plan without a `path` (a repair, a fallback) belongs to the place of the previous plan.
    """
    plans: list[Plan] = []
    current = 0
    for plan in state.plans:
        current, *inner = plan.path or (current,)
        if current == place:
            plans.append(replace(plan, path=tuple(inner)))
    return tuple(plans), current


def state_at(place: int, state: State) -> State:
    """Return the state as the planner at a place sees it, with only its own plans and failure."""
    plans, last = plans_at(place, state)
    return replace(state, plans=plans, failure=state.failure if last == place else None)


def next_plan(state: State, inventory: PlanContext) -> Plan:
    """Ask the inventory's planner; refuse its plan, with the reason, if it breaks a rule.

    Steps of excluded modules are dropped with a note. A plan with no steps that is not refused means that
    nothing is left to do. Raises `ModuleError` for a plan that has just been completed.
    """
    plan = ask(inventory.planner, state, inventory).without(inventory.left_out)
    if inventory.planner.needs_model:
        plan = plan.without(_needless(plan, inventory))
        plan = _completed(plan, inventory) if inventory.rules.completed else plan
    if plan.refused or not plan.steps:
        return plan
    if _is_idle(plan, state):
        steps = " → ".join(map(str, plan.steps))
        raise ModuleError(f"it proposes {steps} again, which have just run", hint=RETURN_NOTHING)
    try:
        check_plan(
            plan.steps, inventory, state.keys, state.executed_names, whole=inventory.planner.returns_full_plan
        )
    except PlanError as problem:
        return replace(plan, refused=str(problem))
    return plan


def _completed(plan: Plan, inventory: PlanContext) -> Plan:
    """Add the followers that the rules require, and the last module to a full plan."""
    rules, steps = inventory.rules, list[Step]()
    is_open = (
        inventory.planner.returns_full_plan and rules.last and plan.steps and plan.names[-1] not in rules.last
    )
    for step in (*plan.steps, *([Step(rules.last[0])] if is_open else [])):
        while steps and (follower := rules.next.get(steps[-1].module, step.module)) != step.module:
            steps.append(Step(follower))
        steps.append(step)
    return replace(plan, steps=tuple(steps))


def _needless(plan: Plan, inventory: PlanContext) -> set[str]:
    """Return the modules that others in the plan make unnecessary, unless a remaining one reads them."""
    needless = {each for name in plan.names for each in inventory.rules.drops.get(name, ())}
    further = [name for name in plan.names if name in inventory.access and name not in inventory.rules.last]
    readers = [inventory.access[name] for name in further]
    return {
        name
        for name in needless & inventory.access.keys()
        if not any(map(inventory.access[name].is_read_by, readers))
    }


def _is_idle(plan: Plan, state: State) -> bool:
    """Return whether the plan repeats the last one, which gave the same results twice."""
    count = len(plan.steps)
    last, before = state.executed[-count:], state.executed[-2 * count : -count]
    return state.failure is None and repeats(plan, state) and _results(last) == _results(before)


def repeats(plan: Plan, state: State) -> bool:
    """Return whether the plan has the steps of the last one that was accepted."""
    accepted = [each for each in state.plans if not each.refused]
    return bool(accepted) and accepted[-1].steps == plan.steps


def _results(records: Sequence[StepRecord]) -> list[tuple[Any, ...]]:
    return [(each.step, each.output, each.input_changes, each.cache_changes) for each in records]


def repair_turns(state: State) -> Messages:
    """Return messages that show a model what went wrong: refused plans, a failed step."""
    turns: Messages = []
    for plan in state.plans:
        reply = plan.calls[-1].text[:_MAX_QUOTE_CHARS] if plan.calls else ""
        turns += [
            ("assistant", reply or "(no plan)"),
            ("user", f"That plan will not do: {plan.refused}\nModules:"),
        ]
    if (failed := state.failure) is not None and failed.error is not None:
        turns += [
            ("assistant", json.dumps(state.executed_names)),
            ("user", f"The last of these steps failed: {failed.error.reason}.\nAnother plan. Modules:"),
        ]
    return turns


def check_plan(
    steps: Sequence[Step],
    inventory: PlanContext,
    keys: Collection[str],
    done: Sequence[str],
    *,
    whole: bool = True,
) -> None:
    """Raise `PlanError` if steps cannot run, or break the order.

    Args:
        keys: the keys of the state before the first step, such as "input.table".
        done: the modules that have run.
        whole: whether the steps are a full plan, which the rules of order apply to.
    """
    rules, access, names = inventory.rules, inventory.access, [step.module for step in steps]
    if not names:
        raise PlanError("the plan is empty")
    if len(names) > rules.max_steps:
        raise PlanError(f"the plan has {len(names):,} steps, but at most {rules.max_steps} are allowed")
    for place, name in enumerate(names):
        with within(place):
            if name not in access:
                hint = _FORM_OF_A_STEP if "(" in name else nearest(name[:60], access)
                raise PlanError(f"there is no module {name[:60]!r}", hint=hint)
    if whole:
        check_order(names, rules)
    # "$" cannot refer to these: it means the outputs of steps.
    inputs = {"input", *(key.partition(".")[2] for key in keys if key.startswith("input."))}
    present, earlier = set(keys), set(done)
    for place, step in enumerate(steps):
        name, arguments = step.module, access[step.module].arguments
        with within(place):
            if missing := access[name].missing(present):
                what = f"{name} reads {missing[0].replace('|', ' or ')}, but nothing before it provides that"
                raise PlanError(what, hint=_how_to_give(missing[0].split("|"), access, present))
            if arguments is not None:
                arguments.check(step.args or {}, earlier, {*names} - {name}, inputs)
            elif step.args:
                what = f"{name} takes no arguments but got {', '.join(step.args)[:60]}"
                raise PlanError(what, hint="Give only its name.")
        present |= access[name].writes
        earlier.add(name)


def check_order(plan: Sequence[str], rules: Any) -> None:
    """Raise `PlanError` naming the first rule that a whole plan breaks."""
    if rules.last and plan[-1] not in rules.last:
        raise PlanError(f"the plan ends with {plan[-1]}, but it must end with {' or '.join(rules.last)}")
    for name in rules.once:
        if plan.count(name) > 1:
            raise PlanError(f"{name} occurs {plan.count(name)} times, but it may occur only once")
    for position, name in enumerate(plan):
        for needed in rules.needs.get(name, ()):
            if needed not in plan[:position]:
                raise PlanError(f"{name} comes before {needed}, which it needs")
        follower = rules.next.get(name)
        if follower and list(plan[position + 1 : position + 2]) != [follower]:
            raise PlanError(f"{name} must be followed directly by {follower}")


def _how_to_give(keys: Sequence[str], access: Mapping[str, Access], have: Collection[str]) -> str:
    """Name the modules that write one of the keys, or else similar keys that are available."""
    if givers := [name for name, other in access.items() if any(map(other.may_write, keys))]:
        return f"It is written by {' or '.join(givers)}."
    matches = (difflib.get_close_matches(key, sorted(have), n=3, cutoff=0.5) for key in keys)
    offered = list(dict.fromkeys(chain.from_iterable(matches))) or sorted(have)[:_MAX_KEYS]
    return f"Available before it: {', '.join(offered)}." if offered else ""

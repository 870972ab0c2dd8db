"""What a planner is, and how the text of a plan is read: as data, never evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chameleon import values
from chameleon.errors import ModuleError, PlanError
from chameleon.state import Plan, State, Step
from chameleon.text import as_name, nearest, snake_case

if TYPE_CHECKING:
    from chameleon.inventory import Inventory

LONGEST_PLAN_TEXT = 20_000
_BULLET = re.compile(r"^\s*(?:\d+[.)]|-(?!>)|[*•]|step\s+\d+\s*[:.)])\s*", re.IGNORECASE)
_SEPARATOR = re.compile(r"[-=]?>|→|,|;|\band then\b|\bthen\b|\|", re.IGNORECASE)
_REMARK = re.compile(r"[:(.,–—]| - ")
_AROUND_NAMES = " \t.*`\"'[]()"


class Planner:
    """Chooses the next steps of a run. Subclass it and write `propose`.

    The executor asks whenever nothing is pending, so a planner needs no memory: all that happened is in
    the state. Class attributes and properties, all optional:

    - `name`: what its plans carry; default: the class name in snake_case.
    - `whole`: whether what it proposes is a whole plan, checked against all rules.
    - `fixed_plans`: the plans that `chameleon check` can hold against the rules beforehand.
    - `planners`: those that it asks in its turn; they are checked, and what they resolve is found there.
    """

    name: str = ""
    whole: bool = True
    planners: Sequence[Planner] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__dict__.get("name"):
            cls.name = snake_case(cls.__name__)

    def propose(self, state: State, inventory: Inventory) -> Sequence[Step] | Plan:
        """Return the next steps, `()` for nothing more to do, or a `Plan` where there is something to note.

        Raise `PlanError` when no plan could be read, and `Declined` when the question is out of reach.
        """
        raise ModuleError(
            f"{type(self).__name__} has no propose method",
            hint="Write `def propose(self, state, inventory)` in the class.",
        )

    def check(self) -> None:
        """Raise a `ChameleonError` for what is missing on this machine, as the check of a module does."""

    def resolved(self, inventory: Inventory) -> Mapping[str, Any]:
        """Return what settings that were left open come to on this machine, as a module's `resolved` does."""
        return {}

    def takes_failure(self, state: State) -> bool:
        """Return whether it is to be asked again after a step that failed."""
        return False

    def bound(self, llm: Any) -> Planner:
        """Return the planner, ready to be used with a model; one that asks none is its own."""
        return self

    @property
    def needs_model(self) -> bool:
        """Whether it, or one that it asks, calls a language model."""
        return any(planner.needs_model for planner in self.planners)

    @property
    def fixed_plans(self) -> Sequence[Sequence[str]]:
        """The plans that are known beforehand; none by default."""
        return ()


def plan_of(planner: Planner, state: State, inventory: Inventory) -> Plan:
    """Ask a planner; the answer as a `Plan`, refused when the planner could not read one.

    Raises `ModuleError` when the planner returns anything but steps, or arguments that no log could hold.
    """
    by = planner.name
    try:
        proposed = planner.propose(state, inventory)
        if isinstance(proposed, Iterable) and not isinstance(proposed, str):
            return Plan(tuple(_settled(step) for step in proposed), by)
    except PlanError as problem:
        return Plan((), by, refused=str(problem))
    if not isinstance(proposed, Plan):
        raise _no_steps(proposed)
    return replace(proposed, steps=tuple(_settled(step) for step in proposed.steps))


def _settled(step: Any) -> Step:
    """The step as a log would give it back."""
    if not isinstance(step, Step):
        raise _no_steps(step)
    args = values.freeze(step.args, f"the argument of {step.module}") if step.args else step.args
    return Step(step.module, args)


def _no_steps(found: Any) -> ModuleError:
    return ModuleError(
        f"propose gave {str(found)[:60]!r}, which is a {type(found).__name__}",
        hint='It must return steps, such as [Step("row_lookup")].',
    )


def every_planner(planner: Planner) -> Iterator[Planner]:
    """Yield a planner and all that it asks in its turn."""
    yield planner
    for part in planner.planners:
        yield from every_planner(part)


def planned(state: State) -> bool:
    """Whether some plan has been accepted: a planner that plans once has nothing more to say."""
    return any(not plan.refused for plan in state.plans)


def parse_plan(text: str, names: Collection[str]) -> tuple[Step, ...]:
    """Read the module names in a model's reply: a JSON or Python list, arrows, or a numbered list.

    Prose around the list is ignored; case, spaces, hyphens and underscores in names do not matter. When
    several lists occur, the last counts, since models think first. Raises `PlanError` for text without a
    list, and for a name that the inventory does not have, with the nearest one.
    """
    if len(text) > LONGEST_PLAN_TEXT:
        raise PlanError(f"the reply has {len(text):,} characters; a plan has a line or two")
    by_form = {as_name(name): name for name in names}
    found = _bracketed(text, by_form) or _lines(text, by_form) or _separated(text, by_form)
    if not found:
        raise PlanError(
            "the reply holds no list of modules", hint='Reply with a list such as ["name", "name"].'
        )
    steps = []
    for written in found:
        if (name := written if written in names else by_form.get(as_name(written))) is None:
            raise PlanError(f"there is no module {written[:60]!r}", hint=nearest(written, names))
        steps.append(Step(name))
    return tuple(steps)


def _bracketed(text: str, known: Container[str]) -> list[str]:
    """The last [...] that is a list of names, or of objects that name a module; one that we know, if any."""
    unknown: list[str] = []
    for body in reversed(re.findall(r"\[[^\[\]]*\]", text)):
        found = _listed(body)
        if any(as_name(name) in known for name in found):
            return found
        unknown = unknown or found
    return unknown


def _listed(body: str) -> list[str]:
    for read in (json.loads, _quoted_loosely):
        try:
            return [_name_in(item) for item in read(body)]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return []


def _quoted_loosely(body: str) -> list[str]:
    """['row_lookup', "answer_generator"] or [row_lookup, answer_generator], as some models write it."""
    items = [item.strip(" \t\n\"'`") for item in body.strip("[]").split(",")]
    if not all(re.fullmatch(r"[A-Za-z][\w \-]{0,60}", item) for item in items):
        raise ValueError("not a list of names")
    return items


def _name_in(item: Any) -> str:
    if isinstance(item, dict):
        item = item.get("module") or item["name"]
    if not isinstance(item, str):
        raise TypeError("not a name")
    return item


def _lines(text: str, known: Container[str]) -> list[str]:
    """A numbered or bulleted list: each line begins with a name, remarks may follow it."""
    bulleted = [_BULLET.sub("", line) for line in text.splitlines() if _BULLET.match(line)]
    heads = [_REMARK.split(line, maxsplit=1)[0].strip(_AROUND_NAMES) for line in bulleted]
    return heads if any(as_name(head) in known for head in heads) else []


def _separated(text: str, known: Container[str]) -> list[str]:
    """Names joined by arrows, commas or "then", or one a line: the last that the text holds."""
    found: list[str] = []
    below = ""
    for line in filter(str.strip, reversed(text.splitlines())):
        parts = [part.strip(_AROUND_NAMES) for part in _SEPARATOR.split(line.split(":")[-1])]
        parts = [part for part in parts if part]
        is_plan = bool(parts) and as_name(parts[0]) in known
        if found and not (is_plan and _continued(line, below)):
            break
        if is_plan:
            found, below = parts + found, line
    return found


def _continued(line: str, below: str) -> bool:
    """Whether two lines of names are one list: an arrow or comma joins them, or each holds one name."""
    above_end, below_start = _SEPARATOR.split(line)[-1], _SEPARATOR.split(below)[0]
    return not (above_end.strip() and below_start.strip()) or (above_end == line and below_start == below)

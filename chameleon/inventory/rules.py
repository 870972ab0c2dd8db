"""Whether a plan fits an inventory: known modules, order, and that every module finds what it reads."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from chameleon.errors import InventoryError, PlanError
from chameleon.inventory.schema import OnError, RepairSpec, RulesSpec
from chameleon.inventory.source import KeyPath
from chameleon.module import Access
from chameleon.text import nearest

_MOST_KEYS = 8


def check_names(plan: Sequence[str], names: Collection[str], rules: RulesSpec) -> None:
    """Raise `PlanError` for an empty plan, one that is too long, or a name that is not in the inventory."""
    if not plan:
        raise PlanError("the plan is empty")
    if len(plan) > rules.max_steps:
        raise PlanError(f"the plan has {len(plan):,} steps, and at most {rules.max_steps} are allowed")
    for name in plan:
        if name not in names:
            raise PlanError(f"there is no module {name[:60]!r}", hint=nearest(name[:60], names))


def check_order(plan: Sequence[str], rules: RulesSpec) -> None:
    """Raise `PlanError` naming the first rule that a whole plan breaks."""
    last = [rules.last] if isinstance(rules.last, str) else rules.last
    if last and plan[-1] not in last:
        raise PlanError(f"the plan ends with {plan[-1]}, and it must end with {' or '.join(last)}")
    for name in rules.once:
        if plan.count(name) > 1:
            raise PlanError(f"{name} occurs {plan.count(name)} times, and it may occur once")
    for position, name in enumerate(plan):
        for needed in _listed(rules.needs.get(name)):
            if needed not in plan[:position]:
                raise PlanError(f"{name} comes before {needed}, which it needs")
        follower = rules.next.get(name)
        if follower and list(plan[position + 1 : position + 2]) != [follower]:
            raise PlanError(f"{name} must be followed directly by {follower}")


def check_reads(plan: Sequence[str], access: Mapping[str, Access], present: Collection[str]) -> None:
    """Raise `PlanError` when a module reads a key that neither the input nor an earlier module gives."""
    have = set(present)
    for position, name in enumerate(plan):
        if missing := access[name].missing(have):
            raise PlanError(
                f"{name} reads {missing[0].replace('|', ' or ')}, and nothing before it gives that",
                hint=_givers(missing[0], access) or _given(missing[0], plan[:position], access, have),
            )
        have |= access[name].writes


def mentioned(
    fallback: Sequence[str],
    rules: RulesSpec,
    repair: Mapping[str, RepairSpec],
    on_error: Mapping[str, OnError],
) -> Iterator[tuple[KeyPath, str]]:
    """Every module that is named outside `modules`, with the key under which it stands."""
    for index, name in enumerate(fallback):
        yield ("fallback", index), name
    for index, name in enumerate(_listed(rules.last)):
        yield ("rules", "last", index) if isinstance(rules.last, list) else ("rules", "last"), name
    for index, name in enumerate(rules.once):
        yield ("rules", "once", index), name
    for name, needed in rules.needs.items():
        yield from ((("rules", "needs", name), each) for each in (name, *_listed(needed)))
    for name, follower in rules.next.items():
        yield from ((("rules", "next", name), each) for each in (name, follower))
    for name, spec in repair.items():
        yield ("repair", name), name
        yield ("repair", name, "redo"), spec.redo
    for name, policy in on_error.items():
        for index, each in enumerate(policy if isinstance(policy, list) else ()):
            yield ("modules", name, "on_error", index), each


def not_there(key: KeyPath, name: str, names: Collection[str], where: str) -> InventoryError:
    """The error for a module that is named and not in the inventory."""
    return InventoryError(
        f"{'.'.join(map(str, key))} names a module {name!r} that the inventory does not have",
        where=where,
        hint=nearest(name, names),
    )


def _givers(keys: str, access: Mapping[str, Access]) -> str:
    givers = [name for name, other in access.items() if any(other.may_write(key) for key in keys.split("|"))]
    return f"It is written by {' or '.join(givers)}." if givers else ""


def _given(keys: str, before: Sequence[str], access: Mapping[str, Access], have: Collection[str]) -> str:
    """What could be read in place of keys that nobody writes: those of the module so called, or near ones."""
    wanted = keys.split("|")
    for name in dict.fromkeys(before):
        if f"cache.{name}" in wanted:
            return f"{name} writes {' and '.join(sorted(access[name].writes))}."
    near = (difflib.get_close_matches(key, sorted(have), n=3, cutoff=0.5) for key in wanted)
    listed = list(dict.fromkeys(chain.from_iterable(near))) or sorted(have)[:_MOST_KEYS]
    return f"Before it there is {', '.join(listed)}." if listed else ""


def _listed(value: str | list[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else value

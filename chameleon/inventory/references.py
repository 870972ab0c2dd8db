"""Where an inventory names modules outside `modules`, and what stays of that when some are left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from chameleon.errors import InventoryError
from chameleon.inventory.schema import OnError
from chameleon.inventory.source import KeyPath
from chameleon.planner import every_planner
from chameleon.text import nearest

if TYPE_CHECKING:
    from chameleon.inventory.inventory import Inventory


def _mentioned(inventory: Inventory) -> Iterator[tuple[KeyPath, str]]:
    """Yield every module that is named outside `modules`, with the key under which it stands."""
    rules = inventory.rules
    for index, name in enumerate(inventory.fallback):
        yield ("fallback", index), name
    for name in rules.last:
        yield ("rules", "last"), name
    for index, name in enumerate(rules.once):
        yield ("rules", "once", index), name
    for name, needed in rules.needs.items():
        yield from ((("rules", "needs", name), each) for each in (name, *needed))
    for name, dropped in rules.drops.items():
        yield from ((("rules", "drops", name), each) for each in (name, *dropped))
    for name, follower in rules.next.items():
        yield from ((("rules", "next", name), each) for each in (name, follower))
    for name, spec in inventory.repair.items():
        yield ("repair", name), name
        yield ("repair", name, "redo"), spec.redo
    for planner in every_planner(inventory.planner):
        for key, named in planner.names_modules.items():
            yield from ((("planner", key), name) for name in named)
    for name, policy in inventory.on_error.items():
        for index, each in enumerate(policy if isinstance(policy, list) else ()):
            yield ("modules", name, "on_error", index), each


def check_mentioned(inventory: Inventory) -> None:
    """Raise `InventoryError` for a module that is named outside `modules` and is not there."""
    places = inventory.source.places if inventory.source else {}
    for key, name in _mentioned(inventory):
        if name in inventory.modules:
            continue
        if (removed := places.get(("modules", name))) is not None:
            part = ".".join(str(each) for each in key if isinstance(each, str))
            what = f"the module {name!r} is removed here, and {part} ({inventory.place(key)}) still names it"
            hint = f"Give {part} again without {name}, or keep the module."
            raise InventoryError(what, where=removed, hint=hint)
        what = f"{'.'.join(map(str, key))} names a module {name!r} that the inventory does not have"
        raise InventoryError(what, where=inventory.place(key), hint=nearest(name, inventory.modules))


def leave_out(inventory: Inventory, names: Collection[str]) -> Inventory:
    """Return the inventory without these modules, as an ablation has it (Chameleon paper, table 5).

    No planner is told of them, and no plan runs them. A planner may still name one, since its demonstrations
    do; the step is then dropped from its plan. Rules, fallback, repairs and `on_error` plans lose them too.
    Raises `InventoryError` for a module that the inventory does not have, and where every module that
    may end a plan is left out.
    """
    out = inventory.left_out | frozenset(names)
    for name in names:
        if name not in inventory.modules:
            hint = nearest(name, inventory.modules)
            raise InventoryError(f"there is no module {name!r} to leave out", where=inventory.name, hint=hint)
    rules, last = inventory.rules, inventory.rules.last
    if last and not set(last) - out:
        what = f"{' or '.join(last)} cannot be left out: a plan must end with it"
        raise InventoryError(what, where=inventory.name)

    def kept(named: Iterable[str]) -> list[str]:
        return [name for name in named if name not in out]

    changed = {
        "last": kept(last),
        "once": kept(rules.once),
        "needs": {name: kept(rules.needs[name]) for name in kept(rules.needs)},
        "drops": {name: kept(rules.drops[name]) for name in kept(rules.drops)},
        "next": _followers(rules.next, out),
    }
    on_error: dict[str, OnError] = {  # a plan of which nothing is left stops the run
        name: (kept(policy) or "stop") if isinstance(policy, list) else policy
        for name, policy in inventory.on_error.items()
    }
    repair = {name: spec for name, spec in inventory.repair.items() if not out & {name, spec.redo}}
    return replace(
        inventory,
        left_out=out,
        rules=rules.model_copy(update=changed),
        fallback=tuple(kept(inventory.fallback)),
        repair=repair,
        on_error=on_error,
    )


def _followers(following: Mapping[str, str], out: frozenset[str]) -> dict[str, str]:
    """Return which module must follow which, without those left out: a → b → c without b is a → c."""
    kept = {}
    for name in (each for each in following if each not in out):
        seen, after = {name}, following[name]
        while after in out and after in following and after not in seen:
            seen.add(after)
            after = following[after]
        if after not in out:
            kept[name] = after
    return kept

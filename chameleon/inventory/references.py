"""Where an inventory names modules outside `modules`, and what stays of that when some are left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chameleon.core.planner import every_planner
from chameleon.errors import InventoryError
from chameleon.inventory.schema import OnError
from chameleon.inventory.source import KeyPath, without
from chameleon.text import nearest

if TYPE_CHECKING:
    from chameleon.inventory.inventory import Inventory


_OF_MODULES = {"last", "once", "needs", "next", "drops"}  # the rules that name modules


def _names_in(held: Any, *path: str | int) -> Iterator[tuple[KeyPath, str]]:
    """Yield every name in lists and mappings of names, with its place."""
    if isinstance(held, str):
        yield path, held
    elif isinstance(held, Mapping):
        for name, each in held.items():
            yield (*path, name), name
            yield from _names_in(each, *path, name)
    else:
        for index, each in enumerate(held):
            yield from _names_in(each, *path, index)


def _mentioned(inventory: Inventory) -> Iterator[tuple[KeyPath, str]]:
    """Yield every module that is named outside `modules`, with the key under which it stands."""
    yield from _names_in(inventory.fallback, "fallback")
    for rule, named in inventory.rules.model_dump(include=_OF_MODULES).items():
        yield from _names_in(named, "rules", rule)
    for name, spec in inventory.repair.items():
        yield ("repair", name), name
        yield ("repair", name, "redo"), spec.redo
    for planner in every_planner(inventory.planner):
        for key, names in planner.referenced_modules.items():
            yield from ((("planner", key), name) for name in names)
    for name, policy in inventory.on_error.items():
        if isinstance(policy, list):
            yield from _names_in(policy, "modules", name, "on_error")


def check_mentioned(inventory: Inventory) -> None:
    """Raise `InventoryError` for a module that is named outside `modules` and is not there."""
    places = inventory.source.places if inventory.source else {}
    for key, name in _mentioned(inventory):
        if name in inventory.modules:
            continue
        part = ".".join(str(each) for each in key if isinstance(each, str))
        if (removed := places.get(("modules", name))) is not None:
            what = f"the module {name!r} is removed here, and {part} ({inventory.place(key)}) still names it"
            hint = f"Give {part} again without {name}, or keep the module."
            raise InventoryError(what, where=removed, hint=hint)
        what = f"{part} names a module {name!r} that the inventory does not have"
        raise InventoryError(what, where=inventory.place(key), hint=nearest(name, inventory.modules))


def leave_out(inventory: Inventory, names: Collection[str]) -> Inventory:
    """Return the inventory without these modules, as an ablation has it (Chameleon paper, table 5).

    No planner is told of them, and no plan runs them. A planner may still name one, since its demonstrations
    do; the step is then dropped from its plan. Rules, fallback, repairs and `on_error` plans lose them too.
    Raises `InventoryError` for a module that the inventory does not have, and where every module that
    may end a plan is left out.
    """
    out = sorted({*inventory.left_out, *names})
    for name in names:
        if name not in inventory.modules:
            hint = nearest(name, inventory.modules)
            raise InventoryError(f"there is no module {name!r} to leave out", where=inventory.name, hint=hint)
    last = inventory.rules.last
    if last and not without(last, out):
        what = f"{' or '.join(last)} cannot be left out: a plan must end with it"
        raise InventoryError(what, where=inventory.name)

    rules = {rule: without(getattr(inventory.rules, rule), out) for rule in _OF_MODULES}
    rules["next"] = _followers(inventory.rules.next, out)
    on_error: dict[str, OnError] = {  # a plan of which nothing is left stops the run
        name: (without(policy, out) or "stop") if isinstance(policy, list) else policy
        for name, policy in inventory.on_error.items()
    }
    repair = {name: spec for name, spec in inventory.repair.items() if not {name, spec.redo} & {*out}}
    return replace(
        inventory,
        left_out=frozenset(out),
        rules=inventory.rules.model_copy(update=rules),
        fallback=tuple(without(inventory.fallback, out)),
        repair=repair,
        on_error=on_error,
    )


def _followers(following: Mapping[str, str], out: Sequence[str]) -> dict[str, str]:
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

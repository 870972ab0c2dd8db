"""Leaving modules out of an inventory, as an ablation does (Chameleon paper, table 5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from chameleon.errors import InventoryError
from chameleon.inventory.schema import OnError, RulesSpec
from chameleon.state import Plan
from chameleon.text import nearest

if TYPE_CHECKING:
    from chameleon.inventory.inventory import Inventory


def leave_out(inventory: Inventory, names: Collection[str]) -> Inventory:
    """The inventory without these modules: no planner is told of them, and no plan runs them.

    A planner may still name one, since its demonstrations do; the step is then dropped from its plan. Rules,
    fallback, repairs and `on_error` plans lose what concerns them. Raises `InventoryError` for a module that
    the inventory does not have, and where every module that may end a plan is left out.
    """
    out = inventory.left_out | frozenset(names)
    for name in names:
        if name not in inventory.modules:
            hint = nearest(name, inventory.modules)
            raise InventoryError(f"there is no module {name!r} to leave out", where=inventory.name, hint=hint)
    last = inventory.rules.last
    endings = [last] if isinstance(last, str) else last
    if endings and not set(endings) - out:
        raise InventoryError(
            f"{' or '.join(endings)} cannot be left out: a plan must end with it", where=inventory.name
        )
    return replace(
        inventory,
        left_out=out,
        rules=_rules(inventory.rules, out),
        fallback=tuple(name for name in inventory.fallback if name not in out),
        repair={
            name: spec for name, spec in inventory.repair.items() if name not in out and spec.redo not in out
        },
        on_error={name: _policy(policy, out) for name, policy in inventory.on_error.items()},
    )


def kept(plan: Plan, left_out: Collection[str]) -> Plan:
    """The plan without the steps that are left out, with a note that says so."""
    dropped = sorted({step.module for step in plan.steps if step.module in left_out})
    if not dropped:
        return plan
    note = "; ".join(part for part in (plan.note, f"without {', '.join(dropped)}") if part)
    steps = tuple(step for step in plan.steps if step.module not in left_out)
    refused = plan.refused or ("" if steps else "every module of the plan is left out")
    return replace(plan, steps=steps, note=note, refused=refused)


def _rules(rules: RulesSpec, out: Collection[str]) -> RulesSpec:
    last = [rules.last] if isinstance(rules.last, str) else rules.last
    needs: Mapping[str, list[str]] = {
        name: [each for each in ([needed] if isinstance(needed, str) else needed) if each not in out]
        for name, needed in rules.needs.items()
        if name not in out
    }
    return rules.model_copy(
        update={
            "last": [name for name in last if name not in out],
            "once": [name for name in rules.once if name not in out],
            "needs": {name: needed for name, needed in needs.items() if needed},
            "next": _followers(rules.next, out),
        }
    )


def _followers(following: Mapping[str, str], out: Collection[str]) -> dict[str, str]:
    """Who must follow whom, with those left out stepped over: a → b → c without b is a → c."""
    kept_rules = {}
    for name, follower in following.items():
        seen = {name}
        after: str | None = follower
        while after is not None and after in out and after not in seen:
            seen.add(after)
            after = following.get(after)
        if name not in out and after is not None and after not in out:
            kept_rules[name] = after
    return kept_rules


def _policy(policy: OnError, out: Collection[str]) -> OnError:
    """A plan for failures without those modules; where nothing is left of it, the run stops."""
    if not isinstance(policy, list):
        return policy
    return [name for name in policy if name not in out] or "stop"

"""What a run's log keeps of its inventory, so that a resumed run is known to be the same."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from chameleon.errors import ChameleonError, LogError
from chameleon.inventory.inventory import Inventory
from chameleon.inventory.schema import InventorySpec
from chameleon.planner import every_planner
from chameleon.prompt import Prompt
from chameleon.state import State

# What a run may be resumed with: another model, other parameters of its calls, and a larger budget.
_MAY_CHANGE: Any = {
    "about": True,
    "budget": True,
    "llm": True,
    "planner": {"llm"},
    "modules": {"__all__": {"llm"}},
}
_NEW_FILE = "Give a new file with --log."


def settings_of(inventory: Inventory) -> dict[str, Any]:
    """Digests of the inventory's file and of its prompts, for `Begun.settings`.

    An inventory made in Python has no digest, and a prompt that cannot be read has none: the step that asks
    with it tells why.
    """
    settings: dict[str, Any] = {"inventory": _digest(inventory.spec)} if inventory.spec else {}
    if prompts := dict(_prompts(inventory)):
        settings["prompts"] = prompts
    if inventory.left_out:
        settings["without"] = sorted(inventory.left_out)
    return settings


def check_same(state: State, inventory: Inventory, settings: Mapping[str, Any]) -> None:
    """Raise `LogError` naming what has changed since the run began: the inventory, or one of its prompts."""
    assert state.begun is not None
    before = state.begun.settings
    if before.get("inventory", settings.get("inventory")) != settings.get("inventory"):
        raise LogError(f"the inventory {inventory.name} has changed since the log began", hint=_NEW_FILE)
    if list(before.get("without", ())) != list(settings.get("without", ())):
        raise LogError(f"other modules of {inventory.name} were left out when the log began", hint=_NEW_FILE)
    now = settings.get("prompts", {})
    for owner, digest in before.get("prompts", {}).items():
        if now.get(owner, digest) != digest:
            raise LogError(f"the prompt of {owner} has changed since the log began", hint=_NEW_FILE)
    planned = {step.module for plan in state.plans if not plan.refused for step in plan.steps}
    if unknown := sorted(planned - set(inventory.modules)):
        raise LogError(
            f"the log has a step {unknown[0]!r}, and the inventory {inventory.name} has no such module",
            hint=_NEW_FILE,
        )


def _digest(spec: InventorySpec) -> str:
    data = spec.model_dump(exclude=_MAY_CHANGE, exclude_defaults=True)
    return hashlib.sha256(json.dumps(data, default=_plain).encode()).hexdigest()[:12]


def _plain(value: Any) -> str:
    """A parameter that JSON cannot hold: a date of a YAML file, or an object that stands for its class."""
    return value.isoformat() if isinstance(value, datetime.date) else type(value).__qualname__


def _prompts(inventory: Inventory) -> Iterator[tuple[str, str]]:
    owners: dict[str, Any] = dict(inventory.modules)
    for number, planner in enumerate(every_planner(inventory.planner)):
        owners[f"planner {number}" if number else "the planner"] = planner
    for name, owner in owners.items():
        try:
            template = getattr(owner, "template", None)
        except ChameleonError:  # told by the step that asks with it
            continue
        if isinstance(template, Prompt):
            yield name, template.digest

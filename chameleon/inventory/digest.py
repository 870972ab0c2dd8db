"""The record of an inventory in a run's log, which shows whether a resumed run is the same."""

import datetime
import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from chameleon.core.events import ONE_QUESTION
from chameleon.core.llm_module import AsksModel, template_of
from chameleon.core.module import InnerRun
from chameleon.core.state import State
from chameleon.errors import ChameleonError, LogError, versions_of
from chameleon.inventory import Inventory

# Changes that a resumed run may have: another model, other call parameters, and a larger budget.
_VOLATILE_KEYS: Any = {
    "about": True,
    "budget": True,
    "llm": True,
    "planner": {"llm"},
    "modules": {"__all__": {"llm"}},
}
_NEW_FILE_HINT = "Use a new file for the log."


def settings_of(inventory: Inventory) -> dict[str, Any]:
    """Return our version and digests of the inventory's file and prompts, for `RunStarted.settings`.

    An inventory made in Python has no digest, nor does an unreadable prompt: the step that needs it reports
    the error.
    """
    dist = "chameleon-compose"
    settings: dict[str, Any] = {"version": versions_of(dist).get(dist, "unknown")}  # unknown in a checkout
    if inventory.spec:
        data = inventory.spec.model_dump(exclude=_VOLATILE_KEYS, exclude_defaults=True)
        settings["inventory"] = hashlib.sha256(json.dumps(data, default=_plain).encode()).hexdigest()[:12]
    prompts = {}
    for name, part in {**inventory.modules, **inventory.planners}.items():
        with suppress(ChameleonError):  # reported by the step that needs it
            if isinstance(part, AsksModel):
                prompts["the planner" if name == "planner" else name] = template_of(part).digest
    modules = inventory.modules.items()
    optional = {
        "prompts": prompts,
        "inside": {name: settings_of(each.inner) for name, each in modules if isinstance(each, InnerRun)},
        "tools": {name: tool for name, each in modules if (tool := each.traits.server_schema) is not None},
        ONE_QUESTION: _for_one_question(inventory),
        "without": sorted(inventory.left_out),
    }
    return settings | {key: value for key, value in optional.items() if value}


def _for_one_question(inventory: Inventory) -> list[str]:
    """List the modules that change the input because of this question, which they or their sources read."""
    keys, names = {"input.question"}, set[str]()
    while more := {  # until nothing further depends on the question
        name: access
        for name, access in inventory.access.items()
        if name not in names and access.reads is not None and access.reads & keys
    }:
        names |= more.keys()
        keys |= {key for access in more.values() for key in access.writes if key.startswith("cache.")}
    writes = {name: inventory.access[name].writes for name in names}
    return sorted(name for name in names if any(key.startswith("input.") for key in writes[name]))


def files_of(inventory: Inventory, inputs: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return digests of the files named in an input, for `RunStarted.settings`."""
    kinds = {key: kind.removesuffix("?") for key, kind in inventory.input_types.items()}
    digests = {}
    for key, value in inputs.items():
        if isinstance(value, PurePath) or (kinds.get(key) == "path" and isinstance(value, str)):
            digests[key] = "absent"  # the module that reads it reports the error
            with suppress(OSError, ValueError):  # ValueError: a null byte in the path
                if Path(value).is_file():  # reading a device may never end
                    with Path(value).open("rb") as opened:
                        digests[key] = hashlib.file_digest(opened, "sha256").hexdigest()
    return {"files": digests} if digests else {}


def check_same(
    state: State, inventory: Inventory, inputs: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Raise `LogError` naming what changed since the run started: inventory, prompts, input or files."""
    assert state.started is not None
    name, recorded = inventory.name, state.started.settings
    if (state.started.inventory, state.started.input) != (name, inputs):
        hint = "Use a new file, or ask the same question."
        raise LogError("the log belongs to another question or inventory", hint=hint)
    if recorded.get("inventory", settings.get("inventory")) != settings.get("inventory"):
        raise LogError(f"the inventory {name} has changed since the log began", hint=_NEW_FILE_HINT)
    if recorded.get("version", settings["version"]) != settings["version"]:
        what = f"the log was started by version {recorded['version']} of chameleon-compose"
        raise LogError(f"{what}, but this is {settings['version']}", hint=_NEW_FILE_HINT)
    if recorded.get("without", ()) != settings.get("without", ()):
        raise LogError(f"other modules of {name} were left out when the log began", hint=_NEW_FILE_HINT)
    parts = {"inside": "the inventory that {} runs", "tools": "the server's tool {}"}
    for part, what in {**parts, "prompts": "the prompt of {}"}.items():
        now = settings.get(part, {})
        for owner, old in recorded.get(part, {}).items():
            if now.get(owner, old) != old:
                raise LogError(f"{what.format(owner)} has changed since the log began", hint=_NEW_FILE_HINT)
    planned = {step.module for plan in state.plans if not plan.refused for step in plan.steps}
    if unknown := sorted(planned - set(inventory.modules)):
        what = f"the log has a step {unknown[0]!r}, but the inventory {name} has no such module"
        raise LogError(what, hint=_NEW_FILE_HINT)
    for key, digest in settings.get("files", {}).items():
        if recorded.get("files", {}).get(key) != digest:
            what = f"the log belongs to another question: the {key} has changed since it began"
            hint = f"Use a new file for the log, or restore the old {key}."
            raise LogError(what, where=str(inputs[key]), hint=hint)


def _plain(value: Any) -> str:
    """Write a parameter that JSON cannot hold: a YAML date in ISO form, an object by its class."""
    return value.isoformat() if isinstance(value, datetime.date) else type(value).__qualname__

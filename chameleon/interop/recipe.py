"""An executor as plain values, by which the same one is made on another machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chameleon.errors import InventoryError
from chameleon.evaluation.settings import own_files, resolved_by, versions
from chameleon.executor import Executor
from chameleon.inventory import Inventory
from chameleon.inventory.source import Source
from chameleon.llm.providers import providers
from chameleon.module import split_keys
from chameleon.usage import Budget
from chameleon.values import to_json

_OURS = "CHAMELEON_"


def recipe_of(executor: Executor) -> dict[str, Any]:
    """Return, as plain values, what `executor_of` makes the same executor of on another machine.

    Raises `InventoryError` and `ModelError` for parts that are made in Python: they have no name there.
    """
    inventory, llm = executor.inventory, executor.llm
    if (source := inventory.source) is None:
        hint = "Write it as a YAML file, where modules are named as package.module:Class."
        what = "an inventory that is made in Python cannot be handed on to other machines"
        raise InventoryError(what, where=inventory.name, hint=hint)
    made: dict[str, Any] = {
        "source": {"data": source.data, "file": source.file, "params": dict(source.params)},
        "folders": [str(folder.absolute()) for folder in source.folders],
        "recorded": to_json(executor.settings),
        "without": sorted(inventory.left_out),
        "budget": asdict(executor.budget),
        "parallel": executor.parallel,
        "approve_each": executor.approve_each,
    }
    if llm is not None:
        made["llm"] = dict(llm.connected_by)
        made["store"] = None if llm.store is None else (llm.store.mode, llm.store.place)
    return made


def executor_of(recipe: Mapping[str, Any]) -> Executor:
    """Make the executor of a recipe. Raises what `Inventory.read` and `LLM.connect` raise."""
    folders = tuple(Path(folder) for folder in recipe["folders"])
    source = Source(**recipe["source"], folders=folders, recorded=recipe["recorded"])
    inventory = Inventory.read(source).without(*recipe["without"])
    llm = None
    if "llm" in recipe:
        from chameleon.llm import LLM, ResponseStore

        store = None
        if recipe["store"] is not None:
            mode, place = recipe["store"]
            store = ResponseStore.default(mode) if place is None else ResponseStore(place, mode)
        llm = LLM.connect(**recipe["llm"], store=store)
    kept = {key: recipe[key] for key in ("parallel", "approve_each")}
    return Executor(inventory, llm, budget=Budget(**recipe["budget"]), **kept)


def variables_for(executor: Executor) -> dict[str, str]:
    """Return the environment variables that go along: ours, and those of its models and modules."""
    asked = [each.model.name for each in executor.inventory.askers.values()]
    known = (providers().get(name.partition(":")[0]) for name in asked)
    keys = {key for provider in known if provider is not None for key in provider.keys}
    begins = (_OURS, *(f"{key.partition('_')[0]}_" for key in keys))
    named = {name for module in executor.inventory.present.values() for name in split_keys(module.uses)}
    return {name: value for name, value in os.environ.items() if name.startswith(begins) or name in named}


def surroundings_of(executor: Executor) -> dict[str, Any]:
    """Return what the runs of an executor depend on here: versions, files, and what settings come to."""
    made = to_json(executor.settings)
    return {
        "versions": versions(),
        "model": executor.model,
        "server": executor.server,
        "digests": {
            **{key: made.get(key) for key in ("inventory", "prompts")},
            **own_files(executor.inventory),
        },
        "resolved": resolved_by(executor),
    }

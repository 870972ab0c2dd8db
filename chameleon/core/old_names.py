"""Attributes that classes of users may still have under old names, until version 0.3."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from chameleon.core.llm_module import AsksModel, LLMModule, asking_of, configure
from chameleon.core.module import Module, needs_model, split_keys
from chameleon.core.planner import Planner
from chameleon.errors import OLD_NAMES, with_new_names

_log = logging.getLogger("chameleon")
_OF_PLANNERS = {
    "whole": "returns_full_plan",
    "brings": "extra_modules",
    "names_modules": "referenced_modules",
    "handles_failure": "replans_after_failure",
    "goes_on_after": "continue_after_failure",
}
_OF_TRAITS = {
    "gives": "returns",
    "non_text": "non_text",
    "takes_code": "takes_code",
    "in_turn": "exclusive_group",
    "alias": "server_name",
    "listed": "server_schema",
    "tells_own": "shows_own_keys",
    "also_reads": "extra_reads",
}
_OF_VIEWS = {
    "table_style": "style",
    "max_table_tokens": "max_tokens",
    **{name: name for name in ("max_rows", "max_cell", "max_text_tokens")},
}
_GONE = {"replies": "Override `ask`.", "begins_anew": "Say what was wrong in `messages`."}


def renew(part: Module | Planner) -> None:
    """Set what a module or planner of a user has under old names, wherever it has it, and warn once of it.

    Raises `InventoryError` for an `asks` that is neither "approval" nor nothing.
    """
    if type(part).__module__.startswith("chameleon.modules.") or "_is_renewed" in vars(part):
        return
    vars(part)["_is_renewed"] = True
    label = f"class {type(part).__qualname__}"
    for name in _GONE if isinstance(part, AsksModel) else ():
        if hasattr(part, name):
            _log.warning("%s: nothing calls %s any more. %s", label, name, _GONE[name])
    names = OLD_NAMES if isinstance(part, Module) else _OF_PLANNERS
    for name, value in with_new_names(_old_of(part, names), label, names).items():
        if isinstance(part, Planner) or not vars(part).get(name):  # what a file or a decorator set stays
            setattr(part, name, value)
    if isinstance(part, Module):
        _renew_traits(part, label)
    if isinstance(part, LLMModule) and (view := _old_of(part, _OF_VIEWS)):
        _log.warning("%s: write table_view = TableView(%s=…)", label, "=…, ".join(view))
        part.table_view = replace(part.table_view, **{_OF_VIEWS[name]: view[name] for name in view})
    if isinstance(part, AsksModel) and (params := getattr(part, "llm_params", None)):
        asking = asking_of(part)
        configure(part, replace(asking, params={**params, **asking.params}))


def _renew_traits(part: Module, label: str) -> None:
    if traits := _old_of(part, _OF_TRAITS):
        _log.warning(
            "%s: write traits = Traits(%s=…)", label, "=…, ".join(map(_OF_TRAITS.__getitem__, traits))
        )
        part.traits = replace(part.traits, **{_OF_TRAITS[name]: traits[name] for name in traits})
    if getattr(part, "needs_model", False) and not needs_model(part):
        part.uses = (*split_keys(part.uses), "model")  # type: ignore[misc]


def _old_of(part: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the old attributes that a part has: its own, or those of a class that its class is made of."""
    return {name: getattr(part, name) for name in names if hasattr(part, name)}

"""Decide which model to use, and say why."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chameleon.errors import NoModel
from chameleon.llm.capabilities import SwitchOff, default_model, providers_with_default, switch_off
from chameleon.llm.providers import (
    base_url,
    full_name,
    is_openai_itself,
    own_server,
    package_is_here,
    providers,
)
from chameleon.text import redact

if TYPE_CHECKING:
    from chameleon.llm.store import ResponseStore

_NOT_FOR_CHAT = re.compile(r"embed|rerank|whisper|\btts\b|moderation", re.IGNORECASE)
_LIST_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model to use ("provider:name"), or None where there is none, and a sentence that says why.

    `ends` says when the model is switched off, where that is known.
    """

    model: str | None
    why: str
    ends: str = ""

    def __str__(self) -> str:
        return f"{self.why}; {self.ends}" if self.ends else self.why


def choose_model(
    flag: str | None,
    inventory_model: str | None,
    environ: Mapping[str, str] = os.environ,
    *,
    reason: str = "the caller names it",
    replay: ResponseStore | None = None,
) -> ModelChoice:
    """Choose the model: `flag`, `CHAMELEON_MODEL`, the inventory, else what there is access to.

    Without a name, an OpenAI-compatible server (`OPENAI_BASE_URL`) is asked for its models and the first is
    taken; with a provider's key alone it is that provider's default of `models.yaml`. `reason` says why
    the `flag` counts. A `replay` asks nobody:
    it takes the model that the store recorded last, of the same server if it has one. Raises `NoModel` for a
    name whose provider does not exist, when the server does not say what it offers, or when there is nothing
    to replay.
    """
    named = (
        (flag, reason),
        (environ.get("CHAMELEON_MODEL"), "CHAMELEON_MODEL names it"),
        (inventory_model, "the inventory's llm.model names it"),
    )
    for name, why in named:
        if name and name.strip():
            return _chosen(full_name(name, environ), why)
    address = base_url(environ)
    if replay is not None:
        return _from_store(replay, own_server("openai", {"base_url": address}, environ))
    if address and not is_openai_itself(address):
        return _from_server(address, environ.get("OPENAI_API_KEY"))
    return _from_keys(environ)


def _chosen(model: str, reason: str) -> ModelChoice:
    return ModelChoice(model, f"model {model}, because {reason}", str(switch_off(model) or ""))


def _from_keys(environ: Mapping[str, str]) -> ModelChoice:
    """Choose the default model of the first provider whose key is set, those whose package is here first."""
    keys = {
        provider: next((key for key in providers()[provider].keys if environ.get(key)), "")
        for provider in (*providers_with_default(), *providers())
    }
    having = [provider for provider, key in keys.items() if key and default_model(provider)]
    if having:
        provider = next((each for each in having if package_is_here(each)), having[0])
        return _chosen(str(default_model(provider)), f"{keys[provider]} is set and no model is named")
    unused = next(filter(None, keys.values()), "")
    lacks = (
        f"no default is known for {unused}"
        if unused
        else "neither a key (such as OPENAI_API_KEY) nor a server (OPENAI_BASE_URL) is set"
    )
    return ModelChoice(None, f"no model, because none is named and {lacks}")


def _from_store(store: ResponseStore, address: str) -> ModelChoice:
    model = store.latest_model(address)
    if model is None:
        hint = "Record first, with the store in mode auto."
        raise NoModel("there is no recorded reply to replay", where=str(store.path), hint=hint)
    return ModelChoice(model, f"model {model}, because the response store recorded it last")


def _from_server(address: str, key: str | None) -> ModelChoice:
    from chameleon.llm.offer import offered_models

    server = f"the server at {redact(address)}"
    try:
        offered = offered_models(address, key)
    except NoModel as error:
        hint = error.hint or "Name a model, or set CHAMELEON_MODEL."
        raise NoModel(error.what, hint=hint) from None
    chat = [each for each in offered if not _NOT_FOR_CHAT.search(each.name)]
    if not chat:
        raise NoModel(f"{server} offers no chat model", hint="Load one into the server.")
    model = f"openai:{chat[0].name}"
    which = "the only model" if len(offered) == 1 else f"the first chat model of {len(offered)} models"
    ends = SwitchOff(chat[0].shutdown) if chat[0].shutdown else ""
    return ModelChoice(model, f"model {model}, because it is {which} of {server}", str(ends))


def with_end(choice: ModelChoice, environ: Mapping[str, str] = os.environ) -> ModelChoice:
    """Add to a choice the day on which its model is switched off, where its server lists that.

    An OpenAI-compatible server is asked for its models, unless the day is known; one that does not answer
    at once says nothing.
    """
    from chameleon.llm.offer import offered_models

    provider, _, name = (choice.model or "").partition(":")
    if choice.ends or provider != "openai":
        return choice
    address, key = base_url(environ) or "https://api.openai.com/v1", environ.get("OPENAI_API_KEY")
    day = None
    with suppress(Exception):  # a courtesy: whatever keeps it from being told, the run stands
        offered = offered_models(address, key, _LIST_SECONDS)
        day = next((each.shutdown for each in offered if each.name == name), None)
    return replace(choice, ends=str(SwitchOff(day))) if day else choice

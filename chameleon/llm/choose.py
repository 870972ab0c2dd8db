"""Decide which model to use, and say why."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon.errors import MissingPackage, NoModel, Unreachable
from chameleon.llm.capabilities import default_model, providers_with_default, switch_off
from chameleon.llm.deadline import within
from chameleon.llm.failures import classify
from chameleon.llm.providers import (
    base_url,
    full_name,
    make_client,
    own_server,
    package_is_here,
    providers,
)
from chameleon.llm.store import ResponseStore
from chameleon.text import one_line, redact

_NOT_FOR_CHAT = re.compile(r"embed|rerank|whisper|\btts\b|moderation", re.IGNORECASE)
_LIST_SECONDS = 3.0
_MOST_LISTED = 8


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
    replay: ResponseStore | None = None,
) -> ModelChoice:
    """Choose the model: `flag`, `CHAMELEON_MODEL`, the inventory, else what there is access to.

    Without a name, an OpenAI-compatible server (`OPENAI_BASE_URL`) is asked for its models and the first is
    taken; with a provider's key alone it is that provider's default of `models.yaml`. A `replay` asks nobody:
    it takes the model that the store recorded last, of the same server if it has one. Raises `NoModel` for a
    name whose provider does not exist, when the server does not say what it offers, or when there is nothing
    to replay.
    """
    named = (
        (flag, "the caller names it"),
        (environ.get("CHAMELEON_MODEL"), "CHAMELEON_MODEL names it"),
        (inventory_model, "the inventory's llm.model names it"),
    )
    for name, reason in named:
        if name and name.strip():
            return _chosen(full_name(name, environ), reason)
    address = base_url(environ)
    server = own_server("openai", {"base_url": address}, environ)
    if replay is not None:
        model = replay.latest_model(server)
        if model is None:
            hint = "Record first, with the store in mode auto."
            raise NoModel("there is no recorded reply to replay", where=str(replay.path), hint=hint)
        return ModelChoice(model, f"model {model}, because the response store recorded it last")
    if server:
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
    lacks = "neither OPENAI_BASE_URL nor the key of a provider is set, such as OPENAI_API_KEY"
    lacks = f"no default is known for {unused}" if unused else lacks
    named = "none is named (by the caller, CHAMELEON_MODEL, the inventory's llm.model)"
    return ModelChoice(None, f"no model, because {named} and {lacks}")


def _from_server(address: str, key: str | None) -> ModelChoice:
    """Choose the first chat model that an OpenAI-compatible server lists."""
    server = f"the server at {redact(address)}"
    settings = {"base_url": address, **({"api_key": key} if key else {})}
    hint = "Name a model, or set CHAMELEON_MODEL."
    if not address.startswith(("http://", "https://")):
        hint = "OPENAI_BASE_URL begins with http:// or https://."
        raise NoModel(f"{redact(address)!r} is not an address", hint=hint)
    try:
        offered = offered_models(make_client("openai:any", _LIST_SECONDS, settings))
    except MissingPackage:
        raise
    except Exception as error:  # no server, no HTTP, no JSON, or JSON of another form
        failure = classify(error, model=server, secrets=[key] if key else [])
        if isinstance(failure.error, Unreachable) or failure.reason:
            hint = "Check that it runs and that OPENAI_BASE_URL is right."
            raise NoModel(f"{server} cannot be reached ({failure.reason})", hint=hint) from None
        raise NoModel(f"{server} does not list its models: {failure.error.what}", hint=hint) from None
    chat = [name for name in offered if not _NOT_FOR_CHAT.search(name)]
    if not chat:
        raise NoModel(f"{server} offers no chat model", hint="Load one into the server.")
    which = "the only model" if len(offered) == 1 else f"the first chat model of {len(offered)} models"
    return ModelChoice(f"openai:{chat[0]}", f"model openai:{chat[0]}, because it is {which} of {server}")


def offered_models(chat: Any) -> list[str]:
    """Ask the server of an OpenAI client which models it has; raise whatever the client raises."""
    listing = within(_LIST_SECONDS, lambda: chat.root_client.models.list(timeout=_LIST_SECONDS))
    return [one_line(redact(str(each.id)), 200) for each in listing.data]


def offer(names: Sequence[str], wanted: str) -> str:
    """Return a sentence that names those models of a server that are nearest to the wanted one, if any."""
    nearest = difflib.get_close_matches(wanted, names, n=_MOST_LISTED, cutoff=0.3)
    listed = [*nearest, *(name for name in names if name not in nearest)][:_MOST_LISTED]
    more = f" and {len(names) - len(listed)} more" if len(names) > len(listed) else ""
    return f"The server offers: {', '.join(listed)}{more}." if names else ""

"""Decide which model to use, and say why."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from chameleon.errors import NoModel
from chameleon.llm.providers import base_url, full_name, is_openai_itself, offered_models, own_server
from chameleon.llm.redact import redact
from chameleon.llm.store import ResponseStore

DEFAULT_MODEL = "openai:gpt-4.1-mini"

_NOT_FOR_CHAT = re.compile(r"embed|rerank|whisper|\btts\b|moderation", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model to use ("provider:name"), or None where there is none, and a sentence that says why."""

    model: str | None
    why: str


def choose_model(
    flag: str | None,
    inventory_model: str | None,
    environ: Mapping[str, str] = os.environ,
    *,
    replay: ResponseStore | None = None,
) -> ModelChoice:
    """Choose the model: `--model`, `CHAMELEON_MODEL`, the inventory, else what there is access to.

    Without a name, an OpenAI-compatible server (`OPENAI_BASE_URL`) is asked for its models and the first is
    taken; with `OPENAI_API_KEY` alone it is `DEFAULT_MODEL`. A `replay` asks nobody: it takes the model that
    the store recorded last, of the same server if it has one. Raises `NoModel` for a name whose provider does
    not exist, when the server does not say what it offers, or when there is nothing to replay.
    """
    named = (
        (flag, "--model names it"),
        (environ.get("CHAMELEON_MODEL"), "CHAMELEON_MODEL names it"),
        (inventory_model, "the inventory's llm.model names it"),
    )
    for name, reason in named:
        if name and name.strip():
            model = full_name(name, environ)
            return ModelChoice(model, f"model {model}, because {reason}")
    address = base_url(environ)
    if replay is not None:
        return _from_store(replay, own_server("openai", {"base_url": address}, environ))
    if address and not is_openai_itself(address):
        return _from_server(address, environ.get("OPENAI_API_KEY"))
    if environ.get("OPENAI_API_KEY"):
        reason = "because OPENAI_API_KEY is set and no model is named"
        return ModelChoice(DEFAULT_MODEL, f"model {DEFAULT_MODEL}, {reason}")
    return ModelChoice(
        None,
        "no model, because none is named (--model, CHAMELEON_MODEL, the inventory's llm.model) "
        "and neither OPENAI_API_KEY nor OPENAI_BASE_URL is set",
    )


def _from_store(store: ResponseStore, address: str) -> ModelChoice:
    model = store.latest_model(address)
    if model is None:
        hint = "Record first, with the store in mode auto."
        raise NoModel("there is no recorded reply to replay", where=str(store.path), hint=hint)
    return ModelChoice(model, f"model {model}, because the response store recorded it last")


def _from_server(address: str, key: str | None) -> ModelChoice:
    server = f"the server at {redact(address)}"
    try:
        offered = offered_models(address, key)
    except NoModel as error:
        hint = error.hint or "Name a model with --model or CHAMELEON_MODEL."
        raise NoModel(error.what, hint=hint) from None
    chat = [name for name in offered if not _NOT_FOR_CHAT.search(name)]
    if not chat:
        raise NoModel(f"{server} offers no chat model", hint="Load one into the server.")
    model = f"openai:{chat[0]}"
    which = "the only model" if len(offered) == 1 else f"the first chat model of {len(offered)} models"
    return ModelChoice(model, f"model {model}, because it is {which} of {server}")

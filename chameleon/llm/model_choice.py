"""Decide which model to use, and say why; list the models of an OpenAI-compatible server."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from chameleon import bridge
from chameleon.errors import NoModel
from chameleon.llm.capabilities import default_model, section, switch_off
from chameleon.llm.deadline import within
from chameleon.llm.providers import (
    authorized,
    base_url,
    full_name,
    is_openai_itself,
    own_server,
    package_is_here,
    providers,
)
from chameleon.text import one_line, redact

if TYPE_CHECKING:
    from chameleon.llm.store import ResponseStore

LIST_SECONDS = 3.0  # of waiting for a server's list of models
MAX_LIST_BYTES = 4_000_000
MAX_NAMED = 8  # models in a hint
_NOT_FOR_CHAT = re.compile(r"embed|rerank|whisper|\btts\b|moderation", re.IGNORECASE)
# Servers' names for a context size, the size in use before the model's maximum.
_CONTEXTS = ("n_ctx", "max_model_len", "loaded_context_length", "max_context_length", "context_length")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model to use ("provider:name") or None, the reason, and when it is switched off, if known."""

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
    """Choose the model: `flag`, `CHAMELEON_MODEL`, the inventory, or else one that is available.

    Without a name, an OpenAI-compatible server (`OPENAI_BASE_URL`) is asked for its models and the first is
    used; with only a provider's key, it is that provider's default in `models.yaml`.

    Args:
        reason: why the `flag` counts, for `ModelChoice.why`.
        replay: the store of a replay, which asks no server: without a name, the model recorded last is used,
            from the same server if possible.

    Raises:
        NoModel: if the provider in a name is unknown, the server does not list its models, or there is
            nothing to replay.
    """
    variable, inventory = "CHAMELEON_MODEL names it", "the inventory's llm.model names it"
    names = {reason: flag, variable: environ.get("CHAMELEON_MODEL"), inventory: inventory_model}
    for why, name in names.items():
        if name and name.strip():
            return _choice(full_name(name, environ), why)
    address = base_url(environ)
    if replay is not None:
        model = replay.latest_model(own_server("openai", {"base_url": address}, environ))
        if model is None:
            what, hint = "there is no recorded reply to replay", "Record first, with the store in mode auto."
            raise NoModel(what, where=str(replay.path), hint=hint, code="no-replay")
        return ModelChoice(model, f"model {model}, because the response store recorded it last")
    if address and not is_openai_itself(address):
        return _from_server(address, environ.get("OPENAI_API_KEY"))
    return _from_keys(environ)


def _choice(model: str, reason: str) -> ModelChoice:
    return ModelChoice(model, f"model {model}, because {reason}", switch_off(model))


def _from_keys(environ: Mapping[str, str]) -> ModelChoice:
    """Choose the default model of the first provider with a key, preferring installed packages."""
    by_key = [
        (key, provider)
        for provider in dict.fromkeys([*section("defaults"), *providers()])
        for key in providers()[provider].keys
        if environ.get(key)
    ]
    usable = [(key, provider) for key, provider in by_key if default_model(provider)]
    if usable:
        key, provider = next((each for each in usable if package_is_here(each[1])), usable[0])
        return _choice(str(default_model(provider)), f"{key} is set and no model is named")
    why = "no model is named, and no key such as OPENAI_API_KEY is set"
    why = f"no model is named, and no default is known for {by_key[0][0]}" if by_key else why
    return ModelChoice(None, why)


def _from_server(address: str, key: str | None) -> ModelChoice:
    """Choose the first chat model in a server's list."""
    server = f"the server at {redact(address)}"
    try:
        offered = offered_models(address, key)
    except NoModel as error:
        hint = error.hint or "Name a model, or set CHAMELEON_MODEL."
        raise NoModel(error.what, hint=hint, code="" if error.hint else "no-model") from None
    name = next((each for each in offered if not _NOT_FOR_CHAT.search(each)), None)
    if name is None:
        raise NoModel(f"{server} offers no chat model", hint="Load one into the server.")
    which = "the only model" if len(offered) == 1 else f"the first chat model of {len(offered)} models"
    why = f"model openai:{name}, because it is {which} of {server}"
    return ModelChoice(f"openai:{name}", why)


def offered_models(address: str, key: str | None = None, seconds: float = LIST_SECONDS) -> list[str]:
    """List the models of an OpenAI-compatible server. Raises `NoModel`."""
    return [*_model_entries(address, key, seconds)]


def context_of(address: str, name: str, key: str | None = None) -> int | None:
    """Return the context size of a server's model in tokens, if the server reports it."""
    entry = _model_entries(address, key, LIST_SECONDS).get(name, {})
    sizes = (part.get(each) for part in (entry, entry.get("meta") or {}) for each in _CONTEXTS)
    return next((size for size in sizes if isinstance(size, int) and size > 0), None)


def _model_entries(address: str, key: str | None, seconds: float) -> dict[str, Mapping[str, Any]]:
    """Return a server's list of models, by name. Raises `NoModel`."""
    import urllib.error
    import urllib.request

    from chameleon.llm.failures import why_no_answer

    server, secrets, url, header = f"the server at {redact(address)}", [key] if key else [], "", ""
    with suppress(ValueError):
        url, header = authorized(address.rstrip("/") + "/models", key)
    if not re.match(r"https?://[^/]", url):
        hint = "OPENAI_BASE_URL must start with http:// or https://."
        raise NoModel(f"{redact(address)!r} is not an address", hint=hint)
    request = urllib.request.Request(url)  # noqa: S310 - checked above
    if header:  # unredirected: a redirect to another host must not carry the key there
        request.add_unredirected_header("Authorization", header)

    def fetch() -> Any:
        with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310
            return json.loads(response.read(MAX_LIST_BYTES))

    try:
        listing = within(seconds, partial(bridge.in_thread, fetch))  # a server may send a byte at a time
        entries = {one_line(redact(str(entry["id"]), also=secrets), 200): entry for entry in listing["data"]}
        return {name: entry for name, entry in entries.items() if isinstance(entry, Mapping)}
    except urllib.error.HTTPError as error:
        error.close()
        reason = str(error)
    except OSError as error:
        why = f"{server} cannot be reached ({why_no_answer(error)})"
        raise NoModel(why, hint="Check that it runs and that OPENAI_BASE_URL is right.") from None
    except Exception as error:  # it may send other JSON, or not speak HTTP at all
        reason = str(error)
    raise NoModel(f"{server} does not list its models: {one_line(redact(reason, also=secrets))}")


def nearest_offered(requested: str, names: Sequence[str]) -> str:
    """Return a sentence with the server's models nearest to the requested one; "" without names."""
    nearest = difflib.get_close_matches(requested, names, n=MAX_NAMED, cutoff=0.3)
    models = [*nearest, *(name for name in names if name not in nearest)][:MAX_NAMED]
    more = f" and {len(names) - len(models)} more" if len(names) > len(models) else ""
    return f"The server offers: {', '.join(models)}{more}." if names else ""

"""Which providers there are, how their models are named, and where their servers are."""

from __future__ import annotations

import difflib
import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

from chameleon.errors import NoModel
from chameleon.llm.capabilities import provider_of, section
from chameleon.text import nearest, redact

OPENAI = "https://api.openai.com/v1"
DUMMY_KEY = "not-needed"

# Settings of the connection rather than of a request: they stay out of the response store and of logs.
_OF_CONNECTION = re.compile(
    r"^(azure|aws|openai_api|openai_proxy|anthropic_api|google_api|vertex)_?"
    r"|(^|_)(api_?key|base_url|token|secret|password|credentials?|headers|client|clients|proxy|endpoint|query"
    r"|organization|org_id|project|region|location|model_provider|callbacks|rate_limiter|api_version"
    r"|client_kwargs|pipeline_kwargs|use_responses_api|client_options|transport|verbose|cache|metadata|tags)$"
)
_ADDRESS_SETTING = re.compile(r"(^|_)(base_url|api_base|api_url|endpoint)$")
_ADDRESS_VARIABLE = re.compile(r"_(BASE_URL|API_BASE|API_URL|ENDPOINT|HOST)$")


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """What `models.yaml` says of a LangChain provider; the rest is LangChain's business.

    - `package`: the distribution to install, with its bounds where we know them.
    - `keys`: the variables of which one must be set.
    - `timeouts`: whether the client takes `timeout` and `max_retries`.
    """

    package: str
    keys: Sequence[str] = ()
    timeouts: bool = True


@cache
def providers() -> Mapping[str, ModelProvider]:
    """Return the providers that a model may name, in the order in which their keys are looked for."""
    return {name: ModelProvider(**facts) for name, facts in section("providers").items()}


def belongs_to_connection(param: str) -> bool:
    """Tell whether a parameter is a setting of the client (a key, an address) and not of one request."""
    return _OF_CONNECTION.search(param) is not None


def full_name(model: str, environ: Mapping[str, str] = os.environ) -> str:
    """Write a model's name in full: "gpt-4.1-mini" is "openai:gpt-4.1-mini".

    A bare name belongs to OpenAI, or to the OpenAI-compatible server that `OPENAI_BASE_URL` names, whose
    models may hold colons. Raises `NoModel` for a provider that does not exist, naming the nearest.
    """
    provider, colon, name = model.strip().partition(":")
    if not colon:
        if not base_url(environ) and (owner := provider_of(provider)) not in ("", "openai"):
            raise NoModel(f"the model {provider!r} is not OpenAI's", hint=f"Did you mean {owner}:{provider}?")
        return f"openai:{provider}"
    known = provider.lower().replace("-", "_")
    if known in providers() or known == "scripted":
        if not name.strip():
            raise NoModel(f"{model!r} names no model", hint=f"Write {provider}:MODEL.")
        return f"{known}:{name.strip()}"
    if base_url(environ) or provider == "ft":  # OpenAI's fine-tuned models are called ft:…
        return f"openai:{model.strip()}"
    near = difflib.get_close_matches(known, providers(), n=1)
    hint = f"Did you mean {near[0]}:{name}?" if near else nearest(known, providers())
    raise NoModel(f"there is no model provider {provider!r}", where=f"model {model}", hint=hint)


def base_url(environ: Mapping[str, str] = os.environ) -> str:
    """Return the address of the OpenAI-compatible server to use, "" for OpenAI itself."""
    return (environ.get("OPENAI_BASE_URL") or environ.get("OPENAI_API_BASE") or "").strip()


def is_openai_itself(address: str) -> bool:
    """Tell whether an address is OpenAI's own, or Azure's, rather than that of a compatible server."""
    try:
        host = urlsplit(address).hostname
    except ValueError:  # not an address, as a request to it will say
        return False
    return f".{host or ''}".endswith((".openai.com", ".azure.com"))


def authorized(address: str, key: str | None) -> tuple[str, str]:
    """Return an address without its login, and the Authorization header of its login, or else of the key."""
    parts = urlsplit(address)
    login, at, host = parts.netloc.rpartition("@")
    header = f"Basic {b64encode(unquote(login).encode()).decode()}" if at else f"Bearer {key}" if key else ""
    return parts._replace(netloc=host).geturl(), header


def own_server(provider: str, settings: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> str:
    """Return the address of a server that is not the provider's own, as scheme, host, port and path; else "".

    It comes from the settings or from the variables that clients read, such as ANTHROPIC_BASE_URL. It tells
    recorded replies apart, so it holds neither login nor query. Raises `NoModel` for anything else.
    """
    addresses = [settings[name] for name in settings if _ADDRESS_SETTING.search(name) and settings[name]]
    if not addresses and provider == "openai":
        addresses = [base_url(environ)]
    elif not addresses:
        keys = providers()[provider].keys if provider in providers() else ()
        begins = {provider.upper(), *(key.partition("_API_KEY")[0] for key in keys)}
        named = (name for name in sorted(environ) if _ADDRESS_VARIABLE.search(name))
        addresses = [
            environ[name] for name in named if name.split("_")[0] in begins and environ[name].strip()
        ]
    address = str(addresses[0]).strip() if addresses else ""
    if address and "//" not in address:  # as OLLAMA_HOST may be
        address = f"http://{address}"
    try:
        parts = urlsplit(address)
        if not address or (provider == "openai" and is_openai_itself(address)):
            return ""
    except ValueError:
        raise NoModel(f"{redact(address)!r} is not an address") from None
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def package_is_here(provider: str) -> bool:
    """Tell whether the packages are installed that a provider's models need; nothing is imported."""
    package = re.split(r"[<>=!~]", providers()[provider].package)[0]
    return all(find_spec(name) is not None for name in ("langchain", package.replace("-", "_")))


def secrets_in(settings: Mapping[str, Any]) -> list[str]:
    """Return the secret strings among a client's settings, to be taken out of messages."""
    secrets = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            secrets += [str(item) for item in value.values()] if "headers" in name else secrets_in(value)
        elif re.search(r"key|token$|secret|password", name):
            reveal = getattr(value, "get_secret_value", None)
            secrets.append(reveal() if reveal else str(value))
    return [secret for secret in secrets if secret != DUMMY_KEY]

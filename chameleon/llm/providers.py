"""The providers, the names of their models, and the addresses of their servers."""

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

# Settings of the connection, not of a request: they are kept out of the response store and logs.
_CONNECTION_PARAM = re.compile(
    r"^(azure|aws|openai_api|openai_proxy|anthropic_api|google_api|vertex)_?"
    r"|(^|_)(api_?key|base_url|token|secret|password|credentials?|headers|client|clients|proxy|endpoint|query"
    r"|organization|org_id|project|region|location|model_provider|callbacks|rate_limiter|api_version"
    r"|client_kwargs|pipeline_kwargs|use_responses_api|client_options|transport|verbose|cache|metadata|tags)$"
)
_ADDRESS_SETTING = re.compile(r"(^|_)(base_url|api_base|api_url|endpoint)$")
_ADDRESS_VARIABLE = re.compile(r"_(BASE_URL|API_BASE|API_URL|ENDPOINT|HOST)$")


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """The facts in `models.yaml` about a LangChain provider; LangChain handles the rest.

    Attributes:
        package: the distribution to install, with version bounds if known.
        keys: environment variables, one of which must be set.
        timeouts: whether the client has `timeout` and `max_retries`.
    """

    package: str
    keys: Sequence[str] = ()
    timeouts: bool = True


@cache
def providers() -> Mapping[str, ModelProvider]:
    """Return the providers that a model may name, in the order in which their keys are checked."""
    return {name: ModelProvider(**facts) for name, facts in section("providers").items()}


def belongs_to_connection(param: str) -> bool:
    """Return whether a parameter is a setting of the client (a key, an address), not of one request."""
    return _CONNECTION_PARAM.search(param) is not None


def full_name(model: str, environ: Mapping[str, str] = os.environ) -> str:
    """Write a model's name in full: "gpt-4.1-mini" is "openai:gpt-4.1-mini".

    A bare name belongs to OpenAI, or to the OpenAI-compatible server in `OPENAI_BASE_URL`, whose model names
    may contain colons. Raises `NoModel` for an unknown provider, with the nearest one.
    """
    provider, colon, name = model.strip().partition(":")
    if not colon:
        if not base_url(environ) and (owner := provider_of(provider)) not in ("", "openai"):
            raise NoModel(f"OpenAI has no model {provider!r}", hint=f"Did you mean {owner}:{provider}?")
        return f"openai:{provider}"
    key = provider.lower().replace("-", "_")
    if key in providers() or key == "scripted":
        if not name.strip():
            raise NoModel(f"{model!r} names no model", hint=f"Write {provider}:MODEL.")
        return f"{key}:{name.strip()}"
    if base_url(environ) or provider == "ft":  # OpenAI's fine-tuned models are named ft:…
        return f"openai:{model.strip()}"
    matches = difflib.get_close_matches(key, providers(), n=1)
    hint = f"Did you mean {matches[0]}:{name}?" if matches else nearest(key, providers())
    raise NoModel(f"there is no model provider {provider!r}", where=f"model {model}", hint=hint)


def base_url(environ: Mapping[str, str] = os.environ) -> str:
    """Return the address of the OpenAI-compatible server to use, "" for OpenAI itself."""
    return (environ.get("OPENAI_BASE_URL") or environ.get("OPENAI_API_BASE") or "").strip()


def is_openai_itself(address: str) -> bool:
    """Return whether an address is OpenAI's own or Azure's, not that of a compatible server."""
    try:
        host = urlsplit(address).hostname
    except ValueError:  # not an address; a request to it reports that
        return False
    return f".{host or ''}".endswith((".openai.com", ".azure.com"))


def authorized(address: str, key: str | None) -> tuple[str, str]:
    """Return an address without its login, and the Authorization header for its login or else the key."""
    parts = urlsplit(address)
    login, at, host = parts.netloc.rpartition("@")
    header = f"Basic {b64encode(unquote(login).encode()).decode()}" if at else f"Bearer {key}" if key else ""
    return parts._replace(netloc=host).geturl(), header


def own_server(provider: str, settings: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> str:
    """Return the address of a server that is not the provider's own (scheme, host, port and path), else "".

    It comes from the settings or from the variables that clients read, such as ANTHROPIC_BASE_URL. It
    identifies recorded replies, so it has no login and no query. Raises `NoModel` for an invalid address.
    """
    addresses = [settings[name] for name in settings if _ADDRESS_SETTING.search(name) and settings[name]]
    if not addresses and provider == "openai":
        addresses = [base_url(environ)]
    elif not addresses:
        keys = providers()[provider].keys if provider in providers() else ()
        # They begin with the provider's name (OLLAMA_HOST) or like its key (GOOGLE for google_genai).
        begins = (f"{provider.upper()}_", *(f"{key.partition('_API_KEY')[0]}_" for key in keys))
        variables = (name for name in sorted(environ) if _ADDRESS_VARIABLE.search(name))
        addresses = [environ[name] for name in variables if name.startswith(begins) and environ[name].strip()]
    address = str(addresses[0]).strip() if addresses else ""
    if address and "//" not in address:  # OLLAMA_HOST may have no scheme
        address = f"http://{address}"
    try:
        parts = urlsplit(address)
        if not address or (provider == "openai" and is_openai_itself(address)):
            return ""
    except ValueError:
        raise NoModel(f"{redact(address)!r} is not an address") from None
    host = parts.netloc.rpartition("@")[2].lower()
    server = f"{parts.scheme}://{host}{parts.path.rstrip('/')}"
    deployment = settings.get("azure_deployment")  # one of several on a server
    return f"{server}/deployments/{deployment}" if deployment else server


def package_is_here(provider: str) -> bool:
    """Return whether the packages for a provider's models are installed, importing nothing."""
    package = re.split(r"[<>=!~]", providers()[provider].package)[0]
    return all(find_spec(name) is not None for name in ("langchain", package.replace("-", "_")))


def secrets_in(settings: Mapping[str, Any]) -> list[str]:
    """Return the secret strings among a client's settings, to remove from messages."""
    secrets = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            secrets += [str(item) for item in value.values()] if "headers" in name else secrets_in(value)
        elif re.search(r"key|token$|secret|password", name):
            reveal = getattr(value, "get_secret_value", None)
            secrets.append(reveal() if reveal else str(value))
    return [secret for secret in secrets if secret != DUMMY_KEY]

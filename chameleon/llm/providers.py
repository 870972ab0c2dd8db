"""Which providers there are, how a model is named, and how its LangChain client is made."""

from __future__ import annotations

import datetime
import difflib
import json
import os
import re
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from chameleon.errors import AuthFailed, ChameleonError, MissingPackage, ModelError, NoModel
from chameleon.llm.bounds import bound_replies
from chameleon.llm.capabilities import provider_of
from chameleon.llm.deadline import within
from chameleon.llm.failures import why_no_answer
from chameleon.text import one_line, redact

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

_LIST_SECONDS = 3.0
_LIST_BYTES = 4_000_000
_NO_LISTING = (ValueError, LookupError, TypeError, AttributeError)  # JSON of another form, or none
_DUMMY_KEY = "not-needed"
_LANGCHAIN, _PRICES = "langchain>=1,<2", "genai-prices>=0.2"


@dataclass(frozen=True, slots=True)
class Provider:
    """What Chameleon knows of a LangChain provider; the rest is LangChain's business.

    `package` is the distribution to install (with its bounds where we know them), `keys` the variables of
    which one must be set, `retries` whether the client takes `timeout` and `max_retries`.
    """

    package: str
    keys: tuple[str, ...] = ()
    retries: bool = True


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("langchain-openai>=1,<2", ("OPENAI_API_KEY",)),
    "anthropic": Provider("langchain-anthropic>=1,<2", ("ANTHROPIC_API_KEY",)),
    "google_genai": Provider("langchain-google-genai>=3", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "ollama": Provider("langchain-ollama>=1,<2", retries=False),
    "azure_openai": Provider("langchain-openai>=1,<2"),
    "azure_ai": Provider("langchain-azure-ai", retries=False),
    "bedrock": Provider("langchain-aws", retries=False),
    "bedrock_converse": Provider("langchain-aws", retries=False),
    "anthropic_bedrock": Provider("langchain-aws"),
    "cohere": Provider("langchain-cohere", keys=("COHERE_API_KEY",), retries=False),
    "deepseek": Provider("langchain-deepseek", keys=("DEEPSEEK_API_KEY",)),
    "fireworks": Provider("langchain-fireworks", keys=("FIREWORKS_API_KEY",)),
    "google_vertexai": Provider("langchain-google-vertexai"),
    "google_anthropic_vertex": Provider("langchain-google-vertexai"),
    "groq": Provider("langchain-groq", keys=("GROQ_API_KEY",)),
    "huggingface": Provider("langchain-huggingface", retries=False),
    "ibm": Provider("langchain-ibm", retries=False),
    "litellm": Provider("langchain-litellm", retries=False),
    "mistralai": Provider("langchain-mistralai", keys=("MISTRAL_API_KEY",)),
    "nvidia": Provider("langchain-nvidia-ai-endpoints", keys=("NVIDIA_API_KEY",), retries=False),
    "openrouter": Provider("langchain-openrouter", keys=("OPENROUTER_API_KEY",)),
    "perplexity": Provider("langchain-perplexity", keys=("PPLX_API_KEY", "PERPLEXITY_API_KEY")),
    "together": Provider("langchain-together", keys=("TOGETHER_API_KEY",)),
    "upstage": Provider("langchain-upstage", keys=("UPSTAGE_API_KEY",)),
    "xai": Provider("langchain-xai", keys=("XAI_API_KEY",)),
}

# Settings of the connection rather than of a request: they stay out of the response store and of logs.
_OF_CONNECTION = re.compile(
    r"^(azure|aws|openai_api|openai_proxy|anthropic_api|google_api|vertex)_?"
    r"|(^|_)(api_?key|base_url|token|secret|password|credentials?|headers|client|clients|proxy|endpoint|query"
    r"|organization|org_id|project|region|location|model_provider|callbacks|rate_limiter|api_version"
    r"|client_kwargs|pipeline_kwargs|use_responses_api|client_options|transport|verbose|cache|metadata|tags)$"
)

_ADDRESS_SETTING = re.compile(r"(^|_)(base_url|api_base|api_url|endpoint)$")
_ADDRESS_VARIABLE = re.compile(r"_(BASE_URL|API_BASE|API_URL|ENDPOINT|HOST)$")


def belongs_to_connection(param: str) -> bool:
    """Whether a parameter is a setting of the client (a key, an address) and not of one request."""
    return _OF_CONNECTION.search(param) is not None


def full_name(model: str, environ: Mapping[str, str] = os.environ) -> str:
    """Write a model's name in full: "gpt-4.1-mini" is "openai:gpt-4.1-mini".

    A bare name belongs to OpenAI, or to the OpenAI-compatible server that `OPENAI_BASE_URL` names, whose
    models may hold colons. Raises `NoModel` for a provider that does not exist, naming the nearest.
    """
    provider, colon, name = model.strip().partition(":")
    if not colon and not base_url(environ) and (owner := provider_of(provider)) not in ("", "openai"):
        raise NoModel(f"the model {provider!r} is not OpenAI's", hint=f"Did you mean {owner}:{provider}?")
    if not colon:
        return f"openai:{provider}"
    known = provider.lower().replace("-", "_")
    if known in PROVIDERS or known == "scripted":
        if not name.strip():
            raise NoModel(f"{model!r} names no model", hint=f"Write {provider}:MODEL.")
        return f"{known}:{name.strip()}"
    if base_url(environ) or provider == "ft":  # OpenAI's fine-tuned models are called ft:…
        return f"openai:{model.strip()}"
    nearest = difflib.get_close_matches(known, PROVIDERS, n=1)
    suggestion = (
        f"Did you mean {nearest[0]}:{name}?" if nearest else f"Providers: {', '.join(sorted(PROVIDERS))}."
    )
    raise NoModel(f"there is no model provider {provider!r}", where=f"model {model}", hint=suggestion)


def base_url(environ: Mapping[str, str] = os.environ) -> str:
    """The address of the OpenAI-compatible server to use, "" for OpenAI itself."""
    return (environ.get("OPENAI_BASE_URL") or environ.get("OPENAI_API_BASE") or "").strip()


def is_openai_itself(address: str) -> bool:
    """Whether an address is OpenAI's own, or Azure's, rather than that of a compatible server."""
    return f".{urlsplit(address).hostname or ''}".endswith((".openai.com", ".azure.com"))


def own_server(provider: str, settings: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> str:
    """The address of a server that is not the provider's own, as scheme, host, port and path; else "".

    It comes from the settings or from the variables that clients read, such as ANTHROPIC_BASE_URL. It tells
    recorded replies apart, so it holds neither login nor query. Raises `NoModel` where it is none.
    """
    given = next(
        (settings[name] for name in settings if _ADDRESS_SETTING.search(name) and settings[name]), ""
    )
    address = str(given or _address_in(provider, environ)).strip()
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
    """Whether the packages are installed that a provider's models need; nothing is imported."""
    package = re.split(r"[<>=!~]", PROVIDERS[provider].package)[0]
    return all(find_spec(name) is not None for name in ("langchain", package.replace("-", "_")))


def _address_in(provider: str, environ: Mapping[str, str]) -> str:
    """The address that the variables of a provider name: those that begin as its key does, or as its name."""
    if provider == "openai":
        return base_url(environ)
    known = PROVIDERS.get(provider, Provider(""))
    prefixes = {provider.upper(), *(key.partition("_API_KEY")[0] for key in known.keys)}
    prefixes |= {"GOOGLE"} if provider == "google_genai" else set()
    for name in sorted(environ):
        if environ[name].strip() and _ADDRESS_VARIABLE.search(name) and name.split("_")[0] in prefixes:
            return environ[name].strip()
    return ""


def make_client(
    model: str, timeout: float, settings: Mapping[str, Any], fields: Mapping[str, Any] | None = None
) -> BaseChatModel:
    """Make the LangChain client of `provider:name`, with its own retries switched off.

    `fields` are parameters of its requests; what the constructor makes of them is the client's business, and
    so are the exceptions that it raises for them. Raises `MissingPackage` with the pip line, `AuthFailed`
    naming the variable that is not set, and `NoModel`.
    """
    provider, _, name = model.partition(":")
    if provider == "scripted":
        return _scripted(name)
    facts = PROVIDERS[provider]
    arguments: dict[str, Any] = {**settings, **(fields or {})}
    if facts.retries:
        arguments = {"timeout": timeout, "max_retries": 0, **arguments}
    if provider == "ollama":  # without a limit its client waits for ever
        arguments = {"client_kwargs": {"timeout": timeout}, **arguments}
    if provider == "openai":
        arguments = _openai_arguments(arguments)
    if provider == "huggingface":  # a pipeline repeats its prompt unless told not to
        own = arguments.get("pipeline_kwargs") or {}
        arguments["pipeline_kwargs"] = {"return_full_text": False, **own}
    _require_key(model, facts, arguments)
    try:
        from langchain.chat_models import init_chat_model

        client: BaseChatModel = init_chat_model(name, model_provider=provider, **arguments)
    except ImportError as error:
        raise _missing(provider, facts, error) from None
    except ChameleonError:
        raise
    except Exception as error:
        if fields:
            raise
        said = one_line(redact(str(error), also=secrets_in(arguments)))
        raise ModelError(
            f"no client can be made: {type(error).__name__}: {said}", where=f"model {model}"
        ) from None
    bound_replies(client)
    return client


def without_own_retries(chat: BaseChatModel) -> BaseChatModel:
    """The client that a user made, without its own retries: they would multiply with ours."""
    client = getattr(chat, "root_client", None)
    if client is None or not hasattr(client, "with_options"):
        return chat
    calm = client.with_options(max_retries=0)
    return chat.model_copy(update={"root_client": calm, "client": calm.chat.completions})


def secrets_of(chat: BaseChatModel) -> list[str]:
    """The secret strings that a client which the user made holds."""
    held = {name: getattr(chat, name, None) for name in type(chat).model_fields}
    return secrets_in({name: value for name, value in held.items() if value})


def _scripted(file: str) -> BaseChatModel:
    try:
        from chameleon.llm.scripted import ScriptedModel
    except ImportError as error:
        raise _missing("scripted", Provider("langchain-core>=1,<2"), error) from None
    return ScriptedModel.from_file(file)


def _openai_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    arguments = {"stream_usage": True, **arguments}
    address = arguments.get("base_url") or base_url()
    if address:
        arguments["base_url"] = address
        if "api_key" not in arguments and not os.environ.get("OPENAI_API_KEY"):
            arguments["api_key"] = _DUMMY_KEY  # the client insists on one; local servers ask for none
    return arguments


def _require_key(model: str, facts: Provider, arguments: Mapping[str, Any]) -> None:
    given = any(re.search(r"api_key$|credentials$", name) and value for name, value in arguments.items())
    if facts.keys and not given and not any(os.environ.get(key) for key in facts.keys):
        raise AuthFailed(
            f"the provider's key is not set: {' or '.join(facts.keys)}",
            where=f"model {model}",
            hint=f"export {facts.keys[0]}=…, or choose another model.",
        )


def _missing(provider: str, facts: Provider, error: ImportError) -> MissingPackage:
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__  # LangChain's own text, on top, hides which package it is
    # The real packages: our own extras' name says nothing to an index that does not hold us.
    packages = " ".join(f"'{package}'" for package in (_LANGCHAIN, facts.package, _PRICES))
    return MissingPackage(
        f"the model provider {provider} needs a package that is not installed: {one_line(str(cause), 120)}",
        hint=f"pip install {packages}",
    )


def secrets_in(settings: Mapping[str, Any]) -> list[str]:
    """The secret strings among a client's settings, to be taken out of messages."""
    found = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found += [str(item) for item in value.values()] if "headers" in name else secrets_in(value)
        elif re.search(r"key|token$|secret|password", name):
            reveal = getattr(value, "get_secret_value", None)
            found.append(reveal() if reveal else str(value))
    return [secret for secret in found if secret != _DUMMY_KEY]


def _without_login(address: str) -> tuple[str, str]:
    """Split `user:password@` off an address, in the form that the Authorization header wants."""
    parts = urlsplit(address)
    login, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=host).geturl(), b64encode(unquote(login).encode()).decode() if at else ""


@dataclass(frozen=True, slots=True)
class Offered:
    """A model that a server lists, and the day on which it ends, where the server tells it."""

    name: str
    shutdown: datetime.date | None = None


def _day(told: Any) -> datetime.date | None:
    """A day as a server tells it: a date, a time, or seconds since 1970."""
    with suppress(TypeError, ValueError, OverflowError, OSError):
        if isinstance(told, (int, float)) and told:
            return datetime.datetime.fromtimestamp(told, datetime.UTC).date()
        return datetime.date.fromisoformat(str(told)[:10])
    return None


def offered_models(address: str, key: str | None = None, seconds: float = _LIST_SECONDS) -> list[Offered]:
    """Ask an OpenAI-compatible server which models it has; raise `NoModel` when it does not say."""
    import urllib.error
    import urllib.request

    try:
        place, login = _without_login(address.rstrip("/") + "/models")
    except ValueError:
        place, login = "", ""
    if not re.match(r"https?://", place):
        raise NoModel(
            f"{redact(address)!r} is not an address", hint="OPENAI_BASE_URL begins with http:// or https://."
        )
    request = urllib.request.Request(place)  # noqa: S310 - checked above
    if key or login:  # unredirected: a redirect to another host must not carry the key there
        request.add_unredirected_header("Authorization", f"Basic {login}" if login else f"Bearer {key}")

    def listed() -> Any:
        try:
            with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310
                return json.loads(response.read(_LIST_BYTES))
        except urllib.error.HTTPError as error:
            error.close()
            raise

    try:
        listing = within(seconds, listed)  # a server may send a byte at a time
        held = [key] if key else []
        return [
            Offered(one_line(redact(str(entry["id"]), also=held), 200), _day(entry.get("shutdown_date")))
            for entry in listing["data"]
        ]
    except (OSError, HTTPException, RecursionError, *_NO_LISTING) as error:
        if isinstance(error, OSError) and not isinstance(error, urllib.error.HTTPError):
            raise NoModel(
                f"the server at {redact(address)} cannot be reached ({why_no_answer(error)})",
                hint="Check that it runs and that OPENAI_BASE_URL is right.",
            ) from None
        said = one_line(redact(str(error), also=[key] if key else []))
        raise NoModel(f"the server at {redact(address)} does not list its models: {said}") from None

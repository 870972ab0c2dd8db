"""Which providers there are, how a model is named, and how its LangChain client is made."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from chameleon.errors import AuthFailed, ChameleonError, MissingPackage, ModelError, NoModel
from chameleon.llm.capabilities import provider_of, section
from chameleon.llm.deadline import bound_replies
from chameleon.text import nearest, one_line, redact

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

OPENAI = "https://api.openai.com/v1"
_DUMMY_KEY = "not-needed"
_LANGCHAIN, _PRICES = "langchain>=1,<2", "genai-prices>=0.2"

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
    except ValueError:  # it is no address, as whoever asks there is told
        return False
    return f".{host or ''}".endswith((".openai.com", ".azure.com"))


def own_server(provider: str, settings: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> str:
    """Return the address of a server that is not the provider's own, as scheme, host, port and path; else "".

    It comes from the settings or from the variables that clients read, such as ANTHROPIC_BASE_URL. It tells
    recorded replies apart, so it holds neither login nor query. Raises `NoModel` where it is none.
    """
    given = [settings[name] for name in settings if _ADDRESS_SETTING.search(name) and settings[name]]
    if not given and provider == "openai":
        given = [base_url(environ)]
    elif not given:
        keys = providers()[provider].keys if provider in providers() else ()
        begins = {provider.upper(), *(key.partition("_API_KEY")[0] for key in keys)}
        named = (name for name in sorted(environ) if _ADDRESS_VARIABLE.search(name))
        given = [environ[name] for name in named if name.split("_")[0] in begins and environ[name].strip()]
    address = str(given[0]).strip() if given else ""
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


def make_client(
    model: str, timeout: float, settings: Mapping[str, Any], fields: Mapping[str, Any]
) -> BaseChatModel:
    """Make the LangChain client of `provider:name`, with its own retries switched off.

    Args:
        fields: parameters of its requests. What the constructor makes of them is the client's business, and
            so are the exceptions that it raises for them.

    Raises:
        MissingPackage: With the pip line.
        AuthFailed: Naming the variable that is not set.
        NoModel: There is no such script.
    """
    provider, _, name = model.partition(":")
    facts = providers().get(provider, ModelProvider("langchain-core>=1,<2"))
    try:
        if provider == "scripted":
            from chameleon.llm.scripted import ScriptedModel

            return ScriptedModel.from_file(name)
        arguments = _arguments(provider, facts, timeout, {**settings, **fields})
        given = any(re.search(r"api_key$|credentials$", name) and arguments[name] for name in arguments)
        if facts.keys and not given and not any(os.environ.get(key) for key in facts.keys):
            raise AuthFailed(
                f"the provider's key is not set: {' or '.join(facts.keys)}",
                where=f"model {model}",
                hint=f"export {facts.keys[0]}=…, or choose another model.",
            )
        if provider == "openai" and (direct := _direct(name, arguments)) is not None:
            return direct
        from langchain.chat_models import init_chat_model

        client: BaseChatModel = init_chat_model(name, model_provider=provider, **arguments)
    except ImportError as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__  # LangChain's own text, on top, hides which package it is
        needs = f"the model provider {provider} needs a package that is not installed"
        # The real packages: our own extras' name says nothing to an index that does not hold us.
        packages = " ".join(f"'{package}'" for package in (_LANGCHAIN, facts.package, _PRICES))
        said = one_line(str(cause), 120)
        raise MissingPackage(f"{needs}: {said}", hint=f"pip install {packages}") from None
    except ChameleonError:
        raise
    except Exception as error:
        if fields:
            raise
        said = one_line(redact(str(error), also=secrets_in(settings)))
        what = f"no client can be made: {type(error).__name__}: {said}"
        raise ModelError(what, where=f"model {model}") from None
    bound_replies(client)
    return client


def _direct(name: str, arguments: Mapping[str, Any]) -> BaseChatModel | None:
    """Make our own client of an OpenAI-compatible server; None where LangChain's is needed."""
    if find_spec("aiohttp") is None:
        return None
    from chameleon.llm.openai_chat import OpenAIChat, takes

    settings = {key: value for key, value in arguments.items() if key != "stream_usage"}
    settings.setdefault("api_key", os.environ.get("OPENAI_API_KEY"))  # now: it may not be shown later
    made = OpenAIChat(model=name, **settings) if takes(name, settings) else None
    return cast("BaseChatModel | None", made)  # its dialect uses no other method


def _arguments(
    provider: str, facts: ModelProvider, timeout: float, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a provider's constructor is given."""
    arguments = dict(given)
    if facts.timeouts:
        arguments = {"timeout": timeout, "max_retries": 0, **arguments}
    if provider == "ollama":  # without a limit its client waits for ever
        arguments = {"client_kwargs": {"timeout": timeout}, **arguments}
    if provider == "openai":
        arguments = {"stream_usage": True, **arguments}
        if address := arguments.get("base_url") or base_url():
            arguments["base_url"] = address
            if "api_key" not in arguments and not os.environ.get("OPENAI_API_KEY"):
                arguments["api_key"] = _DUMMY_KEY  # the client insists on one; local servers ask for none
    if provider == "huggingface":  # a pipeline repeats its prompt unless told not to
        own = arguments.get("pipeline_kwargs") or {}
        arguments["pipeline_kwargs"] = {"return_full_text": False, **own}
    return arguments


def secrets_in(settings: Mapping[str, Any]) -> list[str]:
    """Return the secret strings among a client's settings, to be taken out of messages."""
    found = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found += [str(item) for item in value.values()] if "headers" in name else secrets_in(value)
        elif re.search(r"key|token$|secret|password", name):
            reveal = getattr(value, "get_secret_value", None)
            found.append(reveal() if reveal else str(value))
    return [secret for secret in found if secret != _DUMMY_KEY]

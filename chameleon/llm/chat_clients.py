"""Chat clients: created from a model's name, or passed in by the user, with parameters of requests set."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from chameleon.errors import AuthFailed, ChameleonError, MissingPackage, ModelError, NoModel, causes
from chameleon.lazy import cached_property
from chameleon.llm.capabilities import section
from chameleon.llm.deadline import bound_replies
from chameleon.llm.providers import (
    DUMMY_KEY,
    OPENAI,
    ModelProvider,
    base_url,
    belongs_to_connection,
    full_name,
    own_server,
    package_is_here,
    providers,
    secrets_in,
)
from chameleon.text import known_secrets, one_line, redact

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

# Providers' names for the same parameter, where LangChain has no common one.
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "max_tokens": ("max_output_tokens", "num_predict", "max_new_tokens"),
    "stop": ("stop_sequences",),
}
_NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})
_LANGCHAIN, _PRICES = "langchain>=1,<2", "genai-prices>=0.2"
_COMMON_PARAMS = ("temperature", "top_p", "max_tokens", "seed", "logprobs")
_MAX_VIEWS = 256
_ADDRESS_FIELD = re.compile(r"(?:^|_)(?:base_url|api_base|endpoint|host|url)$")
_MODEL_NAMES = ("model_name", "model", "model_id", "repo_id", "model_path", "endpoint_url")


class ChatClient:
    """The client of one model, created from the model's name through its provider's constructor.

    Attributes:
        name: "provider:model"; `has_name`: whether replies are cached under it. They are not if it is only a
            class name, or a script, whose replies come in order.
        address: the server, unless it is the provider's own.
        own_params: the parameters set by its user; `own_settings`: settings that separate its replies from
            the replies of other clients of the model.
        secrets: texts that must never be shown, longest first.
    """

    own_params: Mapping[str, Any] = _NO_SETTINGS

    def __init__(self, name: str, address: str, secrets: list[str]) -> None:
        self.name, self.address = name, address
        self.is_scripted = name.startswith("scripted:")
        self.has_name = not self.is_scripted
        self.own_settings: dict[str, Any] = {}
        self.secrets = known_secrets(secrets)  # computed once here, because it is slow
        self._timeout, self._settings = 0.0, _NO_SETTINGS
        self._views: dict[str, BaseChatModel] = {}

    @classmethod
    def named(cls, model: str, timeout: float, settings: Mapping[str, Any]) -> ChatClient:
        """Create the client of a model by name. Raises `NoModel` for an unknown provider."""
        name = full_name(model)
        client = cls(name, own_server(name.partition(":")[0], settings), secrets_in(settings))
        client._timeout, client._settings = timeout, settings
        return client

    @cached_property
    def chat(self) -> BaseChatModel:
        """Create the client, with no request parameters."""
        return self._set({}, frozenset())

    def field(self, param: str) -> str | None:
        """Return the client's field for a parameter, by its name, its alias or a provider's name for it."""
        return _field_of(type(self.chat), param)

    def view(self, fields: Mapping[str, Any], cleared: frozenset[str] = frozenset()) -> BaseChatModel:
        """Return the client, cached, with these fields set and these parameters cleared."""
        if not fields and not cleared:
            return self.chat
        key = json.dumps([fields, sorted(cleared)], sort_keys=True)
        if (view := self._views.get(key)) is None:
            if len(self._views) >= _MAX_VIEWS:
                self._views.clear()
            view = self._views[key] = self._set(fields, cleared)
        return view

    def _set(self, fields: Mapping[str, Any], cleared: frozenset[str]) -> BaseChatModel:
        """Return the client with these fields set and these parameters cleared."""
        return make_client(self.name, self._timeout, self._settings, fields)


class GivenClient(ChatClient):
    """A client that the user made. It is never rebuilt, because its class may hold more than its fields."""

    def __init__(self, chat: Any) -> None:
        if not hasattr(chat, "_get_ls_params"):
            raise NoModel(f"{type(chat).__name__} is not a chat model", hint="Pass a LangChain chat model.")
        params = chat._get_ls_params()  # for LangSmith: the names of the provider and of the model
        provider = params.get("ls_provider") or chat._llm_type
        # Clients of pipelines and endpoints keep the model's name and the address on the object they wrap.
        both = [each for each in (chat, getattr(chat, "llm", None)) if each is not None]
        names = [getattr(each, name, None) for each in both for name in _MODEL_NAMES]
        model = params.get("ls_model_name") or next((n for n in names if isinstance(n, str) and n), "")
        settings = {name: getattr(chat, name, None) for name in type(chat).model_fields}
        secrets = secrets_in({name: value for name, value in settings.items() if value})
        super().__init__(f"{provider}:{model or type(chat).__name__}", _address_of(both, provider), secrets)
        self.has_name = bool(model)
        for name, value in chat._identifying_params.items():
            if value is None or name in ("model", "model_name", "stream") or belongs_to_connection(name):
                continue
            with suppress(TypeError, ValueError):  # an object has no stable text to identify it
                self.own_settings[name] = json.loads(json.dumps(value))
        client = getattr(chat, "root_client", None)
        if client is not None and hasattr(client, "with_options"):
            calm = client.with_options(max_retries=0)  # its retries would multiply ours
            chat = chat.model_copy(update={"root_client": calm, "client": calm.chat.completions})
        self.chat = chat
        for param in _COMMON_PARAMS:
            field = self.field(param)
            if field and field in chat.model_fields_set and (value := getattr(chat, field)) is not None:
                self.own_params = {**self.own_params, param: value}

    def _set(self, fields: Mapping[str, Any], cleared: frozenset[str]) -> BaseChatModel:
        nothing = {field: None for param in cleared if (field := self.field(param))}
        return self.chat.model_copy(update={**nothing, **fields})


def _why_langchain(provider: str, name: str, settings: Mapping[str, Any] = _NO_SETTINGS) -> str:
    """Return why a model uses LangChain's client, or "" if it uses our own client of OpenAI's protocol."""
    if provider != "openai":
        return f"its provider is {provider}"
    if find_spec("aiohttp") is None:
        return "the package aiohttp is not installed"
    from chameleon.llm.openai_chat import OpenAIChat, profiles, proxy_of

    if name.startswith(tuple(section("responses_only"))) or "codex" in name:
        return "it needs the Responses API"
    if unknown := sorted(settings.keys() - OpenAIChat.model_fields.keys()):
        return f"our own client has no setting {unknown[0]}"
    proxy = proxy_of(settings.get("base_url") or base_url() or OPENAI) or ""
    if os.environ.get("OPENAI_PROXY") or proxy.startswith("socks"):
        return "a proxy is set by OPENAI_PROXY, or uses SOCKS"
    if settings.get("max_retries"):
        return "max_retries is set"
    return "" if profiles() else "our own client needs the model list of langchain-openai"


def asked_by(model: str) -> str:
    """Say which client asks "provider:model", and why; settings in an inventory may change it."""
    provider, _, name = model.partition(":")
    if provider == "scripted":
        return "a script, not a model"
    why = _why_langchain(provider, name)
    own = "Chameleon's own client of OpenAI's protocol"
    return f"LangChain's client, because {why}" if why else f"{own} (tools that need Responses: LangChain's)"


def make_client(
    model: str, timeout: float, settings: Mapping[str, Any], fields: Mapping[str, Any]
) -> BaseChatModel:
    """Create the client of `provider:name`, with its own retries off, for requests with these fields.

    Raises:
        MissingPackage: if the provider's package is missing, or cannot be loaded.
        AuthFailed: if no key is set.
        InputError: if a script does not exist, or cannot be read.
        ModelError: if the client refuses the settings or the fields.
    """
    provider, _, name = model.partition(":")
    facts = providers().get(provider, ModelProvider("langchain-core>=1,<2"))
    try:
        if provider == "scripted":
            from chameleon.llm.scripted import ScriptedModel

            return ScriptedModel.from_file(name)
        arguments = _arguments(provider, facts, timeout, {**settings, **fields})
        has_key = any(re.search(r"api_key$|credentials$", key) and arguments[key] for key in arguments)
        if facts.keys and not has_key and not any(os.environ.get(key) for key in facts.keys):
            what = f"the provider's key is not set: {' or '.join(facts.keys)}"
            hint = f"export {facts.keys[0]}=…, or choose another model."
            raise AuthFailed(what, where=f"model {model}", hint=hint)
        if not _why_langchain(provider, name, arguments):
            from chameleon.llm.openai_chat import OpenAIChat

            # Read now, because it may be hidden later.
            arguments.setdefault("api_key", os.environ.get("OPENAI_API_KEY"))
            # It has every method its dialect uses.
            return cast("BaseChatModel", OpenAIChat(model=name, **arguments))
        from langchain.chat_models import init_chat_model

        arguments = {"stream_usage": True, **arguments} if provider == "openai" else arguments
        client: BaseChatModel = init_chat_model(name, model_provider=provider, **arguments)
    except ImportError as error:
        # Real package names, because an index may not have chameleon-compose and its extras.
        packages = " ".join(f"'{package}'" for package in (_LANGCHAIN, facts.package, _PRICES))
        why = "which is not installed"
        if package_is_here(provider):
            why = f"which cannot be loaded ({one_line(str([*causes(error)][-1]), 120)})"
        needs = f"{model} needs the package {facts.package}, {why}"
        raise MissingPackage(needs, hint=f"pip install {packages}") from error
    except ChameleonError:
        raise
    except Exception as error:
        message = str(error).partition("For further information")[0]  # pydantic's link follows
        detail = one_line(redact(message, also=secrets_in(settings)), 200)
        if fields:
            params = ", ".join(f"{name}={value!r}" for name, value in fields.items())
            raise ModelError(f"{model} does not accept {params}: {detail}") from None
        what = f"cannot create a client: {type(error).__name__}: {detail}"
        raise ModelError(what, where=f"model {model}") from None
    bound_replies(client)
    return client


def _arguments(
    provider: str, facts: ModelProvider, timeout: float, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a provider's constructor."""
    arguments = dict(settings)
    if facts.timeouts:
        arguments = {"timeout": timeout, "max_retries": 0, **arguments}
    if provider == "ollama":  # its client has no timeout by default
        arguments = {"client_kwargs": {"timeout": timeout}, **arguments}
    if provider == "openai" and (address := arguments.get("base_url") or base_url()):
        arguments["base_url"] = address
        if "api_key" not in arguments and not os.environ.get("OPENAI_API_KEY"):
            arguments["api_key"] = DUMMY_KEY  # the client requires one, but local servers do not
    if provider == "huggingface":  # a pipeline repeats its prompt by default
        options = arguments.get("pipeline_kwargs") or {}
        arguments["pipeline_kwargs"] = {"return_full_text": False, **options}
    return arguments


def _address_of(parts: list[Any], provider: str) -> str:
    """Return the server of a client, if one of its parts names it."""
    addresses = [getattr(getattr(parts[0], "root_client", None), "base_url", None)]  # resolved by OpenAI's
    for each in parts:
        fields = getattr(type(each), "model_fields", getattr(each, "__dict__", ()))
        addresses += [getattr(each, name, None) for name in fields if _ADDRESS_FIELD.search(name)]
    address = next(filter(None, addresses), None)
    return own_server(provider, {"base_url": str(address)}) if address else ""


@cache
def _field_of(client: type[BaseChatModel], param: str) -> str | None:
    fields = client.model_fields
    by_alias = {info.alias: field for field, info in fields.items()}
    words = (param, *_SYNONYMS.get(param, ()))
    return next((field for word in words if (field := word if word in fields else by_alias.get(word))), None)

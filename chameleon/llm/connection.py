"""One LangChain chat model: send it a request, get back the message or a classified failure."""

from __future__ import annotations

import difflib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from chameleon.errors import ModelError, NoModel
from chameleon.llm.failures import Failure, classify
from chameleon.llm.illustrated import content_of
from chameleon.llm.message import Request
from chameleon.llm.providers import (
    base_url,
    belongs_to_connection,
    full_name,
    is_openai_itself,
    make_client,
    offered_models,
    own_server,
    secrets_in,
)
from chameleon.llm.reading import FINISHES, Prices, Reading, read_message
from chameleon.llm.redact import known_secrets, mask_known, one_line, redact
from chameleon.llm.response_format import response_format

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import BaseMessage

# Providers' words for one parameter, where LangChain did not settle them.
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "max_tokens": ("max_output_tokens", "num_predict", "max_new_tokens"),
    "stop": ("stop_sequences",),
}
_MOST_LISTED = 8
_MOST_VIEWS = 256


class Connection:
    """A client that is made once and shared by all threads and all parameter settings.

    `name` is "provider:model". Parameters become fields of a shallow copy of the client where it has such
    fields, for that is what all LangChain providers have in common, and else go with the request.
    """

    def __init__(
        self,
        make: Callable[[], BaseChatModel],
        name: str,
        secrets: Iterable[str] = (),
        own_settings: Mapping[str, Any] | None = None,
        address: str = "",
    ) -> None:
        self._make = make
        self.name = name
        self.own_settings = dict(own_settings or {})
        self.address = address
        self._secrets = tuple(secrets)
        self._held = known_secrets(self._secrets)  # now, when the client takes its key: looking takes a while
        self._views: dict[str, BaseChatModel] = {}
        self._fields: dict[str, str | None] = {}
        self._offer_lock = threading.Lock()
        self._offer: list[str] | None = None

    @classmethod
    def open(
        cls, model: str | BaseChatModel, timeout: float, settings: Mapping[str, Any], *, at_once: bool = True
    ) -> Connection:
        """Connect to a model by its name, or through a LangChain client; `at_once` or when first asked."""
        if isinstance(model, str):
            name = full_name(model)
            address = own_server(name.partition(":")[0], settings)
            make = partial(make_client, name, timeout, settings)
            opened = cls(make, name, secrets_in(settings), address=address)
        elif settings:
            raise ModelError(f"{', '.join(settings)} must be set on the chat model itself")
        else:
            make = partial(_without_own_retries, model)
            opened = cls(make, _name_of(model), (), _settings_of(model), _address_of(model))
        if at_once:
            opened.chat  # noqa: B018 - a missing package or key is an error now, not at the first question
        return opened

    @cached_property
    def chat(self) -> BaseChatModel:
        return self._make()

    @cached_property
    def _is_openai(self) -> bool:
        return any(kind.__name__ == "BaseChatOpenAI" for kind in type(self.chat).__mro__)

    def send(self, request: Request) -> Any:
        """Make one request; return LangChain's `AIMessage`, raise whatever the provider's client raises."""
        chat, extra = self._prepared(request)
        stop = extra.pop("stop", None)
        messages = _as_langchain(request.messages)
        if request.schema is None or self._is_openai:
            return chat.invoke(messages, stop=stop, **extra)
        return self._ask_in_form(chat, request.schema, messages, extra)

    def read(self, message: Any, prices: Prices | None = None) -> Reading:
        """Read a reply; keys that the server echoes are taken out of all that it says."""
        reading = read_message(message, prices)
        text = mask_known(reading.text, self._held)
        if text == reading.text and reading.finish in FINISHES and not reading.refusal:
            return reading
        return replace(
            reading, text=text, finish=self._clean(reading.finish, 40), refusal=self._clean(reading.refusal)
        )

    def _clean(self, text: str, limit: int = 300) -> str:
        return one_line(redact(text, also=self._secrets), limit)

    def failure(self, error: Exception) -> Failure:
        """Classify what `send` raised; an unknown model gets the list of what the server offers."""
        failure = classify(error, model=self.name, secrets=self._secrets)
        if isinstance(failure.error, NoModel) and not failure.error.hint:
            return Failure(NoModel(failure.error.what, hint=self._offer_hint()))
        return failure

    def _ask_in_form(
        self,
        chat: BaseChatModel,
        schema: Mapping[str, Any],
        messages: list[BaseMessage],
        extra: Mapping[str, Any],
    ) -> Any:
        """Ask for a reply of the schema's form in the way that this provider's client has for it."""
        if extra:
            raise ModelError(f"{self.name} cannot take {', '.join(extra)} together with an output schema")
        try:
            structured = chat.with_structured_output({"title": "reply", **schema}, include_raw=True)
        except NotImplementedError:
            hint = "Use a prompt that asks for the form."
            raise ModelError(f"{self.name} offers no structured output", hint=hint) from None
        answer: Any = structured.invoke(messages)
        message = answer["raw"]
        if not message.tool_calls:
            return message
        form = json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
        return message.model_copy(update={"content": form, "tool_calls": []})

    def _prepared(self, request: Request) -> tuple[BaseChatModel, dict[str, Any]]:
        params = dict(request.params)
        if request.sample and "seed" in params:
            params["seed"] += request.sample  # one seed for all samples would make them all the same
        extra: dict[str, Any] = {}
        if self._is_openai:
            self._to_openai(request, params, extra)
        fields: dict[str, Any] = {}
        for param, value in params.items():
            # LangChain passes `stop` with the request; its structured output passes nothing but the messages.
            with_request = param == "stop" and (request.schema is None or self._is_openai)
            field = None if with_request else self._field(param)
            (extra if field is None else fields)[field or param] = value
        return self._view(fields), extra

    def _view(self, fields: Mapping[str, Any]) -> BaseChatModel:
        """The client with some fields set; kept, since LangChain describes a new client at its first call."""
        if not fields:
            return self.chat
        key = json.dumps(fields, sort_keys=True)
        view = self._views.get(key)
        if view is None:
            if len(self._views) >= _MOST_VIEWS:
                self._views.clear()
            view = self._views[key] = self.chat.model_copy(update=dict(fields))
        return view

    def _to_openai(self, request: Request, params: dict[str, Any], extra: dict[str, Any]) -> None:
        body: dict[str, Any] = {}
        if "max_tokens" in params and not self._is_openai_itself():
            # LangChain would send max_completion_tokens, which Ollama and older servers ignore.
            body["max_tokens"] = params.pop("max_tokens")
        if request.schema is not None:
            form = response_format(request.schema)
            if getattr(self.chat, "use_responses_api", None):
                extra["response_format"] = form
            else:
                # In the body, since the client's own handling throws away replies cut off by length.
                body["response_format"] = form
        if body:
            own = params.pop("extra_body", None) or getattr(self.chat, "extra_body", None) or {}
            extra["extra_body"] = {**own, **body}

    def _field(self, param: str) -> str | None:
        """The client's field for a parameter, looked up once."""
        if param not in self._fields:
            self._fields[param] = self._look_up_field(param)
        return self._fields[param]

    def _look_up_field(self, param: str) -> str | None:
        """By the parameter's name, its alias or a provider's word for it."""
        known = type(self.chat).model_fields
        for name in (param, *_SYNONYMS.get(param, ())):
            if name in known:
                return name
            for field, info in known.items():
                if info.alias == name:
                    return field
        return None

    def _address(self) -> str:
        return str(getattr(self.chat, "openai_api_base", None) or base_url() or "https://api.openai.com/v1")

    def _is_openai_itself(self) -> bool:
        return is_openai_itself(self._address()) or hasattr(self.chat, "azure_endpoint")

    def _offer_hint(self) -> str:
        if not self._is_openai:
            return "Check the model's name with the provider."
        with self._offer_lock:
            if self._offer is None:
                try:
                    self._offer = offered_models(self._address(), self._key())
                except NoModel:
                    self._offer = []  # the list is a courtesy: the error stands without it
        if not self._offer:
            return "Check the model's name with the provider."
        wanted = self.name.partition(":")[2]
        nearest = difflib.get_close_matches(wanted, self._offer, n=_MOST_LISTED, cutoff=0.3)
        listed = [*nearest, *(name for name in self._offer if name not in nearest)][:_MOST_LISTED]
        more = f" and {len(self._offer) - len(listed)} more" if len(self._offer) > len(listed) else ""
        return f"The server offers: {', '.join(listed)}{more}."

    def _key(self) -> str | None:
        key = getattr(self.chat, "openai_api_key", None)
        reveal = getattr(key, "get_secret_value", None)
        return reveal() if reveal else os.environ.get("OPENAI_API_KEY")


def _as_langchain(messages: Iterable[tuple[str, str]]) -> list[BaseMessage]:
    kinds = _message_kinds()
    return [kinds[role](content=content_of(text)) for role, text in messages]


@cache
def _message_kinds() -> Mapping[str, type[BaseMessage]]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    return {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


def _without_own_retries(chat: BaseChatModel) -> BaseChatModel:
    """Switch off the retries of an OpenAI client that the user made: they would multiply with ours."""
    client = getattr(chat, "root_client", None)
    if client is None or not hasattr(client, "with_options"):
        return chat
    calm = client.with_options(max_retries=0)
    return chat.model_copy(update={"root_client": calm, "client": calm.chat.completions})


def _name_of(chat: Any) -> str:
    if not hasattr(chat, "_get_ls_params"):
        raise NoModel(f"{type(chat).__name__} is no chat model", hint="Give a LangChain chat model.")
    known = chat._get_ls_params()
    provider = known.get("ls_provider") or chat._llm_type
    model = known.get("ls_model_name") or getattr(chat, "model_name", None) or getattr(chat, "model", None)
    return f"{provider}:{model or type(chat).__name__}"


def _settings_of(chat: BaseChatModel) -> dict[str, Any]:
    """What a client that the user made is set to, as far as it tells: a temperature tells replies apart."""
    settings = {}
    for name, value in chat._identifying_params.items():
        if value is None or name in ("model", "model_name", "stream") or belongs_to_connection(name):
            continue
        with suppress(TypeError, ValueError):  # an object has no stable name to know it by
            settings[name] = json.loads(json.dumps(value))
    return settings


def _address_of(chat: BaseChatModel) -> str:
    """The server of a client that the user made, as far as it tells."""
    provider = _name_of(chat).partition(":")[0]
    openai = getattr(chat, "root_client", None) if provider == "openai" else None
    address = getattr(openai or chat, "base_url", None)
    return own_server(provider, {"base_url": str(address)}) if address else ""

"""LangChain clients: made by a model's name, or by the user; copied for each setting of parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chameleon.errors import NoModel
from chameleon.llm.capabilities import catalogue
from chameleon.llm.providers import belongs_to_connection, full_name, make_client, own_server, secrets_in
from chameleon.text import known_secrets

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

_OF_ALL = ("temperature", "top_p", "max_tokens", "seed", "logprobs")
_MODEL_NAMES = ("model_name", "model", "model_id", "repo_id")


class ChatClient:
    """The LangChain client of one model.

    - `name`: "provider:model"; `has_name`: whether it tells its model or only its class.
    - `address`: the server, unless it is the provider's own.
    - `own_settings`: what tells its replies apart from those of other clients of the model.
    - `own_params`: the parameters that it is set to by its user.
    - `secrets`: what must be told nowhere, the longest first.
    """

    def __init__(
        self, name: str, address: str, secrets: list[str], make: Callable[[], BaseChatModel]
    ) -> None:
        self.name, self.address, self._make = name, address, make
        self.has_name = True
        self.own_settings: dict[str, Any] = {}
        self.own_params: dict[str, Any] = {}
        self.secrets = known_secrets(secrets)  # now, when the client takes its key: looking takes a while
        self._fields: dict[str, str | None] = {}

    @classmethod
    def named(cls, model: str, timeout: float, settings: Mapping[str, Any]) -> ChatClient:
        """Make the client of a model by its name, when it is first asked for."""
        name = full_name(model)
        address = own_server(name.partition(":")[0], settings)
        return cls(name, address, secrets_in(settings), lambda: make_client(name, timeout, settings))

    @classmethod
    def given(cls, chat: Any) -> ChatClient:
        """Take a client that the user made; raise `NoModel` where it is none."""
        if not hasattr(chat, "_get_ls_params"):
            raise NoModel(f"{type(chat).__name__} is no chat model", hint="Give a LangChain chat model.")
        told = chat._get_ls_params()
        provider = told.get("ls_provider") or chat._llm_type
        # Clients of pipelines and endpoints keep the model's name on what they wrap.
        held = [
            getattr(each, name, None) for each in (chat, getattr(chat, "llm", None)) for name in _MODEL_NAMES
        ]
        model = told.get("ls_model_name") or next((n for n in held if isinstance(n, str) and n), "")
        root = getattr(chat, "root_client", None)
        address = getattr(root, "base_url", None)  # what OpenAI's client made of all that it was given
        settings = {name: getattr(chat, name, None) for name in type(chat).model_fields}
        secrets = secrets_in({name: value for name, value in settings.items() if value})
        if root is not None and hasattr(root, "with_options"):
            calm = root.with_options(max_retries=0)  # its own retries would multiply with ours
            chat = chat.model_copy(update={"root_client": calm, "client": calm.chat.completions})
        getattr(chat, "_client", None)  # of Anthropic's: made now, so that copies share its connections
        server = own_server(provider, {"base_url": str(address)}) if address else ""
        made = cls(f"{provider}:{model or type(chat).__name__}", server, secrets, lambda: chat)
        made.has_name = bool(model)
        for name, value in chat._identifying_params.items():
            if value is None or name in ("model", "model_name", "stream") or belongs_to_connection(name):
                continue
            with suppress(TypeError, ValueError):  # an object has no stable name to know it by
                made.own_settings[name] = json.loads(json.dumps(value))
        fields = {param: made.field(param) for param in _OF_ALL}
        was_set = {param: field for param, field in fields.items() if field in chat.model_fields_set}
        values = {param: getattr(chat, str(field)) for param, field in was_set.items()}
        made.own_params = {param: value for param, value in values.items() if value is not None}
        return made

    @cached_property
    def chat(self) -> BaseChatModel:
        """Return the client without parameters of a request."""
        return self._make()

    def field(self, param: str) -> str | None:
        """Return the client's field for a parameter, by its name, its alias or a provider's word for it."""
        if param not in self._fields:
            known = type(self.chat).model_fields
            by_alias = {info.alias: field for field, info in known.items()}
            words = (param, *catalogue()["parameters"].get(param, ()))
            found = (word if word in known else by_alias.get(word) for word in words)
            self._fields[param] = next((field for field in found if field), None)
        return self._fields[param]

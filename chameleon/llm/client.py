"""`LLM`: a chat model with its parameters, as used by modules, planners and users."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from chameleon import bridge
from chameleon.errors import EmptyReply, ModelError, Refused
from chameleon.llm.chat_clients import ChatClient, GivenClient
from chameleon.llm.connection import Connection, Offer
from chameleon.llm.message import Messages, ModelRequest, Reply, canonical
from chameleon.llm.pipeline import Pipeline
from chameleon.llm.prices import Prices
from chameleon.llm.providers import belongs_to_connection, full_name, secrets_in
from chameleon.llm.store import ResponseStore
from chameleon.usage import current_recorder

_EMPTY: Mapping[str, Any] = {}
_SAMPLE_ERRORS = (EmptyReply, ModelError, Refused)

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel


class LLM:
    """A chat model that can be asked from any thread.

        llm = LLM.connect("openai:gpt-6-luna", reasoning="none")
        print(llm.ask("What is the capital of France?").text)

    Views with other parameters (`with_params`) share the client, the store and the requests in flight;
    `with_model` is another model with the same store and settings. Inside a run, calls count toward the
    run's budget and are logged by its recorder.

    `max_tokens` limits the visible answer; a model that thinks gets extra room for its thinking. `reasoning`
    (none, minimal, low, medium, high) is translated for each provider. A parameter that the model does not
    accept is dropped, and reported with the reply and in the log.
    """

    __slots__ = ("_models", "_params", "_pipeline", "_soft")

    def __init__(
        self, pipeline: Pipeline, params: Mapping[str, Any], models: _Models, soft: Mapping[str, Any] = _EMPTY
    ) -> None:
        """`soft` parameters are defaults that any setting overrides and a model may ignore."""
        self._pipeline, self._params, self._models = pipeline, params, models
        set_params = {**params, **pipeline.connection.client.own_params}
        self._soft = {name: value for name, value in soft.items() if name not in set_params}

    @classmethod
    def connect(
        cls,
        model: str | BaseChatModel,
        *,
        store: ResponseStore | None = None,
        retries: int = 6,
        timeout: float = 120.0,
        prices: Prices | None = None,
        allow_dropped: bool = True,
        **params: Any,
    ) -> LLM:
        """Connect to "provider:name", to a bare OpenAI name, "scripted:FILE", or a LangChain chat model.

        Args:
            retries: how many times a request is repeated if that may help.
            timeout: seconds for a whole attempt.
            prices: US dollars per million input and output tokens (and cached input tokens, if cheaper),
                instead of the prices from the provider or `genai-prices`.
            allow_dropped: if False, asking raises `ParameterRefused` for a parameter the model does not
                accept.
            params: request defaults (temperature, max_tokens, stop, reasoning, …) and client settings
                (api_key, base_url, …).

        Raises:
            MissingPackage: if the provider's package is not installed.
            ModelError: if no key is set (`AuthFailed`), the provider is unknown (`NoModel`), or the like.
            InputError: if a script does not exist, or cannot be read.
        """
        settings = {name: value for name, value in params.items() if belongs_to_connection(name)}
        defaults = {name: value for name, value in params.items() if name not in settings}
        models = _Models(store, settings, allow_dropped, retries, timeout, prices)
        return cls(models.open(model), defaults, models)

    @property
    def name(self) -> str:
        """Return the model's full name, "provider:model"."""
        return self._pipeline.connection.name

    @property
    def connected_by(self) -> Mapping[str, Any]:
        """Return the arguments of `connect` for another process, without the store. Raises `ModelError`."""
        models = self._models
        is_given = isinstance(self._pipeline.connection.client, GivenClient)
        if is_given or secrets_in(models.settings):
            what = "client created" if is_given else "key set"
            hint = "Use the model's name, and set the key in the environment."
            raise ModelError(f"a {what} in Python cannot be sent to other machines", hint=hint)
        settings = {name: getattr(models, name) for name in ("retries", "prices", "timeout", "allow_dropped")}
        return {"model": self.name, **settings, **models.settings, **self._params}

    @property
    def store(self) -> ResponseStore | None:
        """Return the store of replies, if any."""
        return self._models.store

    @property
    def address(self) -> str:
        """Return the server's address if it is not the provider's own, else ""."""
        return self._pipeline.connection.client.address

    @property
    def sees(self) -> bool:
        """Return whether the model is known to accept images."""
        return self._pipeline.connection.capabilities.sees

    @property
    def params(self) -> Mapping[str, Any]:
        """Return the default parameters of every request."""
        return {**self._soft, **self._params}

    def __repr__(self) -> str:
        return f"LLM({', '.join([repr(self.name), *(f'{k}={v!r}' for k, v in self._params.items())])})"

    def with_params(self, **params: Any) -> LLM:
        """Return a view with other default parameters; None removes one."""
        soft = {name: value for name, value in self._soft.items() if name not in params}
        return LLM(self._pipeline, self._merged(params), self._models, soft)

    def with_defaults(self, **params: Any) -> LLM:
        """Return a view with more defaults that any setting overrides and a model may ignore."""
        return LLM(self._pipeline, self._params, self._models, {**self._soft, **params})

    def with_model(
        self,
        model: str,
        *,
        retries: int | None = None,
        timeout: float | None = None,
        prices: Prices | None = None,
    ) -> LLM:
        """Return another model with the same store and, unless set here, settings. Raises as `connect`."""
        settings = {"retries": retries, "timeout": timeout, "prices": prices and tuple(prices)}
        pipeline = self._models.sibling(full_name(model), settings)
        return LLM(pipeline, self._params, self._models, self._soft)

    def dropped(self, **params: Any) -> Mapping[str, str]:
        """Return which of the default parameters and `params` would be dropped for this model, and why."""
        return self._pipeline.connection.dropped(canonical(self._merged(params)))

    @property
    def is_replay(self) -> bool:
        """Return whether replies come only from the store."""
        return self._models.store is not None and self._models.store.mode == "replay"

    def offers(self, what: str) -> Offer:
        """Return whether it accepts a "schema" for replies, or "tools": see `Connection.offers`."""
        return self._pipeline.connection.offers(what)

    def learn(self, what: str, *, works: bool | None, why: str = "refused") -> None:
        """Remember whether it accepts a "schema" or "tools": see `Connection.learn`."""
        self._pipeline.connection.learn(what, works=works, why=why)

    def ask(
        self,
        messages: Messages,
        *,
        sample: int = 0,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        whole: bool = True,
        **params: Any,
    ) -> Reply:
        """Ask once, and return the reply.

        Args:
            messages: the user's text, or pairs of role (system, user, assistant, tool) and text.
            sample: separates repeated questions.
            schema: a JSON Schema; requests JSON text of that form.
            tools: what the model may call, each with `name`, `description` and `parameters` (a JSON Schema).
                Its calls are the reply's `tool_calls`. They go back to it as a `CallingText` of the role
                assistant, followed by a `ResultText` of the role tool for each (`chameleon.llm.tools`).
            whole: request a reply that is cut off at `max_tokens` again with four times the room, at most
                twice; False accepts it as it is.
            params: request parameters, instead of the view's own; None leaves one out.

        Raises:
            ModelError: as `RateLimited`, `ContextTooLong`, `AuthFailed`, `Refused`, `NoModel`, `ReplayMiss`,
                `ToolsRefused` or another of its kinds.
            BudgetExceeded: before a call that the budget forbids, or when its time runs out (a reply that
                arrives later is still recorded).
            StoreError: if the store cannot be read.
        """
        request = self._request(messages, params, sample=sample, schema=schema, tools=tools, whole=whole)
        recorder = current_recorder()
        hear = recorder.hear if recorder else None
        return self._collect([request], self._pipeline.answer([request], hear))[0]

    def ask_many(
        self,
        messages: Messages,
        n: int,
        *,
        first: int = 0,
        schema: Mapping[str, Any] | None = None,
        whole: bool = True,
        **params: Any,
    ) -> list[Reply]:
        """Ask for several samples at once, and return them in order.

        If the provider supports it, they are requested together and the prompt is paid for once. A refused,
        empty or lost sample is left out; its error is raised if no other sample is left. Errors that concern
        all samples, such as a spent budget, are always raised.

        Args:
            n: how many samples.
            first: the number of the first one; the other parameters are as in `ask`.
        """
        same: dict[str, Any] = {"schema": schema, "whole": whole}
        requests = [self._request(messages, params, sample=each, **same) for each in range(first, first + n)]
        return self._collect(requests, self._pipeline.answer_samples(requests), spares=_SAMPLE_ERRORS)

    def ask_each(
        self, prompts: Sequence[Messages], *, schema: Mapping[str, Any] | None = None, **params: Any
    ) -> list[Reply]:
        """Ask several different questions at once; return the replies in order, or raise the first error."""
        requests = [self._request(messages, params, schema=schema) for messages in prompts]
        groups = self._pipeline.answer_each([[request] for request in requests])
        return self._collect(requests, [replies[0] for replies in groups])

    def _collect(
        self,
        requests: Sequence[ModelRequest],
        outcomes: Sequence[Reply | BaseException],
        spares: tuple[type[ModelError], ...] = (),
    ) -> list[Reply]:
        """Log the outcomes of the requests; return the good replies, skipping errors of the `spares` classes.

        Raises the first other error, and any error if no reply is left.
        """
        recorder = current_recorder()
        if recorder is not None:
            both = zip(requests, outcomes, strict=True)
            recorder.calls += [reply.to_call(request) for request, reply in both if isinstance(reply, Reply)]
            recorder.doubts += [partial(self._pipeline.doubt, request) for request in requests]
        good = [each for each in outcomes if isinstance(each, Reply) and each.error is None]
        for each in outcomes:
            error = each.error if isinstance(each, Reply) else each
            if error is not None and not (good and type(error) in spares):
                raise error
        return good

    async def aask(self, messages: Messages, **options: Any) -> Reply:
        """Ask in the caller's event loop, with the parameters of `ask`; LangChain clients use a thread."""
        return await bridge.run(self.ask, messages, **options)

    def _request(self, messages: Messages, params: Mapping[str, Any], **fields: Any) -> ModelRequest:
        client = self._pipeline.connection.client
        soft = {name: value for name, value in self._soft.items() if name not in params}
        fields |= {"own_settings": client.own_settings, "address": client.address, "soft": frozenset(soft)}
        return ModelRequest.of(client.name, messages, {**soft, **self._merged(params)}, **fields)

    def _merged(self, params: Mapping[str, Any]) -> dict[str, Any]:
        for name in params:
            if belongs_to_connection(name):
                raise ModelError(f"{name} is a setting of the connection", hint="Pass it to LLM.connect.")
        return {name: value for name, value in {**self._params, **params}.items() if value is not None}


@dataclass
class _Models:
    """The settings of one `connect`, and the models opened with them; safe to use from many threads."""

    store: ResponseStore | None
    settings: Mapping[str, Any]  # of the provider of the first model
    allow_dropped: bool
    retries: int
    timeout: float
    prices: Prices | None
    _known: dict[tuple[Any, ...], Pipeline] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, model: str | BaseChatModel) -> Pipeline:
        """Connect to the first model. Raises as `LLM.connect` does."""
        if isinstance(model, str):
            client = ChatClient.named(model, self.timeout, self.settings)
        elif self.settings:
            raise ModelError(f"{', '.join(self.settings)} must be set on the chat model itself")
        else:
            client = GivenClient(model)
        if self.store is None or self.store.mode != "replay":  # a replay needs neither key nor package
            client.chat  # noqa: B018 - raises for a missing package or key now, not at the first question
        connection = Connection(client, self.prices, allow_dropped=self.allow_dropped)
        pipeline = Pipeline(connection, self.store, self.retries, self.timeout)
        self._known[client.name, None, None, None] = pipeline
        return pipeline

    def sibling(self, name: str, settings: Mapping[str, Any]) -> Pipeline:
        """Connect to another model, once. Where its `settings` are None, use the first model's."""
        first = next(iter(self._known))[0]
        key = (name, *settings.values())
        with self._lock:
            if key not in self._known:
                settings = {setting: value for setting, value in settings.items() if value is not None}
                is_same = name.partition(":")[0] == first.partition(":")[0]  # others get no key
                settings = {"settings": self.settings if is_same else {}, "prices": None, **settings}
                self._known[key] = replace(self, _known={}, **settings).open(name)
            return self._known[key]

"""Ask a chat model: `LLM`, with its parameters, as modules, planners and users have it."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from chameleon.budget import current_recorder
from chameleon.errors import EmptyReply, ModelError, Refused
from chameleon.llm.connection import Connection
from chameleon.llm.message import Messages, Reply, Request, canonical
from chameleon.llm.pipeline import Pipeline
from chameleon.llm.prices import Prices
from chameleon.llm.providers import belongs_to_connection, full_name
from chameleon.llm.store import ResponseStore
from chameleon.retry import Backoff

_OF_ONE_SAMPLE = (EmptyReply, ModelError, Refused)

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel


class LLM:
    """A chat model that can be asked from any thread.

        llm = LLM.connect("openai:gpt-6-luna", reasoning="none")
        print(llm.ask("What is the capital of France?").text)

    Views with other parameters (`with_params`) share the client, the store and the questions in flight;
    `with_model` is another model with the same store and settings. Inside a run, calls are booked on the
    run's meter and logged with its recorder.

    `max_tokens` bounds the visible answer: a model that thinks gets room for its thoughts on top of it.
    `reasoning` (none, minimal, low, medium, high) is what each provider calls it. A parameter that the model
    does not take is dropped, and told with the reply and in the log.
    """

    __slots__ = ("_options", "_params", "_pipeline", "_siblings")

    def __init__(
        self,
        pipeline: Pipeline,
        params: Mapping[str, Any],
        options: Mapping[str, Any],
        siblings: _Siblings,
    ) -> None:
        self._pipeline, self._params = pipeline, params
        self._options, self._siblings = options, siblings

    @classmethod
    def connect(
        cls,
        model: str | BaseChatModel,
        *,
        store: ResponseStore | None = None,
        retries: int | Backoff = 6,
        timeout: float = 120.0,
        prices: Prices | None = None,
        allow_dropped: bool = True,
        **params: Any,
    ) -> LLM:
        """Connect to "provider:name", to a bare OpenAI name, "scripted:FILE", or a LangChain chat model.

        `timeout` is in seconds, for a whole attempt; `prices` are US dollars per million input and output
        tokens (and cached input tokens, if these cost less), in place of those that the provider or
        `genai-prices` tells; `params` are the request's defaults (temperature, max_tokens, stop, reasoning,
        …) and the client's settings (api_key, base_url, …). Raises `MissingPackage`, `AuthFailed` or
        `NoModel`; without `allow_dropped`, a question raises `ParameterRefused` where the model does not take
        a parameter.
        """
        settings = {name: value for name, value in params.items() if belongs_to_connection(name)}
        defaults = {name: value for name, value in params.items() if name not in settings}
        options = {
            "store": store,
            "backoff": retries if isinstance(retries, Backoff) else Backoff(retries=retries),
            "timeout": timeout,
            "settings": settings,
            "allow_dropped": allow_dropped,
        }
        pipeline = _open(model, options, prices)
        return cls(pipeline, defaults, options, _Siblings({pipeline.connection.name: pipeline}))

    @property
    def name(self) -> str:
        """The model's full name, "provider:model"."""
        return self._pipeline.connection.name

    @property
    def address(self) -> str:
        """The server's address, where it is not the provider's own; else empty."""
        return self._pipeline.connection.address

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters that every request starts from."""
        return dict(self._params)

    def __repr__(self) -> str:
        return f"LLM({', '.join([repr(self.name), *(f'{k}={v!r}' for k, v in self._params.items())])})"

    def with_params(self, **params: Any) -> LLM:
        """A view with other default parameters; None removes one."""
        return LLM(self._pipeline, self._merged(params), self._options, self._siblings)

    def with_model(
        self,
        model: str,
        *,
        retries: int | None = None,
        timeout: float | None = None,
        prices: Prices | None = None,
    ) -> LLM:
        """Another model with the same parameters, store and settings; its client is made once.

        `retries`, `timeout` and `prices` are its own where they are given. Raises as `connect` does.
        """
        name = full_name(model)
        own = {"timeout": timeout, "backoff": None if retries is None else Backoff(retries=retries)}
        options = {**self._options, **{key: value for key, value in own.items() if value is not None}}
        if name.partition(":")[0] != self.name.partition(":")[0]:
            options["settings"] = {}  # keys and addresses are those of the other provider
        differs = (retries, timeout, prices and tuple(prices))
        known_as = f"{name} {differs}" if any(each is not None for each in differs) else name
        pipeline = self._siblings.get(known_as, partial(_open, name, options, prices))
        return LLM(pipeline, self._params, self._options, self._siblings)

    def dropped(self, **params: Any) -> Mapping[str, str]:
        """The parameters that the model would be asked without, and why, as far as that is known by now.

        `params` are added to the default ones.
        """
        return self._pipeline.connection.dropped(canonical(self._merged(params)))

    def ask(
        self,
        messages: Messages,
        *,
        sample: int = 0,
        schema: Mapping[str, Any] | None = None,
        whole: bool = True,
        **params: Any,
    ) -> Reply:
        """Ask once. `messages` is a user's text or pairs of role (system, user, assistant) and text.

        `sample` tells repeated questions apart; `schema`, a JSON Schema, asks for JSON text of that form.
        A reply that is cut off at `max_tokens` is asked for again with four times the room, twice at most,
        unless `whole` is False: then it is of use as it is.
        Raises `ModelError` (`RateLimited`, `ContextTooLong`, `AuthFailed`, `Refused`, `NoModel`,
        `ReplayMiss`), `BudgetExceeded` before a call that the budget forbids or when its seconds
        are over (a reply that comes later is still recorded), and `StoreError`.
        """
        request = self._request(messages, params, sample=sample, schema=schema, whole=whole)
        return self._told([request], self._pipeline.answer([request]))[0]

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
        """Ask for n samples at once, numbered from `first`, and return them in order.

        They are asked for in one request where the provider offers that (`n`): the prompt is paid once. A
        sample that is refused, empty or lost is left out; raises its error where no other is left, and
        whatever concerns all of them, such as a budget that is spent.
        """
        requests = [
            self._request(messages, params, sample=sample, schema=schema, whole=whole)
            for sample in range(first, first + n)
        ]
        return self._told(requests, self._pipeline.answer_samples(requests), spares=_OF_ONE_SAMPLE)

    def ask_each(
        self, prompts: Sequence[Messages], *, schema: Mapping[str, Any] | None = None, **params: Any
    ) -> list[Reply]:
        """Ask several different questions at once, and return the replies in their order.

        Raises the first error, if any.
        """
        requests = [self._request(messages, params, schema=schema) for messages in prompts]
        groups = self._pipeline.answer_each([[request] for request in requests])
        return self._told(requests, [replies[0] for replies in groups])

    def _told(
        self,
        requests: Sequence[Request],
        found: Sequence[Reply | BaseException],
        spares: tuple[type[ModelError], ...] = (),
    ) -> list[Reply]:
        """Log what was found for the requests; return the good replies, without errors of those classes.

        Raises the first other error, and any where no reply is left.
        """
        recorder = current_recorder()
        if recorder is not None:
            both = zip(requests, found, strict=True)
            recorder.calls += [reply.to_call(request) for request, reply in both if isinstance(reply, Reply)]
        errors = [each.error if isinstance(each, Reply) else each for each in found]
        good = [each for each in found if isinstance(each, Reply) and each.error is None]
        for error in errors:
            if error is not None and not (good and type(error) in spares):
                raise error
        return good

    async def aask(
        self,
        messages: Messages,
        *,
        sample: int = 0,
        schema: Mapping[str, Any] | None = None,
        whole: bool = True,
        **params: Any,
    ) -> Reply:
        """`ask` for coroutines: the same call in a thread, so that the event loop is never blocked."""
        import asyncio

        ask = partial(self.ask, messages, sample=sample, schema=schema, whole=whole, **params)
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._pipeline.threads, context.run, ask)

    def _request(self, messages: Messages, params: Mapping[str, Any], **others: Any) -> Request:
        to = self._pipeline.connection
        known = {"own_settings": to.own_settings, "address": to.address}
        return Request.of(to.name, messages, self._merged(params), **known, **others)

    def _merged(self, params: Mapping[str, Any]) -> dict[str, Any]:
        for name in params:
            if belongs_to_connection(name):
                raise ModelError(f"{name} is a setting of the connection", hint="Give it to LLM.connect.")
        return {name: value for name, value in {**self._params, **params}.items() if value is not None}


class _Siblings:
    """The models that were connected to beside the first, by name; safe to ask from many threads."""

    def __init__(self, known: dict[str, Pipeline]) -> None:
        self._known = known
        self._lock = threading.Lock()

    def get(self, name: str, make: Callable[[], Pipeline]) -> Pipeline:
        with self._lock:
            if name not in self._known:
                self._known[name] = make()
            return self._known[name]


def _open(model: str | BaseChatModel, options: Mapping[str, Any], prices: Prices | None) -> Pipeline:
    store: ResponseStore | None = options["store"]
    connection = Connection.open(
        model,
        options["timeout"],
        options["settings"],
        prices,
        # A replay never asks, so that it needs neither a key nor the provider's package.
        at_once=store is None or store.mode != "replay",
        allow_dropped=options["allow_dropped"],
    )
    return Pipeline(connection, store, options["backoff"], options["timeout"])

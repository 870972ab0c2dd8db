"""Ask one model: fit a request to it, send it, learn from what is refused, parse what comes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chameleon.errors import ModelError, NoModel, ParameterRefused
from chameleon.llm.capabilities import Capabilities, capabilities_of
from chameleon.llm.chat_client import ChatClient
from chameleon.llm.choose import offer, offered_models
from chameleon.llm.dialects import Dialect, OpenAIDialect, dialect_of
from chameleon.llm.failures import CallFailure, classify, message_of, says_too_long
from chameleon.llm.message import ModelRequest, Reply
from chameleon.llm.parameters import Fitted, fit, reasoning_fields
from chameleon.llm.parse_reply import parse_reply
from chameleon.llm.prices import Prices
from chameleon.llm.refusals import learn

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel

DROPPED = (
    "A figure would not be the method's: choose a model that takes it, or ask without thinking where that "
    "helps (reasoning: none), or allow it (allow_dropped=True)."
)
_UNSET = object()


@dataclass(frozen=True)
class WireRequest:
    """A request as it goes out: the client with its parameters, and what goes with the request itself."""

    chat: BaseChatModel
    extra: Mapping[str, Any]
    fitted: Fitted
    known: Capabilities


class Connection:
    """A model's client, made once and shared by all threads and all parameter settings.

    Parameters go into the fields of the client where it has such, and else with the request. What a server
    refuses is remembered; where `allow_dropped` is False, that is an error instead.
    """

    def __init__(
        self,
        model: str | BaseChatModel,
        timeout: float,
        settings: Mapping[str, Any],
        prices: Prices | None = None,
        *,
        at_once: bool = True,
        allow_dropped: bool = True,
    ) -> None:
        """Connect to a model by its name, or through a LangChain client; `at_once` or when first asked."""
        if isinstance(model, str):
            self.client = ChatClient.named(model, timeout, settings)
        elif settings:
            raise ModelError(f"{', '.join(settings)} must be set on the chat model itself")
        else:
            self.client = ChatClient.given(model)
        if at_once:
            self.client.chat  # noqa: B018 - a missing package or key is an error now, not at the first question
        self.name, self.allow_dropped = self.client.name, allow_dropped
        self._prices = prices
        self._lock = threading.Lock()
        self._learned: Capabilities | None = None

    @property
    def is_scripted(self) -> bool:
        """Tell whether replies come from a script, at once."""
        return self.name.startswith("scripted:")

    @property
    def known(self) -> Capabilities:
        """Return what is known of the model by now."""
        return self._learned or self._known_beforehand

    @cached_property
    def _known_beforehand(self) -> Capabilities:
        return capabilities_of(self.name, getattr(self.client.chat, "profile", None))

    @cached_property
    def _dialect(self) -> Dialect:
        return dialect_of(self.client.chat)(self.client.chat, self.name)

    def dropped(self, params: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the parameters that the model would be asked without, and why, as far as is known by now."""
        return self._fit(params, 0).dropped

    def refused(self, dropped: Mapping[str, str], asked: Mapping[str, Any]) -> ParameterRefused:
        """Return the error for parameters that a method sets and this model does not take."""
        told = "; ".join(f"{name}: {json.dumps(asked.get(name))} ({why})" for name, why in dropped.items())
        return ParameterRefused(f"{self.name} does not take {told}", hint=DROPPED)

    def can_widen(self, request: ModelRequest, widened: int) -> bool:
        """Tell whether the limit grows by widening it once more."""
        before, after = (
            self._fit(request.params, times).sent.get("max_tokens", 0) for times in (widened - 1, widened)
        )
        return bool(after > before)

    def samples_at_once(self, request: ModelRequest) -> int:
        """Return how many samples of this request can be had in one."""
        # With a seed each sample has one of its own.
        is_one = "n" in self.known.refuses or "seed" in request.params
        return 1 if is_one else self._dialect.samples_at_once(self.known)

    def send(self, request: ModelRequest, *, n: int = 1, widened: int = 0) -> list[Reply]:
        """Make one request, for `n` samples at once; raise whatever the provider's client raises.

        A parameter that is refused is left out from then on, and the request is made again without it.

        Args:
            widened: how often to widen the limit.

        Raises:
            ParameterRefused: A parameter is not taken, and that is not allowed.
        """
        wire = self._prepare(request, n, widened)
        while True:
            if wire.fitted.dropped and not self.allow_dropped:
                raise self.refused(wire.fitted.dropped, request.params)
            try:
                messages = self._dialect.invoke(wire.chat, request, wire.extra, wire.known)
                break
            except Exception as error:
                if not self._learn(error, request, wire, widened):
                    raise
                wire = self._prepare(request, n, widened)
        secrets = self.client.secrets
        replies = [
            replace(
                parse_reply(message, self.name, self._prices, cut_at=wire.fitted.cut_at, secrets=secrets),
                dropped=wire.fitted.dropped,
            )
            for message in messages[:n]
        ]
        self._learn_from(replies, n, "reasoning" in wire.fitted.sent)
        # One request was paid, whichever of its samples is looked at.
        return replies[:1] + [reply.unpaid() for reply in replies[1:]]

    def failure(self, error: Exception) -> CallFailure:
        """Classify what `send` raised; an unknown model gets the list of what the server offers."""
        failure = classify(error, model=self.name, secrets=self.client.secrets)
        if isinstance(failure.error, NoModel) and not failure.error.hint:
            hint = (
                offer(self._offered, self.name.partition(":")[2])
                or "Check the model's name with the provider."
            )
            return CallFailure(NoModel(failure.error.what, hint=hint))
        return failure

    @cached_property
    def _offered(self) -> list[str]:
        """List the models of an OpenAI-compatible server; none of others, and where it does not say."""
        if isinstance(self._dialect, OpenAIDialect):
            with suppress(Exception):  # the list is a courtesy: the error stands without it
                return offered_models(self.client.chat)
        return []

    def _learn(self, error: Exception, request: ModelRequest, wire: WireRequest, widened: int) -> bool:
        """Remember what an error teaches; tell whether the request is to be made again."""
        limit = {**self.client.own_params, **request.params}.get("max_tokens", 0)
        with self._lock:
            if self.known != wire.known:
                return True  # another thread may have learned it first
            asked, secrets = wire.extra.get("n", 1), self.client.secrets
            learned = learn(error, self.known, wire.fitted, limit=limit, n=asked, secrets=secrets)
            if learned is None:
                return False
            self._learned = learned
        # A prompt that fits with a limit less wide was answered already.
        is_full = widened and says_too_long(message_of(error))
        return not is_full or self.can_widen(request, widened)

    def _learn_from(self, replies: list[Reply], n: int, was_told_to: bool) -> None:
        """Remember what replies teach: whether the model thinks by itself, or gives one sample at a time."""
        is_spent = any(reply.truncated and not reply.text.strip() for reply in replies)
        has_thought = any(reply.usage.reasoning_tokens for reply in replies) and not was_told_to
        with self._lock:
            known = self.known
            if is_spent or has_thought:
                known = replace(known, thinks=True)
            if len(replies) < n:
                known = replace(known, refuses={**known.refuses, "n": "it gives one sample at a time"})
            self._learned = known

    def _fit(self, params: Mapping[str, Any], widened: int) -> Fitted:
        return fit({**self.client.own_params, **params}, self.known, widened=widened)

    def _prepare(self, request: ModelRequest, n: int, widened: int) -> WireRequest:
        """Write a request as it goes out, by what is known of the model by now."""
        client, known = self.client, self.known
        own, fitted = client.own_params, fit({**client.own_params, **request.params}, known, widened=widened)
        # What stays as the client has it goes without saying; what it is not to send is cleared.
        sent = {name: value for name, value in fitted.sent.items() if own.get(name, _UNSET) != value}
        others = (name for name, value in own.items() if fitted.sent.get(name, _UNSET) != value)
        fields: dict[str, Any] = {str(client.field(name)): None for name in others}
        extra: dict[str, Any] = {}
        if (effort := sent.pop("reasoning", None)) is not None:
            told = reasoning_fields(type(client.chat).model_fields, effort, self.name)
            # A client that has no field for it may still know it, or refuse it by name.
            fields, extra = (
                (fields | told, {}) if told is not None else (fields, {"reasoning_effort": effort})
            )
        if request.sample and "seed" in sent:
            sent["seed"] += request.sample  # one seed for all samples would make them all the same
        extra |= self._dialect.with_request(request, sent, known)
        for param, value in sent.items():
            goes_along = param == "stop" and self._dialect.passes_stop(request)
            field = None if goes_along else client.field(param)
            (extra if field is None else fields)[field or param] = value
        if n > 1 and "n" not in known.refuses:
            extra["n"] = n
        chat = client.chat.model_copy(update=fields) if fields else client.chat
        return WireRequest(chat, extra, fitted, known)

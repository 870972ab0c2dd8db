"""Ask one model: adapt a request to it, send it, learn from refusals, and parse the reply."""

import json
import logging
import os
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from chameleon.errors import ChameleonError, ContextTooLong, NoModel, ParameterRefused
from chameleon.lazy import cached_property
from chameleon.llm.capabilities import Capabilities, capabilities_of
from chameleon.llm.chat_clients import ChatClient
from chameleon.llm.dialects import Dialect, OpenAIDialect, Tell, WireRequest, dialect_of
from chameleon.llm.failures import CallFailure, classify
from chameleon.llm.message import ModelRequest, Reply
from chameleon.llm.model_choice import nearest_offered, offered_models
from chameleon.llm.pace import Pace, pace_of
from chameleon.llm.parameters import IN_CHAT, Fitted, efforts_of, fit, learn, reasoning_fields
from chameleon.llm.parse_reply import fault, parse_reply
from chameleon.llm.prices import Prices, Pricing
from chameleon.llm.providers import is_openai_itself
from chameleon.usage import Usage

_HINT = (
    "The result would not follow the method: choose a model that accepts it, ask without thinking if that "
    "helps (reasoning: none), or allow it (allow_dropped=True)."
)
Offer = Literal["known", "try", ""]
Outcome = list[Reply] | CallFailure
REFUSED = {"schema": ("a schema", "for the form in text"), "tools": ("tools", "without them")}
_UNSET = object()
# OpenAI's other API, which allows tools with models that think; it stores nothing between requests.
_RESPONSES_API = {"use_responses_api": True, "store": False, "include": ["reasoning.encrypted_content"]}
# OpenAI's error 400 for a reply without text, because thinking used up the limit.
_THINKING_LIMIT = re.compile(r"could not finish the message because max_\w*tokens", re.IGNORECASE)

_log = logging.getLogger(__name__)


class Connection:
    """A model's client, created once and shared by all threads and all parameter settings.

    Parameters go through the provider's constructor if the client has fields for them, so that LangChain's
    knowledge of the model applies, and otherwise with the request. Refused parameters are remembered; with
    `allow_dropped` False, they raise an error instead.
    """

    def __init__(self, client: ChatClient, prices: Prices | None, *, allow_dropped: bool = True) -> None:
        self.client, self.allow_dropped = client, allow_dropped
        self.name = client.name
        self._pricing = Pricing(client.name, prices)
        self._lock, self._listing = threading.Lock(), threading.Lock()
        self._learned: Capabilities | None = None
        self._unsure: set[str] = set()
        # A script has no server.
        self.pace = Pace() if client.is_scripted else pace_of(self.name, client.address, client.secrets)

    @property
    def ends_in_time(self) -> bool:
        """Return whether a request ends by itself at its timeout; scripted replies are immediate."""
        return self.client.is_scripted or getattr(self.client.chat, "ends_in_time", False)

    @cached_property
    def capabilities(self) -> Capabilities:
        """Return what is known about the model before it is asked."""
        try:
            chat = self.client.chat
        except ChameleonError:  # a replay needs neither its package nor a key
            return capabilities_of(self.name)
        capabilities = capabilities_of(self.name, getattr(chat, "profile", None))
        if capabilities.efforts or capabilities.thinking == "budget":
            return capabilities
        return replace(capabilities, efforts=efforts_of(type(chat).model_fields))

    @property
    def known(self) -> Capabilities:
        """Return what is known about the model so far."""
        return self._learned or self.capabilities

    def offers(self, what: str) -> Offer:
        """Return whether the model accepts a "schema" for its replies, or "tools".

        It is "known" to, or worth a "try": an unknown model, or the user's own server. Something refused or
        ignored is not offered again, and something that worked is known.
        """
        known = self.known
        if what in known.without:
            return ""
        if getattr(known, what):
            return "known"
        is_own = bool(self.client.address) and not is_openai_itself(self.client.address)
        return "try" if (is_own or not known.is_known) and not self.client.is_scripted else ""

    def learn(self, what: str, *, works: bool | None, why: str = "refused") -> None:
        """Remember whether the model accepts a "schema" or "tools"; log a warning if it does not.

        Args:
            works: None if the reply did not show it; the second time that counts as no.
            why: the verb of the warning, such as "refused" or "ignored".
        """
        with self._lock:
            is_unsure = works is None and what not in self._unsure
            if what in self.known.without or is_unsure:  # another thread tried it too
                self._unsure.add(what)
                return
            facts: dict[str, Any] = {what: True} if works else {"without": self.known.without | {what}}
            self._learned = replace(self.known, **facts)
        if not works:
            feature, instead = REFUSED[what]
            why = "used none of" if works is None else why
            _log.warning("%s %s %s: continuing %s", self.name, why, feature, instead)

    def fit(self, request: ModelRequest, widened: int = 0) -> Fitted:
        """Fit the request's parameters to what is known about the model so far."""
        return fit({**self.client.own_params, **request.params}, self.known, widened, request.soft)

    def dropped(self, params: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the parameters that would be dropped for the model, and why, as known so far."""
        return fit({**self.client.own_params, **params}, self.known).dropped

    def refused(self, dropped: Mapping[str, str], params: Mapping[str, Any]) -> ParameterRefused:
        """Return the error for parameters that a method sets and this model does not accept."""
        each = "; ".join(f"{name}: {json.dumps(params.get(name))} ({why})" for name, why in dropped.items())
        return ParameterRefused(f"{self.name} does not take {each}", hint=_HINT, code="dropped-parameter")

    def samples_at_once(self, request: ModelRequest) -> int:
        """Return how many samples one request can return."""
        # With a seed, each sample has its own seed.
        is_one = "n" in self.known.without or "seed" in request.params
        return 1 if is_one else self._dialect.max_samples

    def send(self, request: ModelRequest, fitted: Fitted, n: int = 1, on_text: Tell | None = None) -> Outcome:
        """Make one request for `n` samples; return their replies, or the failure.

        A refused parameter is dropped from then on, and the request is repeated without it.

        Args:
            on_text: called with the pieces of the text as they arrive, if the model can stream.
        """
        # Another thread may have learned something meanwhile.
        again: Fitted | None = fitted if fitted.known is self.known else self.fit(request, fitted.widened)
        while again is not None:
            fitted = again
            try:
                if fitted.dropped and not self.allow_dropped:
                    raise self.refused(fitted.dropped, request.params)
                wire = self._write(request, fitted, n, on_text)
                messages = wire.dialect.ask(wire)
            except Exception as error:
                failure = self.failure(error)
            else:
                return self._parsed(messages, request, fitted, n)
            if failure.status == 400 and _THINKING_LIMIT.search(failure.message):
                with self._lock:
                    self._learned = replace(self.known, thinks=True)
                why = fault(self.name, "", "length")  # it is not charged
                spent = Reply("", "length", Usage(calls=1), model=self.name, error=why)
                return [spent] + [spent.unpaid()] * (n - 1)
            again = self._again(failure, request, fitted, n)
        return failure

    def failure(self, error: Exception) -> CallFailure:
        """Classify the error of a request."""
        return classify(error, model=self.name, secrets=self.client.secrets)

    def explained(self, failure: CallFailure) -> CallFailure:
        """Add the server's models to a failure if it does not know the model."""
        error, model = failure.error, self.name.partition(":")[2]
        # Some servers fail instead of replying 404 when they do not have the model.
        if failure.status == 500 and self._offered and model not in self._offered:
            error = NoModel(f"{self.name} is not a model of this server, which failed (500)")
        if not isinstance(error, NoModel) or error.hint:
            return failure
        hint = nearest_offered(model, self._offered) or "Check the model's name with the provider."
        return CallFailure(NoModel(error.what, hint=hint))

    @cached_property
    def _dialect(self) -> Dialect:
        return dialect_of(self.client.chat, self.name, self.capabilities)

    @cached_property
    def _by_responses(self) -> Dialect:
        return OpenAIDialect(self.client.view(_RESPONSES_API), self.name, self.capabilities)

    @property
    def _offered(self) -> list[str]:
        """List the models of an OpenAI-compatible server, once; empty for other providers."""
        with self._listing:  # many calls may fail at once
            return self._listed

    @cached_property
    def _listed(self) -> list[str]:
        dialect, chat = self._dialect, self.client.chat
        key = getattr(chat, "api_key", None) or getattr(chat, "openai_api_key", None)
        reveal = getattr(key, "get_secret_value", lambda: os.environ.get("OPENAI_API_KEY"))
        with suppress(NoModel):  # the list is optional: the error is clear without it
            if isinstance(dialect, OpenAIDialect):
                return offered_models(dialect.address, reveal())
        return []

    def _write(self, request: ModelRequest, fitted: Fitted, n: int, on_text: Tell | None) -> WireRequest:
        """Convert a request to the form that is sent."""
        client, known = self.client, fitted.known
        by_responses = bool(request.tools) and IN_CHAT in known.without
        dialect = self._by_responses if by_responses else self._dialect
        defaults = client.own_params
        # Values the client already has are not sent.
        sent = {name: value for name, value in fitted.sent.items() if defaults.get(name, _UNSET) != value}
        cleared = frozenset(name for name in defaults if fitted.sent.get(name, _UNSET) != defaults[name])
        fields: dict[str, Any] = {}
        options: dict[str, Any] = {}
        if (effort := sent.pop("reasoning", None)) is not None:
            settings = reasoning_fields(type(client.chat).model_fields, effort, known, self.name)
            # A client without a field for it may still accept it, or refuse it by name.
            fields, options = (settings, {}) if settings else ({}, {"reasoning_effort": effort})
        if request.sample and "seed" in sent:
            sent["seed"] += request.sample  # the same seed would make all samples equal
        dialect.add(request, sent, options, known.limit_name)
        for param, value in sent.items():
            field = client.field(param)
            (options if field is None else fields)[field or param] = value
        chat = client.view({**fields, **(_RESPONSES_API if by_responses else {})}, cleared)
        if n > 1 and "n" not in known.without:
            options["n"] = n
        on_text = None if request.schema is not None or "stream" in known.without else on_text
        return WireRequest(request, dialect, known, chat, options, on_text)

    def _again(self, failure: CallFailure, request: ModelRequest, fitted: Fitted, n: int) -> Fitted | None:
        """Learn from a failure; return the request adapted to it, or None if it would fail again."""
        with self._lock:
            known = self.known
            if known == fitted.known:  # otherwise another thread learned something: try that first
                learned = learn(failure, fitted, n, self.client.secrets)
                if learned is None or learned == known:
                    return None
                self._learned = learned
        again = self.fit(request, fitted.widened)
        # A prompt that fits with a smaller limit has already been answered.
        is_full = fitted.widened and isinstance(failure.error, ContextTooLong)
        return None if is_full and again.limit <= self.fit(request, fitted.widened - 1).limit else again

    def _parsed(self, messages: Sequence[Any], request: ModelRequest, fitted: Fitted, n: int) -> list[Reply]:
        """Parse the messages of `n` samples, and remember what they show about the model."""
        settings: dict[str, Any] = {"has_tools": bool(request.tools), "secrets": self.client.secrets}
        settings |= {"stops": fitted.cut_at, "dropped": fitted.dropped}
        replies = [parse_reply(message, self._pricing, **settings) for message in messages[:n]]
        is_short = len(messages) < n
        is_spent = any(each.truncated and not each.text.strip() and not each.tool_calls for each in replies)
        has_thought = "reasoning" not in fitted.sent and any(each.usage.reasoning_tokens for each in replies)
        if is_short or ((is_spent or has_thought) and not self.known.thinks):
            with self._lock:
                known = self.known.without_also("n") if is_short else self.known
                self._learned = replace(known, thinks=known.thinks or is_spent or has_thought)
        # Only the first sample counts the cost, because one request was paid.
        return replies[:1] + [reply.unpaid() for reply in replies[1:]]

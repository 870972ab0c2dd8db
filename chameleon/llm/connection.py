"""Ask one model: fit a request to it, send it, learn from what is refused, parse what comes back."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from chameleon.errors import ChameleonError, NoModel, ParameterRefused
from chameleon.lazy import cached_property
from chameleon.llm.capabilities import Capabilities, capabilities_of
from chameleon.llm.chat_clients import ChatClient
from chameleon.llm.choose import nearest_offered, offered_models
from chameleon.llm.dialects import Dialect, OpenAIDialect, Tell, WireRequest, dialect_of
from chameleon.llm.failures import CallFailure, classify, message_of, says_too_long, status_of
from chameleon.llm.message import ModelRequest, Reply
from chameleon.llm.pace import Pace, pace_of
from chameleon.llm.parameters import Fitted, ModelQuirks, efforts_of, fit, reasoning_fields
from chameleon.llm.parse_reply import fault, parse_reply
from chameleon.llm.prefixes import Prefixes
from chameleon.llm.prices import Prices, Pricing
from chameleon.llm.providers import is_openai_itself
from chameleon.llm.quirks import IN_CHAT, learn_from_error, learn_from_replies
from chameleon.usage import Usage

_DROPPED = (
    "A figure would not be the method's: choose a model that takes it, or ask without thinking where that "
    "helps (reasoning: none), or allow it (allow_dropped=True)."
)
Offer = Literal["known", "try", ""]
REFUSED = {"schema": ("a schema", "for the form in text"), "tools": ("tools", "without them")}
_UNSET = object()
# OpenAI's other API, which takes tools also of models that think; nothing is left with it between requests.
_BY_RESPONSES = {"use_responses_api": True, "store": False, "include": ["reasoning.encrypted_content"]}
_THOUGHT_TO_THE_LIMIT = re.compile(r"could not finish the message because max_\w*tokens", re.IGNORECASE)

_log = logging.getLogger(__name__)


class Connection:
    """A model's client, made once and shared by all threads and all parameter settings.

    Parameters go through the provider's constructor where the client has such fields, so that what LangChain
    knows of a model holds, and else with the request. What a server refuses is remembered; where
    `allow_dropped` is False, that is an error instead.
    """

    def __init__(self, client: ChatClient, prices: Prices | None, *, allow_dropped: bool = True) -> None:
        self.client, self.allow_dropped = client, allow_dropped
        self.name, self.address = client.name, client.address
        self.has_name, self.own_settings = client.has_name, client.own_settings
        self._pricing = Pricing(client.name, prices)
        self._lock = threading.Lock()
        self._quirks, self._proven, self._unsure = ModelQuirks(), set[str](), set[str]()
        self._prefixes = Prefixes()
        # A script is nobody's server.
        self.pace = Pace() if client.is_scripted else pace_of(self.name, self.address, client.secrets)

    @property
    def ends_in_time(self) -> bool:
        """Tell whether a request ends by itself at its timeout; replies of a script come at once."""
        return self.client.is_scripted or getattr(self.client.chat, "ends_in_time", False)

    @cached_property
    def capabilities(self) -> Capabilities:
        """Look up what is known of the model before it is asked."""
        try:
            chat = self.client.chat
        except ChameleonError:  # a replay needs neither its package nor a key
            return capabilities_of(self.name)
        known = capabilities_of(self.name, getattr(chat, "profile", None))
        if known.efforts or known.thinking == "budget":
            return known
        return replace(known, efforts=efforts_of(type(chat).model_fields))

    def offers(self, what: str) -> Offer:
        """Tell whether it takes a "schema" for its replies, or "tools".

        It is "known" to, or worth a "try": a model that nobody knows, or a server of the user's own. What was
        refused or ignored is not offered again, and what worked is known.
        """
        told = self.capabilities
        if what in self._quirks.without:
            return ""
        if what in self._proven or {"schema": told.structured, "tools": told.tools}[what]:
            return "known"
        is_own = bool(self.address) and not is_openai_itself(str(self.address))
        return "try" if (is_own or not told.is_known) and not self.client.is_scripted else ""

    def learn(self, what: str, *, works: bool | None, why: str = "refused") -> None:
        """Remember whether it takes a "schema", or "tools"; say so where it does not.

        `works` is None where the reply did not show it: the second time it counts as no.
        """
        with self._lock:
            if what in self._quirks.without:  # another thread has tried it, too
                return
            if works or (works is None and what not in self._unsure):
                (self._proven if works else self._unsure).add(what)
                return
            self._quirks = self._quirks.without_also(what)
        named, instead = REFUSED[what]
        why = "used none of" if works is None else why
        _log.warning("%s %s %s: it is asked %s from now on", self.name, why, named, instead)

    @cached_property
    def _dialect(self) -> Dialect:
        chat = self.client.chat
        return dialect_of(chat)(chat, self.name, self.capabilities)

    @cached_property
    def _by_responses(self) -> Dialect:
        return OpenAIDialect(self.client.view(_BY_RESPONSES, frozenset())[0], self.name, self.capabilities)

    def dropped(self, params: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the parameters that the model would be asked without, and why, as far as is known by now."""
        return self._prepare(ModelRequest(self.name, (("user", ""),), params), 1, 0).fitted.dropped

    def refused(self, dropped: Mapping[str, str], asked: Mapping[str, Any]) -> ParameterRefused:
        """Return the error for parameters that a method sets and this model does not take."""
        told = "; ".join(f"{name}: {json.dumps(asked.get(name))} ({why})" for name, why in dropped.items())
        what = f"{self.name} does not take {told}"
        return ParameterRefused(what, hint=_DROPPED, code="dropped-parameter")

    def can_widen(self, request: ModelRequest, widened: int) -> bool:
        """Tell whether the limit grows by widening it once more."""
        before, after = (
            self._fit(request, times).sent.get("max_tokens", 0) for times in (widened - 1, widened)
        )
        return bool(after > before)

    def samples_at_once(self, request: ModelRequest) -> int:
        """Return how many samples of this request can be had in one."""
        # With a seed each sample has one of its own.
        is_one = "n" in self._quirks.without or "seed" in request.params
        return 1 if is_one else self._dialect.samples_at_once()

    def send(
        self, request: ModelRequest, *, n: int = 1, widened: int = 0, tell: Tell | None = None
    ) -> list[Reply]:
        """Make one request, for `n` samples at once; raise whatever the provider's client raises.

        A parameter that is refused is left out from then on, and the request is made again without it.

        Args:
            widened: how often to widen the limit.
            tell: is called with the pieces of the text as they come, where the model can be asked for them.

        Raises:
            ParameterRefused: A parameter is not taken, and that is not allowed.
        """
        prepared = self._prepare(request, n, widened, tell)
        while True:
            fitted = prepared.fitted
            dropped = {name: why for name, why in fitted.dropped.items() if name not in request.soft}
            if dropped and not self.allow_dropped:
                raise self.refused(dropped, request.params)
            try:
                messages = prepared.dialect.invoke(prepared, request)
                break
            except Exception as error:
                if status_of(error) == 400 and _THOUGHT_TO_THE_LIMIT.search(message_of(error)):
                    with self._lock:
                        self._quirks = replace(self._quirks, thinks=True)
                    why = fault(self.name, "", "length")  # nothing is paid for it
                    spent = Reply("", "length", Usage(calls=1), model=self.name, error=why)
                    return [spent] + [spent.unpaid()] * (n - 1)
                if not self._learn(error, request, prepared, widened):
                    raise
                refused, prepared = prepared, self._prepare(request, n, widened, tell)
                if prepared.quirks == refused.quirks:
                    raise
        cut_at, secrets = fitted.cut_at, self.client.secrets
        known: dict[str, Any] = {"cut_at": cut_at, "dropped": dropped, "secrets": secrets}
        known["has_tools"] = bool(request.tools)
        replies = [parse_reply(message, self._pricing, **known) for message in messages[:n]]
        with self._lock:
            self._quirks = learn_from_replies(messages, replies, n, self._quirks, fitted)
        # One request was paid, whichever of its samples is looked at.
        return replies[:1] + [reply.unpaid() for reply in replies[1:]]

    def failure(self, error: Exception) -> CallFailure:
        """Classify what `send` raised; an unknown model gets the list of what the server offers."""
        failure = classify(error, model=self.name, secrets=self.client.secrets)
        wanted = self.name.partition(":")[2]
        if status_of(error) == 500 and self._offered and wanted not in self._offered:
            failure = CallFailure(NoModel(f"{self.name} is not a model of this server, which failed (500)"))
        if isinstance(failure.error, NoModel) and not failure.error.hint:
            hint = nearest_offered(wanted, self._offered) or "Check the model's name with the provider."
            return CallFailure(NoModel(failure.error.what, hint=hint))
        return failure

    @cached_property
    def _offered(self) -> list[str]:
        """List the models of an OpenAI-compatible server; none of other providers."""
        dialect, chat = self._dialect, self.client.chat
        key = getattr(chat, "api_key", None) or getattr(chat, "openai_api_key", None)
        reveal = getattr(key, "get_secret_value", lambda: os.environ.get("OPENAI_API_KEY"))
        with suppress(NoModel):  # the list is a courtesy: the error says enough without it
            if isinstance(dialect, OpenAIDialect):
                return [*offered_models(str(dialect.address), reveal())]
        return []

    def _learn(self, error: Exception, request: ModelRequest, prepared: WireRequest, widened: int) -> bool:
        """Remember what an error teaches; tell whether the request is to be made again."""
        with self._lock:
            if self._quirks != prepared.quirks:  # another thread has learned something: first try with that
                return True
            quirks = learn_from_error(
                error,
                self._quirks,
                prepared.fitted,
                limit={**self.client.own_params, **request.params}.get("max_tokens", 0),
                n=prepared.extra.get("n", 1),
                secrets=self.client.secrets,
            )
            if quirks is None:
                return False
            self._quirks = quirks
        # A prompt that fits with a limit less wide was answered already.
        is_full = widened and says_too_long(message_of(error))
        return not is_full or self.can_widen(request, widened)

    def _fit(self, request: ModelRequest, widened: int) -> Fitted:
        asked = {**self.client.own_params, **request.params}
        return fit(asked, self.capabilities, self._quirks, widened=widened)

    def _prepare(self, request: ModelRequest, n: int, widened: int, tell: Tell | None = None) -> WireRequest:
        """Write a request as it goes out, by what is known of the model by now."""
        client, quirks = self.client, self._quirks
        by_responses = bool(request.tools) and IN_CHAT in quirks.without
        dialect = self._by_responses if by_responses else self._dialect
        own, fitted = client.own_params, self._fit(request, widened)
        # What stays as the client has it goes without saying.
        sent = {name: value for name, value in fitted.sent.items() if own.get(name, _UNSET) != value}
        cleared = frozenset(name for name in own if fitted.sent.get(name, _UNSET) != own[name])
        fields: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        if (effort := sent.pop("reasoning", None)) is not None:
            known = quirks.applied_to(self.capabilities)
            told = reasoning_fields(type(client.chat).model_fields, effort, known, self.name)
            # A client that has no field for it may still know it, or refuse it by name.
            fields, extra = (told, {}) if told is not None else ({}, {"reasoning_effort": effort})
        if request.sample and "seed" in sent:
            sent["seed"] += request.sample  # one seed for all samples would make them all the same
        dialect.add(request, sent, extra, quirks)
        names: dict[str, str] = {}
        for param, value in sent.items():
            field = client.field(param)
            (extra if field is None else fields)[field or param] = value
            names[field or param] = param
        chat, left_out = client.view({**fields, **(_BY_RESPONSES if by_responses else {})}, cleared)
        gone = {names[field]: "its client leaves it out" for field in left_out if field in names}
        if n > 1 and "n" not in quirks.without:
            extra["n"] = n
        shared = 0 if "cache_control" in quirks.without else self._prefixes.shared_length(request.messages)
        fitted = replace(fitted, dropped={**fitted.dropped, **gone})
        tell = None if request.schema is not None or "stream" in quirks.without else tell
        return WireRequest(chat, dialect, extra, fitted, shared, tell, quirks)

"""One LangChain chat model: send it a request, get back its messages or a classified failure."""

from __future__ import annotations

import difflib
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from chameleon.errors import ChameleonError, ModelError, NoModel, ParameterRefused
from chameleon.llm.capabilities import Capabilities, capabilities_of
from chameleon.llm.failures import classify, message_of, says_too_long, status_of
from chameleon.llm.illustrated import Illustrated, content_of
from chameleon.llm.message import Request
from chameleon.llm.parameters import BUDGETS, Fitted, Learned, efforts_of, fit, reasoning_fields
from chameleon.llm.prefixes import Prefix, Prefixes, split_at
from chameleon.llm.prices import Pricing
from chameleon.llm.probe import Probe
from chameleon.llm.providers import (
    base_url,
    belongs_to_connection,
    full_name,
    is_openai_itself,
    make_client,
    offered_models,
    own_server,
    secrets_in,
    secrets_of,
    without_own_retries,
)
from chameleon.llm.reading import FINISHES, Reading, read_message
from chameleon.llm.refusals import OURS, Refusal, refusal_of
from chameleon.llm.response_format import response_format
from chameleon.retry import Failure
from chameleon.text import known_secrets, mask_known, one_line, redact

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

# Providers' words for one parameter, where LangChain did not settle them.
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "max_tokens": ("max_output_tokens", "num_predict", "max_new_tokens"),
    "stop": ("stop_sequences",),
}
DROPPED = (
    "A figure would not be the method's: choose a model that takes it, or ask without thinking where that "
    "helps (reasoning: none), or allow it (--allow-dropped, in Python allow_dropped=True)."
)
_ADDRESS_FIELD = re.compile(r"(?:^|_)(?:base_url|api_base|endpoint|host|url)$")
_OWN_ADDRESSES = {
    "anthropic": "//api.anthropic.com",
    "deepseek": "//api.deepseek.com",
    "fireworks": "//api.fireworks.ai",
    "google_genai": ".googleapis.com",
    "groq": "//api.groq.com",
    "mistralai": "//api.mistral.ai",
    "openrouter": "//openrouter.ai",
    "together": "//api.together.",
    "xai": "//api.x.ai",
}
_MODEL_NAMES = ("model_name", "model", "model_id", "repo_id", "model_path", "endpoint_url")
_OF_ALL = ("temperature", "top_p", "max_tokens", "seed", "logprobs")
_UNSET = object()
_IN_PAYLOAD = ("temperature", "top_p", "seed")  # what a client may still leave out when it writes a request
_THOUGHT_TO_THE_LIMIT = re.compile(r"could not finish the message because max_\w*tokens", re.IGNORECASE)
_MOST_LISTED = 8
_FEW_SAMPLES, _MOST_SAMPLES = 8, 128
_MOST_VIEWS = 256
_LEAST_SPARE = 1_024  # tokens; to try with less is not worth a request


@dataclass(frozen=True)
class Sent:
    """A request that was answered: LangChain's messages, one for each sample, and how it was asked."""

    messages: tuple[AIMessage, ...]  # none where thinking took up all of the limit
    fitted: Fitted


@dataclass(frozen=True)
class _Prepared:
    """A request as it goes out: the client with its parameters, and what goes with the request itself."""

    chat: BaseChatModel
    extra: dict[str, Any]
    fitted: Fitted
    prefix: Prefix | None

    def differs(self, other: _Prepared) -> bool:
        """Whether the other goes out in another form."""
        mine, others = (
            (each.chat, each.fitted.sent, each.extra, each.prefix is None) for each in (self, other)
        )
        return mine != others


class Connection:
    """A client that is made once and shared by all threads and all parameter settings.

    `name` is "provider:model". Parameters go through the provider's constructor where the client has such
    fields, so that what LangChain knows of a model holds, and else with the request. `make` is None for a
    client that the user made: then they go with its requests, and what it is set to counts as asked for. What
    a server refuses is remembered; where `allow_dropped` is False, that is an error instead.
    """

    def __init__(
        self,
        make: Callable[[Mapping[str, Any]], BaseChatModel] | None,
        name: str,
        secrets: Iterable[str] = (),
        own_settings: Mapping[str, Any] | None = None,
        address: str = "",
        *,
        allow_dropped: bool = True,
        has_name: bool = True,
    ) -> None:
        self._make = make
        self.name = name
        self.has_name = has_name
        self.own_settings = dict(own_settings or {})
        self.address = address
        self.allow_dropped = allow_dropped
        self._secrets = tuple(secrets)
        self._held = known_secrets(self._secrets)  # now, when the client takes its key: looking takes a while
        self._views: dict[str, tuple[BaseChatModel, frozenset[str]]] = {}
        self._fields: dict[str, str | None] = {}
        self._lock = threading.Lock()
        self._learned = Learned()
        self._without: frozenset[str] = frozenset()  # of our own parameters, those that were refused
        self._probe, self._prefixes = Probe(), Prefixes()
        self._offer: list[str] | None = None

    @classmethod
    def open(
        cls,
        model: str | BaseChatModel,
        timeout: float,
        settings: Mapping[str, Any],
        *,
        at_once: bool = True,
        allow_dropped: bool = True,
    ) -> Connection:
        """Connect to a model by its name, or through a LangChain client; `at_once` or when first asked."""
        if isinstance(model, str):
            name = full_name(model)
            address = own_server(name.partition(":")[0], settings)
            make = partial(make_client, name, timeout, settings)
            opened = cls(make, name, secrets_in(settings), address=address, allow_dropped=allow_dropped)
        elif settings:
            raise ModelError(f"{', '.join(settings)} must be set on the chat model itself")
        else:
            name, has_name = _name_of(model)
            own, address = _settings_of(model), _address_of(model)
            held, given = secrets_of(model), without_own_retries(model)
            opened = cls(None, name, held, own, address, allow_dropped=allow_dropped, has_name=has_name)
            opened.chat = given
        if at_once:
            opened.chat  # noqa: B018 - a missing package or key is an error now, not at the first question
        return opened

    @property
    def is_scripted(self) -> bool:
        """Whether replies come from a script, at once."""
        return self.name.startswith("scripted:")

    @cached_property
    def chat(self) -> BaseChatModel:
        assert self._make is not None
        return self._make({})

    @cached_property
    def _own_params(self) -> Mapping[str, Any]:
        """The parameters that a client which the user made is set to."""
        if self._make is not None:
            return {}
        names = {param: self._field(param) for param in _OF_ALL}
        was_set = self.chat.model_fields_set
        held = {param: getattr(self.chat, field) for param, field in names.items() if field in was_set}
        return {param: value for param, value in held.items() if value is not None}

    @cached_property
    def capabilities(self) -> Capabilities:
        """What is known of the model before it is asked."""
        known = capabilities_of(self.name, getattr(self.chat, "profile", None))
        if known.efforts or known.thinking == "budget":
            return known
        return replace(known, efforts=efforts_of(type(self.chat).model_fields))

    def dropped(self, params: Mapping[str, Any]) -> Mapping[str, str]:
        """The parameters that the model would be asked without, and why, as far as that is known by now."""
        return self._prepared(Request(self.name, (("user", ""),), params), 1, 0).fitted.dropped

    def can_widen(self, request: Request, enlarged: int) -> bool:
        """Whether the limit grows by widening it once more."""
        known, learned = self.capabilities, self._learned
        before, after = (
            fit({**self._own_params, **request.params}, known, learned, enlarged=times).sent.get(
                "max_tokens", 0
            )
            for times in (enlarged - 1, enlarged)
        )
        return bool(after > before)

    def samples_at_once(self, request: Request) -> int:
        """How many samples of this request can be had in one; OpenAI gives eight of a model that thinks."""
        has_field = self._is_openai and "n" in type(self.chat).model_fields
        streams, responses = (getattr(self.chat, name, None) for name in ("streaming", "use_responses_api"))
        takes = has_field and not streams and not responses and "n" not in self._without
        if not takes or "seed" in request.params:  # each sample has a seed of its own
            return 1
        known = self.capabilities
        return _FEW_SAMPLES if known.thinks or known.refuses_thinking else _MOST_SAMPLES

    def send(self, request: Request, *, n: int = 1, enlarged: int = 0) -> Sent:
        """Make one request, for `n` samples at once; raise whatever the provider's client raises.

        A parameter that is refused is left out from then on, and the request is made again without it.
        Raises `ParameterRefused` where that is not allowed. `enlarged`: how often to widen the limit.
        """
        with self._probe.turn(frozenset(request.params)):
            prepared = self._prepared(request, n, enlarged)
            while True:
                self._require_whole(prepared.fitted, request)
                try:
                    messages = self._invoked(prepared, request)
                    self._notice(messages, n, prepared.fitted)
                    return Sent(messages, prepared.fitted)
                except Exception as error:
                    if status_of(error) == 400 and _THOUGHT_TO_THE_LIMIT.search(message_of(error)):
                        self._note_thinking()
                        return Sent((), prepared.fitted)
                    refusal = refusal_of(error, {*prepared.fitted.sent, *OURS})
                    if status_of(error) in (400, 413, 422) and says_too_long(message_of(error)):
                        self._spare_less(prepared.fitted, request)
                        if enlarged and not self.can_widen(request, enlarged):
                            raise
                    elif refusal is not None:
                        self._learn(refusal, prepared.fitted)
                    elif "n" in prepared.extra and status_of(error) in (400, 403, 422):
                        self._forgo("n")  # whatever it is, that may be ours: each sample alone will tell
                    else:
                        raise
                    refused, prepared = prepared, self._prepared(request, n, enlarged)
                    if not prepared.differs(refused):  # another thread may have learned it first
                        raise

    def _notice(self, messages: Sequence[AIMessage], n: int, fitted: Fitted) -> None:
        """Remember what replies say of the model: that it thinks by itself, or gives one sample at a time."""
        counted = [message.usage_metadata for message in messages if message.usage_metadata]
        thinks = any((usage.get("output_token_details") or {}).get("reasoning") for usage in counted)
        with self._lock:
            if len(messages) < n:
                self._without |= {"n"}
            if thinks and "reasoning" not in fitted.sent:
                self._learned = replace(self._learned, thinks=True)

    def _forgo(self, name: str) -> None:
        with self._lock:
            self._without |= {name}

    def _spare_less(self, fitted: Fitted, request: Request) -> None:
        """Leave less room beyond the limit that is asked for: the context may have none for it."""
        asked = {**self._own_params, **request.params}.get("max_tokens", 0)
        spare = fitted.sent.get("max_tokens", 0) - asked
        if spare > 0:
            with self._lock:
                less = spare // 4 if spare >= _LEAST_SPARE else 0
                known = self._learned.spare
                self._learned = replace(self._learned, spare=less if known is None else min(known, less))

    def _note_thinking(self) -> None:
        with self._lock:
            self._learned = replace(self._learned, thinks=True)

    def read(self, message: Any, fitted: Fitted, pricing: Pricing | None = None) -> Reading:
        """Read a reply; keys that the server echoes are taken out of all that it says."""
        reading = read_message(message, pricing, fitted.cut_at)
        if reading.is_cut_off and not reading.text.strip():
            self._note_thinking()
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
        if status_of(error) == 500 and self._is_openai and self._is_not_offered():
            said = f"{self.name} is not a model of this server, which failed (500)"
            return Failure(NoModel(said, hint=self._offer_hint()))
        if isinstance(failure.error, NoModel) and not failure.error.hint:
            return Failure(NoModel(failure.error.what, hint=self._offer_hint()))
        return failure

    def _require_whole(self, fitted: Fitted, request: Request) -> None:
        if fitted.dropped and not self.allow_dropped:
            raise self.refused(fitted.dropped, request.params)

    def refused(self, dropped: Mapping[str, str], asked: Mapping[str, Any]) -> ParameterRefused:
        """The error for parameters that a method sets and this model does not take."""
        told = "; ".join(f"{name}: {json.dumps(asked.get(name))} ({why})" for name, why in dropped.items())
        return ParameterRefused(
            f"{self.name} does not take {told}",
            hint=DROPPED,
        )

    def _learn(self, refusal: Refusal, fitted: Fitted) -> None:
        """Remember what was refused."""
        with self._lock:
            learned, name = self._learned, refusal.name
            if name in OURS:
                self._without |= {name}
            elif refusal.limit_name and learned.limit_name != refusal.limit_name:
                self._learned = replace(learned, limit_name=refusal.limit_name)
            elif refusal.most_output and fitted.sent[name] > refusal.most_output:
                self._learned = replace(learned, most_output=refusal.most_output)
            elif name == "reasoning" and (left := self._efforts_left(refusal, fitted.sent[name])):
                refused = fitted.sent[name]
                tried, thinks = learned.tried | {refused}, learned.thinks or refused == "none"
                self._learned = replace(learned, efforts=left, tried=tried, thinks=thinks)
            else:
                said = self._clean(refusal.said, 200) if refusal.by_server else "its client does not know it"
                self._learned = replace(learned, refuses={**learned.refuses, name: said})

    def _efforts_left(self, refusal: Refusal, refused: str) -> tuple[str, ...]:
        """The efforts to try where one was refused; none where the server takes none at all."""
        is_of_value = refusal.efforts or refused == "none" or refused in refusal.said.lower()
        if not is_of_value or refusal.is_unknown:
            return ()
        known = refusal.efforts or self._learned.efforts or self.capabilities.efforts or tuple(BUDGETS)
        return tuple(effort for effort in known if effort not in self._learned.tried | {refused})

    @cached_property
    def _is_openai(self) -> bool:
        return any(kind.__name__ == "BaseChatOpenAI" for kind in type(self.chat).__mro__)

    @cached_property
    def _marks_prefixes(self) -> bool:
        """Whether the part of a prompt that the provider is to keep is marked in the prompt itself."""
        return any(kind.__name__ == "ChatAnthropic" for kind in type(self.chat).__mro__)

    def _invoked(self, prepared: _Prepared, request: Request) -> tuple[AIMessage, ...]:
        extra = dict(prepared.extra)
        stop = extra.pop("stop", None)
        marked = prepared.prefix if self._marks_prefixes else None
        messages = _as_langchain(request.messages, marked)
        if "n" in extra:
            made = prepared.chat.generate([messages], stop=stop, **extra).generations[0]
            return tuple(choice.message for choice in made)  # type: ignore[misc, union-attr]
        if request.schema is None or self._is_openai:
            return (prepared.chat.invoke(messages, stop=stop, **extra),)
        return (self._asked_in_form(prepared.chat, request.schema, messages, extra),)

    def _asked_in_form(
        self,
        chat: BaseChatModel,
        schema: Mapping[str, Any],
        messages: list[BaseMessage],
        extra: Mapping[str, Any],
    ) -> AIMessage:
        """Ask for a reply of the schema's form in the way that this provider's client has for it."""
        if extra:
            raise ModelError(f"{self.name} cannot take {', '.join(extra)} together with an output schema")
        try:
            structured = chat.with_structured_output({"title": "reply", **schema}, include_raw=True)
        except NotImplementedError:
            hint = "Use a prompt that asks for the form."
            raise ModelError(f"{self.name} offers no structured output", hint=hint) from None
        answer: Any = structured.invoke(messages)
        message: AIMessage = answer["raw"]
        if not message.tool_calls:
            return message
        form = json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
        return message.model_copy(update={"content": form, "tool_calls": []})

    def _prepared(self, request: Request, n: int, enlarged: int) -> _Prepared:
        own = self._own_params
        asked = {**own, **request.params}
        fitted = fit(asked, self.capabilities, self._learned, enlarged=enlarged)
        # What stays as the client has it goes without saying.
        sent = {name: value for name, value in fitted.sent.items() if own.get(name, _UNSET) != value}
        cleared = frozenset(name for name in own if fitted.sent.get(name, _UNSET) != own[name])
        extra: dict[str, Any] = {}
        fields = self._reasoning(sent, extra)
        if request.sample and "seed" in sent:
            sent["seed"] += request.sample  # one seed for all samples would make them all the same
        if self._is_openai:
            self._to_openai(request, sent, extra)
        names: dict[str, str] = {}
        for param, value in sent.items():
            # LangChain passes `stop` with the request; its structured output passes nothing but the messages.
            with_request = param == "stop" and (request.schema is None or self._is_openai)
            field = None if with_request else self._field(param)
            (extra if field is None else fields)[field or param] = value
            names[field or param] = param
        if self._make is None and self._takes_with_request:
            extra, fields = {**extra, **fields}, {}
        chat, left_out = self._view(fields, cleared)
        gone = {names[field]: "its client leaves it out" for field in left_out if field in names}
        if n > 1 and "n" not in self._without:
            extra["n"] = n
        prefix = None if "cache_control" in self._without else self._prefixes.of(request.messages)
        if prefix and self._is_hosted and "prompt_cache_key" not in self._without:
            extra["prompt_cache_key"] = prefix.name
        return _Prepared(chat, extra, replace(fitted, dropped={**fitted.dropped, **gone}), prefix)

    def _reasoning(self, sent: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
        """Take the effort out of the parameters; the fields that tell it to this client."""
        effort = sent.pop("reasoning", None)
        if effort is None:
            return {}
        known = self._learned.of(self.capabilities)
        fields = reasoning_fields(type(self.chat).model_fields, effort, known, self.name)
        if fields is None:
            extra["reasoning_effort"] = effort  # its client may still know it, or refuse it by name
        return fields or {}

    @cached_property
    def _takes_with_request(self) -> bool:
        """Whether this client takes its parameters with each request as well."""
        kinds = {kind.__name__ for kind in type(self.chat).__mro__}
        return bool(kinds & {"BaseChatOpenAI", "ChatAnthropic", "ChatGoogleGenerativeAI"})

    def _view(
        self, fields: Mapping[str, Any], cleared: frozenset[str]
    ) -> tuple[BaseChatModel, frozenset[str]]:
        """The client with some fields set, and which of them it leaves out; kept, since making one costs.

        `cleared` are parameters that a client which the user made is set to, and that are not to be sent.
        """
        if not fields and not cleared:
            return self.chat, frozenset()
        key = json.dumps([fields, sorted(cleared)], sort_keys=True)
        found = self._views.get(key)
        if found is None:
            if len(self._views) >= _MOST_VIEWS:
                self._views.clear()
            view = self._made(fields, cleared)
            found = self._views[key] = (view, _left_out(view, fields))
        return found

    def _made(self, fields: Mapping[str, Any], cleared: frozenset[str]) -> BaseChatModel:
        if self._make is None:  # its own class may keep more than its fields: it is never made anew
            nothing = {field: None for param in cleared if (field := self._field(param))}
            return self.chat.model_copy(update={**nothing, **fields})
        try:
            return self._make(fields)
        except ChameleonError:
            raise
        except Exception as error:
            said = self._clean(str(error).partition("For further information")[0], 200)
            asked = ", ".join(f"{name}={value!r}" for name, value in fields.items())
            raise ModelError(f"{self.name} cannot be asked with {asked}: {said}") from None

    def _to_openai(self, request: Request, params: dict[str, Any], extra: dict[str, Any]) -> None:
        body: dict[str, Any] = {}
        responses = getattr(self.chat, "use_responses_api", None)
        if "max_tokens" in params and not self._is_openai_itself() and not responses:
            # LangChain would send max_completion_tokens, which Ollama and older servers ignore.
            known = self.capabilities
            is_openais = self.name.startswith("openai:") and (known.thinks or known.refuses_thinking)
            usual = "max_completion_tokens" if is_openais else "max_tokens"
            body[self._learned.limit_name or usual] = params.pop("max_tokens")
        if request.schema is not None:
            form = response_format(request.schema)
            if responses:
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

    @cached_property
    def _is_hosted(self) -> bool:
        """Whether it is OpenAI's own service, whose cache takes a key."""
        return self._is_openai and self.name.startswith("openai:") and is_openai_itself(self._address())

    def _is_openai_itself(self) -> bool:
        return is_openai_itself(self._address()) or hasattr(self.chat, "azure_endpoint")

    def _is_not_offered(self) -> bool:
        """Whether the server lists its models, and this is none of them."""
        offer = self._offered()
        return bool(offer) and self.name.partition(":")[2] not in offer

    def _offered(self) -> list[str]:
        """The names of the server's models; none where it does not list them."""
        with self._lock:
            if self._offer is None:
                try:
                    self._offer = [each.name for each in offered_models(self._address(), self._key())]
                except NoModel:
                    self._offer = []  # the list is a courtesy: the error stands without it
            return self._offer

    def _offer_hint(self) -> str:
        offer = self._offered() if self._is_openai else []
        if not offer:
            return "Check the model's name with the provider."
        wanted = self.name.partition(":")[2]
        nearest = difflib.get_close_matches(wanted, offer, n=_MOST_LISTED, cutoff=0.3)
        listed = [*nearest, *(name for name in offer if name not in nearest)][:_MOST_LISTED]
        more = f" and {len(offer) - len(listed)} more" if len(offer) > len(listed) else ""
        return f"The server offers: {', '.join(listed)}{more}."

    def _key(self) -> str | None:
        key = getattr(self.chat, "openai_api_key", None)
        reveal = getattr(key, "get_secret_value", None)
        return reveal() if reveal else os.environ.get("OPENAI_API_KEY")


def _left_out(view: BaseChatModel, fields: Mapping[str, Any]) -> frozenset[str]:
    """The fields that a client was given and does not send: its validators took them out."""
    gone = {field for field in fields if getattr(view, field, None) is None}
    write = getattr(view, "_get_request_payload", None)
    if write is not None:
        with suppress(Exception):  # what it says to a request of ours is told when one is made
            payload = write(_as_langchain((("user", "?"),), None))
            told = {**payload, **(payload.get("extra_body") or {})}
            gone |= {field for field in _IN_PAYLOAD if field in fields and told.get(field) is None}
    return frozenset(gone)


def _as_langchain(messages: Sequence[tuple[str, str]], marked: Prefix | None) -> list[BaseMessage]:
    kinds = _message_kinds()
    made = [kinds[role](content=content_of(text)) for role, text in messages]
    if marked is None or not marked.length:
        return made
    number, place = split_at(messages, marked.length)
    role, text = messages[number]
    place = text.rfind("\n", 0, place) + 1  # a model reads whole lines
    if not isinstance(text, Illustrated) and text[:place].strip() and text[place:].strip():
        kept = {"type": "text", "text": text[:place], "cache_control": {"type": "ephemeral"}}
        made[number] = kinds[role](content=[kept, {"type": "text", "text": text[place:]}])
    return made


@cache
def _message_kinds() -> Mapping[str, type[BaseMessage]]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    return {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


def _name_of(chat: Any) -> tuple[str, bool]:
    """ "provider:model" of a client that the user made, and whether it tells its model or only its class."""
    if not hasattr(chat, "_get_ls_params"):
        raise NoModel(f"{type(chat).__name__} is no chat model", hint="Give a LangChain chat model.")
    known = chat._get_ls_params()
    provider = known.get("ls_provider") or chat._llm_type
    told = known.get("ls_model_name")
    # Clients of pipelines and endpoints keep the model's name on what they wrap.
    wrapped = [each for each in (chat, getattr(chat, "llm", None)) if each is not None]
    names = [getattr(each, name, None) for each in wrapped for name in _MODEL_NAMES]
    model = told or next((name for name in names if isinstance(name, str) and name), "")
    return f"{provider}:{model or type(chat).__name__}", bool(model)


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
    provider = _name_of(chat)[0].partition(":")[0]
    wrapped = [each for each in (chat, getattr(chat, "llm", None)) if each is not None]
    names = ((each, name) for each in wrapped for name in _field_names(each) if _ADDRESS_FIELD.search(name))
    used = getattr(getattr(chat, "root_client", None), "base_url", None)  # what OpenAI's client made of them
    address = used or next((value for each, name in names if (value := getattr(each, name, None))), None)
    if address is None or _OWN_ADDRESSES.get(provider, "\n") in str(address):
        return ""
    return own_server(provider, {"base_url": str(address)})


def _field_names(held: Any) -> list[str]:
    """The settings of a client, or of an endpoint that it wraps."""
    return [*getattr(type(held), "model_fields", getattr(held, "__dict__", ()))]

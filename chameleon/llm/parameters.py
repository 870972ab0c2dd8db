"""Fit the parameters of a request to a model, and learn from what it refuses."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from chameleon.errors import ContextTooLong
from chameleon.llm.capabilities import EFFORTS, Capabilities
from chameleon.llm.failures import CallFailure
from chameleon.text import one_line, redact

ROOM: Mapping[str, int] = {
    "none": 0,
    "minimal": 2_048,
    "low": 8_192,
    "medium": 16_384,
    "high": 32_768,
    "xhigh": 65_536,
    "max": 65_536,
}
"""Tokens that a limit adds for thinking, by effort; a model that thinks less does not use them."""

# Tokens for thinking, for models that accept a number; for Gemini 2.5 they are Google's own mapping
# (ai.google.dev/gemini-api/docs/openai, "Thinking"), also used for Claude.
BUDGETS: Mapping[str, int] = {"minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576}

_MAX_STOPS = 4  # OpenAI's limit, the lowest of all; other stops are applied here
_THINKING_REASON = "it is known to refuse it while it thinks"
_NEUTRAL_VALUES: Mapping[str, Any] = {"temperature": 1, "top_p": 1, "logprobs": False}  # defaults


WIRE_NAMES: Mapping[str, tuple[str, str]] = {
    "temperature": ("temperature", ""),
    "top_p": ("top_?p", ""),
    "max_tokens": ("max_tokens|max_completion_tokens|max_?output_?tokens", ""),
    "stop": ("stop_?sequences", "stop"),
    "seed": ("", "seed"),
    "logprobs": ("(?:top_|response_?)?logprobs", ""),
    "reasoning": (
        "reasoning_?effort|output_config|thinking[ _]?(?:level|budget)|budget",
        "reasoning|effort|thinking",
    ),
    "n": ("", "n"),
    "stream": ("stream_options", "stream"),
}
"""Providers' names for each parameter, as patterns: distinct names, and words common in sentences."""

# Parameters we add ourselves: a model that refuses them is asked without, which loses nothing.
OURS = frozenset({"n", "cache_control", "stream"})
IN_CHAT = "tools in chat completions"
_NOT_IN_CHAT = re.compile(r"function tools\b.*\buse /v1/responses", re.IGNORECASE | re.DOTALL)
_MIN_SPARE = 1_024  # tokens; less is not worth another request

_STATUSES = frozenset({None, 400, 403, 422})  # of a refusal; None: by the client itself
_CODES = frozenset({"unsupported_value", "unsupported_parameter", "unknown_parameter", "extra_forbidden"})
# How servers word a refusal: tests/llm/refusals.yaml has their messages.
_REFUSAL = re.compile(
    r"(?i)unsupported|not (?:currently )?support|not allowed|deprecated|unrecogni[sz]ed|unexpected"
    r"|not permitted|unknown (?:field|parameter|name|argument)|only the default|only \S+ is allowed"
    r"|must be one of|supported (?:values|levels)|not (?:available|enabled)|is invalid|does not accept"
    r"|must contain|cannot (?:both )?be (?:specified|used|set)|may only be|invalid keys|must be less than"
    r"|supported range|input should be|valid range|too large|too high|at most|exceeds|maximum allowed|instead"
)
_RANGED_PARAMS = frozenset({"temperature", "top_p", "seed", "stop", "logprobs"})
# Words about a value out of range; another value of the same parameter is accepted.
_RANGE = re.compile(
    r"(?i)above (?:the )?max|below (?:the )?min|out of range|less than|greater than|between|within|expected a"
    r"|at most|at least|too long"
)
_SUPPORTED = re.compile(
    r"(?:supported (?:values|levels)(?: are)?|must be one of|input should be):?(?P<values>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_LIMIT = re.compile(r"use\W+(max_\w+tokens)\W+instead", re.IGNORECASE)
# The limit in "200000 > 128000", "valid range of … is [1, 8192]", "1 (inclusive) to 65536 (exclusive)".
_MAX_VALUE = re.compile(
    r"(?i)(?:at most|>|maximum(?: value)?(?: of| is)?|up to|less than or equal to|\(inclusive\) to"
    r"|valid range of \w+ is \[\d+,)\W*"
    r"(?P<most>\d[\d,]*)(?P<exclusive>\s*\(exclusive\))?"
)


@dataclass(frozen=True)
class Fitted:
    """Parameters as a model accepts them.

    Attributes:
        asked: the requested parameters, and `known`: what was known about the model then.
        sent: the parameters for the client, by the names that all providers share; `reasoning` is an effort.
        widened: how often the limit was raised.
        cut_at: where the reply is cut on our side, whatever the server does.
        dropped: the parameters left out, and why. A stop text is not listed, because the reply is cut here
            anyway, nor is a value that the model uses by default, such as a `top_p` of 1.
    """

    asked: Mapping[str, Any]
    known: Capabilities
    sent: Mapping[str, Any]
    widened: int
    cut_at: tuple[str, ...]
    dropped: Mapping[str, str]

    @property
    def limit(self) -> int:
        """Return the limit that is sent; 0 for none."""
        return int(self.sent.get("max_tokens", 0))


def fit(
    params: Mapping[str, Any], known: Capabilities, widened: int = 0, soft: frozenset[str] = frozenset()
) -> Fitted:
    """Fit parameters to a model; the limit has room for thinking.

    Args:
        widened: how often the limit was raised: `max_tokens` fourfold each time, room for thinking twofold.
        soft: parameters that may be dropped silently.
    """
    sent, dropped = dict(params), dict[str, str]()
    stops = tuple(sent.pop("stop", ()))
    effort = ""
    if level := sent.pop("reasoning", ""):
        effort, why = _effort(level, known)
        sent |= {"reasoning": effort} if effort else {}
        dropped |= {"reasoning": why} if why else {}
    elif (
        not known.thinks
        and known.refuses_thinking & sent.keys()
        and "none" in known.efforts
        and "reasoning" not in known.refuses
    ):
        sent["reasoning"] = effort = "none"  # LangChain sends a temperature only with it
    thinking = effort != "none" if effort else known.thinks
    refused = dict.fromkeys(known.refuses_thinking, _THINKING_REASON) if thinking else {}
    refused |= known.refuses
    for name in [name for name in sent if name in refused]:
        if sent.pop(name) != _NEUTRAL_VALUES.get(name):
            dropped[name] = refused[name]
    for one, other in known.apart:
        if one in sent and other in sent:
            less = other if sent[one] != _NEUTRAL_VALUES.get(one) else one
            if sent.pop(less) != _NEUTRAL_VALUES.get(less):
                dropped[less] = f"it does not take {less} with {other if less == one else one}"
    if "max_tokens" in sent:
        room = ROOM[effort or known.default_effort or "medium"] if thinking else 0
        wider = sent["max_tokens"] * 4**widened + room * 2**widened  # thinking only doubles
        if known.spare is not None:
            wider = min(wider, sent["max_tokens"] + known.spare)
        max_output = known.most_output or wider
        if sent["max_tokens"] > max_output:
            dropped["max_tokens"] = f"with {max_output} instead, its maximum"
        sent["max_tokens"] = min(wider, max_output)
    visible = [stop for stop in stops if stop.strip()][:_MAX_STOPS]  # several servers refuse whitespace
    if visible and "stop" not in refused:
        sent["stop"] = visible
    dropped = {name: why for name, why in dropped.items() if name not in soft}
    return Fitted(params, known, sent, widened, stops, dropped)


def _effort(level: str, known: Capabilities) -> tuple[str, str]:
    """Return the effort to send, or "" for none, and why it differs from the requested one."""
    if "reasoning" in known.refuses:
        return "", "" if level == "none" and not known.thinks else known.refuses["reasoning"]
    if level == "none" and not known.lists_efforts:
        has_switch = known.thinking == "adaptive" or (known.thinking == "budget" and not known.efforts)
        if has_switch or (known.is_known and known.efforts and not known.thinks):
            return "none" if known.thinks or "none" in known.efforts else "", ""
    effort = known.nearest_effort(level)
    return effort, "" if effort == level else f"with {effort} instead, the nearest that it takes"


def efforts_of(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the efforts that a client with these fields accepts, if it lists them."""
    if "reasoning_effort" not in fields:
        return ()
    choices = [get_args(part) for part in get_args(fields["reasoning_effort"].annotation)]
    return tuple(effort for effort in EFFORTS if any(effort in values for values in choices))


def reasoning_fields(
    fields: Mapping[str, Any], effort: str, known: Capabilities, model: str = ""
) -> dict[str, Any] | None:
    """Return the effort as settings of a client with these fields, or None if it lacks them.

    LangChain's clients of OpenAI, Anthropic, Google, Groq and others have `reasoning_effort`; Ollama's
    and OpenRouter's have `reasoning`.
    """
    tokens = BUDGETS.get(effort, BUDGETS["high"])
    if "thinking_budget" in fields and known.thinking == "budget":
        return {"thinking_budget": 0 if effort == "none" else tokens}
    if "thinking" in fields:
        if effort == "none":
            return {"thinking": {"type": "disabled"}}
        if known.thinking == "budget":
            return {"thinking": {"type": "enabled", "budget_tokens": tokens}}
        if known.thinking == "adaptive":
            return {"thinking": {"type": "adaptive"}, "reasoning_effort": effort}
    if "reasoning_effort" in fields:
        return {"reasoning_effort": effort}
    if "reasoning" in fields:
        if "bool" not in str(fields["reasoning"].annotation):
            return {"reasoning": {"effort": effort}}
        # Of Ollama's models, only gpt-oss has levels.
        is_leveled = "gpt-oss" in model and effort in ("low", "medium", "high")
        return {"reasoning": effort if is_leveled else effort != "none"}
    return None


def refused_name(failure: CallFailure, sent: Collection[str]) -> str:
    """Return the shared name of the sent parameter that is refused; "" for other failures."""
    error, status, message = failure.raised, failure.status, failure.message
    # The client itself refused, unless it could not read a reply.
    is_ours = isinstance(error, (TypeError, ValueError)) and type(error).__name__ != "OutputParserException"
    if status not in _STATUSES or not (status or is_ours) or isinstance(failure.error, ContextTooLong):
        return ""
    if str(failure.details.get("code")) not in _CODES and not _REFUSAL.search(message):
        return ""
    parts = re.split(r"\W+", str(failure.details.get("param") or ""))  # as in "reasoning.effort"
    patterns = {name: "|".join(filter(None, WIRE_NAMES.get(name, (name,)))) for name in sent}
    names = (name for name in sent if any(re.fullmatch(patterns[name], part) for part in parts))
    name = next(names, "") or _mentioned(message, sent)
    # An out-of-range value is at fault, not the parameter: another value is accepted.
    return "" if name in _RANGED_PARAMS and _RANGE.search(message) else name


def _mentioned(message: str, sent: Collection[str]) -> str:
    """Return the first parameter that a sentence mentions; top_p if temperature occurs too."""
    places: dict[str, int] = {}
    for name in sent:
        distinct, word = WIRE_NAMES.get(name, (name, ""))
        patterns = [rf"(?<!\w)(?:{distinct})(?!\w)"] if distinct else []
        if word:
            patterns += [rf"[`'\"](?:{word})(?=[`'\".])", rf"\b(?:{word})(?=:)", rf"parameter:? (?:{word})\b"]
            patterns += [rf"\b(?:{word}) (?:parameter|level)\b", rf"(?:supplied:|support) (?:{word})\b"]
        if mention := re.search("|".join(patterns), message, re.IGNORECASE):
            places[name] = mention.start()
    if {"temperature", "top_p"} <= places.keys():
        return "top_p"
    return min(places, key=places.__getitem__, default="")


def learn(failure: CallFailure, fitted: Fitted, n: int, secrets: Sequence[str]) -> Capabilities | None:
    """Return what is known about the model after a failed request for `n` samples, or None if nothing new."""
    status, known = failure.status, fitted.known
    if status == 400 and IN_CHAT not in known.without and _NOT_IN_CHAT.search(failure.message):
        return known.without_also(IN_CHAT)
    if status in (400, 413, 422) and isinstance(failure.error, ContextTooLong):
        # Use less room beyond the limit of the request, because the context may be full.
        spare = fitted.limit - fitted.asked.get("max_tokens", 0)
        if spare <= 0:
            return None
        less = spare // 4 if spare >= _MIN_SPARE else 0
        return replace(known, spare=less if known.spare is None else min(known.spare, less))
    if not (name := refused_name(failure, {*fitted.sent, *OURS})):
        # Whatever the error, several samples may be the cause; single requests will show.
        return known.without_also("n") if n > 1 and status in (400, 403, 422) else None
    if name in OURS:
        return known.without_also(name)
    if name == "max_tokens":
        if (other := _OTHER_LIMIT.search(failure.message)) and known.limit_name != other[1]:
            return replace(known, limit_name=other[1])
        bound = _MAX_VALUE.search(failure.message)
        limit = int(bound["most"].replace(",", "")) - bool(bound["exclusive"]) if bound else 0
        if 0 < limit < fitted.limit:
            return replace(known, most_output=limit)
    if name == "reasoning" and (match := _SUPPORTED.search(failure.message)):
        efforts = tuple(each for each in EFFORTS if re.search(rf"\b{each}\b", match["values"]))
        if efforts and fitted.sent[name] not in efforts:
            thinks = known.thinks or fitted.sent[name] == "none"
            return replace(known, efforts=efforts, lists_efforts=True, thinks=thinks)
    why = "its client does not know it"
    if status is not None:
        why = one_line(redact(failure.message, also=secrets), 200)
    return replace(known, refuses={**known.refuses, name: why})

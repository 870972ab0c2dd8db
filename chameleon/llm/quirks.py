"""Learn from the refusals of a server what a model does not take: they name a parameter, or a context."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from chameleon.errors import ContextTooLong
from chameleon.llm.capabilities import EFFORTS, Capabilities
from chameleon.llm.failures import CallFailure
from chameleon.llm.parameters import Fitted
from chameleon.text import one_line, redact

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
"""What providers call each parameter, as patterns: distinct names, and words that occur in any sentence."""

# Parameters of our own making: a model that refuses them is asked without, and nobody misses them.
OURS = frozenset({"n", "cache_control", "stream"})
IN_CHAT = "tools in chat completions"
_NOT_IN_CHAT = re.compile(r"function tools\b.*\buse /v1/responses", re.IGNORECASE | re.DOTALL)
_MIN_SPARE = 1_024  # tokens; to try with less is not worth a request

_STATUSES = frozenset({None, 400, 403, 422})
_CODES = frozenset({"unsupported_value", "unsupported_parameter", "unknown_parameter", "extra_forbidden"})
_NOT_TAKEN = re.compile(
    r"unsupported|not (?:currently )?support|not allowed|deprecated|unrecogni[sz]ed|unexpected|not permitted"
    r"|unknown (?:field|parameter|name|argument)|only the default|only \S+ is allowed|must be one of"
    r"|supported (?:values|levels)|not (?:available|enabled)|is invalid|does not accept|must contain"
    r"|cannot (?:both )?be (?:specified|used|set)|may only be|invalid keys|must be less than|supported range"
    r"|input should be|valid range|too large|too high|at most|exceeds|maximum allowed|instead",
    re.IGNORECASE,
)
_WITH_RANGE = frozenset({"temperature", "top_p", "seed", "stop", "logprobs"})
_RANGE = re.compile(
    r"above (?:the )?max|below (?:the )?min|out of range|less than|greater than|between|within|expected a"
    r"|at most|at least|too long",
    re.IGNORECASE,
)
_SUPPORTED = re.compile(
    r"(?:supported (?:values|levels)(?: are)?|must be one of|input should be):?(?P<values>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_LIMIT = re.compile(r"use\W+(max_\w+tokens)\W+instead", re.IGNORECASE)
_MOST = re.compile(
    r"(?:at most|>|maximum(?: value)?(?: of| is)?|up to|less than or equal to|\(inclusive\) to"
    r"|valid range of \w+ is \[\d+,)\W*"
    r"(?P<most>\d[\d,]*)(?P<exclusive>\s*\(exclusive\))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A parameter that was refused, by its shared name.

    `limit_name` and `most_output` say what to do about a limit, `efforts` which ones there are.
    """

    name: str
    limit_name: str = ""
    most_output: int | None = None
    efforts: tuple[str, ...] = ()


def refusal_of(failure: CallFailure, sent: Collection[str]) -> Refusal | None:
    """Read the refusal of one of the parameters that were sent; None for any other failure."""
    error, status, message = failure.raised, failure.status, failure.message
    # The client itself refused, unless it could not read a reply.
    is_ours = isinstance(error, (TypeError, ValueError)) and type(error).__name__ != "OutputParserException"
    if status not in _STATUSES or not (status or is_ours) or isinstance(failure.error, ContextTooLong):
        return None
    if str(failure.details.get("code")) not in _CODES and not _NOT_TAKEN.search(message):
        return None
    parts = re.split(r"\W+", str(failure.details.get("param") or ""))  # as in "reasoning.effort"
    patterns = {name: "|".join(filter(None, WIRE_NAMES.get(name, (name,)))) for name in sent}
    named = (name for name in sent if any(re.fullmatch(patterns[name], part) for part in parts))
    if (name := next(named, None) or _mentioned(message, sent)) is None:
        return None
    if name == "max_tokens":
        other, found = _OTHER_LIMIT.search(message), _MOST.search(message)
        most = int(found["most"].replace(",", "")) - bool(found["exclusive"]) if found else None
        return Refusal(name, limit_name=other[1] if other else "", most_output=most)
    if name in _WITH_RANGE and _RANGE.search(message):
        return None  # the value is at fault: another one is taken
    efforts: tuple[str, ...] = ()
    if name == "reasoning" and (listed := _SUPPORTED.search(message)):
        efforts = tuple(effort for effort in EFFORTS if re.search(rf"\b{effort}\b", listed["values"]))
    return Refusal(name, efforts=efforts)


def _mentioned(said: str, sent: Collection[str]) -> str | None:
    """Return the first parameter that a sentence mentions; of temperature and top_p together, the latter."""
    places: dict[str, int] = {}
    for name in sent:
        distinct, word = WIRE_NAMES.get(name, (name, ""))
        patterns = [rf"(?<!\w)(?:{distinct})(?!\w)"] if distinct else []
        if word:
            patterns += [rf"[`'\"](?:{word})(?=[`'\".])", rf"\b(?:{word})(?=:)", rf"parameter:? (?:{word})\b"]
            patterns += [rf"\b(?:{word}) (?:parameter|level)\b", rf"(?:supplied:|support) (?:{word})\b"]
        if found := re.search("|".join(patterns), said, re.IGNORECASE):
            places[name] = found.start()
    if {"temperature", "top_p"} <= places.keys():
        return "top_p"
    return min(places, key=places.__getitem__, default=None)


def learn(
    failure: CallFailure, fitted: Fitted, *, n: int = 1, secrets: Sequence[str] = ()
) -> Capabilities | None:
    """Return what is known of the model after a failed request for `n` samples; None to leave it at that."""
    status, known = failure.status, fitted.known
    if status == 400 and IN_CHAT not in known.without and _NOT_IN_CHAT.search(failure.message):
        return known.without_also(IN_CHAT)
    if status in (400, 413, 422) and isinstance(failure.error, ContextTooLong):
        # Less room beyond the limit of the request: the context may have none for it.
        spare = fitted.limit - fitted.asked.get("max_tokens", 0)
        if spare <= 0:
            return None
        less = spare // 4 if spare >= _MIN_SPARE else 0
        return replace(known, spare=less if known.spare is None else min(known.spare, less))
    if (refusal := refusal_of(failure, {*fitted.sent, *OURS})) is None:
        # Whatever it is, several samples may be the cause: each alone will show.
        return known.without_also("n") if n > 1 and status in (400, 403, 422) else None
    name, words = refusal.name, "its client does not know it"
    if name in OURS:
        return known.without_also(name)
    if refusal.limit_name and known.limit_name != refusal.limit_name:
        return replace(known, limit_name=refusal.limit_name)
    if refusal.most_output and fitted.sent[name] > refusal.most_output:
        return replace(known, most_output=refusal.most_output)
    if refusal.efforts and (effort := fitted.sent[name]) not in refusal.efforts:
        thinks = known.thinks or effort == "none"
        return replace(known, efforts=refusal.efforts, lists_efforts=True, thinks=thinks)
    if status is not None:
        words = one_line(redact(failure.message, also=secrets), 200)
    return replace(known, refuses={**known.refuses, name: words})

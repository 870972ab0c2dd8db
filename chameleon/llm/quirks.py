"""Learn from a server what it does not take: from its refusals, which name a parameter, and its replies."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chameleon.llm.capabilities import EFFORTS
from chameleon.llm.failures import message_of, says_too_long, status_of
from chameleon.llm.message import Reply
from chameleon.llm.parameters import Fitted, ModelQuirks
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
    """A parameter that was refused, by its shared name, in the server's words (not yet redacted).

    `limit_name` and `most_output` say what to do about a limit, `efforts` which ones there are.
    """

    name: str
    said: str
    limit_name: str = ""
    most_output: int | None = None
    efforts: tuple[str, ...] = ()


def refusal_of(error: Exception, sent: Collection[str]) -> Refusal | None:
    """Read the refusal of one of the parameters that were sent; None for any other error."""
    status, said = status_of(error), message_of(error)
    # The client itself refused, unless it could not read a reply.
    is_ours = isinstance(error, (TypeError, ValueError)) and type(error).__name__ != "OutputParserException"
    if status not in _STATUSES or (status is None and not is_ours) or says_too_long(said):
        return None
    body: Any = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    details: Mapping[str, Any] = inner if isinstance(inner, Mapping) else {}
    if str(details.get("code")) not in _CODES and not _NOT_TAKEN.search(said):
        return None
    parts = re.split(r"\W+", str(details.get("param") or ""))  # as in "reasoning.effort"
    patterns = {name: "|".join(filter(None, WIRE_NAMES.get(name, (name,)))) for name in sent}
    named = (name for name in sent if any(re.fullmatch(patterns[name], part) for part in parts))
    if (name := next(named, None) or _mentioned(said, sent)) is None:
        return None
    if name == "max_tokens":
        other, found = _OTHER_LIMIT.search(said), _MOST.search(said)
        most = int(found["most"].replace(",", "")) - bool(found["exclusive"]) if found else None
        return Refusal(name, said, limit_name=other[1] if other else "", most_output=most)
    if name in _WITH_RANGE and _RANGE.search(said):
        return None  # the value is at fault: another one is taken
    efforts: tuple[str, ...] = ()
    if name == "reasoning" and (listed := _SUPPORTED.search(said)):
        efforts = tuple(effort for effort in EFFORTS if re.search(rf"\b{effort}\b", listed["values"]))
    return Refusal(name, said, efforts=efforts)


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


def learn_from_error(
    error: Exception,
    quirks: ModelQuirks,
    fitted: Fitted,
    *,
    limit: int = 0,
    n: int = 1,
    secrets: Sequence[str] = (),
) -> ModelQuirks | None:
    """Return the quirks after an error (`limit`: `max_tokens` as asked); None if it is about no parameter."""
    status, said = status_of(error), message_of(error)
    if status == 400 and IN_CHAT not in quirks.without and _NOT_IN_CHAT.search(said):
        return quirks.without_also(IN_CHAT)
    if status in (400, 413, 422) and says_too_long(said):
        # Less room beyond the limit of the request: the context may have none for it.
        spare = fitted.sent.get("max_tokens", 0) - limit
        if spare <= 0:
            return quirks
        less = spare // 4 if spare >= _MIN_SPARE else 0
        return replace(quirks, spare=less if quirks.spare is None else min(quirks.spare, less))
    if (refusal := refusal_of(error, {*fitted.sent, *OURS})) is None:
        # Whatever it is, several samples may be the cause: each alone will show.
        return quirks.without_also("n") if n > 1 and status in (400, 403, 422) else None
    name, words = refusal.name, "its client does not know it"
    if name in OURS:
        return quirks.without_also(name)
    if refusal.limit_name and quirks.limit_name != refusal.limit_name:
        return replace(quirks, limit_name=refusal.limit_name)
    if refusal.most_output and fitted.sent[name] > refusal.most_output:
        return replace(quirks, most_output=refusal.most_output)
    if refusal.efforts and (effort := fitted.sent[name]) not in refusal.efforts:
        return replace(quirks, efforts=refusal.efforts, thinks=quirks.thinks or effort == "none")
    if status is not None:
        words = one_line(redact(refusal.said, also=secrets), 200)
    return replace(quirks, refuses={**quirks.refuses, name: words})


def learn_from_replies(
    messages: Sequence[Any], replies: Sequence[Reply], n: int, quirks: ModelQuirks, fitted: Fitted
) -> ModelQuirks:
    """Return the quirks that are known once these came: whether it thinks, or gives one sample at a time."""
    counted = [message.usage_metadata for message in messages if message.usage_metadata]
    has_thought = any((usage.get("output_token_details") or {}).get("reasoning") for usage in counted)
    if len(messages) < n:
        quirks = quirks.without_also("n")
    is_spent = any(reply.truncated and not reply.text.strip() and not reply.tool_calls for reply in replies)
    if is_spent or (has_thought and "reasoning" not in fitted.sent):
        quirks = replace(quirks, thinks=True)
    return quirks

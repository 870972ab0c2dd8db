"""Learn what a model takes from what its server refuses, whatever form the refusal has."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chameleon.llm.capabilities import Capabilities, catalogue
from chameleon.llm.failures import message_of, says_too_long, status_of
from chameleon.llm.parameters import Fitted
from chameleon.text import one_line, redact

OURS = frozenset({"n", "cache_control"})
"""Parameters of our own making: a model that refuses them is asked without, and nobody misses them."""

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
_UNKNOWN = re.compile(
    r"unrecogni[sz]ed|unknown (?:field|parameter|name|argument)|unexpected|extra inputs|not permitted",
    re.IGNORECASE,
)
_OTHER_LIMIT = re.compile(r"use\W+(max_\w+tokens)\W+instead", re.IGNORECASE)
_WORDS = frozenset({"n", "stop", "effort", "thinking", "reasoning", "seed"})  # they occur in any sentence
_LEAST_SPARE = 1_024  # tokens; to try with less is not worth a request


@dataclass(frozen=True, slots=True)
class Refusal:
    """A parameter that was refused, by its shared name, in the server's words (not yet redacted).

    `limit_name` is what the server calls the limit, where it says so.
    """

    name: str
    said: str
    limit_name: str = ""
    by_server: bool = True

    @property
    def is_unknown(self) -> bool:
        """Tell whether the server does not know such a parameter at all."""
        return _UNKNOWN.search(self.said) is not None


def learn(
    error: Exception, known: Capabilities, fitted: Fitted, *, limit: int, n: int, secrets: Sequence[str] = ()
) -> Capabilities | None:
    """Return what is known of a model once this error came; None where it teaches nothing.

    Args:
        error: what the client raised.
        known: what was known before.
        fitted: the parameters that were sent.
        limit: the `max_tokens` that was asked for.
        n: how many samples were asked for.
        secrets: what is taken out of the server's words.
    """
    refusal = refusal_of(error, {*fitted.sent, *OURS})
    if refusal is not None and refusal.limit_name and refusal.limit_name != known.limit_name:
        return replace(known, limit_name=refusal.limit_name)
    is_of_length = status_of(error) in (400, 413, 422) and says_too_long(message_of(error))
    if is_of_length or (refusal is not None and refusal.name == "max_tokens" and not refusal.is_unknown):
        # Less room beyond the limit that is asked for: the context, or the model, may have none for it.
        spare = fitted.sent.get("max_tokens", 0) - limit
        if spare <= 0:
            return None
        less = spare // 4 if spare >= _LEAST_SPARE else 0
        return replace(known, spare=less if known.spare is None else min(known.spare, less))
    if refusal is None:
        # Whatever it is, asking for several samples may be at fault: each alone will tell.
        is_of_n = n > 1 and status_of(error) in (400, 403, 422)
        return replace(known, refuses={**known.refuses, "n": "it was refused"}) if is_of_n else None
    said = "its client does not know it"
    if refusal.by_server:
        said = one_line(redact(refusal.said, also=secrets), 200)
    thinks = known.thinks or (
        refusal.name == "reasoning" and fitted.sent["reasoning"] == "none" and not refusal.is_unknown
    )
    return replace(known, refuses={**known.refuses, refusal.name: said}, thinks=thinks)


def refusal_of(error: Exception, sent: Collection[str]) -> Refusal | None:
    """Read the refusal of one of the parameters that were sent; None for any other error."""
    status, said = status_of(error), message_of(error)
    # The client itself refused, unless it could not read a reply.
    is_ours = isinstance(error, (TypeError, ValueError)) and type(error).__name__ != "OutputParserException"
    if status not in _STATUSES or (status is None and not is_ours) or says_too_long(said):
        return None
    body: Any = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    told: Mapping[str, Any] = inner if isinstance(inner, Mapping) else {}
    if str(told.get("code")) not in _CODES and not _NOT_TAKEN.search(said):
        return None
    wire = {name: catalogue()["parameters"].get(name, [name]) for name in sent}
    parts = set(re.split(r"\W+", str(told.get("param") or ""))) - {""}  # as in "reasoning.effort"
    named = next((name for name, names in wire.items() if parts & set(names)), None)
    name = named or _mentioned(said, wire)
    if name is None or (name in _WITH_RANGE and _RANGE.search(said)):
        return None  # of a range the value is at fault: another one is taken
    other = _OTHER_LIMIT.search(said) if name == "max_tokens" else None
    return Refusal(name, said, other[1] if other else "", by_server=status is not None)


def _mentioned(said: str, wire: Mapping[str, Sequence[str]]) -> str | None:
    """Find the first parameter that a sentence mentions; of temperature and top_p together, the latter."""
    places: dict[str, int] = {}
    for parameter, names in wire.items():
        for name in names:
            marked = (
                rf"[`'\"]{name}(?=[`'\".])|\b{name}(?=:)|parameter:? {name}\b"
                rf"|\b{name} (?:parameter|level)\b|(?:supplied:|support) {name}\b"
            )
            pattern = marked if name in _WORDS else rf"(?<!\w){name}(?!\w)"
            if found := re.search(pattern, said, re.IGNORECASE):
                places[parameter] = min(found.start(), places.get(parameter, found.start()))
    if {"temperature", "top_p"} <= places.keys():
        return "top_p"
    return min(places, key=places.__getitem__, default=None)

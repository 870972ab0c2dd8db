"""Read which parameter a server refused, whatever form its error has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chameleon.llm.capabilities import EFFORTS
from chameleon.llm.failures import message_of, says_too_long, status_of
from chameleon.llm.parameters import WIRE_NAMES

# Parameters of our own making: a model that refuses them is asked without, and nobody misses them.
OURS = frozenset({"n", "prompt_cache_key", "cache_control", "stream"})
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
_WORDS = frozenset(
    {"n", "stop", "effort", "thinking", "reasoning", "seed", "stream"}
)  # they occur in any sentence


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
    by_server: bool = True

    @property
    def is_unknown(self) -> bool:
        """Tell whether the server does not know such a parameter at all."""
        return _UNKNOWN.search(self.said) is not None


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
    wire = {name: WIRE_NAMES.get(name, (name,)) for name in sent}
    parts = set(re.split(r"\W+", str(told.get("param") or ""))) - {""}  # as in "reasoning.effort"
    named = next((name for name, names in wire.items() if parts & set(names)), None)
    name = named or _mentioned(said, wire)
    if name is None:
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
    return Refusal(name, said, efforts=efforts, by_server=status is not None)


def _mentioned(said: str, wire: Mapping[str, tuple[str, ...]]) -> str | None:
    """Find the first parameter that a sentence mentions; of temperature and top_p together, the latter."""
    places = {name: min(found) for name, names in wire.items() if (found := [*_places(said, names)])}
    if {"temperature", "top_p"} <= places.keys():
        return "top_p"
    return min(places, key=places.__getitem__, default=None)


def _places(said: str, names: tuple[str, ...]) -> Iterator[int]:
    for name in names:
        marked = (
            rf"[`'\"]{name}(?=[`'\".])|\b{name}(?=:)|parameter:? {name}\b"
            rf"|\b{name} (?:parameter|level)\b|(?:supplied:|support) {name}\b"
        )
        pattern = marked if name in _WORDS else rf"(?<!\w){name}(?!\w)"
        if (found := re.search(pattern, said, re.IGNORECASE)) is not None:
            yield found.start()

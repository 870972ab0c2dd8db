"""Tell apart the ways a provider fails, regardless of its client library.

The clients of LangChain's providers raise unrelated exceptions. They share an HTTP status, somewhere, and a
message, so both are examined; class names identify failures without a status (timeouts, lost connections).
The rules are in `failures.yaml`.
"""

import json
import math
import os
import re
import socket
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import cache, partial
from importlib import resources
from typing import Any

from chameleon import errors
from chameleon.errors import ChameleonError, ModelError, causes, lack_of
from chameleon.llm.deadline import LongReply, TooLate
from chameleon.text import one_line, redact
from chameleon.yaml_text import read_yaml

_MAX_READ_CHARS = 10_000  # of a message: it may be a whole web page
_MAX_FAULTS = 20  # of a request, in a list
# Keys of a body that may hold the reason; the first with a text counts.
_REASONS = ("error_description", "error", "errors", "message", "detail", "msg", "reason", "title")

_NO_ANSWER: Mapping[type[OSError], str] = {
    ConnectionRefusedError: "connection refused",
    ConnectionResetError: "connection reset",
    socket.gaierror: "its server's name cannot be resolved",
    ssl.SSLError: "no secure connection",
    TimeoutError: "no reply in time",
}


@dataclass(frozen=True, slots=True)
class CallFailure:
    """A failed request, classified once: the error to raise, and whether, when and why to try again.

    Attributes:
        raised: the client's exception.
        status: its HTTP status.
        message: its message, which may contain secrets.
        details: the details of the error in the reply's body (OpenAI's `param` and `code`).
    """

    error: ChameleonError
    retryable: bool = False
    retry_after: float | None = None
    reason: str = ""
    raised: Exception | None = None
    status: int | None = None
    message: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailureRule:
    """A rule of `failures.yaml`: how to report one kind of failure."""

    error: str
    said: str
    hint: str = ""
    status: Sequence[int | None] | None = None
    words: str = ""
    names: str = ""
    retry: bool = False
    reason: str = ""

    def fits(self, status: int | None, message: str, names: str) -> bool:
        """Return whether the rule applies to this failure."""
        is_of_status = status is not None if self.status is None else status in self.status
        has_words = re.search(self.words, message, re.IGNORECASE | re.DOTALL)
        return is_of_status and bool(has_words and re.search(self.names, names, re.IGNORECASE))


@cache
def _rules() -> Sequence[FailureRule]:
    text = resources.files("chameleon.llm").joinpath("failures.yaml").read_text("utf-8")
    rules = [FailureRule(**entry) for entry in read_yaml(text)]
    # Long patterns are folded at their bars in the file.
    return [
        replace(rule, words=rule.words.replace(" |", "|"), names=rule.names.replace(" |", "|"))
        for rule in rules
    ]


def classify(error: Exception, *, model: str = "the model", secrets: Iterable[str] = ()) -> CallFailure:
    """Turn any exception of a provider's client into a Chameleon error whose message has no secrets."""
    chain, bodies, status = list(causes(error)), list(_bodies_of(error)), _status_of(error)
    message = _message_of(error, bodies)
    errors_in = (body.get("error", body) for body in bodies if isinstance(body, Mapping))
    details = next((each for each in errors_in if isinstance(each, Mapping)), {})
    failed = partial(CallFailure, raised=error, status=status, message=message, details=details)
    if (long := next((part for part in chain if isinstance(part, LongReply)), None)) is not None:
        return failed(ModelError(f"{model}: {long}"))
    if isinstance(error, ModelError):
        return failed(error)
    if (lack := lack_of(error)) is not None:  # other calls may end and free some
        return failed(lack, True, reason=lack.what)
    if isinstance(error, TooLate):
        return failed(ModelError(f"{model} did not answer in time"), True, reason="no reply in time")
    text = one_line(redact(message, also=secrets)) or type(error).__name__
    if isinstance(error, ChameleonError):
        return failed(ModelError(f"{model}: {text}"))
    names = " ".join(kind.__name__ for part in chain for kind in type(part).__mro__)
    rule = next(rule for rule in _rules() if rule.fits(status, message, names))  # some rule always fits
    kind, why = type(error).__name__, why_no_answer(error)
    words = {"model": model, "said": text, "status": status, "kind": kind, "why": why}
    problem: ModelError = getattr(errors, rule.error)(rule.said.format(**words), hint=rule.hint)
    return failed(problem, rule.retry, _retry_after(error), rule.reason.format(**words))


def why_no_answer(error: BaseException) -> str:
    """Say why a server cannot be reached, in a few words with nothing from the request."""
    # urllib keeps the original error as its reason, httpcore as its argument.
    parts = [part for link in causes(error) for part in (link, getattr(link, "reason", None), *link.args)]
    for kind, words in _NO_ANSWER.items():
        if any(isinstance(part, kind) for part in parts):
            return words
    if any("timeout" in type(part).__name__.lower() for part in parts):
        return "no reply in time"
    codes = [part.errno for part in parts if isinstance(part, OSError) and part.errno]
    return os.strerror(codes[0]).lower() if codes else "the connection failed"


def _status_of(error: Exception) -> int | None:
    """Return the HTTP status of a provider's exception, or of its cause."""
    for part in causes(error):
        response = getattr(part, "response", None)
        status = getattr(response, "status_code", None)
        if isinstance(response, Mapping):  # botocore
            status = (response.get("ResponseMetadata") or {}).get("HTTPStatusCode")
        for candidate in (getattr(part, "status_code", None), status, getattr(part, "code", None)):
            if isinstance(candidate, int) and 400 <= candidate < 600:
                return int(candidate)
    return None


def _bodies_of(error: Exception) -> Iterator[Any]:
    """Yield the reply bodies of an exception and its causes, as JSON."""
    for part in causes(error):
        with suppress(ValueError, RecursionError, TypeError):
            yield json.loads(getattr(getattr(part, "response", None), "text", None) or "null")
        yield getattr(part, "body", None)
        yield getattr(part, "details", None)


def _message_of(error: Exception, bodies: Iterable[Any]) -> str:
    """Return the provider's message, including any secrets.

    It is the reason in the reply's body, else the body itself, else the exception's own message.
    """
    reason = next(filter(None, map(_reason_in, bodies)), "")
    texts = (getattr(getattr(part, "response", None), "text", None) for part in causes(error))
    contents = (text.strip() for text in texts if isinstance(text, str))
    return (reason or next(filter(None, contents), "") or str(error))[:_MAX_READ_CHARS]


def _reason_in(body: Any, depth: int = 6) -> str:
    """Return the reason in a body of any common form, or "".

    OpenAI and compatible: {"error": {"message": …}}, {"error": "…"} or {"message": "…"}. FastAPI:
    {"detail": …}, a text or a list of what is wrong with the request.
    """
    if isinstance(body, str):
        return body.strip()
    if isinstance(body, list) and depth:
        return "; ".join(filter(None, (_reason_in(each, depth - 1) for each in body[:_MAX_FAULTS])))
    if not isinstance(body, Mapping) or not depth:
        return ""
    for key in _REASONS:
        if reason := _reason_in(body.get(key), depth - 1):
            code = body.get("code") or body.get("type") if key == "message" else None
            place = body.get("loc") if key == "msg" else None
            where = [str(part) for part in place if part != "body"] if isinstance(place, list) else []
            return f"{'.'.join(where)}: {reason}" if where else f"{reason} ({code})" if code else reason
    return ""


def _retry_after(error: Exception) -> float | None:
    """Return the seconds that a server asks to wait, if it does in a readable form."""
    replies = (getattr(part, "response", None) for part in causes(error))
    headers: Any = next((each for reply in replies if (each := getattr(reply, "headers", None))), {})
    with suppress(TypeError, ValueError, OverflowError):
        milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after")
        if milliseconds is not None:
            seconds = float(milliseconds) / 1000
        elif ":" in value:  # a date
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        else:
            seconds = float(value)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    return None

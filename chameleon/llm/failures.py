"""Tell apart the ways in which a provider fails, whatever its client library calls them.

The clients of LangChain's providers raise unrelated exceptions. What they share is an HTTP status, somewhere,
and a message, so both are looked at; class names serve for what has no status (timeouts, lost connections).
"""

from __future__ import annotations

import email.utils
import json
import math
import os
import re
import socket
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chameleon.errors import (
    AuthFailed,
    ChameleonError,
    ContextTooLong,
    ModelError,
    NoModel,
    RateLimited,
    Refused,
    Unreachable,
)
from chameleon.llm.deadline import LongReply, TooLate
from chameleon.text import one_line, redact

_CONTEXT = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|maximum context|prompt is too long"
    r"|input token count.{0,40}exceeds|input tokens exceed|too many (?:input )?tokens|input is too long"
    r"|exceeds? the (?:model'?s? )?max(?:imum)?[ _](?:input|model)[ _]?(?:length|len)",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"content[_ ](?:filter|policy|management policy)|responsible ?ai ?policy|moderation|flagged",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model[_ ]not[_ ]found|(?:unknown|invalid|no such) model|not a valid model"
    r"|models?\b.{0,120}\b(?:does not exist|not found|not exist|is not available|isn't available)"
    r"|models?\b.{0,120}\bis not loaded|failed to load (?:the )?model|repository not found"
    r"|does not have access to model|pulling it first|\Amodel: ",
    re.IGNORECASE | re.DOTALL,
)
_NO_QUOTA = re.compile(
    r"insufficient[_ ]quota|exceeded your current quota|billing|credit balance", re.IGNORECASE
)
_NO_SCHEMA = re.compile(r"response[_ ]?format|json[_ ]?schema|structured output|\bgrammar\b", re.IGNORECASE)
_NO_KEY = re.compile(r"api[_ ]?key|credential|authenticat", re.IGNORECASE)

_MOST_READ = 10_000  # of a message, which may be a whole web page
_MOST_FAULTS = 20  # of a request, in a list
_REASONS = ("error_description", "error", "errors", "message", "detail", "msg", "reason", "title")

_NO_ANSWER: Mapping[type[OSError], str] = {
    ConnectionRefusedError: "connection refused",
    ConnectionResetError: "connection reset",
    socket.gaierror: "its name cannot be looked up",
    ssl.SSLError: "no secure connection",
    TimeoutError: "no reply in time",
}
_TIMEOUT = re.compile(r"timeout|timedout|deadlineexceeded", re.IGNORECASE)
_LOST = re.compile(
    r"connect|protocolerror|readerror|writeerror|networkerror|serviceunavailable|incompleteread"
    r"|remotedisconnected|brokenpipe|chunkedencoding|jsondecode|responsevalidation",
    re.IGNORECASE,
)
_RETRYABLE_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})


@dataclass(frozen=True, slots=True)
class CallFailure:
    """What a failed request amounts to: the error to raise, whether trying again may help, when, and why."""

    error: ModelError
    retryable: bool = False
    retry_after: float | None = None
    reason: str = ""


def classify(error: Exception, *, model: str = "the model", secrets: Iterable[str] = ()) -> CallFailure:
    """Turn any exception of a provider's client into a Chameleon error, its message free of secrets."""
    if (long := next((part for part in _chain(error) if isinstance(part, LongReply)), None)) is not None:
        return CallFailure(ModelError(f"{model}: {long}"))
    if isinstance(error, ModelError):
        return CallFailure(error)
    status, message = status_of(error), message_of(error)
    said = one_line(redact(message, also=secrets)) or type(error).__name__
    if status is None:
        return _without_status(error, message, said, model)
    rejected = status in (400, 403, 404, 422, 500)  # some servers make a 500 of whatever they do not take
    if status == 413 or (rejected and _CONTEXT.search(message)):
        return CallFailure(ContextTooLong(f"the prompt does not fit the context of {model}: {said}"))
    if rejected and _NO_MODEL.search(message):
        return CallFailure(NoModel(f"{model} is not a model of this provider: {said}"))
    if status in (400, 403, 422) and _REFUSED.search(message):
        return CallFailure(Refused(f"{model} refused the prompt: {said}"))
    if status in (400, 422, 500) and _NO_SCHEMA.search(message):
        hint = "Use a model with structured output, or a prompt that asks for the form."
        return CallFailure(ModelError(f"{model} does not take this output schema: {said}", hint=hint))
    if status in (401, 403):
        refused = f"{model} refused the key ({status}): {said}"
        return CallFailure(AuthFailed(refused, hint="Check the API key."))
    if status == 404:
        hint = "Check the base URL; for OpenAI-compatible servers it usually ends in /v1."
        unknown = f"{model}: the server does not know this address (404): {said}"
        return CallFailure(ModelError(unknown, hint=hint))
    if status == 429:
        if _NO_QUOTA.search(message):
            return CallFailure(RateLimited(f"{model}: the account's quota is used up: {said}"))
        limited = RateLimited(f"{model}: too many requests (429): {said}")
        return CallFailure(limited, True, _retry_after(error), "too many requests")
    what = "the server failed" if status >= 500 else "the request was rejected"
    failed = ModelError(f"{model}: {what} ({status}): {said}")
    return CallFailure(failed, status in _RETRYABLE_STATUS, _retry_after(error), f"{what}, {status}")


def _without_status(error: Exception, message: str, said: str, model: str) -> CallFailure:
    """Classify what never came to a status: a client's own refusal, a timeout, a lost connection."""
    if isinstance(error, ChameleonError):
        return CallFailure(ModelError(f"{model}: {said}"))
    if any(isinstance(part, RecursionError) for part in _chain(error)):
        what = f"{model}: the server does not answer in JSON that can be read"
        return CallFailure(ModelError(what, hint="Check that its address is right."))
    names = " ".join(kind.__name__ for part in _chain(error) for kind in type(part).__mro__)
    if _CONTEXT.search(message) or "ContextOverflow" in names:
        return CallFailure(ContextTooLong(f"the prompt does not fit the context of {model}: {said}"))
    if _TIMEOUT.search(names):
        late = f"{model} did not answer in time"
        told = late if isinstance(error, TooLate) else f"{late}: {said}"
        return CallFailure(ModelError(told), True, reason="no reply in time")
    if _LOST.search(names):
        why = why_no_answer(error)
        what = f"{model}: no complete answer from the server: {why} ({said})"
        hint = "Check that the server runs and that its address is right."
        return CallFailure(Unreachable(what, hint=hint), True, reason=why)
    if _NO_KEY.search(message):
        return CallFailure(AuthFailed(f"{model}: {said}", hint="Set the provider's API key."))
    return CallFailure(ModelError(f"{model}: {type(error).__name__}: {said}"))


def why_no_answer(error: BaseException) -> str:
    """Say why a server cannot be reached, in a few words that hold nothing of the request."""
    # urllib keeps what went wrong as its reason, httpcore as its argument.
    parts = [part for link in _chain(error) for part in (link, getattr(link, "reason", None), *link.args)]
    for kind, words in _NO_ANSWER.items():
        if any(isinstance(part, kind) for part in parts):
            return words
    if any(_TIMEOUT.search(type(part).__name__) for part in parts):
        return "no reply in time"
    codes = [part.errno for part in parts if isinstance(part, OSError) and part.errno]
    return os.strerror(codes[0]).lower() if codes else "the connection failed"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Walk from the exception to what caused it: clients wrap one another's exceptions."""
    seen: set[int] = set()
    part: BaseException | None = error
    while part is not None and id(part) not in seen:
        seen.add(id(part))
        yield part
        part = part.__cause__ or (None if part.__suppress_context__ else part.__context__)


def status_of(error: Exception) -> int | None:
    """Return the HTTP status of a provider's exception, or of what caused it."""
    for part in _chain(error):
        response = getattr(part, "response", None)
        if isinstance(response, Mapping):  # botocore
            metadata = response.get("ResponseMetadata")
            found = metadata.get("HTTPStatusCode") if isinstance(metadata, Mapping) else None
        else:
            found = getattr(response, "status_code", None)
        for candidate in (getattr(part, "status_code", None), found, getattr(part, "code", None)):
            if isinstance(candidate, int) and not isinstance(candidate, bool) and 400 <= candidate < 600:
                return int(candidate)
    return None


def message_of(error: Exception) -> str:
    """Return what the provider said, secrets and all.

    That is the reason in the reply's body, else the body itself, else the exception's own words.
    """
    bodies = []
    for part in _chain(error):
        text = getattr(getattr(part, "response", None), "text", None)
        text = text if isinstance(text, str) else ""
        bodies.append(text.strip())
        try:
            in_reply = json.loads(text)
        except (ValueError, RecursionError):
            in_reply = None
        for body in (in_reply, getattr(part, "body", None), getattr(part, "details", None)):
            if said := _said(body):
                return said[:_MOST_READ]
    return (next(filter(None, bodies), "") or str(error))[:_MOST_READ]


def says_too_long(message: str) -> bool:
    """Tell whether the words are those of a prompt that does not fit the context."""
    return _CONTEXT.search(message) is not None


def _said(body: Any, depth: int = 6) -> str:
    """Return the reason in a body of any of the usual forms; "" where there is none.

    OpenAI and its like: {"error": {"message": …}}, {"error": "…"} or {"message": "…"}. FastAPI:
    {"detail": …}, a text, or a list of what is wrong with the request.
    """
    if isinstance(body, str):
        return body.strip()
    if isinstance(body, list) and depth:
        return "; ".join(filter(None, (_said(each, depth - 1) for each in body[:_MOST_FAULTS])))
    if not isinstance(body, Mapping) or not depth:
        return ""
    for key in _REASONS:
        if said := _said(body.get(key), depth - 1):
            code = body.get("code") or body.get("type") if key == "message" else None
            place = body.get("loc") if key == "msg" else None
            where = [str(part) for part in place if part != "body"] if isinstance(place, list) else []
            return f"{'.'.join(where)}: {said}" if where else f"{said} ({code})" if code else said
    return ""


def _retry_after(error: Exception) -> float | None:
    """Return the seconds that a server asks to wait; a header that says nothing is as good as none."""
    replies = (getattr(part, "response", None) for part in _chain(error))
    headers: Any = next((found for each in replies if (found := getattr(each, "headers", None))), {})
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            seconds = float(milliseconds) / 1000
        elif (value := headers.get("retry-after")) is None:
            return None
        elif re.fullmatch(r"[-+.\w]+", value):
            seconds = float(value)
        else:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None

"""Which failures are tried again, how long apart, and as which error they end."""

from __future__ import annotations

import email.utils
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import (
    AuthFailed,
    ChameleonError,
    ContextTooLong,
    ModelError,
    NoModel,
    RateLimited,
    Refused,
    ScriptExhausted,
    Unreachable,
)
from chameleon.llm.failures import classify
from chameleon.retry import Backoff


class Response:
    def __init__(self, status_code: int, headers: dict[str, str] | None = None) -> None:
        self.status_code, self.headers = status_code, headers or {}


class ProviderError(Exception):
    def __init__(self, message: str, status: int | None = None, **attributes: Any) -> None:
        super().__init__(message)
        if status is not None:
            self.response = Response(status, attributes.pop("headers", None))
        self.__dict__.update(attributes)


@given(chance=st.floats(0, 1, exclude_max=True))
def test_backoff_waits_longer_each_time_within_bounds(chance: float) -> None:
    backoff = Backoff(first=0.5, longest=4, chance=lambda: chance)
    for attempt in range(1, 9):
        doubled = min(4, 0.5 * 2 ** (attempt - 1))
        assert doubled / 2 <= backoff.wait(attempt) <= doubled


@given(st.floats(min_value=0, max_value=1e9), st.integers(1, 2000))
def test_a_wait_is_never_shorter_than_asked_nor_longer_than_the_cap(asked: float, attempt: int) -> None:
    backoff = Backoff()
    wait = backoff.wait(attempt, asked)
    assert min(asked, backoff.longest_asked) <= wait <= backoff.longest_asked


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (ProviderError("x", 429), RateLimited, True),
        (ProviderError("You exceeded your current quota", 429), RateLimited, False),
        (ProviderError("x", 500), ModelError, True),
        (ProviderError("x", 529), ModelError, True),
        (ProviderError("x", 501), ModelError, False),
        (ProviderError("x", 408), ModelError, True),
        (ProviderError("x", 400), ModelError, False),
        (ProviderError("x", 402), ModelError, False),
        (ProviderError("x", 401), AuthFailed, False),
        (
            ProviderError("Project has no access to model; does not have access to model x", 403),
            NoModel,
            False,
        ),
        (ProviderError("x", 413), ContextTooLong, False),
        (ProviderError("prompt is too long: 9 tokens > 8 maximum", 400), ContextTooLong, False),
        (ProviderError("the request exceeds the available context size", 500), ContextTooLong, False),
        (ProviderError("Input is too long for requested model", 400), ContextTooLong, False),
        (
            ProviderError("The input token count (9) exceeds the maximum number of tokens", 400),
            ContextTooLong,
            False,
        ),
        (ProviderError("model 'x' not found, try pulling it first", 404), NoModel, False),
        (
            ProviderError("x", 404, body={"error": {"type": "not_found_error", "message": "model: x"}}),
            NoModel,
            False,
        ),
        (ProviderError("x is not a valid model ID", 400), NoModel, False),
        (ProviderError("The model `x` does not exist or you do not have access to it.", 404), NoModel, False),
        (ProviderError("ResponsibleAIPolicyViolation", 400), Refused, False),
        (ProviderError("ollama style", status_code=503), ModelError, True),
        (ProviderError("google style", code=429), RateLimited, True),
        (
            ProviderError("aws style", response={"ResponseMetadata": {"HTTPStatusCode": 429}}),
            RateLimited,
            True,
        ),
        (TimeoutError("slow"), ModelError, True),
        (ConnectionResetError("gone"), Unreachable, True),
        (TypeError("unexpected keyword 'foo'"), ModelError, False),
        (ValueError("Could not resolve authentication method"), AuthFailed, False),
        (ScriptExhausted("empty"), ScriptExhausted, False),
    ],
)
def test_classification(error: Exception, kind: type[ModelError], retryable: bool) -> None:
    failure = classify(error)
    assert (type(failure.error), failure.retryable) == (kind, retryable)


def test_the_status_is_found_in_what_caused_the_exception() -> None:
    try:
        try:
            raise ProviderError("slow down", 429, headers={"retry-after": "3"})
        except ProviderError as cause:
            raise RuntimeError("wrapped") from cause
    except RuntimeError as error:
        failure = classify(error)
    assert isinstance(failure.error, RateLimited) and failure.retry_after == 3


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert classify(ProviderError("x", 429, headers=headers)).retry_after == seconds


def test_retry_after_may_be_a_date() -> None:
    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    asked = classify(ProviderError("x", 503, headers={"retry-after": date})).retry_after
    assert asked is not None and 25 < asked <= 31


@given(
    message=st.text(max_size=80),
    status=st.none() | st.integers(-5, 700),
    body=st.none()
    | st.text(max_size=9)
    | st.dictionaries(st.sampled_from(["error", "message", "code"]), st.text()),
    retry_after=st.text(max_size=6),
)
def test_any_exception_becomes_one_line_of_ours(
    message: str, status: int | None, body: Any, retry_after: str
) -> None:
    failure = classify(
        ProviderError(message, status, body=body, headers={"retry-after": retry_after} if status else None)
    )
    assert isinstance(failure.error, ModelError) and isinstance(failure.error, ChameleonError)
    assert "\n" not in str(failure.error) and len(str(failure.error)) < 600
    if status in (429, 500, 502, 503):
        assert failure.retryable or type(failure.error) in (ContextTooLong, RateLimited)
    if status in (400, 401, 403, 404):
        assert not failure.retryable
    assert failure.retry_after is None or failure.retry_after >= 0

"""Which failures are tried again, and as which error they end, in whose words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import (
    AuthFailed,
    ChameleonError,
    ContextTooLong,
    ModelError,
    RateLimited,
    ScriptExhausted,
    Unreachable,
)
from chameleon.llm.failures import classify
from tests.llm.asking import Json, Start, local, talking
from tests.loopback import Fault

CASES = yaml.safe_load(Path(__file__).with_name("failures.yaml").read_text("utf-8"))
DEEP = b"[" * 100_000


class Response:
    def __init__(self, status_code: int, headers: dict[str, str] | None = None) -> None:
        self.status_code, self.headers = status_code, headers or {}


class ProviderError(Exception):
    def __init__(self, message: str, status: int | None = None, **attributes: Any) -> None:
        super().__init__(message)
        if status is not None:
            self.response = Response(status, attributes.pop("headers", None))
        self.__dict__.update(attributes)


@pytest.mark.parametrize("case", CASES["raised"], ids=[case["said"][:40] for case in CASES["raised"]])
def test_what_clients_raise(case: Json) -> None:
    told = {name: value for name, value in case.items() if name not in ("said", "error", "retryable")}
    failure = classify(ProviderError(case["said"], **told))
    assert (type(failure.error).__name__, failure.retryable) == (case["error"], case["retryable"])


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (TimeoutError("slow"), ModelError, True),
        (ConnectionResetError("gone"), Unreachable, True),
        (TypeError("unexpected keyword 'foo'"), ModelError, False),
        (ValueError("Could not resolve authentication method"), AuthFailed, False),
        (ScriptExhausted("empty"), ScriptExhausted, False),
    ],
)
def test_what_has_no_status(error: Exception, kind: type[ModelError], retryable: bool) -> None:
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
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert classify(ProviderError("x", 429, headers=headers)).retry_after == seconds


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


@pytest.mark.parametrize("case", CASES["bodies"], ids=[str(case["body"])[:40] for case in CASES["bodies"]])
def test_the_servers_own_words_reach_the_user(loopback: Start, case: Json) -> None:
    loopback([Fault(400, case["body"])])
    with pytest.raises(ModelError, match=case["said"]):
        local().ask("hi")


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("body", [DEEP, b'{"error":' * 3_000 + b"1" + b"}" * 3_000], ids=["list", "error"])
def test_a_body_nested_too_deep_is_told_with_the_server(status: int, body: bytes) -> None:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    send = talking(lambda connection: connection.sendall(head.encode() + body))
    told = "openai:local: the server does not answer in JSON that can be read|openai:local: .*rejected .400"
    with send as server, pytest.raises(ModelError, match=told) as caught:
        local(base_url=server, retries=3).ask("hi")
    assert len(str(caught.value)) < 500

"""Which failures are tried again, as which error they end, and what is learned from their words."""

from collections.abc import Collection
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import AuthFailed, ContextTooLong, ModelError, RateLimited, ScriptExhausted, Unreachable
from chameleon.llm.capabilities import Capabilities
from chameleon.llm.failures import classify
from chameleon.llm.parameters import OURS, WIRE_NAMES, Fitted, learn, refused_name
from tests.llm.asking import Json, Start, local, sending
from tests.loopback import Fault

CASES = yaml.safe_load(Path(__file__).with_name("failures.yaml").read_text("utf-8"))
DEEP = {"list": b"[" * 100_000, "error": b'{"error":' * 3_000 + b"1" + b"}" * 3_000}


class ProviderError(Exception):
    def __init__(self, said: str, status: int | None = None, headers: Any = None, **attributes: Any) -> None:
        super().__init__(said)
        if status is not None:
            self.response = SimpleNamespace(status_code=status, headers=headers or {})
        self.__dict__.update(attributes)


@pytest.mark.parametrize("case", CASES["raised"], ids=[case["said"][:40] for case in CASES["raised"]])
def test_what_clients_raise(case: Json) -> None:
    told = {name: value for name, value in case.items() if name not in ("said", "error", "retryable")}
    failure = classify(ProviderError(case["said"], **told))
    assert (type(failure.error).__name__, failure.retryable) == (case["error"], case["retryable"])


def test_what_has_no_status() -> None:
    for error, kind, retryable in (
        (TimeoutError("slow"), ModelError, True),
        (ConnectionResetError("gone"), Unreachable, True),
        (TypeError("unexpected keyword 'foo'"), ModelError, False),
        (ValueError("Could not resolve authentication method"), AuthFailed, False),
        (ScriptExhausted("empty"), ScriptExhausted, False),
    ):
        failure = classify(error)
        assert (type(failure.error), failure.retryable) == (kind, retryable)


def test_status_and_retry_after_are_in_the_cause() -> None:
    times = {"2.5": 2.5, "-4": 0.0, "soon": None, "Wed, 21 Oct 2015 07:28:00 GMT": 0.0, "nan": None}
    headers = [({"retry-after": text}, seconds) for text, seconds in times.items()]
    for told, seconds in [*headers, ({"retry-after-ms": "250"}, 0.25), ({}, None)]:
        error = RuntimeError("wrapped")
        error.__cause__ = ProviderError("slow down", 429, told)
        failure = classify(error)
        assert isinstance(failure.error, RateLimited) and failure.retry_after == seconds


bodies = st.dictionaries(st.sampled_from(["error", "message", "code"]), st.text())


@given(
    message=st.text(max_size=80),
    status=st.none() | st.integers(-5, 700),
    body=st.none() | st.text(max_size=9) | bodies,
    retry_after=st.text(max_size=6),
)
def test_any_exception_becomes_ours(message: str, status: int | None, body: Any, retry_after: str) -> None:
    failure = classify(ProviderError(message, status, {"retry-after": retry_after}, body=body))
    assert isinstance(failure.error, ModelError)
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


@pytest.mark.parametrize("status", ["200 X", "400 X"])
@pytest.mark.parametrize("body", DEEP)
def test_a_body_nested_too_deep_is_told_with_the_server(status: str, body: str) -> None:
    told = "openai:local: the server does not answer in JSON that can be read|openai:local: .*rejected .400"
    with sending(DEEP[body], status) as server, pytest.raises(ModelError, match=told) as caught:
        local(base_url=server, retries=3).ask("hi")
    assert len(str(caught.value)) < 500


ALL = frozenset({*WIRE_NAMES, *OURS})
REFUSALS = yaml.safe_load(Path(__file__).with_name("refusals.yaml").read_text("utf-8"))


def response(status: int, body: Json) -> httpx.Response:
    return httpx.Response(status, json=body, request=httpx.Request("POST", "http://127.0.0.1/v1"))


@cache
def client(sdk: str) -> Any:
    kind = getattr(pytest.importorskip(sdk), {"openai": "OpenAI", "anthropic": "Anthropic"}[sdk])
    return kind(api_key="k", base_url="http://127.0.0.1/v1")


def raised(sdk: str, status: int, body: Json) -> Exception:
    """What a client raises for an answer; its class goes by the status."""
    error: Exception = client(sdk)._make_status_error_from_response(response(status, body))
    return error


def error_of(by: str, said: str, *, status: int = 400, **more: str) -> Exception:
    error = {"message": said, "type": "invalid_request_error"}
    if by == "openai":
        return raised("openai", status, {"error": {**error, "param": None, "code": None, **more}})
    if by == "anthropic":
        return raised("anthropic", status, {"type": "error", "error": error})
    if by == "google":
        body = {"error": {"code": status, "message": said, "status": "INVALID_ARGUMENT"}}
        errors = pytest.importorskip("google.genai.errors")
        made: Exception = errors.ClientError(status, body, response(status, body))
        return made
    return ProviderError(f"Error code: 400 - {error}", status_code=status, body={"error": error})


def refused(error: Exception, sent: Collection[str] = ALL) -> str:
    return refused_name(classify(error), sent)


@pytest.mark.parametrize("case", REFUSALS, ids=[f"{case['by']}: {case['said'][:50]}" for case in REFUSALS])
def test_the_words_of_servers(case: Json) -> None:
    params = {name: case[name] for name in ("param", "code", "status") if name in case}
    error = error_of(case["by"], case["said"], **params)
    wrapped = RuntimeError(f"Error calling model 'x' (INVALID_ARGUMENT): {error}")
    wrapped.__cause__ = error  # as LangChain's client of Google raises it
    for each in (error, wrapped) if case["by"] == "google" else (error,):
        assert refused(each) == (case["name"] or "")
        if case["name"] is None:
            continue
        sent = {**dict.fromkeys(ALL, "?"), "max_tokens": 1_000_000}
        learned = learn(classify(each), Fitted({}, Capabilities(), sent, 0, (), {}), 1, ())
        assert learned is not None and learned.limit_name == case.get("limit_name", "")
        assert (learned.most_output, [*learned.efforts]) == (case.get("most_output"), case.get("efforts", []))
        is_kept = case["name"] in OURS or {"limit_name", "most_output", "efforts"} & case.keys()
        assert list(learned.refuses) == ([] if is_kept else [case["name"]])
        assert not refused(each, ALL - {case["name"], "top_p"}) or "top_p" in case["said"]


DETAIL = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}
EXTRA = {"detail": [DETAIL]}
MISSING = {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Required"}]}


@pytest.mark.parametrize("words", [f"Error code: 422 - {EXTRA}", "Not Processable", "anthropic", "openai"])
def test_a_server_made_with_fastapi(words: str) -> None:
    error = ProviderError(words, status_code=422, body=EXTRA) if " " in words else raised(words, 422, EXTRA)
    assert refused(error, {"temperature", "seed"}) == "seed"
    error = raised("openai", 422, {"object": "error", "message": EXTRA})
    assert refused(error, {"temperature", "seed"}) == "seed"


def test_an_sdk_that_has_no_such_argument() -> None:
    off, cached = {"thinking": {"type": "disabled"}}, {"cache_control": {"type": "ephemeral"}}
    claudes: Json = {"logprobs": {"logprobs": True}, "seed": {"seed": 3}, "n": {"n": 2}}
    openais: Json = {"reasoning": off, "cache_control": cached}
    claude, openai = client("anthropic").messages.create, client("openai").chat.completions.create
    for ask, arguments in ((claude, claudes), (openai, openais)):
        for name, argument in arguments.items():
            with pytest.raises(TypeError) as caught:
                ask(model="m", max_tokens=5, messages=[{"role": "user", "content": "hi"}], **argument)
            assert refused(caught.value) == name


def test_other_errors_and_what_was_not_sent_are_no_refusals() -> None:
    for error in (
        ProviderError("", status_code=422, body=MISSING),
        TypeError("'NoneType' object is not subscriptable"),
        TypeError("create() got an unexpected keyword argument 'colour'"),
        RuntimeError("temperature is not supported"),
        ConnectionError("temperature is not supported"),
        TimeoutError(),
    ):
        assert not refused(error)
    for said in ("bad top_p", "Unsupported parameter: 'top_p' is not supported."):
        for more in ({"param": "top_p"}, {}):
            assert not refused(error_of("openai", said, **more), {"temperature", "max_tokens"})
    both = error_of("anthropic", "`temperature` and `top_p` cannot both be specified for this model.")
    assert refused(both, {"temperature"}) == "temperature"

"""Which parameter a server refused: the words of real APIs, in the exceptions of their clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import httpx
import pytest

from chameleon.llm.parameters import WIRE_NAMES
from chameleon.llm.refusals import OURS, refusal_of

Json = dict[str, Any]
ALL = frozenset({*WIRE_NAMES, *OURS})


Make = Callable[[], Exception]


def response(status: int, body: Json) -> httpx.Response:
    return httpx.Response(status, json=body, request=httpx.Request("POST", "http://127.0.0.1/v1"))


@cache
def client(sdk: str) -> Any:
    module = pytest.importorskip(sdk)
    if sdk == "openai":
        return module.OpenAI(api_key="k", base_url="http://127.0.0.1/v1")
    return module.Anthropic(api_key="k", base_url="http://127.0.0.1")


def raised(sdk: str, status: int, body: Json) -> Exception:
    """What a client raises for an answer; its class goes by the status."""
    error: Exception = client(sdk)._make_status_error_from_response(response(status, body))
    return error


def openai_error(
    message: str, param: str | None = None, code: str | None = None, status: int = 400
) -> Exception:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return raised("openai", status, {"error": error})


def anthropic_error(message: str, status: int = 400) -> Exception:
    error = {"type": "invalid_request_error", "message": message}
    return raised("anthropic", status, {"type": "error", "error": error})


def google_error(message: str, status: int = 400, words: str = "INVALID_ARGUMENT") -> Exception:
    errors = pytest.importorskip("google.genai.errors")
    body = {"error": {"code": status, "message": message, "status": words}}
    error: Exception = errors.ClientError(status, body, response(status, body))
    return error


class Plain(Exception):
    """An exception as other clients raise them: a status, a body, and words of its own."""

    def __init__(self, status: int, body: Any = None, words: str = "") -> None:
        super().__init__(words)
        self.status_code, self.body = status, body


def groq_error(message: str) -> Exception:
    body = {"error": {"message": message, "type": "invalid_request_error"}}
    return Plain(400, body, f"Error code: 400 - {body}")


EFFORTS = "Supported values are: 'none', 'low', 'medium', 'high', and 'xhigh'."


def test_the_exceptions_are_those_of_the_clients() -> None:
    kinds = [
        (openai_error("x"), "BadRequestError"),
        (openai_error("x", status=403), "PermissionDeniedError"),
        (anthropic_error("x"), "BadRequestError"),
        (google_error("x"), "ClientError"),
    ]
    assert [type(error).__name__ for error, _ in kinds] == [name for _, name in kinds]


@pytest.mark.parametrize(
    ("message", "param", "code", "status", "name"),
    [
        (
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value "
            "is supported.",
            "temperature",
            "unsupported_value",
            400,
            "temperature",
        ),
        ("Unsupported parameter: 'top_p' is not supported with this model.", "top_p", None, 400, "top_p"),
        ("Unsupported parameter: 'top_p' is not supported with this model.", None, None, 400, "top_p"),
        ("Unsupported parameter: 'stop' is not supported with this model.", "stop", None, 400, "stop"),
        (
            "You are not allowed to request logprobs from this model",
            None,
            None,
            403,
            "logprobs",
        ),
        ("logprobs are not supported with reasoning models.", "include", None, 400, "logprobs"),
        ("Unrecognized request argument supplied: reasoning_effort", None, None, 400, "reasoning"),
        ("Unrecognized request argument supplied: prompt_cache_key", None, None, 400, "prompt_cache_key"),
        ("Unknown parameter: 'seed'.", "seed", "unknown_parameter", 400, "seed"),
        (
            "Unsupported parameter: 'n' is not supported with this model.",
            "n",
            "unsupported_parameter",
            400,
            "n",
        ),
        (
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            "reasoning.effort",
            "unsupported_parameter",
            400,
            "reasoning",
        ),
    ],
)
def test_openai(message: str, param: str | None, code: str | None, status: int, name: str) -> None:
    found = refusal_of(openai_error(message, param, code, status), ALL)
    assert found is not None and found.name == name
    assert message in found.said
    assert (found.limit_name, found.most_output, found.efforts) == ("", None, ())


@pytest.mark.parametrize("param", ["max_tokens", None])
def test_openai_calls_the_limit_by_another_name(param: str | None) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. "
    found = refusal_of(openai_error(f"{message}Use 'max_completion_tokens' instead.", param), {"max_tokens"})
    assert found is not None
    assert (found.name, found.limit_name, found.most_output) == ("max_tokens", "max_completion_tokens", None)


def test_openai_tells_the_most_that_a_limit_can_be() -> None:
    message = "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas "
    error = openai_error(f"{message}you provided 100000.", "max_tokens", "invalid_value")
    found = refusal_of(error, {"temperature", "max_tokens"})
    assert found is not None
    assert (found.name, found.limit_name, found.most_output) == ("max_tokens", "", 16384)


@pytest.mark.parametrize(
    ("message", "param"),
    [
        (
            f"Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. {EFFORTS}",
            None,
        ),
        (
            f"Unsupported value: 'minimal' is not supported with the 'gpt-x' model. {EFFORTS}",
            "reasoning.effort",
        ),
    ],
)
def test_openai_tells_which_efforts_there_are(message: str, param: str | None) -> None:
    found = refusal_of(openai_error(message, param, "unsupported_value"), {"temperature", "reasoning"})
    assert found is not None
    assert (found.name, found.efforts) == ("reasoning", ("none", "low", "medium", "high", "xhigh"))


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("`temperature` is deprecated for this model.", "temperature"),
        (
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
            "top_p",
        ),
        (
            "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
            "temperature",
        ),
        ("stop_sequences: each stop sequence must contain non-whitespace", "stop"),
        ("This model does not support the effort parameter.", "reasoning"),
        ('"thinking.type.enabled" is not supported for this model.', "reasoning"),
        (
            '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.',
            "reasoning",
        ),
        ("cache_control: Extra inputs are not permitted", "cache_control"),
    ],
)
def test_anthropic(message: str, name: str) -> None:
    found = refusal_of(anthropic_error(message), ALL)
    assert found is not None and found.name == name
    assert (found.limit_name, found.most_output, found.efforts) == ("", None, ())


def test_of_two_parameters_the_one_that_was_sent_is_refused() -> None:
    error = anthropic_error("`temperature` and `top_p` cannot both be specified for this model.")
    found = refusal_of(error, {"temperature"})
    assert found is not None and found.name == "temperature"


def test_anthropic_tells_which_efforts_there_are() -> None:
    message = "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium."
    found = refusal_of(anthropic_error(message), {"max_tokens", "reasoning"})
    assert found is not None
    assert (found.name, found.efforts) == ("reasoning", ("low", "medium", "high", "max"))


def test_anthropic_tells_the_most_that_a_limit_can_be() -> None:
    message = "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-x"
    found = refusal_of(anthropic_error(message), {"max_tokens"})
    assert found is not None and (found.name, found.most_output) == ("max_tokens", 128000)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (
            "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
            "reasoning",
        ),
        ("Thinking level is not supported for this model.", "reasoning"),
        ("Budget 0 is invalid. This model only works in thinking mode.", "reasoning"),
        ("Logprobs is not enabled for this model", "logprobs"),
        ("Logprobs is not enabled for models/gemini-2.5-flash", "logprobs"),
        ('Unknown name "seed": Cannot find field.', "seed"),
        (
            "Invalid JSON payload received. Unknown name \"seed\" at 'generation_config': Cannot find field.",
            "seed",
        ),
    ],
)
def test_google(message: str, name: str) -> None:
    error = google_error(message)
    assert message.split('"')[0] in str(error)
    wrapped = RuntimeError(f"Error calling model 'gemini-x' (INVALID_ARGUMENT): {error}")
    wrapped.__cause__ = error  # as LangChain's client raises it
    for each in (error, wrapped):
        found = refusal_of(each, ALL)
        assert found is not None and found.name == name


def test_groq_tells_which_efforts_there_are() -> None:
    found = refusal_of(groq_error("`reasoning_effort` must be one of `low`, `medium`, or `high`"), ALL)
    assert found is not None
    assert (found.name, found.efforts) == ("reasoning", ("low", "medium", "high"))


EXTRA = {
    "detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]
}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Plain(422, EXTRA, f"Error code: 422 - {EXTRA}"),
        lambda: raised("anthropic", 422, EXTRA),
        pytest.param(lambda: raised("openai", 422, EXTRA)),
        pytest.param(lambda: Plain(422, EXTRA, "Unprocessable Entity")),
        pytest.param(
            lambda: raised("openai", 422, {"object": "error", "message": EXTRA}),
            id="detail in message",
        ),
    ],
)
def test_a_server_made_with_fastapi(make: Make) -> None:
    found = refusal_of(make(), {"temperature", "seed"})
    assert found is not None and found.name == "seed"


@pytest.mark.parametrize(
    ("sdk", "argument", "name"),
    [
        ("anthropic", {"logprobs": True}, "logprobs"),
        ("anthropic", {"seed": 3}, "seed"),
        ("anthropic", {"n": 2}, "n"),
        ("openai", {"thinking": {"type": "disabled"}}, "reasoning"),
        ("openai", {"cache_control": {"type": "ephemeral"}}, "cache_control"),
    ],
)
def test_an_sdk_that_has_no_such_argument(sdk: str, argument: Json, name: str) -> None:
    ask = client(sdk).messages.create if sdk == "anthropic" else client(sdk).chat.completions.create
    with pytest.raises(TypeError) as caught:
        ask(model="m", max_tokens=5, messages=[{"role": "user", "content": "hi"}], **argument)
    found = refusal_of(caught.value, ALL)
    assert found is not None and found.name == name


@pytest.mark.parametrize(
    ("message", "most"),
    [
        ("`max_tokens` must be less than or equal to `16384`", 16384),  # anomalyco/opencode#1000
        ("max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000", 8000),  # groq-moa#8
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),  # DeepSeek
        (  # Vertex AI, BerriAI/litellm#10548: the end of the range is not part of it
            "Unable to submit request because it has a maxOutputTokens value of 65536 but the supported "
            "range is from 1 (inclusive) to 65536 (exclusive). Update the value and try again.",
            65535,
        ),
    ],
)
def test_other_words_for_a_limit_that_is_too_large(message: str, most: int) -> None:
    found = refusal_of(groq_error(message), ALL)
    assert found is not None and (found.name, found.most_output) == ("max_tokens", most)


@pytest.mark.parametrize(
    ("message", "param", "code", "status"),
    [
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in "
            "the messages, 1000 in the completion). Please reduce max_tokens.",
            "messages",
            "context_length_exceeded",
            400,
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length "
            "is 8192 tokens and your request has 100 input tokens (9000 > 8192 - 100).",
            "max_tokens",
            None,
            400,
        ),
        ("Incorrect API key provided: temperature is not supported", None, "invalid_api_key", 401),
        ("You are not allowed to sample from this model", None, None, 403),
        ("Rate limit reached: max_tokens is too large", None, "rate_limit_exceeded", 429),
        ("Unsupported parameter: 'temperature' is not supported", "temperature", None, 500),
        ("temperature is not supported by this model", None, None, 404),
        (
            "The response was filtered due to the prompt triggering our content management policy. Please "
            "modify your prompt and retry.",
            "prompt",
            "content_filter",
            400,
        ),
        ("bad top_p", None, None, 400),
        ("Unsupported value: 'messages[0].role' is not supported", "messages[0].role", None, 400),
        ("This model is not supported.", None, None, 400),
        ("Please stop this thinking, no effort, reasoning or seed is supported", None, None, 400),
    ],
)
def test_openai_rejects_for_other_reasons(
    message: str, param: str | None, code: str | None, status: int
) -> None:
    assert refusal_of(openai_error(message, param, code, status), ALL) is None


@pytest.mark.parametrize("message", ["bad top_p", "Unsupported parameter: 'top_p' is not supported."])
@pytest.mark.parametrize("param", ["top_p", None])
def test_what_was_not_sent_cannot_be_refused(message: str, param: str | None) -> None:
    assert refusal_of(openai_error(message, param), {"temperature", "max_tokens"}) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: anthropic_error(
            "input length and `max_tokens` exceed context limit: 188000 + 20000 > 200000, decrease input "
            "length or `max_tokens` and try again"
        ),
        lambda: anthropic_error("prompt is too long: 210000 tokens > 200000 maximum"),
        lambda: anthropic_error("invalid x-api-key: `temperature` is not supported", 401),
        lambda: anthropic_error("`temperature` is not supported: overloaded", 529),
        lambda: google_error(
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
        ),
        lambda: google_error("API key not valid. Please pass a valid API key."),
        lambda: google_error("temperature not supported: exhausted", 429, "RESOURCE_EXHAUSTED"),
        lambda: Plain(422, {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Required"}]}),
        lambda: TypeError("'NoneType' object is not subscriptable"),
        lambda: TypeError("create() got an unexpected keyword argument 'colour'"),
        lambda: RuntimeError("temperature is not supported"),
        lambda: ConnectionError("temperature is not supported"),
        lambda: TimeoutError(),
    ],
)
def test_other_errors_are_no_refusals(make: Make) -> None:
    assert refusal_of(make(), ALL) is None


def test_nothing_that_was_not_sent_is_refused() -> None:
    texts: Mapping[str, str] = {
        "temperature": "`temperature` is deprecated for this model.",
        "seed": 'Unknown name "seed": Cannot find field.',
        "reasoning": "This model does not support the effort parameter.",
    }
    for name, text in texts.items():
        assert refusal_of(groq_error(text), ALL - {name}) is None
        assert refusal_of(groq_error(text), frozenset()) is None

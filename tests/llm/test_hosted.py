"""The stand-in of the hosted APIs refuses, counts and answers as they do, asked by the real clients."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

from tests.hosted import HostedServer
from tests.llm.asking import Host, Json

pytestmark = pytest.mark.filterwarnings(
    "ignore:The model 'claude-sonnet-4-5' is deprecated:DeprecationWarning"
)
LONG = "All work and no play. " * 400  # 8,800 characters, 2,200 tokens
TOOL = {"name": "tell", "description": "d", "input_schema": {"type": "object", "properties": {}}}


def openai(server: HostedServer, model: str, **settings: Any) -> ChatOpenAI:
    settings = {"base_url": server.openai_url, "api_key": "k", "max_retries": 0, **settings}
    return ChatOpenAI(model=model, **settings)


def claude(server: HostedServer, model: str, **settings: Any) -> BaseChatModel:
    anthropic = pytest.importorskip("langchain_anthropic")
    settings = {"base_url": server.url, "api_key": "k", "max_retries": 0, "max_tokens": 2000, **settings}
    made: BaseChatModel = anthropic.ChatAnthropic(model=model, **settings)
    return made


def gemini(server: HostedServer, model: str, **settings: Any) -> BaseChatModel:
    google = pytest.importorskip("langchain_google_genai")
    settings = {"base_url": server.url, "google_api_key": "k", "max_retries": 1, **settings}
    made: BaseChatModel = google.ChatGoogleGenerativeAI(model=model, **settings)
    return made


def post(server: HostedServer, path: str, body: Json, *, key: bool = True) -> tuple[int, Json]:
    """Send a request as JSON, without any client's help."""
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port or 0, timeout=10)
    keys = {"Authorization": "Bearer k", "x-api-key": "k", "x-goog-api-key": "k"} if key else {}
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **keys})
    reply = connection.getresponse()
    answer = reply.status, json.loads(reply.read())
    connection.close()
    return answer


def chat(server: HostedServer, model: str, **body: Any) -> tuple[int, Json]:
    messages = body.pop("messages", [{"role": "user", "content": "hello"}])
    return post(server, "/v1/chat/completions", {"model": model, "messages": messages, **body})


def respond(server: HostedServer, model: str, **body: Any) -> tuple[int, Json]:
    return post(server, "/v1/responses", {"model": model, "input": "hello", **body})


def message(server: HostedServer, model: str, **body: Any) -> tuple[int, Json]:
    messages = body.pop("messages", [{"role": "user", "content": "hello"}])
    body = {"model": model, "max_tokens": 2000, "messages": messages, **body}
    return post(server, "/v1/messages", {name: value for name, value in body.items() if value is not None})


def generate(server: HostedServer, model: str, **config: Any) -> tuple[int, Json]:
    contents = [{"role": "user", "parts": [{"text": "hello"}]}]
    body = {"contents": contents, "generationConfig": config}
    return post(server, f"/v1beta/models/{model}:generateContent", body)


def says(answer: tuple[int, Json], words: str, status: int = 400) -> Json:
    """Check a refusal's status and words, and return its error."""
    assert answer[0] == status, answer
    error: Json = answer[1]["error"]
    assert words in error["message"]
    return error


def test_a_classic_model_refuses_efforts_long_lists_of_stops_and_two_limits(
    hosted: Host,
) -> None:
    server = hosted()
    refused = chat(server, "gpt-4.1-mini", reasoning_effort="low")
    error = says(refused, "Unrecognized request argument supplied: reasoning_effort")
    assert error == {**error, "type": "invalid_request_error", "param": None, "code": None}
    too_many = chat(server, "gpt-4.1-mini", stop=list("abcde"))
    assert says(too_many, "Expected an array with maximum length 4, but got an array with length 5")
    both = chat(server, "gpt-4.1-mini", max_tokens=5, max_completion_tokens=5)
    says(both, "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    says(chat(server, "gpt-4o-mini", max_tokens=20000), "This model supports at most 16384 completion tokens")
    says(chat(server, "gpt-4o-mini", temperature=2.1), "Expected a value <= 2, but got 2.1 instead.")


@pytest.mark.parametrize("model", ["gpt-5-mini", "gpt-6-luna", "gpt-5.6-sol", "o4-mini"])
@pytest.mark.parametrize(
    ("parameter", "words", "param", "code"),
    [
        ({"temperature": 0}, "'temperature' does not support 0 with", "temperature", "unsupported_value"),
        ({"top_p": 0.5}, "'top_p' is not supported with", "top_p", "unsupported_parameter"),
        ({"stop": "\n"}, "'stop' is not supported with", "stop", "unsupported_parameter"),
        ({"max_tokens": 9}, "Use 'max_completion_tokens' instead", "max_tokens", "unsupported_parameter"),
        ({"top_k": 3}, "Unknown parameter: 'top_k'.", "top_k", "unknown_parameter"),
        ({"reasoning_effort": "deep"}, "does not support 'deep'", "reasoning_effort", "unsupported_value"),
    ],
)
def test_a_model_that_thinks_refuses_each_in_the_words_of_the_api(
    hosted: Host, model: str, parameter: Json, words: str, param: str, code: str
) -> None:
    server = hosted()
    error = says(chat(server, model, **parameter), words)
    assert error == {**error, "type": "invalid_request_error", "param": param, "code": code}
    assert server.refused[0].error == {"error": error}
    assert (server.requests[0].model, server.requests[0].status) == (model, 400)
    assert server.requests[0].usage is None


def test_thinking_counts_against_the_limit(hosted: Host) -> None:
    server = hosted(["x" * 100], thinking=100)
    empty = openai(server, "gpt-5-mini", max_tokens=100).invoke("hello")
    assert (empty.text, empty.response_metadata["finish_reason"]) == ("", "length")
    assert server.requests[0].usage == (2, 0, 100, 100)
    cut = openai(server, "gpt-5-mini", max_tokens=110).invoke("hello")
    assert (cut.text, cut.response_metadata["finish_reason"]) == ("x" * 40, "length")
    whole = openai(server, "gpt-5-mini", max_tokens=125).invoke("hello")
    assert (len(whole.text), whole.response_metadata["finish_reason"]) == (100, "stop")
    assert server.tokens("gpt-5-mini") == (6, 0, 335, 300)


def test_long_prompts_are_cached_by_their_prefix_and_key(hosted: Host) -> None:
    server = hosted()

    def ask(text: str, **settings: Any) -> int:
        reply = openai(server, "gpt-4.1-mini", **settings).invoke([SystemMessage(LONG), HumanMessage(text)])
        assert reply.usage_metadata is not None
        return int(reply.usage_metadata["input_token_details"]["cache_read"])

    assert ask("one") == 0
    assert ask("two") == 2176  # 17 times 128
    assert ask("two", model_kwargs={"prompt_cache_key": "mine"}) == 0
    assert ask("three", model_kwargs={"prompt_cache_key": "mine"}) == 2176
    assert server.requests[1].usage == (2201, 2176, 1, 0)
    short = [{"role": "user", "content": LONG[:4000]}]
    for _ in range(2):
        assert chat(server, "gpt-4o-mini", messages=short)[1]["usage"]["prompt_tokens_details"] == {
            "cached_tokens": 0
        }


def test_the_responses_api_refuses_in_its_own_words(hosted: Host) -> None:
    server = hosted()
    for name in ["max_tokens", "stop", "logprobs", "n", "seed", "reasoning_effort"]:
        error = says(respond(server, "gpt-5.6-sol", **{name: 1}), f"Unknown parameter: '{name}'.")
        assert (error["param"], error["code"]) == (name, "unknown_parameter")
    for name in ["temperature", "top_p"]:
        error = says(respond(server, "gpt-5.6-sol", **{name: 0.5}), f"Unsupported parameter: '{name}'")
        assert error["code"] is None
        assert respond(server, "gpt-5.6-sol", **{name: 0.5}, reasoning={"effort": "none"})[0] == 200
        assert respond(server, "gpt-4.1-mini", **{name: 0.5})[0] == 200
    logprobs: list[Json] = [{"include": ["message.output_text.logprobs"]}, {"top_logprobs": 1}]
    for asked in logprobs:
        says(respond(server, "gpt-5-mini", **asked), "logprobs are not supported with reasoning models.")
        assert respond(server, "gpt-4.1-mini", **asked)[0] == 200
    minimal = respond(server, "gpt-6-luna", reasoning={"effort": "minimal"})
    says(minimal, "Unsupported value: 'minimal' is not supported with the 'gpt-6-luna' model.")
    assert respond(server, "gpt-6-luna", reasoning={"effort": "max"})[0] == 200
    classic = respond(server, "gpt-4.1-mini", reasoning={"effort": "low"})
    says(classic, "Unsupported parameter: 'reasoning.effort' is not supported with this model.")
    says(respond(server, "gpt-4.1-mini", max_output_tokens=15), "Expected a value >= 16, but got 15 instead.")
    says(respond(server, "gpt-9"), "The requested model 'gpt-9' does not exist.")


def test_the_messages_api_checks_its_fields(hosted: Host) -> None:
    server = hosted()
    says(message(server, "claude-opus-5", max_tokens=None), "max_tokens: Field required")
    for name in ["logprobs", "stop", "n", "reasoning_effort"]:
        says(message(server, "claude-opus-5", **{name: 1}), f"{name}: Extra inputs are not permitted")
    blank = message(server, "claude-opus-5", stop_sequences=["END", "\n\n"])
    says(blank, "stop_sequences: each stop sequence must contain non-whitespace")
    says(
        message(server, "claude-haiku-4-5", max_tokens=64001),
        "max_tokens: 64001 > 64000, which is the maximum",
    )
    assert message(server, "claude-opus-5", stop_sequences=["END"])[0] == 200


def test_claude_thinks_when_told_to(hosted: Host) -> None:
    server = hosted(lambda asked: "x" * 40, thinking=1200)
    enabled = {"type": "enabled", "budget_tokens": 1024}
    says(message(server, "claude-sonnet-4-5", thinking={**enabled, "budget_tokens": 1000}), "equal to 1024")
    says(message(server, "claude-sonnet-4-5", thinking=enabled, max_tokens=1024), "must be greater than")
    cold = message(server, "claude-sonnet-4-5", thinking=enabled, temperature=0)
    says(cold, "`temperature` may only be set to 1 when thinking is enabled")
    forced = {"tools": [TOOL], "tool_choice": {"type": "any"}}
    says(message(server, "claude-sonnet-4-5", thinking=enabled, **forced), "Thinking may not be enabled when")
    assert not server.served
    reply = claude(server, "claude-sonnet-4-5", thinking=enabled).invoke("hello")
    assert reply.text == "x" * 40
    assert [block["type"] for block in reply.content_blocks] == ["reasoning", "text"]
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["output_tokens"] == 1034
    assert server.served[0].usage == (2, 0, 1034, 1024)


def test_newer_claudes_think_adaptively(hosted: Host) -> None:
    server = hosted()
    assert message(server, "claude-opus-4-8")[1]["usage"]["output_tokens"] == 1
    for asked, reasoning in [
        ({}, 800),
        ({"thinking": {"type": "adaptive"}}, 800),
        ({"thinking": {"type": "disabled"}}, 0),
        ({"output_config": {"effort": "low"}}, 200),
        ({"output_config": {"effort": "high"}}, 1600),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}}, 0),
    ]:
        told = message(server, "claude-opus-5", **asked)[1]["usage"]
        assert told["output_tokens_details"] == {"thinking_tokens": reasoning}
        assert told["output_tokens"] == reasoning + 1
    disabled = {"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}}
    says(message(server, "claude-opus-5", **disabled), "is not supported when thinking is disabled")
    reply = claude(server, "claude-opus-4-8", reasoning_effort="low").invoke("hello")
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["output_token_details"]["reasoning"] == 200
    empty = claude(server, "claude-opus-5", max_tokens=800).invoke("hello")
    assert (empty.text, empty.response_metadata["stop_reason"]) == ("", "max_tokens")


def test_marked_prefixes_are_written_and_read(hosted: Host) -> None:
    server = hosted()

    def ask(text: str, size: int = len(LONG), model: str = "claude-sonnet-4-5") -> Json:
        mark = {"type": "text", "text": LONG[:size], "cache_control": {"type": "ephemeral"}}
        reply = claude(server, model).invoke([SystemMessage(content=[mark]), HumanMessage(text)])
        assert reply.usage_metadata is not None
        assert reply.usage_metadata["input_tokens"] == -(-(size + 1 + len(text)) // 4)
        details: Json = {**reply.usage_metadata["input_token_details"]}
        return {"read": details["cache_read"], "written": details["ephemeral_5m_input_tokens"]}

    assert ask("one") == {"read": 0, "written": 2200}
    assert ask("two") == {"read": 2200, "written": 0}
    assert server.requests[1].usage == (2201, 2200, 1, 0)
    assert ask("two", size=4000) == {"read": 0, "written": 0}
    assert ask("two", size=4000) == {"read": 0, "written": 0}
    assert ask("two", model="claude-haiku-4-5") == {"read": 0, "written": 0}
    marked = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}] * 5
    five = message(server, "claude-opus-5", messages=[{"role": "user", "content": marked}])
    says(five, "A maximum of 4 blocks with cache_control may be provided. Found 5.")


def test_gemini_thinks_by_budget_or_level(hosted: Host) -> None:
    server = hosted(lambda asked: "x" * 40)
    asked: list[tuple[str, Json, int]] = [
        ("gemini-2.5-flash", {}, 800),
        ("gemini-2.5-flash", {"thinking_budget": 0}, 0),
        ("gemini-2.5-flash", {"thinking_budget": 300}, 300),
        ("gemini-2.5-flash", {"thinking_budget": -1}, 800),
        ("gemini-3-flash-preview", {"thinking_level": "minimal"}, 100),
        ("gemini-3.8-flash", {"thinking_level": "high"}, 1600),
    ]
    for model, settings, thoughts in asked:
        reply = gemini(server, model, **settings).invoke("hello")
        assert reply.text == "x" * 40
        assert reply.usage_metadata is not None
        assert reply.usage_metadata["output_tokens"] == thoughts + 10
        assert reply.usage_metadata.get("output_token_details", {}).get("reasoning", 0) == thoughts
        assert server.served[-1].usage == (2, 0, thoughts + 10, thoughts)


def test_gemini_refuses_in_its_words(hosted: Host) -> None:
    server = hosted()
    level, budget = {"thinkingLevel": "low"}, {"thinkingBudget": 1}
    refused: list[tuple[str, Json, str]] = [
        (
            "gemini-3-flash-preview",
            {"thinkingConfig": level | budget},
            "You can only set only one of thinking",
        ),
        ("gemini-2.5-flash", {"thinkingConfig": level}, "Thinking level is not supported for this model."),
        (
            "gemini-2.5-flash",
            {"thinkingConfig": {"thinkingBudget": 24577}},
            "The thinking budget 24577 is invalid",
        ),
        (
            "gemini-3.8-flash",
            {"thinkingConfig": {"thinkingLevel": "minimal"}},
            "Thinking level MINIMAL is not",
        ),
        ("gemini-2.5-flash", {"stopSequences": list("abcdef")}, "stop_sequences must not exceed 5"),
        ("gemini-2.5-flash", {"candidateCount": 9}, "candidateCount value of 9"),
        (
            "gemini-3-flash-preview",
            {"candidateCount": 2},
            "Multiple candidates is not enabled for this model",
        ),
        (
            "gemini-2.5-flash",
            {"responseLogprobs": True},
            "Logprobs is not enabled for models/gemini-2.5-flash",
        ),
        ("gemini-3.8-flash", {"responseLogprobs": True}, "Logprobs is not enabled for this model"),
    ]
    for model, config, words in refused:
        error = says(generate(server, model, **config), words)
        assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    taken = {"temperature": 0, "topP": 1, "topK": 1, "stopSequences": list("abcde"), "candidateCount": 8}
    assert len(generate(server, "gemini-2.5-flash", **taken)[1]["candidates"]) == 8


def test_an_unknown_model_is_not_found_and_a_missing_key_refused(hosted: Host) -> None:
    server = hosted()
    error = says(
        chat(server, "gpt-9"), "The model `gpt-9` does not exist or you do not have access to it.", 404
    )
    assert error["code"] == "model_not_found"
    error = says(message(server, "claude-9"), "model: claude-9", 404)
    assert error["type"] == "not_found_error"
    error = says(generate(server, "gemini-9"), "models/gemini-9 is not found for API version v1beta", 404)
    assert error["status"] == "NOT_FOUND"
    for path, words, status in [
        ("/v1/chat/completions", "You didn't provide an API key.", 401),
        ("/v1/responses", "You didn't provide an API key.", 401),
        ("/v1/messages", "x-api-key header is required", 401),
        ("/v1beta/models/gemini-2.5-flash:generateContent", "allow unregistered callers", 403),
    ]:
        says(post(server, path, {"model": "gpt-4.1-mini"}, key=False), words, status)
    says(post(server, "/v1/elsewhere", {}), "Invalid URL (POST /v1/elsewhere)", 404)

"""The stand-in of the hosted APIs refuses, counts and answers as they do, by a table of their words."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.hosted import HostedServer
from tests.llm.asking import Host, Json

LONG = "All work and no play. " * 400  # 8,800 characters, 2,200 tokens
ENABLED = {"type": "enabled", "budget_tokens": 1024}
USER = [{"role": "user", "content": "hello"}]
PATHS = {
    "chat": "/v1/chat/completions",
    "respond": "/v1/responses",
    "message": "/v1/messages",
    "generate": "/v1beta/models/{}:generateContent",
}


def post(server: HostedServer, path: str, body: Json, *, key: bool = True) -> tuple[int, Json]:
    """Send a request as JSON, without any client's help."""
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port or 0, timeout=10)
    keys = {"Authorization": "Bearer k", "x-api-key": "k", "x-goog-api-key": "k"} if key else {}
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **keys})
    reply = connection.getresponse()
    answer = reply.status, json.loads(reply.read())
    connection.close()
    return answer


def ask(server: HostedServer, api: str, model: str, **body: Any) -> tuple[int, Json]:
    """Ask a model by one of the APIs; `body` is the configuration of Google's."""
    asked: Json = {"model": model, "messages": USER, **body}
    if api == "respond":
        asked = {"model": model, "input": "hello", **body}
    elif api == "message":
        asked = {"max_tokens": 2000, **asked}
    elif api == "generate":
        asked = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}], "generationConfig": body}
    return post(server, PATHS[api].format(model), asked)


@pytest.mark.parametrize(
    ("api", "model", "body", "words"),
    [
        ("chat", "gpt-4.1-mini", {"reasoning_effort": "low"}, "Unrecognized request argument supplied"),
        ("chat", "gpt-4.1-mini", {"stop": list("abcde")}, "Expected an array with maximum length 4"),
        ("chat", "gpt-4.1-mini", {"max_tokens": 5, "max_completion_tokens": 5}, "at the same time is not"),
        ("chat", "gpt-4o-mini", {"max_tokens": 20000}, "supports at most 16384 completion tokens"),
        ("chat", "gpt-4o-mini", {"temperature": 2.1}, "Expected a value <= 2, but got 2.1 instead."),
        ("chat", "gpt-5-mini", {"temperature": 0}, "'temperature' does not support 0 with"),
        ("chat", "gpt-6-luna", {"top_p": 0.5}, "'top_p' is not supported with"),
        ("chat", "gpt-6-luna", {"stop": "\n"}, "'stop' is not supported with"),
        ("chat", "gpt-5-mini", {"max_tokens": 9}, "Use 'max_completion_tokens' instead"),
        ("chat", "gpt-5-mini", {"top_k": 3}, "Unknown parameter: 'top_k'."),
        ("chat", "gpt-5-mini", {"reasoning_effort": "deep"}, "does not support 'deep'"),
        ("respond", "gpt-5.6-sol", {"max_tokens": 1}, "Unknown parameter: 'max_tokens'."),
        ("respond", "gpt-5.6-sol", {"temperature": 0.5}, "Unsupported parameter: 'temperature'"),
        ("respond", "gpt-5-mini", {"top_logprobs": 1}, "logprobs are not supported with reasoning models."),
        ("respond", "gpt-6-luna", {"reasoning": {"effort": "minimal"}}, "Unsupported value: 'minimal'"),
        ("respond", "gpt-4.1-mini", {"reasoning": {"effort": "low"}}, "'reasoning.effort' is not supported"),
        ("respond", "gpt-4.1-mini", {"max_output_tokens": 15}, "Expected a value >= 16, but got 15"),
        ("respond", "gpt-9", {}, "The requested model 'gpt-9' does not exist."),
        ("message", "claude-opus-5", {"logprobs": 1}, "logprobs: Extra inputs are not permitted"),
        ("message", "claude-opus-5", {"stop_sequences": ["\n\n"]}, "must contain non-whitespace"),
        ("message", "claude-haiku-4-5", {"max_tokens": 64001}, "64001 > 64000, which is the maximum"),
        ("message", "claude-sonnet-4-5", {"thinking": ENABLED, "max_tokens": 1024}, "must be greater than"),
        ("message", "claude-sonnet-4-5", {"thinking": ENABLED, "temperature": 0}, "only be set to 1 when"),
        (
            "generate",
            "gemini-2.5-flash",
            {"stopSequences": list("abcdef")},
            "must not exceed 5",
        ),
        ("generate", "gemini-2.5-flash", {"candidateCount": 9}, "candidateCount value of 9"),
        (
            "generate",
            "gemini-3.8-flash",
            {"responseLogprobs": True},
            "Logprobs is not enabled",
        ),
        (
            "generate",
            "gemini-3.8-flash",
            {"thinkingConfig": {"thinkingLevel": "minimal"}},
            "Thinking level MINIMAL is not",
        ),
    ],
)
def test_what_a_model_does_not_take_is_refused_in_the_words_of_its_api(
    hosted: Host, api: str, model: str, body: Json, words: str
) -> None:
    server = hosted()
    status, answer = ask(server, api, model, **body)
    assert status == 400 and words in answer["error"]["message"]
    assert server.refused[0].error == answer and server.requests[0].usage is None


def test_an_unknown_model_is_not_found_and_a_missing_key_refused(hosted: Host) -> None:
    server = hosted()
    for api, model in [("chat", "gpt-9"), ("message", "claude-9"), ("generate", "gemini-9")]:
        assert ask(server, api, model)[0] == 404
    for path, status in [(PATHS["chat"], 401), (PATHS["respond"], 401), (PATHS["message"], 401)]:
        assert post(server, path, {"model": "gpt-4.1-mini"}, key=False)[0] == status


@pytest.mark.parametrize(
    ("api", "model", "body", "thought"),
    [
        ("chat", "gpt-4.1-mini", {}, 0),
        ("chat", "gpt-5-mini", {}, 800),
        ("chat", "gpt-6-luna", {"reasoning_effort": "none"}, 0),
        ("message", "claude-opus-4-8", {}, 0),
        ("message", "claude-opus-5", {}, 800),
        ("message", "claude-opus-5", {"thinking": {"type": "disabled"}}, 0),
        ("message", "claude-opus-5", {"output_config": {"effort": "low"}}, 200),
        ("generate", "gemini-2.5-flash", {}, 800),
        ("generate", "gemini-3.8-flash", {"thinkingConfig": {"thinkingLevel": "high"}}, 1600),
    ],
)
def test_thoughts_are_counted(hosted: Host, api: str, model: str, body: Json, thought: int) -> None:
    server = hosted(lambda asked: "x" * 40)
    assert ask(server, api, model, **body)[0] == 200
    assert server.requests[0].usage == (2, 0, thought + 10, thought)


def test_thinking_counts_against_the_limit(hosted: Host) -> None:
    server = hosted(["x" * 100], thinking=100)
    found = [ask(server, "chat", "gpt-5-mini", max_completion_tokens=most)[1] for most in (100, 110, 125)]
    told = [
        (len(each["choices"][0]["message"]["content"]), each["choices"][0]["finish_reason"]) for each in found
    ]
    assert told == [(0, "length"), (40, "length"), (100, "stop")]
    assert server.tokens("gpt-5-mini") == (6, 0, 335, 300)


def test_long_prompts_are_cached_by_their_prefix_and_marked_ones_where_they_are_marked(hosted: Host) -> None:
    server = hosted()
    mark = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}
    for end in ("one", "two"):
        system = {"role": "system", "content": LONG}
        ask(server, "chat", "gpt-4.1-mini", messages=[system, {"role": "user", "content": end}])
        ask(server, "message", "claude-sonnet-4-5", system=[mark])
    assert [seen.usage.cached for seen in server.served if seen.usage] == [0, 0, 2176, 2200]

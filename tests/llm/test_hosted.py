"""The stand-in of the hosted APIs refuses, counts and answers as they do, by a table of their words."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.hosted import HostedServer
from tests.llm.asking import Host, Json

ENABLED = {"type": "enabled", "budget_tokens": 1024}
USER = [{"role": "user", "content": "hello"}]
ASKS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}],
}
USES = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "now", "input": {}}]}
CLAUDES = [{"name": "now", "input_schema": {"type": "object"}}]
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
        ("chat", "gpt-4o-mini", {"max_tokens": 20000}, "supports at most 16384 completion tokens"),
        ("chat", "gpt-4o-mini", {"temperature": 2.1}, "Expected a value <= 2, but got 2.1 instead."),
        ("chat", "gpt-5-mini", {"temperature": 0}, "'temperature' does not support 0 with"),
        ("chat", "gpt-6-luna", {"stop": "\n"}, "'stop' is not supported with"),
        ("chat", "gpt-5-mini", {"max_tokens": 9}, "Use 'max_completion_tokens' instead"),
        ("respond", "gpt-5.6-sol", {"temperature": 0.5}, "Unsupported parameter: 'temperature'"),
        ("respond", "gpt-6-luna", {"reasoning": {"effort": "minimal"}}, "Unsupported value: 'minimal'"),
        ("message", "claude-opus-5", {"logprobs": 1}, "logprobs: Extra inputs are not permitted"),
        ("message", "claude-haiku-4-5", {"max_tokens": 64001}, "64001 > 64000, which is the maximum"),
        ("message", "claude-sonnet-4-5", {"thinking": ENABLED, "temperature": 0}, "only be set to 1 when"),
        ("generate", "gemini-3.8-flash", {"responseLogprobs": True}, "Logprobs is not enabled"),
        ("chat", "gpt-4.1-mini", {"messages": [USER[0], ASKS]}, "did not have response messages: c1"),
        (
            "message",
            "claude-sonnet-4-5",
            {"tools": CLAUDES, "messages": [*USER, USES]},
            "without `tool_result`",
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
    assert ask(server, api, "nobody-9")[0] in (400, 404)
    assert api == "generate" or post(server, PATHS[api], {"model": model}, key=False)[0] == 401


def test_thinking_is_counted_also_against_the_limit(hosted: Host) -> None:
    server = hosted(["x" * 100], thinking=100)
    found = [ask(server, "chat", "gpt-5-mini", max_completion_tokens=most)[1] for most in (100, 110, 125)]
    told = [
        (len(each["choices"][0]["message"]["content"]), each["choices"][0]["finish_reason"]) for each in found
    ]
    assert told == [(0, "length"), (40, "length"), (100, "stop")]
    assert server.tokens("gpt-5-mini") == (6, 0, 335, 300)

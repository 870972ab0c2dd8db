"""The batch APIs of the providers, and how strict the stand-in for them is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from anthropic import Anthropic, APIStatusError
from openai import OpenAI

from chameleon.llm.batch_apis import BatchApi, batch_api, json_lines
from tests.hosted import HostedServer

NOW = datetime.now(UTC)
CHAT = {"model": "gpt-4.1-mini", "messages": [{"role": "user", "content": "a\u2028b"}]}
MESSAGE = {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}]}


@pytest.fixture
def server() -> Iterator[HostedServer]:
    with HostedServer(lambda asked: f"<{asked.messages[-1][1]}>") as made:
        yield made


def apis(server: HostedServer) -> tuple[BatchApi, BatchApi]:
    openai = batch_api(f"{server.openai_url}/chat/completions", {"Authorization": "Bearer k", "Host": "x"})
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01", "Content-Length": "7"}
    return openai, batch_api(f"{server.url}/v1/messages", headers)


def ended(api: BatchApi, id: str) -> Any:
    while not (state := api.state(id)).ended:
        assert state.done == 0
    return state


@pytest.mark.parametrize(("at", "body"), [(0, CHAT), (1, MESSAGE)])
def test_replies_come_as_from_the_ordinary_api(server: HostedServer, at: int, body: dict[str, Any]) -> None:
    api = apis(server)[at]
    wrong = {**body, "temperature": 7}
    server.batches.expires = lambda id, asked: id == "n-2"
    id = api.send("n", [api.line(f"n-{n}", each) for n, each in enumerate([body, wrong, body])])
    state = ended(api, id)
    assert (state.total, state.done, state.failed) == (3, 3, "")
    found = {name: (status, told) for name, status, told in api.results(id)}
    assert {name: status for name, (status, _) in found.items()} == {"n-0": 200, "n-1": 400, "n-2": 408}
    path = "/v1/chat/completions" if at == 0 else "/v1/messages"
    headers = {"authorization": "k", "x-api-key": "k"}
    assert found["n-0"][1] == server.answer(path, headers, body)[1]
    assert found["n-1"][1] == server.answer(path, headers, wrong)[1]
    assert "expired" in json.dumps(found["n-2"][1])


@pytest.mark.parametrize(("at", "body"), [(0, CHAT), (1, MESSAGE)])
def test_a_batch_is_found_by_its_name_alone(server: HostedServer, at: int, body: dict[str, Any]) -> None:
    api = apis(server)[at]
    other = api.send("other", [api.line("other-0", body)])
    assert api.find("mine", 1, NOW, ()) == ("", at == 1), "of Claude's no name is told before the end"
    mine = api.send("mine", [api.line("mine-0", body)])
    for id in (other, mine):
        ended(api, id)
    assert api.find("mine", 1, NOW, ()) == (mine, False)
    assert api.find("mine", 1, NOW, {mine})[0] == ("" if at else mine)
    assert api.find("nobody", 1, NOW, ()) == ("", False)


def upload(client: OpenAI, *lines: dict[str, Any], purpose: Any = "batch", name: str = "a.jsonl") -> str:
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return client.files.create(file=(name, data), purpose=purpose).id


def line(id: str, **more: Any) -> dict[str, Any]:
    url = "/v1/chat/completions"
    return {"custom_id": id, "method": "POST", "url": url, "body": CHAT} | more


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([line("a"), line("a")], "duplicate_custom_id"),
        ([line("a"), line("b", body={**CHAT, "model": "gpt-4o-mini"})], "mismatched_model"),
        ([line("a", body={**CHAT, "model": "gpt-none"})], "model_not_found"),
        ([line("a", url="/v1/responses")], "mismatched_endpoint"),
        ([{"custom_id": "a"}], "invalid_json_line"),
        ([line(str(n)) for n in range(4)], "too_many_tasks"),
        ([], "empty_file"),
    ],
)
def test_the_stand_in_looks_through_openais_files(
    server: HostedServer, lines: list[dict[str, Any]], code: str
) -> None:
    server.batches.most["openai"] = (3, 10_000)
    client = OpenAI(base_url=server.openai_url, api_key="k", max_retries=0)
    file = upload(client, *lines)
    endpoint: Any = "/v1/chat/completions"
    made = client.batches.create(input_file_id=file, endpoint=endpoint, completion_window="24h")
    assert made.status == "failed" and made.errors is not None and made.errors.data
    assert code in {error.code for error in made.errors.data}
    assert not any(seen.path == endpoint for seen in server.requests)


def test_the_stand_in_refuses_what_openai_refuses(server: HostedServer) -> None:
    client = OpenAI(base_url=server.openai_url, api_key="k", max_retries=0)
    file = upload(client, line("a"))
    make: Any = client.batches.create
    chat, window = "/v1/chat/completions", "24h"
    refused: list[Callable[[], Any]] = [
        lambda: upload(client, line("a"), purpose="batches"),
        lambda: upload(client, line("a"), name="a.txt"),
        lambda: make(input_file_id="file-9", endpoint=chat, completion_window=window),
        lambda: make(input_file_id=file, endpoint="/v1/messages", completion_window=window),
        lambda: make(input_file_id=file, endpoint=chat, completion_window="1h"),
        lambda: client.batches.retrieve("batch_9"),
        lambda: client.files.content("file-9"),
    ]
    for ask in refused:
        with pytest.raises(Exception, match=r"Error code: 40[04]"):
            ask()
    assert not server.batches.all


def test_the_stand_in_refuses_what_anthropic_refuses(server: HostedServer) -> None:
    client = Anthropic(base_url=server.url, api_key="k", max_retries=0)
    make: Any = client.messages.batches.create
    server.batches.most["anthropic"] = (3, 10_000)
    for ids in (["a b"], ["a" * 65], [""], ["a", "a"], list("abcd"), []):
        with pytest.raises(APIStatusError):
            make(requests=[{"custom_id": id, "params": MESSAGE} for id in ids])
    with pytest.raises(APIStatusError):
        make(requests=[{"custom_id": "a", "params": {**MESSAGE, "system": "x" * 10_000}}])
    assert not server.batches.all


def test_lines_end_where_json_lines_do() -> None:
    text = '{"a": "x\u2028y\x85z"}\n\n{"b": 1}\n{"c": 2}'.encode()
    expected = [{"a": "x\u2028y\x85z"}, {"b": 1}, {"c": 2}]
    for size in (1, 7, 1_000):
        chunks = (text[start : start + size] for start in range(0, len(text), size))
        assert list(json_lines(chunks)) == expected

"""What a server lists, and what is told where it does not."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon.errors import (
    ModelError,
    NoModel,
)
from chameleon.llm import LLM, choose_model
from chameleon.llm.choose import offered_models
from tests.llm.asking import Start, local, talking
from tests.loopback import Fault

NO_SUCH_MODEL = [{"error": "model 'local' not found"}, {"detail": "model local does not exist"}]


def test_a_server_that_lists_nothing_is_an_error_with_what_to_do(loopback: Start) -> None:
    for server in (loopback(models=None), loopback(models=["nomic-embed-text"])):
        with pytest.raises(NoModel) as caught:
            choose_model(None, None, {"OPENAI_BASE_URL": server.url})
        assert caught.value.hint
    server.stop()
    with pytest.raises(NoModel, match=r"the server at http://127.* cannot be reached \(connection refused\)"):
        choose_model(None, None, {"OPENAI_BASE_URL": server.url})
    with pytest.raises(NoModel, match="begins with http"):
        choose_model(None, None, {"OPENAI_BASE_URL": "localhost:8000/v1"})


def test_a_password_in_the_address_works_and_is_not_shown(loopback: Start) -> None:
    server = loopback(models=["m"])
    address = server.url.replace("//", "//user:pa55word@")
    assert [each.name for each in offered_models(address)] == ["m"]
    assert "pa55word" not in choose_model(None, None, {"OPENAI_BASE_URL": address}).why


def test_an_unknown_model_is_answered_with_what_the_server_offers(loopback: Start) -> None:
    server = loopback(models=["qwen3:8b", "llama3.2:3b", "nomic-embed-text"], only_models=True)
    llm = LLM.connect("llama3.2:1b", retries=0)
    for _ in range(2):
        with pytest.raises(NoModel, match=r"The server offers: llama3\.2:3b, .*qwen3:8b"):
            llm.ask("hi")
    assert server.model_lists == 1


@pytest.mark.parametrize("body", NO_SUCH_MODEL)
def test_a_model_that_there_is_not_is_told_as_such(loopback: Start, body: Any) -> None:
    loopback([Fault(404, body)], models=["qwen3"])
    with pytest.raises(NoModel, match="The server offers: qwen3"):
        local().ask("hi")


def test_a_500_about_a_model_or_a_schema_is_not_tried_again(loopback: Start) -> None:
    server = loopback([Fault(500, "Internal Server Error")], models=["qwen3", "llama3"])
    with pytest.raises(NoModel, match=r"openai:local is not a model of this server.*llama3, qwen3"):
        local(retries=4).ask("hi")
    assert len(server.requests) == 1
    schema_error = {"error": {"message": "response_format: Input should be 'text' or 'json_object'"}}
    server = loopback([Fault(500, schema_error)], models=["local"])
    with pytest.raises(ModelError, match="does not take this output schema"):
        local(retries=4).ask("hi", schema={"type": "object", "properties": {}})
    assert len(server.requests) == 1
    server = loopback([Fault(500), "ok"], models=["local"])
    assert local(retries=4).ask("hi").text == "ok" and len(server.requests) == 2


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n" + b"[" * 400_000,
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(200)) + b"\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnonsense",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    ],
    ids=["ssh", "deep", "headers", "chunks", "list"],
)
def test_what_does_not_speak_http_is_one_error(said: bytes) -> None:
    with talking(lambda connection: connection.sendall(said)) as address, pytest.raises(NoModel) as caught:
        choose_model(None, None, {"OPENAI_BASE_URL": address})
    assert caught.value.hint


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/ v1", "http://127.0.0.1:9/v1\n", "http://[::1/v1"])
def test_an_address_that_is_none_is_one_error(address: str) -> None:
    with pytest.raises(NoModel):
        offered_models(address)

"""Servers that people run: what they refuse, lose, drip or leave out, and what the user is told."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from chameleon.budget import Meter, recording
from chameleon.errors import EmptyReply, ModelError, NoModel, Refused, Unreachable
from chameleon.llm import LLM, Backoff, choose_model, deadline
from chameleon.llm.offer import offered_models
from tests.loopback import Fault, LoopbackServer, Reply

Start = Callable[..., LoopbackServer]


def connect(retries: int = 0, **params: Any) -> LLM:
    return LLM.connect(
        "openai:local", retries=Backoff(retries=retries, sleep=lambda seconds: None), api_key="k", **params
    )


@contextmanager
def talking(say: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that says whatever `say` writes to each connection; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.recv(65_536)
                    say(connection)
                except OSError:
                    pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        ended.set()
        listener.close()


def drip(connection: socket.socket) -> None:
    """A byte each tenth of a second, for a minute at most."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 600\r\n\r\n")
    for _ in range(600):
        connection.sendall(b" ")
        time.sleep(0.1)


@pytest.mark.parametrize("bad", [Reply(""), Reply("no", finish="content_filter"), Fault(400)])
def test_a_bad_sample_costs_its_own_vote(loopback: Start, bad: Any) -> None:
    loopback([Reply("a"), bad, Reply("b"), bad, Reply("c")])
    with recording(Meter()) as recorder:
        replies = connect(seed=1).ask_many("hi", 5)
    assert sorted(reply.text for reply in replies) == ["a", "b", "c"]
    assert len(recorder.calls) == 5 and sum(bool(call.error) for call in recorder.calls) == 2


def test_samples_that_are_all_bad_are_the_first_error(loopback: Start) -> None:
    loopback([Reply("")])
    with pytest.raises(EmptyReply):
        connect(seed=1).ask_many("hi", 3)
    loopback([Reply("x", finish="content_filter")])
    with pytest.raises(Refused):
        connect(seed=1).ask_many("hi", 3)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"detail": "no such thing"}, "no such thing"),
        ({"error": "a plain text"}, "a plain text"),
        ({"message": "said by itself", "type": "x"}, r"said by itself \(x\)"),
        ({"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}, "messages: field required"),
        ("just text, no JSON", "just text"),
        (["first reason", "second"], "first reason; second"),
        ([{"loc": ["body", "seed"], "msg": "not permitted"}], "seed: not permitted"),
        ({"errors": [{"message": "in a list"}]}, "in a list"),
        ({"error": ["in a list"]}, "in a list"),
        ({"error": "invalid_request", "error_description": "described"}, "described"),
        ({"msg": "said so"}, "said so"),
        ({"detail": ["a text"]}, "a text"),
        ({"detail": {"reason": "a reason"}}, "a reason"),
        ({"error": {"message": 42}}, r"\(400\): .*42"),
        ({"wrong": "by another name"}, "by another name"),
    ],
)
def test_the_servers_own_words_reach_the_user(loopback: Start, body: Any, said: str) -> None:
    loopback([Fault(400, body)])
    with pytest.raises(ModelError, match=said):
        connect().ask("hi")


DEEP = b"[" * 100_000


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("body", [DEEP, b'{"error":' * 3_000 + b"1" + b"}" * 3_000], ids=["list", "error"])
def test_a_body_nested_too_deep_is_told_with_the_server(status: int, body: bytes) -> None:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    send = talking(lambda connection: connection.sendall(head.encode() + body))
    told = "openai:local: the server does not answer in JSON that can be read|openai:local: .*rejected .400"
    with send as server, pytest.raises(ModelError, match=told) as caught:
        connect(base_url=server, retries=3).ask("hi")
    assert len(str(caught.value)) < 500


def test_a_sample_nested_too_deep_costs_its_own_vote(loopback: Start) -> None:
    loopback([Reply("a"), Fault(200, DEEP.decode()), Reply("b")])
    assert sorted(reply.text for reply in connect(seed=1).ask_many("hi", 3)) == ["a", "b"]


NO_SUCH_MODEL = [{"error": "model 'local' not found"}, {"detail": "model local does not exist"}]


@pytest.mark.parametrize("body", NO_SUCH_MODEL)
def test_a_model_that_there_is_not_is_told_as_such(loopback: Start, body: Any) -> None:
    loopback([Fault(404, body)], models=["qwen3"])
    with pytest.raises(NoModel, match="The server offers: qwen3"):
        connect().ask("hi")


def test_a_500_about_a_model_or_a_schema_is_not_tried_again(loopback: Start) -> None:
    server = loopback([Fault(500, "Internal Server Error")], models=["qwen3", "llama3"])
    with pytest.raises(NoModel, match=r"openai:local is not a model of this server.*llama3, qwen3"):
        connect(retries=4).ask("hi")
    assert len(server.requests) == 1
    schema_error = {"error": {"message": "response_format: Input should be 'text' or 'json_object'"}}
    server = loopback([Fault(500, schema_error)], models=["local"])
    with pytest.raises(ModelError, match="does not take this output schema"):
        connect(retries=4).ask("hi", schema={"type": "object", "properties": {}})
    assert len(server.requests) == 1
    server = loopback([Fault(500), "ok"], models=["local"])
    assert connect(retries=4).ask("hi").text == "ok" and len(server.requests) == 2


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Model 'local' is not loaded", NoModel),
        ("Failed to load model local", NoModel),
        ("404 Client Error. Repository Not Found for url: https://huggingface.co/local", NoModel),
        ("response format not supported", ModelError),
    ],
)
def test_more_500s_that_no_second_try_mends(loopback: Start, said: str, kind: type[ModelError]) -> None:
    server = loopback([Fault(500, {"error": {"message": said}})])
    with pytest.raises(kind, match=said):
        connect(retries=3).ask("hi")
    assert len(server.requests) == 1


def test_a_reply_that_drips_is_waited_for_no_longer_than_the_timeout() -> None:
    with talking(drip) as address:
        begun = time.monotonic()
        with pytest.raises(ModelError, match="did not answer in time"):
            connect(base_url=address, timeout=1.0).ask("hi")
        assert time.monotonic() - begun < 5
        with pytest.raises(NoModel, match="no reply in time"):
            offered_models(address, seconds=1.0)
        assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    ("model", "address"),
    [
        ("openai:local", "OPENAI_BASE_URL"),
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL"),
        ("google_genai:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL"),
    ],
)
def test_a_reply_without_an_end_is_read_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch, model: str, address: str
) -> None:
    cut = threading.Event()

    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        try:
            for _ in range(1_000):
                connection.sendall(b" " * 100_000)
        except OSError:
            cut.set()

    monkeypatch.setattr(deadline, "MOST_BYTES", 2_000_000)
    with talking(flood) as server:
        monkeypatch.setenv(address, server)
        with pytest.raises(ModelError, match=f"{model}: the reply is longer than 2 MB"):
            LLM.connect(model, api_key="k", retries=2).ask("hi")
        assert cut.wait(10)


def test_a_packed_reply_is_bounded_by_what_it_unpacks_to(monkeypatch: pytest.MonkeyPatch) -> None:
    body = gzip.compress(b" " * 4_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    monkeypatch.setattr(deadline, "MOST_BYTES", 2_000_000)
    send = talking(lambda connection: connection.sendall(head + body))
    with send as server, pytest.raises(ModelError, match="longer than 2 MB"):
        connect(base_url=server).ask("hi")


def test_nobody_reads_on_after_the_timeout() -> None:
    cut = threading.Event()

    def pour(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        try:
            while not cut.wait(0.02):
                connection.sendall(b" ")
        except OSError:
            cut.set()

    with talking(pour) as server:
        with pytest.raises(ModelError, match=r"did not answer in time$"):
            connect(base_url=server, timeout=0.2).ask("hi")
        try:
            assert cut.wait(10)
        finally:
            cut.set()


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


@pytest.mark.parametrize("cost", ["Infinity", "NaN", "-1", "true"])
def test_costs_that_are_none_are_unknown(loopback: Start, cost: str) -> None:
    loopback([Reply("ok", extra={"cost": json.loads(cost)})])
    assert connect().ask("hi").usage.cost is None


def test_the_responses_api_at_an_address_of_ones_own_gets_its_own_limit() -> None:
    from tests.hosted import HostedServer

    with HostedServer(["ok"]) as server:
        settings = {"base_url": server.openai_url, "api_key": "k", "use_responses_api": True}
        llm = LLM.connect("openai:gpt-5-mini", max_tokens=40, **settings)
        assert llm.ask("hi").text == "ok"
        (seen,) = server.requests
        assert seen.path == "/v1/responses" and seen.body["max_output_tokens"] > 40


def test_a_server_that_is_gone_is_told_apart(loopback: Start) -> None:
    loopback().stop()
    with pytest.raises(Unreachable, match="no complete answer from the server: connection refused"):
        connect().ask("hi")


def test_a_pipeline_of_hugging_face_is_asked_for_its_continuation_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import langchain.chat_models as models

    given: dict[str, Any] = {}
    monkeypatch.setattr(models, "init_chat_model", lambda name, **arguments: given.update(arguments))
    LLM.connect("huggingface:tiny/plans")
    assert given["pipeline_kwargs"] == {"return_full_text": False}
    LLM.connect("huggingface:tiny/plans", pipeline_kwargs={"max_new_tokens": 9})
    assert given["pipeline_kwargs"] == {"return_full_text": False, "max_new_tokens": 9}

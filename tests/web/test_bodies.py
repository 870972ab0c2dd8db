"""Bodies over real sockets: large, packed, bombs, and JSON that is none."""

from __future__ import annotations

import gzip
import os
import re
import time
import tracemalloc

import pytest

from chameleon.errors import WebError
from chameleon.web import Web, WebLimits
from tests.web.clients import Serve, client, failure
from tests.web.servers import Answer, as_json, raw_server


def test_a_large_page_is_cut(serve: Serve) -> None:
    server = serve({"/": Answer([b"x" * 100_000] * 100)})
    reply = client(server).fetch(server.url)
    assert (len(reply.body), reply.cut) == (100_000, True)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP"])
def test_packed_pages_are_unpacked(serve: Serve, encoding: str) -> None:
    text = os.urandom(20_000) + b"words " * 5_000
    packed = gzip.compress(text[:30_000], mtime=0) + gzip.compress(text[30_000:])
    server = serve({"/": Answer(packed, headers={"Content-Encoding": encoding})})
    assert client(server).fetch(server.url).body == text
    assert server.asked[0].headers["accept-encoding"] == "gzip"


def test_a_bomb_is_cut_before_it_unpacks(serve: Serve) -> None:
    bomb = gzip.compress(bytes(60_000_000), 1, mtime=0)
    server = serve({"/": Answer(bomb, headers={"Content-Encoding": "gzip"})})
    tracemalloc.start()
    reply = client(server).fetch(server.url)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(reply.body), reply.cut) == (100_000, True)
    assert peak < 20_000_000


@pytest.mark.parametrize(
    ("body", "encoding", "reason"),
    [
        (gzip.compress(gzip.compress(bytes(10_000_000), mtime=0)), "gzip, gzip", "not asked for"),
        (b"\x28\xb5\x2f\xfd", "zstd", "not asked for"),
        (b"x", "br", "not asked for"),
        (b"not gzip at all", "gzip", "gzip data is broken"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-12], "gzip", "ends early"),
        (gzip.compress(b"", mtime=0) * 20_000, "gzip", "far beyond"),
    ],
)
def test_packing_not_to_be_trusted_is_refused(serve: Serve, body: bytes, encoding: str, reason: str) -> None:
    server = serve({"/": Answer(body, headers={"Content-Encoding": encoding})})
    assert reason in failure(client(server), server.url)


HEAD = b"HTTP/1.1 200 OK\r\n"
GZIP = HEAD + b"Content-Encoding: gzip\r\n\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PAGE = gzip.compress(b"page", mtime=0)
ENDLESS = {
    "headers": (HEAD, b"X: y\r\n"),
    "long headers": (HEAD, b"X: " + b"y" * 9_000 + b"\r\n"),
    "a status that goes before": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "gzip members of nothing": (GZIP, gzip.compress(b"", mtime=0)),
    "a gzip name": (GZIP + b"\x1f\x8b\x08\x08\0\0\0\0\0\0", b"a"),
    "gzip padding": (GZIP + PAGE, b"\0"),
    "trailers": (CHUNKED + b"0\r\n", b"x: y\r\n"),
    "a chunk of size -1": (CHUNKED + b"-1\r\n", b"a"),
    "a chunk extension": (CHUNKED + b"1;", b"a"),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_has_no_end_is_refused_at_once(kind: str) -> None:
    """No deadline is needed: only so many bytes are read, whatever they amount to."""
    start, more = ENDLESS[kind]
    begun = time.monotonic()
    tracemalloc.start()
    with raw_server(start, more * (200_000 // len(more))) as host:
        told = failure(Web(WebLimits(retries=0, bytes=500_000), [host]), f"http://{host}/")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert told.startswith("127.0.0.1: the ") and "in time" not in told
    assert peak < 10_000_000 and time.monotonic() - begun < 3


def test_bytes_that_come_for_ever_are_left_at_the_deadline() -> None:
    """In a flood no single read waits, so that the deadline must be looked at before each."""
    bodies = ((HEAD + b"\r\n", b"a" * 65_536), (CHUNKED + b"7FFFFFFF\r\n", b"a"))
    for start, more in ((HEAD, b"a"), (HEAD + b"\r\n", b"a"), *bodies):
        begun = time.monotonic()
        with raw_server(start, more) as host:
            told = failure(Web(WebLimits(seconds=0.3, retries=0, bytes=2 * 10**9), [host]), f"http://{host}/")
        assert "no answer in time" in told or start == HEAD
        assert time.monotonic() - begun < 3


UNREADABLE = [
    CHUNKED + b"-1\r\nabc",
    HEAD + b"Content-Length: -3\r\n\r\nabc",
    HEAD + b"Content-Length: 3\r\nContent-Length: 2\r\n\r\nabc",
    HEAD + b"Content-Length: 3, 2\r\n\r\nabc",
    HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: identity\r\n\r\nabc",
    HEAD + b"nonsense\r\nContent-Length: 3\r\n\r\nabc",
    HEAD + b"Content-Length : 3\r\n\r\nabc",
    HEAD + b"Content-Type: text/\0html\r\n\r\nabc",
    HEAD + b"Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE),
    HEAD + b"Content-Encoding: identity\r\nContent-Encoding: br\r\n\r\nabc",
    b"HTTP/1.1 101 Switching Protocols\r\n\r\nabc",
]


@pytest.mark.slow
@pytest.mark.parametrize("reply", UNREADABLE)
def test_a_reply_that_two_readers_would_read_differently_is_refused(reply: bytes) -> None:
    with raw_server(reply) as host:
        told = failure(Web(WebLimits(retries=1), [host]), f"http://{host}/")
    reasons = "(answer cannot be read: |server broke off or does not speak HTTP$)"
    assert re.match(rf"127\.0\.0\.1: the {reasons}", told)


def test_replies_of_odd_forms_are_read() -> None:
    for reply, body in {
        CHUNKED + b"A;x=y\r\n0123456789\r\n00\r\nX: y\r\n\r\n": b"0123456789",
        GZIP: b"",
        GZIP + b"".join((PAGE, b"\0" * 9, PAGE, b"\0")): b"pagepage",
        HEAD + b"Content-Length: 3, 3\r\nSet-Cookie: a=b\r\n\r\nabcd": b"abc",
        HEAD + b"Content-Type: multipart/mixed; boundary=x\r\n\r\nabc": b"abc",
        b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"\r\nabc": b"abc",
        b"HTTP/1.0 204 None\r\n\r\n": b"",
    }.items():
        with raw_server(reply) as host:
            assert Web(WebLimits(retries=0), [host]).fetch(f"http://{host}/").body == body


def test_what_is_answered_before_all_was_sent_is_read() -> None:
    with raw_server(HEAD + b"Content-Length: 3\r\n\r\nabc") as host:
        web = Web(WebLimits(retries=0), [host])
        assert web.fetch(f"http://{host}/", json="x" * 9_000_000).body == b"abc"


def test_the_body_of_a_redirect_is_not_read(serve: Serve) -> None:
    headers = {"Location": "/end", "Content-Encoding": "br"}
    server = serve({"/": Answer([b"x"] * 99, status=302, headers=headers, pause=30), "/end": Answer(b"x")})
    assert client(server).fetch(server.url).body == b"x"


def test_json_is_asked_of_the_reply(serve: Serve) -> None:
    server = serve(
        {
            "/good": as_json({"a": [1]}),
            "/plain": Answer(b"[1]", "text/plain"),
            "/page": Answer(b"<html>log in first</html>"),
            "/broken": Answer(b'{"a": [1', "application/json"),
            "/deep": Answer(b"[" * 90_000, "application/json"),
            "/large": Answer(b" " * 200_000 + b"{}", "application/json"),
            "/odd": Answer(b"{}", "text/\x1b[31m<b>"),
        }
    )
    web = client(server)
    assert web.fetch(f"{server.url}/good").data() == {"a": [1]}
    assert web.fetch(f"{server.url}/plain").data() == [1]
    for path, reason in {
        "/page": "with text/html instead of JSON",
        "/broken": "broken JSON",
        "/deep": "broken JSON",
        "/large": "longer than 100,000 bytes",
        "/odd": "with text/31mb instead of JSON",
        "/none": "404",
    }.items():
        with pytest.raises(WebError, match=reason):
            web.fetch(server.url + path).data()

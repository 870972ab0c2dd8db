"""Bodies over real sockets: large, packed, bombs, and JSON that is none."""

from __future__ import annotations

import gzip
import os
import time
import tracemalloc

import pytest

from chameleon.errors import WebError
from tests.web.clients import Serve, client, failure
from tests.web.servers import Answer, as_json


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
        (gzip.compress(b"", mtime=0) * 20_000, "gzip", "larger than"),
    ],
)
def test_packing_that_cannot_be_trusted_is_refused(
    serve: Serve, body: bytes, encoding: str, reason: str
) -> None:
    server = serve({"/": Answer(body, headers={"Content-Encoding": encoding})})
    assert reason in failure(client(server), server.url)


def test_packing_that_never_ends_is_left_in_time(serve: Serve) -> None:
    nothing = gzip.compress(b"", mtime=0) * 5_000
    server = serve({"/": Answer([nothing] * 100_000, headers={"Content-Encoding": "gzip"})})
    begun = time.monotonic()
    assert "no answer in time" in failure(client(server, seconds=0.3), server.url)
    assert time.monotonic() - begun < 3


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

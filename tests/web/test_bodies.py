"""Bodies over real sockets, large, packed and odd; and over TLS, where the name must be the certificate's."""

import gzip
import os
import re
import shutil
import ssl
import subprocess
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import certifi
import pytest

from chameleon.errors import WebError
from chameleon.web import Web, WebLimits
from chameleon.web.session import trusting
from tests.web.servers import Answer, Serve, WebServer, as_json, client, failure, moved, raw_server

HEAD = b"HTTP/1.1 200 OK\r\n"
GZIP = HEAD + b"Content-Encoding: gzip\r\n\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PAGE = gzip.compress(b"page", mtime=0)
NOTHING = gzip.compress(b"", mtime=0)


@contextmanager
def in_memory(most: int) -> Iterator[None]:
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < most


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP"])
def test_packed_pages_are_unpacked(serve: Serve, encoding: str) -> None:
    text = os.urandom(20_000) + b"words " * 5_000
    packed = gzip.compress(text[:30_000], mtime=0) + gzip.compress(text[30_000:])
    server = serve({"/": Answer(packed, headers={"Content-Encoding": encoding})})
    assert client(server).fetch(server.url).body == text
    assert server.asked[0].headers["accept-encoding"] == "gzip"


def test_a_large_page_and_a_bomb_are_cut_before_it_unpacks(serve: Serve) -> None:
    bomb = Answer(gzip.compress(bytes(60_000_000), 1, mtime=0), headers={"Content-Encoding": "gzip"})
    server = serve({"/large": Answer([b"x" * 100_000] * 100), "/bomb": bomb})
    for path in ("/large", "/bomb"):
        with in_memory(20_000_000):
            reply = client(server).fetch(server.url + path)
        assert (len(reply.body), reply.cut) == (100_000, True)


@pytest.mark.parametrize(
    ("body", "encoding", "reason"),
    [
        (gzip.compress(gzip.compress(bytes(10_000_000), mtime=0)), "gzip, gzip", "not requested"),
        (b"\x28\xb5\x2f\xfd", "zstd", "not requested"),
        (b"x", "br", "not requested"),
        (b"not gzip at all", "gzip", "gzip data is broken"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-12], "gzip", "ends early"),
        (NOTHING * 20_000, "gzip", "much longer"),
    ],
)
def test_packing_not_to_be_trusted_is_refused(serve: Serve, body: bytes, encoding: str, reason: str) -> None:
    server = serve({"/": Answer(body, headers={"Content-Encoding": encoding})})
    assert reason in failure(client(server), server.url)


ENDLESS = {
    "headers": (HEAD, b"X: y\r\n"),
    "long headers": (HEAD, b"X: " + b"y" * 9_000 + b"\r\n"),
    "a status that goes before": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "gzip members of nothing": (GZIP, NOTHING),
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
    with in_memory(10_000_000), raw_server(start, more * (200_000 // len(more))) as host:
        told = failure(Web(WebLimits(retries=0, bytes=500_000), [host]), f"http://{host}/")
    assert told.startswith("127.0.0.1: the ") and "in time" not in told
    assert time.monotonic() - begun < 3


FLOODS = [(HEAD + b"\r\n", b"a" * 65_536), (CHUNKED + b"7FFFFFFF\r\n", b"a"), (HEAD, b"a")]


@pytest.mark.parametrize(("start", "more"), FLOODS)
def test_bytes_that_come_for_ever_are_left_at_the_deadline(start: bytes, more: bytes) -> None:
    """In a flood no single read waits, so that the deadline must be looked at before each."""
    begun, limits = time.monotonic(), WebLimits(seconds=0.3, retries=0, bytes=2 * 10**9)
    with raw_server(start, more) as host:
        told = failure(Web(limits, [host]), f"http://{host}/")
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
ODD = {
    CHUNKED + b"A;x=y\r\n0123456789\r\n00\r\nX: y\r\n\r\n": b"0123456789",
    GZIP: b"",
    GZIP + b"".join((PAGE, b"\0" * 9, PAGE, b"\0")): b"pagepage",
    HEAD + b"Content-Length: 3, 3\r\nSet-Cookie: a=b\r\n\r\nabcd": b"abc",
    HEAD + b"Content-Type: multipart/mixed; boundary=x\r\n\r\nabc": b"abc",
    b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"\r\nabc": b"abc",
    b"HTTP/1.0 204 None\r\n\r\n": b"",
}


@pytest.mark.slow
@pytest.mark.parametrize("reply", UNREADABLE)
def test_a_reply_that_two_readers_would_read_differently_is_refused(reply: bytes) -> None:
    with raw_server(reply) as host:
        told = failure(Web(WebLimits(retries=1), [host]), f"http://{host}/")
    reasons = "(answer cannot be read: |server closed the connection or does not speak HTTP$)"
    assert re.match(rf"127\.0\.0\.1: the {reasons}", told)


@pytest.mark.parametrize(("reply", "body"), ODD.items())
def test_replies_of_odd_forms_are_read(reply: bytes, body: bytes) -> None:
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


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (as_json([1]), ""),
        (Answer(b"[1]", "text/plain"), ""),
        (Answer(b"<html>log in first</html>"), "with text/html instead of JSON"),
        (Answer(b'{"a": [1', "application/json"), "broken JSON"),
        (Answer(b"[" * 90_000, "application/json"), "broken JSON"),
        (Answer(b" " * 200_000 + b"{}", "application/json"), "longer than 100,000 bytes"),
        (Answer(b"{}", "text/\x1b[31m<b>"), "with text/31mb instead of JSON"),
        (as_json({}, 404), "404"),
    ],
)
def test_json_is_asked_of_the_reply(serve: Serve, answer: Answer, reason: str) -> None:
    server = serve({"/": answer})
    reply = client(server).fetch(server.url)
    if not reason:
        assert reply.data() == [1]
        return
    with pytest.raises(WebError, match=reason):
        reply.data()


NAME = "search.example"
COMMAND = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and is not here")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    made = [*COMMAND.split(), *names, "-keyout", file, "-out", f"{file}.cert"]
    subprocess.run(made, check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.cert").read_text())
    return file


@pytest.fixture
def _trusting(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    trusting.cache_clear()
    yield
    trusting.cache_clear()


@pytest.fixture
def server(certificate: Path) -> Iterator[WebServer]:
    with WebServer({"/": Answer(b"hello")}, certificate) as started:
        yield started


def fetch(server: WebServer, name: str = NAME, *others: WebServer, **options: object) -> bytes:
    """Fetch a page of this server; every name leads to this machine, as after a look-up."""
    private = [f"{name}:{each.port}" for each in (server, *others)]
    web = Web(WebLimits(seconds=5, retries=0), private, resolve=lambda host, port: ["127.0.0.1"])
    return web.fetch(f"https://{name}:{server.port}/", **options).body  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [NAME, "other.example"])
def test_a_certificate_of_nobody_known_is_refused(
    server: WebServer, request: pytest.FixtureRequest, name: str
) -> None:
    if name != NAME:
        request.getfixturevalue("_trusting")
    with pytest.raises(WebError, match="certificate is not valid"):
        fetch(server, name)
    assert server.names == [name] and not server.asked


@pytest.mark.usefixtures("_trusting")
def test_a_key_is_not_sent_on_when_a_redirect_leaves_tls(certificate: Path) -> None:
    with WebServer({"/": Answer(b"open")}) as plain:
        with WebServer({"/": moved(f"http://{NAME}:{plain.port}/")}, certificate) as server:
            assert fetch(server, NAME, plain, secrets={"X-Key": "k"}) == b"open"
        assert "x-key" not in plain.asked[0].headers


@pytest.mark.usefixtures("_trusting")
def test_the_trusted_are_those_that_are_named(
    server: WebServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [fetch(server), fetch(server)] == [b"hello"] * 2
    assert server.names == [NAME] * 2 and server.asked[0].headers["host"] == f"{NAME}:{server.port}"
    (only,) = trusting().get_ca_certs()
    assert only["subject"] == ((("commonName", NAME),),) and trusting.cache_info().misses == 1
    assert not trusting().hostname_checks_common_name  # the names of a certificate count alone
    trusting.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_name("none.pem")))
    with pytest.raises(WebError, match="SSL_CERT_FILE"):
        trusting()


def test_certifis_are_trusted_if_the_system_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    nothing = ssl.DefaultVerifyPaths(None, str(tmp_path), "SSL_CERT_FILE", "", "SSL_CERT_DIR", "")
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: nothing)
    loaded: list[str] = []
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda self, purpose: None)
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda self, file: loaded.append(file))
    trusting.__wrapped__()
    assert loaded == [certifi.where()]
    (tmp_path / "0a1b2c3d.0").touch()  # the system's, which are read as they are needed
    trusting.__wrapped__()
    assert len(loaded) == 1

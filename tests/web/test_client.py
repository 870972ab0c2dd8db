"""Fetching over real sockets: what is sent, what is followed, what is tried again, and what is refused."""

from __future__ import annotations

import gzip
import ipaddress
import itertools
import logging
import os
import socket
import sqlite3
import threading
import time
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from email.utils import formatdate
from pathlib import Path

import pytest

from chameleon.errors import StoreError, WebError
from chameleon.llm.retry import Backoff
from chameleon.web import Limits, PageCache, Web
from chameleon.web.pace import Pace
from chameleon.web.request import seconds_asked
from tests.web.servers import KEY, Answer, Asked, Route, WebServer, as_json, moved

Serve = Callable[[dict[str, Route]], WebServer]
QUICK = Backoff(retries=2, first=0.001, longest=0.01)


def client(*servers: WebServer, seconds: float = 5.0, **options: object) -> Web:
    """A client that may ask these servers, and nothing else on this machine."""
    limits = options.pop("limits", Limits(seconds=seconds, silence=1.0, bytes=100_000))
    settings: dict[str, object] = {"backoff": QUICK, "pace": Pace(), **options}
    return Web(limits, tuple(server.host for server in servers), **settings)  # type: ignore[arg-type]


def failure(web: Web, url: str, **options: object) -> str:
    with pytest.raises(WebError) as caught:
        web.fetch(url, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_a_page_is_fetched_with_our_name_and_nothing_of_the_environment(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve({"/page": Answer(b"<p>hello</p>")})
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    reply = client(server).fetch(f"{server.url}/page?a=1#part", params={"b": "x y&z"})
    assert (reply.status, reply.body, reply.cut) == (200, b"<p>hello</p>", False)
    assert server.asked[0].query == {"a": "1", "b": "x y&z"}
    assert server.asked[0].headers["host"] == server.host
    assert server.asked[0].headers["user-agent"].startswith("chameleon-compose")
    assert "cookie" not in server.asked[0].headers


def test_the_user_agent_can_be_set(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve({"/": Answer(b"x")})
    client(server, user_agent="lab/1.0 (me@example.org)").fetch(server.url)
    monkeypatch.setenv("CHAMELEON_USER_AGENT", "from the environment")
    client(server).fetch(server.url)
    assert [asked.headers["user-agent"] for asked in server.asked] == [
        "lab/1.0 (me@example.org)",
        "from the environment",
    ]


def test_a_private_address_is_asked_only_where_it_is_allowed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, other = serve({"/": Answer(b"x")}), serve({"/": Answer(b"x")})
    assert "private or special network" in failure(client(other), server.url)
    monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", f"elsewhere, {server.host}")
    assert client().fetch(server.url).status == 200
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(serve: Serve, status: int) -> None:
    server = serve({"/": moved("/two?x=1", status), "/two": Answer(b"there")})
    reply = client(server).fetch(server.url)
    assert (reply.url, reply.body) == (f"{server.url}/two?x=1", b"there")


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///etc/passwd", "only http and https"),
        ("ftp://example.org/", "only http and https"),
        ("http://127.0.0.1:1/", "private or special network"),
        ("http://169.254.169.254/latest/meta-data/", "private or special network"),
        ("http://[::ffff:169.254.169.254]/", "private or special network"),
        ("http://2852039166/", "private or special network"),
        ("//0.0.0.0/", "private or special network"),
        ("http://user:word@example.org/", "user name"),
        ("http://[broken/", "cannot be"),
        ("http://a\\b/", "control characters"),
    ],
)
def test_a_redirect_is_checked_as_the_first_address_is(serve: Serve, location: str, reason: str) -> None:
    server = serve({"/": moved(location)})
    with pytest.raises(WebError, match=reason):
        client(server, resolve=numeric).fetch(server.url)


def numeric(host: str, port: int) -> list[str]:
    """A resolver that knows numbers only, in every spelling, as the system's does."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        return [socket.inet_ntoa(socket.inet_aton(host))]


def test_redirects_in_a_circle_end(serve: Serve) -> None:
    server = serve({"/": moved("/two"), "/two": moved("/")})
    assert "more than 5 redirects" in failure(client(server), server.url)
    assert len(server.asked) == 6


def test_a_key_is_not_sent_to_where_a_redirect_leads(serve: Serve) -> None:
    other = serve({"/": Answer(b"stolen?"), "/back": Answer(b"x")})
    server = serve({"/": moved(other.url), "/same": moved("/end"), "/end": Answer(b"x")})
    web = client(server, other)
    web.fetch(server.url, secrets={"X-Key": KEY}, headers={"X-Open": "1"})
    assert "x-key" not in other.asked[0].headers and other.asked[0].headers["x-open"] == "1"
    web.fetch(f"{server.url}/same", secrets={"X-Key": KEY})
    assert server.asked[-1].path == "/end" and server.asked[-1].headers["x-key"] == KEY


def test_a_key_that_was_left_behind_does_not_come_back(serve: Serve) -> None:
    routes: dict[str, Route] = {"/end": Answer(b"x")}
    server = serve(routes)
    other = serve({"/": moved(f"{server.url}/end")})
    first = serve({"/": moved(other.url)})
    web = client(server, other, first)
    web.fetch(first.url, secrets={"X-Key": KEY})
    assert "x-key" not in server.asked[0].headers


def test_a_key_never_goes_over_plain_http_to_the_open_internet() -> None:
    web = client(resolve=lambda host, port: ["8.8.8.8"])
    assert "sent unencrypted" in failure(web, "http://search.example/", secrets={"X-Key": KEY})


def test_a_post_becomes_a_get_only_where_browsers_do_it(serve: Serve) -> None:
    server = serve({"/": moved("/end"), "/keep": moved("/end", 307), "/end": Answer(b"x")})
    client(server).fetch(server.url, json={"q": 1})
    client(server).fetch(f"{server.url}/keep", json={"q": 1})
    methods = [(asked.method, asked.body) for asked in server.asked if asked.path == "/end"]
    assert methods == [("GET", b""), ("POST", b'{"q": 1}')]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(serve: Serve, status: int) -> None:
    server = serve({"/": [Answer(b"no", status=status), Answer(b"no", status=status), Answer(b"yes")]})
    assert client(server).fetch(server.url).body == b"yes"
    assert len(server.asked) == 3


def test_a_reply_that_stays_bad_is_given_after_the_last_try(serve: Serve) -> None:
    server = serve({"/": Answer(b"no", status=503)})
    reply = client(server).fetch(server.url)
    assert (reply.status, len(server.asked)) == (503, 3)
    with pytest.raises(WebError, match=r"127\.0\.0\.1: the server answered 503 \(Service Unavailable\)"):
        reply.expect_ok()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422, 501])
def test_what_will_not_pass_is_not_tried_again(serve: Serve, status: int) -> None:
    server = serve({"/": Answer(f"key {KEY}".encode(), status=status)})
    assert client(server).fetch(server.url).status == status
    assert len(server.asked) == 1


def test_retry_after_is_honoured_within_the_time_there_is(serve: Serve) -> None:
    busy = Answer(b"wait", status=429, headers={"Retry-After": "1"})
    server = serve({"/": [busy, Answer(b"yes")], "/long": Answer(status=429, headers={"Retry-After": "900"})})
    assert client(server).fetch(server.url).body == b"yes"
    assert server.asked[1].at - server.asked[0].at >= 1.0
    begun = time.monotonic()
    assert client(server).fetch(f"{server.url}/long").status == 429
    assert time.monotonic() - begun < 1.0


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    assert seconds_asked("7") == 7.0
    assert 50 < (seconds_asked(formatdate(time.time() + 60, usegmt=True)) or 0) <= 60
    assert seconds_asked("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert [seconds_asked(text) for text in ("", "soon", "-1", "1e3", "²", "9" * 400)][:5] == [None] * 5
    assert seconds_asked("9" * 400) == 999_999_999.0


def test_a_broken_connection_is_tried_again(serve: Serve) -> None:
    server = serve({"/": [Answer(b"half", drop=True), Answer(b"whole")]})
    assert client(server).fetch(server.url).body == b"whole"


def test_a_connection_that_stays_broken_is_told(serve: Serve) -> None:
    server = serve({"/": Answer(b"half", drop=True)})
    assert "broke off" in failure(client(server), server.url)
    gone = WebServer({})
    gone.__enter__()
    gone.__exit__()
    assert "Connection refused" in failure(client(gone), gone.url)
    unknown = client(
        resolve=lambda host, port: (_ for _ in ()).throw(OSError(-2, "Name or service not known"))
    )
    assert "Name or service not known" in failure(unknown, "http://nowhere.example/")


SLOW = {
    "headers that do not come": Answer(b"x", delay=30),
    "headers byte by byte": Answer(b"x", drip=True, pause=0.05),
    "a body that does not come": Answer([b"x"] * 10, pause=30),
    "a body byte by byte": Answer([b"x"] * 1000, pause=0.05),
}


@pytest.mark.parametrize("kind", SLOW)
def test_a_slow_server_is_left_in_time(serve: Serve, kind: str) -> None:
    server = serve({"/": SLOW[kind]})
    web = client(server, limits=Limits(seconds=0.6, silence=0.3))
    begun = time.monotonic()
    assert "no answer in time" in failure(web, server.url)
    assert time.monotonic() - begun < 1.5


def test_redirects_share_one_deadline(serve: Serve) -> None:
    server = serve({"/": Answer(status=302, headers={"Location": "/"}, delay=0.25)})
    begun = time.monotonic()
    assert "no answer in time" in failure(client(server, seconds=0.6), server.url)
    assert time.monotonic() - begun < 1.2


def test_a_large_page_is_cut(serve: Serve) -> None:
    server = serve({"/": Answer([b"x" * 100_000] * 100)})
    reply = client(server).fetch(server.url)
    assert (len(reply.body), reply.cut) == (100_000, True)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP"])
def test_packed_pages_are_unpacked(serve: Serve, encoding: str) -> None:
    text = os.urandom(20_000) + b"words " * 5_000
    packed = gzip.compress(text[:30_000]) + gzip.compress(text[30_000:])
    server = serve({"/": Answer(packed, headers={"Content-Encoding": encoding})})
    assert client(server).fetch(server.url).body == text
    assert server.asked[0].headers["accept-encoding"] == "gzip"


def test_a_bomb_is_cut_before_it_unpacks(serve: Serve) -> None:
    bomb = gzip.compress(bytes(300_000_000), 1)
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
        (gzip.compress(gzip.compress(bytes(10_000_000))), "gzip, gzip", "not asked for"),
        (b"\x28\xb5\x2f\xfd", "zstd", "not asked for"),
        (b"x", "br", "not asked for"),
        (b"not gzip at all", "gzip", "gzip data is broken"),
        (gzip.compress(b"x" * 1000)[:-12], "gzip", "ends early"),
        (gzip.compress(b"") * 20_000, "gzip", "larger than"),
    ],
)
def test_packing_that_cannot_be_trusted_is_refused(
    serve: Serve, body: bytes, encoding: str, reason: str
) -> None:
    server = serve({"/": Answer(body, headers={"Content-Encoding": encoding})})
    assert reason in failure(client(server), server.url)


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


def test_no_key_reaches_an_error_a_log_or_the_cache(
    serve: Serve, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    def echo(asked: Asked) -> Answer:
        return Answer(f"you sent {asked.headers}".encode(), status=int(asked.query["status"]))

    server = serve({"/": echo})
    cache = PageCache(tmp_path / "web.sqlite")
    web = client(server, cache=cache)
    with caplog.at_level(logging.DEBUG):
        kept = web.fetch(server.url, params={"status": 200}, secrets={"Authorization": f"Bearer {KEY}"})
        refused = web.fetch(server.url, params={"status": 401}, secrets={"X-Key": KEY})
        unsendable = failure(web, server.url, secrets={"X-Key": f"{KEY}\nX-Other: 1"})
    with pytest.raises(WebError) as caught:
        refused.expect_ok()
    cache.close()
    told = "\n".join([caplog.text, str(caught.value), repr(caught.value), unsendable, repr(refused)])
    assert KEY not in told and b"you sent" in kept.body and KEY.encode() not in kept.body
    assert KEY.encode() not in (tmp_path / "web.sqlite").read_bytes()


def test_a_reply_is_kept_for_the_same_request_only(serve: Serve, tmp_path: Path) -> None:
    server = serve({"/": lambda asked: Answer(asked.method.encode() + asked.body)})
    web = client(server, cache=PageCache(tmp_path / "web.sqlite"))
    for _ in range(2):
        assert web.fetch(server.url).body == b"GET"
        assert web.fetch(server.url, params={"q": "1"}).body == b"GET"
        assert web.fetch(server.url, json=[1]).body == b"POST[1]"
        assert web.fetch(server.url, json=[2]).body == b"POST[2]"
        assert web.fetch(server.url, headers={"Accept-Language": "de"}).body == b"GET"
        assert web.fetch(server.url, secrets={"X-Key": KEY}).body == b"GET"
    assert len(server.asked) == 5  # the one with a key is the first one


def test_only_good_replies_are_kept(serve: Serve, tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "web.sqlite")
    server = serve({"/": [Answer(status=404), Answer(b"there now")]})
    web = client(server, cache=cache)
    assert web.fetch(server.url).status == 404
    assert web.fetch(server.url).body == b"there now"
    assert len(cache) == 1


def test_the_cache_is_private_and_forgets(serve: Serve, tmp_path: Path) -> None:
    now = [1000.0]
    path = tmp_path / "deep" / "web.sqlite"
    cache = PageCache(path, max_age=60, max_bytes=5_000, clock=lambda: now[0])
    assert path.stat().st_mode & 0o777 == 0o600
    server = serve({"/": lambda asked: Answer(b"x" * 1_000)})
    web = client(server, cache=cache)
    web.fetch(server.url, params={"n": 0})
    now[0] += 61
    web.fetch(server.url, params={"n": 0})
    assert len(server.asked) == 2
    for n in range(1, 10):
        now[0] += 1
        web.fetch(server.url, params={"n": n})
    assert 1 <= len(cache) <= 4
    before = len(server.asked)
    web.fetch(server.url, params={"n": 9})
    assert len(server.asked) == before


def test_threads_share_the_cache(serve: Serve, tmp_path: Path) -> None:
    server = serve({"/": lambda asked: Answer(asked.query["n"].encode())})
    web = client(server, cache=PageCache(tmp_path / "web.sqlite"))
    got: list[bool] = []

    def fetch(start: int) -> None:
        for n in range(start, start + 20):
            got.append(web.fetch(server.url, params={"n": n % 20}).body == str(n % 20).encode())

    threads = [threading.Thread(target=fetch, args=(start,)) for start in range(0, 20, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 80


def test_the_users_cache_is_where_the_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PageCache.default() is None
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", str(tmp_path / "mine.sqlite"))
    assert PageCache.default() is not None and (tmp_path / "mine.sqlite").exists()
    (tmp_path / "notes.txt").write_text("not a database, and long enough to be told from one" * 20)
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", str(tmp_path / "notes.txt"))
    with pytest.raises(StoreError, match="CHAMELEON_WEB_CACHE"):
        PageCache.default()


def test_a_foreign_database_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as other:
        other.execute("CREATE TABLE mine (x)")
        other.commit()
    with pytest.raises(StoreError, match="not a web cache"):
        PageCache(tmp_path / "other.sqlite")


def test_requests_to_one_host_are_spaced_for_all_threads(serve: Serve) -> None:
    server, other = serve({"/": Answer(b"x")}), serve({"/": Answer(b"x")})
    pace = Pace()
    webs = [client(server, other, pace=pace) for _ in range(4)]
    threads = [
        threading.Thread(target=web.fetch, args=(server.url,), kwargs={"spacing": 0.1}) for web in webs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sorted(asked.at for asked in server.asked)
    assert all(later - earlier > 0.07 for earlier, later in itertools.pairwise(times))
    assert "no turn came in time" in failure(client(server, pace=Pace(), seconds=-1), server.url)


def test_turns_are_given_in_order() -> None:
    pace = Pace()
    waits = [pace.turn("a.example", 10.0) for _ in range(3)] + [pace.turn("b.example", 10.0)]
    assert [round(wait) for wait in waits] == [0, 10, 20, 0]
    pace.delay("b.example", 60.0)
    assert round(pace.turn("b.example", 0.0)) == 60

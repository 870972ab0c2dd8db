"""Fetching over real sockets: what is sent, followed, tried again and refused; and what is kept, for whom."""

import logging
import socket
import sqlite3
import time
from contextlib import ExitStack, closing
from email.utils import formatdate
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import quote, unquote

import pytest

from chameleon.errors import StoreError, WebError
from chameleon.web import PageCache, Web, WebLimits, session
from chameleon.web.web import HostPace, seconds_asked
from tests.web.servers import (
    KEY,
    Answer,
    Asked,
    Route,
    Serve,
    WebServer,
    client,
    failure,
    fetched,
    moved,
    numeric,
)


def crowded(silent: socket.socket, queue: ExitStack) -> None:
    for _ in range(3):
        waiting = queue.enter_context(socket.socket())
        waiting.setblocking(False)
        waiting.connect_ex(silent.getsockname())


def test_a_page_is_fetched_with_our_name(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("default login me password sesame")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://me:sesame@127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    set_cookie = {"Location": "/page?a=1#part", "Set-Cookie": "session=1; Path=/"}
    server = serve({"/": Answer(status=302, headers=set_cookie), "/page": Answer(b"<p>hello</p>")})
    reply = client(server).fetch(f"{server.url}/page?a=1#part", params={"b": "x y&z"})
    assert (reply.status, reply.body, reply.cut) == (200, b"<p>hello</p>", False)
    asked = server.asked[0]
    assert asked.query == {"a": "1", "b": "x y&z"} and asked.headers["host"] == server.host
    client(server).fetch(server.url)
    client(server, user_agent="lab/1.0 (me@example.org)").fetch(f"{server.url}/page")
    monkeypatch.setenv("CHAMELEON_USER_AGENT", " from the environment ")
    client(server).fetch(f"{server.url}/page")
    ours, *_, given, named = (asked.headers["user-agent"] for asked in server.asked)
    assert ours.startswith("chameleon-compose")
    assert (given, named) == ("lab/1.0 (me@example.org)", "from the environment")
    secrets = {"cookie", "authorization", "proxy-authorization"}
    assert len(server.asked) == 5 and not any(secrets & asked.headers.keys() for asked in server.asked)


def test_what_is_allowed_is_read_with_care(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server, other = serve({"/": Answer(b"x")}), serve({})
    inside = serve({"/": moved(server.url)})
    line = f"CHAMELEON_WEB_PRIVATE={server.host}."
    told = failure(client(other), server.url)
    assert told.startswith(f"{server.host}: ") and told.endswith(line)
    told = failure(client(inside), inside.url)
    assert told.startswith(f"{server.host}: ") and told.endswith(line)
    assert "special network, by a redirect from 127.0.0.1. " in told
    for value in (f"http://{server.host}", f"https://{server.host}/", f"::1 [::1]:80,{server.host}"):
        monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", value)
        assert client().fetch(server.url).status == 200
    for value in ("10.0.0.0/8", "*.lan", "http://a.lan/x", "user@a.lan", "a.lan:port"):
        monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", f"{server.host} {value}")
        assert f"CHAMELEON_WEB_PRIVATE names {value!r}, which is not a host" in failure(client(), server.url)


def test_what_cannot_be_sent_is_a_web_error(serve: Serve, tmp_path: Path, monkeypatch: Any) -> None:
    server = serve({"/": Answer(b"x")})
    wrong: list[Any] = [("not JSON", {"json": float("nan")}), ("not JSON", {"json": {1}})]
    for said, options in (*wrong, ("header X has", {"headers": {"X": " y"}})):
        assert said in failure(client(server), server.url, **options)
    assert client(server).fetch(server.url, secrets={"X-Key": ""}).body == b"x"
    session.trusting.cache_clear()
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path))
    told = failure(client(server), f"https://{server.host}/")
    assert told == f"{tmp_path}: the file in SSLKEYLOGFILE cannot be used"


def test_a_dead_address_leaves_time_for_the_others(serve: Serve) -> None:
    server = serve({"/": Answer(b"x")})
    with socket.create_server(("127.0.0.2", server.port), backlog=0) as dead, ExitStack() as queue:
        crowded(dead, queue)
        limits = WebLimits(seconds=1, retries=0)
        web = client(server, limits=limits, resolve=lambda host, port: ["127.0.0.2", "127.0.0.1"])
        assert web.fetch(server.url).body == b"x"


RETRIED, GIVEN = (408, 429, 500, 502, 503, 504), (400, 401, 403, 404, 410, 422, 501)
NO, YES, HALF = Answer(b"no", status=503), Answer(b"yes"), Answer(b"half", drop=True)
ONCE, POST = ["GET / "], {"json": {"q": 1}}
EXCHANGES: list[tuple[Any, dict[str, Any], int, bytes, list[str]]] = [
    *((moved("/end", code), {}, 200, b"there", [*ONCE, "GET /end "]) for code in (301, 302, 303, 307, 308)),
    (moved("/end"), POST, 200, b"there", ['POST / {"q": 1}', "GET /end "]),  # as browsers do it
    (moved("/end", 307), POST, 200, b"there", ['POST / {"q": 1}', 'POST /end {"q": 1}']),
    *(([Answer(status=status)] * 2 + [YES], {}, 200, b"yes", ONCE * 3) for status in RETRIED),
    *((Answer(b"bad", status=status), {}, status, b"bad", ONCE) for status in GIVEN),
    ([HALF, YES], {}, 200, b"yes", ONCE * 2),
    (NO, {}, 503, b"no", ONCE * 3),
]


@pytest.mark.parametrize(("answers", "options", "status", "body", "asked"), EXCHANGES)
def test_redirects_and_retries(
    serve: Serve, answers: Route, options: dict[str, Any], status: int, body: bytes, asked: list[str]
) -> None:
    server = serve({"/": answers, "/end": Answer(b"there")})
    reply = client(server).fetch(server.url, **options)
    assert (reply.status, reply.body) == (status, body)
    assert [f"{each.method} {each.path} {each.body.decode()}" for each in server.asked] == asked
    if status >= 400:
        with pytest.raises(WebError, match=rf"127\.0\.0\.1: the server answered {status} \("):
            reply.expect_ok()


def test_a_circle_of_redirects_has_an_end(serve: Serve) -> None:
    server = serve({"/": moved("/")})
    assert "more than 5 redirects" in failure(client(server), server.url) and len(server.asked) == 6


def test_a_redirect_is_checked_as_the_first_address_is(serve: Serve) -> None:
    for location, reason in {
        "file:///etc/passwd": "only http and https",
        "http://127.0.0.1:1/": "private or special network",
        "http://169.254.169.254/latest/meta-data/": "private or special network",
        "http://[::ffff:169.254.169.254]/": "private or special network",
        "http://2852039166/": "private or special network",
        "//0.0.0.0/": "private or special network",
        "http://user:word@example.org/": "user name",
        "http://[broken/": "cannot be",
        "http://a\\b/": "an invalid host or port",
    }.items():
        server = serve({"/": moved(location)})
        assert reason in failure(client(server, resolve=numeric), server.url)


def test_a_key_is_not_sent_to_where_a_redirect_leads(serve: Serve) -> None:
    other = serve({"/": Answer(b"stolen?"), "/back": Answer(b"x")})
    server = serve({"/": moved(other.url), "/same": moved("/end"), "/end": Answer(b"x")})
    web = client(server, other)
    web.fetch(server.url, secrets={"X-Key": KEY}, headers={"X-Open": "1"})
    assert "x-key" not in other.asked[0].headers and other.asked[0].headers["x-open"] == "1"
    web.fetch(f"{server.url}/same", secrets={"X-Key": KEY})
    assert server.asked[-1].path == "/end" and server.asked[-1].headers["x-key"] == KEY
    routes: dict[str, Route] = {"/": moved(f"{server.url}/end")}
    first = serve({"/": moved(serve(routes).url)})
    Web(WebLimits(), ["*"]).fetch(first.url, secrets={"X-Key": KEY})
    last = server.asked[-1]
    assert last.path == "/end" and "x-key" not in last.headers, "it does not come back"
    web = client(resolve=lambda host, port: ["8.8.8.8"])  # nor over plain HTTP to the open internet
    assert "sent unencrypted" in failure(web, "http://search.example/", secrets={"X-Key": KEY})


def test_waits_grow_from_the_first_retry(serve: Serve) -> None:
    slept: list[float] = []
    server, pace = serve({"/": Answer(status=503)}), HostPace()
    pace.turn = lambda *_, **__: 0.0  # type: ignore[method-assign]
    limits = WebLimits(seconds=1e6, retries=9)
    client(server, limits=limits, pace=pace, sleep=slept.append).fetch(server.url)
    steps = [0.25, 0.5, 1, 2, 4, 8, 8, 8, 8]
    assert len(slept) == 9 and max(slept) <= 8
    assert all(step <= wait <= 2 * step for step, wait in zip(steps, slept, strict=True))
    client(server, limits=WebLimits(retries=0)).fetch(server.url)
    assert len(server.asked) == 10 + 1
    with pytest.raises(ValueError, match="retries is -1"):
        WebLimits(retries=-1)


def test_parameters_take_the_place_of_those_in_the_address(serve: Serve) -> None:
    server = serve({"/": Answer(b"x")})
    address = f"{server.url}/?format=xml&a=%26&for%6Dat=y&b"
    urls = {f"{server.url}/?a=%26&b&format=json": {"format": "json"}, address.replace("%6D", "m"): {}}
    for url, params in urls.items():
        assert client(server).fetch(address, params=params).url == url


def test_retry_after_is_honoured_within_the_time_there_is(serve: Serve) -> None:
    slept: list[float] = []
    busy, long = (Answer(status=429, headers={"Retry-After": each}) for each in ("1", "900"))
    server = serve({"/": [busy, Answer(b"yes")], "/long": long})
    assert client(server, sleep=slept.append).fetch(server.url).body == b"yes" and max(slept) >= 1.0
    slept.clear()
    assert client(server, sleep=slept.append).fetch(f"{server.url}/long").status == 429 and not slept
    assert "timed out waiting" in failure(client(server, pace=HostPace(), seconds=-1), server.url)
    assert seconds_asked("7") == 7.0
    assert 50 < (seconds_asked(formatdate(time.time() + 60, usegmt=True)) or 0) <= 60
    assert seconds_asked("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert [seconds_asked(text) for text in ("", "soon", "-1", "1e3", "²")] == [None] * 5
    assert seconds_asked("9" * 400) == 6 * 3600.0  # urllib3 asks for no longer wait


def test_a_connection_that_stays_broken_is_told(serve: Serve) -> None:
    server = serve({"/": Answer(b"half", drop=True)})
    assert "closed the connection" in failure(client(server), server.url)
    with WebServer({}) as gone:
        pass
    assert "Connection refused" in failure(client(gone), gone.url)
    unknown = OSError(-2, "Name or service not known")
    web = client(resolve=Mock(side_effect=unknown))
    assert "Name or service not known" in failure(web, "http://nowhere.example/")


SLOW = {
    "headers that do not come": Answer(b"x", delay=30),
    "headers byte by byte": Answer(b"x", drip=True, pause=0.05),
    "a body that does not come": Answer([b"x"] * 10, pause=30),
    "a body byte by byte": Answer([b"x"] * 1000, pause=0.05),
    "redirects": Answer(status=302, headers={"Location": "/"}, delay=0.25),
}


@pytest.mark.parametrize("kind", SLOW)
def test_a_slow_server_is_left_in_time(serve: Serve, kind: str) -> None:
    server, begun = serve({"/": SLOW[kind]}), time.monotonic()
    assert "no answer in time" in failure(client(server, limits=WebLimits(seconds=0.3)), server.url)
    assert time.monotonic() - begun < 5


@pytest.mark.slow
def test_a_host_that_takes_no_connection_and_one_that_shakes_no_hand_are_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent, ExitStack() as queue:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        web = Web(WebLimits(seconds=1, retries=0), [host])
        assert "no answer in time" in failure(web, f"https://{host}/")
        crowded(silent, queue)
        assert "no answer in time" in failure(web, f"http://{host}/")
    assert "no connection (it has no address)" in failure(client(resolve=lambda *_: []), "http://a.example/")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "web.sqlite"


@pytest.fixture
def cache(file: Path) -> PageCache:
    return PageCache(file)


def test_no_key_is_kept(serve: Serve, caplog: pytest.LogCaptureFixture, cache: PageCache, file: Path) -> None:
    def echo(asked: Asked) -> Answer:
        return Answer(f"you sent {asked.headers}".encode(), status=int(asked.query["status"]))

    server = serve({"/": echo})
    web = client(server, cache=cache)
    with caplog.at_level(logging.DEBUG):
        kept = fetched(web, server.url, params={"status": 200}, secrets={"Authorization": f"Bearer {KEY}"})
        refused = fetched(web, server.url, params={"status": 401}, secrets={"X-Key": KEY})
        fetched(web, f"{server.url}/?token={KEY}", params={"status": 404})
        unsendable = failure(web, server.url, secrets={"X-Key": f"{KEY}\nX-Other: 1"})
    with pytest.raises(WebError) as caught:
        refused.expect_ok()
    cache.close()
    told = "\n".join([caplog.text, str(caught.value), repr(caught.value), unsendable, repr(refused)])
    assert KEY not in told and b"you sent" in kept.body and KEY.encode() not in kept.body
    assert KEY.encode() not in file.read_bytes()


def test_a_reply_is_kept_for_the_same_request_only(serve: Serve, cache: PageCache) -> None:
    def echo(asked: Asked) -> Answer:
        return Answer(asked.method.encode() + asked.body)

    server = serve({"/": echo, "/later": [Answer(status=404), Answer(b"there now")]})
    web, german, keyed = client(server, cache=cache), {"Accept-Language": "de"}, {"X-Key": KEY}
    for options in ({"params": {"q": "1"}}, {"headers": german}, {"secrets": keyed}, {}, {}):
        assert fetched(web, server.url, **options).body == b"GET"
    for data in ([1], [1], [2]):
        assert fetched(web, server.url, json=data).body == f"POST{data}".encode()
    assert len(server.asked) == len(cache) == 5  # the one with a key is that without anything
    assert fetched(web, f"{server.url}/later").status == 404, "only good replies are kept"
    assert web.fetch(f"{server.url}/later").body == b"there now"
    assert len(cache) == 5, "kept by whom it was of use"


def test_what_lies_inside_is_kept_for_whom_it_is_allowed(serve: Serve, cache: PageCache) -> None:
    server = serve({"/": Answer(b"secret")})
    fetched(client(server, cache=cache), server.url)
    assert len(cache) == 1
    assert "private or special network" in failure(client(cache=cache), server.url)


@pytest.mark.parametrize("key", [KEY, "short-key", "key/with+signs=0123"])
def test_a_key_that_comes_back_is_masked_and_not_kept(serve: Serve, cache: PageCache, key: str) -> None:
    def echo(asked: Asked) -> Answer:
        told, sent = asked.path, asked.headers["x-key"]
        moved = {"Location": f"/end?k={quote(sent, safe='')}"} if told == "/moved" else {}
        kind = f"text/html; {sent}" if told == "/kind" else "text/html"
        return Answer(sent.encode() * (told == "/body"), kind, 302 if moved else 200, moved)

    server = serve(dict.fromkeys(("/body", "/kind", "/moved", "/end"), echo))
    for path in ("/body", "/kind", "/moved"):
        reply = fetched(client(server, cache=cache), server.url + path, secrets={"X-Key": key})
        assert key not in f"{reply!r} {unquote(reply.url)}" or len(key) < 12
    assert len(cache) == 0


def test_the_cache_is_private_and_forgets(serve: Serve, tmp_path: Path) -> None:
    now, path = [1000.0], tmp_path / "deep" / "web.sqlite"
    cache = PageCache(path, max_age=60, max_bytes=5_000, clock=lambda: now[0])
    assert path.stat().st_mode & 0o777 == 0o600
    server = serve({"/": lambda asked: Answer(b"x" * 1_000)})
    web = client(server, cache=cache)
    for n, seconds in ((0, 0), (0, 61), *((n, 1) for n in range(1, 10))):
        now[0] += seconds
        fetched(web, server.url, params={"n": n})
    assert len(server.asked) == 11 and 1 <= len(cache) <= 4
    fetched(web, server.url, params={"n": 9})
    assert len(server.asked) == 11


def test_a_cache_that_fails_is_told_once_and_loses_no_reply(
    serve: Serve, cache: PageCache, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve({"/": Answer(b"x" * 5_000)})
    web = client(server, cache=cache)
    fetched(web, server.url, params={"n": 1})
    cache.close()
    file.write_bytes(file.read_bytes()[:4_096] + b"damaged " * 4_000)
    for n in (1, 2):
        assert len(fetched(web, server.url, params={"n": n}).body) == 5_000
    (message,) = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert "not recorded" in message and "CHAMELEON_WEB_CACHE" in message


def test_the_users_cache_is_where_the_variable_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert PageCache.default() is None
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", str(tmp_path / "mine.sqlite"))
    assert PageCache.default() is not None and (tmp_path / "mine.sqlite").exists()
    place = tmp_path / ".cache" / "chameleon" / "web.sqlite"
    place.mkdir(parents=True)  # no database can be opened there
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", str(place))
    with pytest.raises(StoreError):
        PageCache.default()
    monkeypatch.delenv("CHAMELEON_WEB_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert PageCache.default() is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as other:
        other.execute("CREATE TABLE mine (x)")
    with pytest.raises(StoreError, match="not a web cache"):
        PageCache(tmp_path / "other.sqlite")


def test_turns_are_given_in_order() -> None:
    pace = HostPace()
    waits = [pace.turn("a.example", 10.0) for _ in range(3)] + [pace.turn("b.example", 10.0)]
    assert [round(wait) for wait in waits] == [0, 10, 20, 0]
    assert round(pace.turn("a.example", 10.0, 5.0)) == round(pace.turn("a.example", 10.0, 31.0)) == 30
    assert round(pace.turn("a.example", 10.0)) == 40, "a turn that comes too late is nobody's"
    pace.delay("b.example", 60.0)
    assert round(pace.turn("b.example", 0.0)) == 60

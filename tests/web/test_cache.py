"""What is kept, for whom and how long; and how often a host is asked."""

from __future__ import annotations

import logging
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from chameleon.errors import StoreError, WebError
from chameleon.web import PageCache
from chameleon.web.web import HostPace
from tests.web.clients import Serve, client, failure, fetched
from tests.web.servers import KEY, Answer, Asked


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "web.sqlite"


@pytest.fixture
def cache(file: Path) -> PageCache:
    return PageCache(file)


def test_no_key_is_told_or_kept(
    serve: Serve, caplog: pytest.LogCaptureFixture, cache: PageCache, file: Path
) -> None:
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


@pytest.mark.slow
def test_requests_to_one_host_are_spaced_for_all_threads(serve: Serve) -> None:
    server, pace = serve({"/": Answer(b"x")}), HostPace()
    webs = [client(server, pace=pace, sleep=time.sleep) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda web: web.fetch(server.url, spacing=0.1), webs))
    times = sorted(asked.at for asked in server.asked)
    assert times[-1] - times[0] > 0.1  # two spaces, less what a busy machine adds to the first
    assert "no turn came in time" in failure(client(server, pace=HostPace(), seconds=-1), server.url)


def test_turns_are_given_in_order() -> None:
    pace = HostPace()
    waits = [pace.turn("a.example", 10.0) for _ in range(3)] + [pace.turn("b.example", 10.0)]
    assert [round(wait) for wait in waits] == [0, 10, 20, 0]
    assert round(pace.turn("a.example", 10.0, 5.0)) == round(pace.turn("a.example", 10.0, 31.0)) == 30
    assert round(pace.turn("a.example", 10.0)) == 40, "a turn that comes too late is nobody's"
    pace.delay("b.example", 60.0)
    assert round(pace.turn("b.example", 0.0)) == 60

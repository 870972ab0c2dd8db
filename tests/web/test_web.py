"""Fetching over real sockets: what is sent, what is followed, what is tried again, and what is refused."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from email.utils import formatdate
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from chameleon.errors import WebError
from chameleon.web import Web, WebLimits, session
from chameleon.web.web import HostPace, seconds_asked
from tests.web.clients import Serve, client, failure, numeric
from tests.web.servers import KEY, Answer, Route, WebServer, moved


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
    client(server, user_agent="lab/1.0 (me@example.org)").fetch(server.url)
    monkeypatch.setenv("CHAMELEON_USER_AGENT", "from the environment")
    client(server).fetch(server.url)
    agents = [asked.headers["user-agent"] for asked in server.asked[1:]]
    assert agents == ["lab/1.0 (me@example.org)", "from the environment"]


def test_what_is_allowed_is_read_with_care(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server, other = serve({"/": Answer(b"x")}), serve({})
    inside = serve({"/": moved(server.url)})
    line = f"CHAMELEON_WEB_PRIVATE={server.host}"
    told = failure(client(other), server.url)
    assert told.startswith(f"{server.host}: ") and told.endswith(f"endpoint, or {line}.")
    told = failure(client(inside), inside.url)
    assert told.startswith(f"{server.host}: ") and told.endswith(f"allow it: {line}.")
    assert "special network, by a redirect from 127.0.0.1. " in told
    for value in (f"http://{server.host}", f"https://{server.host}/", f"::1 [::1]:80,{server.host}"):
        monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", value)
        assert client().fetch(server.url).status == 200
    for value in ("10.0.0.0/8", "*.lan", "http://a.lan/x", "user@a.lan", "a.lan:port"):
        monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", f"{server.host} {value}")
        assert f"CHAMELEON_WEB_PRIVATE names {value!r}, which is no host" in failure(client(), server.url)


def test_what_cannot_be_sent_is_a_web_error(serve: Serve, tmp_path: Path, monkeypatch: Any) -> None:
    server = serve({"/": Answer(b"x")})
    for data in (float("nan"), {1, 2}):
        assert "no JSON" in failure(client(server), server.url, json=data)
    assert "header X holds" in failure(client(server), server.url, headers={"X": " y"})
    assert client(server).fetch(server.url, secrets={"X-Key": ""}).body == b"x"
    monkeypatch.setenv("CHAMELEON_USER_AGENT", " lab ")
    client(server).fetch(server.url)
    assert server.asked[-1].headers["user-agent"] == "lab"
    session.trusting.cache_clear()
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path))
    told = failure(client(server), f"https://{server.host}/")
    assert told == f"{tmp_path}: the file that SSLKEYLOGFILE names cannot be used"


def test_a_dead_address_leaves_time_for_the_others(serve: Serve) -> None:
    server = serve({"/": Answer(b"x")})
    with socket.create_server(("127.0.0.2", server.port), backlog=0) as dead, ExitStack() as queue:
        for _ in range(3):
            waiting = queue.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(dead.getsockname())
        limits = WebLimits(seconds=1, retries=0)
        web = client(server, limits=limits, resolve=lambda host, port: ["127.0.0.2", "127.0.0.1"])
        assert web.fetch(server.url).body == b"x"


def test_redirects_are_followed_until_there_are_too_many(serve: Serve) -> None:
    codes = (301, 302, 303, 307, 308)
    routes = {f"/{code}": moved("/two?x=1", code) for code in codes}
    server = serve({"/circle": moved("/circle"), "/two": Answer(b"there"), **routes})
    for code in codes:
        reply = client(server).fetch(f"{server.url}/{code}")
        assert (reply.url, reply.body) == (f"{server.url}/two?x=1", b"there")
    asked = len(server.asked)
    assert "more than 5 redirects" in failure(client(server), f"{server.url}/circle")
    assert len(server.asked) == asked + 6


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
        "http://a\\b/": "host or a port that cannot",
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


def test_no_cookie_and_no_password_of_the_environment_is_sent(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("default login me password sesame")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://me:sesame@127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    set_cookie = {"Location": "/end", "Set-Cookie": "session=1; Path=/"}
    server = serve({"/": Answer(status=302, headers=set_cookie), "/end": Answer(b"x")})
    client(server).fetch(server.url)
    assert len(server.asked) == 2
    secrets = {"cookie", "authorization", "proxy-authorization"}
    assert not any(secrets & asked.headers.keys() for asked in server.asked)


def test_a_key_never_goes_over_plain_http_to_the_open_internet() -> None:
    web = client(resolve=lambda host, port: ["8.8.8.8"])
    assert "sent unencrypted" in failure(web, "http://search.example/", secrets={"X-Key": KEY})


def test_a_post_becomes_a_get_only_where_browsers_do_it(serve: Serve) -> None:
    server = serve({"/": moved("/end"), "/keep": moved("/end", 307), "/end": Answer(b"x")})
    client(server).fetch(server.url, json={"q": 1})
    client(server).fetch(f"{server.url}/keep", json={"q": 1})
    methods = [(asked.method, asked.body) for asked in server.asked if asked.path == "/end"]
    assert methods == [("GET", b""), ("POST", b'{"q": 1}')]


def test_what_may_pass_is_tried_again_and_what_stays_bad_is_given_after_the_last_try(serve: Serve) -> None:
    for status in (408, 429, 500, 502, 503, 504):
        server = serve({"/": [Answer(status=status), Answer(status=status), Answer(b"yes")]})
        assert client(server).fetch(server.url).body == b"yes" and len(server.asked) == 3
    for status in (400, 401, 403, 404, 410, 422, 501):
        server = serve({"/": Answer(f"key {KEY}".encode(), status=status)})
        assert client(server).fetch(server.url).status == status and len(server.asked) == 1
    server = serve({"/": [Answer(b"half", drop=True), Answer(b"whole")]})
    assert client(server).fetch(server.url).body == b"whole"
    server = serve({"/": Answer(b"no", status=503)})
    reply = client(server).fetch(server.url)
    assert (reply.status, len(server.asked)) == (503, 3)
    with pytest.raises(WebError, match=r"127\.0\.0\.1: the server answered 503 \(Service Unavailable\)"):
        reply.expect_ok()


def test_waits_grow_from_the_first_retry(serve: Serve) -> None:
    slept: list[float] = []
    server = serve({"/": Answer(status=503)})
    limits = WebLimits(seconds=1e6, retries=9)
    client(server, limits=limits, pace=Untimed(), sleep=slept.append).fetch(server.url)
    steps = [0.25, 0.5, 1, 2, 4, 8, 8, 8, 8]
    assert len(slept) == 9 and all(step <= wait <= 2 * step for step, wait in zip(steps, slept, strict=True))
    assert max(slept) <= 8
    server.asked.clear()
    assert (
        client(server, limits=WebLimits(retries=0)).fetch(server.url).status == 503 and len(server.asked) == 1
    )
    with pytest.raises(ValueError, match="retries is -1"):
        WebLimits(retries=-1)


class Untimed(HostPace):
    """Gives every turn at once."""

    def turn(self, host: str, spacing: float, most: float = 0.0) -> float:
        return 0.0


def test_parameters_take_the_place_of_those_in_the_address(serve: Serve) -> None:
    server = serve({"/": Answer(b"x")})
    web = client(server)
    address = f"{server.url}/?format=xml&a=%26&for%6Dat=y&b"
    assert web.fetch(address, params={"format": "json"}).url == f"{server.url}/?a=%26&b&format=json"
    assert web.fetch(address).url == address.replace("%6D", "m")


def test_retry_after_is_honoured_within_the_time_there_is(serve: Serve) -> None:
    slept: list[float] = []
    busy = Answer(b"wait", status=429, headers={"Retry-After": "1"})
    server = serve({"/": [busy, Answer(b"yes")], "/long": Answer(status=429, headers={"Retry-After": "900"})})
    assert client(server, sleep=slept.append).fetch(server.url).body == b"yes"
    assert max(slept) >= 1.0
    slept.clear()
    assert client(server, sleep=slept.append).fetch(f"{server.url}/long").status == 429 and not slept


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    assert seconds_asked("7") == 7.0
    assert 50 < (seconds_asked(formatdate(time.time() + 60, usegmt=True)) or 0) <= 60
    assert seconds_asked("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert [seconds_asked(text) for text in ("", "soon", "-1", "1e3", "²", "9" * 400)][:5] == [None] * 5
    assert seconds_asked("9" * 400) == 6 * 3600.0  # urllib3 asks for no longer wait


def test_a_connection_that_stays_broken_is_told(serve: Serve) -> None:
    server = serve({"/": Answer(b"half", drop=True)})
    assert "broke off" in failure(client(server), server.url)
    gone = WebServer({})
    gone.__enter__()
    gone.__exit__()
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
    server = serve({"/": SLOW[kind]})
    web = client(server, limits=WebLimits(seconds=0.3))
    begun = time.monotonic()
    assert "no answer in time" in failure(web, server.url)
    assert time.monotonic() - begun < 5


@pytest.mark.slow
def test_a_host_that_takes_no_connection_and_one_that_shakes_no_hand_are_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent, ExitStack() as queue:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        web = Web(WebLimits(seconds=1, retries=0), [host])
        assert "no answer in time" in failure(web, f"https://{host}/")
        for _ in range(2):  # until the system lets nobody in any more
            waiting = queue.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(silent.getsockname())
        assert "no answer in time" in failure(web, f"http://{host}/")
    assert "no connection (it has no address)" in failure(client(resolve=lambda *_: []), "http://a.example/")

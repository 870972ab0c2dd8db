"""Web servers on this machine, with search services and what goes wrong, and clients that soon give up."""

import json
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from chameleon.errors import WebError
from chameleon.web import Web, WebLimits, WebReply
from chameleon.web.addresses import as_number
from chameleon.web.web import HostPace
from tests.local_server import JsonHandler, LocalServer, in_turn, serving


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float


@dataclass(frozen=True)
class Answer:
    """A reply. `body` may be pieces, sent `pause` seconds apart; `delay` is the silence before the headers.

    `drop`: the connection breaks off in the middle of the body; `drip`: the headers come byte by byte.
    """

    body: bytes | Sequence[bytes] = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pause: float = 0.0
    drop: bool = False
    drip: bool = False


Route = Answer | Sequence[Answer] | Callable[[Asked], Answer]


def as_json(data: Any, status: int = 200, **options: Any) -> Answer:
    return Answer(json.dumps(data).encode(), "application/json", status, **options)


def moved(location: str, status: int = 302) -> Answer:
    return Answer(b"elsewhere", status=status, headers={"Location": location})


class WebServer(LocalServer):
    """Serves `routes`; with a `certificate` by TLS, where `names` holds the names that clients asked for."""

    def __init__(self, routes: Mapping[str, Route], certificate: Path | None = None) -> None:
        super().__init__(_Handler)
        self._routes = {path: _as_function(route) for path, route in routes.items()}
        self.asked: list[Asked] = []
        self.names: list[str] = []
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            context.set_servername_callback(lambda connection, name, context: self.names.append(name or ""))
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        route = self._routes.get(asked.path)
        return route(asked) if route else Answer(b"no such page", "text/plain", 404)


class _Handler(JsonHandler):
    wbufsize = 0  # what is sent byte by byte arrives so
    owner: WebServer

    def do_GET(self) -> None:
        parts, body = urlsplit(self.path), self.rfile.read(int(self.headers.get("content-length", 0)))
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        asked = Asked(self.command, parts.path, query, self.lowered(), body, time.monotonic())
        answer, wait = self.owner.answer(asked), self.owner.stopped.wait
        wait(answer.delay)
        pieces = [answer.body] if isinstance(answer.body, bytes) else list(answer.body)
        length = sum(map(len, pieces)) + (1000 if answer.drop else 0)
        head = {"Content-Type": answer.kind, "Content-Length": str(length), "Connection": "close"}
        lines = [f"HTTP/1.1 {answer.status} whatever"]
        lines += [f"{name}: {value}" for name, value in {**head, **answer.headers}.items() if value]
        start = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        for piece in [bytes([byte]) for byte in start] if answer.drip else [start]:
            self.wfile.write(piece)
            wait(answer.pause if answer.drip else 0)
        for piece in pieces:
            self.wfile.write(piece)
            wait(answer.pause)
        self.close_connection = answer.headers.get("Connection") != "keep-alive"

    do_POST = do_GET


def raw_server(start: bytes, for_ever: bytes = b"") -> AbstractContextManager[str]:
    def say(connection: socket.socket) -> None:
        connection.sendall(start)
        while for_ever:
            connection.sendall(for_ever)

    return serving(say)


def _as_function(route: Route) -> Callable[[Asked], Answer]:
    return route if callable(route) else in_turn([route] if isinstance(route, Answer) else route)


KEY = "key-of-the-tests-0123456789"

PAGES = [
    {"title": "Tide tables", "url": "https://example.org/tides", "text": "High tide comes twice a day."},
    {"title": "The Moon", "url": "https://example.org/moon", "text": "The Moon pulls at the sea."},
    {"title": "Ports", "url": "https://example.org/ports", "text": "Ships wait for water < 5 m & more."},
]


def _listed(sent: Mapping[str, Any], *fields: str) -> list[dict[str, str]]:
    count = int(sent.get("count") or sent.get("max_results") or len(PAGES))
    pages = [] if "nothing" in (sent.get("q"), sent.get("query")) else PAGES[:count]
    return [dict(zip(fields, page.values(), strict=True)) for page in pages]


def bing(asked: Asked) -> Answer:
    if asked.headers.get("ocp-apim-subscription-key") != KEY:
        return as_json({"error": {"code": "401", "message": f"bad key {asked.headers}"}}, 401)
    found = _listed(asked.query, "name", "url", "snippet")
    return as_json({"webPages": {"value": found}} if found else {"_type": "SearchResponse"})


def brave(asked: Asked) -> Answer:
    if asked.headers.get("x-subscription-token") != KEY:
        return as_json({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": str(asked.headers)}}, 422)
    found = _listed(asked.query, "title", "url", "description")
    for page in found:
        page["title"] = page["title"].replace("Tide", "<strong>Tide</strong>")
        page["description"] = page["description"].replace("&", "&amp;").replace("< ", "&lt; ")
    return as_json({"web": {"results": found}} if found else {"type": "search"})


def tavily(asked: Asked) -> Answer:
    if asked.method != "POST" or asked.headers.get("authorization") != f"Bearer {KEY}":
        return as_json({"detail": {"error": f"Unauthorized: {asked.headers}"}}, 401)
    return as_json({"results": _listed(json.loads(asked.body), "title", "url", "content")})


def searxng(asked: Asked) -> Answer:
    if asked.query.get("format") != "json":
        return Answer(b"<html>a page for browsers</html>")
    return as_json({"results": _listed(asked.query, "title", "url", "content")})


def duckduckgo(asked: Asked) -> Answer:
    return duckduckgo_page(_listed(dict(parse_qsl(asked.body.decode())), "title", "url", "text"))


def duckduckgo_page(pages: Sequence[Mapping[str, str]]) -> Answer:
    hit = "<div class='links_main body'><h2><a>{title}</a></h2><a href='{url}'>{text}</a></div>"
    hits = "".join(hit.format(**page) for page in pages)
    return Answer(f"<html><body>{hits or 'No results.'}</body></html>".encode("utf-8", "replace"))


def mediawiki(asked: Asked) -> Answer:
    query = asked.query.get("srsearch", "")
    if query == "broken":
        return as_json({"error": {"code": "srsearch-error", "info": "An error <b>occurred</b>"}})
    if query in ("nothing", "tydes"):
        suggestion = {"searchinfo": {"suggestion": "tides"}} if query == "tydes" else {}
        return as_json({"batchcomplete": "", "query": {**suggestion, "search": []}})
    pages = [{"title": "Tide", "extract": "Tides rise and fall."}, {"title": "Moon", "extract": ""}]
    return wiki(pages)(asked)


def wiki(pages: Sequence[Mapping[str, Any]]) -> Callable[[Asked], Answer]:
    def answer(asked: Asked) -> Answer:
        found = pages[: int(asked.query["gsrlimit"])]
        hits = [{"title": page["title"], "snippet": "<b>rise</b>"} for page in found]
        told = {str(99 - index): _page(index, page) for index, page in enumerate(found, 1)}
        return as_json({"query": {"search": hits, "pages": dict(reversed(told.items()))}})

    return answer


def _page(index: int, page: Mapping[str, Any]) -> dict[str, Any]:
    url = page.get("url", f"https://en.wikipedia.org/wiki/{page['title'].replace(' ', '_')}")
    told = {"ns": 0, "index": index, "title": page["title"], "fullurl": url}
    told |= {"missing": ""} if page.get("gone") else {}
    told |= {"extract": page["extract"]} if "extract" in page else {}
    return told | {"revisions": [{"timestamp": "2026-05-04T03:02:01Z"}]}


search_services: dict[str, Route] = {
    **{"/bing": bing, "/brave": brave, "/tavily": tavily, "/search": searxng},
    **{"/html/": duckduckgo, "/w/api.php": mediawiki},
}


Serve = Callable[[dict[str, Route]], WebServer]


def briefly(seconds: float) -> None:
    time.sleep(min(seconds, 0.01))


def client(*servers: WebServer, seconds: float = 5.0, **options: Any) -> Web:
    limits = options.pop("limits", WebLimits(seconds=seconds, bytes=100_000))
    settings = {"sleep": briefly, "pace": HostPace(), **options}
    return Web(limits, tuple(server.host for server in servers), **settings)


def fetched(web: Web, url: str, **options: Any) -> WebReply:
    reply = web.fetch(url, **options)
    web.keep(reply)
    return reply


def failure(web: Web, url: str, **options: Any) -> str:
    with pytest.raises(WebError) as caught:
        web.fetch(url, **options)
    return str(caught.value)


def numeric(host: str, port: int) -> list[str]:
    """Know numbers only, in every spelling, as the system's resolver does."""
    return [str(as_number(host))]

"""How the tests ask each provider on the web: by its own class, at a server on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chameleon.modules.search.provider import SearchProvider, SearchResult, WebProvider
from chameleon.modules.search.services import Bing, Brave, SearXNG, Tavily
from chameleon.modules.search.wikipedia import Wikipedia
from chameleon.retry import Backoff
from chameleon.web import Limits, Web
from chameleon.web.pace import Pace
from tests.web.servers import Answer, as_json

SERVICES: dict[str, tuple[type[WebProvider], str]] = {
    "bing": (Bing, "/bing"),
    "brave": (Brave, "/brave"),
    "tavily": (Tavily, "/tavily"),
    "searxng": (SearXNG, "/search"),
    "wikipedia": (Wikipedia, "/w/api.php"),
}
PATHS = {name: path for name, (_, path) in SERVICES.items()} | {"ddgs": "/html/"}
"""Where `tests.web.servers.search_services` serves each of them."""
WITH_KEY = ("bing", "brave", "tavily")

Make = Callable[..., SearchProvider]


def quick_web(seconds: float = 5.0, **options: Any) -> Web:
    backoff = Backoff(retries=1, first=0.001, longest=0.01)
    limits = Limits(seconds=seconds, silence=0.5, bytes=500_000)
    return Web(limits, pace=Pace(), backoff=backoff, **options)


def in_form_of(name: str, pages: Sequence[SearchResult]) -> Answer:
    """The reply of this service for these results: text as it is, without the escapes that it would make."""
    if name == "ddgs":
        hits = "".join(
            f"<div class='links_main body'><h2><a>{p.title}</a></h2><a href='{p.url}'>{p.text}</a></div>"
            for p in pages
        )
        return Answer(f"<html><body>{hits}</body></html>".encode("utf-8", "replace"))
    fields = {"bing": ("name", "url", "snippet"), "brave": ("title", "url", "description")}
    names = fields.get(name, ("title", "url", "content"))
    if name == "wikipedia":
        names = ("title", "fullurl", "extract")
    found = [dict(zip(names, (p.title, p.url, p.text), strict=True)) for p in pages]
    outer: dict[str, Any] = {
        "bing": {"webPages": {"value": found}},
        "brave": {"web": {"results": found}},
        "wikipedia": {"query": {"pages": found, "search": []}},
    }
    return as_json(outer.get(name, {"results": found}))

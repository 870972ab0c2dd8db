"""How the tests ask each provider on the web: by its own class, at a server on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from chameleon.modules.search.provider import SearchProvider, SearchResult, WebProvider
from chameleon.modules.search.services import SERVICES
from chameleon.modules.search.wikipedia import Wikipedia
from chameleon.web import Web, WebLimits
from chameleon.web.web import HostPace
from tests.web.servers import Route, as_json, duckduckgo_page, wiki

PATHS = {"bing": "/bing", "brave": "/brave", "tavily": "/tavily", "searxng": "/search"}
PATHS |= {"wikipedia": "/w/api.php", "ddgs": "/html/"}
"""Where `tests.web.servers.search_services` serves each of them."""
WITH_KEY = ("bing", "brave", "tavily")

Make = Callable[..., SearchProvider]


def quick_web(seconds: float = 5.0, **options: Any) -> Web:
    """A client that never sleeps, whatever the spacing, and tries twice."""
    limits = WebLimits(seconds=seconds, bytes=500_000, retries=1)
    return Web(limits, pace=HostPace(), sleep=lambda seconds: None, **options)


def on_the_web(name: str, web: Web, endpoint: str = "", allow_private: bool = False) -> WebProvider:
    return (Wikipedia if name == "wikipedia" else SERVICES[name])(web, endpoint, allow_private)


def in_form_of(name: str, pages: Sequence[SearchResult]) -> Route:
    """The reply of this service for these results: text as it is, without the escapes that it would make."""
    if name == "ddgs":
        return duckduckgo_page([asdict(page) for page in pages])
    if name == "wikipedia":
        return wiki([{"title": page.title, "url": page.url, "extract": page.text} for page in pages])
    names = SERVICES[name].fields
    found = [dict(zip(names, (p.title, p.url, p.text), strict=True)) for p in pages]
    outer: dict[str, Any] = {"bing": {"webPages": {"value": found}}, "brave": {"web": {"results": found}}}
    return as_json(outer.get(name, {"results": found}))

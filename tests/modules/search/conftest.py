"""One server with all search services, and how each provider is asked at it."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pytest

from chameleon.modules.search.duckduckgo import DuckDuckGo
from chameleon.modules.search.provider import SearchProvider, SearchResult, WebProvider
from chameleon.modules.search.services import SERVICES
from chameleon.modules.search.wikipedia import Wikipedia
from chameleon.web import Web, WebLimits
from chameleon.web.web import HostPace
from tests.web.servers import KEY, Route, WebServer, as_json, duckduckgo_page, search_services, wiki

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


@pytest.fixture(autouse=True)
def _clean_search(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in SERVICES.values():
        for variable in filter(None, (service.key_variable, service.endpoint_variable)):
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("WIKIPEDIA_ENDPOINT", raising=False)
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", "off")


@pytest.fixture
def services() -> Iterator[WebServer]:
    with WebServer(search_services) as server:
        yield server


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in WITH_KEY:
        monkeypatch.setenv(SERVICES[name].key_variable, KEY)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a provider that asks this server; of DuckDuckGo only the address is another than in earnest."""

    def make(
        name: str, server: WebServer, *, path: str = "", key: str = KEY, seconds: float = 5.0
    ) -> SearchProvider:
        endpoint = server.url + (path or PATHS[name])
        if name == "ddgs":
            pytest.importorskip("ddgs")
            engine = importlib.import_module("ddgs.engines.duckduckgo").Duckduckgo
            monkeypatch.setattr(engine, "search_url", endpoint)
            return DuckDuckGo(quick_web(seconds))
        if name in WITH_KEY:
            monkeypatch.setenv(SERVICES[name].key_variable, key)
        return on_the_web(name, quick_web(seconds), endpoint, allow_private=True)

    return make

"""One server with all search services, and an environment without the developer's settings."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

from chameleon.modules.search.duckduckgo import DuckDuckGo
from chameleon.modules.search.provider import SearchProvider
from tests.modules.search.asking import PATHS, SERVICES, Make, quick_web
from tests.web.servers import KEY, WebServer, search_services

VARIABLES = (
    "BING_SEARCH_KEY",
    "BING_SEARCH_ENDPOINT",
    "BRAVE_API_KEY",
    "TAVILY_API_KEY",
    "SEARXNG_URL",
    "WIKIPEDIA_ENDPOINT",
)


@pytest.fixture(autouse=True)
def _clean_search(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("CHAMELEON_WEB_CACHE", "off")


@pytest.fixture
def services() -> Iterator[WebServer]:
    with WebServer(search_services) as server:
        yield server


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a provider that asks this server: `provider("brave", server)`.

    Of DuckDuckGo only the address is another: the package's engine and its client are the real ones.
    """

    def make(
        name: str, server: WebServer, *, path: str = "", key: str = KEY, seconds: float = 5.0
    ) -> SearchProvider:
        endpoint = server.url + (path or PATHS[name])
        if name == "ddgs":
            pytest.importorskip("ddgs")
            engine = importlib.import_module("ddgs.engines.duckduckgo").Duckduckgo
            monkeypatch.setattr(engine, "search_url", endpoint)
            return DuckDuckGo(quick_web(seconds), spacing=0.0)
        service = SERVICES[name][0]
        if service.key_variable:
            monkeypatch.setenv(service.key_variable, key)
        return service(quick_web(seconds), endpoint, allow_private=True, spacing=0.0)

    return make

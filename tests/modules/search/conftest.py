"""One server with all search services, and an environment without the developer's settings."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

from chameleon.modules.search.duckduckgo import DuckDuckGo
from chameleon.modules.search.provider import SearchProvider
from chameleon.modules.search.services import SERVICES
from tests.modules.search.asking import PATHS, WITH_KEY, Make, on_the_web, quick_web
from tests.web.servers import KEY, WebServer, search_services


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
            return DuckDuckGo(quick_web(seconds))
        if name in WITH_KEY:
            monkeypatch.setenv(SERVICES[name].key_variable, key)
        return on_the_web(name, quick_web(seconds), endpoint, allow_private=True)

    return make

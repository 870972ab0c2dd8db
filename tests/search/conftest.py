"""One server with all search services, and an environment without the developer's settings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.servers import WebServer, search_services

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

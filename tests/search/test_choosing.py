"""Which provider is asked, and what is said before a run when one cannot be."""

from __future__ import annotations

import pytest

from chameleon.errors import ChameleonError, InventoryError, MissingPackage
from chameleon.modules.search import Settings, choose_provider
from chameleon.modules.search.bing import Bing
from chameleon.modules.search.brave import Brave
from chameleon.modules.search.provider import WebProvider
from chameleon.modules.search.searxng import SearXNG
from chameleon.modules.search.tavily import Tavily
from chameleon.modules.search.wikipedia import Wikipedia
from chameleon.web import Web
from tests.web.servers import KEY

SERVICES: dict[str, tuple[type[WebProvider], str]] = {
    "bing": (Bing, "/bing"),
    "brave": (Brave, "/brave"),
    "tavily": (Tavily, "/tavily"),
    "searxng": (SearXNG, "/search"),
    "wikipedia": (Wikipedia, "/w/api.php"),
}


def test_auto_takes_the_first_that_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = []
    for variables in (
        {"BING_SEARCH_KEY": "k", "BING_SEARCH_ENDPOINT": "https://b.example"},
        {"SEARXNG_URL": "https://s.example"},
        {"TAVILY_API_KEY": "k"},
        {"BRAVE_API_KEY": "k"},
    ):
        for variable, value in variables.items():
            monkeypatch.setenv(variable, value)
        chosen.append(choose_provider(Settings(), Web()).name)
    assert chosen == ["bing", "searxng", "tavily", "brave"]
    assert choose_provider(Settings(folder="docs"), Web()).name == "folder"


@pytest.mark.parametrize("name", ["auto", "ddgs", "folder"])
def test_an_endpoint_belongs_to_a_provider(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key must not go to an address that was meant for another service."""
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    with pytest.raises(InventoryError, match="takes no endpoint"):
        choose_provider(Settings(name, endpoint="https://searx.example"), Web())  # type: ignore[arg-type]


def test_auto_without_any_names_all_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InventoryError) as caught:
        choose_provider(Settings(), Web())
    for way in (
        "BRAVE_API_KEY",
        "TAVILY_API_KEY",
        "SEARXNG_URL",
        "BING_SEARCH_ENDPOINT",
        "[ddgs]",
        "folder",
    ):
        assert way in str(caught.value)


@pytest.mark.parametrize("name", ["brave", "tavily", "bing"])
def test_a_missing_key_is_an_error_of_the_check(name: str) -> None:
    settings = Settings(name, endpoint="https://search.example")  # type: ignore[arg-type]
    with pytest.raises(InventoryError) as caught:
        choose_provider(settings, Web()).check()
    told = str(caught.value)
    assert f"{SERVICES[name][0].key_variable} is not set" in told and "SEARXNG_URL" in told and "ddgs" in told


def test_bing_has_no_endpoint_of_its_own_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BING_SEARCH_KEY", KEY)
    with pytest.raises(InventoryError, match="switched its search API off in August 2025") as caught:
        choose_provider(Settings("bing"), Web()).check()
    assert "BING_SEARCH_ENDPOINT" in str(caught.value) and "web_search" in str(caught.value)


def test_a_private_endpoint_must_be_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", "http://localhost:8080")
    with pytest.raises(InventoryError, match="CHAMELEON_WEB_PRIVATE"):
        choose_provider(Settings("searxng"), Web()).check()
    choose_provider(Settings("searxng", allow_private=True), Web()).check()
    monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", "localhost:8080")
    choose_provider(Settings("searxng"), Web()).check()


def test_without_the_web_packages_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    with pytest.raises(MissingPackage, match=r"pip install .*\[web\]"):
        choose_provider(Settings("brave"), Web()).check()


def test_a_broken_endpoint_is_an_error_of_the_check() -> None:
    with pytest.raises(ChameleonError, match="only http and https"):
        choose_provider(Settings("searxng", endpoint="searx.example"), Web()).check()

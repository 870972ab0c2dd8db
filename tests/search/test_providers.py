"""Every provider through its real client, against a server that speaks its API."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InventoryError, MissingPackage, WebError
from chameleon.llm.retry import Backoff
from chameleon.modules.search import SearchResult, Settings, choose_provider
from chameleon.modules.search.bing import Bing
from chameleon.modules.search.brave import Brave
from chameleon.modules.search.provider import WebProvider
from chameleon.modules.search.searxng import SearXNG
from chameleon.modules.search.tavily import Tavily
from chameleon.modules.search.wikipedia import Wikipedia
from chameleon.web import Limits, PageCache, Web
from chameleon.web.pace import Pace
from tests.web.servers import KEY, PAGES, Answer, Route, WebServer, as_json, moved, search_services

SERVICES: dict[str, tuple[type[WebProvider], str]] = {
    "bing": (Bing, "/bing"),
    "brave": (Brave, "/brave"),
    "tavily": (Tavily, "/tavily"),
    "searxng": (SearXNG, "/search"),
    "wikipedia": (Wikipedia, "/w/api.php"),
}
WITH_KEY = ["bing", "brave", "tavily"]


def quick_web(seconds: float = 5.0) -> Web:
    backoff = Backoff(retries=1, first=0.001, longest=0.01)
    return Web(Limits(seconds=seconds, silence=0.5, bytes=500_000), pace=Pace(), backoff=backoff)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Callable[..., WebProvider]:
    """Make a provider that asks this server: `provider("brave", server)`."""

    def make(
        name: str, server: WebServer, *, path: str = "", key: str = KEY, seconds: float = 5.0
    ) -> WebProvider:
        service, own_path = SERVICES[name]
        if service.key_variable:
            monkeypatch.setenv(service.key_variable, key)
        return service(quick_web(seconds), server.url + (path or own_path), allow_private=True, spacing=0.0)

    return make


Make = Callable[..., WebProvider]


@pytest.mark.parametrize("name", ["bing", "brave", "tavily", "searxng"])
def test_a_search_gives_the_services_results(name: str, provider: Make, services: WebServer) -> None:
    expected = [SearchResult(page["title"], page["url"], page["text"]) for page in PAGES]
    assert provider(name, services).search("high tide", 2) == expected[:2]
    assert provider(name, services).search("high tide", 10) == expected
    assert provider(name, services).search("nothing", 3) == []


def test_the_query_is_sent_as_each_service_wants_it(provider: Make, services: WebServer) -> None:
    query = "tides & “moon”\n" + "word " * 200
    for name in ("bing", "brave", "tavily", "searxng"):
        provider(name, services).search(query, 2)
    bing, brave, tavily, searxng = services.asked
    sent = [bing.query["q"], brave.query["q"], json.loads(tavily.body)["query"], searxng.query["q"]]
    assert all(text.startswith("tides & “moon” word") and len(text) <= 400 for text in sent)
    assert len(brave.query["q"].split()) <= 50
    assert bing.query["count"] == brave.query["count"] == "2"


@pytest.mark.parametrize("name", WITH_KEY)
def test_a_key_that_is_refused_is_named_by_its_variable_and_never_shown(
    name: str, provider: Make, services: WebServer
) -> None:
    with pytest.raises(WebError) as caught:
        provider(name, services, key="wrong-key-0123456789").search("tides", 1)
    told = f"{caught.value} {caught.value!r}"
    assert "127.0.0.1: the server answered 4" in told and SERVICES[name][0].key_variable in told
    assert "wrong-key" not in told


FAULTS: dict[str, tuple[Route, str]] = {
    "401": (Answer(b"no", status=401), "401 (Unauthorized)"),
    "403": (Answer(b"no", status=403), "403 (Forbidden)"),
    "404": (Answer(b"no", status=404), "404 (Not Found)"),
    "429": (Answer(b"no", status=429, headers={"Retry-After": "0"}), "429 (Too Many Requests)"),
    "500": (Answer(b"no", status=500), "500 (Internal Server Error)"),
    "broken": (Answer(b'{"results": [', "application/json"), "broken JSON"),
    "page": (Answer(b"<html>Sign in</html>"), "text/html instead of JSON"),
    "not text": (Answer(b"\xff\xfe\x00", "application/json"), "broken JSON"),
    "large": (Answer([b'"' + b"x" * 1_000_000] * 10, "application/json"), "longer than 500,000 bytes"),
    "file": (moved("file:///etc/passwd"), "only http and https"),
    "private": (moved("http://127.0.0.1:1/"), "private or special network"),
    "metadata": (moved("http://169.254.169.254/latest"), "private or special network"),
    "circle": (moved("/x"), "more than 5 redirects"),
    "half": (Answer(b"{", "application/json", drop=True), "broke off"),
}


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_goes_wrong_is_told_with_the_host(name: str, fault: str, provider: Make) -> None:
    route, reason = FAULTS[fault]
    path = "/x/search" if name == "searxng" else "/x"
    with WebServer({"/x": route, "/x/search": route}) as server, pytest.raises(WebError) as caught:
        provider(name, server, path="/x").search("tides", 2)
    assert reason in str(caught.value) and KEY not in str(caught.value)
    assert all(asked.path == path for asked in server.asked[:1])


@pytest.mark.parametrize("name", SERVICES)
def test_a_slow_service_is_left_in_time(name: str, provider: Make) -> None:
    slow = Answer([b"{"] * 100, "application/json", pause=0.05)
    for route in (Answer(b"{}", "application/json", delay=30), slow):
        with WebServer({"/x": route, "/x/search": route}) as server:
            begun = time.monotonic()
            with pytest.raises(WebError, match="no answer in time"):
                provider(name, server, path="/x", seconds=0.6).search("tides", 2)
            assert time.monotonic() - begun < 5


@pytest.mark.parametrize("name", SERVICES)
def test_a_busy_service_is_asked_again(name: str, provider: Make) -> None:
    _, path = SERVICES[name]
    busy = Answer(b"wait", status=429, headers={"Retry-After": "0"})
    turns = iter([busy])
    route = search_services[path]
    assert callable(route)
    with WebServer({path: lambda asked: next(turns, None) or route(asked)}) as server:
        assert provider(name, server).search("tides", 1)
        assert len(server.asked) == 2


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["webPages", "value", "web", "results", "query", "pages", "title", "url", "name", "index"]
            ),
            inner,
            max_size=3,
        )
    ),
)


@pytest.mark.parametrize("name", ["bing", "brave", "tavily", "searxng"])
@given(data=json_values)
def test_json_of_any_form_gives_results_or_a_web_error(name: str, data: Any) -> None:
    service = SERVICES[name][0](Web())
    try:
        found = service.results(data)
    except WebError:
        return
    for result in found:
        assert all(isinstance(text, str) for text in (result.title, result.url, result.text))


def test_results_are_kept_only_with_web_addresses(provider: Make) -> None:
    found = [
        {"title": "a", "url": "javascript:alert(1)", "content": "x"},
        {"title": 7, "url": None, "content": ["x"]},
        "odd",
        {"content": "only text"},
    ]
    with WebServer({"/search": as_json({"results": found})}) as server:
        results = provider("searxng", server).search("q", 5)
    assert results == [SearchResult("a", "", "x"), SearchResult("", "", "only text")]


def test_searxng_without_json_says_what_to_set(provider: Make) -> None:
    with (
        WebServer({"/search": Answer(status=403)}) as server,
        pytest.raises(WebError, match=r"settings\.yml"),
    ):
        provider("searxng", server).search("q", 1)


class TestWikipedia:
    def test_a_page_is_given_with_its_introduction(self, provider: Make, services: WebServer) -> None:
        expected = SearchResult("Tide", "https://en.wikipedia.org/wiki/Tide", "Tides rise and fall.")
        assert provider("wikipedia", services).search("tides", 3) == [expected]

    def test_a_wiki_without_introductions_gives_snippets(self, provider: Make, services: WebServer) -> None:
        assert provider("wikipedia", services).search("tides plain wiki", 1)[0].text == "rise"

    def test_meanings_are_listed_the_likeliest_first(self, provider: Make, services: WebServer) -> None:
        text = provider("wikipedia", services).search("Mercury planet Sun", 1)[0].text
        assert text == (
            "Mercury may mean: Mercury (planet): Mercury is the first planet from the Sun.; "
            "Freddie Mercury: Freddie Mercury was a singer.; "
            "Mercury (element): Mercury is a chemical element."
        )

    def test_missing_pages_are_no_results(self, provider: Make, services: WebServer) -> None:
        assert provider("wikipedia", services).search("nothing", 3) == []

    def test_an_error_of_the_wiki_is_told_by_its_code(self, provider: Make, services: WebServer) -> None:
        with pytest.raises(WebError, match=r"refused the search \(srsearch-error\)"):
            provider("wikipedia", services).search("broken", 3)

    def test_endpoint_and_language(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert Wikipedia(Web()).address == "https://en.wikipedia.org/w/api.php"
        assert Wikipedia(Web(), language="zh-yue").address == "https://zh-yue.wikipedia.org/w/api.php"
        monkeypatch.setenv("WIKIPEDIA_ENDPOINT", "https://wiki.example/api.php")
        assert Wikipedia(Web()).address == "https://wiki.example/api.php"
        with pytest.raises(InventoryError, match="no language"):
            Wikipedia(Web(), language="evil.example/").check()


class TestDuckDuckGo:
    """The real package against a server that serves DuckDuckGo's page."""

    @pytest.fixture(autouse=True)
    def _page(self, services: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("ddgs")
        engine = importlib.import_module("ddgs.engines.duckduckgo").Duckduckgo
        monkeypatch.setattr(engine, "search_url", f"{services.url}/html/")

    def test_a_search_gives_the_pages_results(self) -> None:
        provider = choose_provider(Settings("ddgs", spacing=0.0), quick_web())
        found = provider.search("high tide", 2)
        assert {result.url for result in found} <= {page["url"] for page in PAGES} and len(found) == 2
        assert "High tide comes twice a day." in {result.text for result in found}

    def test_results_are_kept(self, services: WebServer, tmp_path: Path) -> None:
        web = replace(quick_web(), cache=PageCache(tmp_path / "web.sqlite"))
        provider = choose_provider(Settings("ddgs", spacing=0.0), web)
        assert provider.search("high tide", 2) == provider.search("high tide", 2)
        assert len(services.asked) == 1
        provider.search("low tide", 2)
        assert len(services.asked) == 2

    def test_an_empty_page_is_told(self) -> None:
        with pytest.raises(WebError, match=r"duckduckgo\.com: the search brought nothing"):
            choose_provider(Settings("ddgs", spacing=0.0), quick_web()).search("nothing", 2)

    def test_a_slow_page_is_left_in_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        engine = importlib.import_module("ddgs.engines.duckduckgo").Duckduckgo
        with WebServer({"/slow": Answer(b"x", delay=30)}) as server:
            monkeypatch.setattr(engine, "search_url", f"{server.url}/slow")
            web = Web(Limits(silence=1.0), pace=Pace())
            begun = time.monotonic()
            with pytest.raises(WebError, match=r"duckduckgo\.com"):
                choose_provider(Settings("ddgs"), web).search("tides", 1)
            assert time.monotonic() - begun < 8

    def test_without_the_package_the_pip_line_is_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(MissingPackage, match=r"pip install .*\[ddgs\]"):
            choose_provider(Settings("ddgs"), Web()).check()

"""Every provider through its real client, against a server that speaks its API."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon.errors import InventoryError, MissingPackage, WebError
from chameleon.modules.search.choose import Settings, choose_provider
from chameleon.modules.search.duckduckgo import DuckDuckGo
from chameleon.modules.search.provider import SearchResult
from chameleon.modules.search.wikipedia import Wikipedia
from chameleon.web import PageCache, Web
from chameleon.web.reply import described
from tests.modules.search.asking import SERVICES, Make, quick_web
from tests.web.servers import PAGES, Answer, WebServer, as_json


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


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("bing", 401),
        ("brave", 422),
        ("tavily", 401),
    ],
)
def test_a_key_that_is_refused_is_named_by_its_variable_and_never_shown(
    name: str, status: int, provider: Make, services: WebServer
) -> None:
    with pytest.raises(WebError) as caught:
        provider(name, services, key="wrong-key-0123456789").search("tides", 1)
    advice = f"Check the key in {SERVICES[name][0].key_variable}."
    assert str(caught.value) == f"127.0.0.1: the server answered {described(status)}. {advice}"
    assert "wrong-key" not in repr(caught.value)


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

    def test_a_meaning_at_the_end_of_the_alphabet_is_found(self, provider: Make, services: WebServer) -> None:
        """Of more links than one request may ask for, those that the query is about are asked for."""
        text = provider("wikipedia", services).search("Mercury zodiac", 1)[0].text
        assert text.startswith("Mercury may mean: Zodiac: The zodiac is a belt of the sky.")
        asked_for = services.asked[-1].query["titles"].split("|")
        assert len(asked_for) == 20 and asked_for[0] == "Zodiac"
        assert set(asked_for[1:4]) == {"Freddie Mercury", "Mercury (element)", "Mercury (planet)"}

    def test_missing_pages_are_no_results(self, provider: Make, services: WebServer) -> None:
        assert provider("wikipedia", services).search("nothing", 3) == []

    def test_the_spelling_that_the_wiki_suggests_is_looked_up(
        self, provider: Make, services: WebServer
    ) -> None:
        found = provider("wikipedia", services).search("tydes", 3)
        assert [result.title for result in found] == ["Tide"]
        assert [asked.query["gsrsearch"] for asked in services.asked] == ["tydes", "tides"]

    def test_an_error_of_the_wiki_is_told_by_its_code(self, provider: Make, services: WebServer) -> None:
        with pytest.raises(WebError, match=r"refused the search \(srsearch-error\)"):
            provider("wikipedia", services).search("broken", 3)

    def test_endpoint_and_language(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert Wikipedia(Web()).address == "https://en.wikipedia.org/w/api.php"
        assert Wikipedia(Web(), language="zh-yue").address == "https://zh-yue.wikipedia.org/w/api.php"
        monkeypatch.setenv("WIKIPEDIA_ENDPOINT", "https://wiki.example/api.php")
        assert Wikipedia(Web()).address == "https://wiki.example/api.php"
        Wikipedia(Web(), language="no such language").check()  # and it is asked nowhere

    @pytest.mark.parametrize(
        ("language", "near"), [("evil.example/", "en"), ("english", "en"), ("EN", "de"), ("", "en")]
    )
    def test_a_language_without_a_wikipedia_is_an_error_of_the_check(self, language: str, near: str) -> None:
        with pytest.raises(InventoryError, match=r"^language is .* no language of Wikipedia") as caught:
            Wikipedia(Web(), language=language).check()
        assert "endpoint" in caught.value.hint and near in caught.value.hint


class TestDuckDuckGo:
    """The package's engine and client against a server that serves DuckDuckGo's page."""

    def test_a_search_gives_the_pages_results(self, provider: Make, services: WebServer) -> None:
        found = provider("ddgs", services).search("high tide", 2)
        assert [(result.url, result.text) for result in found] == [
            ("https://example.org/tides", "High tide comes twice a day."),
            ("https://example.org/moon", "The Moon pulls at the sea."),
        ]
        (asked,) = services.asked
        assert asked.method == "POST" and dict(parse_qsl(asked.body.decode()))["q"] == "high tide"

    def test_an_empty_page_is_no_results(self, provider: Make, services: WebServer) -> None:
        assert provider("ddgs", services).search("nothing", 2) == []

    def test_a_refusal_is_told_and_not_taken_for_no_results(self, provider: Make) -> None:
        """The site's page for programs that ask too often has a status of success, 202."""
        refusal = Answer(b"<html><body>Select all squares with ducks</body></html>", status=202)
        with WebServer({"/html/": refusal}) as server, pytest.raises(WebError) as caught:
            provider("ddgs", server).search("tides", 2)
        assert str(caught.value) == (
            "127.0.0.1: the server answered 202 (Accepted). Try later, or use a provider with a key."
        )

    def test_results_are_kept(self, provider: Make, services: WebServer, tmp_path: Path) -> None:
        plain = provider("ddgs", services)
        assert isinstance(plain, DuckDuckGo)
        kept = replace(plain, web=quick_web(cache=PageCache(tmp_path / "web.sqlite")))
        first = kept.search("high tide", 2)
        assert len(first) == 2 and kept.search("high tide", 2) == first
        assert len(services.asked) == 1
        kept.search("low tide", 2)
        assert len(services.asked) == 2

    def test_without_the_package_the_pip_line_is_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(MissingPackage, match=r"pip install .*\[ddgs\]"):
            choose_provider(Settings("ddgs"), Web()).check()

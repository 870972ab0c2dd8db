"""Every provider through its real client, against a server that speaks its API."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chameleon.errors import WebError
from chameleon.modules.search.duckduckgo import DuckDuckGo
from chameleon.modules.search.provider import SearchResult
from chameleon.modules.search.search import quoted
from chameleon.modules.search.services import SERVICES
from chameleon.web import PageCache, Web, WebReply
from tests.modules.search.conftest import PATHS, Make, on_the_web, quick_web
from tests.web.servers import PAGES, Answer, WebServer, as_json, wiki


@pytest.mark.parametrize("name", SERVICES)
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


def test_a_refused_key_is_named_and_never_shown(provider: Make, services: WebServer) -> None:
    for name, status in (("bing", "401"), ("brave", "422"), ("tavily", "401")):
        with pytest.raises(WebError) as caught:
            provider(name, services, key="wrong-key-0123456789").search("tides", 1)
        assert status in caught.value.what and SERVICES[name].key_variable in caught.value.hint
        assert "wrong-key" not in repr(caught.value)


NAMES = ["webPages", "value", "web", "results", "query", "pages", "search", "title", "url", "name", "index"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
)


class Canned(Web):
    """Holds one answer to everything."""

    answer: ClassVar[Any]

    def fetch(self, url: str, **sent: Any) -> WebReply:
        return WebReply(url, "search.example", 200, "application/json", json.dumps(self.answer).encode())


@settings(max_examples=60)
@given(data=json_values)
def test_json_of_any_form_gives_results_or_a_web_error(data: Any) -> None:
    Canned.answer, web = data, Canned()
    for name in ("bing", "brave", "searxng", "wikipedia"):
        try:
            found = on_the_web(name, web, "https://search.example").search("tides", 3)
        except WebError:
            continue
        assert all(isinstance(text, str) for each in found for text in (each.title, each.url, each.text))


def test_results_are_kept_only_with_web_addresses(provider: Make) -> None:
    bad = {"title": "a", "url": "javascript:alert(1)", "content": "x"}
    found = [bad, {"title": 7, "url": None, "content": ["x"]}, "odd", {"content": "only text"}]
    with WebServer({"/search": as_json({"results": found})}) as server:
        results = provider("searxng", server).search("q", 5)
    assert results == [SearchResult("a", "", "x"), SearchResult("", "", "only text")]
    page = Answer(b"<html><div class='body'><h2>Bad</h2><a href='javascript:alert(1)'>x</a></div></html>")
    with WebServer({PATHS["ddgs"]: page}) as server:
        assert provider("ddgs", server).search("q", 5) == []


@pytest.mark.parametrize("name", SERVICES)
def test_a_reply_that_is_another_services_is_not_taken_for_no_results(name: str, provider: Make) -> None:
    lists = {"web": {"results": []}, "webPages": {"value": []}, "results": []}
    error = {**lists, "error": {"code": 401}}
    for answer in ({"other": [], "_type": "ErrorResponse"}, error, {"errors": [{"code": "x"}]}, {"web": {}}):
        with (
            WebServer({PATHS[name]: as_json(answer)}) as server,
            pytest.raises(WebError, match="not in the form of"),
        ):
            provider(name, server).search("tides", 2)


def test_only_results_are_kept(tmp_path: Path) -> None:
    """What a hotel's login page, a service with a fault or an index that is behind says is asked again."""
    web = quick_web(cache=PageCache(tmp_path / "web.sqlite"))
    good = {"results": [{"title": "Tides", "url": "https://a.example", "content": "x"}]}
    page, error, empty = Answer(b"<html>Sign in"), as_json({"error": "down"}), as_json({"results": []})
    hit = {"title": "Tide", "extract": "x", "index": 1}
    wiki_page = {"query": {"search": [{"title": "Tide"}], "pages": {"1": hit}}}
    nothing, odd = as_json({"query": {"search": []}}), as_json({"query": {"search": [{"pageid": 1}]}})
    bad_ones = {
        "searxng": (page, error, empty, as_json({"results": [{"odd": 1}]})),
        "wikipedia": (page, as_json({"error": {"code": "down"}}), nothing, odd),
    }
    for name, bad in ((name, bad) for name, each in bad_ones.items() for bad in each):
        answers = [bad, as_json(good if name == "searxng" else wiki_page), Answer(status=410)]
        with WebServer({PATHS[name]: answers}) as server:
            asked = on_the_web(name, web, server.url + PATHS[name], allow_private=True)
            with suppress(WebError):
                assert asked.search("tides", 1) == []
            assert asked.search("tides", 1) == asked.search("tides", 1) != []
            assert len(server.asked) == 2


def test_a_page_of_a_wiki_is_given_with_its_source_and_date(provider: Make, services: WebServer) -> None:
    (found,) = provider("wikipedia", services).search("tides", 1)
    source = "https://en.wikipedia.org/wiki/Tide"
    assert found == SearchResult("Tide", source, "Tides rise and fall.", "2026-05-04")
    line = f"1. Tide ({source}, revised 2026-05-04): Tides rise and fall."
    assert quoted([found], "tides").splitlines()[1] == line and len(services.asked) == 1
    assert provider("wikipedia", services).search("nothing", 3) == []
    with pytest.raises(WebError, match=r"refused the search \(srsearch-error\)"):
        provider("wikipedia", services).search("broken", 3)


def test_pages_of_a_wiki_come_in_the_order_of_the_search_with_snippets(provider: Make) -> None:
    pages = [{"title": "Tide"}, {"title": "Gone since", "gone": True}, {"title": "Moon", "extract": "x"}]
    with WebServer({"/w/api.php": wiki(pages)}) as server:
        found = provider("wikipedia", server, path="/w/api.php?format=xml").search("tides", 20)
    assert [(page.title, page.text) for page in found] == [("Tide", "rise"), ("Moon", "x")]


def test_the_spelling_that_the_wiki_suggests_is_looked_up(provider: Make, services: WebServer) -> None:
    found = provider("wikipedia", services).search("tydes", 1)
    assert [result.title for result in found] == ["Tide"]
    assert [asked.query["srsearch"] for asked in services.asked] == ["tydes", "tides"]
    nothing = {"searchinfo": {"suggestion": "tides " * 900}, "search": []}
    with WebServer({"/w/api.php": as_json({"query": nothing})}) as server:
        assert provider("wikipedia", server).search("tydes", 2) == []
    query = server.asked[1].query["srsearch"]
    assert query.startswith("tides tides") and len(query) <= 400 and len(server.asked) == 2


def test_duckduckgo_gives_the_pages_results_and_keeps_them(
    provider: Make, services: WebServer, tmp_path: Path
) -> None:
    plain = provider("ddgs", services)
    assert isinstance(plain, DuckDuckGo)
    kept = replace(plain, web=quick_web(cache=PageCache(tmp_path / "web.sqlite")))
    first = kept.search("high tide", 2)
    assert [(result.url, result.text) for result in first] == [(p["url"], p["text"]) for p in PAGES[:2]]
    (asked,) = services.asked
    assert asked.method == "POST" and dict(parse_qsl(asked.body.decode()))["q"] == "high tide"
    assert kept.search("high tide", 2) == first and kept.search("nothing", 2) == []
    assert kept.runtime_info()["versions"] == {package: version(package) for package in ("ddgs", "primp")}
    for query, count in (("high tide", 2), ("low tide", 3), ("nothing", 4)):
        kept.search(query, 2)
        assert len(services.asked) == count


def test_a_refusal_of_duckduckgo_with_a_status_of_success_is_told(provider: Make) -> None:
    refusal = Answer(b"<html><body>Select all squares with ducks</body></html>", status=202)
    with WebServer({"/html/": refusal}) as server, pytest.raises(WebError) as caught:
        provider("ddgs", server).search("tides", 2)
    assert "202" in caught.value.what and caught.value.hint

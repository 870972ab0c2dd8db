"""Which provider is asked, and what is said before a run when one cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from chameleon.errors import InventoryError, MissingPackage
from chameleon.modules.search.choose import Settings, choose_provider
from chameleon.web import Web
from tests.modules.search.asking import SERVICES, WITH_KEY
from tests.web.servers import KEY


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in WITH_KEY:
        monkeypatch.setenv(SERVICES[name][0].key_variable, KEY)


def chosen(name: str = "auto", web: Web | None = None, **settings: Any) -> Any:
    return choose_provider(Settings(name, **settings), web or Web())  # type: ignore[arg-type]


def test_auto_takes_the_first_that_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for variables in (
        {"BING_SEARCH_KEY": "k", "BING_SEARCH_ENDPOINT": "https://b.example"},
        {"SEARXNG_URL": "https://s.example"},
        {"TAVILY_API_KEY": "k"},
        {"BRAVE_API_KEY": "k"},
    ):
        for variable, value in variables.items():
            monkeypatch.setenv(variable, value)
        found.append(chosen().name)
    assert found == ["bing", "searxng", "tavily", "brave"]
    assert chosen(folder="docs").name == "folder"


@pytest.mark.parametrize("name", ["auto", "ddgs", "folder"])
@pytest.mark.usefixtures("keys")
def test_an_endpoint_belongs_to_a_provider(name: str) -> None:
    """A key must not go to an address that was meant for another service."""
    with pytest.raises(InventoryError, match="takes no endpoint"):
        chosen(name, endpoint="https://searx.example")


def test_auto_without_any_names_all_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InventoryError) as caught:
        chosen()
    for way in ("BRAVE_API_KEY", "TAVILY_API_KEY", "SEARXNG_URL", "BING_SEARCH_ENDPOINT", "[ddgs]", "folder"):
        assert way in str(caught.value)


@pytest.mark.parametrize("name", WITH_KEY)
def test_a_missing_key_is_an_error_of_the_check(name: str) -> None:
    with pytest.raises(InventoryError) as caught:
        chosen(name, endpoint="https://search.example").check()
    told = str(caught.value)
    assert f"{SERVICES[name][0].key_variable} is not set" in told and "SEARXNG_URL" in told and "ddgs" in told


def test_bing_has_no_endpoint_of_its_own_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BING_SEARCH_KEY", KEY)
    with pytest.raises(InventoryError, match="switched its search API off in August 2025") as caught:
        chosen("bing").check()
    assert "BING_SEARCH_ENDPOINT" in str(caught.value) and "web_search" in str(caught.value)


def test_a_private_endpoint_must_be_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", "http://localhost:8080")
    with pytest.raises(InventoryError, match="CHAMELEON_WEB_PRIVATE"):
        chosen("searxng").check()
    chosen("searxng", allow_private=True).check()
    monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", "localhost:8080")
    chosen("searxng").check()


BY_ENDPOINT = ("bing", "brave", "tavily", "searxng", "wikipedia")
REFUSED = {
    "https://169.254.169.254/": "special network",
    "https://2852039166/": "special network",
    "https://[fe80::1]/": "special network",
    "https://[::ffff:169.254.169.254]/": "special network",
    "https://100.100.100.200/": "special network",
    "https://metadata.google.internal/": "special network",
    "https://0.0.0.0/": "special network",
    "https://224.0.0.1/": "special network",
    "https://me:word@search.example/": "a user name or password",
    "search.example": "only http and https",
    "ftp://search.example/": "only http and https",
    "https://search.example:0/": "a host or a port",
    "https://search.example/a b": "spaces",
}


@pytest.mark.parametrize("allowed", [False, True], ids=["", "allow_private"])
@pytest.mark.parametrize("name", BY_ENDPOINT)
@pytest.mark.parametrize("endpoint", REFUSED)
@pytest.mark.usefixtures("keys")
def test_the_check_refuses_what_a_run_would_refuse(
    endpoint: str, name: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says so of the setting that holds the address, without what may be a password in it."""
    with pytest.raises(InventoryError, match=REFUSED[endpoint]) as caught:
        chosen(name, endpoint=endpoint, allow_private=allowed).check()
    assert str(caught.value).startswith(f"endpoint (the endpoint of {name}) ")
    assert "word@" not in str(caught.value) and KEY not in str(caught.value)
    if variable := SERVICES[name][0].endpoint_variable:
        monkeypatch.setenv(variable, endpoint)
        told = f"^{variable} .the endpoint of {name}. .*{REFUSED[endpoint]}"
        with pytest.raises(InventoryError, match=told):
            chosen(name, allow_private=allowed).check()


@pytest.mark.parametrize("name", BY_ENDPOINT)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.1.2.3", "127.1", "[::1]", "[fd00::1]"])
@pytest.mark.usefixtures("keys")
def test_a_private_address_passes_the_check_where_it_is_allowed(host: str, name: str) -> None:
    endpoint = f"http://{host}:8080/x"
    chosen(name, endpoint=endpoint, allow_private=True).check()
    with pytest.raises(InventoryError, match="lies in a private network"):
        chosen(name, endpoint=endpoint).check()


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("name", WITH_KEY)
def test_no_key_is_sent_in_the_clear(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of a private network passes where it is allowed: where it leads shows when it is looked up."""
    public, elsewhere, named = "http://8.8.8.8/", "http://search.example/x", "http://search.lan/"
    for endpoint, allowed in ((public, True), (public, False), (named, False), (elsewhere, True)):
        with pytest.raises(InventoryError, match="would be sent unencrypted") as caught:
            chosen(name, endpoint=endpoint, allow_private=allowed).check()
        assert "https" in caught.value.hint and KEY not in str(caught.value)
    chosen(name, endpoint=named, allow_private=True).check()
    chosen(name, endpoint="https://search.lan/").check()
    chosen(name, endpoint="http://searcher:8080/", allow_private=True).check()
    for private in ("search.lan", "*"):
        monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", private)
        chosen(name, endpoint=named).check()
    with pytest.raises(InventoryError, match="would be sent unencrypted"):
        chosen(name, endpoint=elsewhere).check()


@pytest.mark.parametrize("name", WITH_KEY)
@pytest.mark.parametrize("key", ["schlüssel-0123456789", "two\nlines-0123456789", "“quoted-0123456789”"])
def test_a_key_that_no_header_can_hold_is_named_by_its_variable(
    name: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = str(SERVICES[name][0].key_variable)
    monkeypatch.setenv(variable, key)
    with pytest.raises(InventoryError, match=f"^{variable} holds characters that cannot be sent") as caught:
        chosen(name, endpoint="https://search.example").check()
    assert "0123456789" not in str(caught.value)


def test_a_user_agent_that_no_header_can_hold_is_an_error_of_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InventoryError, match="user_agent"):
        chosen("wikipedia", Web(user_agent="Zoë")).check()
    monkeypatch.setenv("CHAMELEON_USER_AGENT", "lab\r\nX-Other: 1")
    with pytest.raises(InventoryError, match="CHAMELEON_USER_AGENT"):
        chosen("wikipedia").check()


@pytest.mark.parametrize("name", ["searxng", "wikipedia"])
def test_a_service_without_a_key_may_be_asked_in_the_clear(name: str) -> None:
    chosen(name, endpoint="http://search.example").check()


@pytest.mark.parametrize("query", ["?q=", "/?language=de", "/search?token=secret-0123"])
def test_the_address_of_a_searxng_holds_no_query(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", f"https://searx.example{query}")
    with pytest.raises(InventoryError, match=r"^SEARXNG_URL .* holds a query") as caught:
        chosen("searxng").check()
    assert "secret" not in str(caught.value)


def test_the_address_of_a_bing_compatible_service_may_hold_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BING_SEARCH_KEY", KEY)
    monkeypatch.setenv("BING_SEARCH_ENDPOINT", "https://search.example/custom?customconfig=7")
    chosen("bing").check()


@pytest.mark.parametrize("name", BY_ENDPOINT)
@pytest.mark.usefixtures("keys")
def test_what_is_asked_is_told_by_its_host_alone(name: str) -> None:
    query = "?secret=1" if SERVICES[name][0].takes_query else ""
    endpoint = f"https://search.example:8443/secret-path{query}"
    assert chosen(name, endpoint=endpoint).runtime_info() == {"provider": name, "host": "search.example"}


@pytest.mark.usefixtures("keys")
def test_without_the_web_packages_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"pip install .*\[web\]"):
        chosen("brave").check()

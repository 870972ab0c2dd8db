"""Which provider is asked, and what is said before a run when one cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chameleon.errors import InventoryError, MissingPackage
from chameleon.modules.search.choose import Settings, choose_provider
from chameleon.web import Web
from tests.modules.search.asking import SERVICES, WITH_KEY
from tests.web.servers import KEY


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


@pytest.mark.parametrize("name", WITH_KEY)
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
def test_the_check_refuses_what_a_run_would_refuse(
    endpoint: str, name: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says so of the setting that holds the address, without what may be a password in it."""
    service = SERVICES[name][0]
    if service.key_variable:
        monkeypatch.setenv(service.key_variable, KEY)
    settings = Settings(name, endpoint=endpoint, allow_private=allowed)  # type: ignore[arg-type]
    with pytest.raises(InventoryError, match=REFUSED[endpoint]) as caught:
        choose_provider(settings, Web()).check()
    assert str(caught.value).startswith(f"endpoint (the endpoint of {name}) ")
    assert "word@" not in str(caught.value) and KEY not in str(caught.value)
    if variable := service.endpoint_variable:
        monkeypatch.setenv(variable, endpoint)
        with pytest.raises(
            InventoryError, match=f"^{variable} .the endpoint of {name}. .*{REFUSED[endpoint]}"
        ):
            choose_provider(Settings(name, allow_private=allowed), Web()).check()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", BY_ENDPOINT)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.1.2.3", "127.1", "[::1]", "[fd00::1]"])
def test_a_private_address_passes_the_check_where_it_is_allowed(
    host: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = SERVICES[name][0]
    if service.key_variable:
        monkeypatch.setenv(service.key_variable, KEY)
    settings = Settings(name, endpoint=f"http://{host}:8080/x", allow_private=True)  # type: ignore[arg-type]
    choose_provider(settings, Web()).check()
    with pytest.raises(InventoryError, match="lies in a private network"):
        choose_provider(replace(settings, allow_private=False), Web()).check()


@pytest.mark.parametrize("name", WITH_KEY)
def test_no_key_is_sent_in_the_clear(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of a private network passes where it is allowed: where it leads shows when it is looked up."""
    monkeypatch.setenv(str(SERVICES[name][0].key_variable), KEY)
    public = Settings(name, endpoint="http://8.8.8.8/", allow_private=True)  # type: ignore[arg-type]
    named = Settings(name, endpoint="http://search.lan/")  # type: ignore[arg-type]
    elsewhere = replace(public, endpoint="http://search.example/x")
    for settings in (public, replace(public, allow_private=False), named, elsewhere):
        with pytest.raises(InventoryError, match="would be sent unencrypted") as caught:
            choose_provider(settings, Web()).check()
        assert "https" in caught.value.hint and KEY not in str(caught.value)
    choose_provider(replace(named, allow_private=True), Web()).check()
    choose_provider(replace(named, endpoint="https://search.lan/"), Web()).check()
    choose_provider(replace(named, endpoint="http://searcher:8080/", allow_private=True), Web()).check()
    monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", "search.lan")
    choose_provider(named, Web()).check()
    monkeypatch.setenv("CHAMELEON_WEB_PRIVATE", "*")
    choose_provider(named, Web()).check()
    with pytest.raises(InventoryError, match="would be sent unencrypted"):
        choose_provider(replace(elsewhere, allow_private=False), Web()).check()


@pytest.mark.parametrize("name", WITH_KEY)
@pytest.mark.parametrize("key", ["schlüssel-0123456789", "two\nlines-0123456789", "“quoted-0123456789”"])
def test_a_key_that_no_header_can_hold_is_named_by_its_variable(
    name: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable = str(SERVICES[name][0].key_variable)
    monkeypatch.setenv(variable, key)
    settings = Settings(name, endpoint="https://search.example")  # type: ignore[arg-type]
    with pytest.raises(InventoryError, match=f"^{variable} holds characters that cannot be sent") as caught:
        choose_provider(settings, Web()).check()
    assert "0123456789" not in str(caught.value)


def test_a_user_agent_that_no_header_can_hold_is_an_error_of_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InventoryError, match="user_agent"):
        choose_provider(Settings("wikipedia"), Web(user_agent="Zoë")).check()
    monkeypatch.setenv("CHAMELEON_USER_AGENT", "lab\r\nX-Other: 1")
    with pytest.raises(InventoryError, match="CHAMELEON_USER_AGENT"):
        choose_provider(Settings("wikipedia"), Web()).check()


@pytest.mark.parametrize("name", ["searxng", "wikipedia"])
def test_a_service_without_a_key_may_be_asked_in_the_clear(name: str) -> None:
    choose_provider(Settings(name, endpoint="http://search.example"), Web()).check()  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["?q=", "/?language=de", "/search?token=secret-0123"])
def test_the_address_of_a_searxng_holds_no_query(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", f"https://searx.example{query}")
    with pytest.raises(InventoryError, match=r"^SEARXNG_URL .* holds a query") as caught:
        choose_provider(Settings("searxng"), Web()).check()
    assert "secret" not in str(caught.value)


def test_the_address_of_a_bing_compatible_service_may_hold_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BING_SEARCH_KEY", KEY)
    monkeypatch.setenv("BING_SEARCH_ENDPOINT", "https://search.example/custom?customconfig=7")
    choose_provider(Settings("bing"), Web()).check()


@pytest.mark.parametrize("name", BY_ENDPOINT)
def test_what_is_asked_is_told_by_its_host_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    service = SERVICES[name][0]
    if service.key_variable:
        monkeypatch.setenv(service.key_variable, KEY)
    endpoint = "https://search.example:8443/secret-path" + ("?secret=1" if service.takes_query else "")
    provider = choose_provider(Settings(name, endpoint=endpoint), Web())  # type: ignore[arg-type]
    assert provider.resolved() == {"provider": name, "host": "search.example"}


def test_without_the_web_packages_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    with pytest.raises(MissingPackage, match=r"pip install .*\[web\]"):
        choose_provider(Settings("brave"), Web()).check()

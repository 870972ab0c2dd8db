"""What a search provider is, and those that are asked over HTTP."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from chameleon.errors import InventoryError, WebError
from chameleon.markup import markup_text, require_lxml
from chameleon.web import Web, one_line
from chameleon.web.addresses import checked_url
from chameleon.web.client import can_be_sent, require_requests

LONGEST_QUERY = 400
"""Characters; Brave and Tavily refuse more, and no search engine weighs more words than these hold."""
MOST_RESULTS = 20
"""For one request: what every service gives."""
WAYS = (
    "Set one of BRAVE_API_KEY (Brave), TAVILY_API_KEY (Tavily), SEARXNG_URL (your own SearXNG, no key), "
    "BING_SEARCH_ENDPOINT with BING_SEARCH_KEY (a Bing-compatible service), for {use: web_search}; or in an "
    "inventory of your own write below this module's name {use: web_search, provider: ddgs} (DuckDuckGo, no "
    "key; needs chameleon-compose[ddgs]) or {use: web_search, provider: folder, folder: PATH} (your "
    "own documents); docs/search.md shows it."
)
_LONGEST_TEXT = 20_000
_HINTS = {404: "Check the endpoint.", 429: "The quota is used up; try later."}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result: text from a stranger, stripped of markup but otherwise as it came.

    `revised`: the day of the page's revision, as in 2026-05-04, where the provider tells it.
    """

    title: str
    url: str
    text: str
    revised: str = ""


class SearchProvider(Protocol):
    """Something that can be searched; one instance serves all threads.

    `check` raises a `ChameleonError` naming what is missing: a key, a package, a folder. `runtime_info` has
    the provider and its host, never a whole address. `search` returns the best results, at most `count`, and
    raises `WebError` for a failure.
    """

    @property
    def name(self) -> str: ...
    def check(self) -> None: ...
    def runtime_info(self) -> Mapping[str, Any]: ...
    def search(self, query: str, count: int) -> list[SearchResult]: ...


@dataclass(frozen=True)
class Service:
    """How a search service on the web is asked, and where its reply holds the results.

    - `request`: from a query and a count to what `Web.fetch` is to send.
    - `key_variable`: the environment variable with the key, "" where none is needed; `key_header`: the header
      that carries it, after `key_prefix`.
    - `endpoint`, `endpoint_variable`: its address, and the variable with one that takes its place;
      `endpoint_end`: what the address of a request ends with; `no_endpoint`: why it has no address.
    - `spacing`: the least number of seconds between requests, by the service's own terms.
    - `path`, `fields`: the keys down to the list of results in its reply, and those of title, address and
      text in a result; `markup`: whether title and text are HTML.
    - `hints`: what to do about a status.
    """

    name: str
    request: Callable[[str, int], dict[str, Any]]
    key_variable: str = ""
    key_header: str = ""
    key_prefix: str = ""
    endpoint: str = ""
    endpoint_variable: str = ""
    endpoint_end: str = ""
    no_endpoint: str = ""
    spacing: float = 0.1
    path: tuple[str, ...] = ("results",)
    fields: tuple[str, str, str] = ("title", "url", "content")
    markup: bool = False
    hints: Mapping[int, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return os.environ.get(self.key_variable, "").strip()

    @property
    def set_endpoint(self) -> str:
        """Return the address that the environment holds, "" for none."""
        return os.environ.get(self.endpoint_variable, "").strip()

    @property
    def is_configured(self) -> bool:
        """Tell whether the environment holds what it needs."""
        return bool(self.key or not self.key_variable) and bool(self.set_endpoint or self.endpoint)


@dataclass(frozen=True)
class WebProvider:
    """A service that is asked with `web`, at `endpoint` if one is given."""

    service: Service
    web: Web
    endpoint: str = ""
    allow_private: bool = False

    @property
    def name(self) -> str:
        return self.service.name

    @property
    def address(self) -> str:
        """Return the endpoint in use; "" where none is set."""
        address = self.endpoint or self.service.set_endpoint or self.service.endpoint
        start, mark, query = address.partition("?")
        end = self.service.endpoint_end
        if not start or not end or start.rstrip("/").endswith(end):
            return address
        return f"{start.rstrip('/')}{end}{mark}{query}"

    @property
    def host(self) -> str:
        """Return the endpoint's host, for errors: the rest of an address may hold a token."""
        return checked_url(self.address).host

    def check(self) -> None:
        require_requests()
        require_lxml()
        service = self.service
        if service.key_variable and not service.key:
            raise InventoryError(
                f"the search provider {self.name} has no key: {service.key_variable} is not set", hint=WAYS
            )
        if not can_be_sent(service.key):
            raise InventoryError(
                f"{service.key_variable} holds characters that cannot be sent", hint="Use plain ASCII."
            )
        if not self.address:
            missing = (
                f"the search provider {self.name} has no address: {service.endpoint_variable} is not set"
            )
            raise InventoryError(service.no_endpoint or missing, hint=WAYS)
        self._check_address()

    def _check_address(self) -> None:
        """Refuse here what every request would refuse, as far as the address itself tells it."""
        setting = "endpoint" if self.endpoint else self.service.endpoint_variable
        try:
            self._own_web.check_address(self.address, has_key=bool(self.service.key_variable))
        except WebError as refused:
            place = f"{setting} (the endpoint of {self.name}){refused.where and f' at {refused.where}'}"
            raise InventoryError(f"{place} cannot be asked: {refused.what}", hint=refused.hint) from None

    @property
    def _own_web(self) -> Web:
        """Return the client for the endpoint: where a redirect leads may not be private."""
        if not self.allow_private:
            return self.web
        return replace(self.web, private=(*self.web.private, checked_url(self.address).host_and_port))

    def runtime_info(self) -> Mapping[str, Any]:
        return {"provider": self.name, "host": self.host}

    def search(self, query: str, count: int) -> list[SearchResult]:
        found = self.results(self.ask(query, count))
        return [result for result in found if result.title or result.text][:count]

    def ask(self, query: str, count: int) -> Any:
        """Return the service's reply to a query. Raise `WebError` for any other than JSON with status 200."""
        return self.reply(**self.service.request(one_line(query, LONGEST_QUERY), min(count, MOST_RESULTS)))

    def reply(self, **sent: Any) -> Any:
        """Return the service's reply to what `Web.fetch` is to send; raise as `ask` does."""
        service = self.service
        secrets = {service.key_header: service.key_prefix + service.key} if service.key else {}
        try:
            reply = self._own_web.fetch(self.address, secrets=secrets, spacing=service.spacing, **sent)
        except WebError as error:
            setting = "endpoint" if self.endpoint else service.endpoint_variable
            hint = f"Check that the server runs, and that {setting} is its address." if setting else ""
            raise WebError(error.what, where=error.where, hint=error.hint or hint) from None
        refused = f"Check the key in {service.key_variable}." if service.key else ""
        return reply.data({401: refused, 403: refused, **_HINTS, **service.hints})

    def results(self, data: Any) -> list[SearchResult]:
        """Return the results in a reply. Raise `WebError` for one of another form."""
        title, url, text = self.service.fields
        markup = self.service.markup
        return [
            SearchResult(
                text_of(page, title, markup=markup), url_of(page, url), text_of(page, text, markup=markup)
            )
            for page in self.listed(data, *self.service.path)
        ]

    def listed(self, data: Any, *path: str) -> list[Mapping[str, Any]]:
        """Return the objects in the list under these keys. Raise `WebError` for another form."""
        for key in path:
            if not isinstance(data, dict):
                raise self.misshapen
            if (data := data.get(key)) is None:
                return []
        if not isinstance(data, list):
            raise self.misshapen
        return [item for item in data if isinstance(item, dict)]

    @property
    def misshapen(self) -> WebError:
        """Return the error for a reply of another form."""
        return WebError(f"the server's answer is not in the form of {self.name}", where=self.host)


def text_of(item: Mapping[str, Any], key: str, *, markup: bool = False) -> str:
    """Return a text in a reply, "" where there is none; `markup` where the service writes HTML."""
    value = item.get(key)
    text = value[:_LONGEST_TEXT] if isinstance(value, str) else ""
    return markup_text(text)[1] if markup and ("<" in text or "&" in text) else text


def url_of(item: Mapping[str, Any], key: str) -> str:
    """Return a result's address, "" where it is none of the web (javascript:, data:)."""
    value = item.get(key)
    return value if isinstance(value, str) and value.startswith(("http://", "https://")) else ""

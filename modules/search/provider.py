"""What a search provider is, and those that are asked over HTTP."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from chameleon.errors import InventoryError, WebError
from chameleon.web import Web, one_line
from chameleon.web.addresses import Kind, bare_host, checked_url, host_and_port, kind_on_its_face
from chameleon.web.client import require_httpx
from chameleon.web.markup import markup_text, require_lxml
from chameleon.web.request import can_be_sent

LONGEST_QUERY = 400
"""Characters; Brave and Tavily refuse more, and no search engine weighs more words than these hold."""
_LONGEST_TEXT = 20_000
# Names of private networks: RFC 6762 (local, and appendix G), RFC 8375 (home.arpa).
_PRIVATE_NAMES = (
    *(".local", ".lan", ".internal", ".home.arpa", ".home", ".intranet", ".private", ".corp", ".localdomain"),
)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result: text from a stranger, stripped of markup but otherwise as it came."""

    title: str
    url: str
    text: str


class SearchProvider(Protocol):
    """Something that can be searched; one instance serves all threads."""

    name: ClassVar[str]

    def check(self) -> None:
        """Raise a `ChameleonError` naming what is missing: a key, a package, a folder. Cheap."""

    def runtime_info(self) -> Mapping[str, Any]:
        """Return the provider and its host, never a whole address."""

    def search(self, query: str, count: int) -> list[SearchResult]:
        """Return the best results, at most `count`; raise `WebError` (a `ModuleError`) for a failure."""


@dataclass(frozen=True)
class WebProvider:
    """A search service over HTTP. Subclasses say how it is asked and where its results are.

    - `key_variable`: the environment variable with the key, "" where none is needed; `key_header`: the header
      that carries it, and what is written before it.
    - `endpoint_variable`, `default_endpoint`: where the address comes from when YAML names none.
    - `spacing`: the least number of seconds between requests, by the service's own terms.
    - `most`: how many results one request may ask for.
    - `takes_query`: whether its address may hold a query of its own, such as Bing's customconfig=…
    - `path`, `fields`: the keys down to the list of results in its reply, and those of title, address and
      text in a result; `markup`: whether title and text are HTML.
    """

    name: ClassVar[str]
    key_variable: ClassVar[str] = ""
    key_header: ClassVar[tuple[str, str]]
    endpoint_variable: ClassVar[str] = ""
    default_endpoint: ClassVar[str] = ""
    default_spacing: ClassVar[float] = 0.1
    takes_query: ClassVar[bool] = True
    most: ClassVar[int] = 20
    path: ClassVar[tuple[str, ...]] = ("results",)
    fields: ClassVar[tuple[str, str, str]] = ("title", "url", "content")
    markup: ClassVar[bool] = False

    web: Web
    endpoint: str = ""
    allow_private: bool = False
    spacing: float | None = None

    @classmethod
    def is_configured(cls) -> bool:
        """Tell whether the environment holds what it needs."""
        needed = [v for v in (cls.key_variable, "" if cls.default_endpoint else cls.endpoint_variable) if v]
        return bool(needed) and all(os.environ.get(variable, "").strip() for variable in needed)

    @property
    def address(self) -> str:
        """Return the endpoint in use; "" where none is set."""
        set_outside = os.environ.get(self.endpoint_variable, "") if self.endpoint_variable else ""
        return self.endpoint or set_outside.strip() or self.default_endpoint

    @property
    def key(self) -> str:
        return os.environ.get(self.key_variable, "").strip() if self.key_variable else ""

    def check(self) -> None:
        require_httpx()
        require_lxml()
        if self.key_variable and not self.key:
            raise InventoryError(
                f"the search provider {self.name} has no key: {self.key_variable} is not set",
                hint=f"Set {self.key_variable}; or {self._otherwise()}.",
            )
        if not self.address:
            raise InventoryError(self.without_endpoint(), hint=f"Otherwise {self._otherwise()}.")
        self._check_address()
        for name, value in (
            (self.key_variable, self.key),
            ("user_agent or CHAMELEON_USER_AGENT", self.web.agent),
        ):
            if not can_be_sent(value):
                raise InventoryError(f"{name} holds characters that cannot be sent", hint="Use plain ASCII.")

    def _otherwise(self) -> str:
        return f"let {{use: web_search}} ask one of {variables(self.name)}; or {alternatives()}"

    def _check_address(self) -> None:
        """Refuse here what every request would refuse, as far as the address itself tells it."""
        set_outside = self.endpoint_variable and os.environ.get(self.endpoint_variable, "").strip()
        setting = self.endpoint_variable if set_outside and not self.endpoint else "endpoint"
        place = f"{setting} (the endpoint of {self.name})"
        try:
            url = checked_url(self.address)
        except WebError as refused:
            raise InventoryError(f"{place} cannot be asked: {refused.what}", hint=refused.hint) from None
        if url.query and not self.takes_query:
            raise InventoryError(
                f"{place} holds a query", hint="Leave out the question mark and what follows it."
            )
        kind, allowed = kind_on_its_face(url.host), self.own_web.allows_private(self.address)
        if kind == "forbidden":
            raise InventoryError(
                f"{place} lies in a special network, which is never asked ({url.host})",
                hint="Link-local, metadata, multicast and reserved addresses cannot be allowed.",
            )
        if kind == "private" and not allowed:
            raise InventoryError(
                f"{place} lies in a private network ({url.host})",
                hint="If that is meant, set allow_private: true, or CHAMELEON_WEB_PRIVATE=host:port.",
            )
        if url.scheme == "http" and self.key_variable and not (allowed and _looks_private(url.host, kind)):
            raise InventoryError(
                f"{place} is plain http, so the key of {self.key_variable} would be sent unencrypted"
                f" ({url.host})",
                hint="Use https. For a server in your own network, write its private address or a name "
                "such as search.lan, and set allow_private: true, or CHAMELEON_WEB_PRIVATE=host:port.",
            )

    def runtime_info(self) -> Mapping[str, Any]:
        return {"provider": self.name, "host": self.host}

    @property
    def own_web(self) -> Web:
        """Return the client for the endpoint, which may be private if that is allowed; redirects may not."""
        if not self.allow_private:
            return self.web
        return replace(self.web, private=(*self.web.private, host_and_port(self.address)))

    def without_endpoint(self) -> str:
        """Return the sentence for a service that has no address."""
        return f"the search provider {self.name} has no address: {self.endpoint_variable} is not set"

    def search(self, query: str, count: int) -> list[SearchResult]:
        self.check()
        spacing = self.default_spacing if self.spacing is None else self.spacing
        asked = self.request(one_line(query, LONGEST_QUERY), min(count, self.most))
        header, prefix = self.key_header if self.key_variable else ("", "")
        secrets = {header: f"{prefix}{self.key}"} if header else {}
        reply = self.own_web.fetch(self.address, secrets=secrets, spacing=spacing, **asked)
        found = self.results(reply.data(self.hints()))
        return [result for result in found if result.title or result.text][:count]

    def request(self, query: str, count: int) -> dict[str, Any]:
        """Return what `Web.fetch` is to send: params, json, headers."""
        raise NotImplementedError

    def results(self, data: Any) -> list[SearchResult]:
        """Return the results in the service's reply."""
        title, url, text = self.fields
        return [
            SearchResult(
                text_of(page, title, markup=self.markup),
                url_of(page, url),
                text_of(page, text, markup=self.markup),
            )
            for page in self.listed(data, *self.path)
        ]

    def hints(self) -> Mapping[int, str]:
        """Return what to do about a status."""
        refused = f"Check the key in {self.key_variable}." if self.key_variable else ""
        return {
            401: refused,
            403: refused,
            404: "Check the endpoint.",
            429: "The quota is used up; try later.",
        }

    def listed(self, data: Any, *path: str) -> list[Mapping[str, Any]]:
        """Return the objects in the list under these keys; raise `WebError` for another form."""
        for key in path:
            if not isinstance(data, dict):
                raise self.misshapen()
            data = data.get(key)
            if data is None:
                return []
        if not isinstance(data, list):
            raise self.misshapen()
        return [item for item in data if isinstance(item, dict)]

    @property
    def host(self) -> str:
        """Return the endpoint's host, for errors: the rest of an address may hold a token."""
        return checked_url(self.address).host

    def misshapen(self) -> WebError:
        """Return the error for a reply that is not what the service sends."""
        return WebError(f"the server's answer is not in the form of {self.name}", where=self.host)


def _looks_private(host: str, kind: Kind | None) -> bool:
    """Tell whether a host looks like one's own network: by its number, or by its kind of name."""
    name = bare_host(host)
    by_name = "." not in name or name.endswith(_PRIVATE_NAMES)
    return kind == "private" or (kind is None and by_name)


def text_of(item: Mapping[str, Any], key: str, *, markup: bool = False) -> str:
    """Return a text in a reply, "" where there is none; `markup` where the service writes HTML."""
    value = item.get(key)
    text = value[:_LONGEST_TEXT] if isinstance(value, str) else ""
    return markup_text(text)[1] if markup and ("<" in text or "&" in text) else text


def url_of(item: Mapping[str, Any], key: str) -> str:
    """Return a result's address, "" where it is none of the web (javascript:, data:)."""
    value = item.get(key)
    return value if isinstance(value, str) and value.startswith(("http://", "https://")) else ""


_VARIABLES = {
    "brave": "BRAVE_API_KEY (Brave)",
    "tavily": "TAVILY_API_KEY (Tavily)",
    "searxng": "SEARXNG_URL (your own SearXNG, no key)",
    "bing": "BING_SEARCH_ENDPOINT with BING_SEARCH_KEY (a Bing-compatible service)",
}


def variables(name: str = "") -> str:
    """List the variables that configure a service for an error's hint; not those of the one named."""
    return ", ".join(way for provider, way in _VARIABLES.items() if provider != name)


def alternatives() -> str:
    """Tell, for an error's hint, what to write in an inventory to search without any variable."""
    there = importlib.util.find_spec("ddgs") is not None
    package = "installed here" if there else 'pip install "chameleon-compose[ddgs]"'
    return (
        "in an inventory of your own write below this module's name "
        f"{{use: web_search, provider: ddgs}} (DuckDuckGo, no key; {package}) or "
        "{use: web_search, provider: folder, folder: PATH} (your own documents); docs/search.md shows it"
    )

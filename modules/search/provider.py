"""The protocol of search providers, and a base class for services over HTTP."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol

from chameleon.errors import InventoryError, WebError
from chameleon.text import one_line
from chameleon.web import Web, WebReply
from chameleon.web.addresses import checked_url
from chameleon.web.markup import markup_text, require_lxml, visible
from chameleon.web.reply import LATE, Unanswered
from chameleon.web.web import can_be_sent, require_requests

LONGEST_QUERY = 400
"""In characters; Brave and Tavily refuse longer queries, and no search engine uses more words than fit."""
MOST_RESULTS = 20
"""Per request; every service returns this many."""
WAYS = (
    "Set one of BRAVE_API_KEY (Brave), TAVILY_API_KEY (Tavily), SEARXNG_URL (your own SearXNG, no key), "
    "BING_SEARCH_ENDPOINT with BING_SEARCH_KEY (a Bing-compatible service), for {use: web_search}; or in an "
    "inventory of your own write below this module's name {use: web_search, provider: ddgs} (DuckDuckGo, no "
    "key; needs chameleon-compose[ddgs]) or {use: web_search, provider: folder, folder: PATH} (your "
    "own documents); docs/web_search.md shows it."
)
_MAX_TEXT_CHARS = 20_000
_QUOTA_HINT = "The quota is used up; try later."
_PROVIDERS_HINT = "docs/web_search.md lists other providers."


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result: untrusted text, without markup and invisible characters.

    `revised`: the date of the page's revision, such as 2026-05-04, if the provider reports it.
    """

    title: str
    url: str
    text: str
    revised: str = ""

    def __post_init__(self) -> None:
        for name in ("title", "url", "text"):
            object.__setattr__(self, name, visible(getattr(self, name)))


class SearchProvider(Protocol):
    """Something that can be searched; one instance serves all threads.

    `check` raises a `ChameleonError` that names the missing key, package or folder. `runtime_info` has the
    provider and its host, never a full address. `search` returns the best results, at most `count`, and
    raises `WebError` for a failure.
    """

    @property
    def name(self) -> str: ...
    def check(self) -> None: ...
    def runtime_info(self) -> Mapping[str, Any]: ...
    def search(self, query: str, count: int) -> list[SearchResult]: ...


@dataclass(frozen=True)
class WebProvider:
    """A search service over HTTP, at `endpoint` if given; subclasses define the requests.

    Attributes:
        key_variable: the environment variable with the key, "" if none is needed; `key_header`: the header
            that carries it, after `key_prefix`.
        home, endpoint_variable: its address, and the variable that overrides it; `endpoint_end`: the path
            that request addresses end with.
        spacing: the least number of seconds between requests, by the service's terms.
        path, fields: the keys that lead to the list of results in a reply, and the keys of title, address and
            text in a result; `markup`: whether title and text are HTML. `empty`: a key and its value in a
            reply without that list because nothing was found.
        hints: what to do about a status; for 200, about a page that is not JSON.
    """

    name: ClassVar[str]
    key_variable: ClassVar[str] = ""
    key_header: ClassVar[str] = ""
    key_prefix: ClassVar[str] = ""
    home: ClassVar[str] = ""
    endpoint_variable: ClassVar[str] = ""
    endpoint_end: ClassVar[str] = ""
    spacing: ClassVar[float] = 0.1
    path: ClassVar[tuple[str, ...]] = ("results",)
    fields: ClassVar[tuple[str, str, str]] = ("title", "url", "content")
    markup: ClassVar[bool] = False
    empty: ClassVar[tuple[str, str]] = ("", "")
    hints: ClassVar[Mapping[int, str]] = {}

    web: Web
    endpoint: str = ""
    allow_private: bool = False

    def request(self, query: str, count: int) -> dict[str, Any]:
        """Return the arguments of `Web.fetch` for a query."""
        raise NotImplementedError

    @classmethod
    def variables(cls) -> dict[str, str]:
        """Return the environment variables that it needs, with their values."""
        names = (cls.key_variable, "" if cls.home else cls.endpoint_variable)
        return {name: os.environ.get(name, "").strip() for name in names if name}

    @property
    def key(self) -> str:
        return os.environ.get(self.key_variable, "").strip()

    @property
    def address(self) -> str:
        """Return the endpoint in use, or "" if none is set."""
        address = self.endpoint or os.environ.get(self.endpoint_variable, "").strip() or self.home
        start, mark, query = address.partition("?")
        path = "/" + start.partition("://")[2].partition("/")[2].rstrip("/")
        if not start or not self.endpoint_end or path.endswith(self.endpoint_end):
            return address
        return f"{start.rstrip('/')}{self.endpoint_end}{mark}{query}"

    @property
    def host(self) -> str:
        """Return the endpoint's host, for errors: the rest of the address may contain a token."""
        return checked_url(self.address).host

    def check(self) -> None:
        require_requests()
        require_lxml()
        if self.key_variable and not self.key:
            what = f"the search provider {self.name} has no key: {self.key_variable} is not set"
            raise InventoryError(what, hint=f"Set {self.key_variable} to your key; {_PROVIDERS_HINT}")
        if not can_be_sent(self.key):
            what = f"{self.key_variable} has characters that cannot be sent"
            raise InventoryError(what, hint="Use plain ASCII.")
        if not self.address:
            what = f"the search provider {self.name} has no address: {self.endpoint_variable} is not set"
            raise InventoryError(what, hint=f"Set it, or write `endpoint:` in YAML; {_PROVIDERS_HINT}")
        try:  # report now what every request would refuse about the address
            self._own_web.check_address(self.address, has_key=bool(self.key_variable))
        except WebError as refused:
            setting = self._setting or self.endpoint_variable
            place = f"{setting} (the endpoint of {self.name}){refused.where and f' at {refused.where}'}"
            raise InventoryError(f"{place} cannot be searched: {refused.what}", hint=refused.hint) from None

    @property
    def _setting(self) -> str:
        """Return the setting that holds the address in use, or "" for the service's default."""
        is_set = os.environ.get(self.endpoint_variable, "").strip()
        return "endpoint" if self.endpoint else self.endpoint_variable if is_set else ""

    @property
    def _own_web(self) -> Web:
        """Return the client for the endpoint; redirects to private hosts are refused."""
        if not self.allow_private:
            return self.web
        return replace(self.web, private=(*self.web.private, checked_url(self.address).host_and_port))

    def runtime_info(self) -> Mapping[str, Any]:
        return {"provider": self.name, "host": self.host}

    def search(self, query: str, count: int) -> list[SearchResult]:
        reply, data = self.reply(**self.request(one_line(query, LONGEST_QUERY), min(count, MOST_RESULTS)))
        results = [result for result in self.results(data) if result.title or result.text]
        if results:
            self.web.keep(reply)
        return results[:count]

    def reply(self, **sent: Any) -> tuple[WebReply, Any]:
        """Return the reply to a request, and its JSON. Raises `WebError` unless it is 200 and JSON."""
        setting = self._setting
        secrets = {self.key_header: self.key_prefix + self.key} if self.key else {}
        try:
            reply = self._own_web.fetch(self.address, secrets=secrets, spacing=self.spacing, **sent)
        except Unanswered as error:
            advice = [f"Check that the server runs, and that {setting} is its address"] if setting else []
            advice += [f"{'or set' if advice else 'Set'} a longer `timeout:`"] if error.what == LATE else []
            hint = f"{', '.join(advice)}." if advice else ""
            raise WebError(error.what, where=error.where, hint=hint) from None
        refused = f"Check the key in {self.key_variable}." if self.key else ""
        hints = {401: refused, 403: refused, 404: f"Check {setting}." if setting else "", 429: _QUOTA_HINT}
        return reply, reply.data({**hints, **self.hints})

    def results(self, data: Any) -> list[SearchResult]:
        """Return the results in a reply. Raises `WebError` for an unexpected form."""
        (title, url, text), (mark, value) = self.fields, self.empty
        if not isinstance(data, dict) or data.get("error") or data.get("errors"):
            raise self.misshapen
        if data.get(self.path[0]) is None and data.get(mark) == value:
            return []
        for key in self.path:
            data = data.get(key) if isinstance(data, dict) else None
        if not isinstance(data, list):
            raise self.misshapen
        pages, field = (page for page in data if isinstance(page, dict)), partial(text_of, markup=self.markup)
        return [SearchResult(field(page, title), url_of(page, url), field(page, text)) for page in pages]

    @property
    def misshapen(self) -> WebError:
        """Return the error for a reply of an unexpected form."""
        return WebError(f"the server's answer is not in the form of {self.name}", where=self.host)


def text_of(item: Mapping[str, Any], key: str, *, markup: bool = False) -> str:
    """Return a text of a result, or ""; `markup` means that the service writes HTML."""
    value = item.get(key)
    text = value[:_MAX_TEXT_CHARS] if isinstance(value, str) else ""
    return markup_text(text)[1] if markup and ("<" in text or "&" in text) else text


def url_of(item: Mapping[str, Any], key: str) -> str:
    """Return a result's address, or "" if it is not a web address (javascript:, data:)."""
    value = item.get(key)
    return value if isinstance(value, str) and value.startswith(("http://", "https://")) else ""

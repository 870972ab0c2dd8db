"""Search DuckDuckGo without a key, through the package `ddgs`."""

from __future__ import annotations

import hashlib
import importlib.util
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, ClassVar

from chameleon.errors import MissingPackage, WebError
from chameleon.modules.search.provider import LONGEST_QUERY, SearchResult
from chameleon.web import Web, WebReply, one_line
from chameleon.web.addresses import checked_url
from chameleon.web.body import read_bounded
from chameleon.web.client import Fault, require_httpx
from chameleon.web.request import seconds_asked
from chameleon.web.text import decoded

_HOST = "html.duckduckgo.com"
_SPACING = 1.0
_REFUSED = "Try later, or use a provider with a key."
_HINTS = {202: _REFUSED, 403: _REFUSED, 418: _REFUSED, 429: _REFUSED}
_REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True)
class DuckDuckGo:
    """DuckDuckGo's page for browsers, asked and read by `ddgs`.

    The site answers browsers only, and so the package's own client makes the connection. It asks one https
    address and is held to our rules: no redirect is followed, page and time are bounded, and retries,
    spacing and cache are those of `Web`. Unlike `Web` it uses a proxy that the environment names. The site
    may refuse a machine that asks often.
    """

    name: ClassVar[str] = "ddgs"

    web: Web
    spacing: float | None = None

    @classmethod
    def is_configured(cls) -> bool:
        return importlib.util.find_spec("ddgs") is not None

    def check(self) -> None:
        if not self.is_configured():
            raise MissingPackage(
                "the search provider ddgs needs the package ddgs",
                hint='pip install "chameleon-compose[ddgs]"',
            )
        require_httpx()

    def runtime_info(self) -> Mapping[str, Any]:
        versions = {name: version(name) for name in ("ddgs", "primp") if importlib.util.find_spec(name)}
        return {"provider": self.name, "host": _HOST, "versions": versions}

    def search(self, query: str, count: int) -> list[SearchResult]:
        self.check()
        from ddgs.engines.duckduckgo import Duckduckgo
        from lxml.etree import LxmlError

        engine: Any = Duckduckgo()
        spacing = _SPACING if self.spacing is None else self.spacing
        engine.http_client = _BoundedClient(engine.http_client.client, self.web, spacing)
        try:
            found = engine.search(one_line(query, LONGEST_QUERY)) or []
        except (LxmlError, ValueError):
            raise WebError("the page of results cannot be read", where=_HOST) from None
        return [
            SearchResult(page.title, page.href, page.body)
            for page in found
            if page.href.startswith(("http://", "https://"))
        ][:count]


@dataclass(frozen=True, slots=True)
class _ResultPage:
    """What an engine of the package takes from its client's response."""

    status_code: int
    text: str


class _BoundedClient:
    """Takes the place of the package's client for one engine: its connection, our rules."""

    def __init__(self, browser: Any, web: Web, spacing: float) -> None:
        self._browser, self._web, self._spacing = browser, web, spacing

    def request(self, method: str, url: str, **sent: Any) -> _ResultPage:
        """Return the page at this address; raise `WebError` for any status but 200 and a page too long."""
        host = checked_url(url).host
        key = hashlib.sha256(repr(("ddgs", method, url, sent, self._web.limits.bytes)).encode()).hexdigest()

        def attempt(deadline: float) -> tuple[WebReply, float | None]:
            self._web.wait_for_turn(host, self._spacing, deadline)
            return self._ask(method, url, host, deadline, sent)

        reply = self._web.kept(key, attempt)
        if reply.status in _REDIRECTS:
            raise WebError("a redirect was not followed: this site is asked at one address", where=host)
        reply.expect_ok(_HINTS)
        if reply.cut:
            raise WebError(f"the answer is longer than {len(reply.body):,} bytes", where=host)
        return _ResultPage(reply.status, decoded(reply.body, reply.content_type))

    def _ask(
        self, method: str, url: str, host: str, deadline: float, sent: Mapping[str, Any]
    ) -> tuple[WebReply, float | None]:
        import primp

        left = max(0.001, deadline - time.monotonic())
        bounds = {"timeout": left, "read_timeout": min(left, self._web.limits.silence)}
        try:
            with self._browser.request(
                method, url, **sent, **bounds, stream=True, follow_redirects=False
            ) as page:
                # The pieces are unpacked already, a piece at a time, so a bomb ends at the limit as well.
                body, cut = read_bounded(page.iter_bytes(), "", self._web.limits.bytes)
                headers = page.headers
        except primp.TimeoutError:
            raise Fault("the server gave no answer in time", host) from None
        except primp.ConnectError:
            raise Fault("no connection", host) from None
        except primp.PrimpError:  # its text may quote the query
            raise Fault("the server broke off or does not speak HTTP", host) from None
        reply = WebReply(url, host, page.status_code, headers.get("content-type", "")[:200], body, cut)
        return reply, seconds_asked(headers.get("retry-after", ""))

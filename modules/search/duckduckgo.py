"""Search DuckDuckGo without a key, through the package `ddgs`."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from chameleon.errors import WebError, require, versions_of
from chameleon.modules.search.provider import LONGEST_QUERY, SearchResult
from chameleon.text import one_line
from chameleon.web import Web, WebReply
from chameleon.web.addresses import checked_url
from chameleon.web.markup import decoded
from chameleon.web.reply import LATE, Unanswered
from chameleon.web.web import require_requests, seconds_asked

_HOST = "html.duckduckgo.com"
_SPACING_SECONDS = 1.0
_REFUSED_HINT = "Try later, or use a provider with a key."


@dataclass(frozen=True)
class DuckDuckGo:
    """DuckDuckGo's page for browsers: `ddgs` writes the request and reads the page.

    The site only answers browsers, so the package's client makes the connection. It requests a single https
    address under our rules: no redirects, limits on size and time, and the retries, spacing and cache of
    `Web`. Unlike `Web`, it uses a proxy from the environment. The site may refuse a machine that asks often.
    """

    name: ClassVar[str] = "ddgs"

    web: Web

    def check(self) -> None:
        require("ddgs", "the search provider ddgs needs", "ddgs")
        require_requests()

    def runtime_info(self) -> Mapping[str, Any]:
        return {"provider": self.name, "host": _HOST, "versions": versions_of("ddgs", "primp")}

    def search(self, query: str, count: int) -> list[SearchResult]:
        from ddgs.engines.duckduckgo import Duckduckgo
        from lxml.etree import LxmlError

        engine = Duckduckgo()
        form = engine.build_payload(one_line(query, LONGEST_QUERY), "us-en", "moderate", None)
        key = repr((self.name, engine.search_url, form, self.web.limits.bytes))
        reply = self.web.kept(key, lambda deadline: self._ask(engine, form, deadline))
        reply.expect_ok(dict.fromkeys((202, 403, 418, 429), _REFUSED_HINT))
        if reply.cut:
            raise WebError(f"the answer is longer than {len(reply.body):,} bytes", where=reply.host)
        try:
            pages = engine.extract_results(decoded(reply.body, reply.content_type))
        except (LxmlError, ValueError):
            raise WebError("the page of results cannot be read", where=reply.host) from None
        results = [
            SearchResult(page.title, page.href, page.body)
            for page in engine.post_extract_results(pages)
            if page.href.startswith(("http://", "https://"))
        ]
        if results:
            self.web.keep(reply)
        return results[:count]

    def _ask(self, engine: Any, form: Mapping[str, Any], deadline: float) -> tuple[WebReply, float | None]:
        import primp

        url = engine.search_url
        host = checked_url(url).host
        self.web.wait_for_turn(host, _SPACING_SECONDS, deadline)
        seconds = max(0.001, deadline - time.monotonic())
        try:
            with engine.http_client.client.request(
                engine.search_method, url, data=form, timeout=seconds, follow_redirects=False, stream=True
            ) as page:  # fmt: skip
                # Pieces arrive decompressed one at a time, so a zip bomb stops at the limit as well.
                body, limit = bytearray(), self.web.limits.bytes
                for piece in page.iter_bytes():
                    body += piece
                    if len(body) > limit:
                        break
        except primp.TimeoutError:
            raise Unanswered(LATE, where=host) from None
        except primp.ConnectError:
            raise Unanswered("no connection", where=host) from None
        except primp.PrimpError:  # its text may quote the query
            raise Unanswered("the server closed the connection or does not speak HTTP", where=host) from None
        kind = page.headers.get("content-type", "")[:200]
        reply = WebReply(url, host, page.status_code, kind, bytes(body[:limit]), len(body) > limit)
        return reply, seconds_asked(page.headers.get("retry-after", ""))

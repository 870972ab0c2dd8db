"""Search DuckDuckGo without a key, through the package `ddgs`."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from typing import Any, ClassVar

from chameleon.errors import MissingPackage, WebError
from chameleon.modules.search.provider import LONGEST_QUERY, SearchResult, text_of, url_of
from chameleon.web import Web, WebReply, one_line

_HOST = "duckduckgo.com"
_SPACING = 1.0


@dataclass(frozen=True)
class DuckDuckGo:
    """DuckDuckGo's page for browsers, read by `ddgs`.

    The package has an HTTP client of its own, since the site answers browsers only: our address checks and
    retries do not see these requests; our time-out, spacing and cache apply. The site may refuse a machine
    that asks often.
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

    def search(self, query: str, count: int) -> list[SearchResult]:
        self.check()
        asked = one_line(query, LONGEST_QUERY)
        key = hashlib.sha256(repr((self.name, asked, count)).encode()).hexdigest()
        kept = self.web.cache.get(key) if self.web.cache is not None else None
        if kept is None:
            found = self._ask(asked, count)
            if self.web.cache is not None:
                body = json.dumps(found).encode()
                self.web.cache.put(key, WebReply("", _HOST, 200, "application/json", body))
        else:
            found = kept.data()
        return [
            SearchResult(text_of(page, "title"), url_of(page, "href"), text_of(page, "body"))
            for page in found[:count]
        ]

    def _ask(self, query: str, count: int) -> list[dict[str, Any]]:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, TimeoutException

        self.web.wait_for_turn(_HOST, _SPACING if self.spacing is None else self.spacing)
        client = DDGS(timeout=max(1, round(self.web.limits.silence)))
        try:
            return client.text(query, max_results=count, backend="duckduckgo")
        except TimeoutException:
            raise WebError("the server gave no answer in time", where=_HOST) from None
        except DDGSException:
            # The package tells a refusal and an empty page alike, and refusals are the commoner.
            raise WebError(
                "the search brought nothing: there is nothing, or the site refuses this machine for now",
                where=_HOST,
                hint="Try later, or use a provider with a key.",
            ) from None

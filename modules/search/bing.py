"""Search with any service that speaks the API of Bing Web Search, version 7."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from chameleon.modules.search.provider import SearchResult, WebProvider, text_of, url_of


@dataclass(frozen=True)
class Bing(WebProvider):
    """Bing-compatible: GET endpoint?q=…, results under webPages.value."""

    name: ClassVar[str] = "bing"
    key_variable: ClassVar[str] = "BING_SEARCH_KEY"
    endpoint_variable: ClassVar[str] = "BING_SEARCH_ENDPOINT"
    most: ClassVar[int] = 50

    def without_endpoint(self) -> str:
        return (
            "Microsoft switched its search API off in August 2025, so bing_search has no address of its own: "
            "set BING_SEARCH_ENDPOINT to a service that speaks the same API"
        )

    def request(self, query: str, count: int) -> dict[str, Any]:
        return {"params": {"q": query, "count": count, "textFormat": "Raw", "safeSearch": "Moderate"}}

    def secrets(self) -> Mapping[str, str]:
        return {"Ocp-Apim-Subscription-Key": self.key}

    def results(self, data: Any) -> list[SearchResult]:
        return [
            SearchResult(text_of(page, "name"), url_of(page, "url"), text_of(page, "snippet"))
            for page in self.listed(data, "webPages", "value")
        ]

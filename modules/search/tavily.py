"""Search with Tavily's API (docs.tavily.com)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from chameleon.modules.search.provider import SearchResult, WebProvider, text_of, url_of


@dataclass(frozen=True)
class Tavily(WebProvider):
    """Tavily: POST, results under results, each with an extract of the page."""

    name: ClassVar[str] = "tavily"
    key_variable: ClassVar[str] = "TAVILY_API_KEY"
    default_endpoint: ClassVar[str] = "https://api.tavily.com/search"

    def request(self, query: str, count: int) -> dict[str, Any]:
        return {"json": {"query": query, "max_results": count, "search_depth": "basic"}}

    def secrets(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def hints(self) -> Mapping[int, str]:
        # Its own statuses for a plan's limit and for the pay-as-you-go limit.
        used_up = "The plan's quota is used up."
        return {**super().hints(), 432: used_up, 433: used_up}

    def results(self, data: Any) -> list[SearchResult]:
        return [
            SearchResult(text_of(page, "title"), url_of(page, "url"), text_of(page, "content"))
            for page in self.listed(data, "results")
        ]

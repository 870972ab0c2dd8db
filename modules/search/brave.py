"""Search with Brave's API (api-dashboard.search.brave.com)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from chameleon.modules.search.provider import SearchResult, WebProvider, text_of, url_of


@dataclass(frozen=True)
class Brave(WebProvider):
    """Brave Search: results under web.results, with HTML in titles and descriptions."""

    name: ClassVar[str] = "brave"
    key_variable: ClassVar[str] = "BRAVE_API_KEY"
    default_endpoint: ClassVar[str] = "https://api.search.brave.com/res/v1/web/search"
    default_spacing: ClassVar[float] = 1.0  # what its smallest plan allows

    def request(self, query: str, count: int) -> dict[str, Any]:
        # Brave takes at most 50 words.
        words = " ".join(query.split()[:50])
        return {"params": {"q": words, "count": count}, "headers": {"Accept": "application/json"}}

    def secrets(self) -> Mapping[str, str]:
        return {"X-Subscription-Token": self.key}

    def hints(self) -> Mapping[int, str]:
        # Brave answers 422 to a key that it does not know.
        return {**super().hints(), 422: f"Check the key in {self.key_variable}."}

    def results(self, data: Any) -> list[SearchResult]:
        return [
            SearchResult(
                text_of(page, "title", markup=True),
                url_of(page, "url"),
                text_of(page, "description", markup=True),
            )
            for page in self.listed(data, "web", "results")
        ]

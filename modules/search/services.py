"""Search services with an API of their own: Bing-compatible ones, Brave, SearXNG and Tavily."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from chameleon.modules.search.provider import WebProvider


@dataclass(frozen=True)
class Bing(WebProvider):
    """Any service that speaks the API of Bing Web Search, version 7."""

    name: ClassVar[str] = "bing"
    key_variable: ClassVar[str] = "BING_SEARCH_KEY"
    key_header: ClassVar[tuple[str, str]] = ("Ocp-Apim-Subscription-Key", "")
    endpoint_variable: ClassVar[str] = "BING_SEARCH_ENDPOINT"
    most: ClassVar[int] = 50
    path: ClassVar[tuple[str, ...]] = ("webPages", "value")
    fields: ClassVar[tuple[str, str, str]] = ("name", "url", "snippet")

    def without_endpoint(self) -> str:
        return (
            "Microsoft switched its search API off in August 2025, so bing_search has no address of its own: "
            "set BING_SEARCH_ENDPOINT to a service that speaks the same API"
        )

    def request(self, query: str, count: int) -> dict[str, Any]:
        return {"params": {"q": query, "count": count, "textFormat": "Raw", "safeSearch": "Moderate"}}


@dataclass(frozen=True)
class Brave(WebProvider):
    """Brave Search (api-dashboard.search.brave.com), with HTML in titles and descriptions."""

    name: ClassVar[str] = "brave"
    key_variable: ClassVar[str] = "BRAVE_API_KEY"
    key_header: ClassVar[tuple[str, str]] = ("X-Subscription-Token", "")
    default_endpoint: ClassVar[str] = "https://api.search.brave.com/res/v1/web/search"
    default_spacing: ClassVar[float] = 1.0  # what its smallest plan allows
    path: ClassVar[tuple[str, ...]] = ("web", "results")
    fields: ClassVar[tuple[str, str, str]] = ("title", "url", "description")
    markup: ClassVar[bool] = True

    def request(self, query: str, count: int) -> dict[str, Any]:
        # Brave takes at most 50 words.
        words = " ".join(query.split()[:50])
        return {"params": {"q": words, "count": count}, "headers": {"Accept": "application/json"}}

    def hints(self) -> Mapping[int, str]:
        # Brave answers 422 to a key that it does not know.
        return {**super().hints(), 422: f"Check the key in {self.key_variable}."}


@dataclass(frozen=True)
class SearXNG(WebProvider):
    """A SearXNG of one's own (docs.searxng.org): no key; its settings must allow the JSON format."""

    name: ClassVar[str] = "searxng"
    endpoint_variable: ClassVar[str] = "SEARXNG_URL"
    takes_query: ClassVar[bool] = False
    markup: ClassVar[bool] = True

    @property
    def address(self) -> str:
        base = super().address.rstrip("/")
        return base if not base or base.endswith("/search") else f"{base}/search"

    def request(self, query: str, count: int) -> dict[str, Any]:
        return {"params": {"q": query, "format": "json"}}

    def hints(self) -> Mapping[int, str]:
        return {
            403: "Add json to search.formats in the settings.yml of your SearXNG.",
            404: "SEARXNG_URL is the address of its start page, without /search.",
            429: "Turn its limiter off, or let this machine pass: it refuses programs by default.",
        }


@dataclass(frozen=True)
class Tavily(WebProvider):
    """Tavily (docs.tavily.com): each result has an extract of the page."""

    name: ClassVar[str] = "tavily"
    key_variable: ClassVar[str] = "TAVILY_API_KEY"
    key_header: ClassVar[tuple[str, str]] = ("Authorization", "Bearer ")
    default_endpoint: ClassVar[str] = "https://api.tavily.com/search"

    def request(self, query: str, count: int) -> dict[str, Any]:
        return {"json": {"query": query, "max_results": count, "search_depth": "basic"}}

    def hints(self) -> Mapping[int, str]:
        # Its own statuses for a plan's limit and for the pay-as-you-go limit.
        used_up = "The plan's quota is used up."
        return {**super().hints(), 432: used_up, 433: used_up}

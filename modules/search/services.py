"""Search services: Brave, Tavily, SearXNG, and services with a Bing-compatible API."""

from typing import Any, ClassVar

from chameleon.modules.search.provider import WebProvider

_QUOTA_HINT = "The plan's quota is used up."


class Brave(WebProvider):
    """api-dashboard.search.brave.com"""

    name = "brave"
    key_variable = "BRAVE_API_KEY"
    key_header = "X-Subscription-Token"
    home = "https://api.search.brave.com/res/v1/web/search"
    spacing = 1.0  # what its smallest plan allows
    path = ("web", "results")
    fields = ("title", "url", "description")
    markup = True
    empty = ("type", "search")
    hints: ClassVar = {422: "Check the key in BRAVE_API_KEY."}

    def request(self, query: str, count: int) -> dict[str, Any]:
        words = " ".join(query.split()[:50])  # it takes at most 50 words
        return {"params": {"q": words, "count": count}, "headers": {"Accept": "application/json"}}


class Tavily(WebProvider):
    """docs.tavily.com: each result has an extract of the page."""

    name = "tavily"
    key_variable = "TAVILY_API_KEY"
    key_header = "Authorization"
    key_prefix = "Bearer "
    home = "https://api.tavily.com/search"
    hints: ClassVar = {432: _QUOTA_HINT, 433: _QUOTA_HINT}

    def request(self, query: str, count: int) -> dict[str, Any]:
        return {"json": {"query": query, "max_results": count, "search_depth": "basic"}}


class SearXNG(WebProvider):
    """docs.searxng.org: your own server, whose settings must allow the JSON format."""

    name = "searxng"
    endpoint_variable = "SEARXNG_URL"
    endpoint_end = "/search"
    markup = True
    hints: ClassVar = {
        403: "Add json to search.formats in the settings.yml of your SearXNG.",
        404: "SEARXNG_URL is the address of its start page, without /search.",
        429: "Turn its limiter off, or let this machine pass: it refuses programs by default.",
    }

    def request(self, query: str, count: int) -> dict[str, Any]:
        return {"params": {"q": query, "format": "json"}}


class Bing(WebProvider):
    """Version 7 of Bing Web Search: Microsoft's ended in August 2025, but other servers offer it."""

    name = "bing"
    key_variable = "BING_SEARCH_KEY"
    key_header = "Ocp-Apim-Subscription-Key"
    endpoint_variable = "BING_SEARCH_ENDPOINT"
    path = ("webPages", "value")
    empty = ("_type", "SearchResponse")
    fields = ("name", "url", "snippet")

    def request(self, query: str, count: int) -> dict[str, Any]:
        return {"params": {"q": query, "count": count, "textFormat": "Raw", "safeSearch": "Moderate"}}


SERVICES: dict[str, type[WebProvider]] = {each.name: each for each in (Brave, Tavily, SearXNG, Bing)}
"""In the order in which `auto` looks for them."""
VARIABLES = tuple(name for each in SERVICES.values() for name in each.variables())
"""The environment variables that configure them."""

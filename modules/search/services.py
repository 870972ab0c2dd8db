"""The search services with an API of their own: Brave, Tavily, SearXNG, and those that speak Bing's."""

from __future__ import annotations

from chameleon.modules.search.provider import Service

_USED_UP = "The plan's quota is used up."

BRAVE = Service(
    "brave",  # api-dashboard.search.brave.com
    lambda query, count: {
        "params": {"q": " ".join(query.split()[:50]), "count": count},  # it takes at most 50 words
        "headers": {"Accept": "application/json"},
    },
    key_variable="BRAVE_API_KEY",
    key_header="X-Subscription-Token",
    endpoint="https://api.search.brave.com/res/v1/web/search",
    spacing=1.0,  # what its smallest plan allows
    path=("web", "results"),
    fields=("title", "url", "description"),
    markup=True,
    empty=("type", "search"),
    hints={422: "Check the key in BRAVE_API_KEY."},
)
TAVILY = Service(
    "tavily",  # docs.tavily.com: each result has an extract of the page
    lambda query, count: {"json": {"query": query, "max_results": count, "search_depth": "basic"}},
    key_variable="TAVILY_API_KEY",
    key_header="Authorization",
    key_prefix="Bearer ",
    endpoint="https://api.tavily.com/search",
    hints={432: _USED_UP, 433: _USED_UP},
)
SEARXNG = Service(
    "searxng",  # docs.searxng.org: one's own, whose settings must allow the JSON format
    lambda query, count: {"params": {"q": query, "format": "json"}},
    endpoint_variable="SEARXNG_URL",
    endpoint_end="/search",
    markup=True,
    hints={
        403: "Add json to search.formats in the settings.yml of your SearXNG.",
        404: "SEARXNG_URL is the address of its start page, without /search.",
        429: "Turn its limiter off, or let this machine pass: it refuses programs by default.",
    },
)
BING = Service(
    "bing",  # version 7 of Bing Web Search: Microsoft's own ended in August 2025, other servers speak it
    lambda query, count: {
        "params": {"q": query, "count": count, "textFormat": "Raw", "safeSearch": "Moderate"}
    },
    key_variable="BING_SEARCH_KEY",
    key_header="Ocp-Apim-Subscription-Key",
    endpoint_variable="BING_SEARCH_ENDPOINT",
    path=("webPages", "value"),
    empty=("_type", "SearchResponse"),
    fields=("name", "url", "snippet"),
)
SERVICES = {service.name: service for service in (BRAVE, TAVILY, SEARXNG, BING)}
"""In the order in which `auto` looks for them."""
VARIABLES = tuple(
    dict.fromkeys(
        name
        for service in SERVICES.values()
        for name in (service.key_variable, service.endpoint_variable)
        if name
    )
)
"""The environment variables that configure them."""

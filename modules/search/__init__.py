"""Search the web, Wikipedia or a folder: one interface for all providers, and how results are quoted."""

TOOLS = {
    "bing_search": "search",
    "web_search": "search",
    "wikipedia_search": "search",
}

"""Search the web, Wikipedia or a folder: one interface for all providers, and how results are quoted."""

TOOLS = dict.fromkeys(("bing_search", "web_search", "wikipedia_search"), "search")

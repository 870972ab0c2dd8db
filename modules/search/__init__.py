"""Search the web, Wikipedia or a folder: one interface for all providers, and how results are quoted."""

from chameleon.lazy import tools

TOOLS = dict.fromkeys(("bing_search", "web_search", "wikipedia_search"), "search")

__getattr__ = tools(__name__, TOOLS)

"""Search the web, or a folder of documents, with whichever provider is configured."""

from __future__ import annotations

from typing import ClassVar

from chameleon.modules.search.choose import ProviderName, Settings
from chameleon.modules.search.search_module import SearchModule


class WebSearch(SearchModule):
    """Searches the web for facts that the question needs. Best after query_generator."""

    writes = ("cache.web_search_response",)
    response_key: ClassVar[str] = "web_search_response"

    def __init__(
        self,
        *,
        provider: ProviderName = "auto",
        count: int = 3,
        endpoint: str = "",
        folder: str = "",
        characters: int = 500,
        read_pages: int = 0,
        timeout: float = 20.0,
        allow_private: bool = False,
        spacing: float | None = None,
    ) -> None:
        """Ask `provider`: brave, tavily, searxng, bing, ddgs, wikipedia or folder.

        `auto` is the first that a folder or variables configure, so never ddgs or wikipedia.

        They need BRAVE_API_KEY, TAVILY_API_KEY, SEARXNG_URL, BING_SEARCH_KEY with BING_SEARCH_ENDPOINT, the
        package ddgs, nothing, and `folder`. `allow_private` lets the endpoint lie in a private network.
        """
        settings = Settings(provider, endpoint, folder, allow_private, spacing)
        super().__init__(settings, count=count, characters=characters, read_pages=read_pages, timeout=timeout)

"""Search the web with a service that speaks Bing's API (Chameleon, section 4.2)."""

from __future__ import annotations

from typing import ClassVar

from chameleon.modules.search.choose import Settings
from chameleon.modules.search.search_module import SearchModule


class BingSearch(SearchModule):
    """Searches the web for facts that the question needs. Best after query_generator."""

    writes = ("cache.bing_search_response",)
    response_key: ClassVar[str] = "bing_search_response"

    def __init__(
        self,
        *,
        count: int = 1,
        endpoint: str = "",
        characters: int = 500,
        read_pages: int = 0,
        timeout: float = 20.0,
        allow_private: bool = False,
        spacing: float | None = None,
    ) -> None:
        """Read the keys BING_SEARCH_KEY, and BING_SEARCH_ENDPOINT unless `endpoint` is given.

        Microsoft's own service was switched off in August 2025, so there is no default. A server that wants
        no key gets any. The published runs of Chameleon on ScienceQA had `count` 3, its code 1.
        """
        settings = Settings("bing", endpoint, allow_private=allow_private, spacing=spacing)
        super().__init__(settings, count=count, characters=characters, read_pages=read_pages, timeout=timeout)

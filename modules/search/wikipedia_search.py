"""Look the question's subject up in Wikipedia, or in another MediaWiki."""

from __future__ import annotations

from typing import ClassVar

from chameleon.modules.search.choose import Settings
from chameleon.modules.search.search_module import SearchModule


class WikipediaSearch(SearchModule):
    """Looks up encyclopedia articles: who, what, where and when. Best after query_generator."""

    writes = ("cache.wikipedia_search_response",)
    response_key: ClassVar[str] = "wikipedia_search_response"

    def __init__(
        self,
        *,
        count: int = 1,
        language: str = "en",
        endpoint: str = "",
        user_agent: str = "",
        characters: int = 1000,
        timeout: float = 20.0,
        allow_private: bool = False,
        spacing: float | None = None,
    ) -> None:
        """Ask `endpoint`, the api.php of a MediaWiki, else WIKIPEDIA_ENDPOINT, else Wikipedia in `language`.

        Wikipedia asks robots for a User-Agent that names somebody who can be reached: set `user_agent`, or
        CHAMELEON_USER_AGENT, where you search a lot.
        """
        settings = Settings(
            "wikipedia", endpoint, allow_private=allow_private, spacing=spacing, language=language
        )
        super().__init__(settings, count=count, characters=characters, timeout=timeout, user_agent=user_agent)

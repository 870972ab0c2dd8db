"""The modules that search: a query, a provider, and results quoted as data.

<search_results>
1. Tide tables explained (https://example.org/tides): High tide comes twice a day …
2. …
</search_results>

Each result is one line, so no text can fake another result. No text can end the block, open another, or
contain the markers of chat templates (see `chameleon.quoting`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from pydantic import Field

from chameleon.core.module import Keys, Module
from chameleon.core.state import State
from chameleon.errors import WebError
from chameleon.modules.search.provider import SearchProvider, SearchResult
from chameleon.modules.search.providers_of_search import ProviderName, SearchSettings, choose_provider
from chameleon.modules.search.services import VARIABLES
from chameleon.quoting import untagged
from chameleon.text import one_line
from chameleon.web import PageCache, Web, WebLimits, page_text
from chameleon.web.markup import visible

OPENING, CLOSING = "<search_results>", "</search_results>"
_MAX_TITLE_CHARS, _MAX_URL_CHARS = 150, 300
_PAGE_SPACING_SECONDS = 0.5  # seconds between two pages of one host

Count = Annotated[int, Field(ge=1, le=20)]
Characters = Annotated[int, Field(ge=1, le=20_000)]
Pages = Annotated[int, Field(ge=0, le=20)]
Seconds = Annotated[float, Field(ge=0.1, le=600)]


class SearchModule(Module):
    """Searches for cache.query, or for the question itself where no module has written a query.

    Chameleon's published code searches for nothing in that case, and its plans call the search without a
    query generator now and then; the question is the query that anybody would type.

    The output holds provider, query and results; the cache gets the results quoted as data under the key that
    a subclass `writes`.

    Args:
        count: how many results.
        characters: of text for each.
        read_pages: so many of the first results are given with their page's text instead of the snippet.
        timeout: seconds for each request with its retries.
    """

    reads: ClassVar[Keys | None] = ("cache.query|input.question",)
    uses: ClassVar[Keys] = ("web", *VARIABLES)
    _provider: SearchProvider

    def __init__(
        self, settings: SearchSettings, count: int, characters: int, timeout: float, read_pages: int = 0
    ) -> None:
        self.settings, self.count, self.characters, self.read_pages = settings, count, characters, read_pages
        self._web = Web(WebLimits(seconds=timeout))

    def check(self) -> None:
        choose_provider(self.settings, self._web).check()

    def runtime_info(self) -> Mapping[str, Any]:
        return choose_provider(self.settings, self._web).runtime_info()

    def setup(self) -> None:
        if not self.settings.is_folder:
            self._web = replace(self._web, cache=PageCache.default())
        self._provider = choose_provider(self.settings, self._web)

    def run(self, state: State) -> dict[str, Any]:
        query = " ".join(visible(str(state.cache.get("query") or state.input.get("question", ""))).split())
        if not hasattr(self, "_provider"):  # called from Python, without an executor
            self.check()
            self.setup()
        is_seen = any(map(str.isprintable, query.replace(" ", "")))
        hits = self._provider.search(query, self.count) if is_seen else []
        results = [self._with_page(r) if i < self.read_pages else r for i, r in enumerate(hits)]
        return {
            "provider": self._provider.name,
            "query": query,
            "results": [
                {
                    "title": one_line(result.title, _MAX_TITLE_CHARS),
                    "url": one_line(result.url, _MAX_URL_CHARS),
                    "text": one_line(result.text, self.characters),
                    **({"revised": result.revised} if result.revised else {}),
                }
                for result in results
            ],
        }

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        results = [SearchResult(**result) for result in output["results"]]
        return super().update_cache(cache, quoted(results, output["query"], self.characters))

    def _with_page(self, result: SearchResult) -> SearchResult:
        """Return the result with the text of its page, or with a note before the snippet if unreadable."""
        if not result.url.startswith(("http://", "https://")):  # a document in a folder, or none
            return result
        try:
            reply = self._web.fetch(result.url, spacing=_PAGE_SPACING_SECONDS)
            reply.expect_ok()
            title, text = page_text(reply.body, reply.content_type)
            if text:
                self._web.keep(reply)
        except WebError as problem:
            return replace(result, text=f"(The page was not read: {problem.what}.) {result.text}")
        return replace(result, title=result.title or title, text=text or result.text)


class BingSearch(SearchModule):
    """Searches the web for facts that the question needs. Best after query_generator."""

    writes = ("cache.bing_search_response",)

    def __init__(
        self,
        *,
        count: Count = 1,
        endpoint: str = "",
        characters: Characters = 500,
        read_pages: Pages = 0,
        timeout: Seconds = 20.0,
        allow_private: bool = False,
    ) -> None:
        """Ask a service that speaks Bing's API, with the key in BING_SEARCH_KEY.

        Args:
            count: 3 in the published runs of Chameleon on ScienceQA; its code uses 1.
            endpoint: by default BING_SEARCH_ENDPOINT.
        """
        settings = SearchSettings("bing", endpoint, allow_private=allow_private)
        super().__init__(settings, count, characters, timeout, read_pages)


class WebSearch(SearchModule):
    """Searches the web for facts that the question needs. Best after query_generator."""

    writes = ("cache.web_search_response",)

    def __init__(
        self,
        *,
        provider: ProviderName = "auto",
        count: Count = 3,
        endpoint: str = "",
        folder: str = "",
        characters: Characters = 500,
        read_pages: Pages = 0,
        timeout: Seconds = 20.0,
        allow_private: bool = False,
    ) -> None:
        """Ask one search provider.

        Args:
            provider: brave, tavily, searxng, bing, ddgs, wikipedia or folder. In this order, they need
                BRAVE_API_KEY, TAVILY_API_KEY, SEARXNG_URL, BING_SEARCH_KEY with BING_SEARCH_ENDPOINT, the
                package ddgs, nothing, `folder`. auto takes the first that `folder` or the environment
                configures, so never ddgs or wikipedia.
            allow_private: permits a private address.
        """
        settings = SearchSettings(provider, endpoint, folder, allow_private)
        super().__init__(settings, count, characters, timeout, read_pages)


class WikipediaSearch(SearchModule):
    """Looks up encyclopedia articles: who, what, where and when. Best after query_generator."""

    writes = ("cache.wikipedia_search_response",)

    def __init__(
        self,
        *,
        count: Count = 1,
        language: str = "",
        endpoint: str = "",
        characters: Characters = 1000,
        timeout: Seconds = 20.0,
        allow_private: bool = False,
    ) -> None:
        """Ask Wikipedia or another MediaWiki.

        Wikipedia asks bots for a User-Agent with contact information: set CHAMELEON_USER_AGENT if you search
        a lot.

        Args:
            language: of Wikipedia: en, de, zh. An `endpoint` takes precedence.
            endpoint: the api.php of a MediaWiki. If neither is given, WIKIPEDIA_ENDPOINT or the English
                Wikipedia is asked.
        """
        settings = SearchSettings("wikipedia", endpoint, allow_private=allow_private, language=language)
        super().__init__(settings, count, characters, timeout)


def quoted(results: Sequence[SearchResult], query: str, characters: int = 500) -> str:
    """Return the block for these results, each text cut at `characters`, or a sentence for no results."""
    if not results:
        return f"Nothing was found for the query {untagged(one_line(query, _MAX_TITLE_CHARS))!r}."
    lines = [OPENING]
    for number, result in enumerate(results, start=1):
        line = f"{number}. {one_line(result.title, _MAX_TITLE_CHARS) or 'Untitled'}"
        if url := one_line(result.url, _MAX_URL_CHARS):
            line += f" ({url}, revised {result.revised})" if result.revised else f" ({url})"
        if text := one_line(result.text, characters):
            line += f": {text}"
        lines.append(untagged(line))
    return "\n".join((*lines, CLOSING))

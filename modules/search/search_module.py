"""What all search modules have in common: a query, a provider, and results quoted as data.

<search_results>
1. Tide tables explained (https://example.org/tides): High tide comes twice a day …
2. …
</search_results>

Each result is one line, so no text can begin a result of its own. No text can end the block, open another, or
write the marks that chat templates are made of (see `chameleon.quoting`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from chameleon.errors import InventoryError, WebError
from chameleon.module import Keys, Module
from chameleon.modules.search.choose import Settings, choose_provider
from chameleon.modules.search.provider import SearchProvider, SearchResult
from chameleon.quoting import untagged
from chameleon.state import State
from chameleon.web import Limits, PageCache, Web, one_line, page_text

OPENING, CLOSING = "<search_results>", "</search_results>"
_LONGEST_TITLE, _LONGEST_URL = 150, 300
_MOST_RESULTS = 20
_MOST_CHARACTERS = 20_000
_LONGEST_TIMEOUT = 600  # seconds
_PAGE_SPACING = 0.5  # seconds between two pages of one host


class SearchModule(Module):
    """Searches for cache.query, or for the question itself where no module has written a query.

    Chameleon's published code searches for nothing in that case, and its plans call the search without a
    query generator now and then; the question is the query that anybody would type.

    The output holds provider, query and results; the cache gets the results quoted as data
    under `response_key`, which subclasses name, with `writes`.

    - `count`: how many results, 1 to 20; `characters`: of text for each, 1 to 20,000.
    - `read_pages`: so many of the first results are given with their page's text instead of the snippet.
    - `timeout`: seconds for each request with its retries, 0.1 to 600; `spacing`: 0 to 600 between requests.

    Others are an `InventoryError` that names the parameter.
    """

    reads: ClassVar[Keys | None] = ("cache.query|input.question",)
    uses: ClassVar[Keys] = ("web",)
    response_key: ClassVar[str]

    def __init__(
        self,
        settings: Settings,
        *,
        count: int,
        characters: int,
        read_pages: int = 0,
        timeout: float = 20.0,
        user_agent: str = "",
    ) -> None:
        for key, value, least, most in (
            ("count", count, 1, _MOST_RESULTS),
            ("characters", characters, 1, _MOST_CHARACTERS),
            ("read_pages", read_pages, 0, _MOST_RESULTS),
            ("timeout", timeout, 0.1, _LONGEST_TIMEOUT),
            ("spacing", settings.spacing or 0, 0, _LONGEST_TIMEOUT),
        ):
            if not least <= value <= most:  # which no NaN is
                raise InventoryError(f"{key} is {value}", hint=f"It may be {least:,} to {most:,}.")
        self.settings, self.count, self.characters, self.read_pages = settings, count, characters, read_pages
        self._web = Web(Limits(seconds=timeout), user_agent=user_agent)
        self._provider: SearchProvider | None = None

    def check(self) -> None:
        choose_provider(self.settings, self._web).check()

    def runtime_info(self) -> Mapping[str, Any]:
        return choose_provider(self.settings, self._web).runtime_info()

    def setup(self) -> None:
        self._web = replace(self._web, cache=PageCache.default())
        self._provider = choose_provider(self.settings, self._web)

    def run(self, state: State) -> dict[str, Any]:
        assert self._provider is not None  # the engine sets up before it runs
        query = " ".join(str(state.cache.get("query") or state.input.get("question", "")).split())
        found = self._provider.search(query, self.count) if query else []
        results = [self._with_page(r) if i < self.read_pages else r for i, r in enumerate(found)]
        return {
            "provider": self._provider.name,
            "query": query,
            "results": [
                {
                    "title": one_line(result.title, _LONGEST_TITLE),
                    "url": one_line(result.url, _LONGEST_URL),
                    "text": one_line(result.text, self.characters),
                }
                for result in results
            ],
        }

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        results = [SearchResult(r["title"], r["url"], r["text"]) for r in output["results"]]
        return {self.response_key: quoted(results, output["query"], self.characters)}

    def _with_page(self, result: SearchResult) -> SearchResult:
        """Return the result with the text of its page; say beside the snippet if it cannot be read."""
        if not result.url.startswith(("http://", "https://")):
            return result
        try:
            reply = self._web.fetch(result.url, spacing=_PAGE_SPACING)
            reply.expect_ok()
            title, text = page_text(reply.body, reply.content_type)
        except WebError as problem:
            return replace(result, text=f"(The page was not read: {problem.what}.) {result.text}")
        return replace(result, title=result.title or title, text=text or result.text)


def quoted(results: Sequence[SearchResult], query: str, characters: int = 500) -> str:
    """Return the block for these results, each text cut at `characters`; a sentence when there are none."""
    if not results:
        return f"Nothing was found for the query {untagged(one_line(query, _LONGEST_TITLE))!r}."
    lines = [OPENING]
    for number, result in enumerate(results, start=1):
        line = f"{number}. {one_line(result.title, _LONGEST_TITLE) or 'Untitled'}"
        if url := one_line(result.url, _LONGEST_URL):
            line += f" ({url})"
        if text := one_line(result.text, characters):
            line += f": {text}"
        lines.append(untagged(line))
    return "\n".join((*lines, CLOSING))

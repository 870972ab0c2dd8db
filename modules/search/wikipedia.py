"""Look things up in Wikipedia, or in any other MediaWiki: one request finds pages and their introductions."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from chameleon.errors import WebError
from chameleon.modules.search.provider import (
    LONGEST_QUERY,
    MOST_RESULTS,
    SearchResult,
    WebProvider,
    text_of,
    url_of,
)
from chameleon.text import one_line

LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z-]{2,10})?|simple")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?=T)")  # the day of a timestamp
_API_HINT = "It must be the address of the wiki's api.php."
_PAUSE_HINT = "It asks for a pause: try later, and put a contact address in CHAMELEON_USER_AGENT."


@dataclass(frozen=True)
class Wikipedia(WebProvider):
    """The introductions of the pages that Wikipedia's search finds, with their dates; best first.

    A query that finds nothing is retried with the spelling that the wiki suggests. A wiki without the
    TextExtracts extension returns search snippets instead of introductions.
    """

    name = "wikipedia"
    endpoint_variable = "WIKIPEDIA_ENDPOINT"
    home = "https://en.wikipedia.org/w/api.php"
    hints: ClassVar = {200: _API_HINT, 404: _API_HINT, 429: _PAUSE_HINT}

    language: str = ""

    @property
    def address(self) -> str:
        """Return the endpoint, the Wikipedia in the language, or the endpoint from the environment."""
        if self.language and not self.endpoint:
            return f"https://{self.language}.wikipedia.org/w/api.php"
        return super().address

    def request(self, query: str, count: int) -> dict[str, Any]:
        """Request the hits of a search (API:Search) and, with it as a generator, the pages of these hits."""
        hits = {"list": "search", "srsearch": query, "srlimit": count, "srprop": "snippet"}
        pages = {"generator": "search", "gsrsearch": query, "gsrlimit": count, "redirects": 1}
        details = {"prop": "extracts|info|revisions", "inprop": "url", "rvprop": "timestamp"}
        introduction = {"exintro": 1, "explaintext": 1, "exlimit": count}
        params = {"action": "query", "format": "json", "srinfo": "suggestion"}
        return {"params": {**params, **hits, **pages, **details, **introduction}}

    def search(self, query: str, count: int) -> list[SearchResult]:
        query, count = one_line(query, LONGEST_QUERY), min(count, MOST_RESULTS)
        reply, data = self.reply(**self.request(query, count))
        results = self.results(data)
        if not results and (spelling := text_of(data["query"].get("searchinfo") or {}, "suggestion")):
            reply, data = self.reply(**self.request(one_line(spelling, LONGEST_QUERY), count))
            results = self.results(data)
        if results:
            self.web.keep(reply)
        return results[:count]

    def results(self, data: Any) -> list[SearchResult]:
        """Return the pages in the order of the search. Raises `WebError` for an unexpected form."""
        error = data.get("error") if isinstance(data, dict) else None
        if isinstance(error, dict):
            code = "".join(c for c in str(error.get("code", "")) if c.isalnum() or c in "-_")[:40]
            raise WebError(f"the wiki refused the search ({code or 'no reason given'})", where=self.host)
        try:
            hits, pages = data["query"]["search"], data["query"].get("pages", {})
            snippets = {hit["title"]: text_of(hit, "snippet", markup=True) for hit in hits}
            results = []
            for page in sorted(pages.values(), key=lambda page: page["index"]):
                if "missing" not in page:
                    text = text_of(page, "extract").strip() or snippets.get(page["title"], "")
                    dated = _DATE.match(text_of((page.get("revisions") or [{}])[0], "timestamp"))
                    source, revised = url_of(page, "fullurl"), dated[0] if dated else ""
                    results.append(SearchResult(text_of(page, "title"), source, text, revised))
            return results
        except (LookupError, TypeError, AttributeError):
            raise self.misshapen from None

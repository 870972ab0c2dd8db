"""Look things up in Wikipedia, or in any other MediaWiki, by its API."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from chameleon.errors import InventoryError, WebError
from chameleon.modules.search.provider import (
    MOST_RESULTS,
    SearchResult,
    Service,
    WebProvider,
    text_of,
    url_of,
)
from chameleon.web import Web

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z-]{2,10})?|simple")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?=T)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_MOST_MEANINGS = 8


def _request(query: str, count: int) -> dict[str, Any]:
    """Ask once for both: the pages, and the snippets for wikis that have no introductions to give."""
    form = {"action": "query", "format": "json", "formatversion": 2, "redirects": 1}
    found = {"generator": "search", "gsrsearch": query, "gsrlimit": count, "inprop": "url"}
    parts = {"prop": "extracts|info|pageprops|revisions", "ppprop": "disambiguation", "rvprop": "timestamp"}
    extracts = {"exintro": 1, "explaintext": 1, "exlimit": MOST_RESULTS}
    snippets = {"list": "search", "srsearch": query, "srlimit": count, "srprop": "snippet"}
    return {"params": {**form, **found, **parts, **extracts, **snippets, "srinfo": "suggestion"}}


_SERVICE = Service("wikipedia", _request, endpoint_variable="WIKIPEDIA_ENDPOINT")


@dataclass(frozen=True)
class Wikipedia(WebProvider):
    """The introductions of the pages that Wikipedia's search finds; best first.

    A disambiguation page is answered with the other pages that the search finds, its meanings, each with the
    beginning of its introduction. A query that finds nothing is asked again in the spelling that the wiki
    suggests. A wiki without the extension TextExtracts gives the search's snippets instead.
    """

    @classmethod
    def of(cls, language: str, web: Web, endpoint: str = "", allow_private: bool = False) -> Wikipedia:
        """Ask `endpoint`, else WIKIPEDIA_ENDPOINT, else Wikipedia in that language."""
        if not _LANGUAGE.fullmatch(language):
            raise InventoryError(
                f"language is {language[:40]!r}, which is no language of Wikipedia",
                hint="Write it as in its address: en, de, zh. "
                "Another MediaWiki is named by endpoint, the address of its api.php.",
            )
        service = replace(_SERVICE, endpoint=f"https://{language}.wikipedia.org/w/api.php")
        return cls(service, web, endpoint, allow_private)

    def search(self, query: str, count: int) -> list[SearchResult]:
        data = self.ask(query, count + _MOST_MEANINGS)
        if not self.listed(data, "query", "pages"):
            info = (data.get("query") or {}).get("searchinfo")
            if suggested := text_of(info, "suggestion") if isinstance(info, dict) else "":
                data = self.ask(suggested, count + _MOST_MEANINGS)
        return self.results(data)[:count]

    def results(self, data: Any) -> list[SearchResult]:
        if isinstance(data, dict) and isinstance(error := data.get("error"), dict):
            code = "".join(c for c in str(error.get("code", "")) if c.isalnum() or c in "-_")[:40]
            raise WebError(f"the wiki refused the search ({code or 'no reason given'})", where=self.host)
        snippets = {
            text_of(hit, "title"): text_of(hit, "snippet", markup=True)
            for hit in self.listed(data, "query", "search")
        }
        pages = self.listed(data, "query", "pages")
        pages.sort(key=lambda page: page["index"] if isinstance(page.get("index"), int) else math.inf)
        found = [
            SearchResult(
                title,
                url_of(page, "fullurl"),
                text_of(page, "extract").strip() or snippets.get(title, ""),
                revised[0] if revised else "",
            )
            for page in pages
            for title in [text_of(page, "title")]
            for revision in [*self.listed(page, "revisions"), {}][:1]
            for revised in [_DATE.match(text_of(revision, "timestamp"))]
        ]
        ambiguous = [bool(page.get("pageprops")) for page in pages]  # it was asked for this property alone
        meanings = [
            f"{page.title}: {_SENTENCE_END.split(page.text, 1)[0][:160]}"
            for page, is_ambiguous in zip(found, ambiguous, strict=True)
            if not is_ambiguous
        ]
        told = "; ".join(meanings[:_MOST_MEANINGS])
        return [
            replace(page, text=f"{page.title} may mean: {told}") if is_ambiguous and told else page
            for page, is_ambiguous in zip(found, ambiguous, strict=True)
        ]

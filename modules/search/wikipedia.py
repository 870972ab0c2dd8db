"""Look things up in Wikipedia, or in any other MediaWiki, by its API."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from chameleon.errors import InventoryError, WebError
from chameleon.modules.search.provider import (
    LONGEST_QUERY,
    MOST_RESULTS,
    SearchResult,
    Service,
    WebProvider,
    text_of,
    url_of,
)
from chameleon.web import Web, one_line

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z-]{2,10})?|simple")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_MOST_MEANINGS = 8


def _request(query: str, count: int) -> dict[str, Any]:
    """Ask once for both: the pages, and the snippets for wikis that have no introductions to give."""
    form = {"action": "query", "format": "json", "formatversion": 2, "redirects": 1}
    found = {"generator": "search", "gsrsearch": query, "gsrlimit": count, "inprop": "url"}
    parts = {"prop": "extracts|info|pageprops", "ppprop": "disambiguation"}
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
        if not self.listed(data, "query", "pages") and (suggested := _suggestion(data)):
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
        found, ambiguous = [], []
        for page in sorted(self.listed(data, "query", "pages"), key=_place):
            title = text_of(page, "title")
            text = text_of(page, "extract").strip() or snippets.get(title, "")
            found.append(SearchResult(title, url_of(page, "fullurl"), text))
            properties = page.get("pageprops")
            ambiguous.append(isinstance(properties, dict) and "disambiguation" in properties)
        meanings = [page for page, is_ambiguous in zip(found, ambiguous, strict=True) if not is_ambiguous]
        return [
            replace(page, text=_told(page.title, meanings) or page.text) if is_ambiguous else page
            for page, is_ambiguous in zip(found, ambiguous, strict=True)
        ]


def _told(title: str, meanings: list[SearchResult]) -> str:
    """Return what an ambiguous title may mean, in a sentence each."""
    said = [f"{each.title}: {_SENTENCE_END.split(each.text, 1)[0][:160]}" for each in meanings]
    return f"{title} may mean: {'; '.join(said[:_MOST_MEANINGS])}" if said else ""


def _suggestion(data: Any) -> str:
    """Return the spelling that the wiki offers for a query, "" for none."""
    for key in ("query", "searchinfo", "suggestion"):
        data = data.get(key) if isinstance(data, dict) else None
    return one_line(data, LONGEST_QUERY) if isinstance(data, str) else ""


def _place(page: Any) -> float:
    index = page.get("index")
    return index if isinstance(index, int | float) else 1e9

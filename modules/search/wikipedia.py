"""Look things up in Wikipedia, or in any other MediaWiki.

The MediaWiki API is asked through our own client, not by the package `wikipedia`: last released in 2014, it
sends requests without a time-out past all checks of addresses, and keeps endpoint and User-Agent as globals.
What the package gives is given here: introductions, the meanings of an ambiguous title, and the pages for the
spelling that the wiki suggests where a query finds none.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from chameleon.errors import InventoryError, WebError
from chameleon.modules.search.provider import LONGEST_QUERY, SearchResult, WebProvider, text_of, url_of
from chameleon.web import one_line

_WORD = re.compile(r"\w+")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z-]{2,10})?|simple")
_FORM = {"action": "query", "format": "json", "formatversion": 2, "redirects": 1}
_PARTS = {
    "prop": "extracts|info|pageprops",
    "exintro": 1,
    "explaintext": 1,
    "exlimit": 20,
    "inprop": "url",
    "ppprop": "disambiguation",
}
_MOST_MEANINGS = 8
_MOST_LINKS = 500  # what a wiki gives to anybody in one reply
_LONGEST_TITLES = 5_000  # characters of an address


@dataclass(frozen=True)
class Wikipedia(WebProvider):
    """The introductions of the pages that Wikipedia's search finds; best first.

    A disambiguation page is answered with its meanings, those that share most words with the query first,
    each with the beginning of its introduction. A wiki without the extension TextExtracts gives the
    search's snippets instead.
    """

    name: ClassVar[str] = "wikipedia"
    endpoint_variable: ClassVar[str] = "WIKIPEDIA_ENDPOINT"
    most: ClassVar[int] = 20

    language: str = "en"

    @property
    def address(self) -> str:
        return super().address or f"https://{self.language}.wikipedia.org/w/api.php"

    def check(self) -> None:
        if not super().address and not _LANGUAGE.fullmatch(self.language):
            raise InventoryError(
                f"language is {self.language[:40]!r}, which is no language of Wikipedia",
                hint="Write it as in its address: en, de, zh. "
                "Another MediaWiki is named by endpoint, the address of its api.php.",
            )
        super().check()

    def request(self, query: str, count: int) -> dict[str, Any]:
        # One request for both: the pages, and the snippets for wikis that have no introductions to give.
        found = {"generator": "search", "gsrsearch": query, "gsrlimit": count}
        listed = {"list": "search", "srsearch": query, "srlimit": count}
        wanted = {"srprop": "snippet", "srinfo": "suggestion"}
        return {"params": {**_FORM, **_PARTS, **found, **listed, **wanted}}

    def search(self, query: str, count: int) -> list[SearchResult]:
        self.check()
        data = self._ask(self.request(query, min(count, self.most))["params"])
        if not self.listed(data, "query", "pages") and (suggested := self._suggestion(data)):
            query = suggested
            data = self._ask(self.request(query, min(count, self.most))["params"])
        snippets = {
            text_of(hit, "title"): text_of(hit, "snippet", markup=True)
            for hit in self.listed(data, "query", "search")
        }
        return [
            self._result(page, query, snippets)
            for page in sorted(self.listed(data, "query", "pages"), key=_place)[:count]
        ]

    def _result(self, page: Any, query: str, snippets: dict[str, str]) -> SearchResult:
        title = text_of(page, "title")
        text = text_of(page, "extract").strip() or snippets.get(title, "")
        properties = page.get("pageprops")
        if isinstance(properties, dict) and "disambiguation" in properties:
            text = self._meanings(title, query) or text
        return SearchResult(title, url_of(page, "fullurl"), text)

    def _meanings(self, title: str, query: str) -> str:
        """Return what a disambiguation page links to, in a sentence each."""
        wanted = set(_words(query)) - set(_words(title))
        if not (linked := self._linked(title, wanted)):
            return ""
        data = self._ask({**_FORM, **_PARTS, "titles": "|".join(linked)})
        found = [page for page in self.listed(data, "query", "pages") if not page.get("missing")]
        found.sort(key=lambda page: -len(wanted & set(_words(f"{page.get('title')} {page.get('extract')}"))))
        if not found:
            return ""
        meanings = []
        for page in found[:_MOST_MEANINGS]:
            sentence = re.split(r"(?<=[.!?])\s", text_of(page, "extract").strip(), maxsplit=1)[0]
            meanings.append(f"{text_of(page, 'title')}: {sentence[:160]}")
        return f"{title} may mean: " + "; ".join(meanings)

    def _linked(self, title: str, wanted: Set[str]) -> list[str]:
        """Return the titles that a disambiguation page links to, as many as one request may ask for.

        The wiki gives links in the order of the alphabet; here those come first that have most of the wanted
        words in their titles, then those that have the ambiguous title in theirs, which are its meanings.
        """
        links = {"titles": title, "prop": "links", "plnamespace": 0, "pllimit": _MOST_LINKS}
        pages = self.listed(self._ask({**_FORM, **links}), "query", "pages")
        found = [text_of(link, "title") for page in pages for link in self.listed(page, "links")]
        meant = title.partition(" (")[0].casefold()
        found.sort(key=lambda each: (-len(wanted & set(_words(each))), meant not in each.casefold()))
        chosen, length = [], 0
        for each in filter(None, found[: self.most]):
            length += len(quote(each)) + 3
            if length > _LONGEST_TITLES:
                break
            chosen.append(each)
        return chosen

    def _ask(self, params: dict[str, Any]) -> Any:
        spacing = self.default_spacing if self.spacing is None else self.spacing
        data = self.own_web.fetch(self.address, params=params, spacing=spacing).data(self.hints())
        if not isinstance(data, dict):
            raise self.misshapen()
        if isinstance(error := data.get("error"), dict):
            code = "".join(c for c in str(error.get("code", "")) if c.isalnum() or c in "-_")[:40]
            raise WebError(f"the wiki refused the search ({code or 'no reason given'})", where=self.host)
        return data

    @staticmethod
    def _suggestion(data: Any) -> str:
        """Return the spelling that the wiki offers for a query, "" for none."""
        for key in ("query", "searchinfo", "suggestion"):
            data = data.get(key) if isinstance(data, dict) else None
        return one_line(data, LONGEST_QUERY) if isinstance(data, str) else ""


def _place(page: Any) -> float:
    index = page.get("index")
    return index if isinstance(index, int | float) else 1e9


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())

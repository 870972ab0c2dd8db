"""Look things up in Wikipedia, or in any other MediaWiki, by the package pymediawiki."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from chameleon.errors import WebError, require
from chameleon.modules.search.provider import (
    LONGEST_QUERY,
    MOST_RESULTS,
    SearchResult,
    WebProvider,
    text_of,
    url_of,
)
from chameleon.text import one_line
from chameleon.web import WebReply
from chameleon.web.markup import markup_text
from chameleon.web.reply import LATE

LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z-]{2,10})?|simple")
_TITLE = re.compile(r"[^<>\[\]{}|#\x00-\x1f\x7f\ud800-\udfff]{1,255}")  # as MediaWiki allows them
_MOST_TITLES = 8  # of 255 bytes in one address
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?=T)")
_MOST_MEANINGS = 8
_LONGEST_MEANING = 160
_API = "It is to be the address of the wiki's api.php."
_PAUSE = "It asks for a pause: try later, and name somebody to write to in CHAMELEON_USER_AGENT."


@dataclass(frozen=True)
class Wikipedia(WebProvider):
    """The introductions of the pages that Wikipedia's search finds, with their dates; best first.

    Eight pages are asked for at once. All that the package asks goes through `Web`, and with it its guards,
    its pace and its cache; its seconds are those of a whole search. A page with several meanings is given
    with the first of them, and pages that cannot be had, or not in time, leave the others. A query that finds
    nothing is asked again in the spelling that the wiki suggests. A wiki without the extension TextExtracts
    gives the search's snippets instead of introductions.
    """

    name = "wikipedia"
    endpoint_variable = "WIKIPEDIA_ENDPOINT"
    home = "https://en.wikipedia.org/w/api.php"
    hints: ClassVar = {200: _API, 404: _API, 429: _PAUSE}

    language: str = ""

    @property
    def address(self) -> str:
        """Return the endpoint, else the Wikipedia in the language, else the one of the environment."""
        if self.language and not self.endpoint:
            return f"https://{self.language}.wikipedia.org/w/api.php"
        return super().address

    def check(self) -> None:
        super().check()
        require("pymediawiki", "Wikipedia is asked with", "web", module="mediawiki")

    def search(self, query: str, count: int) -> list[SearchResult]:
        from mediawiki import MediaWikiException

        count = min(count, MOST_RESULTS)
        taken = list[WebReply]()
        wiki = self._wiki(taken)
        try:
            titles, suggested = wiki.search(one_line(query, LONGEST_QUERY), count, suggestion=True)
            if not titles and suggested:
                query = one_line(suggested, LONGEST_QUERY)
                titles = wiki.search(query, count)
            titles = [title for title in titles[:count] if _is_title(title)]
            found = list[SearchResult]()
            for start in range(0, len(titles), _MOST_TITLES):
                try:
                    found += self._pages(wiki, query, titles[start : start + _MOST_TITLES])
                except WebError:
                    if not found:
                        raise
            return found
        except (MediaWikiException, LookupError, TypeError, AttributeError, ValueError):
            taken.clear()
            raise self.misshapen from None
        finally:
            for reply in taken:
                self.web.keep(reply)

    def _wiki(self, taken: list[WebReply]) -> Any:
        """Return the package's client, which adds the replies that it took to `taken`."""
        from mediawiki import MediaWiki

        ends, limits = time.monotonic() + self.web.limits.seconds, self.web.limits

        class GuardedWiki(MediaWiki):  # type: ignore[misc, unused-ignore]  # Any where it is not installed
            def wiki_request(wiki, params: Mapping[str, Any]) -> Any:
                if (left := ends - time.monotonic()) <= 0:
                    raise WebError(LATE, where=self.host, hint="Set a longer `timeout:`.")
                asking = replace(self, web=replace(self.web, limits=replace(limits, seconds=left)))
                reply, data = asking.reply(params={"action": "query", **params, "format": "json"})
                if isinstance(error := data.get("error"), dict):
                    code = "".join(c for c in str(error.get("code", "")) if c.isalnum() or c in "-_")[:40]
                    what = f"the wiki refused the search ({code or 'no reason given'})"
                    raise WebError(what, where=self.host)
                if data["query"].get("search") or data["query"].get("pages"):
                    taken.append(reply)
                if "srinfo" in params:
                    data["query"]["searchinfo"] = {"suggestion": "", **data["query"].get("searchinfo", {})}
                return data

            def _get_site_info(wiki) -> None:
                """Ask for nothing that no search needs."""

        wiki = GuardedWiki()
        wiki.use_cache = False  # ours outlives it
        return wiki

    def _pages(self, wiki: Any, query: str, titles: Sequence[str]) -> Iterator[SearchResult]:
        """Yield the pages of these titles, in their order, each once; those that are gone are left out."""
        asked: dict[str, Any] = {"prop": "extracts|info|pageprops|revisions", "titles": "|".join(titles)}
        asked |= {"inprop": "url", "ppprop": "disambiguation", "rvprop": "timestamp", "redirects": 1}
        asked |= {"exintro": 1, "explaintext": 1, "exlimit": MOST_RESULTS}
        reply = wiki.wiki_request(asked)
        pages = {page["title"]: page for page in reply["query"]["pages"].values() if "missing" not in page}
        snippets: dict[str, str] = {}
        if not any("extract" in page for page in pages.values()):
            asked = {"list": "search", "srsearch": query, "srlimit": MOST_RESULTS, "srprop": "snippet"}
            hits = wiki.wiki_request(asked)["query"]["search"]
            snippets = {hit["title"]: text_of(hit, "snippet", markup=True) for hit in hits}
        for title in filter(_is_title, dict.fromkeys([*(each for each in titles if each in pages), *pages])):
            page = pages[title]
            text = text_of(page, "extract").strip() or snippets.get(title, "")
            if page.get("pageprops") and (meanings := self._meanings(wiki, title)):
                text = f"{title} may mean: {'; '.join(meanings)}"
            revised = _DATE.match(text_of((page.get("revisions") or [{}])[0], "timestamp"))
            yield SearchResult(title, url_of(page, "fullurl"), text, revised[0] if revised else "")

    def _meanings(self, wiki: Any, title: str) -> list[str]:
        """Return the first meanings that a page lists; none where they cannot be had."""
        asked = {"prop": "revisions", "rvprop": "content", "rvparse": 1, "titles": title}
        try:
            (page,) = wiki.wiki_request(asked)["query"]["pages"].values()
        except WebError:  # its introduction is still there
            return []
        # The package reads lists by html.parser, which takes minutes over 100 kB of hostile markup.
        items = (item.partition("</li")[0] for item in re.split(r"<li\b", page["revisions"][0]["*"])[1:50])
        shown = (markup_text(f"<li{item}")[1] for item in items if "tocsection" not in item[:80])
        texts = (one_line(text, _LONGEST_MEANING) for text in shown)
        return [text for text in texts if text][:_MOST_MEANINGS]


def _is_title(text: str) -> bool:
    """Tell whether a wiki may have a page of this title."""
    return _TITLE.fullmatch(text) is not None and len(text.encode()) <= 255

"""Look things up in Wikipedia, or in any other MediaWiki, by the package pymediawiki."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

    The package asks for each page by itself. All that it asks goes through `Web`, and with it its guards, its
    pace and its cache; its seconds are those of a whole search. A page with several meanings is given with
    the first of them, and one that cannot be had, or not in time, leaves the others. A query that finds
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
        wiki = self._wiki(taken, most_requests=4 * count + 4)
        try:
            titles, suggested = wiki.search(one_line(query, LONGEST_QUERY), count, suggestion=True)
            if not titles and suggested:
                query = one_line(suggested, LONGEST_QUERY)
                titles = wiki.search(query, count)
            pages = _pages(wiki, filter(_is_title, titles[:count]))
            found = list({page.title: page for page in pages if _is_title(page.title)}.values())
            told = list[SearchResult]()
            for start in range(0, len(found), _MOST_TITLES):
                part = found[start : start + _MOST_TITLES]
                try:
                    told += list(self._described(wiki, query, part))
                except WebError as problem:
                    unread = f"(The page was not read: {problem.what}.)"
                    told += [replace(page, text=page.text or unread) for page in part]
            return told
        except (MediaWikiException, LookupError, TypeError, AttributeError, ValueError):
            taken.clear()
            raise self.misshapen from None
        finally:
            for reply in taken:
                self.web.keep(reply)

    def _wiki(self, taken: list[WebReply], most_requests: int) -> Any:
        """Return the package's client, which asks no oftener than a search needs, and adds what it took."""
        from mediawiki import MediaWiki

        ends, limits = time.monotonic() + self.web.limits.seconds, self.web.limits

        class Guarded(MediaWiki):  # type: ignore[misc, unused-ignore]  # Any where it is not installed
            def wiki_request(wiki, params: Mapping[str, Any]) -> Any:
                nonlocal most_requests
                if (most_requests := most_requests - 1) < 0:
                    raise WebError("the wiki leads from page to page without end", where=self.host)
                if (left := ends - time.monotonic()) <= 0:
                    raise WebError(LATE, where=self.host, hint="Set a longer `timeout:`.")
                asking = replace(self, web=replace(self.web, limits=replace(limits, seconds=left)))
                reply, data = asking.reply(params={"action": "query", **params, "format": "json"})
                if isinstance(error := data.get("error"), dict):
                    code = "".join(c for c in str(error.get("code", "")) if c.isalnum() or c in "-_")[:40]
                    told = f"the wiki refused the search ({code or 'no reason given'})"
                    raise WebError(told, where=self.host)
                if data["query"].get("search") or data["query"].get("pages"):
                    taken.append(reply)
                if "srinfo" in params:
                    data["query"]["searchinfo"] = {"suggestion": "", **data["query"].get("searchinfo", {})}
                if "rvparse" in params:
                    for page in data["query"]["pages"].values():
                        page["revisions"][0]["*"] = _list_items(page["revisions"][0]["*"])
                return data

            def _get_site_info(wiki) -> None:
                """Ask for nothing that no search needs."""

        wiki = Guarded()
        wiki.use_cache = False  # ours outlives it
        return wiki

    def _described(self, wiki: Any, query: str, found: Sequence[SearchResult]) -> Iterator[SearchResult]:
        """Yield the pages with the texts that they lack, and the days on which they were last revised."""
        asked = {"prop": "extracts|revisions", "exintro": 1, "explaintext": 1, "exlimit": MOST_RESULTS}
        titles = "|".join(page.title for page in found)
        told = wiki.wiki_request({**asked, "rvprop": "timestamp", "titles": titles})["query"]["pages"]
        by_title = {about["title"]: about for about in told.values()}
        snippets: dict[str, str] = {}
        if not any("extract" in about for about in by_title.values()):
            asked = {"list": "search", "srsearch": query, "srlimit": MOST_RESULTS, "srprop": "snippet"}
            hits = wiki.wiki_request(asked)["query"]["search"]
            snippets = {hit["title"]: text_of(hit, "snippet", markup=True) for hit in hits}
        for page in found:
            about = by_title.get(page.title, {})
            text = page.text or text_of(about, "extract").strip() or snippets.get(page.title, "")
            revised = _DATE.match(text_of((about.get("revisions") or [{}])[0], "timestamp"))
            yield replace(page, text=text, revised=revised[0] if revised else "")


def _pages(wiki: Any, titles: Iterable[str]) -> Iterator[SearchResult]:
    """Yield pages, with a text only for several meanings. Raises `WebError` if none of them can be had."""
    from mediawiki import DisambiguationError, PageError

    failure: WebError | None = None
    has_some = False
    for title in titles:
        try:
            page = wiki.page(title, auto_suggest=False)
            found = SearchResult(page.title, url_of({"url": page.url}, "url"), "")
        except DisambiguationError as several:
            meanings = [each["description"] for each in several.details or ()][:_MOST_MEANINGS]
            told = f"{title} may mean: {'; '.join(meanings)}"
            found = SearchResult(title, url_of({"url": several.url}, "url"), told if meanings else "")
        except PageError:  # gone since it was indexed
            continue
        except WebError as problem:
            failure = problem
            continue
        has_some = True
        yield found
    if failure and not has_some:
        raise failure


def _is_title(text: str) -> bool:
    """Tell whether a wiki may have a page of this title."""
    return _TITLE.fullmatch(text) is not None and len(text.encode()) <= 255


def _list_items(page: str) -> str:
    """Return the first items of a page's lists, with no other markup.

    The package reads them by html.parser, which takes minutes over 100 kB of hostile markup.
    """
    items = (item.partition("</li")[0] for item in re.split(r"<li\b", page)[1:50])
    shown = (markup_text(f"<li{item}")[1] for item in items if "tocsection" not in item[:80])
    texts = (one_line(text, _LONGEST_MEANING) for text in shown)
    return "".join(f"<li>{html.escape(text)}</li>" for text in texts if text)

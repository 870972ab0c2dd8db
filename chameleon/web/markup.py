"""Web pages as plain text.

The parser is lxml's, fed with events instead of a tree: libxml2 is everywhere, and of the parsers that were
tried it alone stays linear in time on hostile pages (400,000 nested elements, 200,000 attributes, unclosed
comments); trees of HTML 5 parsers and html.parser of the standard library do not.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping

from chameleon.errors import MissingPackage, WebError
from chameleon.web.text import decoded, visible

UNREAD = re.compile(
    "script|style|noscript|template|svg|math|iframe|object|embed|applet|canvas|audio|video|head|select"
    "|datalist|button|dialog"
)
"""Elements of which nothing is text."""
_INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|q|rp|rt|ruby|s|samp"
    "|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
_CELLS = ("td", "th")
_NOT_SHOWN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*0(\.0*)?\s*(;|!|$)"
    r"|font-size\s*:\s*0(\.0*)?(px|pt|em|rem|%)?\s*(;|!|$)",
    re.IGNORECASE,
)
_LONGEST_TITLE = 300
_BLANKS = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r" ?\n[\s]*")


def page_text(body: bytes, content_type: str = "text/html") -> tuple[str, str]:
    """The title and the visible text of a page, block by block on lines of their own.

    Scripts, styles, forms' lists and what is hidden by attribute or inline style are left out; control and
    bidirectional characters too. Plain text has no title. Raises `WebError` for what is no text, and
    `MissingPackage` without lxml.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if "html" in kind or (not kind and b"<" in body[:1000]):
        return markup_text(decoded(body, content_type))
    if kind and not kind.startswith("text/"):
        raise WebError("the page is no text but a file of another type")
    return "", _tidied(decoded(body, content_type))


def markup_text(markup: str) -> tuple[str, str]:
    """The title and the visible text of HTML, whole or a part of it."""
    require_lxml()
    from lxml import etree

    reader = _Reader()
    # Characters that are no letters of XML (lone surrogates) cannot be handed over.
    data = f"<div>{markup}".encode("utf-8", "replace") if "<html" not in markup[:2000].lower() else None
    parser = etree.HTMLParser(target=reader, encoding="utf-8", recover=True)
    parser.feed(data if data is not None else markup.encode("utf-8", "replace"))
    parser.close()
    return _tidied("".join(reader.title))[:_LONGEST_TITLE].replace("\n", " "), _tidied("".join(reader.text))


class _Reader:
    """Collects text from the parser's events."""

    def __init__(self) -> None:
        self.title: list[str] = []
        self.text: list[str] = []
        self._depth = 0
        self._unread_from = 0  # the depth of the outermost element that is not shown; 0 when all is shown
        self._in_title = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        self._in_title = tag == "title" and not self.title
        if not self._unread_from and (UNREAD.fullmatch(tag) or is_hidden(attributes)):
            self._unread_from = self._depth
        self._break(tag)

    def end(self, tag: str) -> None:
        if self._unread_from == self._depth:
            self._unread_from = 0
        self._depth -= 1
        self._in_title = False
        self._break(tag)

    def data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._unread_from:
            self.text.append(data)

    def comment(self, text: str) -> None:
        """Comments are not shown."""

    def pi(self, target: str, data: str | None = None) -> None:
        """Nor are processing instructions."""

    def close(self) -> None:
        """Nothing is left to be done at the end."""

    def _break(self, tag: str) -> None:
        if not self._unread_from and not _INLINE.fullmatch(tag):
            self.text.append(" " if tag in _CELLS else "\n")


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Whether an element with these attributes is not shown."""
    if not attributes:
        return False
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").strip().lower() == "true"
        or _NOT_SHOWN.search(attributes.get("style", "")) is not None
    )


def _tidied(text: str) -> str:
    return _BREAKS.sub("\n", _BLANKS.sub(" ", visible(text))).strip()


def require_lxml() -> None:
    """Raise `MissingPackage` when the parser's package is not installed."""
    if importlib.util.find_spec("lxml") is None:
        raise MissingPackage(
            "pages are read with the package lxml, which is not installed",
            hint='pip install "chameleon-compose[web]"',
        )

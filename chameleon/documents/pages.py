"""HTML pages as parts, in one pass over the parser's events; menus around a page's main text are left out.

A tree would silently lose text nested deeper than 2,048 elements, as below many unclosed `<font>`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from chameleon.documents.outline import LONGEST_HEADING
from chameleon.documents.parts import BY_LETTERS, DocumentPart
from chameleon.table import Table
from chameleon.table.found import Found
from chameleon.table.html_tables import page_tables
from chameleon.table.records import Origin
from chameleon.web.markup import INLINE, SUPERSCRIPTS, UNREAD, decoded, is_hidden, visible

_INLINE = re.compile(f"{INLINE.pattern}|br|ix:(?!header).*")  # ix: figures marked by inline XBRL
_UNREAD = re.compile(f"{UNREAD.pattern}|ix:(?:header|hidden|references|resources)")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_TAG_STATES: dict[str, dict[str, Any]] = {
    "li": {"is_item": True},
    "dd": {"is_item": True},
    "pre": {"is_item": True, "is_code": True},
    "sup": {"is_raised": True},
    "b": {"is_bold": True},
    "strong": {"is_bold": True},
}
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE)
_MAIN_NAMES, _MENU_NAMES = ("main", "article"), ("nav", "navigation", "menu", "menubar")
_SIDE_NAMES = ("footer", "aside", "header", "contentinfo", "complementary", "banner", "search")
_BLANKS = re.compile(r"\s+")
_MIN_MAIN_SHARE = 0.2  # of a page's text: a smaller part is not its main text
_SELF_CLOSING = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|wbr)\b)([a-z]\w*)([^<>]*)/>"
)


def page_parts(data: bytes, name: str) -> Iterator[DocumentPart]:
    """Yield the parts of a page; layout tables are text. Raises `MissingPackage` (lxml)."""
    markup = decoded(data)
    if markup.lstrip().startswith("<?xml"):  # in HTML, a self-closing element stays open
        markup = _SELF_CLOSING.sub(r"<\1\2></\1>", markup)
    findings = page_tables(markup.encode("utf-8", "replace"), Origin(name), keep_notes=True)
    reader = _PageReader([each.table if isinstance(each, Found) else None for each in findings])
    from lxml import etree

    parser = etree.HTMLParser(target=reader, encoding="utf-8", recover=True)
    parser.feed(markup.encode("utf-8", "replace"))
    parser.close()
    main = [part for region, part in reader.parts if region == "main"]
    if _size(main) >= _MIN_MAIN_SHARE * _size([part for _, part in reader.parts]) > 0:
        yield from main
    else:
        yield from (part for region, part in reader.parts if region not in ("beside", "nav"))


def _size(parts: list[DocumentPart]) -> int:
    return sum(len(part.content) for part in parts if isinstance(part.content, str))


class _PagePlace(NamedTuple):
    """The state inside an element; each inherits it from the one around it."""

    is_unread: bool = False
    is_data: bool = False  # in a data table
    is_cell: bool = False  # in a cell of it, whose text is in the table
    is_item: bool = False
    is_bold: bool = False
    is_raised: bool = False
    is_code: bool = False
    level: int = 0
    region: str = ""
    page: int | None = None


class _PageReader:
    """Collects parts from the parser's events; tables are counted as `page_tables` counts them."""

    def __init__(self, tables: list[Table | None]) -> None:
        self.parts: list[tuple[str, DocumentPart]] = []
        self._tables = iter(tables)
        self._places = [_PagePlace()]
        self._text: list[str] = []
        self._is_plain = False  # some of the text is not bold
        self._has_term = False  # the text is a term of a list, waiting for its description

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        around = self._places[-1]
        place = around if around.is_unread else self._inside(tag, attributes, around)
        self._places.append(place)
        if place.is_unread:
            return
        if tag in ("br", "td", "th"):
            self._text.append("\n" if tag == "br" else " ")
        elif not _INLINE.fullmatch(tag):
            self._has_term = self._has_term and tag != "dt"
            self._end_block(around)
        if tag == "table":
            table = next(self._tables, None)
            self._places[-1] = place._replace(is_data=table is not None, is_cell=False)
            if table is not None:
                self._flush(around)
                self._add(around, DocumentPart(table))

    def end(self, tag: str) -> None:
        place = self._places.pop()
        if place.is_unread:
            return
        if tag == "dt" and not (place.is_cell or self._has_term):
            term = "".join(self._text).rstrip()
            self._text.append("" if term.endswith((".", ":", ";", "?", "!")) else ": ")
            self._has_term = bool(term)
        elif tag == "dl" or place.level > self._places[-1].level:
            self._flush(place)
        elif not _INLINE.fullmatch(tag) and tag not in ("td", "th"):
            self._end_block(place)

    def data(self, data: str) -> None:
        place = self._places[-1]
        if place.is_unread or place.is_cell:
            return
        text = data if place.is_code else _BLANKS.sub(" ", data)
        self._text.append(text.translate(SUPERSCRIPTS) if place.is_raised else text)
        if not data.isspace():
            self._is_plain = self._is_plain or not place.is_bold
            self._has_term = False

    def _inside(self, tag: str, attributes: Mapping[str, str], around: _PagePlace) -> _PagePlace:
        """Return the state inside an element."""
        if _UNREAD.fullmatch(tag) or is_hidden(attributes) or "mw-editsection" in attributes.get("class", ""):
            return around._replace(is_unread=True)
        place = around._replace(**_TAG_STATES.get(tag, {}))
        if tag in _HEADINGS and not around.level:
            place = place._replace(level=int(tag[1]))
        if tag in ("td", "th", "caption") and around.is_data:
            place = place._replace(is_cell=True)
        if "style" in attributes and _BOLD.search(attributes["style"]):
            place = place._replace(is_bold=True)
        if (page := attributes.get("data-page", "")[:6]).isdecimal():  # written by `office`
            place = place._replace(page=int(page))
        for name in (tag, attributes.get("role", "")):
            if name in _MAIN_NAMES and around.region != "nav":
                place = place._replace(region="main")
            elif name in _MENU_NAMES or (name in _SIDE_NAMES and around.region != "main"):
                place = place._replace(region="nav" if name in _MENU_NAMES else "beside")
        return place

    def _end_block(self, place: _PagePlace) -> None:
        """End a block of text, unless it continues: a heading, a cell, a term without its description."""
        if place.level or place.is_cell or self._has_term:
            self._text.append(" ")
        else:
            self._flush(place)

    def close(self) -> None:
        self._flush(self._places[0])

    def _flush(self, place: _PagePlace) -> None:
        """Add the text as a paragraph, or as a heading if it is marked as one or all bold."""
        text = visible("".join(self._text))
        if not place.is_code:
            text = "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
        is_bold, self._is_plain, self._has_term = not self._is_plain, False, False
        self._text.clear()
        if not text.strip():
            return
        level = place.level
        if is_bold and not (level or place.is_item) and len(text) <= LONGEST_HEADING:
            level = BY_LETTERS if text[0].isupper() and text[-1] not in ".;," else 0
        self._add(place, DocumentPart(text.strip("\n"), level, is_literal=place.is_item))

    def _add(self, place: _PagePlace, part: DocumentPart) -> None:
        self.parts.append((place.region, part._replace(page=place.page)))

"""The outline of an HTML page: its headings, blocks of text and tables of data, in one pass over events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from chameleon.errors import InputError
from chameleon.papers.outline import Outline
from chameleon.table import Table
from chameleon.table.grid import Origin
from chameleon.table.html import Markup, page_tables
from chameleon.table.html_grid import html_table, layout_reason
from chameleon.web.markup import UNREAD, is_hidden
from chameleon.web.text import decoded, visible

_HEADINGS = re.compile("h[1-6]")
_INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|q|rp|rt|ruby|s|samp"
    "|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)


def page_outline(data: bytes, name: str) -> Outline:
    """The outline of a page; tables that only place things are read as text.

    Raises `MissingPackage` without lxml.
    """
    markup = decoded(data)
    tables = [_table(each, f"{name}, table {n}") for n, each in enumerate(page_tables(markup).tables, 1)]
    from lxml import etree

    reader = _Reader(tables)
    parser = etree.HTMLParser(target=reader, encoding="utf-8", recover=True)
    parser.feed(markup.encode("utf-8", "replace"))
    parser.close()
    return reader.outline


def _table(markup: Markup, where: str) -> Table | None:
    """The table that the markup holds; None for one that is no data."""
    if layout_reason(markup):
        return None
    try:
        read = html_table(markup, Origin(where, "row"))
        (_, header), *rows = read.records
        caption = ": ".join(dict.fromkeys(filter(None, [markup.caption, *read.titles])))
        return Table(header, [cells for _, cells in rows], caption) if rows else None
    except InputError:
        return None


class _Reader:
    """Collects an outline from the parser's events; tables are counted as `page_tables` counts them."""

    def __init__(self, tables: Sequence[Table | None]) -> None:
        self.outline = Outline()
        self._tables = tables
        self._begun = 0
        self._text: list[str] = []
        self._depth = 0
        self._unread_from = 0
        self._table_from = 0  # the depth of the table of data that is open

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if not self._unread_from and (
            UNREAD.fullmatch(tag) or is_hidden(attributes) or "mw-editsection" in attributes.get("class", "")
        ):
            self._unread_from = self._depth
        if self._unread_from:
            return
        if not self._table_from and not _INLINE.fullmatch(tag) and tag not in ("td", "th"):
            self._flush()
        if tag in ("td", "th", "br"):
            self._text.append(" ")
        if tag == "table":
            table = self._tables[self._begun] if self._begun < len(self._tables) else None
            self._begun += 1
            if table is not None and not self._table_from:
                self._table_from = self._depth
                self.outline.table(table)

    def end(self, tag: str) -> None:
        if self._unread_from == self._depth:
            self._unread_from = 0
        elif self._table_from == self._depth:
            self._table_from = 0
            self._text.clear()
        elif not self._unread_from and not self._table_from:
            if _HEADINGS.fullmatch(tag):
                self.outline.heading(int(tag[1]), self._taken())
            elif not _INLINE.fullmatch(tag) and tag not in ("td", "th", "br"):
                self._flush()
        self._depth -= 1

    def data(self, data: str) -> None:
        if not self._unread_from and not self._table_from:
            self._text.append(data)

    def comment(self, text: str) -> None:
        """Comments are not shown."""

    def pi(self, target: str, data: str | None = None) -> None:
        """Nor are processing instructions."""

    def close(self) -> None:
        self._flush()

    def _taken(self) -> str:
        text = " ".join(visible("".join(self._text)).split())
        self._text.clear()
        return text

    def _flush(self) -> None:
        self.outline.paragraph(self._taken())

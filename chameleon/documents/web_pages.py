"""The outline of an HTML page: its headings, blocks of text and tables of data, in one pass over events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from chameleon.documents.numbering import LONGEST_HEADING, heading_level
from chameleon.documents.outline import UNNUMBERED, Outline
from chameleon.errors import InputError
from chameleon.markup import UNREAD, decoded, is_hidden, visible
from chameleon.table import Table
from chameleon.table.html import Markup, page_tables
from chameleon.table.html_grid import html_table, layout_reason
from chameleon.table.records import Origin
from chameleon.table.superscripts import BEGIN, END, set_superscripts, without_bounds

_HEADINGS = re.compile("h[1-6]")
_INLINE = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|q|rp|rt|ruby|s|samp"
    "|small|span|strike|strong|sub|sup|time|tt|u|var|wbr|ix:(?!header).*"
)
_UNREAD = re.compile("ix:(?:header|hidden|references|resources)")
_CELLS = ("td", "th", "caption")
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE)


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
        read = html_table(markup, Origin(where, "row"), keep_notes=True)
        (_, header), *rows = read.records
        caption = ": ".join(dict.fromkeys(filter(None, [markup.caption, *read.titles])))
        if read.is_turned and len(rows) == 1:  # a form: names, and beside each what it is
            return Table(["", ""], list(zip(header, rows[0][1], strict=True)), caption)
        return Table(header, [cells for _, cells in rows], caption) if rows else None
    except InputError:
        return None


class _Reader:
    """Collects an outline from the parser's events; tables are counted as `page_tables` counts them.

    Of what stands in a table of data only that is text which is in none of its cells, or in a table inside it
    that is no data.
    """

    def __init__(self, tables: Sequence[Table | None]) -> None:
        self.outline = Outline()
        self._tables = tables
        self._begun = 0
        self._inner: list[Table] = []
        self._text: list[str] = []
        self._term = ""  # of a list of terms, the one that is described now
        self._described: list[str] = []
        self._plain = False  # whether some of the text is not in bold letters
        self._depth = 0
        # The depths at which what is open began; 0 where nothing is.
        self._unread_from = self._heading_from = self._item_from = self._bold_from = 0
        self._table_from = self._cell_from = self._loose_from = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if not self._unread_from and _is_unread(tag, attributes):
            self._unread_from = self._depth
        if self._unread_from:
            return
        if self._reads and not self._heading_from and (tag == "br" or not _is_within_line(tag)):
            self._flush()
        if not _INLINE.fullmatch(tag):
            self._text.append(" ")
        if _HEADINGS.fullmatch(tag) and not self._heading_from and self._reads:
            self._heading_from = self._depth
        elif tag == "li" and not self._item_from:
            self._item_from = self._depth
        elif tag == "table":
            self._begin_table()
        elif tag in _CELLS and self._table_from and not self._cell_from:
            self._cell_from = self._depth
        elif tag == "sup" and self._reads:
            self._text.append(BEGIN)
        if not self._bold_from and (tag in ("b", "strong") or _BOLD.search(attributes.get("style", ""))):
            self._bold_from = self._depth

    def end(self, tag: str) -> None:
        if self._unread_from == self._depth:
            self._unread_from = 0
        elif not self._unread_from:
            self._end_shown(tag)
        self._depth -= 1

    def data(self, data: str) -> None:
        if not self._unread_from and self._reads:
            self._text.append(without_bounds(data))
            self._plain = self._plain or (not self._bold_from and not data.isspace())

    def comment(self, text: str) -> None:
        """Comments are not shown."""

    def pi(self, target: str, data: str | None = None) -> None:
        """Nor are processing instructions."""

    def close(self) -> None:
        self._flush()
        self._flush_term()

    @property
    def _reads(self) -> bool:
        """Whether text is read: not where it is in a cell of a table of data."""
        return not self._cell_from or bool(self._loose_from)

    def _begin_table(self) -> None:
        table = self._tables[self._begun] if self._begun < len(self._tables) else None
        self._begun += 1
        if self._table_from:
            if table is not None:
                self._inner.append(table)
            elif not self._loose_from:
                self._loose_from = self._depth
        elif table is not None:
            self._table_from = self._depth
            self._flush_term()
            self.outline.table(table)

    def _end_shown(self, tag: str) -> None:
        if self._heading_from == self._depth:
            self._heading_from = 0
            self._flush_term()
            self.outline.heading(int(tag[1]), self._taken())
        elif self._reads and not _is_within_line(tag) and not self._heading_from:
            self._flush(tag)
        elif not _INLINE.fullmatch(tag):
            self._text.append(" ")
        elif tag == "sup" and self._reads:
            self._text.append(END)
        if self._table_from == self._depth:
            self._table_from = 0
            for table in self._inner:
                self.outline.table(table)
            self._inner.clear()
        for name in ("_cell_from", "_loose_from", "_item_from", "_bold_from"):
            if getattr(self, name) == self._depth:
                setattr(self, name, 0)

    def _taken(self) -> str:
        text = set_superscripts("".join(self._text), drop_marks=False)
        text = " ".join(visible(text).split())
        self._text.clear()
        self._plain = False
        return text

    def _flush(self, ended: str = "") -> None:
        """Add the text as a paragraph, or as a heading where all of it is in bold letters.

        A term of a list (`<dt>`) and the text after it are one paragraph; `ended` is the element that ends.
        """
        is_bold = not self._plain and not self._item_from
        text = self._taken()
        if not text:
            return
        if ended == "dd" and self._term:
            self._described.append(text)
            return
        self._flush_term()
        if ended == "dt" and not self._item_from:
            self._term = text
        elif is_bold and _is_heading(text):
            self.outline.heading(UNNUMBERED, text)
        else:
            self.outline.paragraph(text, may_head=not self._item_from)

    def _flush_term(self) -> None:
        """Add a term with all that describes it."""
        described = "; ".join(self._described)
        mark = ":" if described and self._term[-1:] not in (*".:;?!",) else ""
        self.outline.paragraph(f"{self._term}{mark} {described}", may_head=False)
        self._term = ""
        self._described.clear()


def _is_heading(text: str) -> bool:
    """Whether a text in bold letters is a heading that its number does not show to be one."""
    short = 0 < len(text) <= LONGEST_HEADING
    return short and text[-1] not in ".;," and text[0].isupper() and heading_level(text) is None


def _is_unread(tag: str, attributes: Mapping[str, str]) -> bool:
    return bool(
        UNREAD.fullmatch(tag)
        or _UNREAD.fullmatch(tag)
        or is_hidden(attributes)
        or "mw-editsection" in attributes.get("class", "")
    )


def _is_within_line(tag: str) -> bool:
    """Whether an element begins no block of text of its own."""
    return _INLINE.fullmatch(tag) is not None or tag in ("td", "th", "br")

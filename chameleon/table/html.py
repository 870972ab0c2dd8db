"""The tables of an HTML page as their cells stand in the source, read from events in one pass.

Why events and no tree: see `chameleon.markup`. What the cells mean is for `chameleon.table.html_grid`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from chameleon.markup import UNREAD, is_hidden, require_lxml
from chameleon.table.superscripts import BEGIN, END, set_superscripts, without_bounds
from chameleon.text import clean_cell

_HEADINGS = re.compile("h[1-6]")
_BREAKS = re.compile("br|p|div|li|ul|ol|dl|dt|dd|tr|h[1-6]|hr|pre|blockquote|section|article")
_CONTROLS = re.compile("form|input|textarea|select|button")
_PROSE = re.compile("h[1-6]|article|section|nav|form|blockquote|pre")
_SPACES = re.compile(r"\s+")
_MOST_SPANNED_COLUMNS, _MOST_SPANNED_ROWS = 1_000, 65_534  # as the HTML standard has them


@dataclass
class Cell:
    """A cell as the source has it; a `rowspan` of 0 reaches to the end of its group of rows."""

    is_header: bool
    colspan: int = 1
    rowspan: int = 1
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return one_line(self.parts)


@dataclass
class Markup:
    """One `<table>`: its rows by group (head, bodies, foot), and what speaks for data or for layout."""

    role: str = ""
    heading: str = ""
    caption: str = ""
    groups: list[tuple[str, list[list[Cell]]]] = field(default_factory=list)
    is_nested: bool = False
    holds_tables: bool = False
    holds_controls: bool = False
    holds_prose: bool = False
    is_navigation: bool = False


@dataclass
class Page:
    """A page's title and its tables, in the order in which they begin."""

    title: str = ""
    tables: list[Markup] = field(default_factory=list)


def page_tables(markup: str) -> Page:
    """Return the tables of a page, nested ones on their own; what is hidden is left out.

    Raises `MissingPackage` without lxml.
    """
    require_lxml()
    from lxml import etree

    reader = _TableReader()
    parser = etree.HTMLParser(target=reader, encoding="utf-8", recover=True)
    parser.feed(markup.encode("utf-8", "replace"))
    parser.close()
    return Page(one_line(reader.title), reader.tables)


def one_line(parts: list[str]) -> str:
    """Join the pieces of a text to one line with single spaces, without the marks of footnotes."""
    return _SPACES.sub(" ", clean_cell(set_superscripts("".join(parts), drop_marks=True)))


class _OpenTable:
    """A table that has begun and not yet ended."""

    def __init__(self, table: Markup) -> None:
        self.table = table
        self.cell: Cell | None = None
        self.caption: list[str] = []
        self.in_caption = False

    def row(self) -> list[Cell]:
        """Return the row that has begun; begin one, and a group, where none has."""
        if not self.table.groups:
            self.table.groups.append(("tbody", []))
        rows = self.table.groups[-1][1]
        if not rows:
            rows.append([])
        return rows[-1]


class _TableReader:
    """Collects tables from the parser's events."""

    def __init__(self) -> None:
        self.tables: list[Markup] = []
        self.title: list[str] = []
        self._open: list[_OpenTable] = []
        self._heading: list[str] = []
        self._heading_depth = 0
        self._in_title = False
        self._depth = 0
        self._unread_from = 0
        self._superscripts = 0  # how many <sup> are open

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        self._in_title = self._in_title or (tag == "title" and not self.title)
        if self._open:
            self._note(tag)
        if not self._unread_from and self._is_unread(tag, attributes):
            self._unread_from = self._depth
        if self._unread_from:
            return
        if tag == "table":
            self._begin(attributes)
        elif _HEADINGS.fullmatch(tag):
            self._heading, self._heading_depth = [], self._depth
        elif tag == "sup":
            self._superscripts += 1
            if self._superscripts == 1:
                self._parts().append(BEGIN)
        elif self._open:
            self._start_inside(tag, attributes)
        if _BREAKS.fullmatch(tag):
            self.data(" ")

    def end(self, tag: str) -> None:
        if self._unread_from == self._depth:
            self._unread_from = 0
        elif not self._unread_from:
            self._end_shown(tag)
        if self._depth == self._heading_depth:
            self._heading_depth = 0
        self._depth -= 1
        self._in_title = False

    def data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._unread_from:
            self._parts().append(without_bounds(data))
            if self._heading_depth and self._open:
                self._heading.append(data)

    def comment(self, text: str) -> None:
        """Skip comments."""

    def pi(self, target: str, data: str | None = None) -> None:
        """Skip processing instructions."""

    def close(self) -> None:
        """End what has not ended by now."""
        while self._open:
            self._finish()

    def _is_unread(self, tag: str, attributes: Mapping[str, str]) -> bool:
        if tag == "head":  # its title is read, and nothing else in it is a table
            return False
        return bool(
            UNREAD.fullmatch(tag) or is_hidden(attributes) or "mw-editsection" in attributes.get("class", "")
        )

    def _note(self, tag: str) -> None:
        """Note what a table holds besides text: it says whether it is one."""
        table = self._open[-1].table
        table.holds_controls |= _CONTROLS.fullmatch(tag) is not None
        table.holds_prose |= _PROSE.fullmatch(tag) is not None

    def _begin(self, attributes: Mapping[str, str]) -> None:
        role = attributes.get("role", "").strip().lower()
        table = Markup(role, one_line(self._heading), is_nested=bool(self._open))
        table.is_navigation = role == "navigation" or "navbox" in attributes.get("class", "")
        if self._open:
            self._open[-1].table.holds_tables = True
        self.tables.append(table)
        self._open.append(_OpenTable(table))

    def _start_inside(self, tag: str, attributes: Mapping[str, str]) -> None:
        current = self._open[-1]
        if tag in ("td", "th"):
            span = _span(attributes.get("colspan"), _MOST_SPANNED_COLUMNS) or 1
            rows = _span(attributes.get("rowspan"), _MOST_SPANNED_ROWS)
            current.cell = Cell(tag == "th", span, rows)
            current.row().append(current.cell)
        elif tag == "tr":
            current.cell = None
            if not current.table.groups:
                current.table.groups.append(("tbody", []))
            current.table.groups[-1][1].append([])
        elif tag in ("thead", "tbody", "tfoot"):
            current.cell = None
            current.table.groups.append((tag, []))
        elif tag == "caption":
            current.in_caption = True

    def _end_shown(self, tag: str) -> None:
        if tag == "sup" and self._superscripts:
            self._superscripts -= 1
            if not self._superscripts:
                self._parts().append(END)
        elif not self._open:
            return
        elif tag == "table":
            self._finish()
        elif tag in ("td", "th"):
            self._open[-1].cell = None
        elif tag == "caption":
            self._open[-1].in_caption = False
        elif _BREAKS.fullmatch(tag):
            self.data(" ")

    def _finish(self) -> None:
        ended = self._open.pop()
        ended.table.caption = one_line(ended.caption)

    def _parts(self) -> list[str]:
        """Return where text goes: into the open cell or caption, else into the heading, else nowhere."""
        if self._open:
            current = self._open[-1]
            if current.in_caption:
                return current.caption
            return current.cell.parts if current.cell is not None else []
        return self._heading if self._heading_depth else []


def _span(written: str | None, most: int) -> int:
    digits = re.match(r"\s*(\d{1,6})", written or "")
    return min(int(digits[1]), most) if digits else 1

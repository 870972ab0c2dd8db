"""Word, PowerPoint, OpenDocument and e-books as parts: what is in their archives, written as a page of HTML.

An archive's sizes are not believed: what is unpacked is counted. Of XML no entity is expanded, no
DTD is read, and libxml2 refuses what nests deeper than 256.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from io import BytesIO
from itertools import chain, count
from typing import Any
from urllib.parse import unquote

from chameleon.documents.pages import page_parts
from chameleon.documents.parts import Part
from chameleon.errors import InputError
from chameleon.markup import require_lxml

MAX_UNPACKED = 100_000_000
_UNREAD = re.compile("del|moveFrom|Fallback|annotation|tracked-changes|table-of-content|note-citation")
_BREAKS = {"br": "<br>", "cr": "<br>", "line-break": "<br>", "tab": " ", "s": " ", "noBreakHyphen": "-"}
_LATER = {"txbxContent", "text-box", "note-body", "footnoteReference", "endnoteReference"}
"""What stands inside a paragraph, and is read after it."""
_BLOCKS = {"table": "table", "table-row": "tr", "table-cell": "td"}
_SPANS = ("columns-spanned", "columns-repeated", "rows-spanned")
_BESIDE_A_SLIDE = re.compile("/diagrams/data|/notesSlides/")
_FURNITURE, _TITLES = ("sldNum", "dt", "ftr", "sldImg"), ("title", "ctrTitle")
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


def word_parts(data: bytes, name: str) -> Iterator[Part]:
    """Yield the parts of a .docx: headings by style, number or bold letters, lists, tables, notes."""
    archive = _Archive(data, name)
    main = next((each for each in sorted(archive.names) if re.fullmatch(r"word/document\d*\.xml", each)), "")
    writer = _Writer(archive)
    writer.children(archive.xml(main))
    return writer.parts()


def slide_parts(data: bytes, name: str) -> Iterator[Part]:
    """Yield the parts of a .pptx: each slide is a page, headed by its title, its notes last."""
    archive = _Archive(data, name)
    writer, show = _Writer(archive), "ppt/presentation.xml"
    related = archive.related(show)
    slides = [related.get(_own(each, "id"), "") for each in archive.xml(show).iter("{*}sldId")]
    for page, slide in enumerate(dict.fromkeys(slides), 1):
        files = [slide, *filter(_BESIDE_A_SLIDE.search, archive.related(slide).values())]
        found = (archive.xml(file).iter("{*}sp", "{*}graphicFrame", "{*}dataModel") for file in files)
        shapes = [(shape, _role(shape)) for shape in chain.from_iterable(found)]
        writer.begin_slide(page, any(role in _TITLES for _, role in shapes))
        for shape, role in sorted(shapes, key=lambda each: each[1] not in _TITLES):
            if role not in _FURNITURE:
                writer.block(shape, is_title=role in _TITLES, is_item=role not in _TITLES)
        writer.written.append("</section>")
    return writer.parts()


def open_document_parts(data: bytes, name: str) -> Iterator[Part]:
    """Yield the parts of an .odt, or of an .odp, whose slides are pages."""
    archive = _Archive(data, name)
    writer = _Writer(archive, mixed=True)
    writer.children(archive.xml("content.xml"))
    return writer.parts()


def book_parts(data: bytes, name: str) -> Iterator[Part]:
    """Yield the parts of an .epub, chapter by chapter in the order of its spine."""
    archive = _Archive(data, name)
    root = next(archive.xml("META-INF/container.xml").iter("{*}rootfile"), None)
    package = "" if root is None else root.get("full-path", "")
    book = archive.xml(package)
    items = {item.get("id"): item for item in book.iter("{*}item") if "html" in item.get("media-type", "")}
    for reference in book.iter("{*}itemref"):
        item = items.pop(reference.get("idref"), None)
        if item is not None and "nav" not in item.get("properties", "").split():
            path = posixpath.join(posixpath.dirname(package), unquote(item.get("href", "")))
            yield from page_parts(archive.read(posixpath.normpath(path)), name)


class _Archive:
    """The files of an archive by name, which all together unpack to a bounded size."""

    def __init__(self, data: bytes, name: str) -> None:
        require_lxml()
        self.name, self.left = name, MAX_UNPACKED
        try:
            self.file = zipfile.ZipFile(BytesIO(data))
        except Exception:
            raise self._broken() from None
        self.names = set(self.file.namelist())

    def _broken(self) -> InputError:
        return InputError("is broken or cut short", where=self.name, hint="Save it anew from its source.")

    def read(self, file: str) -> bytes:
        """Return the bytes of a file, none where it is not there. Raises `InputError`."""
        if file not in self.names:
            return b""
        try:
            with self.file.open(file) as opened:
                data = opened.read(self.left + 1)
        except RuntimeError:
            hint = "Save a copy without a password."
            raise InputError("is encrypted", where=self.name, hint=hint) from None
        except Exception:  # zlib, bz2 and lzma have errors of their own
            raise self._broken() from None
        self.left -= len(data)
        if self.left < 0:
            what = f"unpacks to more than the limit of {MAX_UNPACKED:,} bytes"
            raise InputError(what, where=self.name, hint="Save it without pictures and embedded files.")
        return data

    def xml(self, file: str) -> Any:
        """Return the root element of a file, an empty one where it is not there. Raises `InputError`."""
        from lxml import etree

        data = self.read(file)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
        try:
            return etree.fromstring(data, parser) if data else etree.Element("none")
        except etree.XMLSyntaxError:
            raise self._broken() from None

    def related(self, file: str) -> dict[str, str]:
        """Return the files of the archive that one refers to, by the ids of its references."""
        folder, own = posixpath.split(file)
        links = self.xml(f"{folder}/_rels/{own}.rels")
        paths = (posixpath.join("/", folder, _own(link, "Target")) for link in links)
        return {
            _own(link, "Id"): posixpath.normpath(path)[1:] for link, path in zip(links, paths, strict=True)
        }


class _Writer:
    """Writes the blocks of an office document as HTML, which the reader of pages reads."""

    def __init__(self, archive: _Archive, *, mixed: bool = False) -> None:
        self.written: list[str] = []
        self._mixed = mixed  # text stands between elements, as in OpenDocument, and not in those named "t"
        self._later: list[Any] = []
        self._page = 0
        self._in_paragraph = self._is_title = self._is_item = False
        numbering = archive.xml("word/numbering.xml")
        kinds = {_own(each, "abstractNumId"): each for each in numbering if _tag(each) == "abstractNum"}
        styles = (each for each in archive.xml("word/styles.xml") if _tag(each) == "style")
        self._styles = {_own(each, "styleId"): each for each in styles}
        self._lists = {_own(each, "numId"): kinds.get(_value(each, "abstractNumId")) for each in numbering}
        notes = (each for part in ("footnotes", "endnotes") for each in archive.xml(f"word/{part}.xml"))
        self._notes = {f"{_tag(each)}Reference{_own(each, 'id')}": each for each in notes}
        self._counts: dict[tuple[Any, int], int] = {}
        self._titles = {"Title"}
        self._writers: dict[str, Callable[[Any], None]] = {
            "p": self._paragraph,
            "h": self._paragraph,
            "r": self._run,
            "tbl": self._table,
            "page": self._slide,
            "frame": self._frame,
            "list-item": partial(self.block, is_item=True),
        }

    def parts(self) -> Iterator[Part]:
        """Yield the parts of what was written."""
        return page_parts(f"<html><body>{''.join(self.written)}".encode("utf-8", "replace"), "")

    def element(self, element: Any) -> None:
        """Write an element by its name."""
        tag = _tag(element)
        if _UNREAD.fullmatch(tag):
            return
        if self._in_paragraph and tag in _LATER:
            self._later.append(self._notes.pop(f"{tag}{_own(element, 'id')}", element))
        elif tag in _BREAKS:
            self.written.append(_BREAKS[tag])
        elif tag == "t":
            self._text(element.text)
        elif tag in self._writers:
            self._writers[tag](element)
        elif tag in _BLOCKS:
            is_head = tag == "table-cell" and _tag(element.getparent().getparent()) == "table-header-rows"
            columns, times, rows = (_count(_own(element, f"number-{name}"), 1) for name in _SPANS)
            spans = f" colspan={max(columns, times)} rowspan={rows}" if tag == "table-cell" else ""
            self.inside(f"{'th' if is_head else _BLOCKS[tag]}{spans}", element)
        else:
            if tag == "style" and _own(element, "parent-style-name") in self._titles:
                self._titles.add(_own(element, "name"))
            self.children(element)

    def _slide(self, page: Any) -> None:
        self._page += 1
        self.begin_slide(self._page, any(_own(each, "class") == "title" for each in page))
        self.children(page)
        self.written.append("</section>")

    def _frame(self, frame: Any) -> None:
        is_title = _own(frame, "class") == "title"
        self.block(frame, is_title=is_title, is_item=self._page > 0 and not is_title)

    def _run(self, run: Any) -> None:
        bold = _find(_find(run, "rPr"), "b")
        is_bold = bold is not None and _own(bold, "val") not in ("0", "false")
        self.inside("b", run) if is_bold else self.children(run)

    def begin_slide(self, page: int, has_title: bool) -> None:
        """Begin a page; one without a title does not stand below that of the page before."""
        self.written.append(f"<section data-page={page}>{'' if has_title else f'<h1>Slide {page}</h1>'}")

    def block(self, element: Any, *, is_title: bool = False, is_item: bool = False) -> None:
        """Write what is in an element, its paragraphs as titles or as items of a list."""
        around = self._is_title, self._is_item
        self._is_title, self._is_item = is_title, is_item
        self.children(element)
        self._is_title, self._is_item = around

    def inside(self, tag: str, element: Any) -> None:
        """Write what is in an element inside a tag of HTML, which may have attributes."""
        self.written.append(f"<{tag}>")
        self.children(element)
        self.written.append(f"</{tag.partition(' ')[0]}>")

    def children(self, element: Any) -> None:
        """Write what is in an element."""
        if self._mixed:
            self._text(element.text)
        for child in element:
            self.element(child)
            if self._mixed:
                self._text(child.tail)

    def _text(self, text: str | None) -> None:
        if text and self._in_paragraph:
            self.written.append(escape(text))

    def _paragraph(self, element: Any) -> None:
        """Write a paragraph, and after it the notes and boxes of text that stand in it."""
        holders = [element, *self._styles_of(_value(_find(element, "pPr"), "pStyle"))]
        number, level = self._number(holders), self._level(holders)
        level = 1 if self._is_title else level
        is_item = self._is_item or (number and "." not in number[:-1])
        tag = f"h{min(level, 6)}" if level else "li" if is_item else "p"
        is_inside, self._in_paragraph = self._in_paragraph, True
        self.written.append(f"<{tag}>{escape(f'{number} ' if number else '')}")
        self.children(element)
        self.written.append(f"</{tag}>")
        self._in_paragraph = is_inside
        if not self._in_paragraph:
            later, self._later = self._later, []
            for each in later:
                self.children(each)

    def _styles_of(self, style: str) -> Iterator[Any]:
        """Yield a style and those that it is based on."""
        for _ in range(20):
            if style not in self._styles:
                return
            yield self._styles[style]
            style = _value(self._styles[style], "basedOn")

    def _level(self, holders: Sequence[Any]) -> int:
        """The level of a heading: a title's is 1, 0 is that of a paragraph."""
        if _tag(holders[0]) == "h":
            return _count(_own(holders[0], "outline-level"), 1) + 1
        if _own(holders[0], "style-name") in self._titles:
            return 1
        if any(_value(style, "name").lower() == "title" for style in holders[1:]):
            return 1
        levels = (_value(_find(each, "pPr"), "outlineLvl") for each in holders)
        level = _count(next(filter(None, levels), ""), 9)
        return level + 2 if level < 9 else 0

    def _number(self, holders: Sequence[Any]) -> str:
        """The number that Word shows before a paragraph, counted; "-" for a bullet."""
        marks = (_find(_find(each, "pPr"), "numPr") for each in holders)
        mark = next((each for each in marks if each is not None), None)
        own = None if mark is None else self._lists.get(_value(mark, "numId"))
        if own is None:
            return ""
        at, levels = _count(_value(mark, "ilvl"), 0), [each for each in own if _tag(each) == "lvl"]
        if at >= len(levels):
            return ""
        for place, level in enumerate(levels):
            start = _count(_value(level, "start"), 1)
            if place > at:
                self._counts.pop((own, place), None)
            else:
                count = self._counts.setdefault((own, place), start - (place == at))
                self._counts[own, place] = count + (place == at)
        if _value(levels[at], "numFmt") == "bullet":
            return "-"
        shown = _value(levels[at], "lvlText")
        for place, level in enumerate(levels[: at + 1]):
            numeral = _numeral(self._counts[own, place], _value(level, "numFmt"))
            shown = shown.replace(f"%{place + 1}", numeral)
        return shown.strip()

    def _table(self, table: Any) -> None:
        """Write a table of Word or PowerPoint."""
        rows = [(row, list(_columns(row))) for row in _below(table, "tr")]
        merged = {(n, at) for n, (_, cells) in enumerate(rows) for at, cell in cells if n and _goes_on(cell)}
        first = _find(table, "tblPr")
        has_head = first is not None and first.get("firstRow") == "1"
        self.written.append("<table>")
        for place, (row, cells) in enumerate(rows):
            is_head = (has_head and not place) or _find(_find(row, "trPr"), "tblHeader") is not None
            self.written.append("<tr>")
            for at, cell in cells:
                if (place, at) not in merged:
                    down = next(n for n in count(1) if (place + n, at) not in merged)
                    self.inside(f"{'th' if is_head else 'td'} colspan={_width(cell)} rowspan={down}", cell)
            self.written.append("</tr>")
        self.written.append("</table>")


def _below(element: Any, name: str) -> Iterator[Any]:
    """Yield the rows of a table, or the cells of a row, also those in fields to fill in."""
    for child in element:
        if _tag(child) == name:
            yield child
        elif not _UNREAD.fullmatch(_tag(child)):
            yield from _below(child, name)


def _columns(row: Any) -> Iterator[tuple[int, Any]]:
    """Yield cells with the columns that they begin in; those covered from the left are none."""
    at = 0
    for cell in _below(row, "tc"):
        if cell.get("hMerge") is None:
            yield at, cell
            at += _width(cell)


def _width(cell: Any) -> int:
    span = cell.get("gridSpan") or _value(_find(cell, "tcPr"), "gridSpan")
    return _count(span, 1)


def _goes_on(cell: Any) -> bool:
    """Whether a cell is merged with the one above."""
    merged = _find(_find(cell, "tcPr"), "vMerge")
    return cell.get("vMerge") is not None or (merged is not None and _own(merged, "val") in ("", "continue"))


def _numeral(number: int, kind: str) -> str:
    shown = str(number)
    if kind.endswith("Letter"):
        shown = chr(97 + (number - 1) % 26) * min((number - 1) // 26 + 1, 9)
    elif kind.endswith("Roman") and number < 400:
        shown = ""
        for value, letters in _ROMAN:
            shown += letters * (number // value)
            number %= value
    return shown.upper() if kind.startswith("upper") else shown


def _role(shape: Any) -> str:
    """What a shape of a slide is for: "title", "body", "sldNum"; "" where it says nothing."""
    return next((each.get("type", "body") for each in shape.iter("{*}ph")), "")


def _count(text: str, default: int) -> int:
    return min(int(text[:6]), 1_000) if text[:6].isdecimal() else default


def _tag(element: Any) -> str:
    """The name of an element without its namespace; "" for an entity."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _own(element: Any, name: str) -> str:
    """An attribute by its name without the namespace; the last where there are several."""
    return next((value for key, value in reversed(element.items()) if key.rpartition("}")[2] == name), "")


def _find(element: Any, name: str) -> Any:
    return None if element is None else next((each for each in element if _tag(each) == name), None)


def _value(element: Any, name: str) -> str:
    """The value of the element of a name right inside another."""
    found = _find(element, name)
    return "" if found is None else _own(found, "val")

"""Word, PowerPoint, OpenDocument and e-books as parts: the contents of their archives, written as HTML.

Sizes given by an archive are not trusted: unpacked bytes are counted. XML entities are not expanded, no
DTD is read, and libxml2 refuses anything nested deeper than 256.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from io import BytesIO
from typing import Any
from urllib.parse import unquote

from chameleon.documents.pages import page_parts
from chameleon.documents.parts import DocumentPart
from chameleon.errors import InputError
from chameleon.web.markup import require_lxml

MAX_UNPACKED = 100_000_000
# Deleted or moved text, the older copy of a drawing, comments, tables of contents, numbers of notes.
_UNREAD = re.compile("del|moveFrom|Fallback|annotation|tracked-changes|table-of-content|note-citation")
_BREAKS = {"br": "<br>", "cr": "<br>", "line-break": "<br>", "tab": " ", "s": " ", "noBreakHyphen": "-"}
_DEFERRED_TAGS = {"txbxContent", "text-box", "note-body", "footnoteReference", "endnoteReference"}
"""Elements inside a paragraph that are read after it."""
_SPAN_NAMES = ("columns-spanned", "columns-repeated", "rows-spanned")
_SLIDE_FILES = re.compile("/diagrams/data|/notesSlides/")
_FURNITURE_ROLES, _TITLE_ROLES = ("sldNum", "dt", "ftr", "sldImg"), ("title", "ctrTitle")
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


def word_parts(data: bytes, name: str) -> Iterator[DocumentPart]:
    """Yield the parts of a .docx: headings by style, number or bold letters, lists, tables, notes."""
    archive = _Archive(data, name)
    main = next((each for each in sorted(archive.names) if re.fullmatch(r"word/document\d*\.xml", each)), "")
    return _parts_of([_Writer(archive).inside(archive.xml(main))])


def slide_parts(data: bytes, name: str) -> Iterator[DocumentPart]:
    """Yield the parts of a .pptx: each slide is a page, headed by its title, its notes last."""
    archive = _Archive(data, name)
    writer, show, pages = _Writer(archive), "ppt/presentation.xml", list[str]()
    related = archive.related(show)
    slides = [related.get(_attr(each, "id"), "") for each in archive.xml(show).iter("{*}sldId")]
    for slide in dict.fromkeys(slides):
        files = [slide, *filter(_SLIDE_FILES.search, archive.related(slide).values())]
        trees = [archive.xml(file).iter("{*}sp", "{*}graphicFrame", "{*}dataModel") for file in files]
        shapes = [shape for each in trees for shape in each if _role(shape) not in _FURNITURE_ROLES]
        pages.append(writer.slide(shapes))
    return _parts_of(pages)


def open_document_parts(data: bytes, name: str) -> Iterator[DocumentPart]:
    """Yield the parts of an .odt, or of an .odp, whose slides are pages."""
    archive = _Archive(data, name)
    return _parts_of([_Writer(archive).inside(archive.xml("content.xml"))])


def book_parts(data: bytes, name: str) -> Iterator[DocumentPart]:
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


def _parts_of(pages: Iterable[str]) -> Iterator[DocumentPart]:
    return page_parts(f"<html><body>{''.join(pages)}".encode("utf-8", "replace"), "")


class _Archive:
    """The files of an archive by name, with a limit on their total unpacked size."""

    def __init__(self, data: bytes, name: str) -> None:
        require_lxml()
        self.name, self.left = name, MAX_UNPACKED
        self.broken = InputError("is broken or cut short", where=name, hint="Save it again from its source.")
        try:
            self.file = zipfile.ZipFile(BytesIO(data))
        except Exception:
            raise self.broken from None
        self.names = set(self.file.namelist())

    def read(self, file: str) -> bytes:
        """Return the bytes of a file, or no bytes if it does not exist. Raises `InputError`."""
        if file not in self.names:
            return b""
        try:
            with self.file.open(file) as opened:
                data = opened.read(self.left + 1)  # one byte more, to notice an excess
        except RuntimeError:
            hint = "Save a copy without a password."
            raise InputError("is encrypted", where=self.name, hint=hint) from None
        except Exception:  # zlib, bz2 and lzma have their own errors
            raise self.broken from None
        self.left -= len(data)
        if self.left < 0:
            what = f"unpacks to more than the limit of {MAX_UNPACKED:,} bytes"
            raise InputError(what, where=self.name, hint="Save it without pictures and embedded files.")
        return data

    def xml(self, file: str) -> Any:
        """Return the root element of a file, or an empty one if it does not exist. Raises `InputError`."""
        from lxml import etree

        data = self.read(file)
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
        )
        try:
            return etree.fromstring(data, parser) if data else etree.Element("none")
        except etree.XMLSyntaxError:
            raise self.broken from None

    def related(self, file: str) -> dict[str, str]:
        """Return the files of the archive that a file refers to, by the ids of its references."""
        folder, base = posixpath.split(file)
        targets = dict[str, str]()
        for link in self.xml(f"{folder}/_rels/{base}.rels"):
            path = posixpath.join("/", folder, _attr(link, "Target"))
            targets[_attr(link, "Id")] = posixpath.normpath(path)[1:]
        return targets


class _Writer:
    """Writes the elements of an office document as HTML for the page reader."""

    def __init__(self, archive: _Archive) -> None:
        numbering, styles = archive.xml("word/numbering.xml"), archive.xml("word/styles.xml")
        kinds = {_attr(each, "abstractNumId"): each for each in numbering.findall("{*}abstractNum")}
        self._lists = {_attr(each, "numId"): kinds.get(_value(each, "abstractNumId")) for each in numbering}
        self._styles = {_attr(each, "styleId"): each for each in styles.findall("{*}style")}
        notes = (each for part in ("footnotes", "endnotes") for each in archive.xml(f"word/{part}.xml"))
        self._notes = {f"{_tag(each)}Reference{_attr(each, 'id')}": each for each in notes}
        self._counts: dict[Any, list[int]] = {}  # for each list, the last number at each level
        self._titles = {"Title"}
        self._later: list[Any] = []
        self._in_paragraph = False
        self._page = 0
        self._writers = {
            "p": self._paragraph,
            "h": self._paragraph,
            "r": self._run,
            "tbl": self._table,
            "table": lambda each: f"<table>{self.inside(each)}</table>",
            "table-row": lambda each: f"<tr>{self.inside(each)}</tr>",
            "table-cell": self._cell,
            "page": self.slide,
        }

    def inside(self, element: Any) -> str:
        """Return the contents of an element; text is in those named "t", in OpenDocument in all of them."""
        is_text = self._in_paragraph and ("opendocument" in str(element.tag) or _tag(element) == "t")
        pieces = [escape(element.text or "")] if is_text else []
        for child in element:
            pieces.append(self._element(child))
            if is_text:
                pieces.append(escape(child.tail or ""))
        return "".join(pieces)

    def slide(self, shapes: Iterable[Any]) -> str:
        """Return a page, its title first; an untitled one gets a title, to keep it out of the page before."""
        self._page += 1
        pieces = sorted(map(self._element, shapes), key=lambda piece: not piece.startswith("<h1>"))
        title = "" if pieces and pieces[0].startswith("<h1>") else f"<h1>Slide {self._page}</h1>"
        return f"<section data-page={self._page}>{title}{''.join(pieces)}</section>"

    def _element(self, element: Any) -> str:
        tag = _tag(element)
        if _UNREAD.fullmatch(tag):
            return ""
        if self._in_paragraph and tag in _DEFERRED_TAGS:
            self._later.append(self._notes.pop(f"{tag}{_attr(element, 'id')}", element))
            return ""
        if tag in _BREAKS:
            return _BREAKS[tag]
        if tag in self._writers:
            return self._writers[tag](element)
        if tag == "style" and _attr(element, "parent-style-name") in self._titles:
            self._titles.add(_attr(element, "name"))
        return self.inside(element)

    def _run(self, run: Any) -> str:
        bold = _find(run, "rPr", "b")
        is_bold = bold is not None and _attr(bold, "val") not in ("0", "false")
        return f"<b>{self.inside(run)}</b>" if is_bold else self.inside(run)

    def _paragraph(self, element: Any) -> str:
        """Return a paragraph, followed by the notes and text boxes inside it."""
        holders = [element, *self._styles_of(_value(element, "pPr", "pStyle"))]
        number, level = self._number(holders), self._level(holders)
        is_item = self._page > 0 or next(element.iterancestors("{*}list-item"), None) is not None
        is_item = is_item or (number != "" and "." not in number[:-1])
        tag = f"h{min(level, 6)}" if level else "li" if is_item else "p"
        is_outermost, self._in_paragraph = not self._in_paragraph, True
        markup = f"<{tag}>{escape(f'{number} ' if number else '')}{self.inside(element)}</{tag}>"
        if is_outermost:
            self._in_paragraph, later, self._later = False, self._later, []
            markup += "".join(map(self.inside, later))
        return markup

    def _styles_of(self, style: str) -> Iterator[Any]:
        """Yield a style and the styles it is based on."""
        for _ in range(20):  # a damaged file may base a style on itself
            if style not in self._styles:
                return
            yield self._styles[style]
            style = _value(self._styles[style], "basedOn")

    def _level(self, holders: Sequence[Any]) -> int:
        """Return the level of a heading: 1 for a title, 0 for a paragraph."""
        element, *styles = holders
        if _tag(element) == "h":
            return _count(_attr(element, "outline-level"), 1) + 1
        shape = next(element.iterancestors("{*}sp", "{*}frame"), None)
        if shape is not None and (_attr(shape, "class") or _role(shape)) in _TITLE_ROLES:
            return 1
        if _attr(element, "style-name") in self._titles:
            return 1
        if any(_value(style, "name").lower() == "title" for style in styles):
            return 1
        levels = (_value(each, "pPr", "outlineLvl") for each in holders)
        level = _count(next(filter(None, levels), ""), 9)
        return level + 2 if level < 9 else 0  # Word counts from 0, and 9 is body text; a title is 1

    def _number(self, holders: Sequence[Any]) -> str:
        """Return the number or bullet ("-") that Word shows before a paragraph, by counting."""
        mark = next((mark for each in holders if (mark := _find(each, "pPr", "numPr")) is not None), None)
        definition = None if mark is None else self._lists.get(_value(mark, "numId"))
        levels = [] if definition is None else definition.findall("{*}lvl")
        at = _count(_value(mark, "ilvl"), 0) if levels else 0
        if at >= len(levels):
            return ""
        counts = self._counts.setdefault(definition, [])
        if at < len(counts):
            counts[at:] = [counts[at] + 1]
        else:
            counts += [_count(_value(level, "start"), 1) for level in levels[len(counts) : at + 1]]
        if _value(levels[at], "numFmt") == "bullet":
            return "-"
        label = _value(levels[at], "lvlText")
        for place, number in enumerate(counts):
            label = label.replace(f"%{place + 1}", _numeral(number, _value(levels[place], "numFmt")))
        return label.strip()

    def _cell(self, cell: Any) -> str:
        """Write a cell of OpenDocument."""
        columns, times, rows = (_count(_attr(cell, f"number-{name}"), 1) for name in _SPAN_NAMES)
        tag = "th" if next(cell.iterancestors("{*}table-header-rows"), None) is not None else "td"
        return _html_cell(tag, max(columns, times), rows, self.inside(cell))

    def _table(self, table: Any) -> str:
        """Write a table of Word or PowerPoint."""
        first = _find(table, "tblPr")
        is_head = first is not None and first.get("firstRow") == "1"
        rows, above = list[list[list[Any]]](), dict[int, list[Any]]()
        for row in _children(table, "tr"):
            tag = "th" if is_head or _find(row, "trPr", "tblHeader") is not None else "td"
            is_head, at = False, 0
            rows.append([])
            for cell in _children(row, "tc"):
                width = _count(cell.get("gridSpan") or _value(cell, "tcPr", "gridSpan"), 1)
                if at in above and _is_merged(cell):
                    above[at][2] += 1
                elif cell.get("hMerge") is None:
                    above[at] = [tag, width, 1, self.inside(cell)]
                    rows[-1].append(above[at])
                at += width if cell.get("hMerge") is None else 0
        lines = ("".join(_html_cell(*cell) for cell in row) for row in rows)
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in lines)}</table>"


def _html_cell(tag: str, columns: int, rows: int, inside: str) -> str:
    return f"<{tag} colspan={columns} rowspan={rows}>{inside}</{tag}>"


def _children(element: Any, name: str) -> Iterator[Any]:
    """Yield the rows of a table, or the cells of a row, including those in form fields."""
    for child in element:
        if _tag(child) == name:
            yield child
        elif not _UNREAD.fullmatch(_tag(child)):
            yield from _children(child, name)


def _is_merged(cell: Any) -> bool:
    """Return whether a cell is merged with the one above."""
    merged = _find(cell, "tcPr", "vMerge")
    return cell.get("vMerge") is not None or (merged is not None and _attr(merged, "val") in ("", "continue"))


def _numeral(number: int, kind: str) -> str:
    numeral = str(number)
    if kind.endswith("Letter"):
        numeral = chr(97 + (number - 1) % 26) * min((number - 1) // 26 + 1, 9)
    elif kind.endswith("Roman") and number < 400:
        numeral = ""
        for value, letters in _ROMAN:
            numeral += letters * (number // value)
            number %= value
    return numeral.upper() if kind.startswith("upper") else numeral


def _role(shape: Any) -> str:
    """Return the role of a shape on a slide: "title", "body", "sldNum"; or "" if unknown."""
    holder = _find(shape, "nvSpPr", "nvPr", "ph")
    return "" if holder is None else holder.get("type", "body")


def _count(text: str, default: int) -> int:
    return min(int(text[:6]), 1_000) if text[:6].isdecimal() else default


def _tag(element: Any) -> str:
    """Return the name of an element without its namespace, or "" for an entity."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _attr(element: Any, name: str) -> str:
    """Return an attribute by its name without the namespace; the last if there are several."""
    return next((value for key, value in reversed(element.items()) if key.rpartition("}")[2] == name), "")


def _find(element: Any, *path: str) -> Any:
    """Find the first element below another by a path of names."""
    return element.find("/".join(f"{{*}}{name}" for name in path))


def _value(element: Any, *path: str) -> str:
    """Return the value of the element at a path below another, or ""."""
    child = _find(element, *path)
    return "" if child is None else _attr(child, "val")

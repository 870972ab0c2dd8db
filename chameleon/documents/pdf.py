"""PDF files: headings, paragraphs and tables in reading order, by PDFium; scanned pages by an OCR engine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from chameleon.documents.parts import DocumentPart, unread_page
from chameleon.documents.pdf_headings import mark_headings
from chameleon.documents.pdf_lines import CAPTION, LARGER, SOFT, Line, flows, lines_of, text_of, without_heads
from chameleon.documents.pdf_rules import grids_of
from chameleon.documents.pdf_tables import join_tables, with_ruled_tables, with_tables
from chameleon.documents.scans import SIDE, read_pages
from chameleon.errors import InputError, MissingPackage, require
from chameleon.sandbox.bounded import going_on

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PAGES = 2_000
_HEAD_BYTES = 1024  # bytes
_PASSWORD_ERROR = 4  # PDFium's error
_SHORT_SHARE = 0.7  # of the usual width: the author ended a line this short
_USUAL_SHARE = 0.8  # the share of lines that are no wider than the usual width
_NUMBERED_LINE = re.compile(r"(?:[^\W\d_]+ )?\d{1,3}(?:\.\d{1,3})*[.)]?\s")
_ITEM_START = re.compile(r"[•▪◦–—]\s|\(?(?:\d{1,2}|[a-z])[.)]\s|\[\d+\]")


def pdf_parts(data: bytes, name: str) -> Iterator[DocumentPart]:
    """Yield the parts of a PDF.

    Pages that are pictures are read by an OCR engine, for at most 2 minutes in all; a line marks each page
    that was not read.

    Raises:
        MissingPackage: without pypdfium2, or if all pages are pictures and no engine is installed.
        InputError: for a PDF that is broken, locked by a password, without text, or longer than 2,000 pages.
    """
    require("pypdfium2", "PDF files are read with", "papers", imports=True)
    with _open_pdf(data, name) as pdf:
        pages, pictures = list[list[Line]](), list[int]()
        for number in range(len(pdf)):
            try:
                page = pdf[number]
            except RuntimeError:  # from PDFium: one of its pages is broken
                pages.append([])
                continue
            lines = lines_of(page.get_textpage(), f"{name}, page {number + 1}")
            above = next((line.edges for line in reversed(pages[-1]) if line.table), ()) if pages else ()
            pages.append(with_ruled_tables(lines, grids_of(page), above))
            if not pages[-1] and any(page.get_objects(max_depth=1)):
                pictures.append(number)
            page.close()
            going_on()
        scans = _read_pictures(pdf, pictures, name, any(pages)) if pictures else {}
        if not any(pages) and not any(scan.content for scan in scans.values()):
            raise InputError("the PDF has no text", where=name, hint="It has nothing to read.")
        pages = without_heads(pages)
        mark_headings(pdf, pages)
    paragraphs = _Paragraphs([line for page in pages for line in page])
    pages = [[line for flow in flows(lines) for line in with_tables(flow)] for lines in pages]
    join_tables(pages)
    for number, lines in enumerate(pages):
        if number in scans:
            yield scans[number]
        for flow in flows(lines):
            for heading, group in groupby(flow, key=lambda line: line.heading):
                below = list(group)
                headed = heading and DocumentPart(text_of(below), level=heading[0], page=number + 1)
                yield from [headed] if headed else paragraphs.parts(below, number + 1)


def _open_pdf(data: bytes, name: str) -> Any:
    import pypdfium2

    if not data.strip():
        hint = "It may not have been saved or downloaded in full."
        raise InputError("the PDF is empty", where=name, hint=hint)
    if b"%PDF-" not in data[:_HEAD_BYTES]:
        hint = "Save it as PDF again, or give it the right suffix."
        raise InputError("is not a PDF, despite its name", where=name, hint=hint)
    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as problem:
        if problem.err_code == _PASSWORD_ERROR:
            hint = "Save a copy without a password."
            raise InputError("the PDF is encrypted", where=name, hint=hint) from None
        pdf = ()
    if not pdf:
        raise InputError("the PDF is broken or cut short", where=name, hint="Save it again from its source.")
    if len(pdf) > MAX_PAGES:
        raise InputError(f"the PDF has more than {MAX_PAGES:,} pages", where=name, hint="Give part of it.")
    return pdf


def _read_pictures(pdf: Any, numbers: Sequence[int], name: str, has_text: bool) -> dict[int, DocumentPart]:
    """Read the pages that are pictures; for unread ones, return what to do."""

    def rendered(number: int) -> Image:
        page = pdf[number]
        scale = min(4.0, SIDE / max(page.get_width(), page.get_height(), 1))  # 1 is 72 dots per inch
        image: Image = page.render(scale=scale).to_pil().convert("RGB")
        return image

    try:
        return read_pages(numbers, rendered, name)
    except MissingPackage:
        if not has_text:
            raise
        return {number: unread_page(number + 1, "no engine for it is installed") for number in numbers}


class _Paragraphs:
    """Joins lines into paragraphs, judging by the words and the widths of all lines."""

    def __init__(self, lines: Sequence[Line]) -> None:
        widths = sorted(line.x1 - line.x0 for line in lines)
        self._usual = widths[int(_USUAL_SHARE * len(widths))] if widths else 0.0
        self._known = {word.text.strip(".,;:()").lower() for line in lines for word in line.words[1:-1]}

    def parts(self, lines: Sequence[Line], page: int) -> Iterator[DocumentPart]:
        """Yield the paragraphs and tables of a column, below one heading."""
        paragraph = list[Line]()
        for line in [*lines, None]:
            if paragraph and not (line and _goes_on(paragraph[-1], line)):
                yield DocumentPart(self._join(paragraph), page=page)
                paragraph = []
            if line and line.table:
                yield DocumentPart(line.table, page=page)
            elif line:
                paragraph.append(line)

    def _join(self, lines: Sequence[Line]) -> str:
        """Join the lines as one text. A line stays separate if its author ended it or if it begins with a
        number; words split at the end of a line are joined."""
        text = lines[0].text
        for above, line in pairwise(lines):
            if text.endswith(SOFT):
                text = text[:-1] + ("" if self._is_one(text[:-1], line.text) else "-")
            elif not above.is_level_with(line):
                is_short = above.x1 - above.x0 < _SHORT_SHARE * self._usual
                text += "\n" if is_short or _NUMBERED_LINE.match(line.text) else " "
            else:
                text += " "
            text += line.text
        return text.replace(SOFT, "-")

    def _is_one(self, above: str, below: str) -> bool:
        """Return whether two halves are one word: not if both, and never the whole, occur elsewhere."""
        first = re.split(r"\W", above[-50:])[-1].lower()
        second = re.split(r"\W", below, maxsplit=1)[0].lower()
        if not (first.isalpha() and second.isalpha()):
            return False
        parted = {first, second} <= self._known or f"{first}-{second}" in self._known
        return f"{first}{second}" in self._known or not parted


def _goes_on(line: Line, below: Line) -> bool:
    """Return whether a line continues the paragraph of the one before it."""
    if line.is_level_with(below):
        return not below.table
    if _ITEM_START.match(below.text) or CAPTION.match(below.text):
        return False
    return max(line.size, below.size) < LARGER * min(line.size, below.size) and line.goes_on(below)

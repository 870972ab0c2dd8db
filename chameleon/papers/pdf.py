"""The outline of a PDF: lines by their place and size, tables by their ruled lines (pdfplumber)."""

from __future__ import annotations

import importlib.util
import io
import logging
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from chameleon.errors import InputError, MissingPackage
from chameleon.papers.outline import Outline, heading_level
from chameleon.table import Table
from chameleon.web.text import visible

MAX_PAGES = 2_000
_LARGER = 1.15
"""A line whose letters are so many times as large as those of most lines is a heading."""
_LONGEST_HEADING = 120
_GAP = 1.6  # lines further apart than so many times their height do not belong to one paragraph
_SHORT = 0.6  # of the letters of the longest line
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class _Line:
    text: str
    page: int
    top: float
    bottom: float
    size: float


_Item = _Line | tuple[Table, int]


def pdf_outline(data: bytes, name: str) -> Outline:
    """The outline of a PDF. Raises `MissingPackage`, and `InputError` for one that is broken, locked by a
    password, without text (scanned), or of more than 2,000 pages."""
    if importlib.util.find_spec("pdfplumber") is None:
        raise MissingPackage(
            "PDF files are read with the package pdfplumber, which is not installed",
            hint='pip install "chameleon-compose[papers]"',
        )
    items = _items(data, name)
    if not items:
        raise InputError(
            "the PDF holds no text: its pages may be scanned pictures",
            where=name,
            hint="Run a text recognition over it (such as ocrmypdf), or give a page with --image.",
        )
    return _outline(items)


def _items(data: bytes, name: str) -> list[_Item]:
    import pdfplumber
    from pdfminer.pdfdocument import PDFEncryptionError, PDFPasswordIncorrect

    logging.getLogger("pdfminer").addHandler(logging.NullHandler())  # else each oddity is a line on stderr
    try:
        with pdfplumber.open(io.BytesIO(data)) as pdf:
            if len(pdf.pages) > MAX_PAGES:
                raise InputError(
                    f"the PDF has more than {MAX_PAGES:,} pages", where=name, hint="Give a part of it."
                )
            pages = []
            for page in pdf.pages:
                pages.append(_page(page))
                page.close()
    except InputError:
        raise
    except RecursionError as problem:
        raise InputError("the PDF is broken: its parts hold each other", where=name) from problem
    except Exception as problem:  # a damaged file raises whatever the parser stumbled over
        causes = (problem, problem.__cause__, problem.__context__, *problem.args)
        if any(isinstance(cause, PDFPasswordIncorrect | PDFEncryptionError) for cause in causes):
            raise InputError(
                "the PDF is encrypted", where=name, hint="Save a copy without a password."
            ) from problem
        raise InputError(
            f"the PDF is broken ({type(problem).__name__})", where=name, hint="Save it anew from its source."
        ) from problem
    if not pages:
        raise InputError(
            "the PDF is broken: it has no pages", where=name, hint="Save it anew from its source."
        )
    return [item for page in _without_running(pages) for item in page]


def _page(page: Any) -> list[_Item]:
    """The lines and tables of a page from top to bottom; what stands in a table is in no line."""
    number = int(page.page_number)
    placed: list[tuple[float, _Item]] = []
    rest = page
    for found in page.find_tables():
        if (table := _table(found.extract())) is None:
            continue
        placed.append((found.bbox[1], (table, number)))
        rest = rest.outside_bbox(found.bbox, strict=False)
    for line in rest.extract_text_lines(return_chars=True):
        if text := visible(line["text"]).strip():
            sizes = Counter(round(char["size"], 1) for char in line["chars"])
            size = sizes.most_common(1)[0][0]
            placed.append((line["top"], _Line(text, number, line["top"], line["bottom"], size)))
    return [item for _, item in sorted(placed, key=lambda each: each[0])]


def _table(cells: list[list[str | None]]) -> Table | None:
    rows = [[" ".join(visible(cell or "").split()) for cell in row] for row in cells]
    rows = [row for row in rows if any(row)]
    if len(rows) < 2:
        return None
    kept = [place for place in range(len(rows[0])) if any(row[place] for row in rows)]
    if len(kept) < 2:
        return None
    header, *body = [[row[place] for place in kept] for row in rows]
    return Table(header, body)


def _without_running(pages: list[list[_Item]]) -> list[list[_Item]]:
    """The pages without the heads and feet that stand on most of them, whatever numbers they show."""
    ends = Counter(form for page in pages for form in {*_ends(page).values()})
    running = {form for form, often in ends.items() if often >= 3 and 2 * often > len(pages)}
    return [
        [item for place, item in enumerate(page) if _ends(page).get(place) not in running] for page in pages
    ]


def _ends(page: list[_Item]) -> dict[int, str]:
    """The first and the last line of a page by their place, with their numbers left out."""
    places = {0, len(page) - 1} if page else set()
    lines = {place: item for place in places if isinstance(item := page[place], _Line)}
    return {place: _DIGITS.sub("#", line.text) for place, line in lines.items()}


def _outline(items: list[_Item]) -> Outline:
    """Lines that go on make paragraphs; larger lines, and numbered ones that do not go on, are headings."""
    outline, held = Outline(), list[_Line]()
    lines = [item for item in items if isinstance(item, _Line)]
    sizes = Counter[float]()
    for line in lines:
        sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    larger = sorted((size for size in sizes if size >= _LARGER * body), reverse=True)
    full = max((len(line.text) for line in lines if line.size == body), default=0)

    def flush() -> None:
        if held:
            outline.paragraph(_joined(held, full), held[0].page)
        held.clear()

    for item, following in zip(items, [*items[1:], None], strict=True):
        if not isinstance(item, _Line):
            flush()
            outline.table(*item)
            continue
        is_larger = item.size >= _LARGER * body and len(item.text) <= _LONGEST_HEADING
        numbered = heading_level(item.text)
        if numbered is not None and not is_larger and _is_wrapped(item, following, full):
            numbered = None
        if numbered is not None or is_larger:
            flush()
            outline.heading(numbered if numbered is not None else 1 + larger.index(item.size), item.text)
            continue
        if held and not _goes_on(held[-1], item):
            flush()
        held.append(item)
    flush()
    return outline


def _joined(lines: list[_Line], full: int) -> str:
    """The text of a paragraph; a line that is much shorter than a full one ends where its author ended it."""
    text = lines[0].text
    for above, line in pairwise(lines):
        text += ("\n" if len(above.text) < _SHORT * full else " ") + line.text
    return text


def _is_wrapped(line: _Line, following: _Item | None, full: int) -> bool:
    """Whether the next line is the rest of this one."""
    if not isinstance(following, _Line) or not _goes_on(line, following):
        return False
    return following.text[:1].islower() or len(line.text) >= _SHORT * full


def _goes_on(above: _Line, line: _Line) -> bool:
    if line.page != above.page:
        return above.text[-1:] not in ".:;!?" and line.text[:1].islower()
    is_numbered = re.match(r"\d+\.\d+[\s.)]|\([a-z\d]{1,3}\)\s", line.text) is not None
    return not is_numbered and line.top - above.top <= _GAP * (above.bottom - above.top)

"""Papers as passages: pieces of some hundred words, each with its file, its headings and its page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chameleon.documents.file_types import MARKDOWN, PAGES, PDF, Kind, kind_of, require_pdf
from chameleon.documents.markdown import text_outline
from chameleon.documents.outline import Outline, Section
from chameleon.documents.pdf import pdf_outline
from chameleon.documents.web_pages import page_outline
from chameleon.errors import InputError
from chameleon.table import Table, to_text

__all__ = [
    "LONG",
    "MARKDOWN",
    "MAX_BYTES",
    "MAX_TEXT",
    "PAGES",
    "PDF",
    "Kind",
    "is_text_paper",
    "kind_of",
    "read_paper",
    "text_passages",
]

MAX_BYTES, MAX_TEXT = 50_000_000, 5_000_000
LONG = 20_000
"""A text of more characters than this is read as a paper."""

_PASSAGE = 1_200  # characters, some 200 words: enough for a clause, few enough for several in a prompt
_LEAST_STRUCTURE = 2  # headings or numbered clauses: a text with so many is read as a paper
_LONGEST_CAPTION = 200  # characters of it in a title; the rest is in the text
_END = re.compile(r"(?<=[.!?;])\s+|\n")


def read_paper(data: bytes, name: str) -> list[dict[str, Any]]:
    """The passages of a PDF or a page, by its first bytes, else by its name.

    Raises `InputError`, also for formats that are not read, and `MissingPackage`.
    """
    if kind_of(data, name) == "pdf":
        require_pdf(data, name)
        return _bounded(pdf_outline(data, name), name)
    return _bounded(page_outline(data, name), name)


def text_passages(text: str, name: str) -> list[dict[str, Any]]:
    """The passages of a Markdown or plain text. Raises `InputError`."""
    return _bounded(text_outline(text), name)


def is_text_paper(text: str) -> bool:
    """Whether a text is read as a paper: a long one, or one with two headings or numbered clauses."""
    return len(text) > LONG or text_outline(text).structure >= _LEAST_STRUCTURE


def _bounded(outline: Outline, name: str) -> list[dict[str, Any]]:
    found, size = list[dict[str, Any]](), 0
    for section in outline.filled():
        for passage in _passages(section):
            size += len(passage["text"])
            if size > MAX_TEXT:
                raise InputError(
                    f"the paper has more than the limit of {MAX_TEXT:,} characters",
                    where=name,
                    hint="Give the part that the question is about.",
                )
            found.append({**passage, "file": Path(name).name})
    if not found:
        raise InputError("the paper holds no text", where=name, hint="There is nothing in it to answer from.")
    return found


def _passages(section: Section) -> Iterator[dict[str, Any]]:
    """A section's paragraphs, several short ones together, and each table by itself."""
    held, page = list[str](), None
    for part, at in section.parts:
        if held and (isinstance(part, Table) or sum(map(len, held)) + len(part) > _PASSAGE or at != page):
            yield _passage(section, "\n\n".join(held), page)
            held = []
        if isinstance(part, Table):
            yield from _of_table(section, part, at)
            continue
        *whole, last = _cut(part)
        for piece in whole:
            yield _passage(section, piece, at)
        held.append(last)
        page = at
    if held:
        yield _passage(section, "\n\n".join(held), page)


def _passage(section: Section, text: str, page: int | None, caption: str = "") -> dict[str, Any]:
    title = " > ".join([*section.headings, *([caption] if caption else [])])
    told: dict[str, Any] = {"title": title, "text": text}
    return told | ({"page": page} if page is not None else {})


def _of_table(section: Section, table: Table, page: int | None) -> Iterator[dict[str, Any]]:
    """A table as passages, which hold it as a table too; one of many rows is cut between them."""
    begin, size = 0, 0
    for number, row in enumerate(table.rows):
        length = sum(map(len, row)) + 3 * len(row)
        if number > begin and size + length > _PASSAGE:
            yield _rows(section, table, range(begin, number), page)
            begin, size = number, 0
        size += length
    yield _rows(section, table, range(begin, len(table.rows)), page)


def _rows(section: Section, table: Table, rows: range, page: int | None) -> dict[str, Any]:
    """Some rows; the caption, which may give the unit of all figures, is the last heading above them."""
    part, caption = table.take_rows(rows), " ".join(table.caption.split())
    text = to_text(part, style="pipe")
    if len(caption) > _LONGEST_CAPTION:
        text = f"{caption}\n{text}" if not rows.start else text
        caption = f"{caption[:_LONGEST_CAPTION].rpartition(' ')[0] or caption[:_LONGEST_CAPTION]} …"
    if section.headings[-1:] == (caption,):
        caption = ""
    return _passage(section, text, page, caption) | {"table": part, "rows": [row + 1 for row in rows]}


def _cut(text: str) -> list[str]:
    """A text in pieces of at most the size of a passage: between sentences, else between words."""
    if len(text) <= _PASSAGE:
        return [text]
    pieces, held = list[str](), ""
    for sentence in _END.split(text):
        part = sentence.strip()
        if held and len(held) + len(part) > _PASSAGE:
            pieces.append(held)
            held = ""
        while len(part) > _PASSAGE:
            at = part.rfind(" ", _PASSAGE // 2, _PASSAGE)
            at = at if at > 0 else _PASSAGE
            pieces.append(part[:at])
            part = part[at:].strip()
        held = f"{held} {part}" if held else part
    return [*pieces, held]

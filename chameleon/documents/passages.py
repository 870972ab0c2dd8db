"""Passages of a document: pieces of about two hundred words, each with its headings and its page."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from chameleon.documents.outline import Section, sections_of, shortened
from chameleon.documents.parts import DocumentPart
from chameleon.errors import InputError
from chameleon.table import Table, to_text

MAX_TEXT = 5_000_000
LENGTH = 1_200  # characters, about 200 words: enough for a clause, few enough for several in a prompt
SEPARATOR = " > "  # between the headings of a title
_MAX_CAPTION_CHARS = 200  # characters of it in a title; the rest is in the text
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")

Passage = dict[str, Any]
"""`title` (the headings, "A > B"), `text`, and if they apply `page`, `file`, `table` and its `rows`.

`is_unread` is set in a passage that says why a page was not read.
"""


def passage_to_json(passage: Passage) -> dict[str, Any]:
    """Return a passage as JSON."""
    return passage | ({"table": passage["table"].to_json()} if "table" in passage else {})


def passage_from_json(data: dict[str, Any]) -> Passage:
    """Read what `passage_to_json` wrote. Raises KeyError, TypeError or `InputError` for anything else."""
    passage = {**data, "title": str(data["title"]), "text": str(data["text"])}
    return passage | ({"table": Table.from_json(data["table"])} if "table" in data else {})


def passages_of(parts: Iterable[DocumentPart], name: str) -> list[Passage]:
    """Cut a document into passages without losing a word. Raises `InputError` for too much text."""
    passages, size = list[Passage](), 0
    for part in (items := list(parts)):
        cells = (part.content,) if isinstance(part.content, str) else chain.from_iterable(part.content.rows)
        size += sum(map(len, cells))
        if size > MAX_TEXT:
            what = f"the document has more than the limit of {MAX_TEXT:,} characters"
            raise InputError(what, where=name, hint="Give the part that the question is about.")
    for section in sections_of(items):
        passages += _passages(section)
    return passages


def _passages(section: Section) -> Iterator[Passage]:
    """Yield a section's paragraphs, joining short ones on the same page, and each table separately."""
    title, paragraphs, page, size = SEPARATOR.join(section.headings), list[str](), section.page, 0
    for part in [*section.parts, DocumentPart("")]:
        text = "" if isinstance(part.content, Table) or part.is_unread else part.content.strip()
        if paragraphs and (not text or size + len(text) > LENGTH or part.page != page):
            yield _passage(title, "\n\n".join(paragraphs), page)
            paragraphs, size = [], 0
        page = part.page
        if isinstance(part.content, Table):
            yield from _table_passages(section, part.content, page)
        elif part.is_unread:
            yield _passage(title, part.content, page) | {"is_unread": True}
        else:
            *pieces, last = _pieces(text)
            yield from (_passage(title, piece, page) for piece in pieces)
            paragraphs.append(last)
            size += len(last)


def _passage(title: str, text: str, page: int | None) -> Passage:
    return {"title": title, "text": text} | ({} if page is None else {"page": page})


def _table_passages(section: Section, table: Table, page: int | None) -> Iterator[Passage]:
    """Yield a table's rows, repeating its header if there are many; the caption is the last heading above."""
    caption = " ".join(table.caption.split())
    title = shortened(caption, _MAX_CAPTION_CHARS)
    names = [*section.headings, *([title] if title and section.headings[-1:] != (title,) else [])]
    begin, size = 0, 0
    for number, row in enumerate([*table.rows, ()]):
        length = sum(map(len, row)) + 3 * len(row)  # with " | " between cells
        is_last = number == len(table.rows)
        if is_last or (begin < number and size + length > LENGTH):
            rows = table.take_rows(range(begin, number))
            above = f"{caption}\n" if title != caption and not begin else ""
            text = above + to_text(rows, style="pipe")
            fields = {"table": rows, "rows": list(range(begin + 1, number + 1))}
            yield _passage(SEPARATOR.join(names), text, page) | fields
            begin, size = number, 0
        size += length


def _pieces(text: str) -> list[str]:
    """Cut a text into pieces no longer than a passage: between sentences, or else between words."""
    if len(text) <= LENGTH:
        return [text]
    pieces, piece = list[str](), ""
    for sentence in _SENTENCE_END.split(text):
        part = sentence.strip()
        if piece and len(piece) + len(part) > LENGTH:
            pieces.append(piece)
            piece = ""
        while len(part) > LENGTH:
            at = part.rfind(" ", LENGTH // 2, LENGTH)
            at = at if at > 0 else LENGTH
            pieces.append(part[:at])
            part = part[at:].strip()
        piece = f"{piece} {part}" if piece else part
    return [*pieces, piece]

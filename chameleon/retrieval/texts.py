"""A document as the texts that are embedded: each fits the model's window and says what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chameleon.retrieval.document import Document
from chameleon.retrieval.layout import caption_of

WINDOW = 240
"""Estimated word pieces of a text; all-MiniLM-L6-v2 reads 256, and leaves out what comes after."""

_EMBEDDED = 8  # texts of a document, beside the caption and the header
_PIECE = re.compile(r"[^\W\d_]{1,6}|\d{1,2}|[^\w\s]|_")
_GAP = re.compile(r"(?<=[.!?])\s+|\n+")


def texts(document: Document, most: int, window: int = WINDOW) -> list[str]:
    """Up to `most` texts: each begins with the caption and the header, which take half a window at most.

    Then come rows, cells with commas between them, or sentences of the document's text; whatever does not
    fit into one text goes into the next, and what does not fit into `most` is left out. A document of which
    nothing is known is one text: its name.
    """
    start = about(document, window)
    return list(_filled(start, _lines(document), most, window)) or [start or document.name]


def all_texts(document: Document) -> list[str]:
    """What is embedded of a document: what it is about, and its first texts."""
    return list(dict.fromkeys([about(document) or document.name, *texts(document, _EMBEDDED)]))


def word_pieces(text: str) -> int:
    """About as many as BERT's tokenizer makes: one for six letters, two digits, or a sign."""
    return sum(1 for _ in _PIECE.finditer(text))


def about(document: Document, window: int = WINDOW) -> str:
    """The caption and the header, cut to half a window; "" for a document without."""
    header = document.table.header if document.table else ()
    said = [*caption_of(document).split("\n"), ", ".join(name for name in header if name.strip())]
    return _cut(". ".join(piece.strip() for piece in said if piece.strip()), window // 2)


def _filled(start: str, lines: Iterable[str], most: int, window: int) -> Iterator[str]:
    room = left = window - word_pieces(start)
    kept: list[str] = []
    count = 0
    for line in lines:
        fitting = _cut(line, room)
        size = word_pieces(fitting) + 1
        if kept and size > left:
            yield _joined(start, kept)
            count, kept, left = count + 1, [], room
            if count == most:
                return
        kept.append(fitting)
        left -= size
    if kept:
        yield _joined(start, kept)


def _joined(start: str, lines: list[str]) -> str:
    return ". ".join([start, *lines] if start else lines)


def _lines(document: Document) -> Iterator[str]:
    """The text, sentence by sentence, then the rows; what is empty is left out."""
    yield from filter(None, map(str.strip, _GAP.split(document.text)))
    for row in document.table.whole.rows if document.table else ():
        if line := ", ".join(cell.strip() for cell in row if cell.strip()):
            yield line


def _cut(text: str, most: int) -> str:
    """The beginning of a text with at most so many word pieces."""
    for number, piece in enumerate(_PIECE.finditer(text)):
        if number == most:
            return text[: piece.start()].rstrip()
    return text

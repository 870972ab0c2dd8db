"""Split a document into texts to embed: each fits the model's window and says what it is about."""

import re
from collections.abc import Iterable, Iterator

from chameleon.retrieval.document import Document
from chameleon.retrieval.layout import caption_of

WINDOW = 240
"""Estimated word pieces of a text; all-MiniLM-L6-v2 reads 256, and ignores the rest."""

_MAX_TEXTS = 8  # texts of a document, besides the caption and the header
_PIECE = re.compile(r"[^\W\d_]{1,6}|\d{1,2}|[^\w\s]|_")
_GAP = re.compile(r"(?<=[.!?])\s+|\n+")


def texts(document: Document, most: int, window: int = WINDOW) -> list[str]:
    """Return texts of a document, each beginning with the caption and the header, cut to half a window.

    Then come rows, cells with commas between them, or sentences of the document's text; anything that does
    not fit into one text goes into the next. A document without content is one text: its name.

    Args:
        most: how many texts; anything beyond them is left out.
        window: the word pieces of a text, as estimated by `word_pieces`.
    """
    start = about(document, window)
    return list(_filled(start, _lines(document), most, window)) or [start or document.name]


def all_texts(document: Document) -> list[str]:
    """Return the texts of a document to embed: its caption and header, and its first texts."""
    return list(dict.fromkeys([about(document) or document.name, *texts(document, _MAX_TEXTS)]))


def word_pieces(text: str) -> int:
    """Estimate the number of BERT's word pieces: one for six letters, two digits, or a sign."""
    return sum(1 for _ in _PIECE.finditer(text))


def about(document: Document, window: int = WINDOW) -> str:
    """Return the caption and the header, cut to half a window; "" for a document without them."""
    header = document.table.header if document.table else ()
    parts = [*caption_of(document).split("\n"), ", ".join(name for name in header if name.strip())]
    return _cut(". ".join(piece.strip() for piece in parts if piece.strip()), window // 2)


def _filled(start: str, lines: Iterable[str], limit: int, window: int) -> Iterator[str]:
    room = free = window - word_pieces(start)
    chunk: list[str] = []
    count = 0
    for line in lines:
        fitting = _cut(line, room)
        size = word_pieces(fitting) + 1
        if chunk and size > free:
            yield _joined(start, chunk)
            count, chunk, free = count + 1, [], room
            if count == limit:
                return
        chunk.append(fitting)
        free -= size
    if chunk:
        yield _joined(start, chunk)


def _joined(start: str, lines: list[str]) -> str:
    return ". ".join([start, *lines] if start else lines)


def _lines(document: Document) -> Iterator[str]:
    """Yield the text, sentence by sentence, then the rows, without empty parts."""
    yield from filter(None, map(str.strip, _GAP.split(document.text)))
    for row in document.table.whole.rows if document.table else ():
        if line := ", ".join(cell.strip() for cell in row if cell.strip()):
            yield line


def _cut(text: str, limit: int) -> str:
    """Return the beginning of a text with at most `limit` word pieces."""
    for number, piece in enumerate(_PIECE.finditer(text)):
        if number == limit:
            return text[: piece.start()].rstrip()
    return text

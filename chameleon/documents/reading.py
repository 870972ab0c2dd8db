"""Turn a file into passages: find its kind, choose its reader, and cache the result."""

import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args

from chameleon.documents.markdown import text_parts
from chameleon.documents.outline import sections_of
from chameleon.documents.parts import DocumentPart
from chameleon.documents.passages import Passage, passage_from_json, passage_to_json, passages_of
from chameleon.errors import InputError
from chameleon.table.records import NAMES, Origin, kind_of_bytes
from chameleon.table.text_files import decode

MAX_BYTES, MAX_TEXT_BYTES = 50_000_000, 1_000_000
LONG = 20_000
"""A text with more characters than this is cut into passages."""

Kind = Literal["pdf", "html", "docx", "pptx", "odt", "odp", "epub", "picture", "text"]
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp")
_DOCUMENTS = (f".{kind}" for kind in get_args(Kind) if kind != "picture")
SUFFIXES = frozenset((*_DOCUMENTS, ".htm", ".xhtml", ".md", ".markdown", ".txt", *PICTURES))
"""Suffixes of the files that are read; the first bytes decide the kind of a file if they can."""

_log = logging.getLogger("chameleon")
_CACHE_FOLDER, _MAX_CACHE_BYTES = "~/.cache/chameleon/documents", 200_000_000
READERS = 3
"""Increase this whenever a reader returns different tables or passages: files are then read again."""
_PAGE = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,1000}?-->\s*)*<(?:!doctype\s+html|html)\b", re.I | re.S
)
_ZIPPED: tuple[Kind, ...] = ("docx", "pptx", "odt", "odp", "epub")
_BY_SUFFIX: dict[str, Kind] = {".pdf": "pdf", **dict.fromkeys(PICTURES, "picture")}
_BY_SUFFIX |= {f".{kind}": kind for kind in _ZIPPED}
_PDF_HINT = "Save it as PDF, .docx or text, and give that."
_UNREAD_HINTS = {
    "rtf": _PDF_HINT,
    "ole": _PDF_HINT,
    "postscript": "Convert it to PDF, and give that.",
    "gzip": "Unpack it first.",
    "zip": "Unpack it, and give one file of it.",
}
"""What to do about kinds of files that are not read."""


def kind_of(data: bytes, name: str) -> Kind:
    """Return what kind a file is, by its first bytes, else its name. Raises `InputError` for other kinds."""
    kind, suffix = kind_of_bytes(data), Path(name).suffix.lower()
    by_name, is_zipped = _BY_SUFFIX.get(suffix, ""), data.startswith(b"PK\x03\x04")
    for candidate in _BY_SUFFIX.values():
        if candidate == kind or (candidate == by_name and (is_zipped or candidate not in _ZIPPED)):
            return candidate
    if kind == "workbook":
        raise InputError("is a workbook, not a document", where=name, hint="Give a workbook as a table.")
    if kind in _UNREAD_HINTS:
        raise InputError(f"is {NAMES[kind]}, which is not supported", where=name, hint=_UNREAD_HINTS[kind])
    if by_name in _ZIPPED:
        raise InputError(f"is not a {suffix} file, despite its name", where=name, hint="Save it again.")
    start = data[:1024].removeprefix(b"\xef\xbb\xbf")
    return "html" if suffix in (".html", ".htm", ".xhtml") or _PAGE.match(start) else "text"


def parts_of(data: bytes, name: str) -> Iterator[DocumentPart]:
    """Yield the parts of a file. Raises `InputError`, `MissingPackage`, and whatever its library raises."""
    kind = kind_of(data, name)
    if kind == "text":
        return text_parts(_decoded_text(data, name))
    if kind == "pdf":
        from chameleon.documents.pdf import pdf_parts

        return pdf_parts(data, name)
    if kind == "picture":
        from chameleon.documents.scans import picture_parts

        return picture_parts(data, name)
    from chameleon.documents import office, pages

    readers = {
        "html": pages.page_parts,
        "docx": office.word_parts,
        "pptx": office.slide_parts,
        "odt": office.open_document_parts,
        "odp": office.open_document_parts,
        "epub": office.book_parts,
    }
    return readers[kind](data, name)


def read_passages(data: bytes, name: str) -> list[Passage]:
    """Return the passages of a file. Raises `InputError` if it has no text or cannot be read."""
    if not (passages := _passages_in(data, name)):
        raise InputError("the document has no text", where=name, hint="It has nothing to answer from.")
    return passages


def _passages_in(data: bytes, name: str) -> list[Passage]:
    """Return the passages of a file, read once, within bounds, and cached. Raises errors of `parts_of`."""
    kind = kind_of(data, name)

    def read() -> list[Passage]:
        if kind == "text" and len(data) <= MAX_TEXT_BYTES:
            return passages_of(parts_of(data, name), name)
        from chameleon.sandbox.bounded import called

        items = called(_passages_as_json, name, name=name, data=data)
        return [passage_from_json(each) for each in items]

    return [{**passage, "file": Path(name).name} for passage in cached(data, kind, read)]


def _passages_as_json(data: bytes, name: str) -> Iterator[dict[str, Any]]:
    """Yield the passages of a file as JSON, read in this process."""
    return map(passage_to_json, passages_of(parts_of(data, name), name))


def text_passages(text: str, name: str) -> list[Passage]:
    """Return the passages of a Markdown or plain text. Raises `InputError`."""
    passages = [{**passage, "file": Path(name).name} for passage in passages_of(text_parts(text), name)]
    if not passages:
        raise InputError("the text is empty", where=name, hint="It has nothing to answer from.")
    return passages


def text_inputs(data: bytes, name: str) -> dict[str, Any]:
    """Return the inputs that a file gives a run: `text`; for a document or a long text, `passages` too.

    Raises `InputError`, or `MissingPackage` if a document needs one.
    """
    is_text = kind_of(data, name) == "text"
    if len(data) > (limit := MAX_TEXT_BYTES if is_text else MAX_BYTES):
        what = f"the {'text' if is_text else 'document'} has more than the limit of {limit:,} bytes"
        raise InputError(what, where=name, hint="Give the part that the question is about.")
    if is_text and not is_document(text := _decoded_text(data, name)):
        return {"text": text}
    passages = read_passages(data, name)
    if is_text:
        return {"text": text, "passages": passages}
    parts: list[str] = []
    for title, below in groupby(passages, key=lambda each: each["title"]):
        parts += [title, *(each["text"] for each in below)]
    return {"passages": passages, "text": "\n\n".join(parts).lstrip("\n")[:MAX_TEXT_BYTES]}


def is_document(text: str) -> bool:
    """Return whether to cut a text into passages: if it is long, or has two headings or numbered clauses."""
    if len(text) > LONG:
        return True
    return len({each for part in sections_of(text_parts(text)) for each in part.headings}) > 1


def _decoded_text(data: bytes, where: str) -> str:
    """Return the text in a file's bytes. Raises `InputError` if there is no text."""
    text = decode(data, Origin(where))[0].removeprefix("\ufeff")
    if not text.strip():
        raise InputError("the text is empty", where=where, hint="It has nothing to answer from.")
    return text


def read_document(path: Path, name: str) -> list[Passage]:
    """Return the passages of a file at a path, none if it has no text. Raises the errors of `parts_of`."""
    with path.open("rb") as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"has more than the limit of {MAX_BYTES:,} bytes", where=name)
    return _passages_in(data, name) if data.strip() else []


def cached(data: bytes, kind: Kind, read: Callable[[], list[Passage]]) -> list[Passage]:
    """Return the cached passages of these bytes, by their digest, or else read and cache them for the user.

    `CHAMELEON_DOCUMENTS` is the folder, or "off". If nothing can be written, a warning is logged; a damaged
    entry is read again. A document is not cached while one of its pages could not be read: next time an
    engine may be installed, or there may be enough time.
    """
    place = os.environ.get("CHAMELEON_DOCUMENTS", "").strip()
    if place.lower() == "off":
        return read()
    try:
        folder = Path(place or _CACHE_FOLDER).expanduser()
    except RuntimeError:  # no home directory
        return read()
    entry = folder / f"{hashlib.sha256(data).hexdigest()}-{kind}-{READERS}.json"
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        if passages := [passage_from_json(each) for each in json.loads(entry.read_bytes())]:
            os.utime(entry)  # so that the least recently used entries are removed first
            return passages
    passages = read()
    if not any("is_unread" in passage for passage in passages):
        try:
            _keep(entry, passages)
        except OSError as problem:
            _log.warning("documents are not cached: %s", problem)
    return passages


def _keep(entry: Path, passages: list[Passage]) -> None:
    """Write an entry atomically, only for its owner, and remove the oldest entries over the size limit."""
    content = json.dumps([passage_to_json(each) for each in passages]).encode()
    if len(content) > _MAX_CACHE_BYTES // 4:
        return
    entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=entry.parent)  # 0600
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
        Path(name).replace(entry)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    size, entries = 0, [(each.stat(), each) for each in entry.parent.iterdir()]
    for status, each in sorted(entries, key=lambda entry: -entry[0].st_mtime):
        size += status.st_size
        if size > _MAX_CACHE_BYTES:
            with suppress(OSError):
                each.unlink()

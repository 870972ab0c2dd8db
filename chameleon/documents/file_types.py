"""What a file is by its content: a PDF, a page, a text, or one of the formats that are not read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from chameleon.errors import InputError

PDF, PAGES, MARKDOWN = (".pdf",), (".html", ".htm", ".xhtml"), (".md", ".markdown")
Kind = Literal["pdf", "page", "text"]

_PDF_WITHIN = 1024  # bytes: a PDF may begin so far into its file
_PAGE = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,1000}?-->\s*)*<(?:!doctype\s+html|html)\b", re.I | re.S
)
_AS_PDF = "Save it as PDF or as text, and give that."
_ZIPPED: tuple[tuple[bytes, str, str], ...] = (
    (b"word/", "a Word document (.docx)", _AS_PDF),
    (b"application/epub+zip", "an e-book (.epub)", "Convert it to HTML or PDF, and give that."),
    (b"opendocument.text", "an OpenDocument text (.odt)", _AS_PDF),
    (b"opendocument.spreadsheet", "a spreadsheet (.ods)", "Save it as CSV, and give it as a table."),
    (b"xl/", "an Excel workbook", "Give a workbook as a table."),
    (b"ppt/", "a presentation (.pptx)", _AS_PDF),
)
_OTHERS: tuple[tuple[bytes, str, str], ...] = (
    (b"{\\rtf", "a text in RTF", _AS_PDF),
    (b"\xd0\xcf\x11\xe0", "a document of an old Office format (.doc, .xls)", _AS_PDF),
    (b"%!PS", "PostScript", "Convert it to PDF, and give that."),
    (b"\x1f\x8b", "compressed (gzip)", "Unpack it first."),
    (b"PK\x03\x04", "an archive (zip)", "Unpack it, and give one file of it."),
)


def kind_of(data: bytes, name: str) -> Kind:
    """What a file is, by its first bytes, else by its name. Raises `InputError` for what is not read."""
    start = data[:_PDF_WITHIN].removeprefix(b"\xef\xbb\xbf").lstrip()
    suffix = Path(name).suffix.lower()
    if start.startswith(b"%PDF-") or suffix in PDF:
        return "pdf"
    told = next((each for each in _OTHERS if data.startswith(each[0])), None)
    if data.startswith(b"PK\x03\x04"):
        told = next((each for each in _ZIPPED if each[0] in data), told)
    if told is not None:
        raise InputError(f"is {told[1]}, which is not read", where=name, hint=told[2])
    return "page" if suffix in PAGES or _PAGE.match(start) else "text"


def require_pdf(data: bytes, name: str) -> None:
    """Raise `InputError` where a file that is named so is no PDF."""
    if not data.strip():
        raise InputError(
            "the PDF is empty", where=name, hint="It may not have been saved or downloaded in full."
        )
    if b"%PDF-" not in data[:_PDF_WITHIN]:
        raise InputError(
            "is no PDF, whatever its name says",
            where=name,
            hint="Save it as PDF anew, or give it the suffix of what it is.",
        )

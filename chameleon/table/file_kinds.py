"""What kind of file this is, by its first bytes: of tables, of documents, or of neither."""

from __future__ import annotations

import re

_BEGINNINGS = {
    b"SQLite format 3\x00": "sqlite",
    b"PAR1\x15": "parquet",
    b"\xd0\xcf\x11\xe0": "ole",
    b"{\\rtf": "rtf",
    b"%!PS": "postscript",
    b"\x1f\x8b": "gzip",
    b"BZh91AY&SY": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}
_PICTURE = re.compile(rb"\x89PNG\r|\xff\xd8\xff|II[*+]\0|MM\0[*+]|RIFF.{4}WEBP|BM.{4}\0{4}", re.DOTALL)
_PDF = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,1000}%PDF-")
_IN_ZIP = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.presentation": "odp",
    b"application/vnd.oasis.opendocument.spreadsheet": "workbook",
    b"word/document": "docx",
    b"ppt/presentation.xml": "pptx",
    b"xl/workbook": "workbook",
}
NAMES = {
    "pdf": "a PDF document",
    "picture": "a picture",
    "docx": "a Word document",
    "pptx": "a PowerPoint presentation",
    "odt": "an OpenDocument text",
    "odp": "an OpenDocument presentation",
    "epub": "an e-book",
    "rtf": "a text in RTF",
    "postscript": "PostScript",
    "gzip": "compressed (gzip)",
    "bzip2": "a bzip2 archive",
    "xz": "an xz archive",
    "ole": "a document of an old Office format (.doc, .ppt, .xls) or an encrypted one",
    "zip": "an archive (zip)",
    "workbook": "a workbook",
}
"""What kinds are called in errors. SQLite, DuckDB and Parquet are the others."""


def kind_of_bytes(data: bytes) -> str:
    """Return the kind that a file's bytes show; "" for text, and for what is not known.

    Of a zip archive it is the kind of the first member that has one, else "zip": a document may hold others.
    """
    if data.startswith(b"PK\x03\x04"):
        marks = {place: kind for mark, kind in _IN_ZIP.items() if (place := data.find(mark)) >= 0}
        return marks[min(marks)] if marks else "zip"
    if data[8:12] == b"DUCK":
        return "duckdb"
    if _PDF.match(data):
        return "pdf"
    if _PICTURE.match(data):
        return "picture"
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), "")

"""Bytes of files and their kinds, values as cells, and numbered records of cells, all within limits."""

import datetime as dt
import gzip
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from chameleon.errors import InputError
from chameleon.text import clean_cell

LIMIT_VARIABLE = "CHAMELEON_MAX_TABLE_MB"
_PART_BYTES = 1 << 20  # bytes
MAX_CELLS = 5_000_000
"""The limit on rows times columns of a table."""
MAX_COLUMNS = 10_000
MAX_CELL = 131_072
"""The limit on characters of a cell, the same as in Python's CSV reader: more are a file, not a value."""

_MAGIC_BYTES = {
    b"SQLite format 3\x00": "sqlite",
    b"PAR1\x15": "parquet",
    b"\xd0\xcf\x11\xe0": "ole",
    b"{\\rtf": "rtf",
    b"%!PS": "postscript",
    b"\x1f\x8b": "gzip",
    b"BZh91AY&SY": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}
# PNG, JPEG, TIFF or BigTIFF in either byte order, WebP, BMP.
_PICTURE = re.compile(rb"\x89PNG\r|\xff\xd8\xff|II[*+]\0|MM\0[*+]|RIFF.{4}WEBP|BM.{4}\0{4}", re.DOTALL)
_PDF = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,1000}%PDF-")  # after a byte order mark or white space
_ZIP_MARKS = {
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
"""The names of kinds in errors. SQLite, DuckDB and Parquet are the others."""

Record = tuple[int, Sequence[str]]
"""A record's number (its line or row in the file, from 1) and its cells."""


@dataclass(frozen=True)
class Origin:
    """The source of a table: its name in errors, and the word for its records."""

    name: str
    unit: str = "line"

    def at(self, number: int) -> str:
        """Return the place of a record; 0 is the whole file."""
        return f"{self.name}, {self.unit} {number:,}" if number else self.name

    def error(self, what: str, *, at: int = 0, hint: str = "") -> InputError:
        """Return an error for this file or one of its records."""
        return InputError(what, where=self.at(at), hint=hint)


def limit_in_bytes() -> int:
    """Return CHAMELEON_MAX_TABLE_MB, by default 64 megabytes. Raises `InputError` if it is not a number."""
    setting = os.environ.get(LIMIT_VARIABLE, "").strip()
    try:
        return max(0, int(float(setting or 64) * 1_000_000))
    except (ValueError, OverflowError):
        hint = f"Write for example {LIMIT_VARIABLE}=200."
        raise InputError(f"{LIMIT_VARIABLE} is {setting!r}, not a number", hint=hint) from None


def too_large(what: str, limit: int, where: str) -> InputError:
    """Return the error for a file or table over the limit; `what` is text such as "has more text"."""
    hint = f"Set {LIMIT_VARIABLE} to a larger number of megabytes, or use a part of it."
    return InputError(f"{what} than the limit of {limit / 1e6:,.1f} MB", where=where, hint=hint)


def read_within(file: BinaryIO | gzip.GzipFile, name: str, what: str = "has more") -> bytes:
    """Return the bytes of a file or stream. Raises `InputError` over the limit."""
    limit, data = limit_in_bytes(), bytearray()
    # A pipe has no size, and a file may grow after checking. Memory is allocated for all bytes requested.
    while part := file.read(min(limit - len(data) + 1, _PART_BYTES)):
        data += part
        if len(data) > limit:
            raise too_large(what, limit, name)
    return bytes(data)


def read_file(path: Path, name: str = "") -> bytes:
    """Return the bytes of an ordinary file or a pipe; no more than the limit are read.

    Raises `InputError`, which names the file by `name`, or else by its path.
    """
    where, limit = name or printable(str(path)), limit_in_bytes()
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError("is a folder", where=where, hint="Name a file in it, or index the folder.")
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
            raise InputError("is not a regular file", where=where, hint="Name a file that holds a table.")
        if status.st_size > limit:
            raise too_large(f"has {status.st_size / 1e6:,.1f} MB, more", limit, where)
        with path.open("rb") as file:
            return read_within(file, where)
    except FileNotFoundError:
        raise InputError("there is no such file", where=where, hint="Check the path.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", where=where, hint="Check the path.") from error


def kind_of_bytes(data: bytes) -> str:
    """Return the kind of a file by its bytes; "" for text and unknown kinds.

    A zip archive has the kind of its first member with a kind, else "zip": a document may contain others.
    """
    if data.startswith(b"PK\x03\x04"):
        marks = {place: kind for mark, kind in _ZIP_MARKS.items() if (place := data.find(mark)) >= 0}
        return marks[min(marks)] if marks else "zip"
    if data[8:12] == b"DUCK":  # after a checksum
        return "duckdb"
    if _PDF.match(data):
        return "pdf"
    if _PICTURE.match(data):
        return "picture"
    return next((kind for beginning, kind in _MAGIC_BYTES.items() if data.startswith(beginning)), "")


def unpack_gzip(data: bytes, origin: Origin) -> bytes:
    """Return the unpacked bytes of a gzip archive. Raises `InputError` if damaged or over the limit."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return read_within(file, origin.name, "unpacks to more")
    except (OSError, EOFError, zlib.error) as error:
        raise origin.error(f"is a damaged gzip archive ({error})", hint="Download it again.") from None


def bounded(records: Iterable[Record], origin: Origin) -> Iterator[Record]:
    """Yield the records. Raises `InputError` if they exceed a limit on cells, columns, or characters."""
    limit = limit_in_bytes()
    widest = size = 0
    for rows, (number, cells) in enumerate(records, 1):
        lengths = list(map(len, cells))
        widest = max(widest, len(lengths))
        if widest > MAX_COLUMNS:
            hint = "Rows and columns may be swapped, or the delimiter may be a different one."
            raise origin.error(f"has {widest:,} columns, more than {MAX_COLUMNS:,}", at=number, hint=hint)
        if rows * widest > MAX_CELLS:
            raise too_many_cells(origin)
        if lengths and max(lengths) > MAX_CELL:
            raise origin.error(f"a cell has more than {MAX_CELL:,} characters", at=number)
        size += sum(lengths, len(lengths))
        if size > limit + 1:
            raise too_large(f"has more text in its first {rows:,} rows", limit, origin.name)
        yield number, cells


def too_many_cells(origin: Origin) -> InputError:
    """Return the error for a table over `MAX_CELLS`: part of a table would give wrong answers."""
    what = f"has more than {MAX_CELLS:,} cells (rows times columns)"
    return origin.error(what, hint="Use a part of it, with fewer rows or columns.")


def shown(text: str, limit: int = 60) -> str:
    """Quote and shorten text from a file, so that an error with it stays one harmless line."""
    return repr(text if len(text) <= limit else f"{text[: limit - 1]}…")


def printable(name: str) -> str:
    """Replace control characters in a file's name, which could reach a terminal through an error."""
    return "".join(character if character.isprintable() else "?" for character in name)


def cell_text(value: Any) -> str:
    """Write a value as a cell: 1.0 as "1", True as "true", None as "", dates in ISO format, lists as JSON."""
    # Order matters: bool is a kind of int, and datetime a kind of date.
    match value:
        case None:
            return ""
        case str():
            return clean_cell(value)
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)
        case dt.datetime():
            return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ")
        case dt.date():
            return value.isoformat()
        case dt.time():
            return value.isoformat() if value.second or value.microsecond else f"{value:%H:%M}"
        case bytes() | bytearray() | memoryview():
            return f"({len(value):,} bytes)"
        case list() | dict():
            return clean_cell(json.dumps(value, ensure_ascii=False, default=str))
    return clean_cell(str(value))

"""A file of tables: its bytes up to a limit, its text, its format, its delimiter."""

from __future__ import annotations

import codecs
import csv
import json
import os
import stat
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path, PurePath
from typing import Literal, get_args

from chameleon.errors import InputError
from chameleon.table.delimited import has_bar, is_rule, lines_of
from chameleon.table.records import printable

LIMIT_VARIABLE = "CHAMELEON_MAX_TABLE_MB"
DEFAULT_LIMIT_MB = 64.0

Format = Literal["csv", "tsv", "pipe", "markdown", "json", "jsonl", "xlsx"]
FORMATS: tuple[Format, ...] = get_args(Format)

_ALIASES: dict[str, Format] = {
    "tab": "tsv",
    "md": "markdown",
    "ndjson": "jsonl",
    "xlsm": "xlsx",
    "excel": "xlsx",
    **{name: name for name in FORMATS},
}
_FOREIGN = {
    "xls": "an old Excel workbook (.xls)",
    "xlsb": "a binary Excel workbook (.xlsb)",
    "ods": "an OpenDocument spreadsheet (.ods)",
}
_ZIP = b"PK\x03\x04"
_SIGNATURES = (  # those of workbooks are told apart before
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"%PDF-", "a PDF document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office file (such as .xls)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh9", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (_ZIP, "a ZIP archive"),
    (b"\x7fELF", "a program"),
)
_INDEXED = ("an SQLite database", "a Parquet file")
# UTF-32's little-endian mark begins with UTF-16's, so it has to be looked for first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_SAMPLE = 65_536
_DELIMITERS = "\t|;,"
_MOST_TITLES = 10


def read_file(path: Path, limit: int, name: str = "") -> bytes:
    """Return the bytes of an ordinary file or a pipe; no more than the limit is read.

    Raises `InputError`, which calls it by `name`, or else by its path.
    """
    where = name or printable(str(path))
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError("is a folder", where=where, hint="Name a file in it.")
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
            raise InputError("is not an ordinary file", where=where, hint="Name a file that holds a table.")
        if status.st_size > limit:
            raise too_large(status.st_size, limit, where)
        with path.open("rb") as file:
            # A pipe has no size, and a file may grow after it was looked at.
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise InputError("there is no such file", where=where, hint="Check the path.") from None
    except PermissionError:
        raise InputError(
            "may not be read", where=where, hint="Ask for permission to read it, or copy it."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", where=where, hint="Check the path.") from None
    if len(data) > limit:
        raise too_large(len(data), limit, where)
    return data


def limit_in_bytes(limit_mb: float = DEFAULT_LIMIT_MB) -> int:
    """Return megabytes as bytes, or what CHAMELEON_MAX_TABLE_MB says. Raises `InputError` for no number."""
    setting = os.environ.get(LIMIT_VARIABLE, "").strip()
    try:
        megabytes = float(setting) if setting else limit_mb
        return max(0, int(megabytes * 1_000_000))
    except (ValueError, OverflowError):
        raise InputError(
            f"{LIMIT_VARIABLE} is {setting!r}, not a number", hint=f"Write for example {LIMIT_VARIABLE}=200."
        ) from None


def too_large(size: int, limit: int, where: str) -> InputError:
    """Return the error for a file of that many bytes."""
    return InputError(
        f"has {size / 1e6:,.1f} MB, more than the limit of {limit / 1e6:,.1f} MB",
        where=where,
        hint=f"Set {LIMIT_VARIABLE} to a larger number of megabytes, or use a part of the file.",
    )


def format_named(name: str) -> Format:
    """Return the format that a person calls `name` ("md", ".csv", "excel"). Raises `InputError`."""
    key = name.strip().lower().lstrip(".")
    if key not in _ALIASES:
        raise InputError(f"no table format is called {name!r}", hint=f"There are: {', '.join(FORMATS)}.")
    return _ALIASES[key]


def format_of_suffix(path: PurePath) -> Format | None:
    """Return the format that a file's suffix names, or None. Raises `InputError` for .xls."""
    suffix = path.suffix.lower().lstrip(".")
    if suffix in _FOREIGN:
        raise InputError(
            f"is {_FOREIGN[suffix]}, which cannot be read",
            where=printable(str(path)),
            hint="Save it as .xlsx or .csv.",
        )
    return _ALIASES.get(suffix)


def is_workbook(data: bytes) -> bool:
    """Tell whether these bytes look like an .xlsx file rather than any other ZIP archive."""
    return data.startswith(_ZIP) and b"[Content_Types].xml" in data and b"xl/" in data


class NotUTF8(InputError):
    """A text without a byte order mark that is not UTF-8: an older encoding, or a damaged file."""


def decode(data: bytes, name: str) -> str:
    """Decode the text of a file: UTF-8, or UTF-16 or UTF-32 with a byte order mark; never guess.

    Raises `InputError` for binary files and for bytes that are no such text, naming the place; it is
    `NotUTF8` where nothing says what they are.
    """
    encoding = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "utf-8")
    if encoding == "utf-8":
        _refuse_binary(data, name)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        label = "UTF-8" if encoding.startswith("utf-8") else f"{encoding.upper()}, as its first bytes say"
        line = data.count(b"\n", 0, error.start) + 1
        kind = NotUTF8 if encoding == "utf-8" else InputError
        raise kind(
            f"is not {label}: byte {data[error.start]:#04x} at position {error.start:,} (line {line:,})",
            where=name,
            hint="Save it as UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8 old.csv > new.csv",
        ) from None
    if "\0" in text:
        raise _holds_nul(text[: text.index("\0")].count("\n") + 1, name)
    return text


def _refuse_binary(data: bytes, name: str) -> None:
    if is_workbook(data):
        raise InputError("is an Excel workbook, not text", where=name, hint="Give it the suffix .xlsx.")
    if kind := next((kind for start, kind in _SIGNATURES if data.startswith(start)), None):
        hint = "Give a CSV, TSV, Markdown, JSON or Excel file."
        if kind in _INDEXED:
            hint = "`chameleon index` puts it into an index to ask."
        raise InputError(f"is {kind}, not a table", where=name, hint=hint)
    position = data.find(b"\0")
    if position >= 0:
        raise _holds_nul(data.count(b"\n", 0, position) + 1, name)


def _holds_nul(line: int, name: str) -> InputError:
    return InputError(
        f"holds a NUL byte in line {line:,}, so it is no text file",
        where=name,
        hint="Save it as UTF-8 text if it is a table.",
    )


def format_of_text(text: str) -> Format:
    """Return the format that a text's content speaks for; CSV when nothing else does."""
    start = text[:_SAMPLE].lstrip()
    if start.startswith(("{", "[")):
        first, _, rest = text.lstrip().partition("\n")
        try:
            # A whole value on the first line, and another line: JSON Lines.
            return "jsonl" if rest.strip() and [json.loads(first)] else "json"
        except (ValueError, RecursionError):
            return "json"
    lines = _sample_lines(text)
    if any(is_rule(line) and has_bar(before) for before, line in pairwise(lines)):
        return "markdown"
    delimiter, score = _best_delimiter(lines)
    if delimiter == "|" or (score < 1 and len(lines) > 1 and all(map(has_bar, lines[1:]))):
        return "pipe"
    return "tsv" if delimiter == "\t" else "csv"


def delimiter_of(text: str) -> str:
    """Return which of comma, semicolon, tab and bar splits the first lines most evenly; else the comma."""
    return _best_delimiter(_sample_lines(text))[0]


def delimiter_below_titles(text: str) -> str:
    """Return the delimiter; where the first lines are titles, that of the lines below them."""
    lines = _sample_lines(text)
    best, score = _best_delimiter(lines)
    for start in range(1, min(_MOST_TITLES, len(lines) - 2) + 1):
        if score > 0.5:
            break
        best, score = _best_delimiter(lines[start:])
    return best if score > 0.5 else ","


def _best_delimiter(lines: list[str]) -> tuple[str, float]:
    """Return the delimiter and the share of records as wide as the first; ties go to the rarer character."""
    # A character that splits the header but few of the rows stands in a cell.
    best, best_score = ",", 0.5
    for delimiter in _DELIMITERS:
        widths: list[int] = []
        # A fault further down is for the reader to report; the records above it still tell the delimiter.
        with suppress(csv.Error):
            for record in csv.reader(lines, delimiter=delimiter, skipinitialspace=True):
                widths.append(len(record))
        if widths and widths[0] > 1:
            score = widths.count(widths[0]) / len(widths)
            if score > best_score:
                best, best_score = delimiter, score
    return best, best_score


def _sample_lines(text: str) -> list[str]:
    """Return up to 50 filled lines from the start, without a last line that the sample cuts off."""
    lines = lines_of(text[:_SAMPLE])
    if len(text) > _SAMPLE and len(lines) > 1:
        lines.pop()
    return [line for line in islice(lines, 50) if line.strip()]

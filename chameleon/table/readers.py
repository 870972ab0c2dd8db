"""Read the tables of a file: which format it has, all of its tables for an index, or one to ask about."""

from __future__ import annotations

import gzip
import io
import stat
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import BinaryIO

from chameleon.errors import InputError
from chameleon.table.databases import (
    Wanted,
    address_name,
    duckdb_tables,
    is_address,
    parquet_tables,
    server_tables,
    sqlite_tables,
)
from chameleon.table.found import Finding, Found, LeftOut, Note, Unread
from chameleon.table.html_tables import page_tables
from chameleon.table.json_files import json_line_tables, json_tables
from chameleon.table.records import DEFAULT_LIMIT_MB, Origin, limit_in_bytes, printable, shown, too_large
from chameleon.table.table import Table, told_apart
from chameleon.table.text_files import bar_table, decode, delimited_tables, format_of_text, markdown_tables
from chameleon.table.workbooks import workbook_tables

_BY_SUFFIX = {
    **dict.fromkeys(("csv",), "csv"),
    **dict.fromkeys(("tsv", "tab"), "tsv"),
    **dict.fromkeys(("md", "markdown"), "markdown"),
    **dict.fromkeys(("jsonl", "ndjson"), "jsonl"),
    **dict.fromkeys(("xlsx", "xlsm", "xlsb", "xls", "ods"), "workbook"),
    **dict.fromkeys(("html", "htm", "xhtml"), "html"),
    **dict.fromkeys(("parquet", "pq"), "parquet"),
    **dict.fromkeys(("sqlite", "sqlite3", "db", "db3"), "sqlite"),
    **dict.fromkeys(("duckdb", "ddb"), "duckdb"),
    **dict.fromkeys(("json",), "json"),
}
KINDS = tuple(f".{suffix}" for suffix in _BY_SUFFIX)
"""Suffixes of files that hold tables."""

_FORMATS = (*dict.fromkeys(_BY_SUFFIX.values()), "pipe")
_ALIASES = {**_BY_SUFFIX, **dict(zip(_FORMATS, _FORMATS, strict=True)), "excel": "workbook"}
_AMBIGUOUS = (".db", ".db3")  # what is neither of SQLite nor of DuckDB is something else
_GZIP = b"\x1f\x8b"
_MAGIC = {
    b"SQLite format 3\x00": "sqlite",
    b"PK\x03\x04": "workbook",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "workbook",
}
_OTHERS = {
    b"\x89PNG\r\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF87a": "a GIF picture",
    b"GIF89a": "a GIF picture",
    b"%PDF-": "a PDF document",
    b"BZh91AY&SY": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"\x7fELF": "a program",
}


@dataclass(frozen=True)
class Choice:
    """The table that was read of a source, what it is called there, what else there is, and notes."""

    table: Table
    name: str = ""
    others: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def holds_tables(path: Path) -> bool:
    """Tell whether the suffix speaks for tables, or the content where the suffix has other uses."""
    if not path.name.lower().removesuffix(".gz").endswith(KINDS):
        return False
    if path.suffix.lower() not in _AMBIGUOUS:
        return True
    try:
        with path.open("rb") as file:
            return _kind_of(file.read(16)) in ("sqlite", "duckdb")
    except OSError:
        return True  # the reader tells why


def tables_in(
    path: Path,
    name: str = "",
    *,
    format: str | None = None,
    delimiter: str = "",
    sheet: str | None = None,
    first: bool = False,
    limit_mb: float = DEFAULT_LIMIT_MB,
) -> Iterator[Finding]:
    """Yield the tables of a file, and what it holds besides; `name` is what errors call it.

    What the first bytes tell counts before the suffix. Files of more megabytes than CHAMELEON_MAX_TABLE_MB
    (64) are refused. Of a workbook or database, `sheet` reads that sheet or table alone and `first` the first
    that holds a table; the others come as `Unread`. Raises `InputError` for a file that cannot be read,
    `MissingPackage` where its reader is not installed.
    """
    data = read_file(path, limit_in_bytes(limit_mb), name)
    yield from tables_in_bytes(
        data, name or printable(str(path)), format, delimiter=delimiter, sheet=sheet, first=first, path=path
    )


def tables_in_bytes(
    data: bytes,
    name: str,
    format: str | None = None,
    *,
    delimiter: str = "",
    sheet: str | None = None,
    first: bool = False,
    path: Path | None = None,
) -> Iterator[Finding]:
    """Yield the tables of a file's bytes, as `tables_in` does; `path` says where these lie as they are."""
    origin, has_table = Origin(name), False

    def wanted(label: str) -> bool:
        if sheet is not None:
            return sheet.isdecimal() or sheet.casefold().startswith(label.casefold())
        return not (first and has_table)

    for finding in _findings((data, path), origin, format, delimiter, wanted):
        has_table |= isinstance(finding, Found)
        yield finding


def choose_table(
    source: str | Path | bytes,
    *,
    name: str = "",
    format: str | None = None,
    delimiter: str = "",
    sheet: str | None = None,
    limit_mb: float = DEFAULT_LIMIT_MB,
) -> Choice:
    """Read the first table of a file, of its bytes, or at the address of a database; or `sheet` of it.

    A sheet, a table of a database, a heading or key above a table is meant by `sheet`, or the table's number.
    Raises `InputError` for a source without a table, and as `tables_in` does.
    """
    if isinstance(source, bytes):
        name = name or "the input"
        findings = tables_in_bytes(source, name, format, delimiter=delimiter, sheet=sheet, first=True)
    elif is_address(str(source)):
        name = address_name(str(source))
        findings = server_tables(str(source), sheet, first=True)
    else:
        name = name or printable(str(source))
        findings = tables_in(
            Path(source),
            name,
            format=format,
            delimiter=delimiter,
            sheet=sheet,
            first=True,
            limit_mb=limit_mb,
        )
    return _chosen(list(findings), name, sheet)


def _chosen(findings: Sequence[Finding], name: str, sheet: str | None) -> Choice:
    listed = [each for each in findings if isinstance(each, Found | Unread)]
    faults = [each for each in findings if isinstance(each, LeftOut) and each.is_fault]
    labels = told_apart([_label(each) or f"table {number}" for number, each in enumerate(listed, 1)])
    for number, (label, found) in enumerate(zip(labels, listed, strict=True), 1):
        is_meant = sheet is None or sheet.casefold() in (label.casefold(), str(number))
        if is_meant and isinstance(found, Found):
            others = [each for each in labels if each != label]
            notes = [f"{each.where}: {each.what}" for each in findings if isinstance(each, Note)]
            return Choice(
                found.table, label, others, notes + [f"{each.where}: {each.why}" for each in faults]
            )
    fault = next((each for each in faults if sheet is None or sheet in each.where), None)
    if fault is not None:
        raise InputError(fault.why, where=fault.where)
    if sheet is not None and labels:
        there = ", ".join(map(shown, labels[:20]))
        raise InputError(
            f"no sheet or table is named {shown(sheet)}", where=name, hint=f"There are: {there}."
        )
    why = "; ".join(each.why for each in findings[:3] if isinstance(each, LeftOut))
    raise InputError(f"holds no table{why and f' ({why})'}", where=name, hint="Give a file with a table.")


def _label(found: Found | Unread) -> str:
    return found.name if isinstance(found, Unread) else next(iter(found.place.values()), "")


def read_table(
    source: str | Path,
    *,
    format: str | None = None,
    delimiter: str = "",
    caption: str = "",
    sheet: str | None = None,
    limit_mb: float = DEFAULT_LIMIT_MB,
) -> Table:
    """Read the table of a file, or of a database at an address (`postgresql://user@host/name`).

    CSV, TSV, Markdown, `a | b` lines, JSON, JSON Lines, HTML, spreadsheets, Parquet, SQLite and DuckDB, also
    compressed by gzip. The content and the suffix tell the format, unless `format` (a suffix) does. Of
    several tables the first is read, or the one that `sheet` names; `choose_table` tells which. Files above
    `limit_mb` megabytes (or what CHAMELEON_MAX_TABLE_MB says) are refused before they are read. Raises
    `InputError` for whatever is wrong with the file, `MissingPackage` when its reader is not installed.
    """
    found = choose_table(source, format=format, delimiter=delimiter, sheet=sheet, limit_mb=limit_mb)
    return found.table.with_caption(caption) if caption else found.table


def read_table_stream(
    stream: BinaryIO, *, limit_mb: float = DEFAULT_LIMIT_MB, source: str = "standard input"
) -> Table:
    """Read the table that a stream of bytes holds; no more than the limit is read (see `read_table`)."""
    return choose_table(read_stream(stream, limit_mb, source), name=source).table


def read_table_bytes(
    data: bytes,
    format: str | None = None,
    *,
    caption: str = "",
    source: str = "the input",
    sheet: str | None = None,
) -> Table:
    """Read the table in a file's bytes, as they come from standard input; `source` is its name in errors."""
    found = choose_table(data, name=printable(source), format=format, sheet=sheet)
    return found.table.with_caption(caption) if caption else found.table


def read_table_text(
    text: str, format: str | None = None, *, caption: str = "", source: str = "the text"
) -> Table:
    """Read the table in a text; its format is found from the content unless it is given.

    In `a | b` lines a first line without bars is no header: it becomes the caption, if none is given.
    Raises `InputError` with the line at fault.
    """
    return read_table_bytes(text.encode("utf-8", "replace"), format, caption=caption, source=source)


def read_stream(stream: BinaryIO, limit_mb: float = DEFAULT_LIMIT_MB, name: str = "standard input") -> bytes:
    """Return the bytes of a stream. Raises `InputError` beyond the limit."""
    limit = limit_in_bytes(limit_mb)
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise too_large("has more", limit, name)
    return data


def read_file(path: Path, limit: int, name: str = "") -> bytes:
    """Return the bytes of an ordinary file or a pipe; no more than the limit is read.

    Raises `InputError`, which calls it by `name`, or else by its path.
    """
    where = name or printable(str(path))
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError("is a folder", where=where, hint="Name a file in it, or make an index of it.")
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)):
            raise InputError("is not an ordinary file", where=where, hint="Name a file that holds a table.")
        if status.st_size > limit:
            raise too_large(f"has {status.st_size / 1e6:,.1f} MB, more", limit, where)
        with path.open("rb") as file:
            # A pipe has no size, and a file may grow after it was looked at.
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise InputError("there is no such file", where=where, hint="Check the path.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", where=where, hint="Check the path.") from None
    if len(data) > limit:
        raise too_large("has more", limit, where)
    return data


def format_named(name: str) -> str:
    """Return the format that a person calls `name` ("md", ".csv", "excel"). Raises `InputError`."""
    key = name.strip().lower().lstrip(".")
    if key and key not in _ALIASES:
        raise InputError(f"no table format is called {name!r}", hint=f"There are: {', '.join(_FORMATS)}.")
    return _ALIASES[key] if key else ""


def _kind_of(start: bytes) -> str:
    """Return what the first bytes of a file tell of its format, if anything."""
    if start[8:12] == b"DUCK":
        return "duckdb"
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "")


def _findings(
    source: tuple[bytes, Path | None], origin: Origin, format: str | None, delimiter: str, wanted: Wanted
) -> Iterator[Finding]:
    data, path = source
    suffix = PurePath(origin.name.lower().removesuffix(".gz")).suffix.removeprefix(".")
    if data.startswith(_GZIP):
        data, path = _unpacked(data, origin), None
    named = format_named(format or "")
    is_parquet = data.startswith(b"PAR1") and data.endswith(b"PAR1")
    kind = named or ("parquet" if is_parquet else _kind_of(data[:16]) or _BY_SUFFIX.get(suffix, ""))
    if what := next((what for magic, what in _OTHERS.items() if data.startswith(magic)), ""):
        raise origin.error(f"is {what}, not a table", hint="Give a CSV, TSV, Markdown, JSON or Excel file.")
    if not data.strip():
        raise origin.error("is empty", hint="A table needs a header and at least one row.")
    if kind == "workbook" and (named or _kind_of(data[:16]) == kind):
        yield from workbook_tables(data, origin, wanted)
    elif kind in ("sqlite", "duckdb", "parquet"):
        with _file_of(data, path) as file:
            yield from _of_database(file, kind, data[:16], origin, wanted)
    elif kind == "html":
        yield from page_tables(data, origin)
    else:  # also what spreadsheet programs save as .xls: pages, and lines with tabs
        yield from _of_text(data, origin, "" if kind == "workbook" else kind, delimiter)


def _of_text(data: bytes, origin: Origin, kind: str, delimiter: str) -> Iterator[Finding]:
    text, guessed = decode(data, origin)
    text = text.removeprefix("\ufeff")
    if guessed:
        yield Note(origin.name, f"is not UTF-8, and was read as {guessed}")
    match kind or ("csv" if delimiter else format_of_text(text)):
        case "json":
            yield from json_tables(text, origin)
        case "jsonl":
            yield from json_line_tables(text, origin)
        case "markdown":
            yield from markdown_tables(text, origin)
        case "pipe":
            yield from bar_table(text, origin)
        case "html":
            yield from page_tables(data, origin)
        case found:
            yield from delimited_tables(text, origin, delimiter or ("\t" if found == "tsv" else ""))


def _of_database(path: Path, kind: str, start: bytes, origin: Origin, wanted: Wanted) -> Iterator[Finding]:
    if kind == "parquet":
        yield from parquet_tables(path, origin)
    elif _kind_of(start) == "sqlite":
        yield from sqlite_tables(path, origin, wanted)
    elif _kind_of(start) == "duckdb":
        yield from duckdb_tables(path, origin, wanted)
    else:
        raise origin.error("is neither an SQLite nor a DuckDB database", hint="Give it its true suffix.")


@contextmanager
def _file_of(data: bytes, path: Path | None) -> Iterator[Path]:
    """Yield the file itself, or one for as long as it is read."""
    if path is not None and path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="chameleon-") as folder:
        made = Path(folder, "data")
        made.write_bytes(data)
        yield made


def _unpacked(data: bytes, origin: Origin) -> bytes:
    limit = limit_in_bytes()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            found = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise origin.error(f"is a damaged gzip archive ({error})", hint="Pack or download it anew.") from None
    if len(found) > limit:
        raise too_large("unpacks to more", limit, origin.name)
    return found

"""Read the tables of a file: which format it has, all of its tables for an index, or one to ask about."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from chameleon.errors import InputError
from chameleon.table.databases import (
    address_name,
    duckdb_tables,
    is_address,
    server_tables,
    sqlite_tables,
)
from chameleon.table.found import (
    Finding,
    Found,
    LeftOut,
    Note,
    Unread,
    finding_from_json,
    finding_to_json,
)
from chameleon.table.html_tables import page_tables
from chameleon.table.json_files import json_line_tables, json_tables
from chameleon.table.records import (
    Origin,
    limit_in_bytes,
    printable,
    read_file,
    shown,
    too_large,
    unpack_gzip,
)
from chameleon.table.table import Table, told_apart
from chameleon.table.text_files import bar_table, decode, delimited_tables, format_of_text, markdown_tables
from chameleon.table.workbooks import workbook_tables

_SUFFIXES = {
    "csv": "csv",
    "tsv": "tsv tab",
    "markdown": "md markdown",
    "json": "json",
    "jsonl": "jsonl ndjson",
    "html": "html htm xhtml",
    "workbook": "xlsx xlsm xlsb xls ods",
    "sqlite": "sqlite sqlite3 db db3",
    "duckdb": "duckdb ddb",
    "parquet": "parquet pq",
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
KINDS = tuple(f".{suffix}" for suffix in _BY_SUFFIX)
"""Suffixes of files that hold tables."""

_FORMATS = (*_SUFFIXES, "pipe")
_ALIASES = {**_BY_SUFFIX, **{name: name for name in _FORMATS}, "excel": "workbook"}
_DATABASES = ("sqlite", "duckdb", "parquet")
_AMBIGUOUS = (".db", ".db3")  # what is neither of SQLite nor of DuckDB is something else
_GZIP = b"\x1f\x8b"
_SHORT, _START = 1 << 20, 4096  # bytes of a text that is read in this process, and that tell what it is
_MAGIC = {
    b"SQLite format 3\x00": "sqlite",
    b"PK\x03\x04": "workbook",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "workbook",
}
_OTHERS = {
    b"\x89PNG\r\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"%PDF-": "a PDF document",
    b"BZh91AY&SY": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
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
            return _kind_of(file.read(16), "") in _DATABASES
    except OSError:
        return True  # the reader tells why


def tables_in(
    source: Path | bytes,
    name: str = "",
    *,
    format: str | None = None,
    delimiter: str = "",
    sheet: str | None = None,
    first: bool = False,
) -> Iterator[Finding]:
    """Yield the tables of a file, or of a file's bytes, and what else it holds; errors call it `name`.

    The content counts before the suffix. Files above CHAMELEON_MAX_TABLE_MB (64) megabytes are refused.
    Of a workbook or database, `sheet` reads that sheet or table alone and `first` the first that holds a
    table: the others come as `Unread`. All but short texts is read in a process of its own, with bounds on
    memory and seconds. Raises `InputError` for a file that cannot be read, `MissingPackage` where its reader
    is not installed.
    """
    name = name or ("the input" if isinstance(source, bytes) else printable(str(source)))
    options: dict[str, Any] = {"format": format, "delimiter": delimiter, "sheet": sheet, "first": first}
    if _is_short_text(source, name, _format_named(format)):
        yield from read_tables(source, name, **options)
        return
    from chameleon.sandbox.bounded import called

    place, data = ([], source) if isinstance(source, bytes) else ([str(source.absolute())], None)
    for told in called(tables_as_json, *place, name, options, name=name, data=data):
        yield finding_from_json(told)


def tables_as_json(source: bytes | str, name: str, options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield as JSON what `tables_in` yields, of bytes or of the file at a path, in this process."""
    place = Path(source) if isinstance(source, str) else source
    return map(finding_to_json, read_tables(place, name, **options))


def read_tables(
    source: Path | bytes,
    name: str,
    *,
    format: str | None = None,
    delimiter: str = "",
    sheet: str | None = None,
    first: bool = False,
) -> Iterator[Finding]:
    """Yield what `tables_in` does, read in this process without bounds."""
    origin, has_table = Origin(name), False
    data = source if isinstance(source, bytes) else read_file(source, name)
    if data.startswith(_GZIP):
        source = data = unpack_gzip(data, origin)

    def wanted(label: str) -> bool:
        if sheet is not None:
            return sheet.isdecimal() or sheet.casefold().startswith(label.casefold())
        return not (first and has_table)

    if what := _magic(data, _OTHERS):
        raise origin.error(f"is {what}, not a table", hint="Give a CSV, TSV, Markdown, JSON or Excel file.")
    kind = _kind_of(data, name, _format_named(format))
    if not data.strip():
        raise origin.error("is empty", hint="A table needs a header and at least one row.")
    if kind == "workbook":
        findings = workbook_tables(data, origin, wanted)
    elif kind == "sqlite":
        findings = sqlite_tables(source, origin, wanted)
    elif kind in _DATABASES:
        findings = duckdb_tables(source, origin, wanted, is_parquet=kind == "parquet")
    else:
        findings = _of_text(data, origin, kind, delimiter)
    for finding in findings:
        has_table |= isinstance(finding, Found)
        yield finding


def choose_table(
    source: str | Path | bytes,
    *,
    name: str = "",
    format: str | None = None,
    delimiter: str = "",
    sheet: str | None = None,
) -> Choice:
    """Read the first table of a file, of its bytes, or at the address of a database; or `sheet` of it.

    A sheet, a table of a database, a heading or key above a table is meant by `sheet`, or the table's number.
    Raises `InputError` for a source without a table, and as `tables_in` does.
    """
    if isinstance(source, str) and is_address(source):
        name, findings = address_name(source), server_tables(source, sheet)
    else:
        source = Path(source) if isinstance(source, str) else source
        name = name or ("the input" if isinstance(source, bytes) else printable(str(source)))
        findings = tables_in(source, name, format=format, delimiter=delimiter, sheet=sheet, first=True)
    found = list(findings)
    listed = [each for each in found if isinstance(each, Found | Unread)]
    faults = [each for each in found if isinstance(each, LeftOut) and each.is_fault]
    labels = told_apart([each.label or f"table {number}" for number, each in enumerate(listed, 1)])
    for number, (label, each) in enumerate(zip(labels, listed, strict=True), 1):
        is_meant = sheet is None or sheet.casefold() in (label.casefold(), str(number))
        if is_meant and isinstance(each, Found):
            notes = [f"{note.where}: {note.what}" for note in found if isinstance(note, Note)]
            notes += [f"{fault.where}: {fault.why}" for fault in faults]
            return Choice(each.table, label, [other for other in labels if other != label], notes)
    if fault := next((fault for fault in faults if sheet is None or sheet in fault.where), None):
        raise InputError(fault.why, where=fault.where)
    if sheet is not None and labels:
        hint = f"There are: {', '.join(map(shown, labels[:20]))}."
        raise InputError(f"no sheet or table is named {shown(sheet)}", where=name, hint=hint)
    why = "; ".join(each.why for each in found[:3] if isinstance(each, LeftOut))
    raise InputError(f"holds no table{why and f' ({why})'}", where=name, hint="Give a file with a table.")


def read_table(
    source: str | Path,
    *,
    format: str | None = None,
    delimiter: str = "",
    caption: str = "",
    sheet: str | None = None,
) -> Table:
    """Read the table of a file, or of a database at an address (`postgresql://user@host/name`).

    CSV, TSV, Markdown, `a | b` lines, JSON, JSON Lines, HTML, spreadsheets, Parquet, SQLite and DuckDB, also
    compressed by gzip. The content and the suffix tell the format, unless `format` (a suffix) does. Of
    several tables the first is read, or the one that `sheet` names; `choose_table` tells which. Files of more
    megabytes than CHAMELEON_MAX_TABLE_MB (64) are refused before they are read. Raises `InputError` for
    whatever is wrong with the file, `MissingPackage` when its reader is not installed.
    """
    found = choose_table(source, format=format, delimiter=delimiter, sheet=sheet)
    return found.table.with_caption(caption) if caption else found.table


def read_table_stream(stream: BinaryIO, *, source: str = "standard input") -> Table:
    """Read the table that a stream of bytes holds; no more than the limit is read (see `read_table`)."""
    return choose_table(read_stream(stream, source), name=source).table


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


def read_stream(stream: BinaryIO, name: str = "standard input") -> bytes:
    """Return the bytes of a stream. Raises `InputError` beyond the limit."""
    limit = limit_in_bytes()
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise too_large("has more", limit, name)
    return data


def _format_named(name: str | None) -> str:
    """Return the format that a person calls `name` ("md", ".csv", "excel"). Raises `InputError`."""
    key = (name or "").strip().lower().lstrip(".")
    if key and key not in _ALIASES:
        raise InputError(f"no table format is called {name!r}", hint=f"There are: {', '.join(_FORMATS)}.")
    return _ALIASES[key] if key else ""


def _is_short_text(source: Path | bytes, name: str, named: str) -> bool:
    """Tell whether a file is so short and plain that it can do no harm; its reader tells what is wrong."""
    if isinstance(source, bytes):
        start, size = source[:_START], len(source)
    else:
        try:
            status = source.stat()
            if not stat.S_ISREG(status.st_mode):
                return False
            with source.open("rb") as file:
                start, size = file.read(_START), status.st_size
        except (OSError, ValueError):
            return True
    kind = "parquet" if start.startswith(b"PAR1") else _kind_of(start, name, named)
    is_text = kind in ("csv", "tsv", "json", "jsonl", "markdown", "pipe") or (not kind and b"<" not in start)
    if size > limit_in_bytes():  # which is told at once
        return True
    return size <= _SHORT and is_text and not start.startswith(_GZIP)


def _magic(data: bytes, known: Mapping[bytes, str]) -> str:
    return next((kind for magic, kind in known.items() if data.startswith(magic)), "")


def _kind_of(data: bytes, name: str, named: str = "") -> str:
    """Return the format that is named, or that the first bytes or else the suffix tell; "" for none."""
    if named:
        return named
    if data.startswith(b"PAR1") and data.endswith(b"PAR1"):
        return "parquet"
    by_suffix = _BY_SUFFIX.get(PurePath(name.lower().removesuffix(".gz")).suffix.removeprefix("."), "")
    # What programs save as .xls may be a page, or lines with tabs.
    by_suffix = "" if by_suffix == "workbook" else by_suffix
    return "duckdb" if data[8:12] == b"DUCK" else _magic(data, _MAGIC) or by_suffix


def _of_text(data: bytes, origin: Origin, kind: str, delimiter: str) -> Iterator[Finding]:
    if kind == "html":
        yield from page_tables(data, origin)
        return
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

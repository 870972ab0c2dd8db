"""The tables of one file, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from chameleon.documents.duckdb_files import duckdb_tables, is_duckdb, parquet_tables
from chameleon.documents.found import Found, LeftOut, Note
from chameleon.documents.json_files import json_line_tables, json_tables
from chameleon.documents.page_tables import page_data_tables
from chameleon.documents.sqlite_files import MAGIC, sqlite_tables
from chameleon.documents.text_files import delimited_tables, markdown_tables, plain_tables, windows_text
from chameleon.documents.workbooks import workbook_tables
from chameleon.table.files import NotUTF8, decode, format_of_suffix, limit_in_bytes, read_file, too_large
from chameleon.table.records import Origin

Tables = Iterator[Found | LeftOut | Note]
_WINDOWS = "is not UTF-8, and was read as Windows-1252"

_TEXTS: dict[str, Callable[[str, Origin], Iterator[Found | LeftOut]]] = {
    "csv": delimited_tables,
    "tsv": lambda text, origin: delimited_tables(text, origin, "\t"),
    "markdown": markdown_tables,
    "json": json_tables,
    "jsonl": json_line_tables,
}
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "workbook",
    ".xlsm": "workbook",
    ".html": "page",
    ".htm": "page",
    ".xhtml": "page",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".sqlite": "database",
    ".sqlite3": "database",
    ".db": "database",
    ".db3": "database",
    ".duckdb": "database",
    ".ddb": "database",
}
_AMBIGUOUS = (".db", ".db3")
_REFUSED = (".xls", ".xlsb", ".ods")
KINDS = (*_SUFFIXES, *_REFUSED)  # old spreadsheets are told of, and not read


def file_tables(path: Path, name: str) -> Tables:
    """The tables of a file and what it holds besides; `name` is what errors call it.

    A CSV or TSV file that is not UTF-8 is read as Windows-1252 where all its bytes allow it, with a note.
    Files of more megabytes than CHAMELEON_MAX_TABLE_MB (64) are refused. Raises `InputError` for a file
    that cannot be read as what its suffix says, `MissingPackage` where its reader is not installed.
    """
    origin = Origin(name)
    kind = _SUFFIXES.get(path.suffix.lower(), "")
    if kind in ("database", "parquet"):
        yield from _of_database(path, origin, kind)
        return
    if not kind:
        format_of_suffix(path)  # says of old spreadsheets what to do
    data = read_file(path, limit_in_bytes(), name)
    if kind == "workbook":
        yield from workbook_tables(data, origin)
    elif kind == "page":
        yield from page_data_tables(data, origin)
    else:
        try:
            text = decode(data, name)
        except NotUTF8:
            windows = windows_text(data) if kind in ("csv", "tsv") else None
            if windows is None:
                raise
            yield Note(name, _WINDOWS)
            text = windows
        yield from _TEXTS.get(kind, plain_tables)(text.removeprefix("\ufeff"), origin)


def holds_tables(path: Path) -> bool:
    """Whether the suffix tells of tables, or the content where the suffix may stand for other things."""
    suffix = path.suffix.lower()
    if suffix not in _AMBIGUOUS:
        return suffix in KINDS
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError:
        return True  # the reader tells why
    return start == MAGIC or is_duckdb(start)


def _of_database(path: Path, origin: Origin, kind: str) -> Tables:
    """The tables of a file that its package reads by itself; which one, its first bytes say."""
    limit = limit_in_bytes()
    size = path.stat().st_size
    if size > limit:
        raise too_large(size, limit, origin.name)
    with path.open("rb") as file:
        start = file.read(16)
    if kind == "parquet":
        yield from parquet_tables(path, origin)
    elif start == MAGIC:
        yield from sqlite_tables(path, origin)
    elif is_duckdb(start):
        yield from duckdb_tables(path, origin)
    else:
        raise origin.error("is neither an SQLite nor a DuckDB database")

"""Read a table from a file, from bytes or from a text; every fault becomes one line that says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from chameleon.table.delimited import bar_blocks, delimited_records, is_rule, lines_of, split_rows
from chameleon.table.excel import excel_table
from chameleon.table.files import (
    decode,
    delimiter_of,
    format_named,
    format_of_suffix,
    format_of_text,
    is_workbook,
    limit_in_bytes,
    read_file,
    too_large,
)
from chameleon.table.json_tables import json_lines_table, json_table
from chameleon.table.records import Origin, build_table, printable
from chameleon.table.table import Table
from chameleon.text import clean_cell


def read_table(
    source: str | Path,
    *,
    format: str | None = None,
    caption: str = "",
    limit_mb: float = 64,
    sheet: str | None = None,
) -> Table:
    """Read the table in a file: CSV, TSV, Markdown, `a | b` lines, JSON, JSON Lines or Excel.

    `format` (csv, tsv, pipe, markdown, json, jsonl, xlsx) is taken from the suffix, else from the content.
    `sheet` names an Excel sheet, by default the first. Files above `limit_mb` megabytes are refused before
    they are read; the environment variable CHAMELEON_MAX_TABLE_MB replaces that limit. Raises `InputError`
    for whatever is wrong with the file, `MissingPackage` when Excel's reader is not installed.
    """
    path = Path(source)
    known = format_named(format) if format else format_of_suffix(path)
    data = read_file(path, limit_in_bytes(limit_mb))
    return read_table_bytes(data, known, caption=caption, source=str(source), sheet=sheet)


def read_table_stream(stream: BinaryIO, *, limit_mb: float = 64, source: str = "standard input") -> Table:
    """Read the table that a stream of bytes holds; no more than the limit is read (see `read_table`)."""
    limit = limit_in_bytes(limit_mb)
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise too_large(len(data), limit, source)
    return read_table_bytes(data, source=source)


def read_table_bytes(
    data: bytes,
    format: str | None = None,
    *,
    caption: str = "",
    source: str = "the input",
    sheet: str | None = None,
) -> Table:
    """Read the table in a file's bytes, as they come from standard input; `source` is its name in errors."""
    origin = Origin(printable(source))
    known = format_named(format) if format else None
    if known == "xlsx" or (known is None and is_workbook(data)):
        return excel_table(data, origin, caption, sheet)
    if sheet is not None:
        raise origin.error("only Excel workbooks have sheets", hint=f"Leave out the sheet {sheet!r}.")
    return read_table_text(decode(data, origin.name), known, caption=caption, source=source)


def read_table_text(
    text: str, format: str | None = None, *, caption: str = "", source: str = "the text"
) -> Table:
    """Read the table in a text; its format is found from the content unless it is given.

    In `a | b` lines a first line without bars is no header: it becomes the caption, if none is given.
    Raises `InputError` with the line at fault.
    """
    origin = Origin(printable(source))
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise origin.error("is empty", hint="A table needs a header and at least one row.")
    if "\0" in text:
        raise origin.error("holds a NUL byte, so it is no text", at=text[: text.index("\0")].count("\n") + 1)
    start = text[:1000].lstrip().lower()
    if not format and start.startswith(("<!doctype", "<html", "<table", "<?xml")):
        raise origin.error("is HTML or XML, not a table", hint="Save the table as CSV.")
    match format_named(format) if format else format_of_text(text):
        case "json":
            return json_table(text, origin, caption)
        case "jsonl":
            return json_lines_table(text, origin, caption)
        case "markdown":
            return _markdown_table(text, origin, caption)
        case "pipe":
            return _pipe_table(text, origin, caption)
        case "tsv":
            return build_table(delimited_records(text, "\t", origin), origin, caption=caption)
        case "csv":
            records = delimited_records(text, delimiter_of(text), origin)
            return build_table(records, origin, caption=caption)
        case "xlsx":
            raise origin.error("an Excel workbook is not a text", hint="Read it from its file.")


def _markdown_table(text: str, origin: Origin, caption: str) -> Table:
    """Read the only table of a Markdown text; prose around it is skipped."""
    blocks = bar_blocks(lines_of(text))
    tables = [block for block in blocks if len(block[1]) > 1 and is_rule(block[1][1])]
    if not tables:
        raise origin.error("holds no Markdown table", hint="Below the header a line of | --- | is needed.")
    if len(tables) > 1:
        places = ", ".join(f"{start:,}" for start, _ in tables[:5])
        raise origin.error(
            f"holds {len(tables)} tables (they begin in lines {places})", hint="Keep one of them."
        )
    start, lines = tables[0]
    rows = split_rows(lines)
    numbers = [start, *range(start + 2, start + len(lines))]
    records = [(n, [clean_cell(cell) for cell in row]) for n, row in zip(numbers, rows, strict=True)]
    return build_table(records, origin, caption=caption)


def _pipe_table(text: str, origin: Origin, caption: str) -> Table:
    """Read `a | b` lines, perhaps below a line with the caption."""
    lines = [(number, line) for number, line in enumerate(lines_of(text), 1) if line.strip()]
    if len(lines) > 1 and "|" not in lines[0][1] and "|" in lines[1][1]:
        caption = caption or clean_cell(lines[0][1])
        lines = lines[1:]
    numbers = [number for number, _ in lines]
    if len(lines) > 1 and is_rule(lines[1][1]):
        del numbers[1]
    rows = split_rows([line for _, line in lines])
    records = [(n, [clean_cell(cell) for cell in row]) for n, row in zip(numbers, rows, strict=True)]
    # School-book tables, the usual ones in this form, leave columns of amounts without a name.
    return build_table(records, origin, caption=caption, blank_names=True)

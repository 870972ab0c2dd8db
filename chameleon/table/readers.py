"""Read a file's tables: find its format, and return all its tables for an index or one to ask about."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from chameleon.errors import InputError
from chameleon.table.columns import GROUPS
from chameleon.table.databases import address_name, duckdb_tables, server_tables, sqlite_tables
from chameleon.table.found import Finding, Found, LeftOut, Note, Unread, finding_from_json, finding_to_json
from chameleon.table.json_files import json_line_tables, json_tables
from chameleon.table.records import NAMES, Origin, kind_of_bytes, printable, read_file, shown, unpack_gzip
from chameleon.table.table import Table, distinct_names
from chameleon.table.text_files import bar_table, decode, delimited_tables, format_of_text, markdown_tables
from chameleon.table.totals import FOOTER, set_apart
from chameleon.text import is_address

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

_TEXT_KINDS = {"json": json_tables, "jsonl": json_line_tables, "markdown": markdown_tables, "pipe": bar_table}
_DATABASES = ("sqlite", "duckdb", "parquet")
_ROW_KINDS = ("csv", "tsv", "workbook")
_AMBIGUOUS_SUFFIXES = (".db", ".db3")  # SQLite, DuckDB or another format
_MAX_SHORT_BYTES, _START_BYTES = 1 << 20, 4096  # largest text read in this process; start that shows the kind
_MIN_GROUP_SHARE = 0.25  # the part of the rows below a name if groups are named once
_NAMELESS_KINDS = ("money", "percent", "quantity", "duration", "unclear", "empty")


class Reading(NamedTuple):
    """Which parts of a file to read, and how.

    Attributes:
        sheet: only this sheet or table of a workbook or database; the others are returned as `Unread`.
        first: only the first of these that holds a table.
        header: for a text or workbook, the rows of the file with the column names: "4", "1-2", or "0" for
            none; "" detects them.
        keep_totals: keep all rows unchanged: totals, footers, blanks below the name of a group.
    """

    sheet: str | None = None
    first: bool = False
    header: str = ""
    keep_totals: bool = False

    def structured(self, result: Found) -> Found:
        """Set totals and the like apart, and fill down groups that are named once."""
        if self.keep_totals:
            return replace(result, table=result.table.without({}))
        table = set_apart(result.table)
        footers = [" ".join(filter(None, row)) for _, row, why in table.apart or () if why == FOOTER]
        notes = "\n".join(filter(None, [*footers, result.notes]))
        return replace(result, table=_with_groups(table), notes=notes)


ALL = Reading()
"""Every table of a file."""


def holds_tables(path: Path) -> bool:
    """Return whether the suffix, or the content for an ambiguous suffix, shows that a file holds tables."""
    if not path.name.lower().removesuffix(".gz").endswith(KINDS):
        return False
    if path.suffix.lower() not in _AMBIGUOUS_SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            return kind_of_bytes(file.read(16)) in _DATABASES
    except OSError:
        return True  # its reader reports why


def tables_in(source: Path | bytes, name: str = "", how: Reading = ALL) -> Iterator[Finding]:
    """Yield the tables and other contents of a file, or of a file's bytes; errors call it `name`.

    The content takes priority over the suffix. Files above CHAMELEON_MAX_TABLE_MB (64) megabytes are refused.
    All but short texts are read in a separate process, with limits on memory and seconds. Raises `InputError`
    if the file cannot be read, `MissingPackage` if its reader is not installed.
    """
    name = name or _name_of(source)
    if _is_short_text(source, name):
        yield from read_tables(source, name, how)
        return
    from chameleon.sandbox.bounded import called

    place, data = ([], source) if isinstance(source, bytes) else ([str(source.absolute())], None)
    for finding in called(tables_as_json, *place, name, how, name=name, data=data):
        yield finding_from_json(finding)


def tables_as_json(source: bytes | str, name: str, how: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the results of `read_tables` for bytes, or the file at a path, as JSON."""
    path = Path(source) if isinstance(source, str) else source
    return map(finding_to_json, read_tables(path, name, Reading(*how)))


def read_tables(source: Path | bytes, name: str, how: Reading = ALL) -> Iterator[Finding]:
    """Yield the same as `tables_in`, read in this process without limits."""
    origin, has_table, sheet = Origin(name), False, how.sheet
    data = source if isinstance(source, bytes) else read_file(source, name)
    if kind_of_bytes(data) == "gzip":
        source = data = unpack_gzip(data, origin)

    def wanted(label: str) -> bool:
        if sheet is not None:
            return sheet.isdecimal() or sheet.casefold().startswith(label.casefold())  # "Jan (2)" is on Jan
        return not (how.first and has_table)  # set below, while the reader yields tables

    kind = _kind_of(data, name)
    if kind and kind not in _SUFFIXES:
        hint = "Give a CSV, TSV, Markdown, JSON or Excel file."
        raise origin.error(f"is {NAMES[kind]}, not a table", hint=hint)
    if not data.strip():
        raise origin.error("is empty", hint="A table needs a header and at least one row.")
    if how.header and kind not in (*_ROW_KINDS, ""):
        raise origin.error("has no header rows to choose", hint="Only CSV and Excel files do.")
    match kind:
        case "workbook":
            from chameleon.table.workbooks import workbook_tables

            findings = workbook_tables(data, origin, wanted, is_named=sheet is not None, header=how.header)
        case "sqlite":
            findings = sqlite_tables(source, origin, wanted)
        case "duckdb" | "parquet":
            findings = duckdb_tables(source, origin, wanted, is_parquet=kind == "parquet")
        case _:
            findings = _tables_of_text(data, origin, kind, how.header)
    for finding in findings:
        has_table |= isinstance(finding, Found)
        yield how.structured(finding) if isinstance(finding, Found) else finding


def choose_table(
    source: str | Path | bytes,
    *,
    name: str = "",
    sheet: str | None = None,
    header: str = "",
    keep_totals: bool = False,
) -> Found:
    """Read the first table, or `sheet`, of a file, of its bytes, or of a database at an address.

    Args:
        name: what errors call the file; for bytes, its suffix counts as the file's.
        sheet: a sheet, a table of a database, a heading or key above a table, or the table's number.
        header, keep_totals: see `Reading`.

    Returns:
        The table, with `name`, its name in the source; `others`, the names of the other tables there; and
        `warnings`: why other parts could not be read.

    Raises:
        InputError: if the source has no table or cannot be read.
        MissingPackage: if its reader is not installed.
    """
    if isinstance(source, str) and is_address(source):
        name, findings = address_name(source), server_tables(source, sheet)
    else:
        source = Path(source) if isinstance(source, str) else source
        name = name or _name_of(source)
        findings = tables_in(source, name, Reading(sheet, True, header, keep_totals))
    contents = list(findings)
    tables = [each for each in contents if isinstance(each, Found | Unread)]
    left_out = [each for each in contents if isinstance(each, LeftOut)]
    names = distinct_names([each.label or f"table {number}" for number, each in enumerate(tables, 1)])
    for number, (label, each) in enumerate(zip(names, tables, strict=True), 1):
        is_meant = sheet is None or sheet.casefold() in (label.casefold(), str(number))
        if is_meant and isinstance(each, Found):
            notes = [note for note in contents if isinstance(note, Note)]
            decisions = [f"{note.where.replace(name, PurePath(name).name)} {note.what}" for note in notes]
            table = replace(each.table, decisions=(*decisions, *each.table.decisions))
            others = [other for other in names if other != label]
            warnings = [f"{fault.where}: {fault.why}" for fault in left_out if fault.is_fault]
            return replace(each, table=table, name=label, others=others, warnings=warnings)
    hint = f"There are: {', '.join(map(shown, names[:20]))}." if names else ""
    for fault in left_out:
        if fault.is_fault if sheet is None else shown(sheet) in fault.where:
            raise InputError(fault.why, where=fault.where, hint=hint)
    if sheet is not None and names:
        raise InputError(f"has no sheet or table named {shown(sheet)}", where=name, hint=hint)
    why = "; ".join(fault.why for fault in left_out[:3])
    what = f"has no table{why and f' ({why})'}"
    raise InputError(what, where=name, hint=hint or "Give a file with a table.")


def read_table(
    source: str | Path | bytes,
    *,
    caption: str = "",
    name: str = "",
    sheet: str | int | None = None,
    header: str | int = "",
    keep_totals: bool = False,
) -> Table:
    """Read the table of a file, of its bytes, or of a database at an address (`postgresql://user@host/name`).

    Reads CSV, TSV, Markdown, `a | b` lines, JSON, JSON Lines, HTML, spreadsheets, Parquet, SQLite and DuckDB,
    also compressed by gzip. The content and the suffix decide the format. `table.notes` lists how the table
    was read. Files with more megabytes than CHAMELEON_MAX_TABLE_MB (64) are refused before reading.

    Args:
        caption: replaces the table's name in the file.
        name: what errors call the file; for bytes, its suffix counts as the file's.
        sheet: the table to read, see `choose_table`, which also returns its name; None: the first one.
        header: the rows with the column names ("4", "1-2", "0" for none); "": the first rows.
        keep_totals: keep totals as rows instead of setting them apart.

    Raises:
        InputError: for any problem with the file.
        MissingPackage: if its reader is not installed.
    """
    sheet_name = None if sheet is None else str(sheet)  # a number counts from 1, as in "Sheet 2"
    options: dict[str, Any] = {"sheet": sheet_name, "header": str(header), "keep_totals": keep_totals}
    table = choose_table(source, name=name, **options).table
    return table.with_caption(caption) if caption else table


def _name_of(source: Path | bytes) -> str:
    return "the input" if isinstance(source, bytes) else printable(str(source))


def _is_short_text(source: Path | bytes, name: str) -> bool:
    """Return whether a file is short, plain text that needs no limits; its reader reports what is wrong."""
    try:
        if isinstance(source, bytes):
            start, size = source[:_START_BYTES], len(source)
        elif not source.is_file():  # a pipe can be read only once
            return not source.exists()
        else:
            with source.open("rb") as file:
                start, size = file.read(_START_BYTES), source.stat().st_size
    except (OSError, ValueError):
        return True
    kind = _kind_of(start, name)
    is_page = kind == "" and b"<" in start
    return size <= _MAX_SHORT_BYTES and kind in ("", "csv", "tsv", *_TEXT_KINDS) and not is_page


def _kind_of(data: bytes, name: str) -> str:
    """Return a file's kind by its first bytes, or else its suffix; "" if unknown."""
    if kind := kind_of_bytes(data):
        return "workbook" if kind in ("ole", "zip") else kind
    by_suffix = _BY_SUFFIX.get(PurePath(name.lower().removesuffix(".gz")).suffix.removeprefix("."), "")
    # Programs save pages, and lines with tabs, as .xls.
    return "" if by_suffix == "workbook" else by_suffix


def _tables_of_text(data: bytes, origin: Origin, kind: str, header: str) -> Iterator[Finding]:
    text = ""
    if kind != "html":
        text, guessed = decode(data, origin)
        text = text.removeprefix("\ufeff")
        if guessed:
            yield Note(origin.name, f"is not UTF-8, and was read as {guessed}")
        kind = kind or format_of_text(text)
    if kind == "html":
        from chameleon.table.html_tables import page_tables

        yield from page_tables(data, origin)
    elif kind in _TEXT_KINDS:
        yield from _TEXT_KINDS[kind](text, origin)
    else:
        yield from delimited_tables(text, origin, "\t" if kind == "tsv" else "", header)


def _with_groups(table: Table) -> Table:
    """Fill down the groups that the first columns of a table name once.

    A run of blanks below a name is a group if the columns to the right are full and one of them names the
    rows. If they hold only figures, the blanks are ambiguous, and the column is unclear.
    """
    columns, leading, blank = table.columns, 0, set(range(len(table.rows)))
    for column in columns[:-1]:
        places = {place for place, cell in enumerate(column.cells) if not cell}
        if not places or 0 in places or not places <= blank or column.meaning.kind in _NAMELESS_KINDS:
            break
        leading, blank = leading + 1, places
    below = [row[leading:] for row in table.rows if not row[0]]
    labels = [cell for cell in columns[0].cells if cell]  # repeated names are not groups
    are_groups = leading and all(map(all, below)) and len(set(labels)) >= max(2, len(labels))
    if not are_groups or len(below) < max(2, _MIN_GROUP_SHARE * len(table.rows)):
        return table
    is_open = columns[0].meaning.is_number or all(each.meaning.is_number for each in columns[leading:])
    if is_open:
        return replace(table, hints=(GROUPS, *map(table.hint, range(1, len(columns)))))
    rows = [list(row) for row in table.rows]
    for above, row in pairwise(rows):
        row[:leading] = [cell or over for cell, over in zip(row[:leading], above[:leading], strict=True)]
    names = " and ".join(each.name or "the first column" for each in columns[:leading])
    note = f"{names}: blanks are filled with the name above"
    return replace(table, rows=tuple(map(tuple, rows)), decisions=(*table.decisions, note))

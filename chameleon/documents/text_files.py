"""Tables in text files: CSV and its relatives, `a | b` lines, and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chameleon.documents.found import Found, LeftOut, table_of, tables_of
from chameleon.documents.markdown import without_closing
from chameleon.errors import InputError
from chameleon.table import read_table_text
from chameleon.table.delimited import bar_blocks, delimited_records, is_rule, lines_of, split_rows
from chameleon.table.files import delimiter_below_titles, format_of_text
from chameleon.table.records import Origin
from chameleon.text import clean_cell

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|\*|___|__|`)(?=\S)(.{1,1000}?)(?<=\S)\1")


def delimited_tables(text: str, origin: Origin, delimiter: str | None = None) -> Iterator[Found | LeftOut]:
    """The tables of a CSV or TSV text, with the lines above and below that belong to them."""
    require_text(text, origin)
    found = delimiter or delimiter_below_titles(text)
    yield from tables_of(delimited_records(text, found, origin), origin)


def plain_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """The table of a text file whose name does not say what it is."""
    require_text(text, origin)
    match format_of_text(text):
        case "markdown":
            yield from markdown_tables(text, origin)
        case "csv" | "tsv":
            yield from delimited_tables(text, origin)
        case _:
            yield Found(read_table_text(text, source=origin.name))


def markdown_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """Every table of a Markdown text outside its code, with the heading above it."""
    lines = _without_code(lines_of(text.removeprefix("\ufeff")))
    headings = dict(_headings(lines))
    for start, block in bar_blocks(lines):
        rule = next((place for place, line in enumerate(block) if place and is_rule(line)), 0)
        if not rule:
            continue
        first = start + rule - 1
        heading = next((headings[number] for number in range(first, 0, -1) if number in headings), "")
        rows = split_rows(block[rule - 1 :])
        width = len(rows[0])
        numbers = [first, *range(first + 2, first + 1 + len(rows))]
        # As on GitHub: a row may have fewer cells than the header, and what it has more is not shown.
        records = [(n, list(map(unmarked, row[:width]))) for n, row in zip(numbers, rows, strict=True)]
        yield table_of(records, origin, {"heading": heading} if heading else {}, heading, pad=True)


def unmarked(text: str) -> str:
    """Inline Markdown as its text: links, emphasis and code without their marks."""
    return clean_cell(_EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text)).replace("<br>", " "))


def _without_code(lines: list[str]) -> list[str]:
    """The lines with those of front matter and fenced code made blank, so that numbers stay."""
    kept: list[str] = []
    fence = ""
    front = bool(lines) and lines[0].strip() == "---" and "---" in map(str.strip, lines[1:])
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if front:
            kept.append("")
            front = number == 0 or line.strip() != "---"
        elif fence:
            kept.append("")
            closes = mark and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        else:
            fence = mark[1] if mark else ""
            kept.append("" if mark else line)
    return kept


def _headings(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The headings by the number of their line, from 1."""
    for number, line in enumerate(lines, 1):
        if match := _HEADING.fullmatch(line):
            yield number, unmarked(without_closing(match[1]))
        elif number > 1 and _UNDERLINE.fullmatch(line) and "|" not in lines[number - 2]:
            above = lines[number - 2].strip()
            if above and not _HEADING.fullmatch(lines[number - 2]):
                yield number, unmarked(above)


def require_text(text: str, origin: Origin) -> None:
    """Raise `InputError` for a text with nothing in it."""
    if not text.strip():
        raise InputError("is empty", where=origin.name)


def windows_text(data: bytes) -> str | None:
    """The text of bytes that are not UTF-8, as Windows-1252; None where they are not that either.

    Spreadsheet programs write it. Bytes that it does not define and control characters speak against it, and
    so do letters in UTF-8 beside the fault: then the file is damaged, and would be read as other letters.
    """
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    letters = data.decode("utf-8", "ignore")
    return text if letters.isascii() and not _CONTROLS.search(text) else None

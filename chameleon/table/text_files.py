"""Tables in text files: CSV and its relatives, `a | b` lines, and Markdown; in any encoding."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from chameleon.errors import require
from chameleon.markup import BYTE_ORDER_MARKS
from chameleon.table.delimited import (
    best_delimiter,
    delimited_records,
    delimiter_of,
    has_bar,
    is_rule,
    lines_of,
    sample_lines,
    split_rows,
)
from chameleon.table.found import Found, LeftOut, table_of, tables_of, with_decimal_points
from chameleon.table.records import Origin
from chameleon.text import clean_cell

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_HIGH, _LETTERS = re.compile(rb"[\x80-\xff]"), re.compile(rb"[A-Za-z]")
_ENCODINGS = ["cp1250", "cp1251", "cp1253", "cp932", "gb18030", "big5", "cp949", "koi8_r"]
_SAMPLE = 100_000  # bytes
_LONGEST_MARKDOWN = 2_000_000  # characters, some 5 s
_FRONT_MATTER = re.compile(r"---\n.*?\n---\n", re.DOTALL)


def decode(data: bytes, origin: Origin) -> tuple[str, str]:
    """Return the text of a file, and the encoding where it had to be guessed, else "".

    Without a byte order mark it is UTF-8. Else, where letters beyond ASCII are few, Windows-1252, which
    spreadsheet programs write, or what charset-normalizer takes it for. Raises `InputError` for what is no
    text, or damaged.
    """
    marked = (encoding for mark, encoding in BYTE_ORDER_MARKS.items() if data.startswith(mark))
    encoding = next(marked, "utf-8")
    guessed = ""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text, guessed = _guessed(data) if encoding == "utf-8" else ("", "")
        if not guessed:
            line = data.count(b"\n", 0, error.start) + 1
            what = f"is not {encoding.upper()}: byte {data[error.start]:#04x} in line {line:,}"
            hint = "It is damaged or in another encoding: save it again as UTF-8."
            raise origin.error(what, hint=hint) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise origin.error("holds a NUL byte, so it is no text", at=line, hint="Save it again as UTF-8 text.")
    return text, guessed


def _guessed(data: bytes) -> tuple[str, str]:
    """Return the text of bytes that are not UTF-8, and its encoding; "" for both where none fits."""
    sample = data[:_SAMPLE]
    high = len(_HIGH.findall(sample))
    if len(_HIGH.findall(sample.decode("utf-8", "ignore").encode())) * 2 > high:
        return "", ""  # most letters are UTF-8: the file is damaged, and would be read as other letters
    if high < len(_LETTERS.findall(sample)):
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError:
            return "", ""
        return ("", "") if _CONTROLS.search(text) else (text, "Windows-1252")
    use = "a text that is neither UTF-8 nor in Latin letters is read with"
    require("charset-normalizer", use, "corpus", module="charset_normalizer", imports=True)
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_ENCODINGS).best()
    if best is None:
        return "", ""
    return data.decode(best.encoding, "replace"), best.encoding


def format_of_text(text: str) -> str:
    """Return the format that a text's content speaks for; CSV when nothing else does."""
    start = text[:1000].lstrip().lower()
    if start.startswith(("<!doctype html", "<html", "<table", "<?xml")):
        return "html"
    if start.startswith(("{", "[")):
        first, _, rest = text.lstrip().partition("\n")
        try:
            # A whole value on the first line, and another line: JSON Lines.
            return "jsonl" if rest.strip() and [json.loads(first)] else "json"
        except (ValueError, RecursionError):
            return "json"
    lines = sample_lines(text)
    if any(is_rule(line) and has_bar(before) for before, line in pairwise(lines)):
        return "markdown"
    delimiter, share = best_delimiter(lines)
    if delimiter == "|" or (share < 1 and len(lines) > 1 and all(map(has_bar, lines[1:]))):
        return "pipe"
    return "tsv" if delimiter == "\t" else "csv"


def delimited_tables(text: str, origin: Origin, delimiter: str = "") -> Iterator[Found | LeftOut]:
    """Yield the tables of a CSV or TSV text, with the lines above and below that belong to them."""
    delimiter = delimiter or delimiter_of(text)
    for found in tables_of(delimited_records(text, delimiter, origin), origin):
        yield with_decimal_points(found, by_table=delimiter == ";")


def bar_table(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """Yield the table of `a | b` lines, perhaps below a line with the caption."""
    lines = [(number, line) for number, line in enumerate(lines_of(text), 1) if line.strip()]
    caption = ""
    if len(lines) > 1 and "|" not in lines[0][1] and "|" in lines[1][1]:
        caption = clean_cell(lines.pop(0)[1])
    numbers = [number for number, _ in lines]
    if len(lines) > 1 and is_rule(lines[1][1]):
        del numbers[1]
    rows = split_rows([line for _, line in lines])
    records = [(n, [clean_cell(cell) for cell in row]) for n, row in zip(numbers, rows, strict=True)]
    yield with_decimal_points(table_of(records, origin, None, caption))


def markdown_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """Yield every table of a Markdown text outside its code, with the heading above it."""
    from markdown_it import MarkdownIt

    if len(text) > _LONGEST_MARKDOWN:
        what = f"has more than {_LONGEST_MARKDOWN:,} characters of Markdown"
        raise origin.error(what, hint="Save its table as CSV, or split it.")
    front = _FRONT_MATTER.match(text)
    text = "\n" * front[0].count("\n") + text[front.end() :] if front else text
    heading, rows = "", list[tuple[int, list[str]]]()
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for before, token in pairwise(tokens):
        if token.type == "inline" and before.type == "heading_open":
            heading = _plain(token)
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append((token.map[0] + 1 if token.map else 0, []))
        elif token.type == "inline" and before.type in ("th_open", "td_open"):
            rows[-1][1].append(_plain(token))
        elif token.type == "table_close":
            place = {"heading": heading} if heading else {}
            yield with_decimal_points(table_of(rows, origin, place, heading))


def _plain(token: Any) -> str:
    """Return the text of a line of Markdown without its marks."""
    breaks = ("softbreak", "hardbreak", "html_inline")
    return clean_cell("".join(" " if each.type in breaks else each.content for each in token.children))

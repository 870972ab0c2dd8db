"""Tables in text files: CSV and its relatives, `a | b` lines, and Markdown, in any encoding.

Spreadsheet programs export pages rather than tables: lines of a title above the header, a source below
the last row, perhaps a second table after a blank row. `sections` splits the records of a text or a
sheet into tables.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice, pairwise, takewhile
from typing import Any

from chameleon.errors import InputError, placed, require
from chameleon.table.bars import has_bar, is_rule, lines_of, split_rows
from chameleon.table.dates import is_no_value
from chameleon.table.found import Found, LeftOut, notes_on_lines, table_of
from chameleon.table.records import Origin, Record, bounded, shown
from chameleon.text import clean_cell
from chameleon.web.markup import BYTE_ORDER_MARKS

_NO_LETTERS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffd]")
_HIGH_BYTE, _LETTERS = re.compile(rb"[\x80-\xff]"), re.compile(rb"[A-Za-z]")
_ENCODINGS = ["cp1250", "cp1251", "cp1253", "cp932", "gb18030", "big5", "cp949", "koi8_r"]  # candidates
_SAMPLE_BYTES, _SAMPLE_CHARS, _SAMPLE_LINES = 100_000, 65_536, 50

_UNUSUAL_CHARS = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_END_MARK = "\x1e"  # ASCII's record separator
_MAX_SHARED_CELLS = 100_000

_NOTE = re.compile(r"(notes?|sources?|data|legend|footnotes?)\b\s*:|[*†‡§©]|\(?\d\)", re.IGNORECASE)
_MAX_TITLES, _ROW_RANGE = 10, re.compile(r"(\d{1,7})(?:\s*-\s*(\d{1,7}))?", re.ASCII)

_MAX_MARKDOWN_CHARS = 2_000_000  # takes about 5 s
_FRONT_MATTER = re.compile(r"---\n.*?\n---\n", re.DOTALL)


def decode(data: bytes, origin: Origin) -> tuple[str, str]:
    """Return the text of a file, and its encoding if that was guessed, else "".

    Without a byte order mark it is UTF-8, else Windows-1252 (as spreadsheet programs write) if few letters
    are outside ASCII, else the guess of charset-normalizer. Raises `InputError` if the file is damaged
    or not text.
    """
    marked = (encoding for mark, encoding in BYTE_ORDER_MARKS.items() if data.startswith(mark))
    encoding = next(marked, "utf-8")
    guessed = ""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        with placed(origin.name):
            guessed = _guess_encoding(data[:_SAMPLE_BYTES]) if encoding == "utf-8" else ""
        text = data.decode(guessed or "utf-8", "replace")
        if not guessed or (guessed == "cp1252" and _NO_LETTERS.search(text)):
            line = data.count(b"\n", 0, error.start) + 1
            what = f"is not {encoding.upper()}: byte {data[error.start]:#04x} in line {line:,}"
            hint = "It is damaged or in another encoding: save it again as UTF-8."
            raise origin.error(what, hint=hint) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise origin.error("has a NUL byte, so it is not text", at=line, hint="Save it again as UTF-8 text.")
    return text, "Windows-1252" if guessed == "cp1252" else guessed


def _guess_encoding(sample: bytes) -> str:
    """Return the encoding of bytes that are not UTF-8; "" if none fits."""
    high = len(_HIGH_BYTE.findall(sample))
    if len(_HIGH_BYTE.findall(sample.decode("utf-8", "ignore").encode())) * 2 > high:
        return ""  # most letters are UTF-8: the file is damaged, and others would be misread
    if high < len(_LETTERS.findall(sample)):
        return "cp1252"
    use = "a text that is neither UTF-8 nor in Latin letters is read with"
    require("charset-normalizer", use, "corpus", module="charset_normalizer", imports=True)
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_ENCODINGS).best()
    return best.encoding if best else ""


def format_of_text(text: str) -> str:
    """Return the format that a text's content suggests, by default CSV."""
    start = text[:1000].lstrip().lower()
    if start.startswith(("<!doctype html", "<html", "<table", "<?xml")):
        return "html"
    if start.startswith(("{", "[")):
        first, _, rest = text.lstrip().partition("\n")
        try:
            # A complete value on the first line, and another line: JSON Lines.
            return "jsonl" if rest.strip() and [json.loads(first)] else "json"
        except (ValueError, RecursionError):
            return "json"
    lines = _sample_lines(text)
    if any(is_rule(line) and has_bar(before) for before, line in pairwise(lines)):
        return "markdown"
    delimiter, share = _best_delimiter(lines)
    if delimiter == "|" or (share < 1 and len(lines) > 1 and all(map(has_bar, lines[1:]))):
        return "pipe"
    return "tsv" if delimiter == "\t" else "csv"


def delimited_tables(
    text: str, origin: Origin, delimiter: str = "", header: str = ""
) -> Iterator[Found | LeftOut]:
    """Yield the tables of a CSV or TSV text, with their titles above and notes below.

    Args:
        delimiter: the character between cells; "" detects it.
        header: the rows of the text with the column names, as in `Reading`.
    """
    delimiter = delimiter or delimiter_of(text)
    hint = "?" if delimiter == ";" else ""  # the decimal mark may be a comma or a point
    yield from tables_of(delimited_records(text, delimiter, origin), origin, header=header, hint=hint)


def bar_table(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """Yield the table of `a | b` lines, possibly below a line with the caption."""
    lines = {number: line for number, line in enumerate(lines_of(text), 1) if line.strip()}
    numbers, caption = list(lines), ""
    if len(numbers) > 1 and "|" not in lines[numbers[0]] and "|" in lines[numbers[1]]:
        caption = clean_cell(lines[numbers.pop(0)])
    rows = split_rows([lines[number] for number in numbers])
    if len(rows) < len(numbers):  # the rule is not a row
        del numbers[1]
    records = [(number, list(map(clean_cell, row))) for number, row in zip(numbers, rows, strict=True)]
    yield table_of(records, origin, None, caption)


def markdown_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """Yield each table of a Markdown text outside code, with the heading above it."""
    from markdown_it import MarkdownIt

    if len(text) > _MAX_MARKDOWN_CHARS:
        what = f"has more than {_MAX_MARKDOWN_CHARS:,} characters of Markdown"
        raise origin.error(what, hint="Save its table as CSV, or split it.")
    front = _FRONT_MATTER.match(text)
    text = "\n" * front[0].count("\n") + text[front.end() :] if front else text  # keeps line numbers
    heading, rows = "", list[tuple[int, list[str]]]()
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for before, token in pairwise(tokens):
        if token.type == "inline" and before.type == "heading_open":
            heading = _plain_text(token)
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append((token.map[0] + 1 if token.map else 0, []))
        elif token.type == "inline" and before.type in ("th_open", "td_open"):
            rows[-1][1].append(_plain_text(token))
        elif token.type == "table_close":
            place = {"heading": heading} if heading else {}
            yield table_of(rows, origin, place, heading)


def _plain_text(token: Any) -> str:
    """Return the text of a Markdown line without markup."""
    breaks = ("softbreak", "hardbreak", "html_inline")
    return clean_cell("".join(" " if each.type in breaks else each.content for each in token.children))


def delimited_records(text: str, delimiter: str, origin: Origin, *, strict: bool = False) -> Iterator[Record]:
    """Yield each record's first line and its cells, trimmed; quoted cells may hold delimiters and breaks.

    Lines may end in any common way, blank lines are records without cells. Raises `InputError`
    for a quote that is never closed, cells over `csv`'s limit and, if `strict`, text after a closing quote.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    source = f"{text}\n{_END_MARK}"  # if a quote is still open, this line is part of a cell
    lines = io.StringIO(source)
    tabs_are_data = "\t" in text and (delimiter != "\t" or '"' in text)
    # Nearly all files are plain; one C call per cell then halves the time for large ones.
    tidy = clean_cell if tabs_are_data or _UNUSUAL_CHARS.search(text) else str.strip
    # Sharing repeated cells saves a third of a large table's memory, but not all can be kept.
    shared: dict[str, str] = {}
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)
    start = 1
    try:
        for cells in reader:
            if lines.tell() == len(source):
                if cells != [_END_MARK]:
                    hint = 'Close it, or write "" for a quote in a cell.'
                    raise origin.error("a quote is opened here and never closed", at=start, hint=hint)
                return
            tidied = list(map(clean_cell if reader.line_num > start else tidy, cells))  # a cell has breaks
            yield start, tuple(map(shared.setdefault, tidied, tidied))
            if len(shared) > _MAX_SHARED_CELLS:
                shared.clear()
            start = reader.line_num + 1
    except csv.Error as error:
        what = f"a cell has more than {csv.field_size_limit():,} characters, or a quote is never closed"
        raise origin.error(what if "limit" in str(error) else str(error), at=start) from None


def delimiter_of(text: str) -> str:
    """Return which of tab, bar, semicolon and comma splits the first lines most evenly; by default the comma.

    The first lines may be titles without any delimiter.
    """
    lines = _sample_lines(text)
    starts = range(min(_MAX_TITLES, max(len(lines) - 2, 0)) + 1)
    tries = (_best_delimiter(lines[start:]) for start in starts)
    return next((delimiter for delimiter, share in tries if share > 0.5), ",")


def _best_delimiter(lines: list[str]) -> tuple[str, float]:
    """Return the delimiter and the share of records as wide as the first; ties go to the rarer character."""
    best, best_share = ",", 0.5  # a delimiter that splits the header but few rows is part of a cell
    for delimiter in "\t|;,":
        widths = list(map(len, csv.reader(lines, delimiter=delimiter, skipinitialspace=True)))
        share = widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0
        if share > best_share:
            best, best_share = delimiter, share
    return best, best_share


def _sample_lines(text: str) -> list[str]:
    """Return up to 50 non-empty lines from the start, without a last line that the sample cuts off."""
    lines = lines_of(text[:_SAMPLE_CHARS])
    if len(text) > _SAMPLE_CHARS and len(lines) > 1:
        lines.pop()
    return [line for line in islice(lines, _SAMPLE_LINES) if line.strip()]


def tables_of(
    records: Iterable[Record],
    origin: Origin,
    place: Mapping[str, str] | None = None,
    *,
    header: str = "",
    decisions: Sequence[str] = (),
    **how: Any,
) -> Iterator[Found | LeftOut]:
    """Yield the tables in the records of a file or sheet, split by `sections`; see `table_of`.

    Args:
        header: the rows of the file with the column names, as in `Reading`.
        decisions: the reader's decisions, to which titles and notes are added.
        **how: `pad` and `hint` of `table_of`.
    """
    lines = _header_lines(header)
    how["heads"] = None if lines is None else len(lines)
    try:
        filled = list(bounded(records, origin))
        tables = sections(filled) if lines is None else [_table_below(filled, lines, origin)]
    except InputError as error:
        yield LeftOut.of(error)
        return
    for each in tables:
        how["decisions"] = [*decisions, *notes_on_lines(each.titles, each.notes)]
        yield table_of(each.records, origin, place, ": ".join(each.titles), "\n".join(each.notes), **how)


def _header_lines(text: str) -> range | None:
    """Return the rows of a file that a text such as "4" or "1-2" names; none for "0", None for "".

    Raises `InputError` for other texts.
    """
    if not text:
        return None
    match = _ROW_RANGE.fullmatch(text.strip())
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if last < first or (first == 0 < last):
        hint = 'Write the numbers of the rows, such as "1-2" or "4", or "0" for none.'
        raise InputError(f"{shown(text)} does not name header rows", hint=hint)
    return range(first, last + 1) if first else range(0)


def _table_below(records: Sequence[Record], lines: range, origin: Origin) -> "RawTable":
    """Return the table below the header in these lines; the text above it is the title."""
    first = lines.start if lines else 0
    if sum(number in lines for number, _ in records) < len(lines):
        raise origin.error("is not a row of this file", at=lines.stop - 1)
    above = [record for record in records if record[0] < first and any(record[1])]
    return RawTable(_lines(above), [record for record in records if record[0] >= first])


@dataclass
class RawTable:
    """The records of a table, the header first, with the lines above and below that belong to it."""

    titles: list[str]
    records: list[Record]
    notes: list[str] = field(default_factory=list)


def sections(records: Iterable[Record]) -> list[RawTable]:
    """Split records, including blank ones, into tables.

    - Lines with one filled cell above wider lines are titles, and so are up to ten lines of a name and a
      value before a blank line and a table of three columns or more.
    - A title line after a blank line, with a header below it, begins another table.
    - The last lines are notes if they are set apart, shorter than any row, or begin like one ("Source:").

    If no line has two filled cells, all lines are one table of one column.
    """
    blocks = [list(group) for filled, group in groupby(records, lambda record: any(record[1])) if filled]
    if not any(_filled_count(cells) > 1 for block in blocks for _, cells in block):
        merged = [record for block in blocks for record in block]
        return [RawTable([], merged)] if merged else []
    tables: list[RawTable] = []
    titles: list[str] = []
    for block, following in zip(blocks, [*blocks[1:], []], strict=True):
        above = _titles_in(block)
        # Name-and-value lines above a wider table, such as the date of an export.
        is_narrow = len(block) <= _MAX_TITLES and all(_filled_count(cells) <= 2 for _, cells in block)
        head = following[_titles_in(following) % len(following)][1] if following else []
        if not tables and is_narrow and _filled_count(head) >= 3:
            titles += _lines(block)
        elif above == len(block):  # only such lines: notes to the table above, or titles of the one below
            if tables and not following:
                tables[-1].notes += titles
                titles = []
            for line in _lines(block):
                (tables[-1].notes if tables and (not following or _NOTE.match(line)) else titles).append(line)
        elif tables and not ((titles or above) and all(map(is_no_value, block[above][1]))):
            tables[-1].records += [*((0, [title]) for title in titles), *block]
            titles = []
        else:
            tables.append(RawTable([*titles, *_lines(block[:above])], block[above:]))
            titles = []
    for section in tables:
        width = max(len(cells) for _, cells in section.records)
        while width > 1 and len(section.records) > 2 and len(section.records[-1][1]) == 1:
            section.notes[:0] = _lines([section.records.pop()])
    return tables


def _titles_in(block: Sequence[Record]) -> int:
    """Count the lines at the start with one filled cell; 0 if they may name a column."""
    above = len(list(takewhile(lambda record: _filled_count(record[1]) == 1, block)))
    if 0 < above < len(block) and len(block[above][1]) == 2:
        names_a_column = above == 1 and len(block[0][1]) == 1 and len(_lines(block[:1])[0].split()) == 1
        return 0 if names_a_column else above
    return above


def _filled_count(cells: Sequence[str]) -> int:
    return sum(map(bool, cells))


def _lines(records: Iterable[Record]) -> list[str]:
    return [" ".join(filter(None, cells)) for _, cells in records]

"""Records of CSV and its relatives, with the line where each begins."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from chameleon.errors import InputError
from chameleon.table.grid import Origin, Record
from chameleon.text import clean_cell

# csv.reader wants lines; `splitlines` would also break them at form feeds and Unicode separators.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_UNUSUAL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")

_MOST_SHARED = 100_000


def delimited_records(text: str, delimiter: str, origin: Origin) -> Iterator[Record]:
    """Each record's first line and its cells, trimmed; quoted cells may hold delimiters and line breaks.

    Lines may end in any of the three ways, blank lines come as records without cells. Raises `InputError`
    for quotes that are not closed, text after a closing quote, and cells above `csv`'s limit.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = (match[0] for match in _LINE.finditer(text))
    tabs_are_data = "\t" in text and (delimiter != "\t" or '"' in text)
    # Nearly all files are plain, and there one C call per cell halves the time for large ones.
    tidy = clean_cell if tabs_are_data or _UNUSUAL.search(text) else str.strip
    # Cells repeat, and sharing them saves a third of a large table's memory; all of them would be too many.
    shared: dict[str, str] = {}
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    start = 1
    try:
        for cells in reader:
            spans_lines = reader.line_num > start
            tidied = [clean_cell(cell) for cell in cells] if spans_lines else list(map(tidy, cells))
            yield start, tuple(map(shared.setdefault, tidied, tidied))
            if len(shared) > _MOST_SHARED:
                shared.clear()
            start = reader.line_num + 1
    except csv.Error as error:
        raise _explained(error, start, origin) from None


def _explained(error: csv.Error, start: int, origin: Origin) -> InputError:
    reason = str(error)
    if "end of data" in reason:
        what, hint = "a quote is opened here and never closed", 'Close it, or write "" for a quote in a cell.'
    elif "expected after" in reason:
        what = "text follows a closing quote"
        hint = 'Put the whole cell in quotes and write "" for each quote inside it.'
    elif "field limit" in reason:
        what = f"a cell is longer than {csv.field_size_limit():,} characters"
        hint = "A quote that is never closed also looks like this."
    else:
        what, hint = f"cannot be read as CSV ({reason})", ""
    return origin.error(what, at=start, hint=hint)

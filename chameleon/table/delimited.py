r"""Records of text: CSV and its relatives, and tables drawn with bars.

Bars stand in `a | b` lines as in prompts and in Markdown tables; inside a cell a bar is written `\|`, as
GitHub's Markdown does.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from chameleon.table.records import Origin, Record
from chameleon.text import clean_cell

# csv.reader wants lines; `splitlines` would also break them at form feeds and Unicode separators.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_UNUSUAL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")

_MOST_SHARED = 100_000
_BAR = re.compile(r"(?<!\\)\|")
_RULE_CELL = re.compile(r"\s*:?-{3,}:?\s*")
_TIGHT_RULE = re.compile(r"\|(?::?-+:?\|)+")
_LAST_BAR = re.compile(r"(?<!\\)\|\Z")
_END = "\x1e"
_SAMPLE = 65_536  # characters
_MOST_TITLES = 10


def delimited_records(text: str, delimiter: str, origin: Origin, *, strict: bool = False) -> Iterator[Record]:
    """Yield each record's first line and its cells, trimmed; quoted cells may hold delimiters and breaks.

    Lines may end in any of the three ways, blank lines come as records without cells. Raises `InputError`
    for a quote that is never closed, cells above `csv`'s limit and, if `strict`, text after a closing quote.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    ended = False

    def lines() -> Iterator[str]:
        nonlocal ended
        yield from (match[0] for match in _LINE.finditer(text))
        ended = True
        yield _END  # stands in a cell where a quote is still open

    tabs_are_data = "\t" in text and (delimiter != "\t" or '"' in text)
    # Nearly all files are plain, and there one C call per cell halves the time for large ones.
    tidy = clean_cell if tabs_are_data or _UNUSUAL.search(text) else str.strip
    # Cells repeat, and sharing them saves a third of a large table's memory; all of them would be too many.
    shared: dict[str, str] = {}
    reader = csv.reader(lines(), delimiter=delimiter, skipinitialspace=True, strict=strict)
    start = 1
    try:
        for cells in reader:
            if ended:
                if cells != [_END]:
                    hint = 'Close it, or write "" for a quote in a cell.'
                    raise origin.error("a quote is opened here and never closed", at=start, hint=hint)
                return
            tidied = list(map(clean_cell if reader.line_num > start else tidy, cells))
            yield start, tuple(map(shared.setdefault, tidied, tidied))
            if len(shared) > _MOST_SHARED:
                shared.clear()
            start = reader.line_num + 1
    except csv.Error as error:
        what = f"a cell is longer than {csv.field_size_limit():,} characters, or a quote is never closed"
        raise origin.error(what if "limit" in str(error) else str(error), at=start) from None


def delimiter_of(text: str) -> str:
    """Return which of tab, bar, semicolon and comma splits the first lines most evenly; else the comma.

    The first lines may be titles, which no delimiter splits.
    """
    lines = sample_lines(text)
    for start in range(min(_MOST_TITLES, max(len(lines) - 2, 0)) + 1):
        delimiter, share = best_delimiter(lines[start:])
        if share > 0.5:
            return delimiter
    return ","


def best_delimiter(lines: list[str]) -> tuple[str, float]:
    """Return the delimiter and the share of records as wide as the first; ties go to the rarer character."""
    best, best_share = ",", 0.5  # what splits the header but few of the rows stands in a cell
    for delimiter in "\t|;,":
        widths = list(map(len, csv.reader(lines, delimiter=delimiter, skipinitialspace=True)))
        share = widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0
        if share > best_share:
            best, best_share = delimiter, share
    return best, best_share


def sample_lines(text: str) -> list[str]:
    """Return up to 50 filled lines from the start, without a last line that the sample cuts off."""
    lines = lines_of(text[:_SAMPLE])
    if len(text) > _SAMPLE and len(lines) > 1:
        lines.pop()
    return [line for line in islice(lines, 50) if line.strip()]


def lines_of(text: str) -> list[str]:
    """Split a text at the three usual line ends; `splitlines` knows eight more."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def has_bar(line: str) -> bool:
    """Tell whether a bar separates cells in this line."""
    return _BAR.search(line) is not None


def bars_in(line: str) -> int:
    """Count the bars that separate cells in this line; escaped ones do not."""
    return len(_BAR.findall(line))


def is_rule(line: str) -> bool:
    """Tell whether this is the line of dashes under a Markdown header."""
    line = line.strip()
    if _TIGHT_RULE.fullmatch(line):
        return True
    inner = line.removeprefix("|").removesuffix("|")
    return has_bar(line) and all(_RULE_CELL.fullmatch(cell) for cell in _BAR.split(inner))


def escape_bars(cell: str) -> str:
    """Write the bars inside a cell so that they separate nothing."""
    return cell.replace("|", r"\|")


def join_bars(cells: Sequence[str]) -> str:
    """Join a row to a line; a single cell gets bars at both ends, else no bar would tell it from prose."""
    line = " | ".join(escape_bars(cell) for cell in cells)
    return f"| {line} |" if len(cells) == 1 else line


def split_rows(lines: Sequence[str]) -> list[list[str]]:
    """Split each line of one table into cells, without its outer bars and without its rule.

    Whether bars at the ends are a frame or mark empty cells is decided for all lines together: they are a
    frame where every line has them. Under a rule, whose width is known, each line decides for itself.
    """
    if len(lines) > 1 and is_rule(lines[1]):
        width = len(_BAR.split(lines[1].strip().removeprefix("|").removesuffix("|")))
        return [_split_to(line.strip(), width) for index, line in enumerate(lines) if index != 1]
    left = all(line.startswith("|") for line in lines)
    # A space after the last bar is an empty last cell, unless bars at the left show that there is a frame.
    right = all(_LAST_BAR.search(line.rstrip() if left else line) for line in lines)
    return [_split(line, (left, right)) for line in lines]


def _split_to(line: str, width: int) -> list[str]:
    left, right = line.startswith("|"), _LAST_BAR.search(line) is not None
    tries = [_split(line, frame) for frame in ((left, right), (left, False), (False, right), (False, False))]
    return next((cells for cells in tries if len(cells) == width), tries[0])


def _split(line: str, frame: tuple[bool, bool]) -> list[str]:
    left, right = frame
    cells = [cell.strip().replace(r"\|", "|") for cell in _BAR.split(line)]
    return cells[1 if left else 0 : -1 if right and len(cells) > 1 else None]

"""Tables that a model wrote back, in whatever form it chose, and traced to the table they are from."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Self

from chameleon.errors import InputError
from chameleon.quoting import untagged
from chameleon.table.bars import bars_in, has_bar, is_rule, lines_of, split_rows
from chameleon.table.formats import ELLIPSIS
from chameleon.table.json_files import json_records
from chameleon.table.records import Origin
from chameleon.table.table import Row, Table
from chameleon.table.text_files import delimited_records
from chameleon.text import clean_cell

_ORIGIN = Origin("the reply")
_FENCE = re.compile(r"[ \t]*+(`{3,}|~{3,})")
_LABEL = re.compile(r"^\s*(?:/\*\s*)?(?:col|row\s+\d+)\s*:\s?", re.IGNORECASE)
_IGNORED = str.maketrans(dict.fromkeys("\"'`´‘’‚‛“”„‟«»‹›|*", ""))
_NOTE = re.compile(rf"{ELLIPSIS} \d[\d,]* (?:more rows? not shown|cells? cut to)")


def parse_table(text: str, like: Table | None = None) -> Table:
    """Read the table in a model's reply: lines with bars, Markdown, JSON, tab- or comma-separated.

    Code fences, prose around the table, a rule line, bars at the ends and the labels `col :` and
    `row 1 :` of Chain-of-Table's prompts are taken off. Where a reply holds several tables the last one
    counts. With `like`, names that differ from its header in case, space or quotes are given as there, and
    a missing header is taken from there when the widths agree. Raises `InputError` when there is no table
    or its rows differ in width.
    """
    fault: InputError | None = None
    for found in _tables_in(text, like):
        try:
            return found.fitted(like)
        except InputError as error:
            fault = fault or error
    raise fault or _ORIGIN.error("holds no table", hint="Ask for lines of cells with bars between them.")


@dataclass(frozen=True)
class _Found:
    """A table as it stands in a reply; under a rule, its first line is a header beyond doubt."""

    lines: list[list[str]]
    ruled: bool = False
    tabbed: bool = False

    @property
    def even(self) -> bool:
        """Tell whether all lines have the same number of cells."""
        return len(set(map(len, self.lines))) == 1

    @classmethod
    def of_json(cls, text: str) -> list[Self]:
        """Return the table that stands in a text as JSON, if one does."""
        lines = [line.strip() for line in lines_of(text)]
        first = next((i for i, line in enumerate(lines) if line.startswith(("{", "["))), len(lines))
        last = next((i for i in reversed(range(len(lines))) if lines[i].endswith(("}", "]"))), -1)
        if first > last:
            return []
        try:
            records = list(json_records("\n".join(lines[first : last + 1]), _ORIGIN))
            return [cls([list(cells) for _, cells in records])]
        except InputError:
            # A header, or prose, may begin with a bracket as well: then the other forms tell what it is.
            return []

    @classmethod
    def of_bars(cls, text: str) -> list[Self]:
        """Return tables with bars, the last first, but after all tables of several lines those of one."""
        tables, table, gap = list[list[str]](), list[str](), 0
        for line in lines_of(text):
            if not line.strip():
                gap = len(table)
            elif not has_bar(line):
                table = []
            elif table and gap and len(table) == gap + 1 and is_rule(line):
                tables.append(table := [table.pop(), line])
                gap = 0
            elif table and (len(table) > gap or bars_in(line) == bars_in(table[-1])):
                table.append(line)
            else:
                tables.append(table := [line])
                gap = 0
        tables.reverse()
        tables.sort(key=lambda lines: len(lines) == 1)
        return [
            cls(
                split_rows(
                    [_LABEL.sub("", line) for line in lines] if all(map(_LABEL.match, lines)) else lines
                ),
                ruled=len(lines) > 1 and is_rule(lines[1]),
            )
            for lines in tables
        ]

    @classmethod
    def of_delimited(cls, text: str, delimiter: str) -> list[Self]:
        """Return runs of two or more lines with the delimiter and no even number of bars, the last first."""
        lines = [line for line in lines_of(text) if not _NOTE.match(line)]
        runs = [list(run) for inside, run in groupby(lines, lambda line: delimiter in line) if inside]
        tables = list[Self]()
        for run in reversed(runs):
            try:
                records = list(delimited_records("\n".join(run), delimiter, _ORIGIN, strict=True))
            except InputError:
                # Prose with a quotation mark after its comma is no table.
                continue
            bars = {bars_in(line) for line in run[1:]}
            if len(records) > 1 and (len(bars) > 1 or bars == {0}):
                tables.append(cls([list(cells) for _, cells in records], tabbed=delimiter == "\t"))
        return tables

    def fitted(self, like: Table | None) -> Table:
        """Return the table, names as `like` has them. Raises `InputError` where rows differ in width."""
        lines = [[clean_cell(cell) for cell in line] for line in self.lines]
        header, *rows = lines
        if like is not None and not self.ruled and self._lacks_header(header, like):
            header, rows = list(like.header), lines
        if like is not None:
            spelling = {normal(name): name for name in reversed(like.header)}
            header = [name if name in like.header else spelling.get(normal(name), name) for name in header]
        width = len(header)
        if not width:
            raise _ORIGIN.error("holds bars without cells")
        for number, row in enumerate(rows, 1):
            if len(row) > width and not any(row[width:]):
                del row[width:]
            if len(row) != width:
                raise _ORIGIN.error(f"row {number} has {len(row)} cells, the header has {width}")
        return Table(header, rows, like.caption if like else "")

    @staticmethod
    def _lacks_header(line: list[str], like: Table) -> bool:
        """Tell whether a first line is a row of `like`, or at least none of its names, not a header."""
        if len(line) != len(like.header):
            return False
        names, cells = set(map(normal, like.header)) - {""}, list(map(normal, line))
        if names.isdisjoint(cells):
            return True
        rows = (list(map(normal, row)) for row in like.rows)
        return cells != list(map(normal, like.header)) and cells in rows


def _tables_in(text: str, like: Table | None) -> Iterator[_Found]:
    """Yield what may be the reply's table, the likeliest first: fences before prose, later before earlier."""
    for block in [*reversed(_fenced(text)), text]:
        delimited = _Found.of_delimited(block, "\t") + _Found.of_delimited(block, ",")
        if block is text:
            # Prose is full of commas: outside a fence, a known column or a tab has to speak for a table.
            known = {normal(name) for name in like.header if name} if like else set()
            names = (set(map(normal, found.lines[0])) for found in delimited)
            delimited = [f for f, its in zip(delimited, names, strict=True) if f.tabbed or known & its]
        yield from _Found.of_json(block)
        yield from (found for found in delimited if found.even)
        yield from _Found.of_bars(block)
        yield from (found for found in delimited if not found.even)


def _fenced(text: str) -> list[str]:
    """Return what stands in code fences; one that no later line closes opens nothing."""
    lines = text.split("\n")
    last = {line.strip(): number for number, line in enumerate(lines)}
    found, mark, begun = list[str](), "", 0
    for number, line in enumerate(lines):
        if mark and line.strip() == mark:
            found.append("\n".join(lines[begun:number]))
            mark = ""
        elif not mark and (fence := _FENCE.match(line)) and last.get(fence[1], 0) > number:
            mark, begun = fence[1], number + 1
    return found


def as_subtable(reply: Table, table: Table) -> Table | None:
    """Take the rows and columns of `table` that a model's sub-table names from `table` itself.

    Names and cells match when they agree after case, space, bars, quotes and asterisks are normalised, the
    exact ones first; where names repeat, the first of them is meant first. The result has the order and
    the cells of `table`. None when `reply` holds a row or column that `table` does not have (a row as often
    as there), or when nothing is left.
    """
    columns = positions([(name,) for name in reply.header], [(name,) for name in table.header])
    if columns is None or not reply.rows:
        return None
    rows = positions(reply.rows, [tuple(row[index] for index in columns) for row in table.rows])
    if rows is None:
        return None
    return table.take_rows(sorted(rows)).take_columns(sorted(columns))


def normal(text: str) -> str:
    """Write a name or cell as it is compared: case, space, quotes, bars, asterisks and width do not count.

    Nor does whether it was copied from a prompt, where tags are written in another way.
    """
    return " ".join(unicodedata.normalize("NFKC", untagged(text)).translate(_IGNORED).casefold().split())


def positions(wanted: Sequence[Row], present: Sequence[Row]) -> list[int] | None:
    """Find each wanted row, each position used once, the first ones first; None if one is missing.

    Rows are the same to the letter, else as `normal` writes them.
    """
    found: dict[int, int] = {}
    keys: tuple[Callable[[Row], Row], ...] = (lambda row: row, lambda row: tuple(map(normal, row)))
    for key in keys:
        if len(found) == len(wanted):
            break
        taken = set(found.values())
        free: defaultdict[Row, deque[int]] = defaultdict(deque)
        for position, row in enumerate(present):
            if position not in taken:
                free[key(row)].append(position)
        for index, row in enumerate(wanted):
            if index not in found and free[key(row)]:
                found[index] = free[key(row)].popleft()
    return [found[index] for index in range(len(wanted))] if len(found) == len(wanted) else None

"""Tables that a model wrote back, in whatever form it chose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from chameleon.errors import InputError
from chameleon.table.bars import bars_in, has_bar, is_rule, lines_of, split_rows
from chameleon.table.delimited import delimited_records
from chameleon.table.formats import ELLIPSIS
from chameleon.table.grid import Origin
from chameleon.table.json_tables import json_records
from chameleon.table.subtable import normal
from chameleon.table.table import Table
from chameleon.text import clean_cell

_ORIGIN = Origin("the reply")
_FENCE = re.compile(r"[ \t]*+(`{3,}|~{3,})")
_LABEL = re.compile(r"^\s*(?:/\*\s*)?(?:col|row\s+\d+)\s*:\s?", re.IGNORECASE)
_NOTE = re.compile(rf"{ELLIPSIS} \d[\d,]* (?:more rows? not shown|cells? cut to)")


def parse_table(text: str, like: Table | None = None) -> Table:
    """The table in a model's reply: lines with bars, Markdown, JSON, tab- or comma-separated.

    Code fences, prose around the table, a rule line, bars at the ends and the labels `col :` and
    `row 1 :` of Chain-of-Table's prompts are taken off. Where a reply holds several tables the last one
    counts. With `like`, names that differ from its header in case, space or quotes are given as there, and
    a missing header is taken from there when the widths agree. Raises `InputError` when there is no table
    or its rows differ in width.
    """
    fault: InputError | None = None
    for found in _tables_in(text, like):
        try:
            return _fitted(found, like)
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
        """Whether all lines have the same number of cells."""
        return len(set(map(len, self.lines))) == 1


def _tables_in(text: str, like: Table | None) -> Iterator[_Found]:
    """What may be the reply's table, the likeliest first: in fences before outside, later before earlier."""
    for block in [*reversed(_fenced(text)), text]:
        delimited = _delimited_tables(block, "\t") + _delimited_tables(block, ",")
        if block is text:
            delimited = [found for found in delimited if _is_vouched_for(found, like)]
        yield from _json_tables(block)
        yield from (found for found in delimited if found.even)
        yield from _bar_tables(block)
        yield from (found for found in delimited if not found.even)


def _fenced(text: str) -> list[str]:
    """What stands in code fences; one that no later line closes opens nothing."""
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


def _is_vouched_for(found: _Found, like: Table | None) -> bool:
    """Whether a known column, or a tab, speaks for a table outside a fence: prose is full of commas."""
    known = {normal(name) for name in like.header if name} if like else set()
    return found.tabbed or not known.isdisjoint(map(normal, found.lines[0]))


def _json_tables(text: str) -> list[_Found]:
    lines = [line.strip() for line in lines_of(text)]
    first = next((i for i, line in enumerate(lines) if line.startswith(("{", "["))), len(lines))
    last = next((i for i in reversed(range(len(lines))) if lines[i].endswith(("}", "]"))), -1)
    if first > last:
        return []
    try:
        records, _ = json_records("\n".join(lines[first : last + 1]), _ORIGIN)
        return [_Found([list(cells) for _, cells in records])]
    except InputError:
        # A header, or prose, may begin with a bracket as well: then the other forms tell what the text is.
        return []


def _bar_tables(text: str) -> list[_Found]:
    """Tables with bars, the last first, but after all tables of several lines those of one."""
    tables: list[list[str]] = []
    state: Literal["outside", "gap", "inside"] = "outside"
    after_gap = 0
    for line in lines_of(text):
        if not line.strip():
            state = "gap" if state == "inside" else state
        elif not has_bar(line):
            state = "outside"
        elif state == "inside" and is_rule(line) and after_gap and len(tables[-1]) == after_gap + 1:
            tables.append([tables[-1].pop(), line])
            after_gap = 0
        elif state == "inside" or (state == "gap" and bars_in(line) == bars_in(tables[-1][-1])):
            after_gap = len(tables[-1]) if state == "gap" else after_gap
            tables[-1].append(line)
            state = "inside"
        else:
            tables.append([line])
            state, after_gap = "inside", 0
    tables.reverse()
    tables.sort(key=lambda lines: len(lines) == 1)
    return [
        _Found(split_rows(_without_labels(lines)), ruled=len(lines) > 1 and is_rule(lines[1]))
        for lines in tables
    ]


def _without_labels(lines: list[str]) -> list[str]:
    if all(_LABEL.match(line) for line in lines):
        return [_LABEL.sub("", line) for line in lines]
    return lines


def _delimited_tables(text: str, delimiter: str) -> list[_Found]:
    """Runs of two or more lines that hold the delimiter but no even number of bars, the last first."""
    lines = [line for line in lines_of(text) if not _NOTE.match(line)]
    runs = [list(run) for inside, run in groupby(lines, lambda line: delimiter in line) if inside]
    tables = []
    for run in reversed(runs):
        try:
            records = list(delimited_records("\n".join(run), delimiter, _ORIGIN))
        except InputError:
            # Prose with a quotation mark after its comma is no table.
            continue
        bars = {bars_in(line) for line in run[1:]}
        if len(records) > 1 and (len(bars) > 1 or bars == {0}):
            tables.append(_Found([list(cells) for _, cells in records], tabbed=delimiter == "\t"))
    return tables


def _fitted(found: _Found, like: Table | None) -> Table:
    lines = [[clean_cell(cell) for cell in line] for line in found.lines]
    header, *rows = lines
    if like is not None and not found.ruled and _is_row(header, like):
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


def _is_row(line: list[str], like: Table) -> bool:
    """Whether a first line is a row of `like`, or at least none of its names, where a header should be."""
    if len(line) != len(like.header):
        return False
    names, cells = set(map(normal, like.header)) - {""}, list(map(normal, line))
    if names.isdisjoint(cells):
        return True
    rows = (list(map(normal, row)) for row in like.rows)
    return cells != list(map(normal, like.header)) and cells in rows

"""Tables of a PDF's page: rows whose cells stand apart and below each other, ruled or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from chameleon.documents.pdf_lines import CAPTION, LEADING, SOFT, Line, Word
from chameleon.table import Table

_WHITE = 0.45  # of the letters' size: white so wide, from the first row to the last, parts columns
_FAR = 3.2  # of the letters' size: rows further below each other are no one table
_LEAST_ROWS, _BETWEEN = 3, 2  # rows of several cells; rows of one that may stand between them
_MOST_WORDS = 6  # of a row that stands across columns, as "Fixed assets" does
_PARTED = 0.4  # of the rows have cells on both sides where two columns part
_CROSSING = 0.1  # of the rows may have letters where two columns part
_WIDEST = 20_000  # points; PDF's own limit is 14,400
_FEW_WORDS = 4  # in a cell of a table, in one column at least
_MARK = re.compile(r"[•·▪◦*†‡–—-]|[(\[]?(?:\d{1,4}|[a-zA-Z]|[ivx]+)[.)\]]{0,2}|\d+(?:\.\d+)*\.?")
_NO_DATA = re.compile(r"(?:\. ?){4}|[=∑∏∫∂∇√⊗]|(?:^|\s)[+−∥](?:\s|$)|[\ufe00-\ufe0f]")
"""In the rows of a list of contents, of formulas and of programs."""
_BLANK = re.compile(r"(?<=[$€£¥(])\s+(?=[\d(])|(?<=\d)\s+(?=[)%])")
_MARKED = re.compile(r"(?<=[\d%)])(?<!10)[⁰¹²³⁴-⁹]{1,2}$")
"""Blanks between a figure and its sign, and the mark of a note behind a figure."""
_DIGIT = re.compile(r"\d")


class _Row(NamedTuple):
    """Lines that stand on one level, as one line, and its words, parted where white stands between cells."""

    lines: list[Line]
    line: Line
    runs: list[list[Word]]


def with_tables(flow: Sequence[Line]) -> Iterator[Line | Table]:
    """The lines of a column as they were written; those of a table as that table, where it begins."""
    of, told = dict[Line, Table](), set[int]()
    rows = _rows(flow)
    begin = 0
    while begin < len(rows):
        end = _end(rows, begin)
        table = _table(rows[begin:end]) if end - begin >= _LEAST_ROWS else None
        if table is not None:
            of |= {line: table for row in rows[begin:end] for line in row.lines}
        begin = max(end, begin + 1)
    for line in flow:
        if line not in of:
            yield line
        elif id(of[line]) not in told:
            told.add(id(of[line]))
            yield of[line]


def _rows(flow: Sequence[Line]) -> list[_Row]:
    """Lines that are level, from the top down."""
    level = list[list[Line]]()
    for line in sorted(flow, key=lambda line: -line.base):
        if level and level[-1][0].is_level_with(line):
            level[-1].append(line)
        else:
            level.append([line])
    rows = list[_Row]()
    for lines in level:
        words = sorted((word for line in lines for word in line.words), key=lambda word: word.x0)
        whole = replace(lines[0], words=words)
        rows.append(_Row(lines, whole, whole.runs()))
    return rows


def _end(rows: Sequence[_Row], begin: int) -> int:
    """Where the table ends that begins at a row, if one does: at a line of text across its columns, say."""
    if len(rows[begin].runs) < 2:
        return begin
    last, second = begin, rows[begin].runs[1][0].x0
    for place in range(begin + 1, len(rows)):
        row, down = rows[place], rows[place - 1].line.base - rows[place].line.base
        if down > _FAR * row.line.size or CAPTION.match(row.line.text):
            break
        if len(row.runs) > 1:
            last, second = place, min(second, row.runs[1][0].x0)
        elif row.line.words[0].x0 >= second - 1 and down <= LEADING * row.line.size:
            last = place
        elif place - last > _BETWEEN or (
            row.line.words[-1].x1 > second and len(row.line.words) > _MOST_WORDS
        ):
            break
    return last + 1


def _table(rows: Sequence[_Row]) -> Table | None:
    """The table of these rows; None where they are a list, formulas, or text that stands in columns."""
    edges = _edges([row for row in rows if len(row.runs) > 1])
    if not edges:
        return None
    grid = [_cells(row, edges) for row in rows]
    firsts = [cells[0] for cells in grid if cells[0]]
    if len(edges) == 1 and 2 * sum(map(bool, map(_MARK.fullmatch, firsts))) > len(firsts):
        return None
    if 3 * sum(_NO_DATA.search(" ".join(cells)) is not None for cells in grid) >= len(grid):
        return None
    words = [[len(cell.split()) for cell in column if cell] for column in zip(*grid, strict=True)]
    if min(median(column) for column in words if column) > _FEW_WORDS:
        return None
    return _headed(_unwrapped(grid))


def _edges(rows: Sequence[_Row]) -> list[float]:
    """Where columns part: white that runs through nearly all rows, and parts cells in many of them."""
    if len(rows) < _LEAST_ROWS or any(row.line.x1 - row.line.x0 > _WIDEST for row in rows):
        return []
    letters, gaps = Counter[int](), Counter[int]()
    for row in rows:
        for word in row.line.words:
            letters.update(range(int(word.x0), int(word.x1) + 2))
        for before, after in pairwise(row.runs):
            gaps.update(range(int(before[-1].x1), int(after[0].x0)))
    edges = list[float]()
    least = _WHITE * median(row.line.size for row in rows)
    few = max(_CROSSING * len(rows), len(rows) > _LEAST_ROWS)
    across = range(min(letters), max(letters) + 1)
    for is_white, places in groupby(across, key=lambda place: letters[place] <= few):
        band = list(places)
        if is_white and len(band) >= least and max(gaps[place] for place in band) >= _PARTED * len(rows):
            edges.append(median(band))
    return edges


def _cells(row: _Row, edges: Sequence[float]) -> list[str]:
    cells = [list[str]() for _ in range(len(edges) + 1)]
    for word in row.line.words:
        middle = row.line.words[0].x0 if len(row.runs) == 1 else (word.x0 + word.x1) / 2
        cells[sum(edge < middle for edge in edges)].append(word.text)
    joined = (_BLANK.sub("", " ".join(cell)) for cell in cells)
    return [_MARKED.sub("", cell) if _DIGIT.search(cell) else cell for cell in joined]


def _unwrapped(grid: Sequence[list[str]]) -> list[list[str]]:
    """The rows; what goes on in the next line, in half of the columns at most, is one cell."""
    kept = list[list[str]]()
    for cells in grid:
        filled = [place for place, cell in enumerate(cells) if cell]
        begins = filled == [0] and not cells[0][0].islower()
        goes_on = kept and not any(kept[-1][1:]) and cells[0][:1].islower()
        if goes_on or (kept and 2 * len(filled) <= len(cells) and not begins):
            both = zip(kept[-1], cells, strict=True)
            kept[-1] = [f"{above} {cell}".strip().replace(f"{SOFT} ", "") for above, cell in both]
        else:
            kept.append(cells)
    return kept


def _headed(grid: Sequence[list[str]]) -> Table | None:
    """The table, whose header are the rows above the first one with figures, three at most."""
    figures = [place for place, cells in enumerate(grid) if any(map(_DIGIT.search, cells[1:]))]
    heads = figures[0] if figures and 0 < figures[0] <= 3 and 2 * len(figures) >= len(grid) else 1
    if len(grid) < max(_LEAST_ROWS, heads + 1):
        return None
    header = [" ".join(filter(None, names)) for names in zip(*grid[:heads], strict=True)]
    header, *body = ([cell.replace(SOFT, "-") for cell in cells] for cells in (header, *grid[heads:]))
    return Table(header, body)

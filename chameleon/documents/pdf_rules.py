"""The lines that a PDF's page draws, and the cells that they part: the grids of ruled tables."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from chameleon.documents.pdf_lines import TURNS

NEAR = 3.0  # points: a line is no thicker; those so near to each other are one, or meet
_STRAIGHT = 0.5  # points: how far the ends of an upright line may stand apart
_LONG = 0.5  # of a grid's height or width: what is shorter parts no columns or rows
_MOST_DRAWN, _MOST_PAIRS, _MOST_CELLS = 10_000, 100_000, 10_000  # of a page; those of a chart, say

Stroke = tuple[float, float, float, float]
"""A drawn line's ends: x and y of the one, x and y of the other."""
Cell = tuple[int, int]
"""Row and column, from 0; that of a merged cell is its first."""


class _Rule(NamedTuple):
    """A line: where it stands, across its own direction, and where along it begins and ends."""

    at: float
    begin: float
    end: float

    def meets(self, other: _Rule) -> bool:
        return self.covers(other.at) and other.covers(self.at)

    def covers(self, place: float) -> bool:
        return self.begin - NEAR <= place <= self.end + NEAR


class Grid:
    """The cells of a ruled table: `x` are the edges of its columns, `y` of its rows from the top.

    `cells` has the cell that each is part of: that of a merged one is the first.
    """

    def __init__(self, upright: Sequence[_Rule], level: Sequence[_Rule]) -> None:
        left = min(rule.begin for rule in level)
        right = max(rule.end for rule in level)
        low, high = min(rule.begin for rule in upright), max(rule.end for rule in upright)
        self.x = _places(upright, left, right, [low, high], high - low)
        self.y = _places(level, low, high, self.x, right - left)[::-1]
        self.cells = list[list[Cell]]()
        if len(self.x) * len(self.y) > _MOST_CELLS:
            return
        for row, (top, foot) in enumerate(pairwise(self.y)):
            self.cells.append([])
            for column, (begin, end) in enumerate(pairwise(self.x)):
                cell = row, column
                if column and not _parts(upright, begin, (top + foot) / 2):
                    cell = self.cells[row][-1]
                elif row and not _parts(level, top, (begin + end) / 2):
                    cell = self.cells[row - 1][column]
                self.cells[row].append(cell)

    def cell_at(self, x: float, y: float) -> Cell | None:
        """The cell at a point, if the grid has one there."""
        row, column = sum(edge > y for edge in self.y) - 1, sum(edge < x for edge in self.x) - 1
        is_within = 0 <= row < len(self.cells) and 0 <= column < len(self.x) - 1
        return self.cells[row][column] if is_within else None


def strokes_of(page: Any) -> list[Stroke]:
    """The straight lines and the sides of the rectangles that a page (pypdfium2's) draws."""
    import pypdfium2.raw as pdfium

    found, left = list[Stroke](), _MOST_DRAWN
    ends = [ctypes.c_float() for _ in range(4)]
    for number in range(min(pdfium.FPDFPage_CountObjects(page.raw), _MOST_DRAWN)):
        drawn = pdfium.FPDFPage_GetObject(page.raw, number)
        if pdfium.FPDFPageObj_GetType(drawn) == pdfium.FPDF_PAGEOBJ_PATH:
            pdfium.FPDFPageObj_GetBounds(drawn, *ends)
            x0, y0, x1, y1 = (end.value for end in ends)
            if min(x1 - x0, y1 - y0) > NEAR:
                left -= pdfium.FPDFPath_CountSegments(drawn)
                found += _sides(drawn) if left > 0 else ()
            elif x1 - x0 < y1 - y0:
                found.append(((x0 + x1) / 2, y0, (x0 + x1) / 2, y1))
            else:
                found.append((x0, (y0 + y1) / 2, x1, (y0 + y1) / 2))
    return found


def _sides(path: Any) -> Iterator[Stroke]:
    """The straight lines of a path."""
    import pypdfium2.raw as pdfium

    matrix, x, y = pdfium.FS_MATRIX(), ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    begin = last = 0.0, 0.0
    for number in range(pdfium.FPDFPath_CountSegments(path)):
        segment = pdfium.FPDFPath_GetPathSegment(path, number)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_LINETO:
            yield *last, *point
        elif kind == pdfium.FPDF_SEGMENT_MOVETO:
            begin = point
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield *point, *begin
        last = point


def grids_of(strokes: Iterable[Stroke], turn: int) -> Iterator[Grid]:
    """The grids of two columns or more that lines make, for text that is turned so."""
    along, up = TURNS[turn]
    upright, level = list[_Rule](), list[_Rule]()
    for stroke in strokes:
        x = sorted(along * stroke[end] + up * stroke[end + 1] for end in (0, 2))
        y = sorted(along * stroke[end + 1] - up * stroke[end] for end in (0, 2))
        if x[1] - x[0] <= _STRAIGHT:
            upright.append(_Rule(x[0], *y))
        elif y[1] - y[0] <= _STRAIGHT:
            level.append(_Rule(y[0], *x))
    upright, level = _joined(upright), _joined(level)
    if len(upright) * len(level) > _MOST_PAIRS:
        return
    while upright:
        own, crossing, new = list[_Rule](), list[_Rule](), [upright.pop()]
        while new:
            own += new
            met = [rule for rule in level if any(map(rule.meets, new))]
            level = [rule for rule in level if rule not in met]
            crossing += met
            new = [rule for rule in upright if any(map(rule.meets, met))]
            upright = [rule for rule in upright if rule not in new]
        if len(crossing) > 1:
            grid = Grid(own, crossing)
            if len(grid.x) > 2 and grid.cells:
                yield grid


def _joined(rules: Iterable[_Rule]) -> list[_Rule]:
    """The lines, those that lie on each other or go on each other as one."""
    places = list[list[_Rule]]()
    for rule in sorted(rules):
        if places and rule.at - places[-1][0].at <= NEAR:
            places[-1].append(rule)
        else:
            places.append([rule])
    found = list[_Rule]()
    for place in places:
        held = None
        for _, begin, end in sorted(place, key=lambda rule: rule.begin):
            if held is not None and begin <= held.end + NEAR:
                held = held._replace(end=max(held.end, end))
                found[-1] = held
            else:
                held = _Rule(place[0].at, begin, end)
                found.append(held)
    return found


def _places(
    rules: Sequence[_Rule], first: float, last: float, edges: Sequence[float], length: float
) -> list[float]:
    """Where lines stand that are long, or go from edge to edge, and the ends of those that cross them."""
    long = Counter[float]()
    for rule in rules:
        ends = all(any(abs(end - edge) <= NEAR for edge in edges) for end in rule[1:])
        long[rule.at] += length if ends else rule.end - rule.begin
    inner = {at for at in long if long[at] >= _LONG * length and first + NEAR < at < last - NEAR}
    return [first, *sorted(inner), last]


def _parts(rules: Iterable[_Rule], at: float, place: float) -> bool:
    return any(rule.at == at and rule.covers(place) for rule in rules)

"""The lines that a PDF's page draws, and the grids of cells that they form."""

import ctypes
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

NEAR = 3.0  # points: lines this close to each other are one, or meet
_MAX_SKEW = 0.5  # points: how far apart the ends of an upright line may be, sideways
_MIN_EXTENT = 0.5  # of a grid: shorter lines that end within cells separate no columns or rows
_MAX_OBJECTS, _MAX_PAIRS, _MAX_CELLS = 10_000, 100_000, 10_000  # of a page; a chart has more
Cell = tuple[int, int]
"""Row and column, from 0; of a merged cell, the first ones."""


class _Rule(NamedTuple):
    """A line: its position across its own direction, and where it begins and ends."""

    at: float
    begin: float
    end: float

    def covers(self, place: float) -> bool:
        return self.begin - NEAR <= place <= self.end + NEAR

    def meets(self, other: "_Rule") -> bool:
        return self.covers(other.at) and other.covers(self.at)


class RuledGrid(NamedTuple):
    """The edges of columns and rows, from the top down (heights are negative), and the cells between them."""

    x: Sequence[float]
    y: Sequence[float]
    cells: Mapping[Cell, Cell]

    def cell_at(self, x: float, height: float) -> Cell | None:
        return self.cells.get((bisect(self.y, -height) - 1, bisect(self.x, x) - 1))


def grids_of(page: Any) -> Iterator[RuledGrid]:
    """Yield the grids of two columns or more that a page (from pypdfium2) draws."""
    upright, level = list[_Rule](), list[_Rule]()
    for (x0, y0), (x1, y1) in _strokes(page):
        if abs(x1 - x0) <= _MAX_SKEW < abs(y1 - y0):
            upright.append(_Rule(x0, *sorted((-y0, -y1))))
        elif abs(y1 - y0) <= _MAX_SKEW < abs(x1 - x0):
            level.append(_Rule(-y0, *sorted((x0, x1))))
    upright, level = _join(upright), _join(level)
    while upright and len(upright) * len(level) <= _MAX_PAIRS:
        rules, crossing, new = list[_Rule](), list[_Rule](), [upright.pop()]
        while new:
            rules += new
            met = {rule for rule in level if any(map(rule.meets, new))}
            level = [rule for rule in level if rule not in met]
            crossing += met
            new = [rule for rule in upright if any(map(rule.meets, met))]
            upright = [rule for rule in upright if rule not in new]
        if len(rules) > 1 and len(crossing) > 1:
            x = _edges(rules, crossing, ())
            y = _edges(crossing, rules, x)
            if len(x) > 2 and len(x) * len(y) <= _MAX_CELLS:
                yield RuledGrid(x, y, _cells(x, y, rules, crossing))


def _strokes(page: Any) -> Iterator[Sequence[tuple[float, float]]]:
    """Yield both ends of each straight line, including the sides of rectangles."""
    import pypdfium2.raw as pdfium

    matrix, x, y = pdfium.FS_MATRIX(), ctypes.c_float(), ctypes.c_float()
    budget, begin, last = _MAX_OBJECTS, (0.0, 0.0), (0.0, 0.0)
    for number in range(min(pdfium.FPDFPage_CountObjects(page.raw), _MAX_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page.raw, number)
        segments = pdfium.FPDFPath_CountSegments(drawn)  # -1 if it is not a path
        budget -= max(segments, 0)
        pdfium.FPDFPageObj_GetMatrix(drawn, matrix)
        for place in range(segments if budget > 0 else 0):
            segment = pdfium.FPDFPath_GetPathSegment(drawn, place)
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            along = matrix.a * x.value + matrix.c * y.value + matrix.e
            before, last = last, (along, matrix.b * x.value + matrix.d * y.value + matrix.f)
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                begin = last
            elif kind == pdfium.FPDF_SEGMENT_LINETO:
                yield before, last
            if pdfium.FPDFPathSegment_GetClose(segment):
                yield last, begin


def _join(rules: Iterable[_Rule]) -> list[_Rule]:
    """Join lines that overlap or continue each other."""
    places, joined = list[_Rule](), list[_Rule]()
    for rule in sorted(rules):
        is_near = places and rule.at - places[-1].at <= NEAR
        places.append(rule._replace(at=places[-1].at) if is_near else rule)
    for rule in sorted(places):
        if joined and joined[-1].at == rule.at and rule.begin <= joined[-1].end + NEAR:
            joined[-1] = joined[-1]._replace(end=max(rule.end, joined[-1].end))
        else:
            joined.append(rule)
    return joined


def _edges(rules: Sequence[_Rule], crossing: Sequence[_Rule], others: Sequence[float]) -> list[float]:
    """Return the positions of lines that are long or go from edge to edge, and of the outermost ends."""
    first, last = min(rule.begin for rule in crossing), max(rule.end for rule in crossing)
    limit = _MIN_EXTENT * (max(rule.end for rule in rules) - min(rule.begin for rule in rules))
    long = dict[float, float]()
    for at, *ends in rules:
        is_whole = all(any(abs(end - edge) <= NEAR for edge in others) for end in ends)
        long[at] = long.get(at, 0.0) + (limit if is_whole else ends[1] - ends[0])
    return [first, *sorted(at for at in long if long[at] >= limit and first + NEAR < at < last - NEAR), last]


def _cells(
    x: Sequence[float], y: Sequence[float], upright: Sequence[_Rule], level: Sequence[_Rule]
) -> dict[Cell, Cell]:
    """Return the cell at each place; places that no line separates share the one on the left or above."""
    cells = dict[Cell, Cell]()
    for row, (top, foot) in enumerate(pairwise(y)):
        for column, (begin, end) in enumerate(pairwise(x)):
            cell = row, column
            if column and not any(rule.at == begin and rule.covers((top + foot) / 2) for rule in upright):
                cell = cells[row, column - 1]
            elif row and not any(rule.at == top and rule.covers((begin + end) / 2) for rule in level):
                cell = cells[row - 1, column]
            cells[row, column] = cell
    return cells

"""Tables of PDFs: cells separated by drawn lines, or else rows whose cells line up below each other."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice, pairwise, takewhile
from statistics import median
from typing import NamedTuple

from chameleon.documents.pdf_lines import CAPTION, LEADING, SOFT, Line, Word
from chameleon.documents.pdf_rules import NEAR, Cell, RuledGrid
from chameleon.table import Table
from chameleon.table.structure import header_rows, joined_header

_MIN_COLUMN_GAP = 0.45  # of the letters' size: white space this wide in all rows separates columns
_MAX_ROW_GAP = 3.2  # of the letters' size: rows further below each other are not one table
_MIN_ROWS, _MAX_BETWEEN = 3, 2  # rows of several cells; rows of one cell that may be between them
_MAX_SPAN_WORDS = 6  # of a row that spans columns, as "Fixed assets" does
_MIN_PARTED = 0.4  # of the rows have cells on both sides of the gap between two columns
_MAX_CROSSING = 0.1  # of the rows may have letters in the gap between two columns
_MAX_WIDTH = 20_000  # points; PDF's own limit is 14,400
_MAX_SPACE = 0.3  # of the letters' size: words no further apart are in one cell, even across a drawn line
_MAX_GRIDS = 50  # of a page
_MIN_FILLED = 0.25  # of the cells of a ruled table hold text; fewer in a chart or a form
_MAX_CELL_WORDS = 4  # in a cell of a table, in one column at least
# Marks of items, such as "•", "†", "3.", "(a)", "[12]", "2.3.1": two columns that begin with them are a list.
_MARK = re.compile(r"[•·▪◦*†‡–—-]|[(\[]?(?:\d{1,4}|[a-zA-Z]|[ivx]+)[.)\]]{0,2}|\d+(?:\.\d+)*\.?")
_NO_DATA = re.compile(r"(?:\. ?){4}|[=∑∏∫∂∇√⊗]|(?:^|\s)[+−∥](?:\s|$)|[\ufe00-\ufe0f]")
"""Marks of rows in tables of contents, formulas and programs."""
_SIGN_SPACE = re.compile(r"(?<=[$€£¥(])\s+(?=[\d(])|(?<=\d)\s+(?=[)%])")
_FOOTNOTE_MARK = re.compile(r"(?<=[\d%)])(?<!10)[⁰¹²³⁴-⁹]{1,2}$")
"""Spaces between a figure and its sign, and the footnote mark after a figure."""
_DIGIT = re.compile(r"\d")


class _Row(NamedTuple):
    """Lines at the same height as one line, and its words, split where white space separates cells."""

    lines: list[Line]
    line: Line
    runs: list[list[Word]]


def with_tables(flow: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines of a column as they were written, each table as one line where it begins."""
    for heading, group in groupby(flow, key=lambda line: line.heading):
        table_of, lines, begin = dict[Line, Line](), list(group), 0
        rows = _rows(lines) if heading is None else []
        while begin < len(rows):
            end = _end(rows, begin)
            table = _table(rows[begin:end]) if end - begin >= _MIN_ROWS else None
            if table is not None:
                merged = replace(rows[begin].line, table=table)
                table_of |= {line: merged for row in rows[begin:end] for line in row.lines}
            begin = max(end, begin + 1)
        yield from dict.fromkeys(table_of.get(line, line) for line in lines)


def with_ruled_tables(lines: list[Line], grids: Iterable[RuledGrid], above: Sequence[float]) -> list[Line]:
    """Return the lines of a page, each grid as one; a single row is a table only below the edges `above`."""
    for grid in islice(grids, _MAX_GRIDS):
        cells, outside, merged = dict[Cell, list[Line]](), list[Line](), Line(0, 0, 0)
        for line in lines:
            for cell, piece in _pieces(line, grid):
                if cell is None:
                    outside.append(piece)
                else:
                    outside += [] if cells else [merged]
                    cells.setdefault(cell, []).append(piece)
        table = _ruled_table(cells, grid) if cells else None
        if table is not None and (table.rows or _are_same(above, grid.x)):
            every = [line for pieces in cells.values() for line in pieces]
            merged.base, merged.size = max((line.base, line.size) for line in every)
            merged.words = [word for line in every for word in line.words]
            merged.table, merged.edges, lines = table, grid.x, outside
    return lines


def _pieces(line: Line, grid: RuledGrid) -> Iterator[tuple[Cell | None, Line]]:
    """Split a line by the cells its words are in; a text that spills over a drawn line is in one cell."""
    last, piece = None, replace(line, words=[])
    for word in line.words:
        is_set = line.turn or line.table
        middle = line.base + line.size / 4  # halfway up the small letters
        cell = None if is_set else grid.cell_at((word.x0 + word.x1) / 2, middle)
        spills = last is not None and word.x0 - piece.x1 <= _MAX_SPACE * line.size
        if piece.words and cell != last and not spills:
            yield last, piece
            piece = replace(line, words=[])
        last = last if piece.words else cell
        piece.words.append(word)
    yield last, piece


def join_tables(pages: Iterable[Sequence[Line]]) -> None:
    """Give the header of a table to its rows at the top of the next page."""
    for above, lines in pairwise([[], *pages]):
        if above and lines:
            lines[0].table = _continued_table(above[-1], lines[0])
        for line in lines:
            line.table = line.table if line.table and line.table.rows else None


def _continued_table(above: Line, line: Line) -> Table | None:
    """Return the table of a line, its first row below the header of the table `above` if it continues it."""
    first, table = above.table, line.table
    if not first or not table or table.header == first.header or len(table.header) != len(first.header):
        return table
    both = zip(first.rows[-1], table.header, strict=True)
    figures = [_DIGIT.search(new) is not None for old, new in both if _DIGIT.search(old)]
    is_row = any(figures) if figures else _are_same(above.edges, line.edges)
    return Table(first.header, [table.header, *table.rows]) if is_row else table


def _are_same(edges: Sequence[float], others: Sequence[float]) -> bool:
    pairs = zip(edges, others, strict=False)
    return 0 < len(edges) == len(others) and all(abs(edge - other) <= NEAR for edge, other in pairs)


def _ruled_table(parts: Mapping[Cell, Sequence[Line]], grid: RuledGrid) -> Table | None:
    """Return the table of a grid; None if few of its cells hold text, or several texts, as in a chart."""
    levels = {cell: _rows(lines) for cell, lines in parts.items()}
    every = [[grid.cells[row, n] for n in range(len(grid.x) - 1)] for row in range(len(grid.y) - 1)]
    rows = [cells for row, cells in enumerate(every) if any(one in parts and one[0] == row for one in cells)]
    filled = [[len(levels[cell]) for cell in {*cells} & parts.keys()] for cells in rows]
    if 2 * sum(len(row) > 1 and min(row) >= _MIN_ROWS for row in filled) > len(rows) - 1:
        return None
    texts = {cell: _clean(" ".join(row.line.text for row in group)) for cell, group in levels.items()}
    title = list[str]()
    while rows and len({*rows[0]}) == 1:
        title.append(texts[rows.pop(0)[0]])
    columns = [column for column in zip(*rows, strict=True) if any(map(texts.get, column))]
    used = {cell for column in columns for cell in column}
    torn = sum(any(len(row.runs) > 1 for row in group) for group in levels.values())
    if len(parts) < _MIN_FILLED * len({cell for cells in every for cell in cells}) or len(columns) < 2:
        return None
    if 4 * torn > len(parts) or 2 * len(used) < len(rows) * len(columns):  # gaps in cells, or mostly merged
        return None
    rows = [[*cells] for cells in zip(*columns, strict=True)]
    values = [
        [texts.get(cell, "") if len({*row}) > 1 or not n else "" for n, cell in enumerate(row)]
        for row in rows
    ]
    heads = 1 + len([*takewhile(lambda row: len({*row}) < len(row), rows[:-2])])
    table = _with_header(values, heads)
    return table and table.with_caption(": ".join(title))


def _rows(flow: Sequence[Line]) -> list[_Row]:
    """Group lines that are level into rows, from the top down."""
    level = list[list[Line]]()
    for line in sorted(flow, key=lambda line: -line.base):
        if level and level[-1][0].is_level_with(line):
            level[-1].append(line)
        else:
            level.append([line])
    rows = list[_Row]()
    for lines in level:
        words = sorted((word for line in lines for word in line.words), key=lambda word: word.x0)
        merged = replace(lines[0], words=words)
        rows.append(_Row(lines, merged, merged.runs()))
    return rows


def _end(rows: Sequence[_Row], begin: int) -> int:
    """Return where the table at a row ends, if one begins there: at a line of text across it, say."""
    if len(rows[begin].runs) < 2 or rows[begin].line.table:
        return begin
    last, second = begin, rows[begin].runs[1][0].x0
    for place in range(begin + 1, len(rows)):
        row, down = rows[place], rows[place - 1].line.base - rows[place].line.base
        if row.line.table or down > _MAX_ROW_GAP * row.line.size or CAPTION.match(row.line.text):
            break
        if len(row.runs) > 1:
            last, second = place, min(second, row.runs[1][0].x0)
        elif row.line.words[0].x0 >= second - 1 and down <= LEADING * row.line.size:
            last = place
        elif place - last > _MAX_BETWEEN or (
            row.line.words[-1].x1 > second and len(row.line.words) > _MAX_SPAN_WORDS
        ):
            break
    return last + 1


def _table(rows: Sequence[_Row]) -> Table | None:
    """Return the table of these rows; None if they are a list, formulas, or text in columns."""
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
    if min(median(column) for column in words if column) > _MAX_CELL_WORDS:
        return None
    return _with_header(_unwrap(grid))


def _edges(rows: Sequence[_Row]) -> list[float]:
    """Return where columns meet: white space through nearly all rows that separates cells in many of them."""
    if len(rows) < _MIN_ROWS or any(row.line.x1 - row.line.x0 > _MAX_WIDTH for row in rows):
        return []
    letters, gaps = Counter[int](), Counter[int]()
    for row in rows:
        for word in row.line.words:
            letters.update(range(int(word.x0), int(word.x1) + 2))
        for before, after in pairwise(row.runs):
            gaps.update(range(int(before[-1].x1), int(after[0].x0)))
    edges = list[float]()
    width = _MIN_COLUMN_GAP * median(row.line.size for row in rows)
    few = max(_MAX_CROSSING * len(rows), len(rows) > _MIN_ROWS)
    across = range(min(letters), max(letters) + 1)
    for is_white, places in groupby(across, key=lambda place: letters[place] <= few):
        band = list(places)
        if is_white and len(band) >= width and max(gaps[place] for place in band) >= _MIN_PARTED * len(rows):
            fewest = min(letters[place] for place in band)
            edges.append(median(place for place in band if letters[place] == fewest))
    return edges


def _cells(row: _Row, edges: Sequence[float]) -> list[str]:
    cells = [list[str]() for _ in range(len(edges) + 1)]
    for word in row.line.words:
        middle = row.line.words[0].x0 if len(row.runs) == 1 else (word.x0 + word.x1) / 2
        cells[sum(edge < middle for edge in edges)].append(word.text)
    return [_clean(" ".join(cell)) for cell in cells]


def _clean(cell: str) -> str:
    """Clean a cell: no spaces between a figure and its sign, and no footnote mark after a figure."""
    cell = _SIGN_SPACE.sub("", cell.replace(f"{SOFT} ", ""))
    return _FOOTNOTE_MARK.sub("", cell) if _DIGIT.search(cell) else cell


def _unwrap(grid: Sequence[list[str]]) -> list[list[str]]:
    """Return the rows; text that continues on the next line, in half of the columns at most, is one cell."""
    rows = list[list[str]]()
    for cells in grid:
        filled = [place for place, cell in enumerate(cells) if cell]
        begins = filled == [0] and not cells[0][0].islower()
        goes_on = rows and not any(rows[-1][1:]) and cells[0][:1].islower()
        if goes_on or (rows and 2 * len(filled) <= len(cells) and not begins):
            both = zip(rows[-1], cells, strict=True)
            rows[-1] = [f"{above} {cell}".strip().replace(f"{SOFT} ", "") for above, cell in both]
        else:
            rows.append(cells)
    return rows


def _with_header(grid: Sequence[list[str]], heads: int = 0) -> Table | None:
    """Return the table with `heads` header rows, by default up to three above the first row with figures."""
    if not heads:
        figures = [place for place, cells in enumerate(grid) if any(map(_DIGIT.search, cells[1:]))]
        heads = figures[0] if figures and 0 < figures[0] <= 3 and 2 * len(figures) >= len(grid) else 1
        if len(grid) < max(_MIN_ROWS, heads + 1):
            return None
    heads = max(heads, header_rows(grid))
    rows = (joined_header(grid[:heads]), *grid[heads:])
    header, *body = ([cell.replace(SOFT, "-") for cell in cells] for cells in rows)
    return Table(header, body)

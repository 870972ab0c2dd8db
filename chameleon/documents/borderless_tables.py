"""Tables without ruled lines: rows whose cells stand apart and below each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from chameleon.documents.reading_order import Row, Word
from chameleon.table import Table
from chameleon.table.amount_columns import goes_after, goes_before, is_amount, is_year

_APART = 1.0  # of the letters' size: cells stand further apart than this
_FAR = 2.6  # of the letters' size: rows further below each other than this are no one table
_WIDER = 1.25  # than usual is the white above the head of another table
_INSET = 0.25  # of its width a table's names over several columns stand right of its left edge
_LEAST_ROWS = 3
_MARK = re.compile(r"[•·▪◦*–—-]|\(?[a-zA-Z\d]{1,4}[.)]|\d+(\.\d+)*\.?|[A-Za-z]+ \d+[.:]?")


@dataclass(frozen=True)
class _Cell:
    text: str
    x0: float
    x1: float

    @property
    def amount(self) -> bool:
        return is_amount(self.text)


_Line = list[_Cell]


def with_tables(rows: Sequence[Row]) -> list[Row | Table]:
    """The rows of one column, from the top down; those of a table without lines as that table."""
    cells = [_cells(row) for row in rows]
    items, begin = list[Row | Table](), 0
    while begin < len(rows):
        end = _end(rows, cells, begin)
        table = _table(cells[begin:end]) if end - begin >= _LEAST_ROWS else None
        if table is None:
            items.append(rows[begin])
            begin += 1
        else:
            items.append(table)
            begin = end
    return items


def _end(rows: Sequence[Row], cells: Sequence[_Line], begin: int) -> int:
    """Where the table ends that begins at a row; one row of a single cell may stand between two others."""
    if len(cells[begin]) < 2 and not _heads(cells, begin):
        return begin
    last, usual = begin, 0.0
    for place in range(begin + 1, len(rows)):
        down = rows[place].top - rows[place - 1].top
        if down > _FAR * rows[place - 1].size or (usual and down > _WIDER * usual and _is_head(cells, place)):
            break
        usual = max(usual, down) if place > begin + 2 else 0.0
        if len(cells[place]) > 1:
            last = place
        elif place - last > 1:
            break
    return last + 1


def _is_head(cells: Sequence[_Line], place: int) -> bool:
    """Whether a row names columns: several cells of words below amounts."""
    return (
        len(cells[place]) > 1
        and not any(cell.amount for cell in cells[place])
        and any(cell.amount for cell in cells[place - 1])
    )


def _heads(cells: Sequence[_Line], place: int) -> bool:
    """Whether a lone cell stands above columns: "Years ended June 30", far right of where rows begin."""
    lone, below = cells[place], cells[place + 1 : place + 4]
    if len(lone) > 1 or len(below) < _LEAST_ROWS or len(below[0]) < 2:
        return False
    left, right = min(line[0].x0 for line in below), max(line[-1].x1 for line in below)
    return lone[0].x0 > left + _INSET * (right - left)


def _cells(row: Row) -> _Line:
    """The cells of a row: signs of money go with the number after them, per cent with the one before."""
    row = row.without_marks()
    groups = [[row.words[0]]]
    for word in row.words[1:]:
        end = max(each.x1 for each in groups[-1])
        if word.x0 - end > _APART * row.size:
            groups.append([word])
        else:
            groups[-1].append(word)
    cells = list[_Cell]()
    for group in groups:
        cell = _cell(group)
        if cells and (goes_before(cells[-1].text) or goes_after(cell.text)):
            cells[-1] = _Cell(f"{cells[-1].text}{cell.text}", cells[-1].x0, cell.x1)
        else:
            cells.append(cell)
    return cells


def _cell(words: Sequence[Word]) -> _Cell:
    text = " ".join(word.text for word in words)
    text = re.sub(r"([$€£¥(])\s+(?=[\d(])", r"\1", re.sub(r"(?<=\d)\s+(?=[)%])", "", text))
    return _Cell(text, words[0].x0, max(word.x1 for word in words))


def _table(lines: Sequence[_Line]) -> Table | None:
    """The table of these lines; None where they are a list, or text that happens to stand apart."""
    wide = [line for line in lines if len(line) > 1]
    if len(wide) < _LEAST_ROWS:
        return None
    columns = _columns(wide)
    if len(columns) < 2 or not _is_data(wide, columns):
        return None
    grid = [_placed(line, columns) for line in lines]
    heads = _heading_rows(lines, grid)
    header = [" ".join(dict.fromkeys(filter(None, names))) for names in zip(*grid[:heads], strict=True)]
    body = _unwrapped(grid[heads:])
    return Table(header or [""] * len(columns), body) if body else None


def _columns(lines: Sequence[_Line]) -> list[tuple[float, float]]:
    """Where the columns begin and end: of the lines with as many cells as most, what overlaps is one."""
    usual = Counter(len(line) for line in lines).most_common()
    most = max(often for _, often in usual)
    count = max(count for count, often in usual if 2 * often >= most)
    spans = sorted((cell.x0, cell.x1) for line in lines if len(line) == count for cell in line)
    columns = [spans[0]]
    for begin, end in spans[1:]:
        if begin <= columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], end))
        else:
            columns.append((begin, end))
    return columns


def _is_data(lines: Sequence[_Line], columns: Sequence[tuple[float, float]]) -> bool:
    """Whether lines are rows of data: amounts beside names, or several cells that begin below each other."""
    firsts = [line[0].text for line in lines]
    if len(columns) == 2 and sum(_MARK.fullmatch(text) is not None for text in firsts) * 2 > len(firsts):
        return False
    others = [cell for line in lines for cell in line[1:]]
    if 2 * sum(cell.amount for cell in others) >= len(others):
        return True
    aligned = sum(any(abs(cell.x0 - begin) < 2 for begin, _ in columns) for cell in others)
    short = sum(len(cell.text) <= 40 for cell in others)
    return len(columns) > 2 and 10 * aligned >= 9 * len(others) and 4 * short >= 3 * len(others)


def _placed(line: _Line, columns: Sequence[tuple[float, float]]) -> list[str]:
    """The cells in their columns; one that spans several, as a heading of years does, stands in each."""
    row = [""] * len(columns)
    for cell in line:
        over = [place for place, (begin, end) in enumerate(columns) if cell.x0 < end and begin < cell.x1]
        if not over:
            middle = (cell.x0 + cell.x1) / 2
            over = [min(range(len(columns)), key=lambda place: abs(sum(columns[place]) / 2 - middle))]
        for place in over if len(over) > 1 and not cell.amount and 0 not in over else over[:1]:
            row[place] = f"{row[place]} {cell.text}".strip()
    return row


def _heading_rows(lines: Sequence[_Line], grid: Sequence[Sequence[str]]) -> int:
    """How many rows name the columns: those before the first with an amount, or with a name of its own."""
    heads = 0
    for line, row in zip(lines, grid, strict=True):
        if any(cell.amount for cell in line) or (heads and row[0] and not any(row[1:])):
            break
        if heads and row[0] and not _names_years(row) and grid[0][0]:
            break
        heads += 1
    return heads if heads < len(grid) else 1


def _names_years(row: Sequence[str]) -> bool:
    return any(is_year(word) for name in row[1:] for word in name.split())


def _unwrapped(rows: Sequence[list[str]]) -> list[list[str]]:
    """The rows; a name that goes on in the next row, in small letters, is one name."""
    kept = list[list[str]]()
    for row in rows:
        if kept and not any(kept[-1][1:]) and kept[-1][0] and row[0][:1].islower():
            kept[-1] = [f"{kept[-1][0]} {row[0]}", *row[1:]]
        elif kept and not any(row[1:]) and row[0][:1].islower():
            kept[-1][0] += f" {row[0]}"
        else:
            kept.append(list(row))
    return kept

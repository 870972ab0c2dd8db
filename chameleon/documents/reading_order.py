"""The reading order of a printed page: rows of words, and columns of text that stand side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from statistics import median

from chameleon.table import Table

_GUTTER = 0.9  # of the letters' size: columns of text stand further apart than this
_MARGIN = 0.15  # of the width at either side: no gutter is looked for there
_TRIED = 4  # degrees of emptiness at which a gutter is looked for
_LEAST_ROWS = 4  # side by side, else what stands beside each other is no column of text
_LONG_COLUMN = 12  # rows or more: the text beside it may be short
_FILLED = 0.55  # of its column a line of running text takes this much or more, as a rule
_LEAST_WORDS = 3.0  # in a line of running text, as a rule
_BOLD = re.compile(r"bold|black|heavy|demi", re.IGNORECASE)
_RAISED = 0.8  # of the letters' size, or less, are those of a raised mark
_MARK = re.compile(r"[(\[]?(?:\d{1,2}|[a-z*†‡§¹²³]{1,2})[)\]]?(?:,\s?\d{1,2})*")
_UNIT = re.compile(r"(?:^|[\s\d/])[a-zA-Z]{1,3}$")
_NUMBER = re.compile(r"[\W\d]*\d[\W\d]*")


@dataclass(frozen=True)
class Word:
    """A word at its place on a page, in points from the top left corner; `size` is that of its letters.

    A ruled table has the place of a word as well, that of its upper edge.
    """

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    size: float
    font: str = ""
    table: Table | None = None

    @property
    def bold(self) -> bool:
        return _BOLD.search(self.font) is not None


@dataclass(frozen=True)
class Row:
    """Words that stand on one line, from left to right."""

    words: tuple[Word, ...]

    @property
    def x0(self) -> float:
        return self.words[0].x0

    @property
    def x1(self) -> float:
        return max(word.x1 for word in self.words)

    @property
    def top(self) -> float:
        return min(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        return max(word.bottom for word in self.words)

    @cached_property
    def size(self) -> float:
        """The size of most of its letters."""
        sizes = Counter[float]()
        for word in self.words:
            sizes[word.size] += len(word.text)
        return sizes.most_common(1)[0][0]

    @property
    def bold(self) -> bool:
        return all(word.bold for word in self.words)

    @property
    def table(self) -> Table | None:
        """The ruled table that it is; None where it is a row of words."""
        return self.words[0].table

    @property
    def text(self) -> str:
        """Its words; marks of footnotes in brackets, exponents of units without: "EUR 40 [1]", "5 m2"."""
        largest = max(self.words, key=lambda each: each.size)
        text = ""
        for word in self.words:
            if not text:
                text = word.text
            elif not _is_mark(word, largest):
                text += f" {word.text}"
            else:
                text += word.text if _UNIT.search(text) else f" [{word.text.strip('()[]')}]"
        return text

    @cached_property
    def gaps(self) -> list[tuple[float, float]]:
        """The white between the words that may part columns: where it begins and ends."""
        found = list[tuple[float, float]]()
        end = self.words[0].x1
        for word in self.words[1:]:
            if word.x0 - end > _GUTTER * self.size:
                found.append((end, word.x0))
            end = max(end, word.x1)
        return found

    @cached_property
    def filled(self) -> list[tuple[float, float]]:
        """Where it has letters, and no more than the white between two words."""
        begins = [self.x0, *(end for _, end in self.gaps)]
        return list(zip(begins, [*(begin for begin, _ in self.gaps), self.x1], strict=True))

    def crosses(self, x: float) -> bool:
        return any(begin <= x <= end for begin, end in self.filled)

    def without_marks(self) -> Row:
        """The row without the raised marks that send to footnotes."""
        largest = max(self.words, key=lambda each: each.size)
        plain = tuple(word for word in self.words if not _is_mark(word, largest))
        return Row(plain) if plain else self

    def sides(self, x: float) -> tuple[Row | None, Row | None]:
        """Its words left and right of a place; None for a side without any."""
        left = tuple(word for word in self.words if word.x1 <= x)
        right = tuple(word for word in self.words if word.x0 >= x)
        return Row(left) if left else None, Row(right) if right else None


def _is_mark(word: Word, beside: Word) -> bool:
    is_raised = word.size <= _RAISED * beside.size and word.bottom < beside.bottom - 0.1 * beside.size
    return is_raised and _MARK.fullmatch(word.text) is not None


def rows_of(words: Sequence[Word]) -> list[Row]:
    """The rows of a page from the top down. Words stand on one row that are level for half of their height,
    as the raised mark of a footnote is with the word that bears it."""
    held = list[list[Word]]()
    for word in sorted(words, key=lambda each: (each.top + each.bottom) / 2):
        if held and _is_level(word, max(held[-1], key=lambda each: each.size)):
            held[-1].append(word)
        else:
            held.append([word])
    return [Row(tuple(sorted(row, key=lambda each: each.x0))) for row in held]


def _is_level(word: Word, other: Word) -> bool:
    common = min(word.bottom, other.bottom) - max(word.top, other.top)
    return common >= 0.5 * min(word.bottom - word.top, other.bottom - other.top)


def in_reading_order(rows: Sequence[Row], depth: int = 2) -> list[list[Row]]:
    """The rows in blocks, each of one column: of columns of running text the left one comes first.

    What runs across both, such as a title, ends the columns above it. Rows of a table stay together: its
    columns hold no running text. `depth`: how often a column may be parted again.
    """
    x = _gutter(rows) if depth else None
    if x is None:
        return [list(rows)] if rows else []
    blocks, across = list[list[Row]](), list[Row]()
    for crosses, band in groupby(rows, key=lambda row: row.crosses(x)):
        held = list(band)
        left, right = _columns(held, x)
        if crosses or not _stand_side_by_side(left, right):
            across += held
            continue
        blocks += [across] if across else []
        blocks += in_reading_order(left, depth - 1) + in_reading_order(right, depth - 1)
        across = []
    return [*blocks, across] if across else blocks


def _gutter(rows: Sequence[Row]) -> float | None:
    """The place of the white between two columns of running text; None where there are none."""
    if len(rows) < _LEAST_ROWS:
        return None
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    margin = _MARGIN * (right - left)
    covered = Counter[int]()
    for row in rows:
        for begin, end in row.filled:
            covered.update(range(round(begin), round(end) + 1))
    inner = range(round(left + margin), round(right - margin))
    lowest = sorted({covered[place] for place in inner})[:_TRIED]
    places = list[float]()
    for few in lowest:
        empty = {place for place in inner if covered[place] == few}
        places += [float(median(run)) for is_empty, run in groupby(inner, empty.__contains__) if is_empty]
    best = max(places, key=lambda x: _parted(rows, x), default=None)
    return best if best is not None and _parted(rows, best) else None


def _parted(rows: Sequence[Row], x: float) -> int:
    """How many rows stand in columns of running text on either side of a place."""
    bands = (list(band) for crosses, band in groupby(rows, key=lambda row: row.crosses(x)) if not crosses)
    return sum(len(band) for band in bands if _stand_side_by_side(*_columns(band, x)))


def _columns(rows: Sequence[Row], x: float) -> tuple[list[Row], list[Row]]:
    sides = [row.sides(x) for row in rows]
    return [left for left, _ in sides if left], [right for _, right in sides if right]


def _stand_side_by_side(left: Sequence[Row], right: Sequence[Row]) -> bool:
    """Whether both sides hold running text; beside a long column a line or two are enough."""
    short, long = sorted((left, right), key=len)
    enough = 1 if len(long) >= _LONG_COLUMN else _LEAST_ROWS
    return bool(short) and _is_running(long, _LEAST_ROWS) and _is_running(short, enough)


def _is_running(rows: Sequence[Row], least: int) -> bool:
    """Whether rows hold running text, tables among it aside: several words that fill most of the width."""
    plain = [row for row in rows if not row.gaps and row.table is None]
    if len(plain) < max(least, 0.4 * len(rows)):
        return False
    left, right = min(row.x0 for row in plain), max(row.x1 for row in plain)
    filled = median((row.x1 - row.x0) / max(right - left, 1.0) for row in plain)
    words = [word.text for row in plain for word in row.words]
    numbers = sum(_NUMBER.fullmatch(word) is not None for word in words)
    return (
        filled >= _FILLED
        and median(len(row.words) for row in plain) >= _LEAST_WORDS
        and 3 * numbers <= len(words)
    )

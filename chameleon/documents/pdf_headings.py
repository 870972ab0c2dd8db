"""The outline of printed lines: headings by their letters and numbers, paragraphs by what goes on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from chameleon.documents.numbering import (
    BELOW_NUMBERS,
    DECIMALS,
    LEADERS,
    UNNUMBERED,
    heading_level,
    number_depth,
)
from chameleon.documents.parts import Part
from chameleon.documents.reading_order import Row
from chameleon.table import Table
from chameleon.table.amount_columns import is_amount

_LARGER = 1.15
"""A line whose letters are so many times as large as those of most lines is a heading."""
_LONGEST_HEADING = 120
_MOST_LINES = 3  # of a heading
_GAP = 1.6  # lines further apart than so many times their height do not belong to one paragraph
_SHORT = 0.6  # of the width of the column
_OFTEN_BOLD = 0.3  # of all letters: where more are bold, bold letters make no heading
_BY_SIZE, _NUMBERS = -100_000, 10  # levels by size are smaller than any other; of each size there are ten
_ITEM = re.compile(r"\d+\.\d+[\s.)]|\([a-z\d]{1,3}\)\s|[•▪◦·]\s?|[–—-]\s")
_HYPHEN = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-$")
_PREFIXES = {"non", "self", "well", "ex", "co", "cross", "long", "short", "high", "low", "year", "vice"}
_LABEL = re.compile(r"[^\W\d_a-z][^:.]{0,40}:\s+\S")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True)
class Line:
    """A printed line of one column, in points from the top of its page; `column`: its width, 0 if unknown."""

    text: str
    page: int
    top: float
    bottom: float
    size: float
    bold: bool
    width: float
    column: float

    @classmethod
    def of(cls, row: Row, page: int, column: float) -> Line:
        return cls(row.text, page, row.top, row.bottom, row.size, row.bold, row.x1 - row.x0, column)


def printed_parts(items: Sequence[Line | tuple[Table, int]]) -> list[Part]:
    """The parts of lines and of tables with their pages.

    Larger lines are headings, and so are bold ones where few are, and short ones that begin with a number
    and do not go on. Words that a line's end parts are joined.
    """
    printed = _Printed([item for item in items if isinstance(item, Line)])
    place = 0
    above: Line | tuple[Table, int] | None = None
    while place < len(items):
        item = items[place]
        if isinstance(item, Line):
            place += printed.add(item, items, place)
        else:
            printed.flush()
            item = (_with_header(item[0], above, item[1]), item[1])
            printed.parts.append(Part(item[0], page=item[1]))
            place += 1
        above = item
    printed.flush()
    return printed.parts


class _Printed:
    def __init__(self, lines: Sequence[Line]) -> None:
        self.parts: list[Part] = []
        self._held: list[Line] = []
        sizes = Counter[float]()
        for line in lines:
            sizes[line.size] += len(line.text)
        self._body = sizes.most_common(1)[0][0] if sizes else 0.0
        self._larger = sorted((size for size in sizes if size >= _LARGER * self._body), reverse=True)
        letters = sum(len(line.text) for line in lines)
        self._bold = sum(len(line.text) for line in lines if line.bold) <= _OFTEN_BOLD * letters
        columns = [line.column for line in lines if line.column] or [line.width for line in lines]
        self._usual_column = (
            median(columns) if any(line.column for line in lines) else max(columns, default=0)
        )
        self._integers = not any(
            heading_level(line.text) == DECIMALS for line in lines if self._by_letters(line)
        )
        """Whether "4 Prices" is a heading by its number alone: not where others stand out as well."""
        self._words = Counter(_whole_words([line.text for line in lines]))
        self._numbered_size = 0.0

    def add(self, line: Line, items: Sequence[Line | tuple[Table, int]], place: int) -> int:
        """Take a line, with those of a heading that go on below it; how many were taken."""
        marked = self._marked(line)
        lines = self._run(items, place) if marked else [line]
        text = " ".join(each.text for each in lines)
        if marked and (len(lines) > _MOST_LINES or len(text) > _LONGEST_HEADING):
            marked, lines, text = False, [line], line.text
        level = heading_level(text)
        if level == DECIMALS and not (marked or self._integers):
            level = None
        following = items[place + 1] if place + 1 < len(items) else None
        if level is not None and not marked and self._is_wrapped(line, following):
            level = None
        if level is None and not marked:
            if self._held and not _goes_on(self._held[-1], line):
                self.flush()
            self._held.append(line)
            return 1
        self.flush()
        if level is not None:
            self._numbered_size = line.size
        self.parts.append(Part(text, 1 - _BY_SIZE + self._level(line, level), line.page))
        return len(lines)

    def flush(self) -> None:
        if self._held:
            self.parts.append(Part(self._joined(self._held), page=self._held[0].page))
        self._held.clear()

    def _marked(self, line: Line) -> bool:
        """Whether its letters show a line to be a heading."""
        if not self._by_letters(line):
            return False
        if line.size >= _LARGER * self._body:
            return True
        begins = not self._held or not _goes_on(self._held[-1], line) or self._ends(self._held[-1])
        return begins and line.text[-1] not in ",;"

    def _by_letters(self, line: Line) -> bool:
        stands_out = line.size >= _LARGER * self._body or (self._bold and line.bold)
        return stands_out and any(map(str.isalpha, line.text)) and not LEADERS.search(line.text)

    def _run(self, items: Sequence[Line | tuple[Table, int]], place: int) -> list[Line]:
        """A line and those right below it in letters of the same kind, which bear no number of their own."""
        lines = list[Line]()
        for item in items[place:]:
            if not isinstance(item, Line) or (lines and not _is_like(lines[-1], item)):
                break
            lines.append(item)
        return lines

    def _level(self, line: Line, by_number: int | None) -> int:
        """By the size of its letters where they are larger, and by its number among those of one size."""
        if line.size >= _LARGER * self._body:
            return _BY_SIZE + _NUMBERS * self._larger.index(line.size) + number_depth(line.text)
        if by_number is not None:
            return by_number
        return BELOW_NUMBERS if line.size < self._numbered_size else UNNUMBERED

    def _ends(self, line: Line) -> bool:
        """Whether a line ends where its author ended it: it is much shorter than its column."""
        return line.width < _SHORT * (line.column or self._usual_column)

    def _joined(self, lines: Sequence[Line]) -> str:
        text = lines[0].text
        for above, line in pairwise(lines):
            parted = _HYPHEN.search(text)
            if parted and line.text[:1].islower():
                text = text[:-1] + ("-" if self._hyphened(parted[1], line.text) else "") + line.text
            else:
                ends = self._ends(above) or (_LABEL.match(above.text) and _LABEL.match(line.text))
                text += ("\n" if ends else " ") + line.text
        return text

    def _hyphened(self, begin: str, rest: str) -> bool:
        """Whether the hyphen belongs to the word that a line's end parts, as the paper's other words tell."""
        begin, end = begin.lower(), (_WORD.match(rest.lower()) or [""])[0]
        if self._words[f"{begin}-{end}"] or self._words[f"{begin}{end}"]:
            return not self._words[f"{begin}{end}"]
        return begin in _PREFIXES or bool(self._words[begin] and self._words[end])

    def _is_wrapped(self, line: Line, following: Line | tuple[Table, int] | None) -> bool:
        """Whether the next line is the rest of this one."""
        if not isinstance(following, Line) or not _goes_on(line, following):
            return False
        return following.text[:1].islower() or not self._ends(line)


def _whole_words(lines: Sequence[str]) -> Iterator[str]:
    """The words of lines in small letters, without those that a line's end parts."""
    for above, line in pairwise(["", *lines]):
        words = _WORD.findall(_HYPHEN.sub("", line).lower())
        yield from words[1:] if _HYPHEN.search(above) else words


def _with_header(table: Table, above: Line | tuple[Table, int] | None, page: int) -> Table:
    """A table at the beginning of a page; the header of the one that it goes on with where it has none."""
    if not isinstance(above, tuple) or above[1] != page - 1 or len(above[0].header) != len(table.header):
        return table
    if not any(table.header):
        return Table(above[0].header, table.rows, above[0].caption)
    if not any(is_amount(name) for name in table.header[1:]):
        return table
    return Table(above[0].header, [table.header, *table.rows], above[0].caption)


def _is_like(above: Line, line: Line) -> bool:
    return (
        (above.size, above.bold, above.page) == (line.size, line.bold, line.page)
        and -0.5 * line.size < line.top - above.top <= _GAP * (above.bottom - above.top)
        and heading_level(line.text) is None
    )


def _goes_on(above: Line, line: Line) -> bool:
    if line.page != above.page or line.top < above.top:  # on the next page, or in the next column
        return above.text[-1:] not in ".:;!?" and (line.text[:1].islower() or above.text[-1:] == "-")
    return not _ITEM.match(line.text) and line.top - above.top <= _GAP * (above.bottom - above.top)

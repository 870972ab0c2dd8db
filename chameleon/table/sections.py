"""The tables in the records of one sheet or file: titles above them, notes below them, several of them.

Spreadsheets, and what is exported from them, are pages rather than tables: lines of a title stand above the
header, a source below the last row, and a second table may follow after a blank row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile

from chameleon.table.records import Record
from chameleon.table.typed import read_value

_NOTE = re.compile(r"(notes?|sources?|data|legend|footnotes?)\b\s*:|[*†‡§©]|\(?\d\)", re.IGNORECASE)
_MOST_TITLES = 10
_NAMES = ("text", "empty")  # kinds of cells that name columns


@dataclass
class Section:
    """One table's records, the header first, with the lines above and below that belong to it."""

    titles: list[str]
    records: list[Record]
    notes: list[str] = field(default_factory=list)


def sections(records: Iterable[Record]) -> list[Section]:
    """Cut records, of which blank ones are kept, into tables.

    - Lines with one filled cell above wider lines are titles, and so are up to ten lines of a name and a
      value before a blank line and a table of three columns or more.
    - Such a line after a blank line, with a header below it, begins another table.
    - The last lines are notes if they stand apart, are shorter than any row or begin like one ("Source:").

    Where no line has two filled cells, all of it is one table of one column.
    """
    blocks = [list(group) for filled, group in groupby(records, lambda record: any(record[1])) if filled]
    if not any(_filled(cells) > 1 for block in blocks for _, cells in block):
        merged = [record for block in blocks for record in block]
        return [Section([], merged)] if merged else []
    found: list[Section] = []
    titles: list[str] = []
    for block, following in zip(blocks, [*blocks[1:], []], strict=True):
        above = _titles_in(block)
        # Lines of a name and a value above a wider table, such as the date of an export.
        is_narrow = len(block) <= _MOST_TITLES and all(_filled(cells) <= 2 for _, cells in block)
        head = following[_titles_in(following) % len(following)][1] if following else []
        if not found and is_narrow and _filled(head) >= 3:
            titles += _lines(block)
        elif above == len(block):  # lines alone: notes to the table above, or titles of the one below
            if found and not following:
                found[-1].notes += titles
                titles = []
            for line in _lines(block):
                (found[-1].notes if found and (not following or _NOTE.match(line)) else titles).append(line)
        elif found and not (
            (titles or above) and all(read_value(cell).kind in _NAMES for cell in block[above][1])
        ):
            found[-1].records += [*((0, [title]) for title in titles), *block]
            titles = []
        else:
            found.append(Section([*titles, *_lines(block[:above])], block[above:]))
            titles = []
    for section in found:
        _take_notes(section)
    return found


def _titles_in(block: Sequence[Record]) -> int:
    """Count the lines at the start with one filled cell; none where they may be the name of a column."""
    above = len(list(takewhile(lambda record: _filled(record[1]) == 1, block)))
    if 0 < above < len(block) and len(block[above][1]) == 2:
        names_a_column = above == 1 and len(block[0][1]) == 1 and len(_lines(block[:1])[0].split()) == 1
        return 0 if names_a_column else above
    return above


def _take_notes(section: Section) -> None:
    width = max(len(cells) for _, cells in section.records)
    notes: list[str] = []
    while width > 1 and len(section.records) > 2:
        _, cells = section.records[-1]
        line = _lines(section.records[-1:])[0]
        if _filled(cells) != 1 or not (len(cells) == 1 or _NOTE.match(line)):
            break
        notes.insert(0, line)
        section.records.pop()
    section.notes = notes + section.notes


def _filled(cells: Sequence[str]) -> int:
    return sum(map(bool, cells))


def _lines(records: Iterable[Record]) -> list[str]:
    return [" ".join(filter(None, cells)) for _, cells in records]

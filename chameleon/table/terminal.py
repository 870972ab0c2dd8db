"""Tables for a terminal: columns in line, nothing in a cell that could steer the terminal."""

from __future__ import annotations

import unicodedata

from chameleon.errors import InputError
from chameleon.table.formats import ELLIPSIS, Excerpt, excerpt
from chameleon.table.table import Table
from chameleon.text import harmless

_GAP = "  "
_LEAST_WIDTH = 20
_LEAST_COLUMN = 8
_WIDEST_COLUMN = 40


def to_terminal(table: Table, width: int = 80, max_rows: int | None = 20) -> str:
    """Write a table in aligned columns for a terminal of `width` places (at least 20).

    Numbers stand to the right and are never cut; texts are (at 40 places, down to 8 where the line is
    short). Columns that find no room are named in a last line, rows beyond `max_rows` are counted there.
    East Asian wide characters take two places. Control, format and private characters are shown as U+FFFD,
    so that a cell can neither colour the screen nor reorder a line. Raises `InputError` below 20 places.
    """
    if width < _LEAST_WIDTH:
        raise InputError(f"a table needs a terminal of at least {_LEAST_WIDTH} places, not {width}")
    part = excerpt(table, max_rows)
    lines = [[harmless(cell) for cell in line] for line in (part.header, *part.rows)]
    right = [column.kind == "number" for column in table.take_rows(range(len(part.rows))).columns]
    widths = _fit(lines, right, width)
    text = [_line(line, widths, right) for line in lines]
    text.insert(1, _GAP.join("─" * places for places in widths))
    return "\n".join([*text, *_notes(part, len(widths))])


def places(text: str) -> int:
    """How many places a terminal gives to a text: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_places_of, text))


def _places_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _fit(lines: list[list[str]], numbers: list[bool], width: int) -> list[int]:
    """The widths of as many columns as find room, the widest text giving way first.

    Nothing is cut inside a number: "$42…" would be read as another one.
    """
    widths, least = [], []
    for (name, *cells), is_number in zip(zip(*lines, strict=True), numbers, strict=True):
        widest = max(map(places, cells), default=0)
        natural = min(_WIDEST_COLUMN, max(places(name), widest))
        widths.append(natural)
        least.append(min(natural, width, max(_LEAST_COLUMN, widest if is_number else 0)))
    count = 1
    while count < len(least) and sum(least[: count + 1]) + len(_GAP) * count <= width:
        count += 1
    widths = widths[:count]
    room = width - len(_GAP) * (count - 1)
    while sum(widths) > room:
        slack, column = max((widths[i], i) for i in range(count) if widths[i] > least[i])
        widths[column] = slack - 1
    return widths


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    # Only as many cells as there are widths: the other columns found no room.
    shown = zip(cells, widths, right, strict=False)
    return _GAP.join(_padded(cell, width, to_right) for cell, width, to_right in shown).rstrip()


def _padded(cell: str, width: int, to_right: bool) -> str:
    if places(cell) > width:
        kept = ""
        for character in cell:
            if places(kept + character) > width - 1:
                break
            kept += character
        cell = kept + ELLIPSIS
    space = " " * (width - places(cell))
    return space + cell if to_right else cell + space


def _notes(part: Excerpt, shown: int) -> list[str]:
    notes = [part.note] if part.note else []
    hidden = [harmless(name) or "(unnamed)" for name in part.header[shown:]]
    if hidden:
        named = ", ".join(name[:_LEAST_WIDTH] for name in hidden[:5]) + (", …" if len(hidden) > 5 else "")
        noun = "column" if len(hidden) == 1 else "columns"
        notes.append(f"{ELLIPSIS} {len(hidden):,} more {noun} not shown: {named}")
    return notes

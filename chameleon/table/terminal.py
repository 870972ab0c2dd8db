"""Tables for a terminal: columns in line, nothing in a cell that could steer the terminal."""

from __future__ import annotations

import unicodedata

from chameleon.errors import InputError
from chameleon.table.cells import clean_cell
from chameleon.table.formats import ELLIPSIS, Excerpt, excerpt
from chameleon.table.table import Table

_GAP = "  "
_LEAST_WIDTH = 20
_LEAST_COLUMN = 3
_WIDEST_COLUMN = 40


def to_terminal(table: Table, width: int = 80, max_rows: int | None = 20) -> str:
    """Write a table in aligned columns for a terminal of `width` places (at least 20).

    Numbers stand to the right. Columns are cut (at 40 places, further where the line is short), columns
    that find no room are named in a last line, rows beyond `max_rows` are counted there. East Asian wide
    characters take two places. Control, format and private characters are shown as U+FFFD, so that a cell
    can neither colour the screen nor reorder a line.
    """
    if width < _LEAST_WIDTH:
        raise InputError(f"a table needs a terminal of at least {_LEAST_WIDTH} places, not {width}")
    part = excerpt(table, max_rows)
    lines = [[harmless(cell) for cell in line] for line in (part.header, *part.rows)]
    natural = [min(_WIDEST_COLUMN, max(map(places, column))) for column in zip(*lines, strict=True)]
    widths = _fit(natural, width)
    right = [column.kind == "number" for column in table.take_rows(range(len(part.rows))).columns]
    text = [_line(line, widths, right) for line in lines]
    text.insert(1, _GAP.join("─" * places for places in widths))
    return "\n".join([*text, *_notes(part, len(widths))])


def harmless(text: str) -> str:
    """The text on one line with all that is invisible or steers a terminal replaced by U+FFFD."""
    text = clean_cell(text)
    if text.isprintable():
        return text
    return "".join(
        " " if character.isspace() else character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def places(text: str) -> int:
    """How many places a terminal gives to a text: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(map(_places_of, text))


def _places_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _fit(natural: list[int], width: int) -> list[int]:
    """The columns' widths: as many columns as fit at all, the widest giving way first."""
    shown = max(1, min(len(natural), (width + len(_GAP)) // (_LEAST_COLUMN + len(_GAP))))
    widths = natural[:shown]
    room = width - len(_GAP) * (shown - 1)
    while sum(widths) > room:
        widest = max(widths)
        widths[widths.index(widest)] = widest - 1
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
        notes.append(f"{ELLIPSIS} {len(hidden):,} more columns not shown: {named}")
    return notes

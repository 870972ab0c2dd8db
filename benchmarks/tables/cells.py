"""Where the texts of an answer stand in a table, for systems that answer with texts and name no cells."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from chameleon.evaluation.benchmark import Cell
from chameleon.table import Table

_LEAST_PART = 4  # characters: what is shorter stands inside too many cells by chance


def cells_of(answer: Any, table: Table) -> list[Cell] | None:
    """Return the cells that an answer stands for, one for each of its items; None where an item is no cell.

    Items are those of a list; a text is looked for as it is, then parted at bars, lines and commas. An item
    is a cell that reads the same, case and white space aside. Of several cells that do, those in the first
    column that has all items are taken, and in it the first rows; where no column has them all, the first
    cells row by row. An item that occurs twice is two cells. An empty text stands for no cell.
    """
    for items in _items(answer):
        wanted = [_plain(item) for item in items]
        if found := _in_a_column(wanted, table) or _anywhere(wanted, table):
            return found
    return None


def cells_with(texts: Sequence[str], table: Table) -> list[frozenset[Cell]] | None:
    """Return for each text all the cells that have it; None where there is no text, or one is in no cell.

    A cell has a text if it reads the same, case and white space aside; only where none does, if it has the
    text among its words, and that is not very short.
    """
    cells = [
        (_plain(cell), (number, column))
        for number, row in enumerate(table.rows)
        for column, cell in enumerate(row)
    ]
    found = [_having(_plain(text), cells) for text in texts]
    return found if found and all(found) else None


def _having(wanted: str, cells: Sequence[tuple[str, Cell]]) -> frozenset[Cell]:
    if same := frozenset(place for text, place in cells if text == wanted):
        return same if wanted else frozenset()
    if len(wanted) < _LEAST_PART:
        return frozenset()
    within = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    return frozenset(place for text, place in cells if within.search(text))


def _items(answer: Any) -> Iterator[list[str]]:
    if isinstance(answer, list | tuple):
        yield [_text(item) for item in answer]
    elif text := _text(answer).strip():
        yield texts_in(text) or [text]
        for separator in ("|", "\n", ","):
            if separator in text:
                yield [item for item in text.split(separator) if item.strip()]


def _text(item: Any) -> str:
    try:
        return f"{item:.12g}" if isinstance(item, float) else str(item)
    except ValueError:  # Python writes no integers of thousands of digits
        return ""


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _in_a_column(wanted: Sequence[str], table: Table) -> list[Cell]:
    needed = Counter(wanted)
    for column in range(len(table.header)):
        cells = [_plain(row[column]) for row in table.rows]
        if not needed - Counter(cells):
            return _first(wanted, [(cell, (row, column)) for row, cell in enumerate(cells)])
    return []


def _anywhere(wanted: Sequence[str], table: Table) -> list[Cell]:
    cells = [
        (_plain(cell), (number, column))
        for number, row in enumerate(table.rows)
        for column, cell in enumerate(row)
    ]
    return [] if Counter(wanted) - Counter(text for text, _ in cells) else _first(wanted, cells)


def _first(wanted: Sequence[str], cells: Sequence[tuple[str, Cell]]) -> list[Cell]:
    """Take for each wanted text the first cell that reads so and is free; there are enough of each."""
    places: dict[str, Iterator[Cell]] = {
        text: iter([place for cell, place in cells if cell == text]) for text in set(wanted)
    }
    return [next(places[text]) for text in wanted]


def texts_in(literal: str) -> list[str] | None:
    """Return the texts of a list that is written in Python, as releases have it; None for anything else.

    Nothing is evaluated.
    """
    try:
        value = ast.literal_eval(literal.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None

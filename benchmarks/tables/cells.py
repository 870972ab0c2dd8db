"""Find the texts of an answer in a table, for systems that answer with texts instead of cells."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from chameleon.benchmarks.scorers.predictions import text_of
from chameleon.evaluation.benchmark import Cell, Problem
from chameleon.table import Table

_MIN_PART_CHARS = 4  # characters: shorter texts are inside too many cells by chance
_CellTexts = Sequence[tuple[str, Cell]]


def cells_of(answer: Any, table: Table) -> list[Cell] | None:
    """Return the cells of an answer, one for each of its items, or None if an item is not in a cell.

    A list is taken item by item; a text is searched as it is, then split at bars, lines and commas. An item
    matches a cell with the same text, ignoring case and white space. If one column has all items, its first
    matching cells are used, else the first ones of the table, row by row. A repeated item needs two cells. An
    empty text matches no cell.
    """
    cell_texts, width = _cell_texts(table), len(table.header)  # row by row: a column is every width-th text
    pools = [*(cell_texts[column::width] for column in range(width)), cell_texts]
    for items in _items(answer):
        texts = [_plain(item) for item in items]
        for pool in pools:
            if cells := _take(texts, pool):
                return cells
    return None


def cells_with(texts: Sequence[str], problem: Problem) -> list[frozenset[Cell]] | None:
    """Return for each text all the cells of a problem's table that have it.

    None without texts or a table, or if a text is in no cell. A cell matches if it has the same text,
    ignoring case and white space; if none does, a cell that has the text among its words, unless it is very
    short.
    """
    if (table := problem.input.get("table")) is None:
        return None
    cell_texts = _cell_texts(table)
    matches = [_matching_cells(_plain(text), cell_texts) for text in texts]
    return matches if matches and all(matches) else None


def literal_texts(literal: str) -> list[str] | None:
    """Return the texts of a list written in Python, without evaluating it; None for anything else."""
    try:
        value = ast.literal_eval(literal.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def _cell_texts(table: Table) -> _CellTexts:
    """Return the texts of all cells with their places, row by row."""
    return [
        (_plain(cell), (number, column))
        for number, row in enumerate(table.rows)
        for column, cell in enumerate(row)
    ]


def _take(texts: Sequence[str], pool: _CellTexts) -> list[Cell] | None:
    """Take for each text the first free cell with the same text; None if one is missing."""
    free: defaultdict[str, list[Cell]] = defaultdict(list)
    for text, place in reversed(pool):  # so that `pop` takes the first
        free[text].append(place)
    try:
        return [free[text].pop() for text in texts]
    except IndexError:
        return None


def _matching_cells(target: str, cell_texts: _CellTexts) -> frozenset[Cell]:
    matches = frozenset(place for text, place in cell_texts if target and text == target)
    if matches or len(target) < _MIN_PART_CHARS:
        return matches
    pattern = re.compile(rf"(?<!\w){re.escape(target)}(?!\w)")
    return frozenset(place for text, place in cell_texts if pattern.search(text))


def _items(answer: Any) -> Iterator[list[str]]:
    if isinstance(answer, list | tuple):
        yield [_text(item) for item in answer]
    elif text := _text(answer).strip():
        yield literal_texts(text) or [text]
        for separator in ("|", "\n", ","):
            if separator in text:
                yield [item for item in text.split(separator) if item.strip()]


def _text(item: Any) -> str:
    return f"{item:.12g}" if isinstance(item, float) else text_of(item)  # 3.0 is "3"; no noise of floats


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()

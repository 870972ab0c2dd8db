"""What the cells of a table are called: the stems by which a question names each of them."""

from __future__ import annotations

from functools import lru_cache

from chameleon.modules.offline.grammar.dates import days_of_months
from chameleon.modules.offline.grammar.shapes import is_label, is_numbering
from chameleon.modules.offline.grammar.words import stems, tokenize
from chameleon.table import Column, Table

# What a table's cells are called is asked for by every family of questions in turn.
TABLES_KEPT = 4


@lru_cache(maxsize=TABLES_KEPT)
def cell_names(table: Table) -> dict[tuple[str, ...], list[tuple[int, int]]]:
    """The (column, row) pairs of the cells that go by each name, quantities aside."""
    names: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for column in table.columns:
        if column.kind == "number" and not is_label(column):
            continue
        for row, key in _names(column).items():
            names.setdefault(key, []).append((column.index, row))
    return names


def _names(column: Column) -> dict[int, tuple[str, ...]]:
    """The name of each filled cell by row: "week 4" for the 4 under "Week", "june 14" for 6/14."""
    filled = {row: value for row, value in enumerate(column.values) if value.kind != "empty"}
    if column.kind == "number" and is_numbering(column):
        return {row: (*stems(column.name), value.text.strip()) for row, value in filled.items()}
    names = {
        row: (clock(value.text),) if value.kind == "time" else stems(column.cells[row])
        for row, value in filled.items()
    }
    return {row: key for row, key in (names | days_of_months(column)).items() if key}


def clock(text: str) -> str:
    """A time of day as "14:05"; other texts in lower case."""
    found = tokenize(text)
    time = found[0].value.time if found else None
    return f"{time.hour:02}:{time.minute:02}" if time is not None else text.lower()

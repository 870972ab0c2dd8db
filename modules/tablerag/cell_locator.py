"""Find the cells of the table that an answer names: what SQA is scored by."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import Module, State, Table
from chameleon.modules.tablerag.cut import whole_table
from chameleon.table import read_value
from chameleon.table.replies import normal

_WORD = re.compile(r"\w+")
_LEAST_PART = 4  # characters: what is shorter stands inside too many cells by chance

Cell = tuple[int, int]


class CellLocator(Module):
    """Finds the cells of the whole table that the answer names. Follows the answer."""

    reads = ("input.question", "cache.answer", "cache.kept?", "history")
    writes = ("cache.coordinates",)
    wordless = ("cache.coordinates",)

    def run(self, state: State) -> dict[str, Any]:
        """`coordinates`: [row, column], from 0, below the header of the table before any cut; `missing`: the
        items that no cell has."""
        answer = state.cache["answer"]
        items = [answer] if isinstance(answer, str) else [str(item) for item in answer]
        table = whole_table(state)
        if table is None:
            return {"coordinates": [], "missing": items}
        cells, missing = located(items, table, state.input["question"], state.cache.get("kept"))
        return {"coordinates": [list(cell) for cell in cells], "missing": missing}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"coordinates": output["coordinates"]}


def located(
    items: Sequence[str], table: Table, question: str = "", kept: Mapping[str, Any] | None = None
) -> tuple[list[Cell], list[str]]:
    """The cell of each item, and the items that no cell has.

    - A cell has an item if it is the same text (in any case, space and quotes), else the same number, else
      if one stands in the other.
    - Answers stand in one column, so of several cells those in the column that has most items are taken; on
      a tie the column that was kept, then the one that the question names, then the first.
    - Of several in that column: those in kept rows, then in the row that has most of the question's words,
      then the first that no item before has taken.
    - Items that are all that a column has in the kept rows stand for all of its cells there: a list of
      places names one but once.
    """
    texts = _by_text(table)
    candidates = [_cells_of(item, table, texts) for item in items]
    missing = [item for item, cells in zip(items, candidates, strict=True) if not cells]
    rows = list(kept["rows"]) if kept else list(range(len(table.rows)))
    columns = frozenset(kept["columns"]) if kept else frozenset(range(len(table.header)))
    asked = _words(question)
    ranked = sorted(
        range(len(table.header)),
        key=lambda column: (
            -sum(any(cell[1] == column for cell in cells) for cells in candidates),
            column not in columns,
            -len(asked & _words(table.header[column])),
        ),
    )
    if not missing and (all_of_it := _whole_column(candidates, rows, ranked[0], table)):
        return all_of_it, []
    place = {column: rank for rank, column in enumerate(ranked)}
    inside, taken = frozenset(rows), set[Cell]()
    for cells in filter(None, candidates):
        best = min(
            cells,
            key=lambda cell: (
                cell in taken,
                place[cell[1]],
                cell[0] not in inside,
                -len(asked & _words(" ".join(table.rows[cell[0]]))),
                cell[0],
            ),
        )
        taken.add(best)
    return sorted(taken), missing


def _whole_column(
    candidates: Sequence[Sequence[Cell]], rows: Sequence[int], column: int, table: Table
) -> list[Cell]:
    """The filled cells of a column in these rows, if several items name all of them and nothing else."""
    filled = [(row, column) for row in rows if table.rows[row][column].strip()]
    named = {cell for cells in candidates for cell in cells}
    every = len(candidates) > 1 and named.issuperset(filled)
    return filled if every and all(named.intersection(cells, filled) for cells in candidates) else []


def _cells_of(item: str, table: Table, texts: Mapping[str, Sequence[Cell]]) -> Sequence[Cell]:
    """The cells that have an item, by the strictest way in which any has it; `texts`: cells by their text."""
    wanted = normal(item)
    if not wanted or wanted in texts:
        return texts[wanted] if wanted else []
    if (number := read_value(item).number) is not None:
        equal = [
            (row, column.index)
            for column in table.columns
            for row, value in enumerate(column.values)
            if value.number == number
        ]
        if equal:
            return sorted(equal)
    if len(wanted) < _LEAST_PART:
        return []
    parts = [
        text for text in texts if len(text) >= _LEAST_PART and (_is_in(wanted, text) or _is_in(text, wanted))
    ]
    return sorted(cell for text in parts for cell in texts[text])


def _by_text(table: Table) -> dict[str, list[Cell]]:
    """The cells by their text as it is compared."""
    found: dict[str, list[Cell]] = {}
    for row, line in enumerate(table.rows):
        for column, cell in enumerate(line):
            found.setdefault(normal(cell), []).append((row, column))
    return found


def _is_in(part: str, text: str) -> bool:
    """Whether a text holds a part as whole words."""
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))

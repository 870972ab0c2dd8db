"""Find the cells of the table that an answer names, which is how SQA is scored."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import Module, State, Table
from chameleon.core.module import Traits
from chameleon.modules.tablerag.cut import whole_table
from chameleon.table.amounts import read_amount
from chameleon.table.replies import normal

_WORD = re.compile(r"\w+")
_MIN_CHARS = 4  # characters: shorter texts are in too many cells by chance

Cell = tuple[int, int]


class CellLocator(Module):
    """Finds the cells of the whole table that the answer names. Follows the answer."""

    reads = ("input.question", "cache.answer", "cache.kept?", "history")
    writes = ("cache.coordinates",)
    traits = Traits(non_text=("cache.coordinates",))

    def run(self, state: State) -> dict[str, Any]:
        """Return `coordinates`, [row, column] from 0 in the table before any cut, and the `missing` items."""
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
    items: Sequence[str], table: Table, question: str = "", region: Mapping[str, Any] | None = None
) -> tuple[list[Cell], list[str]]:
    """Return the cell of each item, and the items that are in no cell.

    - A cell matches an item if the text is equal (ignoring case, space and quotes), else if the number is
      equal, else if one contains the other.
    - Of several cells, one that no earlier item uses is preferred, then the column with the most items,
      because answers are usually in one column; on a tie, a kept column, then one named in the question.
    - Within a column, kept rows come first, then the row with the most words of the question.
    - Items that cover a column in the kept rows select all its cells there, because a list of places names
      each only once.

    `region` has the positions, from 0, of the kept `rows` and `columns`; None: all are kept.
    """
    texts: dict[str, list[Cell]] = {}
    for row, line in enumerate(table.rows):
        for column, text in enumerate(line):
            texts.setdefault(normal(text), []).append((row, column))
    candidates = [_cells_of(item, table, texts) for item in items]
    missing = [item for item, cells in zip(items, candidates, strict=True) if not cells]
    rows = list(region["rows"]) if region else list(range(len(table.rows)))
    columns = frozenset(region["columns"]) if region else frozenset(range(len(table.header)))
    terms = _words(question)

    def column_rank(column: int) -> tuple[int, bool, int]:
        count = sum(any(cell[1] == column for cell in cells) for cells in candidates)
        return -count, column not in columns, -len(terms & _words(table.header[column]))

    ranked = sorted(range(len(table.header)), key=column_rank)
    if not missing and len(candidates) > 1:
        filled = [(row, ranked[0]) for row in rows if table.rows[row][ranked[0]].strip()]
        matches = {cell for cells in candidates for cell in cells}
        if filled and matches.issuperset(filled) and all(set(cells) & set(filled) for cells in candidates):
            return filled, []
    inside, picks = frozenset(rows), set[Cell]()

    def cell_rank(cell: Cell) -> tuple[bool, int, bool, int, int]:
        row, column = cell
        words = len(terms & _words(" ".join(table.rows[row])))
        return cell in picks, ranked.index(column), row not in inside, -words, row

    for cells in filter(None, candidates):
        picks.add(min(cells, key=cell_rank))
    return sorted(picks), missing


def _cells_of(item: str, table: Table, texts: Mapping[str, Sequence[Cell]]) -> Sequence[Cell]:
    """Return the cells that match an item, by the strictest rule that any cell meets."""
    key = normal(item)
    if not key or key in texts:
        return texts[key] if key else []
    if (amount := read_amount(item)) is not None:
        equal = [
            (row, column.index)
            for column in table.columns
            for row, value in enumerate(column.meaning.values)
            if column.meaning.is_number and value == amount.number
        ]
        if equal:
            return sorted(equal)
    if len(key) < _MIN_CHARS:
        return []
    parts = (text for text in texts if len(text) >= _MIN_CHARS)
    matches = (text for text in parts if _is_in(key, text) or _is_in(text, key))
    return sorted(cell for text in matches for cell in texts[text])


def _is_in(part: str, text: str) -> bool:
    """Return whether a text contains a part as whole words."""
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))

"""Say which table, rows and columns an answer came from."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chameleon import Module, State, Table
from chameleon.core.module import Traits
from chameleon.modules.tablerag.cell_locator import Cell, located
from chameleon.table.replies import positions

if TYPE_CHECKING:
    from chameleon.modules.documents.table_choice import Candidate

_MOST_ROWS = 1_000


@dataclass(frozen=True)
class TableRegion:
    """Positions, from 0, of rows and columns of a table; None stands for all of them."""

    rows: Sequence[int] | None = None
    columns: Sequence[int] | None = None

    def to_json(self, table: Table, cells: Sequence[Cell] = ()) -> dict[str, Any]:
        """Return it as people count: rows from 1, left out above a thousand, columns by name or number.

        `of` is how many rows there are, `count` how many of them are left out; `cells` hold the answer.
        """
        names = [name.strip() or f"column {number}" for number, name in enumerate(table.header, 1)]
        rows, columns = self._within(table)
        told: dict[str, Any] = {"of": len(table.rows), "columns": [names[column] for column in columns]}
        if len(rows) <= _MOST_ROWS:
            told["rows"] = [row + 1 for row in rows]
        elif len(rows) < len(table.rows):
            told["count"] = len(rows)
        if cells:
            told["cells"] = [[row + 1, names[column]] for row, column in cells]
        return told

    def answer_cells(self, answer: Any, table: Table, question: str) -> list[Cell]:
        """Return the cells here in which an answer in words stands; none for numbers.

        A number may equal any cell by chance, and of several rows with the same words none is told.
        """
        items = [answer] if isinstance(answer, str) else answer if isinstance(answer, tuple | list) else []
        if not items or not all(isinstance(item, str) and item.strip() for item in items):
            return []
        rows, columns = self._within(table)
        kept = {"rows": rows, "columns": columns}
        cells, missing = located(items, table, question, kept)
        if missing and len(items) == 1 and ", " in items[0]:
            cells, missing = located(items[0].split(", "), table, question, kept)
        is_here = all(row in rows and column in columns for row, column in cells)
        words, known = {table.rows[row][column].strip() for row, column in cells}, {row for row, _ in cells}
        others = (table.rows[row][column] for row in rows if row not in known for column in columns)
        return cells if is_here and not missing and not words & {cell.strip() for cell in others} else []

    def _within(self, table: Table) -> tuple[Sequence[int], Sequence[int]]:
        rows = range(len(table.rows)) if self.rows is None else self.rows
        return rows, range(len(table.header)) if self.columns is None else self.columns


def region_kept(whole: Table, part: Table) -> TableRegion | None:
    """Return which rows and columns of a table another one keeps; None where that is no part of it."""
    if (part.header, part.rows) == (whole.header, whole.rows):
        return TableRegion()
    columns = positions([(name,) for name in part.header], [(name,) for name in whole.header])
    if columns is None:
        return None
    rows = positions(part.rows, [tuple(row[column] for column in columns) for row in whole.rows])
    return None if rows is None else TableRegion(rows, columns)


class TableSources(Module):
    """Notes the table, rows and columns of the index that the answer came from. Follows the answer."""

    reads = (
        "input.question, input.index, input.table, input.choices?, input.unit?, "
        "cache.retrieved, cache.table_choice?, cache.program?, cache.program_result?, cache.answer"
    )
    writes = ("cache.sources",)
    traits = Traits(non_text=("cache.sources",))

    def run(self, state: State) -> list[dict[str, Any]]:
        """Return the table, and those that gave the same answer: `id`, place, `rows` (from 1), `columns`.

        `of` is how many rows the table has; of more than a thousand, `rows` is left out. `cells` has row and
        column of each cell in which an answer in words stands.
        """
        sources = []
        for chosen in _chosen(state):
            part = self.part(state, chosen.table)
            cells = part.answer_cells(state.cache["answer"], chosen.table, state.input["question"])
            told = part.to_json(chosen.table, cells)
            sources.append({"id": chosen.id, "table": chosen.name, **chosen.source, **told})
        return sources

    def part(self, state: State, table: Table) -> TableRegion:
        """Return what was read of the table: what lookups kept, the columns that a program names, or all."""
        kept = region_kept(table, state.input["table"])
        if kept is not None and kept != TableRegion():
            return kept
        if state.cache.get("program_result") is None:
            return TableRegion()
        from chameleon.modules.program.programs import parsed

        nodes = ast.walk(parsed(str(state.cache.get("program", ""))))
        names = {node.value for node in nodes if isinstance(node, ast.Constant)}
        named = [index for index, name in enumerate(table.header) if name in names]
        return TableRegion(None, named or None)


def _chosen(state: State) -> list[Candidate]:
    """Return the table that was chosen and those that agree with it, else the first that was found."""
    from chameleon.modules.documents.table_choice import retrieved

    choice = state.cache.get("table_choice", {})
    ids = [choice.get("id"), *choice.get("agreeing", ())]
    found = {each.id: each for each in retrieved(state)[0]}
    return [found[id] for id in ids if id in found] or [next(iter(found.values()))]

"""Say which table, rows and columns an answer came from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from chameleon import Module, State, Table
from chameleon.modules.documents.candidates import Candidate, candidates
from chameleon.modules.documents.table_region import TableRegion, answer_cells, region_kept


class TableSources(Module):
    """Notes the table, rows and columns of the index that the answer came from. Follows the answer."""

    reads = (
        "input.question",
        "input.index",
        "input.table",
        "input.choices?",
        "input.unit?",
        "cache.retrieved",
        "cache.table_choice?",
        "cache.program?",
        "cache.program_result?",
        "cache.answer",
    )
    writes = ("cache.sources",)
    non_text = ("cache.sources",)

    def run(self, state: State) -> list[dict[str, Any]]:
        """Return the table, and those that gave the same answer: `id`, place, `rows` (from 1), `columns`.

        `of` is how many rows the table has; of more than a thousand, `rows` is left out. `cells` has row and
        column of each cell in which an answer in words stands.
        """
        return [self._source(state, each) for each in _chosen(state)]

    def _source(self, state: State, chosen: Candidate) -> dict[str, Any]:
        part = self.part(state, chosen.table)
        cells = answer_cells(state.cache["answer"], chosen.table, state.input["question"], part)
        told = TableRegion(part.rows, part.columns, cells).to_json(chosen.table)
        return {"id": chosen.id, "table": chosen.name, **chosen.source, **told}

    def part(self, state: State, table: Table) -> TableRegion:
        """Return what was read of the table: what lookups kept, the columns that a program names, or all."""
        kept = region_kept(table, state.input["table"])
        if kept is not None and kept != TableRegion():
            return kept
        if state.cache.get("program_result") is None:
            return TableRegion()
        names = set(_texts(str(state.cache.get("program", ""))))
        named = [index for index, name in enumerate(table.header) if name in names]
        return TableRegion(None, named or None)


def _chosen(state: State) -> list[Candidate]:
    """Return the table that was chosen and those that agree with it, else the first that was found."""
    choice = state.cache.get("table_choice", {})
    ids = [choice.get("id"), *choice.get("agreeing", ())]
    found = {each.id: each for each in candidates(state)}
    return [found[id] for id in ids if id in found] or [next(iter(found.values()))]


def _texts(program: str) -> Iterator[str]:
    """Yield the texts that a program holds."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value

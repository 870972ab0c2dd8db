"""Keep part of the table, and remember where it was in the whole table."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from chameleon import Module, State, Table
from chameleon.core.module import Keys, Traits


class TableCut(Module):
    """A module that keeps rows and columns of the table and of the others: `cut` returns what `part` makes.

    `cache.kept` has the positions, from 0, of the kept rows and columns in the table as it was before the
    first cut. It is not there while the table is whole.
    """

    reads: ClassVar[Keys | None] = (
        "input.question",
        "input.table",
        "input.tables?",
        "input.history?",
        "cache.kept?",
    )
    writes: ClassVar[Keys | None] = ("input.table", "input.tables", "cache.kept")
    traits = Traits(non_text=("cache.kept",))

    @abstractmethod
    def cut(self, state: State) -> dict[str, Any]:
        """Return the kept part of `input.table`, as an output of `part` or `whole`."""

    def run(self, state: State) -> dict[str, Any]:
        """Return the kept part of the table, and of each further table in `others`."""
        tables = state.input.get("tables") or ()
        others = [self.cut(replace(state, input={**state.input, "table": each})) for each in tables]
        return self.cut(state) | ({"others": others} if others else {})

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        changes: dict[str, Any] = {} if output["whole"] else {"table": self.kept(input["table"], output)}
        if others := output.get("others"):
            changes["tables"] = [self.kept(*pair) for pair in zip(input["tables"], others, strict=True)]
        return changes

    @staticmethod
    def kept(table: Table, output: Mapping[str, Any]) -> Table:
        """Return the rows and columns of a table that a cut keeps."""
        return table if output["whole"] else table.take_rows(output["rows"]).take_columns(output["columns"])

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        if output["whole"]:
            return {}
        positions = {key: output[key] for key in ("rows", "columns")}
        if before := cache.get("kept"):  # these positions count within an earlier cut
            positions = {key: [before[key][position] for position in positions[key]] for key in positions}
        return {"kept": positions}


def part(table: Table, rows: Sequence[int], columns: Sequence[int]) -> dict[str, Any]:
    """Return the output of a cut that keeps these positions, at least one row and one column."""
    if list(rows) == list(range(len(table.rows))) and list(columns) == list(range(len(table.header))):
        return whole("every row and column is kept")
    return {"whole": False, "rows": list(rows), "columns": list(columns)}


def whole(reason: str) -> dict[str, Any]:
    """Return the output of a cut that keeps the whole table."""
    return {"whole": True, "reason": reason}


def whole_table(state: State) -> Table | None:
    """Return the table before the first cut, from the history of the run, or None without a table."""
    table: Table | None = state.started.input.get("table") if state.started else state.table
    for record in state.history:
        if "kept" in record.cache_changes:
            break
        table = record.input_changes.get("table", table)
    return table

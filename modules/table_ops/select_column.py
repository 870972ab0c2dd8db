"""`f_select_column`: keep the columns that the question needs (Chain-of-Table)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from chameleon import State, StepRejected, Table
from chameleon.errors import InventoryError
from chameleon.llm_module import Weights
from chameleon.modules.table_ops.names import columns_named, whole_choice
from chameleon.modules.table_ops.operation import Args, Operation
from chameleon.modules.table_ops.select_row import ALL
from chameleon.modules.table_ops.table_operation import TableOperation
from chameleon.quoting import unframed
from chameleon.table.formats import Excerpt, excerpt


class ColumnSelection(Operation):
    """Keeps columns, in the table's order. `args`: {"columns": names}, all columns of a name."""

    def apply(self, table: Table, args: Args) -> Table:
        wanted = set(args["columns"])
        kept = [index for index, name in enumerate(table.header) if name in wanted]
        if not kept:
            raise StepRejected("it names no column of the table")
        return table.take_columns(kept)

    def written(self, args: Args) -> str:
        return ", ".join(args["columns"])


class SelectColumn(TableOperation, ColumnSelection):
    """Keeps only the columns that the question is about. For tables with columns that are not needed."""

    prompt = "wikitq/select_column"

    def __init__(self, weights: Weights = "given", top: int = 2) -> None:
        """`top`: so many of the answers with the most votes are united (published: 2)."""
        super().__init__(weights)
        self.top = top

    def check(self) -> None:
        """Raise `InventoryError` for a `table_style` that nothing in the prompt is written in."""
        super().check()
        if "table_style" in vars(self) and not {"table", "table?"}.intersection(self.template.slots):
            raise InventoryError(
                f"{self.name} shows the table as JSON by column, whatever its table_style",
                hint="Remove table_style, or name a prompt with the slot `table`.",
            )

    def read_args(self, text: str, table: Table) -> Args:
        """ "f_col([rank, time])" or "f_col([rank and time])", in any case.

        A reply with a name that no column has is rejected.
        """
        inside = whole_choice(text, "col", "column", "select_column").strip()
        inside = inside.removeprefix("[").removesuffix("]")
        if inside.strip() == ALL:
            return {"columns": list(table.header)}
        kept = [table.header[index] for index in columns_named(inside, table.header)]
        return {"columns": list(dict.fromkeys(kept))}

    def elected(self, candidates: Sequence[tuple[Args, float]]) -> Args:
        best = [name for args, _ in candidates[: self.top] for name in args["columns"]]
        return {"columns": list(dict.fromkeys(best))}

    def slots(self, state: State) -> dict[str, Any]:
        """`by_column` is the table as JSON, a list for each column; `table_style` is for `table` alone."""
        table: Table = state.input["table"]
        lists = by_column(excerpt(table, **self.limits), table.caption)
        return super().slots(state) | {"by_column": unframed(lists)}


def by_column(part: Excerpt, caption: str) -> str:
    """A table as JSON with one list for each column, its name first, as in the published prompts."""
    columns = [[name, *cells] for name, *cells in zip(part.header, *part.rows, strict=True)]

    def line(values: Sequence[str]) -> str:
        return json.dumps(values, ensure_ascii=False)

    lists = ",\n    ".join(line(column) for column in columns)
    note = f'\n  "note": {json.dumps(part.note, ensure_ascii=False)},' if part.note else ""
    return (
        f'{{\n  "table_caption": {json.dumps(caption, ensure_ascii=False)},\n'
        f'  "columns": {line(part.header)},{note}\n  "table_column_priority": [\n    {lists}\n  ]\n}}'
    )

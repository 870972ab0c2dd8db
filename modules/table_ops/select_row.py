"""`f_select_row`: keep the rows that the question needs (Chain-of-Table)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from pydantic import PositiveInt

from chameleon import State, StepRejected, Table
from chameleon.errors import CutOff, InventoryError
from chameleon.llm_module import RAISE_LIMIT, Weights
from chameleon.modules.table_ops.names import call_in, whole_choice
from chameleon.modules.table_ops.operation import Args, Operation
from chameleon.modules.table_ops.table_operation import TableOperation
from chameleon.prompt import table_text

if TYPE_CHECKING:
    from chameleon.llm import Reply

_CALLS = ("row", "select_row")
_NONE = re.compile(r"\[\s*\]")
_NO_ROW = "it names no row of the table"
_ROW = r"(?:rows?\s*)?(\d{1,9})"
_ROWS = re.compile(rf"{_ROW}(?:\s*(?:to|through|[-–—−])\s*{_ROW})?", re.IGNORECASE)
_BETWEEN = re.compile(r"[,;]\s*(?:and\s)?|\s(?:and\s|&)", re.IGNORECASE)
_GROUPED = re.compile(r"\d,\d{3}\b")
_THOUSAND = 1000
_QUOTES = str.maketrans("", "", "\"'`")
ALL = "*"


class RowSelection(Operation):
    """Keeps rows. `args`: {"rows": numbers counted from 1, or "*" for all}."""

    def apply(self, table: Table, args: Args) -> Table:
        if args["rows"] == ALL:
            return table
        most = len(table.rows)
        kept = {number - 1 for number in args["rows"] if 1 <= number <= most}
        if not kept:
            raise StepRejected(_NO_ROW)
        return table.take_rows(sorted(kept))

    def written(self, args: Args) -> str:
        return ALL if args["rows"] == ALL else ", ".join(f"row {number}" for number in args["rows"])


class SelectRow(TableOperation, RowSelection):
    """Keeps only the rows that the question is about. For tables of which a few rows are enough."""

    prompt = "wikitq/select_row"

    def __init__(
        self,
        weights: Weights = "given",
        top: int = 2,
        *,
        max_table_rows: PositiveInt = 500,
        most_calls: PositiveInt = 8,
    ) -> None:
        """`top`: so many of the answers with the most votes are united (published: 2).

        A table that one prompt cannot show (`max_rows`, `max_table_tokens`) is shown in blocks, each once
        whatever `samples` says, and the rows chosen from each are united. With more rows than
        `max_table_rows`, or more blocks than `most_calls`, it is left alone: a row that no prompt shows is
        never thrown away.
        """
        super().__init__(weights)
        self.top, self.max_table_rows, self.most_calls = top, max_table_rows, most_calls

    def check(self) -> None:
        """Raise `InventoryError` for a `table_style` without the numbers that replies name rows by."""
        super().check()
        if self.table_style != "numbered":
            raise InventoryError(
                f"{self.name} asks for rows by number, and table_style: {self.table_style} shows no numbers",
                hint="Remove table_style: it is numbered here.",
            )

    def read_args(self, text: str, table: Table) -> Args:
        """ "f_row([row 1, row 3])", "f_row([1, 3 to 5])", "f_row([rows 1 and 3])" or "f_row([*])".

        Rows that are not there are left out; a reply with a part that cannot be read is rejected.
        """
        return {"rows": _rows_in(text, range(len(table.rows)))}

    def choose_args(self, state: State) -> Args:
        table: Table = state.input["table"]
        total = len(table.rows)
        blocks = self.blocks(table, [total, *repeat(self.max_table_rows, self.most_calls - 1)])
        shown = sum(map(len, blocks))
        if shown == total and len(blocks) <= 1:
            return super().choose_args(state)
        if (shown := min(shown, self.max_table_rows)) < total:
            raise StepRejected(
                f"only {shown:,} of {total:,} rows could be shown; filter_rows can cut by a condition"
            )
        return self._chosen_from(blocks, state)

    def _chosen_from(self, blocks: Sequence[range], state: State) -> Args:
        """The rows chosen from each block, asked for together; one reply that will not do spoils them all."""
        slots, total = self.slots(state), len(state.input["table"].rows)
        prompts = [self.template.render(slots | self._slots_of(block, state)) for block in blocks]
        params = self.stop_params
        replies = self.model.ask_each(prompts, **params)
        kept = [
            number
            for block, reply in zip(blocks, replies, strict=True)
            for number in self._numbers_in(reply, block)
        ]
        if not kept:
            raise StepRejected(_NO_ROW)
        return {"rows": ALL if len(kept) == total else kept}

    def _slots_of(self, block: range, state: State) -> dict[str, Any]:
        """The rows of a block, in the style that numbers them: as they are counted in the whole table."""
        table: Table = state.input["table"]
        text = table_text(table.take_rows(block), style="numbered", first=block.start + 1, **self.limits)
        part = f"Rows {block.start + 1:,} to {block.stop:,} of {len(table.rows):,} are shown."
        return {"table": text, "part": part}

    def _numbers_in(self, reply: Reply, block: range) -> list[int]:
        if reply.truncated:
            raise CutOff("the reply was cut off, though asked for with more room", hint=RAISE_LIMIT)
        if _NONE.fullmatch(call_in(reply.text, *_CALLS)):
            return []
        rows = _rows_in(reply.text, block)
        return [position + 1 for position in block] if isinstance(rows, str) else rows

    def elected(self, candidates: Sequence[tuple[Args, float]]) -> Args:
        best = [args["rows"] for args, _ in candidates[: self.top]]
        if ALL in best:
            return {"rows": ALL}
        return {"rows": sorted({number for rows in best for number in rows})}


def _rows_in(text: str, shown: range) -> list[int] | str:
    """The numbers of the rows that a reply names, or "*" for all; those that were not shown are left out.

    `shown` has positions, counted from 0. Raises `StepRejected` where the reply names none of them, or where
    a part of it cannot be read: the rows of that part would be lost.
    """
    inside = whole_choice(text, *_CALLS).strip("[] ")
    if inside == ALL:
        return ALL
    if shown.stop >= _THOUSAND and _GROUPED.search(inside):
        raise StepRejected("it is not plain whether a comma parts two rows or a number's thousands")
    kept: set[int] = set()
    for part in map(str.strip, _BETWEEN.split(inside.translate(_QUOTES))):
        match = _ROWS.fullmatch(part)
        if match is None:
            raise StepRejected(f"it names rows in a way that is not understood: {part[:60]!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if first == 0:
            raise StepRejected("it names row 0, and rows are counted from 1")
        if last < first:
            raise StepRejected(f"it names rows from {first} down to {last}")
        kept.update(range(max(first, shown.start + 1), min(last, shown.stop) + 1))
    if not kept:
        raise StepRejected(_NO_ROW)
    return sorted(kept)

"""`f_select_row` and `f_select_column`: keep the rows or columns that the question needs (Chain-of-Table)."""

import json
import re
from collections.abc import Sequence
from itertools import repeat
from typing import Annotated, Any

from pydantic import BaseModel, Field, PositiveInt

from chameleon import State, StepRejected, Table
from chameleon.core.llm_module import RAISE_LIMIT, Weights
from chameleon.core.prompt import table_text
from chameleon.errors import CutOff, InventoryError
from chameleon.llm import Reply
from chameleon.modules.table_ops.names import call_in, columns_named, whole_choice
from chameleon.modules.table_ops.operation import Args, TableOperation, form_of, name_in
from chameleon.quoting import unframed
from chameleon.table.formats import Excerpt, excerpt

_ALL = "*"
_ROW_CALLS = ("row", "select_row")
_NONE = re.compile(r"\[\s*\]")
_NO_ROW = "it names no row of the table"
_ROW = r"(?:rows?\s*)?(\d{1,9})"
_ROWS = re.compile(rf"{_ROW}(?:\s*(?:to|through|[-–—−])\s*{_ROW})?", re.IGNORECASE)
_GROUPED = re.compile(r"\d,\d{3}\b")  # "row 1,234"
_SEPARATOR = re.compile(r"[,;]\s*(?:and\s)?|\s(?:and\s|&)", re.IGNORECASE)
_QUOTES = str.maketrans("", "", "\"'`")


class SelectRow(TableOperation):
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
        """Take settings, all optional.

        A table too long for one prompt (`max_rows`, `max_table_tokens`) is shown in blocks, each once
        regardless of `samples`, and the rows chosen from each are combined.

        Args:
            top: so many of the answers with the most votes are united (published: 2).
            max_table_rows, most_calls: a table with more rows or blocks stays unchanged: a row that no prompt
                shows is never dropped.
        """
        super().__init__(weights)
        self.top, self.max_table_rows, self.most_calls = top, max_table_rows, most_calls

    def check(self) -> None:
        """Raise `InventoryError` for a `table_style` without row numbers, which replies need."""
        super().check()
        if self.table_view.style != "numbered":
            style = self.table_view.style
            what = f"{self.name} asks for rows by number: table_style: {style} shows no numbers"
            raise InventoryError(what, hint="Remove table_style: it is numbered here.")

    def apply(self, table: Table, args: Args) -> Table:
        """Return the rows. `args`: {"rows": numbers counted from 1, or "*" for all}."""
        if args["rows"] == _ALL:
            return table
        count = len(table.rows)
        positions = {number - 1 for number in args["rows"] if 1 <= number <= count}
        if not positions:
            raise StepRejected(_NO_ROW)
        return table.take_rows(sorted(positions))

    def written(self, args: Args) -> str:
        return _ALL if args["rows"] == _ALL else ", ".join(f"row {number}" for number in args["rows"])

    def args_form(self, table: Table) -> type[BaseModel]:
        number = Annotated[int, Field(ge=1, le=len(table.rows))]
        return form_of(rows=Annotated[list[number], Field(min_length=1)])

    def settled(self, args: Args, table: Table) -> Args:
        return {"rows": sorted(set(args["rows"]))}

    def read_args(self, text: str, table: Table) -> Args:
        """Read "f_row([row 1, row 3])", "f_row([1, 3 to 5])", "f_row([rows 1 and 3])" or "f_row([*])".

        Rows that do not exist are ignored; a reply with an unreadable part is rejected.
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
            what = f"only {shown:,} of {total:,} rows could be shown"
            raise StepRejected(f"{what}; filter_rows can select by a condition")
        return self._choose_from(blocks, state)

    def _choose_from(self, blocks: Sequence[range], state: State) -> Args:
        """Choose rows from all blocks, with concurrent calls; one unusable reply rejects the whole."""
        table: Table = state.input["table"]
        slots, total = self.slots(state), len(table.rows)
        prompts = []
        for block in blocks:  # rows keep their numbers in the whole table
            rows, first = table.take_rows(block), block.start + 1
            text = table_text(rows, style="numbered", first=first, **self.table_view.limits)
            part = f"Rows {first:,} to {block.stop:,} of {total:,} are shown."
            prompts.append(self._template.render(slots | {"table": text, "part": part}))
        replies = self.model.ask_each(prompts, **self._stop_params)
        numbers = [n for block, reply in zip(blocks, replies, strict=True) for n in _rows_of(reply, block)]
        if not numbers:
            raise StepRejected(_NO_ROW)
        return {"rows": _ALL if len(numbers) == total else numbers}

    def elected(self, candidates: Sequence[tuple[Args, float]]) -> Args:
        best = [args["rows"] for args, _ in candidates[: self.top]]
        if _ALL in best:
            return {"rows": _ALL}
        return {"rows": sorted({number for rows in best for number in rows})}


def _rows_of(reply: Reply, block: range) -> list[int]:
    """Return the numbers of the rows of a block that a reply keeps; "f_row([])" keeps none."""
    if reply.truncated:
        raise CutOff("the reply was cut off again with a higher max_tokens", hint=RAISE_LIMIT)
    if _NONE.fullmatch(call_in(reply.text, *_ROW_CALLS)):
        return []
    rows = _rows_in(reply.text, block)
    return [position + 1 for position in block] if isinstance(rows, str) else rows


def _rows_in(text: str, shown: range) -> list[int] | str:
    """Return the numbers of the rows named in a reply, or "*" for all; ignore rows that were not shown.

    `shown` has positions from 0. Raises `StepRejected` if the reply names none of them, or if part of it is
    unreadable, because the rows of that part would be lost.
    """
    inside = whole_choice(text, *_ROW_CALLS).strip("[] ")
    if inside == _ALL:
        return _ALL
    if shown.stop >= 1000 and _GROUPED.search(inside):
        raise StepRejected("it is not clear whether a comma separates rows or thousands")
    numbers: set[int] = set()
    for part in map(str.strip, _SEPARATOR.split(inside.translate(_QUOTES))):
        match = _ROWS.fullmatch(part)
        if match is None:
            raise StepRejected(f"it names rows in a form that cannot be read: {part[:60]!r}")
        first, last = int(match[1]), int(match[2] or match[1])
        if first == 0:
            raise StepRejected("it names row 0, and rows are counted from 1")
        if last < first:
            raise StepRejected(f"it names rows from {first} down to {last}")
        numbers.update(range(max(first, shown.start + 1), min(last, shown.stop) + 1))
    if not numbers:
        raise StepRejected(_NO_ROW)
    return sorted(numbers)


class SelectColumn(TableOperation):
    """Keeps only the columns that the question is about. For tables with columns that are not needed."""

    prompt = "wikitq/select_column"

    def __init__(self, weights: Weights = "given", top: int = 2) -> None:
        """`top`: so many of the answers with the most votes are united (published: 2)."""
        super().__init__(weights)
        self.top = top

    def check(self) -> None:
        """Raise `InventoryError` for a `table_style` that the prompt does not use."""
        super().check()
        slots = {"table", "table?"}.intersection(self._template.slots)
        if not slots and self.table_view.style != type(self).table_view.style:
            what = f"{self.name} shows the table as JSON by column, whatever its table_style"
            raise InventoryError(what, hint="Remove table_style, or name a prompt with the slot `table`.")

    def apply(self, table: Table, args: Args) -> Table:
        """Return the columns in table order. `args`: {"columns": names}; a name selects all its columns."""
        names = set(args["columns"])
        indexes = [index for index, name in enumerate(table.header) if name in names]
        if not indexes:
            raise StepRejected("it names no column of the table")
        return table.take_columns(indexes)

    def written(self, args: Args) -> str:
        return ", ".join(args["columns"])

    def args_form(self, table: Table) -> type[BaseModel]:
        return form_of(columns=Annotated[list[name_in(table.header)], Field(min_length=1)])  # type: ignore[misc]

    def read_args(self, text: str, table: Table) -> Args:
        """Read "f_col([rank, time])" or "f_col([rank and time])" in any case. Rejects an unknown name."""
        inside = whole_choice(text, "col", "column", "select_column").strip()
        inside = inside.removeprefix("[").removesuffix("]")
        if inside.strip() == _ALL:
            return {"columns": list(table.header)}
        names = [table.header[index] for index in columns_named(inside, table.header)]
        return {"columns": list(dict.fromkeys(names))}

    def elected(self, candidates: Sequence[tuple[Args, float]]) -> Args:
        best = [name for args, _ in candidates[: self.top] for name in args["columns"]]
        return {"columns": list(dict.fromkeys(best))}

    def slots(self, state: State) -> dict[str, Any]:
        """Add `by_column`, the table as JSON by column; `table_style` only affects `table`."""
        table: Table = state.input["table"]
        lists = by_column(excerpt(table, **self.table_view.limits), table.caption)
        return super().slots(state) | {"by_column": unframed(lists)}


def by_column(part: Excerpt, caption: str) -> str:
    """Return a table as JSON with one list per column, its name first, as in the published prompts."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    lists = ",\n    ".join(map(line, zip(part.header, *part.rows, strict=True)))
    note = f'\n  "note": {line(part.note)},' if part.note else ""
    return (
        f'{{\n  "table_caption": {line(caption)},\n'
        f'  "columns": {line(part.header)},{note}\n  "table_column_priority": [\n    {lists}\n  ]\n}}'
    )

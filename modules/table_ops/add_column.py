"""`f_add_column`: write what cells imply into a new column (Chain-of-Table)."""

import math
import re
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import eq, itemgetter
from typing import Any, Literal

from pydantic import PositiveInt

from chameleon import State, StepRejected, Table
from chameleon.core.llm_module import Weights
from chameleon.core.prompt import table_text
from chameleon.modules.table_ops.names import call_in, column_named
from chameleon.modules.table_ops.operation import Args, TableOperation
from chameleon.table.bars import split_rows

_EXPLAINED = re.compile(r"We extract the value from.*", re.DOTALL | re.IGNORECASE)
_VALUE = "The value:"
_DIGITS = re.compile(r"\d+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")  # 32,092


class AddColumn(TableOperation):
    """Adds a column with values that are hidden inside another one, such as a country in brackets."""

    prompt = "wikitq/add_column"

    def __init__(
        self,
        weights: Weights = "given",
        *,
        rows_shown: PositiveInt = 50,
        rows_per_call: PositiveInt = 50,
        max_table_rows: PositiveInt = 500,
        values: Literal["shown", "any"] = "shown",
    ) -> None:
        """Set how many rows a reply covers: the first names the column, further ones give the other values.

        As published: `rows_shown: 3` and `rows_per_call: 1`, one call per row after the third. If fewer rows
        fit within `max_rows` and `max_table_tokens`, each reply covers those. Tables with more rows than
        `max_table_rows`, or with long rows that would take more calls, stay unchanged. With `values: shown`,
        one column must contain every value in its cells ("32,092" contains "32092"); `any` accepts computed
        values as well, as published (Chain-of-Table, appendix A.1).
        """
        super().__init__(weights)
        self.values = values
        self.rows_shown, self.rows_per_call, self.max_table_rows = rows_shown, rows_per_call, max_table_rows

    def apply(self, table: Table, args: Args) -> Table:
        """Return the table with the new column on the right.

        `args`: {"column": name, "values": one text for each row}. Refused, as published, if the values add
        nothing: they are all equal, one is empty, a column has that name or those contents, or the name
        begins with "number of" (other operations count). With `values: shown`, also refused unless one column
        contains every value in its cells, because a value that is in no cell may be made up.
        """
        name, values = args["column"], tuple(args["values"])
        _check_name(table, name)
        if len(values) != len(table.rows):
            raise StepRejected(f"it gives {len(values)} values for {len(table.rows)} rows")
        if not all(values):
            raise StepRejected("a value is missing")
        if values and all(map(eq, values, repeat(values[0]))):
            raise StepRejected("all values are the same")
        columns = range(len(table.header))
        if any(_agree(eq, table, index, values) for index in columns):
            raise StepRejected("a column already has these values")
        if self.values == "shown" and not any(_agree(_shows, table, index, values) for index in columns):
            raise StepRejected("no column shows these values")
        return table.with_column(name, values)

    def written(self, args: Args) -> str:
        return str(args["column"])

    def read_args(self, text: str, table: Table) -> Args:
        """Read "… f_add_column(country). The value: ind | kaz | ind": values of the first rows."""
        name = call_in(text, "add_column")
        explained = _EXPLAINED.search(text)
        if explained is None or not name:
            raise StepRejected('it does not say from which column ("We extract the value from …")')
        _check_name(table, name)
        before, _, values = explained[0].rpartition(_VALUE)
        first = _values_in(values)
        count = len(self._first(table).rows)
        if not before or len(first) < count:
            raise StepRejected(f"it gives {len(first)} values for {count} rows")
        return {"column": name, "values": first[:count], "explained": before + _VALUE}

    def choose_args(self, state: State) -> Args:
        table: Table = state.input["table"]
        if len(table.rows) > self.max_table_rows:
            raise StepRejected(f"the table has more than {self.max_table_rows} rows")
        further = math.ceil((self.max_table_rows - self.rows_shown) / self.rows_per_call)
        blocks = self.blocks(table, [self.rows_shown, *repeat(self.rows_per_call, further)])
        if (count := sum(map(len, blocks))) < len(table.rows):
            raise StepRejected(f"only {count:,} of {len(table.rows):,} rows could be shown")
        args = super().choose_args(state)
        parts = [table.take_rows(block) for block in blocks[1:]]
        texts = [table_text(part, style=self.table_view.style, **self.table_view.limits) for part in parts]
        slots = {"title": table.caption, "explained": args["explained"], "question": "", "columns": ""}
        prompts = [self._template.render(slots | {"table": text}) for text in texts]
        values = [*args["values"]]
        for part, reply in zip(parts, self.model.ask_each(prompts, **self._stop_params), strict=True):
            batch = _values_in(reply.text.rpartition(_VALUE)[2])
            if reply.truncated or len(batch) < len(part.rows):
                raise StepRejected(f"it gives {len(batch)} values for {len(part.rows)} rows")
            values += batch[: len(part.rows)]
        return {"column": args["column"], "values": values}

    def _first(self, table: Table) -> Table:
        """Return the rows shown in the first prompt."""
        return table.take_rows([row for block in self.blocks(table, [self.rows_shown]) for row in block])

    def slots(self, state: State) -> dict[str, Any]:
        """Show the first rows, and mask the numbers in the question: a value is extracted, not computed."""
        first, masked = self._first(state.input["table"]), _DIGITS.sub("_", state.input["question"])
        text = table_text(first, style=self.table_view.style, **self.table_view.limits)
        return super().slots(state) | {"table": text, "question": masked, "explained": ""}


def _agree(compare: Callable[[str, str], bool], table: Table, index: int, values: Sequence[str]) -> bool:
    """Return whether all cells of a column agree with their values; stop at the first that does not."""
    return all(map(compare, map(itemgetter(index), table.rows), values))


def _shows(cell: str, value: str) -> bool:
    """Return whether a cell contains a value, ignoring thousands separators."""
    return value in cell or _THOUSANDS.sub("", value) in _THOUSANDS.sub("", cell)


def _check_name(table: Table, name: str) -> None:
    """Raise `StepRejected` if an added column may not have this name."""
    if name.lower().startswith("number of"):
        raise StepRejected("a count cannot be added as a column")
    if column_named(name, table.header) is not None:
        raise StepRejected(f"a column named {name!r} already exists")


def _values_in(text: str) -> list[str]:
    """Return the values in a line, separated by bars."""
    line = text.strip().partition("\n")[0]
    return [value.strip() for value in split_rows([line])[0]] if line else []

"""Keep the rows and columns selected by pandas code from a model (TableRAG's LLM filter).

The result of the code is never used as a table: it only selects rows and columns of the original table, and
is compared with it cell by cell. The worst that hostile code can do is select the wrong rows.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal

from chameleon import LLMModule, State, StepRejected, Table
from chameleon.core.prompt import TableView, table_text, types_in_words
from chameleon.errors import SandboxUnavailable, versions_of
from chameleon.modules.program.programs import in_words, program_in
from chameleon.modules.sql.database import safe_names
from chameleon.modules.tablerag.cut import TableCut, part, whole
from chameleon.sandbox import shared_sandbox
from chameleon.sandbox.sealed_process import why_unusable
from chameleon.table.amounts import read_amount
from chameleon.table.replies import normal, positions
from chameleon.table.table import Row

_RESULT = "filtered_table"
# Define the frame by both names that models use, and import pandas in case the code forgets to.
_PRELUDE = "import pandas, pandas as pd, numpy as np; table = df"


class LLMFilter(TableCut, LLMModule):
    """Keeps the rows and columns that the question may need, by pandas code. For tables with many rows."""

    prompt = "tablerag/llm_filter"
    samples = 5
    table_view = TableView(max_rows=40)

    def __init__(
        self,
        agree: Literal["result", "text"] = "result",
        numbers: Literal["converted", "text"] = "converted",
        *,
        timeout: float | None = None,
    ) -> None:
        """Set how samples vote; the majority wins, and the first on a tie.

        If anything goes wrong (no code, an error, an empty or foreign result), the whole table is kept, and
        the output says why.

        Args:
            agree: "result": samples agree if they keep the same rows and columns; code that fails votes for
                the whole table, which loses a tie. "text": samples agree if their code is identical, and that
                code is run (published).
            numbers: whether the code sees numbers as numbers, or cells as text (published).
            timeout: seconds per program; the default is the sandbox's 2.
        """
        self.agree, self.numbers, self.timeout = agree, numbers, timeout

    def runtime_info(self) -> Mapping[str, Any]:
        return {"pandas": "", "runs": not without_pandas()} | versions_of("pandas")

    def cut(self, state: State) -> dict[str, Any]:
        table: Table = state.input["table"]
        if len(table.rows) < 2:
            return whole("the table is small")
        if reason := without_pandas():
            return whole(reason)
        outcomes = [self._value_or_rejection(reply, state) for reply in self.ask(state)]
        codes = [value for value in outcomes if not isinstance(value, StepRejected)]
        faults = [value.what for value in outcomes if isinstance(value, StepRejected)]
        if self.agree == "text" and codes:
            mode = Counter(codes).most_common(1)[0][0]
            codes, faults = [code for code in codes if code == mode], []
        results = {code: run_filter(code, table, self.timeout) for code in dict.fromkeys(codes)}
        faults += [result for code in codes if isinstance(result := results[code], str)]
        tally = Counter(result for code in codes if isinstance(result := results[code], KeptPart))
        if not tally:
            return whole(faults[0]) | {"faults": faults}
        ((winner, count),) = tally.most_common(1)
        votes = {"votes": count, "faults": faults}
        if count < len(faults):
            return whole("more samples failed than agree on what to keep") | votes
        code = next(code for code in codes if results[code] == winner)
        return part(table, winner.rows, winner.columns) | {"code": code} | votes

    def parse(self, text: str) -> str:
        return program_in(text)

    def slots(self, state: State) -> dict[str, Any]:
        """Show the table with unique column names, as the code sees them."""
        table: Table = state.input["table"]
        frame = Table(safe_names(table.header), table.rows, table.caption)
        return super().slots(state) | {
            "table": table_text(frame, style=self.table_view.style, **self.table_view.limits),
            "types": types_in_words(frame),
            "as_text": self.numbers == "text" or None,
        }


@dataclass(frozen=True, slots=True)
class KeptPart:
    """The positions, from 0 and in order, of the rows and columns that a filter kept."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


def without_pandas() -> str:
    """Return why filter code cannot run here, or "" if it can; start nothing."""
    if reason := why_unusable():
        return f"the sealed sandbox, which alone has pandas, cannot run here: {reason}"
    if missing := [name for name in ("numpy", "pandas") if find_spec(name) is None]:
        return f'{" and ".join(missing)} not installed: pip install "chameleon-compose[programs]"'
    return ""


def run_filter(code: str, table: Table, timeout: float | None = None) -> KeptPart | str:
    """Return the part that the code keeps, or the reason for keeping the whole table, as a clause."""
    names = safe_names(table.header)
    inputs = {"table": {"columns": names, "rows": [list(row) for row in table.rows]}}
    try:
        result = shared_sandbox().run(f"{_PRELUDE}\n{code}", inputs, result=_RESULT, timeout=timeout)
    except SandboxUnavailable as problem:
        return str(problem)
    if result.status == "no_answer":
        return f"the code does not set {_RESULT}"
    if not result.ok:
        line = None if result.line is None else max(result.line - 1, 0) or None  # without the prelude's
        return f"the code failed: {in_words(replace(result, line=line))}"
    if result.value_type != "dataframe":
        return f"{_RESULT} is not a table"
    return kept_in_frame(result.value, table, names)


def kept_in_frame(frame: Any, table: Table, names: Sequence[str]) -> KeptPart | str:
    """Return the rows (by label, else by cells) and columns in a frame, or what is wrong with the frame."""
    match frame:
        case {"columns": [*header], "rows": [*rows]} if all(isinstance(row, list) for row in rows):
            labels = frame.get("index", list(map(str, range(len(rows)))))
        case _:
            return f"{_RESULT} is not a table"
    if not rows or not header:
        return f"{_RESULT} is empty"
    if foreign := [name for name in header if name not in names]:
        return f"{_RESULT} has the column {str(foreign[0])[:60]!r}, which the table does not have"
    columns = [names.index(name) for name in header]
    if len(set(columns)) < len(columns) or any(len(row) != len(columns) for row in rows):
        return f"{_RESULT} has a column twice, or rows of other widths"
    whole_rows = [tuple(row[column] for column in columns) for row in table.rows]
    indexes = _rows_by_label(labels, rows, whole_rows)
    if indexes is None and all(isinstance(cell, str) for cells in rows for cell in cells):
        indexes = positions([tuple(cells) for cells in rows], whole_rows)
    if indexes is None:
        return f"{_RESULT} has a row that the table does not have"
    return KeptPart(tuple(sorted(set(indexes))), tuple(sorted(columns)))


def _rows_by_label(labels: Any, lines: Sequence[Sequence[Any]], rows: Sequence[Row]) -> list[int] | None:
    """Return the rows with these labels, if the cells next to each label match that row."""
    if not isinstance(labels, list) or len(labels) != len(lines):
        return None
    numbers = []
    for label, cells in zip(map(str, labels), lines, strict=True):
        row = int(label[:9]) if label.isascii() and label.isdecimal() else len(rows)
        if row >= len(rows) or not all(map(_is_cell, cells, rows[row])):
            return None
        numbers.append(row)
    return numbers


def _is_cell(value: Any, cell: str) -> bool:
    """Return whether a value equals a cell, as a number or ignoring case; None matches any cell."""
    if isinstance(value, str):
        return normal(value) == normal(cell)
    if value is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # The number as pandas parses it, then as our tables do.
    amount = read_amount(cell)
    for number in (cell.replace(",", ""), amount and amount.number):
        with suppress(ValueError, OverflowError, TypeError):  # not a number, or too large for a float
            if math.isclose(float(number), value, rel_tol=1e-9):  # type: ignore[arg-type]
                return True
    return False

"""Run the pandas code of a filter in the sandbox, and see which rows and columns it kept.

What comes back is never taken for a table: it only says which rows and columns of ours are meant, and it is
compared with them cell by cell. So the worst that hostile code can do is to name other rows of the table.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from chameleon import Table
from chameleon.errors import SandboxUnavailable
from chameleon.modules.program.program_executor import in_words
from chameleon.sandbox import shared_executor
from chameleon.sandbox.values import DataFrame
from chameleon.sandbox.zygote import why_unusable
from chameleon.table import read_value
from chameleon.table.replies import normal

RESULT = "filtered_table"
# The frame under both names that models use, and pandas for code that forgets to import it.
_PRELUDE = "import pandas, pandas as pd, numpy as np; table = df"
_NAMED = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Kept:
    """The positions, from 0 and in order, of the rows and columns that a filter kept."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


def without_pandas() -> str:
    """Why no filter's code can run here, "" where it can; nothing is started."""
    if reason := why_unusable():
        return f"the sealed sandbox, which alone has pandas, cannot run here: {reason}"
    missing = [name for name in ("numpy", "pandas") if find_spec(name) is None]
    if missing:
        return f'{" and ".join(missing)} not installed: pip install "chameleon-compose[programs]"'
    return ""


def column_names(table: Table) -> list[str]:
    """A name of its own for each column, on one line: blank and repeated ones have their place in it."""
    names: list[str] = []
    for number, name in enumerate(table.header, 1):
        plain = _NAMED.sub(" ", name).strip() or f"column {number}"
        while plain in names:
            plain = f"{plain} ({number})"
        names.append(plain)
    return names


def run_filter(code: str, table: Table, timeout: float | None = None) -> Kept | str:
    """What the code keeps of the table, or why the table stays whole, in the end of a sentence."""
    names = column_names(table)
    inputs = {"table": {"columns": names, "rows": [list(row) for row in table.rows]}}
    try:
        result = shared_executor().run(f"{_PRELUDE}\n{code}", inputs, result=RESULT, timeout=timeout)
    except SandboxUnavailable as problem:
        return str(problem)
    if result.status == "no_answer":
        return f"the code does not set {RESULT}"
    if not result.ok:
        line = None if result.line is None else max(result.line - 1, 0) or None
        return f"the code failed: {in_words(replace(result, line=line))}"
    return kept_of(result.value, table, names)


def kept_of(value: Any, table: Table, names: Sequence[str]) -> Kept | str:
    """The rows and columns of the table that a frame shows, or what is wrong with the frame.

    Its rows are known by their labels where these are the positions in the table, else by their cells.
    """
    if not isinstance(value, DataFrame):
        return f"{RESULT} is no table"
    if not value.values or not value.columns:
        return f"{RESULT} is empty"
    if foreign := [name for name in value.columns if name not in names]:
        return f"{RESULT} has the column {foreign[0][:60]!r}, which the table does not have"
    columns = [names.index(name) for name in value.columns]
    if len(set(columns)) < len(columns) or any(len(row) != len(columns) for row in value.values):
        return f"{RESULT} has a column twice, or rows of other widths"
    rows = _labelled(value, table, columns)
    if rows is None:
        rows = _found(value.values, table, columns)
    if rows is None:
        return f"{RESULT} has a row that the table does not have"
    return Kept(tuple(sorted(set(rows))), tuple(sorted(columns)))


def _labelled(value: DataFrame, table: Table, columns: Sequence[int]) -> list[int] | None:
    """The rows that the labels name, if the cells beside each label are those of that row."""
    rows = []
    for label, cells in zip(value.index, value.values, strict=False):
        if not (label.isascii() and label.isdecimal() and int(label[:9]) < len(table.rows)):
            return None
        row = int(label[:9])
        if not all(_is(cell, table.rows[row][column]) for cell, column in zip(cells, columns, strict=True)):
            return None
        rows.append(row)
    return rows if len(rows) == len(value.values) else None


def _found(shown: Sequence[Sequence[Any]], table: Table, columns: Sequence[int]) -> list[int] | None:
    """Where the rows stand in the table, each place taken once; None where a row is not there as it is."""
    places: defaultdict[tuple[str, ...], deque[int]] = defaultdict(deque)
    for position, row in enumerate(table.rows):
        places[tuple(row[column] for column in columns)].append(position)
    rows = []
    for cells in shown:
        if not all(isinstance(cell, str) for cell in cells):
            return None
        free = places.get(tuple(cells))
        if not free:
            return None
        rows.append(free.popleft())
    return rows


def _is(shown: Any, cell: str) -> bool:
    """Whether a value is the cell, or what code makes of it to compare it: its number, or other case.

    A missing value stands for whatever could not be read as a number: the label says which row it is of.
    """
    if isinstance(shown, str):
        return shown == cell or normal(shown) == normal(cell)
    if shown is None or (isinstance(shown, float) and math.isnan(shown)):
        return True
    if isinstance(shown, bool) or not isinstance(shown, int | float):
        return False
    with suppress(OverflowError):  # an integer that no float can hold is none of ours
        return any(math.isclose(number, shown, rel_tol=1e-9) for number in _numbers(cell))
    return False


def _numbers(cell: str) -> Iterator[float]:
    """What a cell may be as a number: as tables are read ("$3"), and as pandas reads it ("1.", "1e3")."""
    with suppress(ValueError, OverflowError):
        if (number := read_value(cell).number) is not None:
            yield float(number)
    with suppress(ValueError):
        yield float(cell.replace(",", ""))

"""A benchmark with a table for each problem; the tables may be in separate files."""

import csv
import json
from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from chameleon.core.state import State
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark, Problem, Row
from chameleon.evaluation.data import readable
from chameleon.table import Table, to_text
from chameleon.text import estimated_tokens

SIZES = ("small", "medium", "large")
"""Fewer than 2,000 tokens, up to 4,000, and more, as in Chain-of-Table (table 4)."""
LONGEST_CHAIN = 5
CHAINS = (*(f"chain {length}" for length in range(LONGEST_CHAIN + 1)), f"chain {LONGEST_CHAIN + 1}+")
"""The number of operations a chain has kept: at most five in the paper, where each is used once."""


class TableBenchmark(Benchmark):
    """Problems over tables, counted by the table's size and, for runs, by the length of the chain.

    Rows name their table by `table_id`, or include it as `table`: with its `header` and `rows`, or its
    `lines`, the header first; optionally its `caption`, and the `passages` that belong to it. Named tables
    are in a separate file (`tables.jsonl.gz` next to the data), or in a folder of the release. Problems with
    missing tables can be scored but not run: they have no input and no size.
    """

    takes_tables = True
    tables_beside: ClassVar[tuple[str, ...]] = ("tables.jsonl.gz", "tables.jsonl")
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"table size": SIZES, "chain length": CHAINS}
    question_key: ClassVar[str] = "question"

    def __init__(self) -> None:
        self._known: dict[str, tuple[Row, Table, str]] = {}

    def over_table(
        self, row: Row, tables: Mapping[str, Any], gold: Any, columns: Sequence[str] = (), **detail: Any
    ) -> Problem:
        """Return the problem in a row with its table, if known.

        Args:
            tables: the separate tables by id, as rows.
            columns: the columns that the problem counts in, in addition to the table's size.
            detail: what else the scorers need.

        Raises:
            InputError: for a row without an id or a question, or with an unreadable table.
        """
        id = self.required_id(row)
        table_id = str(row.get("table_id") or id)
        data = row["table"] if isinstance(row.get("table"), Mapping) else tables.get(table_id)
        input: dict[str, Any] = {}
        if data is not None:
            table, size = self._read(table_id, data)
            table = table if table.caption else table.with_caption(str(row.get("caption") or ""))
            input = {"question": text_in(row, self.question_key), "table": table}
            input |= {"passages": data["passages"]} if "passages" in data else {}
            columns = (*columns, size)
        return Problem(id, input, gold, columns=tuple(columns), detail=detail)

    def tables_in(self, folder: Path) -> Mapping[str, Row]:
        """Return the tables of the release, each read on first use."""
        return TableFolder(folder, self.read_table)

    def read_table(self, file: Path) -> Row:
        """Return the table in a file of the release's folder. Raises `InputError` if it is not a table."""
        raise InputError("this release has no folder of tables", where=str(file))

    def run_columns(self, state: State) -> tuple[str, ...]:
        """Count the operations that an answered run kept, from "chain 0" to "chain 6+"; none for others."""
        if state.ended is None or state.ended.reason != "answered":
            return ()
        chain = state.cache.get("chain", ())
        links = chain if isinstance(chain, Sequence) and not isinstance(chain, str) else ()
        count = sum(isinstance(link, Mapping) and "refused" not in link for link in links)
        return (CHAINS[min(count, LONGEST_CHAIN + 1)],)

    def _read(self, id: str, row: Row) -> tuple[Table, str]:
        """Return the table in a row and its size, read once for all problems about it."""
        entry = self._known.get(id)
        if entry is None or entry[0] is not row:  # another table has the same id
            lines, rows = row.get("lines"), row.get("rows")
            lines = [row.get("header"), *rows] if isinstance(rows, list) else lines
            table = table_of(lines, str(row.get("caption") or ""))
            tokens = estimated_tokens(to_text(table))  # the paper does not define how it measures tables
            size = SIZES[0] if tokens < 2_000 else SIZES[1] if tokens <= 4_000 else SIZES[2]
            entry = self._known[id] = (row, table, size)
        return entry[1:]


class TableFolder(UserDict[str, Any]):
    """Tables by id, where an id is the path of the file in the folder; each is read once, on first use.

    An id may begin with the folder's name: "csv/204-csv/590.csv" in the folder `csv`; `ending` is the suffix
    of files that ids lack. Ids are untrusted: they only reach files in the folder.
    """

    def __init__(self, folder: Path, read: Callable[[Path], Row], *, ending: str = "") -> None:
        super().__init__()  # paths, each read on first use
        self._read = cache(read)
        for file in folder.rglob(f"*{ending or '.csv'}"):
            id = file.relative_to(folder).as_posix().removesuffix(ending)
            self.data |= {id: file, f"{folder.name}/{id}": file}

    def __getitem__(self, id: str) -> Row:
        with readable(file := self.data[id]):
            return self._read(file)


def table_of(lines: Any, caption: str = "") -> Table:
    """Return the table in lines of cells, header first, filling up short lines. Raises `InputError`."""
    if not (isinstance(lines, list) and lines and all(isinstance(line, list) for line in lines)):
        raise InputError('a table needs "header" and "rows", lists of cells and of such lists')
    width = max(map(len, lines))
    header, *rows = ([*line, *[""] * (width - len(line))] for line in lines)
    return Table(header, rows, caption)


def text_in(row: Row, *keys: str) -> str:
    """Return the text under the first of these keys that the row has. Raises `InputError`."""
    key = next((key for key in keys if key in row), keys[0])
    if not isinstance(value := row.get(key), str):
        raise wrong(row, key, "a text")
    return value


def texts_in(row: Row, *keys: str, default: list[str] | None = None) -> list[str]:
    """Return the list of texts under the first of these keys, else `default`. Raises `InputError`."""
    key = next((key for key in keys if key in row), keys[0])
    value = default if row.get(key) is None else row[key]
    if not (isinstance(value, list) and all(isinstance(text, str) for text in value)):
        raise wrong(row, key, "a list of texts")
    return value


def wrong(row: Row, key: str, expected: str) -> InputError:
    """Return the error for a key of a row that is missing or holds something else."""
    fault = f"is {row[key]!r:.80}" if key in row else "is missing"
    return InputError(f'the key "{key}" {fault}, and should be {expected}')


def read_csv(file: Path, **form: Any) -> list[list[str]]:
    """Read the lines of a file of comma-separated cells; `form` are options of `csv.reader`."""
    with file.open(encoding="utf-8", newline="") as text:
        try:
            return list(csv.reader(text, **form))
        except csv.Error as problem:
            raise InputError(f"this is not a table: {problem}", where=str(file)) from problem


def read_object(file: Path) -> Mapping[str, Any]:
    """Read the object in a JSON file. Raises `InputError` for anything else."""
    try:
        data = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise InputError(f"this is not JSON: {problem}", where=str(file)) from problem
    if not isinstance(data, dict):
        raise InputError("this is not a JSON object", where=str(file))
    return data

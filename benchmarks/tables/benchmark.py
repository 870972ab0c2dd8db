"""A benchmark whose problems are about a table each; the tables may lie apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from chameleon.benchmarks.tables.folder import TableFolder
from chameleon.errors import InputError
from chameleon.evaluation.benchmark import Benchmark, Row
from chameleon.state import State
from chameleon.table import Table, to_text
from chameleon.text import estimated_tokens

SIZES = ("small", "medium", "large")
"""Fewer than 2,000 tokens, up to 4,000, and more: as Chain-of-Table has them (table 4)."""
LONGEST_CHAIN = 5
CHAINS = (*(f"chain {length}" for length in range(LONGEST_CHAIN + 1)), f"chain {LONGEST_CHAIN + 1}+")
"""How many operations a chain has kept: five at most in the paper, where each is used once."""


class TableBenchmark(Benchmark):
    """Problems over tables, counted by the table's size and, for runs, by the length of the chain.

    Tables stand in the rows, in a file of their own (`tables.jsonl.gz` beside the data), or in a folder of
    the release. Problems whose tables are not there can be scored, and not run: they have no input and no
    size.
    """

    takes_tables = True
    tables_beside: ClassVar[tuple[str, ...]] = ("tables.jsonl.gz", "tables.jsonl")
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {"table size": SIZES, "chain length": CHAINS}

    def __init__(self) -> None:
        self._known: dict[str, tuple[Row, Table, str]] = {}

    def tables_in(self, folder: Path) -> Mapping[str, Row]:
        """The tables of the release, each read when it is asked for."""
        return TableFolder(folder, self.read_table)

    def read_table(self, file: Path) -> Row:
        """The table in a file of the release's folder. Raises `InputError` for what is none."""
        raise InputError("this release has no folder of tables", where=str(file))

    def run_columns(self, state: State) -> tuple[str, ...]:
        """How many operations an answered run has kept, from "chain 0", also without a chain, to "chain 6+".

        A run that was declined or failed counts in none: how long its chain might have become is not known.
        """
        if state.ended is None or state.ended.reason != "answered":
            return ()
        length = kept_operations(state.cache.get("chain", ()))
        return (CHAINS[min(length, LONGEST_CHAIN + 1)],)

    def table(self, id: str, tables: Mapping[str, Any]) -> tuple[Table, str] | None:
        """The table of that id and its size; None where it is not there. Raises `InputError` for no table."""
        row = tables.get(id)
        if row is None:
            return None
        known = self._known.get(id)
        if known is None or known[0] is not row:
            table = table_of(row.get("header"), row.get("rows"), str(row.get("caption") or ""))
            known = self._known[id] = (row, table, size_of(table))
        return known[1], known[2]


def table_of(header: Any, rows: Any, caption: str) -> Table:
    """A table whose short lines are filled with blanks. Raises `InputError` for what is none."""
    lines: list[list[str]] = [header, *rows] if isinstance(rows, list) else []
    if not lines or not all(isinstance(line, list) for line in lines):
        raise InputError('a table needs "header" and "rows", lists of cells and of such lists')
    width = max(map(len, lines))
    filled = [[*line, *[""] * (width - len(line))] for line in lines]
    return Table(filled[0], filled[1:], caption)


def size_of(table: Table) -> str:
    """Small, medium or large, by the estimated tokens of the table in bars with its header.

    Chain-of-Table does not say how it writes the tables that it measures, nor with which tokenizer.
    """
    tokens = estimated_tokens(to_text(table))
    return SIZES[0] if tokens < 2_000 else SIZES[1] if tokens <= 4_000 else SIZES[2]


def kept_operations(chain: Any) -> int:
    """How many links of a chain (`cache.chain`) are operations that were applied, and not refused."""
    links = chain if isinstance(chain, Sequence) and not isinstance(chain, str) else ()
    return sum(isinstance(link, Mapping) and "refused" not in link for link in links)


def text_in(row: Row, *keys: str) -> str:
    """The text under the first of these keys that the row has. Raises `InputError` naming the first."""
    key = next((key for key in keys if key in row), keys[0])
    if not isinstance(value := row.get(key), str):
        raise wrong(row, key, "a text")
    return value


def wrong(row: Row, key: str, expected: str) -> InputError:
    """The error for a key of a row that is missing or holds something else."""
    found = f"is {row[key]!r:.80}" if key in row else "is missing"
    return InputError(f'the key "{key}" {found}, and should be {expected}')

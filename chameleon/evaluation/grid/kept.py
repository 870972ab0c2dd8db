"""What is left of the tables that come to a model, and whether the gold answer's cells are among it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon.evaluation.benchmark import Cell, Problem
from chameleon.state import State
from chameleon.table import Table
from chameleon.text import estimated_tokens

Groups = Sequence[Collection[Cell]] | None


@dataclass
class Kept:
    """Sums over the runs of an arm.

    `n` runs came to a table, which had so many `rows` and `columns`; `shares` sums which part of the cells of
    the table before it was cut these are. `tokens` are estimated, of the `shown` tables as the prompt has
    them. Of `known` runs it is known whether the gold answer's cells are left, and of `having` they are.
    """

    n: int = 0
    rows: int = 0
    columns: int = 0
    shares: float = 0.0
    tokens: int = 0
    shown: int = 0
    known: int = 0
    having: int = 0

    def add(
        self, state: State, problem: Problem, groups: Groups, text: str | None, *, failed: bool = False
    ) -> None:
        """Count a run: `groups` are the gold cells of its problem, `text` the table as its prompt shows it.

        A run that `failed` came to no table, and has lost them.
        """
        if failed:
            self.known += bool(groups)
            return
        has = has_gold(state, problem, groups)
        self.known += has is not None
        self.having += bool(has)
        if text is not None:
            self.shown += 1
            self.tokens += estimated_tokens(text)
        table, source = state.table, source_table(state)
        if table is None or source is None:
            return
        self.n += 1
        self.rows += len(table.rows)
        self.columns += len(table.header)
        cells = len(source.rows) * len(source.header)
        self.shares += len(table.rows) * len(table.header) / cells if cells else 1.0

    def to_json(self) -> dict[str, Any]:
        """The means; null where nothing was counted."""
        return {
            "n": self.n,
            "rows": _mean(self.rows, self.n),
            "columns": _mean(self.columns, self.n),
            "cells": _mean(self.shares, self.n),
            "tokens": _mean(self.tokens, self.shown),
            "gold_kept": _mean(self.having, self.known),
            "gold_known": self.known,
        }


def has_gold(state: State, problem: Problem, groups: Groups) -> bool | None:
    """Whether of each group a cell is left; None where that is not known.

    A table that was found in an index must be the problem's own, and whoever cuts a table tells in
    `cache.kept` which of its rows and columns are left.
    """
    source, own = source_table(state), problem.input.get("table")
    if not groups or own is None:
        return None
    if source is None or not _same(source, own):
        return False
    kept = state.cache.get("kept")
    if kept is None:
        return True if state.table is not None and _same(state.table, source) else None
    rows, columns = frozenset(kept["rows"]), frozenset(kept["columns"])
    return all(any(row in rows and column in columns for row, column in cells) for cells in groups)


def source_table(state: State) -> Table | None:
    """The table that was found in an index, else the one that was given; None where there is neither."""
    table: Table | None = state.begun.input.get("table") if state.begun else None
    for record in state.history:
        if "retrieved" in record.cache_changes:
            table = record.input_changes.get("table", table)
    return table


def _same(table: Table, other: Table) -> bool:
    """Whether two tables have the same cells; what they are called does not matter."""
    return (table.header, table.rows) == (other.header, other.rows)


def _mean(total: float, n: int) -> float | None:
    return round(total / n, 4) if n else None

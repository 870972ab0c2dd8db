"""Rows and columns that a question is about, found by their words: a look-up without a model."""

from __future__ import annotations

from chameleon.modules.offline.grammar.frame import Frame
from chameleon.modules.offline.grammar.lexicon import STEERING
from chameleon.modules.offline.grammar.problem import problem
from chameleon.table import Table

_NEEDS_ALL_ROWS = STEERING - {
    "and",
    "or",
    "than",
    "more",
    "less",
    "fewer",
    "times",
    "difference",
    "combined",
    "last",
}


def relevant_rows(question: str, table: Table) -> Table:
    """The rows that the question names; the whole table where it may need the others too."""
    rows = named_rows(question, table)
    return table if rows is None else table.take_rows(rows)


def named_rows(question: str, table: Table) -> list[int] | None:
    """The positions of the rows that the question names; None where it may need the others too.

    Other rows may be needed for an average, a total, a superlative, a share or a bound, and wherever
    nothing, or the same name in two columns, is named.
    """
    frame = Frame(problem(question, table, (), ""))
    words = set(frame.texts.values()) | {w.text.lower() for w in frame.problem.words}
    if frame.table != table or not frame.cells or frame.bounds or words & _NEEDS_ALL_ROWS:
        return None
    if any(len(mention.rows_of) > 1 for mention in frame.cells):
        return None
    by_column: dict[int, set[int]] = {}
    for mention in frame.cells:
        by_column.setdefault(mention.column, set()).update(mention.rows)
    rows = set.intersection(*by_column.values())
    return sorted(rows) or None


def relevant_columns(question: str, table: Table) -> Table:
    """The columns that the question names, with those that name or hold the rows it names.

    The whole table where the question names no column of numbers, or fits several equally.
    """
    frame = Frame(problem(question, table, (), ""))
    named = [mention for mention in frame.columns if not mention.hinted]
    if frame.table != table or not frame.numeric_mentions():
        return table
    if any(len(mention.columns) > 1 for mention in frame.columns) or frame.bounds:
        return table
    keep = {index for mention in (*named, *frame.columns) for index in mention.columns}
    keep |= {column for mention in frame.cells for column, _ in mention.rows_of}
    keep |= {condition.column for condition in frame.dates}
    keep |= {frame.label.index} if frame.label is not None else set()
    return table.take_columns(sorted(keep)) if len(keep) < len(table.header) else table

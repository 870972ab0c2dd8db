"""How a prompt shows a table that is to be asked in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon.modules.sql.database import Cell, SqlTable
from chameleon.modules.sql.questions import as_text
from chameleon.quoting import unframed

_LONGEST_CELL = 200
_MOST_ROWS = 100


def described(table: SqlTable, title: str = "", rows: int | None = 3) -> str:
    """The CREATE TABLE statement and the first rows below it, tab-separated; None shows all rows.

    As Rajkumar et al. (2022) have it, whose form the Text-to-SQL baseline and Binder use. A long cell is cut,
    visibly.
    """
    shown = table.rows if rows is None else table.rows[:rows]
    few = len(shown) < len(table.rows)
    lines = ["\t".join(column.name for column in table.columns), *map(_line, shown)]
    named = [f"Title: {' '.join(title.split())}"] if title.strip() else []
    told = f"{len(shown)} of the {len(table.rows):,} rows" if few else "all rows"
    return "\n".join([*named, table.definition, f"/* {told}, tab-separated:", *map(unframed, lines), "*/"])


def shown_rows(columns: Sequence[str], rows: Sequence[tuple[Cell, ...]]) -> str:
    """A query's result as lines of cells with bars; 100 rows at most, and a note where there are more."""
    lines = [" | ".join(columns), *(" | ".join(map(as_text, row)) for row in rows[:_MOST_ROWS])]
    hidden = len(rows) - _MOST_ROWS
    return "\n".join([*lines, f"… {hidden:,} more rows not shown"] if hidden > 0 else lines)


def _line(row: tuple[Cell, ...]) -> str:
    return "\t".join(_cut(as_text(cell)) for cell in row)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"

"""What a query's result is as an answer."""

from __future__ import annotations

from collections.abc import Sequence

from chameleon import StepRejected, Table
from chameleon.modules.program.answer_generator import tidy
from chameleon.modules.sql.database import Cell, SqlTable
from chameleon.modules.sql.query import SqlResult
from chameleon.modules.table_ops.table_query import Answer, Form

_TRUE, _FALSE = ("yes", "true", "1"), ("no", "false", "0", "none")


def as_answer(cells: Sequence[Cell], form: Form) -> Answer:
    """The cells of a result, row by row, as an answer.

    - "items": a text for each, NULL left out; 3.0 is "3";
    - "verdict": "yes" or "no", see `truth_of`;
    - "text": the items with commas between them.

    Raises `StepRejected` when nothing is left, or when the cells are no verdict.
    """
    if form == "verdict":
        truth = truth_of(cells)
        if truth is None:
            raise StepRejected("the query gives neither true nor false")
        return "yes" if truth else "no"
    items = [str(tidy(cell)) for cell in cells if cell is not None]
    if not items:
        raise StepRejected("the query finds nothing")
    return items if form == "items" else ", ".join(items)


def truth_of(cells: Sequence[Cell]) -> bool | None:
    """Whether a result says that a statement is true; None when it is no verdict.

    1 and "yes" are true, 0 and "no" false, and so is a result without rows or a NULL: nothing in the table
    bears the statement out. Several equal verdicts are one; any other number or text is none.
    """
    verdicts = {_truth(cell) for cell in cells}
    return False if not verdicts else verdicts.pop() if len(verdicts) == 1 else None


def _truth(cell: Cell) -> bool | None:
    if cell is None:
        return False
    if isinstance(cell, str):
        said = cell.strip().lower()
        return True if said in _TRUE else False if said in _FALSE else None
    return cell == 1 if cell in (0, 1) else None


def written_cells(result: SqlResult, table: Table, typed: SqlTable) -> list[Cell]:
    """A result's cells, row by row, as the table writes them: 12467 taken from a column is "12,467" again.

    A cell counts as taken from a column when it stands under that column's name and is one of its values.
    """
    written: list[dict[Cell, str]] = []
    places = {column.name.lower(): index for index, column in enumerate(typed.columns)}
    for name in result.columns:
        index = places.get(name.lower())
        pairs = [] if index is None else zip(typed.rows, table.rows, strict=True)
        written.append({mine[index]: row[index] for mine, row in reversed(list(pairs)) if index is not None})
    return [
        written[place].get(cell, cell) if cell is not None else None
        for row in result.rows
        for place, cell in enumerate(row)
    ]

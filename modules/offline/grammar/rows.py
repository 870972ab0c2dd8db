"""Code that holds single rows and takes the answer from them: one row looked up, or the top ones of many."""

from __future__ import annotations

from collections.abc import Iterable

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.conditions import format_of
from chameleon.modules.offline.grammar.programs import literal
from chameleon.modules.offline.grammar.selection import LITERAL_LIMIT, Selection
from chameleon.modules.offline.grammar.shapes import is_money
from chameleon.table import Column, Table


def is_code(column: Column) -> bool:
    """Whether the numbers belong to names or codes and are to be given as they are written."""
    return any(value.unit for value in column.values if value.kind == "number") and not any(
        map(is_money, column.values)
    )


def row_code(table: Table, row: int, columns: Iterable[int], answer: Column) -> tuple[list[str], str]:
    """The line that sets `row` to these cells of a row and to the answer's, and what reads the latter."""
    shown = dict.fromkeys((*columns, answer.index))
    names = {index: _called(table, index) for index in shown}
    cells = ", ".join(f"{names[index]!r}: {_cell(table.columns[index], row)}" for index in shown)
    return [f"row = {{{cells}}}"], f"row[{names[answer.index]!r}]"


def _called(table: Table, index: int) -> str:
    """A column's name, with its place where that tells it from others."""
    name = table.header[index].strip()
    return name if name and table.header.count(table.header[index]) == 1 else f"{name} #{index + 1}".strip()


def _cell(column: Column, row: int) -> str:
    number = column.values[row].number
    is_number = column.kind == "number" and number is not None and not is_code(column)
    return literal(number) if is_number and number is not None else repr(column.cells[row].strip())


def top_rows_code(selection: Selection, answer: Column, by: Column, *, is_high: bool, rank: int) -> list[str]:
    """Lines that set `found` to what `answer` has where `by` has its highest, lowest or n-th value.

    A program of more rows than it may hold reads them from `table`. Raises `Declined` for a long table
    whose dates are written in several ways.
    """
    rows = [row for row in selection.rows if _moment(by, row) is not None]
    if len(rows) <= LITERAL_LIMIT or is_code(answer):
        listed = ", ".join(f"({_cell(answer, row)}, {_moment(by, row)})" for row in rows)
        lines = [f"pairs = [{listed}]"]
    else:
        cell = f"row[{answer.index}]" if answer.kind == "number" else f"row[{answer.index}].strip()"
        given = f'row[{by.index}] not in (None, "")'
        moment = _moment_code(by)
        lines = [*selection.rows_code(), f"pairs = [({cell}, {moment}) for row in rows if {given}]"]
    best = f"{'max' if is_high else 'min'}(value for _, value in pairs)"
    if rank > 1:
        best = f"sorted({{value for _, value in pairs}}, reverse={is_high})[{rank - 1}]"
    chosen = "found = list(dict.fromkeys(cell for cell, value in pairs if value == best))"
    return [*lines, f"best = {best}", chosen]


def _moment(column: Column, row: int) -> str | None:
    """The number or the date of a row as a literal that can be compared."""
    value = column.values[row]
    if value.date is not None:
        return repr(value.date.isoformat())
    return literal(value.number) if value.number is not None else None


def _moment_code(column: Column) -> str:
    if column.kind != "date":
        return f"row[{column.index}]"
    written = format_of(column)
    if not written:
        raise Declined(f"the dates of {column.name} are written in several ways")
    # Dates from the year down sort as text, and to parse very many takes longer than a program may.
    if written == "%Y-%m-%d" and all(len(cell.strip()) in {0, 10} for cell in column.cells):
        return f"row[{column.index}].strip()"
    return f"datetime.datetime.strptime(row[{column.index}], {written!r})"


def renamed(answer: str, choice: str) -> list[str]:
    """The line that puts the words of a choice for the table's own, where they differ."""
    return [f"ans = {{{answer!r}: {choice!r}}}.get(ans, ans)"] if answer != choice else []

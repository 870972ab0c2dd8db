"""Conditions on rows: a cell's text, a bound on a number; as tests and as code."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from chameleon.modules.offline.grammar.bounds import Bound
from chameleon.modules.offline.grammar.programs import literal
from chameleon.table import Column, Table

_FORMATS = ("%Y-%m-%d", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y")


@dataclass(frozen=True)
class Condition:
    """Some rows of the table, why they are meant (`said`), and how a program finds them (`code`)."""

    column: int
    rows: frozenset[int]
    said: str
    code: str
    places: frozenset[int] = frozenset()


def where_cells(table: Table, column: int, rows: Iterable[int], places: Iterable[int]) -> Condition:
    """The rows whose cell in `column` is one of those that these rows hold."""
    chosen = list(rows)
    written = list(dict.fromkeys(table.rows[row][column] for row in chosen))
    said = f"{_name(table, column)} is {' or '.join(cell.strip() for cell in written)}"
    code = f"row[{column}] == {_cell(table, column, chosen[0])}"
    if is_numbered_name(table.columns[column]):
        code = f"index in {{{', '.join(map(str, sorted(set(chosen))))}}}"
    elif len(written) > 1:
        code = f"row[{column}] in ({', '.join(dict.fromkeys(_cell(table, column, row) for row in chosen))})"
    return Condition(column, frozenset(chosen), said, code, frozenset(places))


def is_numbered_name(column: Column) -> bool:
    """Whether the cells are names such as "7B" or "12 Mill Lane", of which a program sees the number only."""
    return column.kind == "number" and len({value.unit for value in column.values}) > 1


def where_filled(table: Table, column: int, places: Iterable[int]) -> Condition:
    """The rows that have anything in `column`."""
    rows = {i for i, value in enumerate(table.columns[column].values) if value.kind != "empty"}
    said, code = f"{_name(table, column)} is given", f'row[{column}] not in (None, "")'
    return Condition(column, frozenset(rows), said, code, frozenset(places))


def where_empty(table: Table, column: int, places: Iterable[int]) -> Condition:
    """The rows that have nothing in `column`."""
    rows = {i for i, value in enumerate(table.columns[column].values) if value.kind == "empty"}
    said, code = f"{_name(table, column)} is missing", f'row[{column}] in (None, "")'
    return Condition(column, frozenset(rows), said, code, frozenset(places))


def where_not(table: Table, condition: Condition, places: Iterable[int]) -> Condition:
    """The rows that a condition leaves out, empty cells aside."""
    filled = {i for i, cell in enumerate(table.columns[condition.column].cells) if cell.strip()}
    said = condition.said.replace(" is ", " is not ", 1).replace(" or ", " nor ")
    code = f'not ({condition.code}) and row[{condition.column}] not in (None, "")'
    used = condition.places | frozenset(places)
    return Condition(condition.column, frozenset(filled - condition.rows), said, code, used)


_YES, _NO = frozenset({"yes", "y", "true", "x", "✓"}), frozenset({"no", "n", "false"})


def is_flag(column: Column) -> bool:
    """Whether a column says yes or no of each row."""
    said = {cell.strip().lower() for cell in column.cells if cell.strip()}
    return bool(said & _YES) and said <= _YES | _NO


def where_flag(table: Table, column: int, places: Iterable[int]) -> Condition:
    """The rows of which a column of yes and no says yes."""
    rows = [i for i, cell in enumerate(table.columns[column].cells) if cell.strip().lower() in _YES]
    return where_cells(table, column, rows, places)


def _cell(table: Table, column: int, row: int) -> str:
    value = table.columns[column].values[row]
    if table.columns[column].kind == "number" and value.number is not None:
        return literal(value.number)
    return repr(table.rows[row][column])


def _name(table: Table, column: int) -> str:
    return table.header[column].strip() or "the first column"


def where_bound(table: Table, column: int, bound: Bound, places: Iterable[int]) -> Condition:
    """The rows whose number in `column` is within the bound; empty cells never are."""
    values = table.columns[column].values
    rows = {i for i, value in enumerate(values) if value.number is not None and bound.accepts(value.number)}
    code = f"row[{column}] is not None and {bound.code(f'row[{column}]')}"
    return Condition(
        column, frozenset(rows), f"{_name(table, column)} is {bound.say()}", code, frozenset(places)
    )


def without_rows(table: Table, column: int, rows: Iterable[int]) -> Condition:
    """All rows but these, which hold totals."""
    left_out = set(rows)
    cells = ", ".join(sorted({repr(table.rows[row][column]) for row in left_out}))
    kept = frozenset(range(len(table.rows))) - left_out
    return Condition(column, kept, "totals left out", f"row[{column}] not in ({cells},)")


def format_of(column: Column) -> str:
    """The strptime format that reads every filled cell of the column; "" for none."""
    for written in _FORMATS:
        if all(
            _reads(cell, written)
            for cell, value in zip(column.cells, column.values, strict=True)
            if value.date
        ):
            return written
    return ""


def _reads(cell: str, written: str) -> bool:
    try:
        dt.datetime.strptime(cell, written)
    except ValueError:
        return False
    return True

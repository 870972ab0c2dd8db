"""Answer a reading's question from the last table of its chain: yes or no."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chameleon import Declined, Table
from chameleon.modules.offline.lexical.conditions import Condition, rows_where
from chameleon.modules.offline.lexical.fields import total_rows
from chameleon.modules.offline.lexical.reading import Question
from chameleon.modules.table_ops.order import keys_of, number_in

_CLOSE = 0.006  # averages are stated with two decimals


def holds(question: Question, table: Table) -> bool:
    """Whether the table bears the claim out. Raises `Declined` where it has nothing to tell by."""
    return _ASKED[question.ask](question, table)


def compared(sign: str, found: Any, wanted: Any) -> bool:
    """Whether two values stand in that relation; numbers that differ by rounding alone are equal."""
    if isinstance(found, float | int) and isinstance(wanted, float | int):
        equal = abs(found - wanted) < _CLOSE
    else:
        equal = found == wanted
    return {
        "=": equal,
        "!=": not equal,
        "<": found < wanted and not equal,
        ">": found > wanted and not equal,
        "<=": found < wanted or equal,
        ">=": found > wanted or equal,
    }[sign]


def keys_by(question: Question, table: Table) -> list[Any]:
    """What the rows are ordered by."""
    return keys_of(cells_of(table, question.by), _datatype(question))


def cells_of(table: Table, name: str) -> tuple[str, ...]:
    """The cells of a column. Raises `Declined` where the operations have left none of that name."""
    if name not in table.header:
        raise Declined(f"the table could not be brought to show {name!r}")
    return table.column(name).cells


def body_of(table: Table, where: Sequence[Condition]) -> list[int]:
    """The rows that meet the conditions, totals aside unless they alone do."""
    rows, totals = rows_where(table, where), total_rows(table)
    kept = [row for row in rows if row not in totals]
    return kept or (rows if where else [])


def _any(question: Question, table: Table) -> bool:
    return bool(rows_where(table, (*question.where, *question.claim)))


def _all(question: Question, table: Table) -> bool:
    rows = body_of(table, question.where)
    return bool(rows) and set(rows) <= set(rows_where(table, question.claim))


def _none(question: Question, table: Table) -> bool:
    return not rows_where(table, (*question.where, *question.claim))


def _count(question: Question, table: Table) -> bool:
    return compared(question.sign, len(body_of(table, question.where)), _number(question.number))


def _distinct(question: Question, table: Table) -> bool:
    column = cells_of(table, question.column)
    different = {column[row].strip().lower() for row in body_of(table, question.where) if column[row].strip()}
    return compared(question.sign, len(different), _number(question.number))


def _top(question: Question, table: Table) -> bool:
    """Whether a row at that place of the order, or tied with it, meets the claim."""
    keys = keys_of(cells_of(table, question.column), _datatype(question))
    rows = [row for row in body_of(table, question.where) if keys[row] is not None]
    if len(rows) < question.place:
        raise Declined(f"the column {question.column!r} has no such place")
    at = keys[rows[question.place - 1]]
    tied = {row for row in rows if keys[row] == at}
    return bool(tied & set(rows_where(table, question.claim)))


def _compare(question: Question, table: Table) -> bool:
    """Whether the rows of `where` are so to those of `against`; with a number, a pair is that far apart."""
    left, right = (_keys_in(question, table, each) for each in (question.where, question.against))
    if question.number:
        if question.datatype != "number":
            raise Declined("how far apart two dates are is not read")
        wanted = _number(question.number)
        return any(
            compared("=", (a - b) * (-1 if question.sign == "<" else 1), wanted) for a in left for b in right
        )
    return all(compared(question.sign, a, b) for a in left for b in right)


def _outnumber(question: Question, table: Table) -> bool:
    """Whether there are more (or fewer) rows of `where` than of `against`."""
    mine, theirs = (len(body_of(table, where)) for where in (question.where, question.against))
    return compared(question.sign, mine, theirs)


def _keys_in(question: Question, table: Table, where: Sequence[Condition]) -> list[Any]:
    rows = body_of(table, where)
    keys = keys_of(cells_of(table, question.column), _datatype(question))
    found = [keys[row] for row in rows if keys[row] is not None]
    if not found:
        raise Declined("the table does not tell about one side of the comparison")
    return found


def _aggregate(of: Callable[[list[float]], float]) -> Callable[[Question, Table], bool]:
    def answer(question: Question, table: Table) -> bool:
        cells = cells_of(table, question.column)
        numbers = [n for row in body_of(table, question.where) if (n := number_in(cells[row])) is not None]
        if not numbers:
            raise Declined(f"the column {question.column!r} has no numbers there")
        return compared(question.sign, of(numbers), _number(question.number))

    return answer


def _datatype(question: Question) -> Any:
    return question.datatype


def _number(text: str) -> float:
    number = number_in(text)
    if number is None:
        raise Declined(f"{text!r} is no number")
    return number


_ASKED: Mapping[str, Callable[[Question, Table], bool]] = {
    "any": _any,
    "all": _all,
    "none": _none,
    "count": _count,
    "distinct": _distinct,
    "top": _top,
    "compare": _compare,
    "outnumber": _outnumber,
    "sum": _aggregate(sum),
    "average": _aggregate(lambda numbers: sum(numbers) / len(numbers)),
}

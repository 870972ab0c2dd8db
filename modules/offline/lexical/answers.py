"""The answer of a reading, from the last table of its chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chameleon import Declined, Table
from chameleon.modules.offline.lexical.conditions import Condition
from chameleon.modules.offline.lexical.reading import Question, Reading
from chameleon.modules.offline.lexical.verdict import body_of, cells_of, holds, keys_by
from chameleon.modules.table_ops.order import number_in

Answer = str | list[str]


def answer_of(reading: Reading, table: Table) -> Answer:
    """ "yes" where the table bears out all that is claimed, else "no"; for a question a list of texts.

    Raises `Declined` where the table cannot tell.
    """
    first = reading.questions[0]
    if first.ask in _ANSWERED:
        return _ANSWERED[first.ask](first, table)
    return "yes" if all(holds(question, table) for question in reading.questions) else "no"


def _cells_at(question: Question, table: Table, rows: Iterable[int]) -> list[str]:
    """The different cells; of one with several lines the first, which names what the others remark on."""
    cells = cells_of(table, question.column)
    lines = (cells[row].strip().partition("\n")[0].strip() for row in rows)
    found = list(dict.fromkeys(line for line in lines if line))
    if not found:
        raise Declined(f"the column {question.column!r} is empty there")
    return found


def _meant(table: Table, where: Sequence[Condition]) -> list[int]:
    rows = body_of(table, where)
    if not rows:
        raise Declined("no row of the table is like that")
    return rows


def _cells(question: Question, table: Table) -> list[str]:
    return _cells_at(question, table, _meant(table, question.where))


def _first(question: Question, table: Table) -> list[str]:
    """The cell at that place of the order, with those tied with it."""
    keys = keys_by(question, table)
    rows = [row for row in _meant(table, question.where) if keys[row] is not None]
    if len(rows) < question.place:
        raise Declined(f"the column {question.by!r} has no such place")
    at = keys[rows[question.place - 1]]
    found = _cells_at(question, table, [row for row in rows if keys[row] == at])
    if len(found) > 1:
        raise Declined(f"{len(found)} of them are equal there")
    return found


def _end(question: Question, table: Table) -> list[str]:
    rows = _meant(table, question.where)
    return _cells_at(question, table, [rows[0] if question.place > 0 else rows[-1]])


def _beside(question: Question, table: Table) -> list[str]:
    row = _meant(table, question.where)[0] + question.place
    if not 0 <= row < len(table.rows):
        raise Declined("the row that is named has none beside it")
    return _cells_at(question, table, [row])


def _number(question: Question, table: Table) -> list[str]:
    return [str(len(body_of(table, question.where)))]


def _different(question: Question, table: Table) -> list[str]:
    return [str(len(_cells(question, table)))]


def _numbers(question: Question, table: Table) -> list[float]:
    cells = cells_of(table, question.column)
    rows = _meant(table, question.where)
    found = [number for row in rows if (number := number_in(cells[row])) is not None]
    if not found:
        raise Declined(f"the column {question.column!r} has no numbers there")
    return found


def _total(question: Question, table: Table) -> list[str]:
    return [_plain(sum(_numbers(question, table)))]


def _mean(question: Question, table: Table) -> list[str]:
    numbers = _numbers(question, table)
    return [_plain(sum(numbers) / len(numbers))]


def _sides(question: Question, table: Table) -> tuple[Any, Any]:
    keys = keys_by(question, table)
    found = [[keys[row] for row in _meant(table, each)] for each in (question.where, question.against)]
    if any(len(side) != 1 or side[0] is None for side in found):
        raise Declined("one side of the comparison is not a single row")
    return found[0][0], found[1][0]


def _greater(question: Question, table: Table) -> list[str]:
    mine, theirs = _sides(question, table)
    if mine == theirs:
        raise Declined("both are equal there")
    wins = (mine > theirs) == (question.sign == ">")
    return _cells_at(question, table, body_of(table, question.where if wins else question.against))


def _apart(question: Question, table: Table) -> list[str]:
    mine, theirs = _sides(question, table)
    if question.datatype != "number":
        raise Declined("how far apart two dates are is not read")
    return [_plain(abs(mine - theirs))]


def _plain(number: float) -> str:
    rounded = round(number, 6)
    return str(int(rounded)) if rounded == int(rounded) else f"{rounded:.10g}"


_ANSWERED: Mapping[str, Callable[[Question, Table], list[str]]] = {
    "cells": _cells,
    "first": _first,
    "end": _end,
    "beside": _beside,
    "number": _number,
    "different": _different,
    "total": _total,
    "mean": _mean,
    "greater": _greater,
    "apart": _apart,
}

"""Run one of Binder's programs: its calls are answered from the inside out, and what is left is SQL.

Whoever runs a program answers its questions: `run_program` is a generator that yields them, so that the
questions of many programs can be asked together and each one once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from chameleon.errors import ModuleError
from chameleon.modules.sql.calls import Call, all_calls, column_in, role_of, value_of
from chameleon.modules.sql.database import Cell, SqlTable, plain_number
from chameleon.modules.sql.describe import shown_rows
from chameleon.modules.sql.normal import ROW_ID, with_column
from chameleon.modules.sql.query import SqlResult
from chameleon.modules.sql.questions import AnswerQuestion, MapQuestion, Question, as_text

Ask = Callable[[SqlTable, str], SqlResult]
# What a question comes to: an answer for each item of a `MapQuestion`, else one text.
Answers = Sequence[str] | str
Steps = Generator[Question, Any, Any]

_SELECT = re.compile(r"(?:(?<!\s)\s+)?select\s+(?:(distinct)\s+)?", re.IGNORECASE)
_ONE_WORD = re.compile(r"\s*(?:`[^`]+`|[^\s`]+)\s*")
_MOST_STEPS = 32


def run_program(program: str, table: SqlTable, ask: Ask) -> Generator[Question, Any, list[Cell]]:
    """The cells of a program's answer, row by row, without `row_id`.

    Yields each question and is sent what it comes to. `ask` runs SQL; the published code also selects
    `row_id` wherever that works, which changes the answer of none of 477 recorded programs. Raises
    `ModuleError` when the program does not work: `StepRejected` for a call that cannot be read, else with
    what SQL said.
    """
    text = program.strip()
    for _ in range(_MOST_STEPS):
        call = next(all_calls(text), None)
        if call is None:
            return _cells(_run(text, table, ask))
        is_whole = text == call.text
        if call.kind == "ans":
            answer: str = yield _answer_question(call, table, ask)
            if is_whole:
                return [answer]
            text = text.replace(call.text, _literal(answer))
        else:
            table, name = yield from _mapped(call, table, ask)
            text = text.replace(call.text, f"`{name}`")
    raise ModuleError(f"the program calls QA() more than {_MOST_STEPS} times")


def _run(sql: str, table: SqlTable, ask: Ask) -> SqlResult:
    """Run SQL; a program of a single word, or a name in back-quotes, means its value in every row."""
    if _ONE_WORD.fullmatch(sql):
        sql = f"SELECT {sql} FROM {table.name}"  # noqa: S608
    result = ask(table, sql)
    if not result.ok:
        raise ModuleError(f"the query gave no result ({result.status.replace('_', ' ')}): {result.message}")
    return result


def _cells(result: SqlResult) -> list[Cell]:
    own = [index for index, name in enumerate(result.columns) if name.lower() != ROW_ID]
    kept = own or range(len(result.columns))
    return [_finite(row[index]) for row in result.rows for index in kept]


def _finite(cell: Cell) -> Cell:
    return str(cell) if isinstance(cell, float) and not math.isfinite(cell) else cell


def _mapped(call: Call, table: SqlTable, ask: Ask) -> Generator[Question, Any, tuple[SqlTable, str]]:
    """The table with a column of the call's answers, and that column's name."""
    if not call.params:
        raise ModuleError(f"{call.question!r} asks about nothing")
    header = [column.name for column in table.columns]
    shown = [_by_row(param, table, header, ask) for param in call.params]
    rows = [tuple(cells.get(row) for _, cells in shown) for row in range(len(table.rows))]
    asked = dict.fromkeys(_item(row) for row in rows if any(cell is not None for cell in row))
    answers: dict[tuple[str, ...], str] = {}
    if asked:
        names = tuple(name for name, _ in shown)
        told = yield MapQuestion(call.asked, names, tuple(asked))
        answers = dict(zip(asked, told, strict=True))
    name = next(f"qa_{n}" for n in range(1, len(header) + 2) if f"qa_{n}" not in header)
    return with_column(table, name, [answers.get(_item(row)) for row in rows]), name


def _item(row: tuple[Cell, ...]) -> tuple[str, ...]:
    return tuple(map(as_text, row))


def _by_row(param: str, table: SqlTable, header: Sequence[str], ask: Ask) -> tuple[str, Mapping[int, Cell]]:
    """What a parameter says about each row, by the row's number, and under which name."""
    role = role_of(param, header)
    if role == "col":
        column = column_in(param, header) or ""
        index = header.index(column)
        return column, {number: row[index] for number, row in enumerate(table.rows)}
    if role == "val":
        return "value", dict.fromkeys(range(len(table.rows)), as_text(str(value_of(param))))
    # Its rows are known by their number, so that the answers find their way back.
    result = _run(_SELECT.sub(rf"SELECT \1 {ROW_ID}, ", param, count=1), table, ask)
    if len(result.columns) < 2:
        raise ModuleError(f"the query in {param[:60]!r} gives no column to ask about")
    cells = {row[0]: row[1] for row in result.rows if isinstance(row[0], int)}
    return result.columns[1], cells


def _answer_question(call: Call, table: SqlTable, ask: Ask) -> AnswerQuestion:
    return AnswerQuestion(call.asked, tuple(_block(param, table, ask) for param in call.params))


def _block(param: str, table: SqlTable, ask: Ask) -> str:
    """What a parameter says, as text: a value by itself, a column or a query's result as a table."""
    header = [column.name for column in table.columns]
    if role_of(param, header) == "val":
        return as_text(str(value_of(param)))
    column = column_in(param, header)
    result = _run(param if column is None else f"`{column}`", table, ask)
    return shown_rows(result.columns, result.rows)


def _literal(answer: str) -> str:
    number = plain_number(answer)
    return "'" + answer.replace("'", "''") + "'" if number is None else str(number)

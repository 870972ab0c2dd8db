"""Run Binder's programs: calls are answered from the inside out, and what is left is SQL.

A program yields the questions that it has for the model, so that those of many programs are asked together
and each one once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chameleon.errors import CutOff, ModuleError, StepRejected
from chameleon.llm_module import RAISE_LIMIT
from chameleon.modules.sql.binder_calls import QACall, all_calls, column_in, role_of, value_of
from chameleon.modules.sql.binder_table import ROW_ID, with_column
from chameleon.modules.sql.database import Cell, SqlTable, as_text, plain_number
from chameleon.modules.sql.query import SqlResult

if TYPE_CHECKING:
    from chameleon.llm import Reply

Item = tuple[str, ...]
RunQuery = Callable[[SqlTable, str], SqlResult]

_SELECT = re.compile(r"(?:(?<!\s)\s+)?select\s+(?:(distinct)\s+)?", re.IGNORECASE)
_ONE_WORD = re.compile(r"\s*(?:`[^`]+`|[^\s`]+)\s*")
_LABEL = re.compile(r"^(?:the )?answer(?: is)?\s*:?\s+", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:row\s+)?(\d{1,6})\s*[|:.)\t]\s*(.*)$", re.IGNORECASE)
_MOST_STEPS = 32
_MOST_ROWS = 100
_MOST_ITEMS = 50


@dataclass(frozen=True, slots=True)
class MapQuestion:
    """A question about each of many items, which have a value under each of `names`."""

    asked: str
    names: tuple[str, ...]
    items: tuple[Item, ...]

    def read(self, reply: Reply) -> dict[int, str]:
        """Return the answers in a reply by the number of their item, in lower case.

        A line is "3 | yes"; the last field is the answer, as in the published code, so that a reply may
        repeat the item. What is missing is missing: a number that was not asked about, or a line without one,
        counts for nothing, and neither does the last line of a reply that was cut off.
        """
        found: dict[int, str] = {}
        text = reply.text.rpartition("\n")[0] if reply.truncated else reply.text
        for line in text.splitlines():
            match = _NUMBERED.match(line.strip().strip("|").strip())
            if match and 1 <= (number := int(match[1])) <= len(self.items):
                answer = _bare(re.split(r"[|\t]", match[2])[-1])
                if answer and number not in found:
                    found[number] = answer
        return found


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A question about what stands in `blocks`: columns, results of queries, values."""

    asked: str
    blocks: tuple[str, ...]

    def read(self, reply: Reply) -> str | ModuleError:
        """Return the first line of a reply that says something, in lower case, or what is wrong with it."""
        if reply.truncated:
            return CutOff(f"the reply to 'ans@{self.asked}' was cut off", hint=RAISE_LIMIT)
        answers = (_bare(_LABEL.sub("", line.strip())) for line in reply.text.splitlines())
        return next(filter(None, answers), None) or StepRejected("the reply holds no answer")


def _bare(text: str) -> str:
    """Return one answer in lower case, without the full stop and the quotes around it."""
    said = " ".join(text.replace("**", "").split()).lower()
    said = said.removesuffix(".") if not said.endswith("..") and said.count(".") == 1 else said
    return said[1:-1].strip() if len(said) > 1 and said[0] == said[-1] and said[0] in "\"'`" else said


Question = MapQuestion | AnswerQuestion
# What a question comes to: an answer for each item of a `MapQuestion`, else one text.
Answers = Sequence[str] | str
# The model's answers to questions, in their order: of a `MapQuestion` by the item's number, from 1; an error
# where a reply is of no use. The second argument tells whether it was asked before.
AskModel = Callable[[Sequence[Question], bool], Sequence[dict[int, str] | str | ModuleError]]


def run_programs(
    programs: Sequence[str], table: SqlTable, run_query: RunQuery, ask_model: AskModel
) -> dict[str, list[Cell] | ModuleError]:
    """Return what each program comes to: the cells of its answer, or why it has none. Equal ones run once."""
    answerer = Answerer(ask_model)
    runs = {program: _Run(table, run_query).steps(program) for program in programs}
    outcomes: dict[str, list[Cell] | ModuleError] = {}
    waiting: dict[str, Question | None] = dict.fromkeys(runs)
    told: dict[Question, Answers | ModuleError] = {}
    while waiting:
        for program, question in list(waiting.items()):
            run, answers = runs[program], told[question] if question else None
            try:
                failed = isinstance(answers, ModuleError)
                waiting[program] = run.throw(answers) if failed else run.send(answers)  # type: ignore[arg-type]
            except StopIteration as end:
                outcomes[program] = end.value
                del waiting[program]
            except ModuleError as error:
                outcomes[program] = error
                del waiting[program]
        told = answerer.answers([each for each in dict.fromkeys(waiting.values()) if each])
    return outcomes


class _Run:
    """One run of a program, over a table that gets a column for each call of QA("map@…")."""

    def __init__(self, table: SqlTable, run_query: RunQuery) -> None:
        self.table, self.run_query = table, run_query

    def steps(self, program: str) -> Generator[Question, Any, list[Cell]]:
        """Yield each question, be sent what it comes to, and return the cells of the answer, row by row.

        They are those of the query without `row_id`; the published code also selects `row_id` wherever that
        works, which changes the answer of none of 477 recorded programs. Raises `ModuleError` when the
        program does not work: `StepRejected` for a call that cannot be read, else with what SQL said.
        """
        text = program.strip()
        for _ in range(_MOST_STEPS):
            call = next(all_calls(text), None)
            if call is None:
                return self._cells(text)
            if call.kind == "ans":
                question = AnswerQuestion(call.asked, tuple(map(self._block, call.params)))
                answer: str = yield question
                if text == call.text:
                    return [answer]
                number = plain_number(answer)
                value = "'" + answer.replace("'", "''") + "'" if number is None else str(number)
                text = text.replace(call.text, value)
            else:
                name = yield from self._mapped(call)
                text = text.replace(call.text, f"`{name}`")
        raise ModuleError(f"the program calls QA() more than {_MOST_STEPS} times")

    def _query(self, sql: str) -> SqlResult:
        """Run SQL; a program of a single word, or a name in back-quotes, means its value in every row."""
        if _ONE_WORD.fullmatch(sql):
            sql = f"SELECT {sql} FROM {self.table.name}"  # noqa: S608
        result = self.run_query(self.table, sql)
        if not result.ok:
            raise ModuleError(result.failure)
        return result

    def _cells(self, sql: str) -> list[Cell]:
        result = self._query(sql)
        own = [index for index, name in enumerate(result.columns) if name.lower() != ROW_ID]
        kept = own or range(len(result.columns))
        return [row[index] for row in result.rows for index in kept]

    def _mapped(self, call: QACall) -> Generator[Question, Any, str]:
        """Give the table a column of the call's answers, and return its name."""
        if not call.params:
            raise ModuleError(f"{call.question!r} asks about nothing")
        shown = [self._by_row(param) for param in call.params]
        rows = [tuple(cells.get(row) for _, cells in shown) for row in range(len(self.table.rows))]
        items = [tuple(map(as_text, row)) for row in rows]
        asked = tuple(dict.fromkeys(item for item in items if any(item)))
        answers: dict[Item, str] = {}
        if asked:
            told = yield MapQuestion(call.asked, tuple(name for name, _ in shown), asked)
            answers = dict(zip(asked, told, strict=True))
        header = self.table.header
        name = next(f"qa_{n}" for n in range(1, len(header) + 2) if f"qa_{n}" not in header)
        self.table = with_column(self.table, name, [answers.get(item) for item in items])
        return name

    def _by_row(self, param: str) -> tuple[str, Mapping[int, Cell]]:
        """Return a parameter's name, and what it says about each row, by the row's number."""
        header = self.table.header
        if (column := column_in(param, header)) is not None:
            index = header.index(column)
            return column, {number: row[index] for number, row in enumerate(self.table.rows)}
        if role_of(param, header) == "val":
            return "value", dict.fromkeys(range(len(self.table.rows)), as_text(str(value_of(param))))
        # Its rows are known by their number, so that the answers find their way back.
        result = self._query(_SELECT.sub(rf"SELECT \1 {ROW_ID}, ", param, count=1))
        if len(result.columns) < 2:
            raise ModuleError(f"the query in {param[:60]!r} gives no column to ask about")
        return result.columns[1], {row[0]: row[1] for row in result.rows if isinstance(row[0], int)}

    def _block(self, param: str) -> str:
        """Return what a parameter says, as text: a value, or a column or result as lines."""
        if role_of(param, self.table.header) == "val":
            return as_text(str(value_of(param)))
        column = column_in(param, self.table.header)
        result = self._query(param if column is None else f"`{column}`")
        lines = [" | ".join(map(as_text, row)) for row in (result.columns, *result.rows[:_MOST_ROWS])]
        hidden = len(result.rows) - _MOST_ROWS
        return "\n".join([*lines, f"… {hidden:,} more rows not shown"] if hidden > 0 else lines)


class Answerer:
    """Asks the model for what is not known yet, 50 items to a call, all calls at once; remembers the rest."""

    def __init__(self, ask_model: AskModel) -> None:
        self._ask_model = ask_model
        self._by_item: dict[tuple[str, tuple[str, ...]], dict[Item, str]] = {}
        self._single: dict[AnswerQuestion, str | ModuleError] = {}

    def answers(self, questions: Sequence[Question]) -> dict[Question, Answers | ModuleError]:
        """Return what each question comes to; an error where the model left something out, asked twice."""
        for again in (False, True):
            if calls := self._calls(questions, again):
                for call, reply in zip(calls, self._ask_model(calls, again), strict=True):
                    if isinstance(call, AnswerQuestion):
                        self._single[call] = reply if isinstance(reply, str | ModuleError) else ""
                    elif isinstance(reply, dict):
                        read = {call.items[number - 1]: answer for number, answer in reply.items()}
                        self._by_item[call.asked, call.names].update(read)
        return {question: self._answers(question) for question in questions}

    def _calls(self, questions: Sequence[Question], again: bool) -> list[Question]:
        """Return the calls that are still to be made; items that several questions ask about stand in one."""
        calls: list[Question] = []
        wanted: dict[tuple[str, tuple[str, ...]], dict[Item, None]] = {}
        for question in questions:
            if isinstance(question, MapQuestion):
                key = question.asked, question.names
                known = self._by_item.setdefault(key, {})
                items = wanted.setdefault(key, {})
                items.update(dict.fromkeys(item for item in question.items if item not in known))
            elif not again and question not in self._single:
                calls.append(question)
        for (asked, names), items in wanted.items():
            listed = tuple(items)
            starts = range(0, len(listed), _MOST_ITEMS)
            calls += [MapQuestion(asked, names, listed[start : start + _MOST_ITEMS]) for start in starts]
        return calls

    def _answers(self, question: Question) -> Answers | ModuleError:
        if isinstance(question, AnswerQuestion):
            return self._single[question]
        known = self._by_item[question.asked, question.names]
        found, total = [known[item] for item in question.items if item in known], len(question.items)
        if len(found) == total:
            return found
        return ModuleError(
            f"the model answered {len(found)} of {total} items of 'map@{question.asked}', though asked twice"
        )

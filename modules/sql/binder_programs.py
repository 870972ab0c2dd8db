"""Run Binder's programs: answer the calls from the inside out, then run the remaining SQL."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chameleon.core.llm_module import RAISE_LIMIT
from chameleon.errors import CutOff, ModuleError, StepRejected
from chameleon.llm import Reply
from chameleon.modules.sql.binder_calls import QACall, all_calls, column_in, value_of
from chameleon.modules.sql.binder_table import ROW_ID, with_column
from chameleon.modules.sql.database import Cell, SqlTable, as_text
from chameleon.modules.sql.query import SqlResult
from chameleon.modules.table_ops.order import plain_number

Item = tuple[str, ...]
RunQuery = Callable[[SqlTable, str], SqlResult]

_SELECT = re.compile(r"(?:(?<!\s)\s+)?select\s+(?:(distinct)\s+)?", re.IGNORECASE)
_ONE_WORD = re.compile(r"\s*(?:`[^`]+`|[^\s`]+)\s*")
_LABEL = re.compile(r"^(?:the )?answer(?: is)?\s*:?\s+", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*(?:row\s+)?(\d{1,6})\s*[|:.)\t]\s*(.*)$", re.IGNORECASE)
_MAX_STEPS = 32  # calls of QA() in a program
_MAX_ROWS = 100  # rows of a result that a prompt shows
_MAX_ITEMS = 50  # items per call; the published code asks about 50 rows


@dataclass(frozen=True, slots=True)
class MapQuestion:
    """A question about each of several items, which have a value for each of `names`."""

    asked: str
    names: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def slots(self) -> dict[str, Any]:
        """What the prompt shows."""
        items = "\n".join(f"{number} | {' | '.join(item)}" for number, item in enumerate(self.items, 1))
        return {"asked": self.asked, "columns": " | ".join(self.names), "items": items}

    def read(self, reply: Reply) -> dict[Item, str]:
        """Return the answers in a reply by their item, in lower case.

        A line is "3 | yes". The last field is the answer, as in the published code, so a reply may repeat
        the item. Lines without a number or with an unknown one are ignored, and so is the last line of a
        reply that was cut off.
        """
        answers: dict[Item, str] = {}
        text = reply.text.rpartition("\n")[0] if reply.truncated else reply.text
        for line in text.splitlines():
            match = _NUMBERED.match(line.strip().strip("|").strip())
            answer = _answer_text(re.split(r"[|\t]", match[2])[-1]) if match else ""
            if match and answer and 1 <= int(match[1]) <= len(self.items):
                answers.setdefault(self.items[int(match[1]) - 1], answer)
        return answers


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A question about `blocks`: columns, results of queries, or values."""

    asked: str
    blocks: tuple[str, ...]

    @property
    def slots(self) -> dict[str, Any]:
        """What the prompt shows."""
        return {"asked": self.asked, "blocks": list(self.blocks)}

    def read(self, reply: Reply) -> str:
        """Return the first line with an answer, in lower case. Raises `StepRejected` or `CutOff`."""
        if reply.truncated:
            raise CutOff(f"the reply to 'ans@{self.asked}' was cut off", hint=RAISE_LIMIT)
        for line in reply.text.splitlines():
            if answer := _answer_text(_LABEL.sub("", line.strip())):
                return answer
        raise StepRejected("the reply has no answer")


def _answer_text(text: str) -> str:
    """Return one answer in lower case, without a final period or quotes around it."""
    line = " ".join(text.replace("**", "").split()).lower()
    line = line.removesuffix(".") if not line.endswith("..") and line.count(".") == 1 else line
    return line[1:-1].strip() if len(line) > 1 and line[0] == line[-1] and line[0] in "\"'`" else line


Question = MapQuestion | AnswerQuestion
# Returns the model's replies to questions, in order; a failed one is an error. The second argument says
# whether the questions were asked before.
AskModel = Callable[[Sequence[Question], bool], Sequence["Reply | ModuleError"]]


class Answerer:
    """Asks the model, 50 items per call, and remembers the answers for other programs."""

    def __init__(self, ask_model: AskModel) -> None:
        self._ask_model = ask_model
        self._by_item: dict[tuple[str, tuple[str, ...]], dict[Item, str]] = {}
        self._single: dict[AnswerQuestion, Reply | ModuleError] = {}

    def answer(self, question: AnswerQuestion) -> str:
        """Return the only answer. Raises `ModuleError` if the model gives none."""
        if question not in self._single:
            (self._single[question],) = self._ask_model([question], False)
        reply = self._single[question]
        if isinstance(reply, ModuleError):
            raise reply
        return question.read(reply)

    def answers(self, question: MapQuestion) -> dict[Item, str]:
        """Return an answer for each item. Raises `ModuleError` if one is still missing after asking twice."""
        known = self._by_item.setdefault((question.asked, question.names), {})
        for again in (False, True):
            missing = tuple(item for item in question.items if item not in known)
            starts = range(0, len(missing), _MAX_ITEMS)
            calls = [replace(question, items=missing[start : start + _MAX_ITEMS]) for start in starts]
            for call, reply in zip(calls, self._ask_model(calls, again) if calls else (), strict=True):
                known.update({} if isinstance(reply, ModuleError) else call.read(reply))
        answers = {item: known[item] for item in question.items if item in known}
        if (total := len(question.items)) > len(answers):
            label = f"'map@{question.asked}', though asked twice"
            raise ModuleError(f"the model answered {len(answers)} of {total} items of {label}")
        return answers


class ProgramRun:
    """One run of a program, over a table that gets a column for each call of QA("map@…")."""

    def __init__(self, table: SqlTable, run_query: RunQuery, answerer: Answerer) -> None:
        self.table, self.run_query, self.answerer = table, run_query, answerer

    def cells(self, program: str) -> list[Cell]:
        """Return the cells of the program's answer, row by row.

        The query runs without `row_id`. The published code also selects `row_id` if that works, which does
        not change the answer of any of 477 recorded programs. Raises `ModuleError` if the program fails:
        `StepRejected` for a malformed call, else with SQL's message.
        """
        text = program.strip()
        for _ in range(_MAX_STEPS):
            call = next(iter(all_calls(text)), None)
            if call is None:
                result = self._query(text)
                columns = [index for index, name in enumerate(result.columns) if name.lower() != ROW_ID]
                indexes = columns or range(len(result.columns))
                return [row[index] for row in result.rows for index in indexes]
            if call.kind == "map":
                text = text.replace(call.text, f"`{self._add_column(call)}`")
                continue
            answer = self.answerer.answer(AnswerQuestion(call.asked, tuple(map(self._block, call.params))))
            if text == call.text:
                return [answer]
            number = plain_number(answer)
            value = "'" + answer.replace("'", "''") + "'" if number is None else str(number)
            text = text.replace(call.text, value)
        raise ModuleError(f"the program calls QA() more than {_MAX_STEPS} times")

    def _query(self, sql: str) -> SqlResult:
        """Run SQL. A program that is a single word or backquoted name selects that column of every row."""
        if _ONE_WORD.fullmatch(sql):
            sql = f"SELECT {sql} FROM w"  # noqa: S608
        result = self.run_query(self.table, sql)
        if not result.ok:
            raise ModuleError(result.failure)
        return result

    def _add_column(self, call: QACall) -> str:
        """Add a column with the call's answers to the table, and return its name."""
        if not call.params:
            raise ModuleError(f"'map@{call.asked}' asks about nothing")
        columns = [self._by_row(param) for param in call.params]
        rows = range(len(self.table.rows))
        items = [tuple(as_text(cells.get(row)) for _, cells in columns) for row in rows]
        unique = tuple(dict.fromkeys(item for item in items if any(item)))
        answers = self.answerer.answers(MapQuestion(call.asked, tuple(name for name, _ in columns), unique))
        header = self.table.header
        name = next(f"qa_{n}" for n in range(1, len(header) + 2) if f"qa_{n}" not in header)
        self.table = with_column(self.table, name, [answers.get(item) for item in items])
        return name

    def _by_row(self, param: str) -> tuple[str, Mapping[int, Cell]]:
        """Return a parameter's name, and its value for each row by row number."""
        header = self.table.header
        if (column := column_in(param, header)) is not None:
            index = header.index(column)
            return column, {number: row[index] for number, row in enumerate(self.table.rows)}
        if (value := value_of(param)) is not NotImplemented:
            return "value", dict.fromkeys(range(len(self.table.rows)), as_text(str(value)))
        # Select the row numbers too, to match answers to rows.
        result = self._query(_SELECT.sub(rf"SELECT \1 {ROW_ID}, ", param, count=1))
        if len(result.columns) < 2:
            raise ModuleError(f"the query in {param[:60]!r} gives no column to ask about")
        return result.columns[1], {row[0]: row[1] for row in result.rows if isinstance(row[0], int)}

    def _block(self, param: str) -> str:
        """Return a parameter as text: a value, or a column or result as lines."""
        column = column_in(param, self.table.header)
        if column is None and (value := value_of(param)) is not NotImplemented:
            return as_text(str(value))
        result = self._query(param if column is None else f"`{column}`")
        lines = [" | ".join(map(as_text, row)) for row in (result.columns, *result.rows[:_MAX_ROWS])]
        hidden = len(result.rows) - _MAX_ROWS
        return "\n".join([*lines, f"… {hidden:,} more rows not shown"] if hidden > 0 else lines)

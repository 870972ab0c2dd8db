"""The calls of a model within Binder's programs: QA("map@question"; column) and QA("ans@question"; …)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from chameleon import StepRejected

Role = Literal["col", "val", "complete_sql"]

_DEEPEST = 8
_QUOTES = "'\"`"
_START = re.compile(r"\bQA\s*\(", re.IGNORECASE)
# A question may hold quotation marks: the one that ends it stands before a semicolon or the bracket.
_QUESTION = re.compile(r"\s*([\"'])\s*(map|ans)\s*@(.*?)\1\s*(?=[;)])", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class QACall:
    """One call as it is written (`text`): which kind, what is asked, and about what."""

    text: str
    kind: Literal["map", "ans"]
    asked: str
    params: tuple[str, ...]

    @property
    def question(self) -> str:
        return f"{self.kind}@{self.asked}"


def all_calls(program: str) -> Iterator[QACall]:
    """Yield every call in a program, inner ones first. Raises `StepRejected` for one that is not closed."""
    for call in outer_calls(program):
        for param in call.params:
            yield from all_calls(param)
        yield call


def outer_calls(text: str) -> Iterator[QACall]:
    """Yield the calls in a text that stand in no other call and in no quotes."""
    position = 0
    while position < len(text):
        if text[position] in _QUOTES:
            position = _after_quote(text, position)
        elif start := _START.match(text, position):
            call = _call_at(text, position, start.end())
            yield call
            position += len(call.text)
        else:
            position += 1


def outside_quotes(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the parts of a program lie that are in no quotes, those of calls' questions included."""
    position = begun = 0
    while position < len(text):
        start = _START.match(text, position)
        question = _QUESTION.match(text, start.end()) if start else None
        if question or text[position] in _QUOTES:
            yield begun, question.start() if question else position
            position = begun = question.end() if question else _after_quote(text, position)
        else:
            position += 1
    yield begun, len(text)


def role_of(param: str, header: Sequence[str]) -> Role:
    """Return what a call's parameter is: a column if the header has it in any case, a value, else SQL."""
    if column_in(param, header) is not None:
        return "col"
    return "complete_sql" if value_of(param) is NotImplemented else "val"


def column_in(param: str, header: Sequence[str]) -> str | None:
    """Return the column that a parameter names, with or without back-quotes."""
    name = param.strip()
    if len(name) > 1 and name[0] == name[-1] and name[0] in '`"':
        name = name[1:-1]
    if name in header:
        return name
    return next((column for column in header if column.lower() == name.lower()), None)


def value_of(param: str) -> object:
    """Return the literal that a parameter is; `NotImplemented` when it is none."""
    try:
        return ast.literal_eval(param.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return NotImplemented


def _call_at(text: str, start: int, inside: int, level: int = 0) -> QACall:
    """Return the call that begins at `start` and whose parameters begin at `inside`."""
    if level > _DEEPEST:
        raise StepRejected(f"the calls of QA() are nested more than {_DEEPEST} deep")
    question = _QUESTION.match(text, inside)
    if question is None:
        raise StepRejected("a QA() does not begin with a question in quotes that says map@ or ans@")
    position, begun, depth = question.end(), question.end() + 1, 0
    params: list[str] = []
    while position < len(text):
        character = text[position]
        if character in _QUOTES:
            position = _after_quote(text, position)
            continue
        if nested := _START.match(text, position):
            position += len(_call_at(text, position, nested.end(), level + 1).text)
            continue
        if character in ";)" and depth == 0:
            params.append(text[begun:position].strip())
            begun = position + 1
            if character == ")":
                kind: Literal["map", "ans"] = "map" if question[2].lower() == "map" else "ans"
                return QACall(text[start:begun], kind, question[3].strip(), tuple(filter(None, params)))
        depth += (character == "(") - (character == ")")
        position += 1
    raise StepRejected("a QA() is not closed")


def _after_quote(text: str, start: int) -> int:
    """Return the position behind the quoted part that begins at `start`; an unclosed quote quotes nothing."""
    end = text.find(text[start], start + 1)
    return end + 1 if end >= 0 else start + 1

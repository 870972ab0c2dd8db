"""The calls of a model within Binder's programs: QA("map@question"; column) and QA("ans@question"; …)."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from chameleon import StepRejected

_DEEPEST = 8
# A question may hold quotation marks: the one that ends it stands before a semicolon or the bracket.
APART = (
    r"(?P<call>\bQA\s*\()(?P<question>\s*([\"'])\s*(?P<kind>map|ans)\s*@(?P<asked>.{,2000}?)\3\s*(?=[;)]))?"
    r"|(?P<quoted>(['\"`]).*?\7)"
)
"""A call up to its parameters, and what stands in quotes."""
_TOKEN = re.compile(rf"{APART}|[;()]", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class QACall:
    """One call as it is written (`text`), from `start` on: which kind, what is asked, and about what."""

    start: int
    text: str
    kind: str
    asked: str
    params: tuple[str, ...]


def all_calls(program: str) -> list[QACall]:
    """Return every call in a program, inner ones first. Raises `StepRejected` for one that cannot be read."""
    calls: list[QACall] = []
    # Of each call that is open: its first token, its parameters, where the next begins, and brackets in it.
    opened: list[tuple[re.Match[str], list[str], int, int]] = []
    for token in _TOKEN.finditer(program):
        if token["call"]:
            if not token["question"]:
                raise StepRejected("a QA() does not begin with a question in quotes that says map@ or ans@")
            if len(opened) > _DEEPEST:
                raise StepRejected(f"the calls of QA() are nested more than {_DEEPEST} deep")
            opened.append((token, [], token.end() + 1, 0))
        elif opened and not token["quoted"]:
            first, params, begun, depth = opened.pop()
            if depth == 0 and token[0] != "(":
                params.append(program[begun : token.start()].strip())
                begun = token.end()
            if token[0] == ")" and depth == 0:
                text, kind = program[first.start() : begun], first["kind"].lower()
                given = tuple(filter(None, params))
                calls.append(QACall(first.start(), text, kind, first["asked"].strip(), given))
            else:
                depth += {"(": 1, ")": -1}.get(token[0], 0)
                opened.append((first, params, begun, depth))
    if opened:
        raise StepRejected("a QA() is not closed")
    return calls


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

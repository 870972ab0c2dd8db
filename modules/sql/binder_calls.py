"""Model calls in Binder's programs: QA("map@question"; column) and QA("ans@question"; …)."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from chameleon import StepRejected

_MAX_DEPTH = 8
# A question may contain quotation marks; the closing one comes before a semicolon or the bracket.
APART = (
    r"(?P<call>\bQA\s*\()(?P<question>\s*([\"'])\s*(?P<kind>map|ans)\s*@(?P<asked>.{,2000}?)\3\s*(?=[;)]))?"
    r"|(?P<quoted>(['\"`]).*?\7)"
)
"""A call up to its parameters, or a quoted text."""
_TOKEN = re.compile(rf"{APART}|[;()]", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class QACall:
    """A call of QA() in a program.

    Attributes:
        start: its position in the program.
        text: the whole call, as written.
        kind: "map" or "ans".
        asked: its question.
        params: the other arguments, as written.
    """

    start: int
    text: str
    kind: str
    asked: str
    params: tuple[str, ...]


def all_calls(program: str) -> list[QACall]:
    """Return every call in a program, inner ones first. Raises `StepRejected` for one that is malformed."""
    calls: list[QACall] = []
    # For each open call: its first token, its parameters, the start of the next one, and open brackets.
    opened: list[tuple[re.Match[str], list[str], int, int]] = []
    for token in _TOKEN.finditer(program):
        if token["call"]:
            if not token["question"]:
                raise StepRejected("a QA() does not begin with a question in quotes that says map@ or ans@")
            if len(opened) > _MAX_DEPTH:
                raise StepRejected(f"the calls of QA() are nested more than {_MAX_DEPTH} deep")
            opened.append((token, [], token.end() + 1, 0))
        elif opened and not token["quoted"]:
            first, params, start, depth = opened.pop()
            if depth == 0 and token[0] != "(":
                params.append(program[start : token.start()].strip())
                start = token.end()
            if token[0] == ")" and depth == 0:
                text, kind = program[first.start() : start], first["kind"].lower()
                filled = tuple(filter(None, params))
                calls.append(QACall(first.start(), text, kind, first["asked"].strip(), filled))
            else:
                depth += {"(": 1, ")": -1}.get(token[0], 0)
                opened.append((first, params, start, depth))
    if opened:
        raise StepRejected("a QA() is not closed")
    return calls


def column_in(param: str, header: Sequence[str]) -> str | None:
    """Return the column that a parameter names, with or without backquotes."""
    name = param.strip()
    if len(name) > 1 and name[0] == name[-1] and name[0] in '`"':
        name = name[1:-1]
    if name in header:
        return name
    return next((column for column in header if column.lower() == name.lower()), None)


def value_of(param: str) -> object:
    """Return the value of a parameter that is a literal, else `NotImplemented`."""
    try:
        return ast.literal_eval(param.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return NotImplemented  # None is a literal, too

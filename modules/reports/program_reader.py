"""Programs of FinQA's language in a model's reply, however it wrote them: steps, nested calls, prose around.

The text is data: it is taken apart by the few rules here, and never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from chameleon import StepRejected
from chameleon.modules.reports.finqa_program import OPERATIONS

_OTHER_NAMES = {
    "sum": "add",
    "plus": "add",
    "sub": "subtract",
    "minus": "subtract",
    "mul": "multiply",
    "times": "multiply",
    "div": "divide",
    "pow": "exp",
    "power": "exp",
    "greater_than": "greater",
    "max": "table_max",
    "min": "table_min",
    "average": "table_average",
}
_CALL = re.compile(
    rf"(?<![\w#])({'|'.join(sorted((*OPERATIONS, *_OTHER_NAMES), key=len, reverse=True))})\s*\(", re.I
)
_LABEL = re.compile(r"\bprogram\b[*_`]*(?: is)?[*_`]*\s*:", re.IGNORECASE)
_BETWEEN = re.compile(
    r"(?:[\s,;|`*.>\[\]-]|\bthen\b|\band\b|\bstep\b|#?\d+\s*[.:=)]|\beof\b|=\s*-?[\d.,]+%?(?=\s))*",
    re.IGNORECASE,
)
_PIECE = re.compile(r"(?<![\w#.,])\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|[(),]|[^(),\d]+|\d+")
_NONE = re.compile(r",\s*(?:none)?\s*$", re.IGNORECASE)
_REFERENCE = re.compile(r"#\s*(\d{1,3})")
_CONSTANT = re.compile(r"const_m?\d+", re.IGNORECASE)
_CURRENCY = re.compile(r"[$€£¥]")
_BLANK = re.compile(r" (?![\d.,])|(?<![\d.,]) ")
_CELL = re.compile(
    r"(?P<sign>(?:[-−–]?\(|[-−–])?)(?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)(?P<end>%?\)?%?)(?:\([^()]*\)%?)*"
)
_MOST_STEPS, _DEEPEST = 64, 16

Step = tuple[str, str, str]
"""An operation and its two arguments."""
Call = tuple[str, Any, Any]
"""The same, whose arguments may be calls."""


def finqa_program_in(text: str) -> list[Step]:
    """Return the steps of the last program in a reply; after its last "Program:", where it says so.

    Calls that stand in calls become steps of their own, and references are numbered from 0, also where
    the reply numbers them from 1. Raises `StepRejected` for a reply without a program, or with a broken one.
    """
    labels = [label.end() for label in _LABEL.finditer(text)]
    calls = next(filter(None, (_last_run(text[start:]) for start in (*reversed(labels), 0))), None)
    if calls is None:
        raise StepRejected(
            "the reply holds no program", hint="A program is subtract(5, 3), divide(#0, 3) or the like."
        )
    try:
        return _steps(calls, 0)
    except StepRejected as problem:
        try:
            return _steps(calls, 1)
        except StepRejected:
            raise problem from None


def _last_run(text: str) -> list[Call]:
    """Return the last calls in a text that follow each other with nothing but separators between them."""
    run, end = list[Call](), 0
    while (found := _CALL.search(text, end)) is not None:
        if not _BETWEEN.fullmatch(text, end, found.start()):
            run = []
        call, end = _call(text, found)
        run.append(call)
        if len(run) > _MOST_STEPS:
            raise StepRejected(f"the program has more than {_MOST_STEPS} steps")
    return run


def _call(text: str, found: re.Match[str], depth: int = 0) -> tuple[Call, int]:
    """Return a call and where it ends. Raises `StepRejected` for one that is no operation on two arguments.

    Where no space tells, "350,125" is two arguments and not one number, since one is too few. The name of a
    row may have commas and brackets of its own: all but a last "none" is the name.
    """
    if depth > _DEEPEST:
        raise StepRejected("the program is nested too deeply")
    operation = _OTHER_NAMES.get(found[1].lower(), found[1].lower())
    parts, opened = [""], 0
    for piece in _PIECE.finditer(text, found.end()):
        opened += {"(": 1, ")": -1}.get(piece[0], 0)
        if opened < 0:
            break
        if piece[0] == "," and not opened:
            parts.append("")
        else:
            parts[-1] += piece[0]
    if opened >= 0:
        raise StepRejected(f"{operation}( … is not closed")
    whole, end = text[found.end() : piece.start()], piece.end()
    if operation.startswith("table_"):
        return (operation, _NONE.sub("", whole).strip(" \n\t\"'`"), "none"), end
    if len(parts) == 1 and whole.count(",") == 1:
        parts = whole.split(",")
    if len(parts) == 1 and "," in whole:
        raise StepRejected(
            f"it is not clear where the arguments of {operation}({whole:.60}) are parted",
            hint="Write numbers without commas, and a space after the comma between arguments.",
        )
    if len(parts) != 2 or not all(map(str.strip, parts)):
        raise StepRejected(f"{operation} takes two arguments, and is given {len(parts)}")
    first, second = (
        _call(part, nested, depth + 1)[0] if (nested := _CALL.match(part)) else part
        for part in map(str.strip, parts)
    )
    return (operation, first, second), end


def _steps(calls: Sequence[Call], first_number: int) -> list[Step]:
    """Return calls as steps; the calls are numbered from `first_number`."""
    steps, ends = list[Step](), list[int]()

    def add(call: Call) -> int:
        operation, *arguments = call
        first, second = map(argument, arguments)
        steps.append((operation, first, second))
        if len(steps) > _MOST_STEPS:
            raise StepRejected(f"the program has more than {_MOST_STEPS} steps")
        return len(steps) - 1

    def argument(given: str | Call) -> str:
        if isinstance(given, tuple):
            return f"#{add(given)}"
        if (found := _REFERENCE.fullmatch(given.strip("\"'` "))) is None:
            return plain(given)
        number = int(found[1]) - first_number
        if not 0 <= number < len(ends):
            raise StepRejected(f"{given} is no earlier step")
        return f"#{ends[number]}"

    for call in calls:
        ends.append(add(call))
    return steps


def plain(argument: str) -> str:
    """Return an argument as FinQA writes it: a number as `number_text` has it, "5 percent" as 5%.

    The name of a row stays.
    """
    text = argument.strip("\"'` ")
    bare = text.lower().removesuffix("percent").removesuffix("per cent")
    number = number_text(text if len(bare) == len(text) else f"{bare}%")
    return number or (text.lower() if _CONSTANT.fullmatch(text) else text)


def number_text(cell: str) -> str | None:
    """Return the number in a cell: "$ 1,250" is "1250", "(745)" is "-745", "(3.5)%" is "-3.5%"; else None.

    Brackets around a number make it negative; brackets after one ("-32 ( 32 )") repeat it or are a note.
    """
    bare = _BLANK.sub("", " ".join(_CURRENCY.sub(" ", cell).split()))
    found = _CELL.fullmatch(bare)
    if found is None or found["sign"].endswith("(") != (")" in found["end"]):
        return None
    percent = "%" if "%" in found["end"] else ""
    return f"{'-' if found['sign'] else ''}{found['number'].replace(',', '')}{percent}"

"""Programs of FinQA's language in a model's reply, however it wrote them: steps, nested calls, prose around.

The text is data: it is taken apart by the few rules here, and never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
_NONE = re.compile(r",\s*(?:none)?\s*$", re.IGNORECASE)
_REFERENCE = re.compile(r"#\s*(\d{1,3})")
_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?"
_PIECE = re.compile(rf"(?<![\w#.,]){_THOUSANDS}|[(),]|[^(),\d]+|\d+")
_BRACKETED = re.compile(r"\(\s*([\d.,]+%?)\s*\)")
_REPEATED = re.compile(r"(-?[\d.,]++(?:\s*+%)?)\s*+\([^()]*\)")
_NUMBER = re.compile(rf"-?(?:{_THOUSANDS}|\d+(?:\.\d+)?|\.\d+)%?")
_MOST_STEPS, _DEEPEST = 64, 16

Step = tuple[str, str, str]
"""An operation and its two arguments."""


@dataclass
class _Call:
    operation: str
    arguments: list[str | _Call]

    def references(self) -> Iterator[int]:
        """Yield the numbers of the steps that it refers to, calls in it included."""
        for argument in self.arguments:
            if isinstance(argument, _Call):
                yield from argument.references()
            elif (number := _reference(argument)) is not None:
                yield number


def program_in(text: str) -> list[Step]:
    """Return the steps of the last program in a reply; after its last "Program:", where it says so.

    Calls that stand in calls become steps of their own, and references are numbered from 0, also where
    the reply numbers them from 1. Raises `StepRejected` for a reply without a program, or with a broken one.
    """
    labels = [label.end() for label in _LABEL.finditer(text)]
    for start in (*reversed(labels), 0):
        if calls := _last_run(text[start:]):
            return _steps(calls)
    raise StepRejected(
        "the reply holds no program", hint="A program is subtract(5, 3), divide(#0, 3) or the like."
    )


def _last_run(text: str) -> list[_Call]:
    """Return the last calls in a text that follow each other with nothing but separators between them."""
    run, end, count = list[_Call](), 0, 0
    while (found := _CALL.search(text, end)) is not None:
        if not _BETWEEN.fullmatch(text, end, found.start()):
            run = []
        call, end = _call(text, found)
        run.append(call)
        count += 1
        if count > _MOST_STEPS * 4:
            raise StepRejected("the reply has too many steps")
    return run


def _call(text: str, found: re.Match[str], depth: int = 0) -> tuple[_Call, int]:
    """Return a call and where it ends. Raises `StepRejected` for one that is no operation on two arguments.

    Where no space tells, "350,125" is two arguments and not one number, since one is too few. The name of a
    row may have commas and brackets of its own: all but a last "none" is the name.
    """
    if depth > _DEEPEST:
        raise StepRejected("the program is nested too deeply")
    name = found[1].lower()
    operation = _OTHER_NAMES.get(name, name)
    parts, opened, end = [""], 0, -1
    for piece in _PIECE.finditer(text, found.end()):
        opened += {"(": 1, ")": -1}.get(piece[0], 0)
        if opened < 0:
            end = piece.start()
            break
        if piece[0] == "," and not opened:
            parts.append("")
        else:
            parts[-1] += piece[0]
    if end < 0:
        raise StepRejected(f"{operation}( … is not closed")
    whole = text[found.end() : end]
    if operation.startswith("table_"):
        return _Call(operation, [_NONE.sub("", whole).strip(" \n\t\"'`"), "none"]), end + 1
    if len(parts) == 1 and whole.count(",") == 1:
        parts = whole.split(",")
    if len(parts) == 1 and "," in whole:
        raise StepRejected(
            f"it is not clear where the arguments of {operation}({whole:.60}) are parted",
            hint="Write numbers without commas, and a space after the comma between arguments.",
        )
    if len(parts) != 2 or not all(map(str.strip, parts)):
        raise StepRejected(f"{operation} takes two arguments, and is given {len(parts)}")
    arguments = list[str | _Call]()
    for part in map(str.strip, parts):
        nested = _CALL.match(part)
        arguments.append(_call(part, nested, depth + 1)[0] if nested else part)
    return _Call(operation, arguments), end + 1


def _steps(calls: Sequence[_Call]) -> list[Step]:
    """Return calls as steps. They are numbered from 1 where none refers to #0, and one to itself or later."""
    told = [(place, number) for place, call in enumerate(calls) for number in call.references()]
    from_one = all(number > 0 for _, number in told) and any(number >= place for place, number in told)
    steps, ends = list[Step](), list[int]()

    def add(call: _Call) -> int:
        first, second = (argument(each) for each in call.arguments)
        steps.append((call.operation, first, second))
        if len(steps) > _MOST_STEPS:
            raise StepRejected(f"the program has more than {_MOST_STEPS} steps")
        return len(steps) - 1

    def argument(given: str | _Call) -> str:
        if isinstance(given, _Call):
            return f"#{add(given)}"
        if (number := _reference(given)) is None:
            return plain(given)
        if not 0 <= number - from_one < len(ends):
            raise StepRejected(f"{given} is no earlier step")
        return f"#{ends[number - from_one]}"

    for call in calls:
        ends.append(add(call))
    return steps


def _reference(argument: str) -> int | None:
    found = _REFERENCE.fullmatch(argument.strip("\"'` "))
    return int(found[1]) if found else None


def plain(argument: str) -> str:
    """Return an argument as FinQA writes it: "$ 1,250" is 1250, "(32)" is -32, "5 percent" is 5%.

    "5.1% ( 5.1 % )", as tables write it, is 5.1%. The name of a row stays.
    """
    text = argument.strip("\"'` ").replace("−", "-").replace("–", "-")
    bare = re.sub(r"[$€£¥]", "", text).strip()
    if negative := _BRACKETED.fullmatch(bare):
        bare = f"-{negative[1]}"
    elif repeated := _REPEATED.fullmatch(bare):
        bare = repeated[1]
    bare = re.sub(r"(?:(?<!\s)\s+)?(?:%|percent|per cent)$", "%", bare.strip())
    bare = re.sub(r"^-\s+", "-", bare)
    if _NUMBER.fullmatch(bare):
        return bare.replace(",", "")
    return text.lower() if re.fullmatch(r"const_m?\d+", text, re.IGNORECASE) else text

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
_THOUSANDS = re.compile(r"(?<![\w#.,])\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?")
_VALUE = re.compile(r"-?(?:\d[\d,]*(?:\.\d+)?|\.\d+)%?|const_m?\d+|#\s*\d{1,3}")
_BRACKETED = re.compile(r"\(\s*([\d.,]+%?)\s*\)")
_REPEATED = re.compile(r"(-?[\d.,]++(?:\s*+%)?)\s*+\([^()]*\)")
_MOST_STEPS, _DEEPEST = 64, 16

Argument = str
Step = tuple[str, Argument, Argument]


@dataclass
class _Call:
    operation: str
    arguments: list[str | _Call]


def program_in(text: str) -> list[Step]:
    """The steps of the last program in a reply; after its last "Program:", where it says so.

    Calls that stand in calls become steps of their own, and references are numbered from 0, also where
    the reply numbers them from 1. Raises `StepRejected` for a reply without a program, or with a broken one.
    """
    for part in _parts(text):
        calls = _last_run(part)
        if calls:
            return _steps(calls)
    raise StepRejected(
        "the reply holds no program", hint="A program is subtract(5, 3), divide(#0, 3) or the like."
    )


def _parts(text: str) -> Iterator[str]:
    labels = list(_LABEL.finditer(text))
    yield from (text[label.end() :] for label in reversed(labels))
    yield text


def _last_run(text: str) -> list[_Call]:
    """The last calls in a text that stand one after the other, with nothing but separators between them."""
    runs: list[list[_Call]] = []
    place, end = 0, -1
    while (found := _CALL.search(text, place)) is not None:
        call, after = _call(text, found, 0)
        if runs and _BETWEEN.fullmatch(text, end, found.start()):
            runs[-1].append(call)
        else:
            runs.append([call])
        place = end = after
        if sum(map(len, runs)) > _MOST_STEPS * 4:
            raise StepRejected("the reply has too many steps")
    return runs[-1] if runs else []


def _call(text: str, found: re.Match[str], depth: int) -> tuple[_Call, int]:
    """A call and where it ends. Raises `StepRejected` for one without its closing bracket."""
    if depth > _DEEPEST:
        raise StepRejected("the program is nested too deeply")
    name = found[1].lower()
    operation = _OTHER_NAMES.get(name, name)
    arguments: list[str | _Call] = []
    start = place = found.end()
    opened: int = 0
    inner: _Call | None = None
    while place < len(text):
        character = text[place]
        takes_calls = inner is None and not operation.startswith("table_")
        if takes_calls and not text[start:place].strip() and (nested := _CALL.match(text, place)):
            inner, place = _call(text, nested, depth + 1)
            continue
        if not opened and inner is None and (thousands := _THOUSANDS.match(text, place)):
            place = thousands.end()
            continue
        if character == "(":
            opened += 1
        elif character == ")" and opened:
            opened -= 1
        elif character in ",)" and not opened:
            said = text[start:place]
            arguments.append(inner if inner is not None else said.strip())
            inner, start = None, place + 1
            if character == ")":
                return _checked(operation, arguments, text[found.end() : place]), place + 1
        place += 1
    raise StepRejected(f"{operation}( … is not closed")


def _checked(operation: str, arguments: list[str | _Call], whole: str) -> _Call:
    """The call with two arguments; `whole` is what stands in its brackets. Raises `StepRejected`.

    Where no space tells, "350,125" is two arguments and not one number, since one is too few.
    """
    if operation.startswith("table_"):
        return _over(operation, arguments, whole)
    if len(arguments) == 1 and isinstance(only := arguments[0], str) and only.count(",") == 1:
        arguments = [each.strip() for each in only.split(",")]
    if len(arguments) == 1 and "," in whole:
        raise StepRejected(
            f"it is not clear where the arguments of {operation}({whole:.60}) are parted",
            hint="Write numbers without commas, and a space after the comma between arguments.",
        )
    if len(arguments) != 2 or not all(arguments):
        raise StepRejected(f"{operation} takes two arguments, and is given {len(arguments)}")
    return _Call(operation, arguments)


def _over(operation: str, arguments: Sequence[str | _Call], whole: str) -> _Call:
    """The call over a row, or over numbers, whose sum or average it then is. Raises `StepRejected`.

    A row's name may have commas and brackets of its own: all but a last "none" is the name.
    """
    said = [each for each in arguments if isinstance(each, str)]
    if said[1:] and all(_VALUE.fullmatch(plain(each)) for each in said):
        if operation not in ("table_sum", "table_average"):
            raise StepRejected(
                f"{operation} takes the name of a row, and is given numbers",
                hint="Name the row, or the number.",
            )
        total: str | _Call = said[0]
        for each in said[1:]:
            total = _Call("add", [total, each])
        assert isinstance(total, _Call)
        return total if operation == "table_sum" else _Call("divide", [total, _constant(len(said))])
    return _Call(operation, [_NONE.sub("", whole).strip(" \n\t\"'`"), "none"])


def _constant(count: int) -> str:
    return f"const_{count}" if count <= 10 else str(count)


def _steps(calls: Sequence[_Call]) -> list[Step]:
    steps: list[Step] = []
    ends: list[int] = []
    first = _first_number(calls)

    def add(call: _Call) -> int:
        first_argument, second = (argument(each) for each in call.arguments)
        steps.append((call.operation, first_argument, second))
        if len(steps) > _MOST_STEPS:
            raise StepRejected(f"the program has more than {_MOST_STEPS} steps")
        return len(steps) - 1

    def argument(given: str | _Call) -> str:
        if isinstance(given, _Call):
            return f"#{add(given)}"
        if reference := _REFERENCE.fullmatch(given.strip("\"'` ")):
            number = int(reference[1]) - first
            if not 0 <= number < len(ends):
                raise StepRejected(f"{given} is no earlier step")
            return f"#{ends[number]}"
        return plain(given)

    for call in calls:
        ends.append(add(call))
    return steps


def _first_number(calls: Sequence[_Call]) -> int:
    """What the first step is called: 0, or 1 where a reply numbers its steps so.

    That is so where no step refers to #0, and one refers to itself unless steps are numbered from 1.
    """
    told = [(place, number) for place, call in enumerate(calls) for number in _references(call)]
    from_one = all(number > 0 for _, number in told) and any(number >= place for place, number in told)
    return int(from_one)


def _references(call: _Call) -> Iterator[int]:
    for argument in call.arguments:
        if isinstance(argument, _Call):
            yield from _references(argument)
        elif reference := _REFERENCE.fullmatch(argument.strip("\"'` ")):
            yield int(reference[1])


def plain(argument: str) -> str:
    """An argument as FinQA writes it: "$ 1,250" is 1250, "(32)" is -32, "5 percent" is 5%; a name stays."""
    text = argument.strip("\"'` ").replace("−", "-").replace("–", "-")
    bare = re.sub(r"[$€£¥]", "", text).strip()
    if negative := _BRACKETED.fullmatch(bare):
        bare = f"-{negative[1]}"
    elif repeated := _REPEATED.fullmatch(bare):  # "5.1% ( 5.1 % )", as tables write it
        bare = repeated[1]
    bare = re.sub(r"(?:(?<!\s)\s+)?(?:%|percent|per cent)$", "%", bare.strip())
    bare = re.sub(r"^-\s+", "-", bare)
    if re.fullmatch(rf"-?(?:{_THOUSANDS.pattern}|\d+(?:\.\d+)?|\.\d+)%?", bare):
        return bare.replace(",", "")
    return text.lower() if re.fullmatch(r"const_m?\d+", text, re.IGNORECASE) else text

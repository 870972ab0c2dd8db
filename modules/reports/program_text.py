"""Read programs in FinQA's language from replies, and write them the way FinQA does.

A reply may hold steps or nested calls, with prose around them. The text is data: it is parsed by a few rules
and never evaluated.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from chameleon import StepRejected, Table
from chameleon.modules.reports.finqa_program import (
    OVER_ROWS,
    Calculated,
    calculated,
    parts_of,
    steps_of,
    tokens_of,
)

_SPELLINGS = (
    "add sum plus, subtract sub minus, multiply mul times, divide div, exp pow power, greater greater_than, "
    "table_max max, table_min min, table_average average, table_sum"
)
_NAMES = {name: names.split()[0] for names in _SPELLINGS.split(", ") for name in names.split()}
_CALL = re.compile(rf"(?<![\w#])({'|'.join(sorted(_NAMES, key=len, reverse=True))})\s*\(", re.I)
_LABEL = re.compile(r"\bprogram\b[*_`]*(?: is)?[*_`]*\s*:", re.IGNORECASE)
_SEPARATORS = re.compile(  # between calls: ", then", "#1:", "= 12.5"; not prose
    r"(?:[\s,;|`*.>\[\]-]|\bthen\b|\band\b|\bstep\b|#?\d+\s*[.:=)]|\beof\b|=\s*-?[\d.,]+%?(?=\s))*",
    re.IGNORECASE,
)
_PIECE = re.compile(r"(?<![\w#.,])\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|[(),]|[^(),\d]+|\d+")  # 1,234 is one
_NONE = re.compile(r",\s*(?:none)?\s*$", re.IGNORECASE)
_REFERENCE = re.compile(r"#\s*(\d{1,3})")
_CONSTANT = re.compile(r"const_m?\d+", re.IGNORECASE)
_CURRENCY = re.compile(r"[$€£¥]")
_BLANK = re.compile(r" (?![\d.,])|(?<![\d.,]) ")
_CELL = re.compile(
    r"(?P<sign>(?:[-−–]?\(|[-−–])?)(?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)(?P<end>%?\)?%?)(?:\([^()]*\)%?)*"
)
_NUMBERS_HINT = "Write out the numbers of a row that has blanks, or whose name is not clear: add(5, 7)."
_MAX_STEPS, _MAX_DEPTH = 64, 16

Step = tuple[str, str, str]
"""An operation and its two arguments."""
Call = tuple[str, Any, Any]
"""The same, whose arguments may be calls."""
_CONSTANTS = frozenset([*map(str, range(1, 11)), *(str(10**power) for power in (2, 3, 4, 5, 6, 7, 9))])
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def finqa_program_in(text: str) -> list[Step]:
    """Return the steps of the last program in a reply, after its last "Program:" if any.

    Nested calls become separate steps, and references are numbered from 0. Raises `StepRejected` if the reply
    has no program, or a broken one.
    """
    labels = [label.end() for label in _LABEL.finditer(text)]
    calls = next(filter(None, (_last_run(text[start:]) for start in (*reversed(labels), 0))), None)
    if calls is None:
        hint = "A program is subtract(5, 3), divide(#0, 3) or the like."
        raise StepRejected("the reply has no program", hint=hint)
    return _steps(calls)


def _last_run(text: str) -> list[Call]:
    """Return the last series of calls in a text with only separators between them."""
    run, end = list[Call](), 0
    while (match := _CALL.search(text, end)) is not None:
        if not _SEPARATORS.fullmatch(text, end, match.start()):
            run = []
        call, end = _call(text, match)
        run.append(call)
        if len(run) > _MAX_STEPS:
            raise StepRejected(f"the program has more than {_MAX_STEPS} steps")
    return run


def _call(text: str, match: re.Match[str], depth: int = 0) -> tuple[Call, int]:
    """Return a call and where it ends. Raises `StepRejected` unless it is an operation with two arguments.

    Without a space, "350,125" is read as two arguments, because one number would be too few. The name of a
    row may contain commas and brackets: everything but a final "none" is the name.
    """
    if depth > _MAX_DEPTH:
        raise StepRejected("the program is nested too deeply")
    operation = _NAMES[match[1].lower()]
    parts, opened = [""], 0
    for piece in _PIECE.finditer(text, match.end()):
        opened += {"(": 1, ")": -1}.get(piece[0], 0)
        if opened < 0:
            break
        if piece[0] == "," and not opened:
            parts.append("")
        else:
            parts[-1] += piece[0]
    if opened >= 0:
        raise StepRejected(f"{operation}( … is not closed")
    arguments, end = text[match.end() : piece.start()], piece.end()
    if operation.startswith("table_"):
        return (operation, _NONE.sub("", arguments).strip(" \n\t\"'`"), "none"), end
    if len(parts) == 1 and arguments.count(",") == 1:
        parts = arguments.split(",")
    if len(parts) == 1 and "," in arguments:
        hint = "Write numbers without commas, and a space after the comma between arguments."
        what = f"it is not clear how to split the arguments of {operation}({arguments:.60})"
        raise StepRejected(what, hint=hint)
    if len(parts) != 2 or not all(map(str.strip, parts)):
        raise StepRejected(f"{operation} takes two arguments, but has {len(parts)}")
    first, second = (
        _call(part, nested, depth + 1)[0] if (nested := _CALL.match(part)) else part
        for part in map(str.strip, parts)
    )
    return (operation, first, second), end


def _steps(calls: Sequence[Call]) -> list[Step]:
    """Return calls as steps, nested calls first."""
    steps, ends = list[Step](), list[int]()

    def add(call: Call) -> int:
        operation, *arguments = call
        first, second = map(argument, arguments)
        steps.append((operation, first, second))
        if len(steps) > _MAX_STEPS:
            raise StepRejected(f"the program has more than {_MAX_STEPS} steps")
        return len(steps) - 1

    def argument(value: str | Call) -> str:
        if isinstance(value, tuple):
            return f"#{add(value)}"
        if (match := _REFERENCE.fullmatch(value.strip("\"'` "))) is None:
            return plain(value)
        if int(match[1]) >= len(ends):
            raise StepRejected(f"{value} is not an earlier step", hint="The first step is #0.")
        return f"#{ends[int(match[1])]}"

    for call in calls:
        ends.append(add(call))
    return steps


def plain(argument: str) -> str:
    """Return an argument in FinQA's form: a number by `number_text`, "5 percent" as 5%, a name unchanged."""
    text = argument.strip("\"'` ")
    bare = text.lower().removesuffix("percent").removesuffix("per cent")
    number = number_text(text if len(bare) == len(text) else f"{bare}%")
    return number or (text.lower() if _CONSTANT.fullmatch(text) else text)


def number_text(cell: str) -> str | None:
    """Return the number in a cell: "$ 1,250" is "1250", "(745)" is "-745", "(3.5)%" is "-3.5%"; else None.

    Brackets around a number make it negative; brackets after a number ("-32 ( 32 )") are ignored.
    """
    bare = _BLANK.sub("", " ".join(_CURRENCY.sub(" ", cell).split()))
    match = _CELL.fullmatch(bare)
    if match is None or match["sign"].endswith("(") != (")" in match["end"]):
        return None
    percent = "%" if "%" in match["end"] else ""
    return f"{'-' if match['sign'] else ''}{match['number'].replace(',', '')}{percent}"


def written(steps: Sequence[Step], tables: Sequence[Table], texts: Iterable[str]) -> str:
    """Return the program as text. Raises `StepRejected` if it has no value over these tables.

    - A number that is neither in a table nor in `texts`, such as 100, becomes the constant `const_100`, as in
      FinQA's annotations.
    - The name of a row may be in any case.
    """
    cells = (cell for line in lines_of(tables) for cell in line)
    numbers = {number for text in (*texts, *cells) for number in _numbers(text)}

    def argument(text: str) -> str:
        if text in numbers:
            return text
        return "const_m1" if text == "-1" else f"const_{text}" if text in _CONSTANTS else text

    program = as_text(
        (operation, _row_name(first, tables), "none")
        if operation in OVER_ROWS
        else (operation, argument(first), argument(second))
        for operation, first, second in steps
    )
    if fault := value_of(program, tables).fault:
        raise StepRejected(f"the program does not work: {fault}", hint=_NUMBERS_HINT)
    return program


def value_of(program: str, tables: Sequence[Table]) -> Calculated:
    """Return the value of a program; having no value, or one that is not finite, is also a fault."""
    value, fault = calculated(tokens_of(program), lines_of(tables))
    if not fault and value is None:
        fault = "it has no step"
    elif not fault and not isinstance(value, str) and not math.isfinite(value):
        fault = "the result is not a finite number"
    return Calculated(value, fault)


def as_text(steps: Iterable[Step]) -> str:
    """Return the steps as text."""
    return ", ".join(f"{operation}({first}, {second})" for operation, first, second in steps)


def steps_in(program: str) -> list[Step]:
    """Return the steps of a program in FinQA's notation."""
    return [parts_of(step) for step in steps_of(tokens_of(program)[:-1])]


def lines_of(tables: Sequence[Table]) -> list[Sequence[str]]:
    """Return the lines of tables, each with its header first and its numbers as `number_text` writes them."""
    lines = (line for table in tables for line in (table.header, *table.rows))
    return [(*line[:1], *(number_text(cell) or cell for cell in line[1:])) for line in lines]


def _row_name(name: str, tables: Sequence[Table]) -> str:
    """Return the name of a row as the table writes it. Raises `StepRejected` for an unknown name.

    If one table has several rows of this name, the last counts, as it does when the program runs; rows of the
    same name in several tables must be equal.
    """
    lines = lines_of(tables)
    for form in (str, lambda text: " ".join(text.lower().split())):
        matches = [line for line in lines if form(line[0]) == form(name)]
        if len(set(map(tuple, matches))) > 1 and len(tables) > 1:
            raise StepRejected(f"several rows are named {name!r:.80}", hint=_NUMBERS_HINT)
        if matches and re.search(r", |[()]", matches[-1][0]):
            raise StepRejected(f"the name {name!r:.80} has brackets or commas", hint=_NUMBERS_HINT)
        if matches:
            return matches[-1][0]
    raise StepRejected(f"no row of the table is named {name!r:.80}")


def _numbers(text: str) -> set[str]:
    """Return the numbers in a text, with and without their signs and commas."""
    signed = _NUMBER.findall(text.replace(",", ""))
    return {*signed, *(number.lstrip("-") for number in _NUMBER.findall(text))}

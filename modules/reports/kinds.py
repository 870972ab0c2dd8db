"""What the value of each step of a FinQA program is: a share, per cent, or another number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from chameleon.modules.reports.finqa_program import OVER_ROWS, tokens_of
from chameleon.modules.reports.program_writer import Tables, lines_of, number_text

Kind = Literal["share", "percent", "percentage", ""]

_HUNDRED = ("const_100", "100", "100.0")
_COUNT = re.compile(r"const_\d+|[1-9]|1[0-2]")


def kinds_of(program: str, tables: Tables) -> list[Kind]:
    """Of each step, what its value is.

    - "share": what a division of two figures of the report comes to, and the sum or difference of shares, or
      of a share and 1, and a share to some power;
    - "percent": the same made of figures with "%", without dividing by one: their sum, difference, average;
    - "percentage": a share that the program multiplies by a hundred itself;
    - "": any other number.
    """
    tokens = tokens_of(program)[:-1]
    kinds: list[Kind] = []
    for place in range(0, len(tokens), 4):
        operation, first, second = tokens[place].rstrip("("), *tokens[place + 1 : place + 3]
        if operation in OVER_ROWS:
            kinds.append("percent" if _is_percent(first, tables) else "")
            continue
        kinds.append(of_step(operation, (first, second), (_kind(first, kinds), _kind(second, kinds))))
    return kinds


def of_step(operation: str, given: tuple[str, str], kinds: tuple[Kind, Kind]) -> Kind:
    """What the value of a step is, from its arguments and what these are."""
    (first, second), (one, other) = given, kinds
    both = {kind for kind in kinds if kind}
    if operation == "divide":
        return _quotient(second, one, other)
    if operation == "multiply":
        by_hundred = (second in _HUNDRED and one) or (first in _HUNDRED and other)
        return "percentage" if by_hundred in ("share", "percent") else ""
    if operation in ("add", "subtract"):
        if one and other:
            return one if one == other else "share" if "percentage" not in both else ""
        if _is_zero(first) or _is_zero(second):
            return one or other
        return "share" if both & {"share", "percent"} and (_is_one(first) or _is_one(second)) else ""
    return "share" if operation == "exp" and one == "share" else ""


def _quotient(second: str, one: Kind, other: Kind) -> Kind:
    if one and other:
        return "share"
    if one:
        return one if _COUNT.fullmatch(second) else ""
    return "share" if not other and not second.startswith("const_") else ""


def _kind(argument: str, kinds: Sequence[Kind]) -> Kind:
    if argument.startswith("#"):
        return kinds[int(argument[1:])]
    return "percent" if argument.endswith("%") else ""


def _is_percent(name: str, tables: Tables) -> bool:
    """Whether all numbers of the row of that name say "%"."""
    found = [line[1:] for line in lines_of(tables) if line[0] == name]
    numbers = [number for cell in (found[-1] if found else ()) if (number := number_text(cell))]
    return bool(numbers) and all(number.endswith("%") for number in numbers)


def _is_one(argument: str) -> bool:
    return argument in ("1", "1.0", "const_1")


def _is_zero(argument: str) -> bool:
    return argument in ("0", "0.0", "const_0")

"""Give the value of a program as the question wants it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from chameleon import Module, State
from chameleon.modules.answer_generator import tidy
from chameleon.modules.reports.cells import number_text
from chameleon.modules.reports.facts import all_tables
from chameleon.modules.reports.program_writer import Tables, lines_of
from chameleon.table.calculation import OVER_ROWS, tokens_of
from chameleon.table.percent import asks_percent

Kind = Literal["share", "percent", "percentage", ""]

_POINTS = re.compile(r"(?:percent(?:age)?|%)[\s-]*points?", re.IGNORECASE)
_OTHER_POINTS = re.compile(r"\bpoints?\b", re.IGNORECASE)
_HUNDRED = ("const_100", "100", "100.0")
_COUNT = re.compile(r"const_\d+|[1-9]|1[0-2]")


class ReportAnswer(Module):
    """Gives the final answer: the program's value, in per cent where that is asked for. Always the last."""

    reads = (
        "input.question",
        "input.table?",
        "input.passages?",
        "cache.finqa_program",
        "cache.program_result",
    )
    writes = ("cache.answer",)

    def run(self, state: State) -> Any:
        cache, question = state.cache, state.input["question"]
        return as_asked(cache["program_result"], cache["finqa_program"], question, all_tables(state))

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"answer": output}


def as_asked(value: Any, program: str, question: str, tables: Tables = None) -> Any:
    """ "38.89%" for a share of 0.38889 where the question asks for per cent; else the number, "yes" or "no".

    What the program makes of figures that say "%" themselves, such as their average, is per cent whatever is
    asked. A question that only names some per cent ("if 5% are free, what is the price?") asks for none.
    """
    if isinstance(value, str):
        return value
    kind = _kinds(program, tables)[-1]
    asked = asks_percent(question)
    if kind == "percent" or (kind == "share" and asked):
        if _POINTS.search(question):
            return f"{100 * value:.2f} percentage points"
        return tidy(value) if _OTHER_POINTS.search(question) else _percent(100 * value)
    return _percent(value) if kind == "percentage" and asked else tidy(value)


def _kinds(program: str, tables: Tables) -> list[Kind]:
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
        kinds.append(_of_step(operation, (first, second), (_kind(first, kinds), _kind(second, kinds))))
    return kinds


def _of_step(operation: str, given: tuple[str, str], kinds: tuple[Kind, Kind]) -> Kind:
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


def _percent(value: float) -> str:
    """A percentage with two places; of one below a hundredth, two digits that matter."""
    return f"{value:.2f}%" if abs(value) >= 0.01 or not value else f"{value:.2g}%"

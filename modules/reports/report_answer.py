"""Format the value of a program as the question asks, such as in percent for a share or a change.

A value is one of four kinds:

- "share": the quotient of two figures of the report, a sum or difference of shares, or of a share and 1, and
  a power of a share;
- "percent": a result of figures with "%", not divided by each other: a sum, difference or average;
- "percentage": a share that the program itself multiplies by 100;
- "": any other number.
"""

import ast
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from chameleon import Module, State, Table
from chameleon.modules.program.answer_generator import tidy
from chameleon.modules.program.python_text import parsed
from chameleon.modules.reports.finqa_program import OVER_ROWS
from chameleon.modules.reports.program_text import lines_of, number_text, steps_in
from chameleon.modules.reports.report import Report

Kind = Literal["share", "percent", "percentage", ""]

_POINTS = re.compile(r"(?:percent(?:age)?|%)[\s-]*points?", re.IGNORECASE)
_CHANGE = re.compile(r"\b(?:change|increase|decrease|gr[eo]w|declin|differ|drop|r[io]se|f[ae]ll)", re.I)
_COUNTS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    "seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
)
_STATED = re.compile(
    rf"(?:(?!\b(?:19|20)\d\d\b)(?<![\d.,])[\d.,]*\d|\b(?:{_COUNTS})\b)[\s-]*"
    r"(?:percent|per cent|%)\w*(?:[\s-]*points?)?",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"percent|per cent|%", re.IGNORECASE)
_SHARE = re.compile(
    r"\b(?:growth rates?|rates? of (?:growth|change|increase|decrease|decline)|(?:portion|proportion) of|"
    r"what share of)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(r"const_\d+|[1-9]|1[0-2]")
_DIVISORS = ("2", "3", "4", "5", "10", "12", "100", "1000", "1000000")
"""Divisors that a Python program uses for an average or a unit, not for a share."""
_PYTHON = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "exp"}


class ReportAnswer(Module):
    """Gives the final answer: the program's value, in per cent where that is asked for. Always the last.

    The program is one of FinQA's language, or else of Python.
    """

    reads = (
        "input.question, input.table?, input.passages?, "
        "cache.finqa_program?, cache.program?, cache.program_result"
    )
    writes = ("cache.answer",)

    def run(self, state: State) -> Any:
        """Return the value in the form that the question asks for: "38.89%", the number, "yes" or "no".

        A result of figures with "%", such as their average, is always in percent; their difference is in
        percentage points if the question asks for a change. A portion and a rate of growth are in percent as
        well. A question that merely mentions a percentage ("if 5% are free, how much …?") does not ask for
        one.
        """
        value, question = state.cache["program_result"], state.input["question"]
        if isinstance(value, str):
            return value
        program = state.cache.get("finqa_program")
        if program is None:
            kind = _Names().kind(state.cache.get("program", ""))
        else:
            kind = _finqa_kind(program, Report.of(state).every_table)
        is_asked = asks_percent(question) or asks_share(question)
        if kind == "percent" or (kind == "share" and is_asked):
            is_moved = kind == "percent" and _CHANGE.search(question)
            is_difference = str(program).rpartition("), ")[2].startswith("subtract")
            if is_difference and (is_moved or _POINTS.search(question)):
                return f"{100 * value:.2f} percentage points"
            return _percent(100 * value)
        return _percent(value) if kind == "percentage" and is_asked else tidy(value)


def _percent(value: float) -> str:
    """Return a percentage with two places, or with two significant digits if it is below 0.01."""
    return f"{value:.2f}%" if abs(value) >= 0.01 or not value else f"{value:.2g}%"


def asks_percent(question: str) -> bool:
    """Return whether it asks for a percentage: "5% of the units" does not, "2010 percent of sales" does."""
    return bool(_PERCENT.search(_STATED.sub(" ", question)))


def asks_share(question: str) -> bool:
    """Return whether it asks for a portion or a rate of growth, which are percentages by convention."""
    return bool(_SHARE.search(question))


class _Figure(NamedTuple):
    """The text of a number ("#" for a computed value), and its kind."""

    text: str
    kind: Kind = ""

    def is_number(self, number: int) -> bool:
        return self.text in (f"{number}", f"{number}.0", f"const_{number}")

    def combined(self, operation: str, second: "_Figure") -> "_Figure":
        """Return the result of an operation on this value and a second one."""
        one, other = self.kind, second.kind
        either = one or other
        kind: Kind = ""
        if operation == "divide" and one:
            kind = "share" if other else one if _COUNT.fullmatch(second.text) else ""  # (2% + 4%) / 2
        elif operation == "divide":
            kind = "" if other or second.text.startswith("const_") else "share"  # 7 / 20, not 7 / const_1000
        elif operation == "multiply":
            by_hundred = (second.is_number(100) and one) or (self.is_number(100) and other)
            kind = "percentage" if by_hundred in ("share", "percent") else ""
        elif operation in ("add", "subtract") and one and other:
            kind = one if one == other else "share" if "percentage" not in (one, other) else ""
        elif operation in ("add", "subtract") and (self.is_number(0) or second.is_number(0)):
            kind = either
        elif operation in ("add", "subtract") and (self.is_number(1) or second.is_number(1)):
            kind = "share" if either in ("share", "percent") else ""  # 1 + growth, 1 - share
        elif operation == "exp" and one == "share":  # compound growth
            kind = "share"
        return _Figure("#", kind)


def _finqa_kind(program: str, tables: Sequence[Table]) -> Kind:
    """Return the kind of the value of a program in FinQA's language."""
    values = list[_Figure]()
    for operation, *arguments in steps_in(program):
        if operation in OVER_ROWS:
            rows = [line[1:] for line in lines_of(tables) if line[0] == arguments[0]]
            numbers = [number for cell in (rows[-1] if rows else ()) if (number := number_text(cell))]
            is_percent = bool(numbers) and all(number.endswith("%") for number in numbers)
            values.append(_Figure("#", "percent" if is_percent else ""))
        else:
            first, second = (
                values[int(text[1:])] if text[0] == "#" else _Figure(text, "percent" if "%" in text else "")
                for text in arguments
            )
            values.append(first.combined(operation, second))
    return values[-1].kind


class _Names(dict[str, _Figure]):
    """The values of the names in a Python program."""

    def kind(self, program: str) -> Kind:
        """Return the kind of `ans`; "" if it is not computed by plain arithmetic over names."""
        try:
            for line in parsed(program).body:
                match line:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value):
                        self[name] = self.value(value)
                    case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                        figures = [self.value(value) for value in values]  # a, b = 1, 2
                        self.update(zip(map(ast.unparse, names), figures, strict=False))
                    case ast.Expr() | ast.Import() | ast.ImportFrom() | ast.Assign():
                        pass
                    case _:
                        return ""
        except RecursionError:
            return ""
        return self.get("ans", _Figure("")).kind

    def value(self, node: ast.expr) -> _Figure:
        """Return the value of an expression. Rounding keeps its kind; a length is not a share of anything."""
        match node:
            case ast.Constant(value=int() | float()):
                return _Figure(repr(node.value))
            case ast.Name():
                return self.get(node.id, _Figure("const_0"))
            case (
                ast.UnaryOp(operand=inner)
                | ast.Call(func=ast.Name(id="round" | "float" | "abs"), args=[inner, *_])
            ):
                return self.value(inner)
            case ast.Call(func=function):
                return _Figure("#" if isinstance(function, ast.Name) and function.id == "sum" else "const_1")
            case ast.BinOp() if operation := _PYTHON.get(type(node.op)):
                left, right = self.value(node.left), self.value(node.right)
                if operation == "divide" and right.text in _DIVISORS:
                    right = _Figure(f"const_{right.text}")
                return left.combined(operation, right)
        return _Figure("#")

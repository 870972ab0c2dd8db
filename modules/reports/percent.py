"""Whether a question asks for per cent, and whether the value of a program is a share or per cent.

The kind of a value is one of four:

- "share": what a division of two figures of the report comes to, and the sum or difference of shares, or of a
  share and 1, and a share to some power;
- "percent": the same made of figures with "%", without dividing by one: their sum, difference, average;
- "percentage": a share that the program multiplies by a hundred itself;
- "": any other number.
"""

from __future__ import annotations

import ast
import re
from typing import Literal, NamedTuple

from chameleon.modules.reports.finqa_program import OVER_ROWS, tokens_of
from chameleon.modules.reports.program_writer import Tables, lines_of, number_text

Kind = Literal["share", "percent", "percentage", ""]

_COUNTS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    "seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
)
_STATED = re.compile(
    rf"(?:(?!\b(?:19|20)\d\d\b)(?<![\d.,])[\d.,]*\d|\b(?:{_COUNTS})\b)[\s-]*"
    r"(?:percent|per cent|%)\w*(?:[\s-]*points?)?",
    re.IGNORECASE,
)
_ASKED = re.compile(r"percent|per cent|%", re.IGNORECASE)
_SHARE = re.compile(
    r"\b(?:growth rates?|rates? of (?:growth|change|increase|decrease|decline)|(?:portion|proportion) of|"
    r"what share of)\b",
    re.IGNORECASE,
)
_HUNDREDS = ("const_100", "100", "100.0")
_ONES, _ZEROS = ("1", "1.0", "const_1"), ("0", "0.0", "const_0")
_COUNT = re.compile(r"const_\d+|[1-9]|1[0-2]")
_DIVISORS = ("2", "3", "4", "5", "10", "12", "100", "1000", "1000000")
"""Numbers by which a Python program divides for an average or another unit, and not for a share."""
_PYTHON = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "exp"}
_DEEPEST = 50


def asks_percent(question: str) -> bool:
    """Return whether it speaks of per cent other than by a number of them: "5% of the units" asks for none.

    "2010 percent of sales" does: it is a year.
    """
    return bool(_ASKED.search(_STATED.sub(" ", question)))


def asks_share(question: str) -> bool:
    """Return whether it asks for a portion or a rate of growth, told in per cent without the word."""
    return bool(_SHARE.search(question))


class _Value(NamedTuple):
    """The text of a number, "#" for a value that is worked out, and its kind."""

    text: str
    kind: Kind = ""


def kind_of_finqa(program: str, tables: Tables) -> Kind:
    """Return what the value of a program of FinQA's language is."""
    tokens = tokens_of(program)[:-1]
    values = list[_Value]()

    def argument(text: str) -> _Value:
        if text.startswith("#"):
            return values[int(text[1:])]
        return _Value(text, "percent" if text.endswith("%") else "")

    for place in range(0, len(tokens), 4):
        operation, first, second = tokens[place].rstrip("("), *tokens[place + 1 : place + 3]
        if operation in OVER_ROWS:
            rows = [line[1:] for line in lines_of(tables) if line[0] == first]
            numbers = [number for cell in (rows[-1] if rows else ()) if (number := number_text(cell))]
            is_percent = bool(numbers) and all(number.endswith("%") for number in numbers)
            values.append(_Value("#", "percent" if is_percent else ""))
        else:
            values.append(_Value("#", _combined(operation, argument(first), argument(second))))
    return values[-1].kind


def kind_of_python(program: str) -> Kind:
    """Return what `ans` of a Python program is; "" where it is not given by plain arithmetic over names."""
    known = dict[str, _Value]()
    for line in parsed(program).body:
        if isinstance(line, ast.Assign) and len(line.targets) == 1:
            targets, values = line.targets, [line.value]
            if isinstance(targets[0], ast.Tuple) and isinstance(line.value, ast.Tuple):
                targets, values = targets[0].elts, line.value.elts  # a, b = 1, 2
            found = [_python_value(value, known) for value in values]
            pairs = zip(targets, found, strict=False)
            known |= {name.id: value for name, value in pairs if isinstance(name, ast.Name)}
        elif not isinstance(line, ast.Expr | ast.Import | ast.ImportFrom | ast.Assign):
            return ""
    return known.get("ans", _Value("")).kind


def parsed(program: str) -> ast.Module:
    """Return a Python program as a tree; an empty one where it is none."""
    try:
        return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _python_value(node: ast.expr, known: dict[str, _Value], depth: int = 0) -> _Value:
    """Return the kind of an expression. A rounded value keeps its kind; a length is no part of a whole."""
    if depth > _DEEPEST:
        return _Value("#")
    match node:
        case ast.Constant(value=int() | float()):
            return _Value(repr(node.value))
        case ast.Name():
            return known.get(node.id, _Value("const_0"))
        case ast.UnaryOp():
            return _python_value(node.operand, known, depth + 1)
        case ast.Call(func=ast.Name(id="round" | "float" | "abs"), args=[first, *_]):
            return _python_value(first, known, depth + 1)
        case ast.Call():
            is_sum = isinstance(node.func, ast.Name) and node.func.id == "sum"
            return _Value("#" if is_sum else "const_1")
        case ast.BinOp() if operation := _PYTHON.get(type(node.op)):
            left, right = (_python_value(each, known, depth + 1) for each in (node.left, node.right))
            if operation == "divide" and right.text in _DIVISORS:
                right = _Value(f"const_{right.text}")
            return _Value("#", _combined(operation, left, right))
    return _Value("#")


def _combined(operation: str, first: _Value, second: _Value) -> Kind:
    """Return the kind of what an operation makes of two values."""
    one, other = first.kind, second.kind
    both = {one, other} - {""}
    if operation == "divide":
        if one and other:
            return "share"
        if one:
            return one if _COUNT.fullmatch(second.text) else ""
        return "share" if not other and not second.text.startswith("const_") else ""
    if operation == "multiply":
        by_hundred = (second.text in _HUNDREDS and one) or (first.text in _HUNDREDS and other)
        return "percentage" if by_hundred in ("share", "percent") else ""
    if operation in ("add", "subtract"):
        if one and other:
            return one if one == other else "share" if "percentage" not in both else ""
        if first.text in _ZEROS or second.text in _ZEROS:
            return one or other
        is_plus_one = first.text in _ONES or second.text in _ONES
        return "share" if both & {"share", "percent"} and is_plus_one else ""
    return "share" if operation == "exp" and one == "share" else ""

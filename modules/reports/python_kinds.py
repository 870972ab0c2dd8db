"""What the answer of a Python program about a report is: a share, a percentage, or another number."""

from __future__ import annotations

import ast
from typing import NamedTuple

from chameleon.modules.reports.kinds import Kind, of_step

_OPERATIONS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "exp"}
_MOST_DEPTH = 50
_ROUNDS = ("round", "float", "abs")


class _Value(NamedTuple):
    """The text of a number, "#" for a value that is worked out, and its kind."""

    text: str
    kind: Kind = ""


def kind_of(program: str) -> Kind:
    """The kind of `ans`, as of FinQA's programs; "" where it is not given by plain arithmetic over names."""
    try:
        body = ast.parse(program).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    known: dict[str, _Value] = {}
    for line in body:
        if isinstance(line, ast.Assign) and len(line.targets) == 1:
            known |= _assigned(line.targets[0], line.value, known)
        elif not isinstance(line, ast.Expr | ast.Import | ast.ImportFrom | ast.Assign):
            return ""
    return known.get("ans", _Value("")).kind


def numbers_in(program: str) -> list[str]:
    """The numbers that a program has, as texts."""
    try:
        found = [node.value for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Constant)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [repr(each) for each in found if isinstance(each, int | float) and not isinstance(each, bool)]


def _assigned(target: ast.expr, value: ast.expr, known: dict[str, _Value]) -> dict[str, _Value]:
    """The names that a line gives values to: "a = 1", and "a, b = 1, 2"."""
    if isinstance(target, ast.Name):
        return {target.id: _value(value, known, 0)}
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        return {}
    pairs = zip(target.elts, value.elts, strict=False)
    return {name.id: _value(each, known, 0) for name, each in pairs if isinstance(name, ast.Name)}


def _value(node: ast.expr, known: dict[str, _Value], depth: int) -> _Value:
    if depth > _MOST_DEPTH:
        return _Value("#")
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return _Value(repr(node.value))
    if isinstance(node, ast.Name):
        return known.get(node.id, _Value("const_0"))
    if isinstance(node, ast.UnaryOp):
        return _value(node.operand, known, depth + 1)
    if isinstance(node, ast.Call):
        return _call(node, known, depth)
    if not isinstance(node, ast.BinOp) or (operation := _OPERATIONS.get(type(node.op))) is None:
        return _Value("#")
    first, second = _value(node.left, known, depth + 1), _value(node.right, known, depth + 1)
    if operation == "divide" and second.text in ("2", "3", "4", "5", "10", "12", "100", "1000", "1000000"):
        second = _Value(f"const_{second.text}")
    return _Value("#", of_step(operation, (first.text, second.text), (first.kind, second.kind)))


def _call(node: ast.Call, known: dict[str, _Value], depth: int) -> _Value:
    """A rounded value keeps its kind; a length, and what else is called, is a count: no part of a whole."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in _ROUNDS and node.args:
        return _value(node.args[0], known, depth + 1)
    return _Value("#" if name == "sum" else "const_1")

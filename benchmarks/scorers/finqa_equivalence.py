"""Whether two FinQA programs are equivalent: program accuracy (Chen et al., 2021).

Source: the repository czyssrs/FinQA, `code/evaluate/evaluate.py`. The docstrings call some parts of the
metric oddities: its figures depend on them. The original has sympy read expressions as text, which runs them
as Python; here they are built of symbols.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chameleon.errors import InputError, require
from chameleon.modules.reports.finqa_program import ARITHMETIC, parts_of, steps_of, structure_fault

_MAX_OPERATIONS = 256
"""The most operations in an expression; gold programs have fewer than 20."""
_FAILURES = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_COMPUTE: Mapping[str, Callable[[Any, Any], Any]] = {**ARITHMETIC, "greater": operator.gt}

Expression = int | tuple[str, Any, Any]
"""The number of a symbol, or an operation with its two arguments."""


def equivalent(gold: Sequence[Any], predicted: Sequence[Any]) -> bool:
    """Return whether two programs, as tokens with their end, are the same expression of the gold arguments.

    The gold arguments become symbols, and the last steps are compared as simplified expressions: the order of
    factors and unused steps do not matter. Raises `MissingPackage` if sympy is needed and missing,
    `InputError` for an invalid gold program.

    Oddities of the metric: an argument that is not literally in the gold program makes any program wrong ("5"
    for "5.0", "100" for "const_100"); a step over a table must be written as in the gold program, and must
    come first if it does there, but not elsewhere.

    Different from the original: an expression of more than 256 operations is wrong unless it is written like
    the gold one, since simplifying it may never finish.
    """
    try:
        symbols, gold_steps = _symbols(gold)
        target = _expression(gold_steps, symbols)
    except _FAILURES:
        raise InputError(f"the gold program cannot be read: {' '.join(map(str, gold))!r:.200}") from None
    try:
        steps, operations = _steps_and_size(predicted, symbols)
        if operations > _MAX_OPERATIONS:
            return list(predicted[:-1]) == list(gold[:-1])
        expression = _expression(steps, symbols)
    except _FAILURES:
        return False
    if expression == target:
        return True
    count = len(symbols)
    return not _differ(target, expression, count) and _equal_when_simplified(target, expression, count)


def _symbols(tokens: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """Return a symbol for each argument of the gold program, and for each of its steps over tables."""
    steps = steps_of(tokens[:-1])
    symbols: dict[str, int] = {}
    for step in steps:
        operation, *arguments = parts_of(step)
        names = [step] if "table" in operation else [each for each in arguments if "#" not in each]
        for name in names:
            symbols.setdefault(name, len(symbols))
    return symbols, steps


def _steps_and_size(tokens: Sequence[str], symbols: Mapping[str, int]) -> tuple[list[str], int]:
    """Return the steps of a program, and the number of operations in the last one, written out.

    Raises ValueError or LookupError for a program with arguments that the gold one lacks.
    """
    body = list(tokens[:-1])
    if structure_fault(body):
        raise ValueError(body)
    steps, sizes = steps_of(body), list[int]()
    for step in steps:
        if step.count("(") > 1:
            raise ValueError(step)
        operation, *arguments = parts_of(step)
        if "table" in operation:
            arguments = [step]
        size = 1
        for argument in arguments:
            if "#" in argument and "table" not in operation:
                size += sizes[int(argument.strip("#"))]
            elif argument not in symbols:
                raise ValueError(argument)
        sizes.append(size)
    return steps, sizes[-1]


def _expression(steps: Sequence[str], symbols: Mapping[str, int]) -> Expression:
    """Return the expression of the last step."""

    def of(step: str) -> Expression:
        operation, first, second = parts_of(step)
        if "table" in operation:
            return symbols[step]
        if operation not in _COMPUTE:
            raise LookupError(operation)
        return operation, side(first), side(second)

    def side(argument: str) -> Expression:
        if "#" not in argument:
            return symbols[argument]
        number = int(argument.replace("#", ""))
        if number < 0:
            raise LookupError(argument)
        return of(steps[number])

    return of(steps[-1])


def _differ(gold: Expression, predicted: Expression, symbols: int) -> bool:
    """Return whether two expressions certainly differ, by trying numbers: sympy may never finish."""
    if _compares(gold) or _compares(predicted):
        return _compares(gold) != _compares(predicted) or _is_comparison(gold) != _is_comparison(predicted)
    for shift in (0.0, 0.31, 0.77):
        # Each symbol becomes a number between 1.1 and 2; the golden ratio keeps them apart.
        numbers = [1.1 + (0.6180339887 * number + shift) % 0.9 for number in range(1, symbols + 1)]
        try:
            gold_value = _computed(gold, numbers)
        except (ArithmeticError, TypeError):
            return False
        try:
            value = _computed(predicted, numbers)
        except (ArithmeticError, TypeError):
            return True
        if not math.isclose(gold_value.real, value.real, rel_tol=1e-6, abs_tol=1e-9):
            return True
    return False


def _computed(expression: Expression, symbols: Sequence[Any]) -> Any:
    """Compute an expression with these values for its symbols."""
    if isinstance(expression, int):
        return symbols[expression]
    return _COMPUTE[expression[0]](_computed(expression[1], symbols), _computed(expression[2], symbols))


def _is_comparison(expression: Expression) -> bool:
    return not isinstance(expression, int) and expression[0] == "greater"


def _compares(expression: Expression) -> bool:
    """Return whether the expression contains a comparison."""
    if isinstance(expression, int):
        return False
    return _is_comparison(expression) or _compares(expression[1]) or _compares(expression[2])


def check_packages() -> None:
    """Raise `MissingPackage` if sympy is missing, without loading it, which is slow."""
    require("sympy", "comparing FinQA programs needs", "programs")


def _equal_when_simplified(gold: Expression, predicted: Expression, symbols: int) -> bool:
    check_packages()
    import sympy

    terms = [sympy.Symbol(f"a{number}") for number in range(symbols)]
    try:
        return bool(sympy.simplify(_computed(gold, terms)) == sympy.simplify(_computed(predicted, terms)))
    except (*_FAILURES, ArithmeticError):
        return False

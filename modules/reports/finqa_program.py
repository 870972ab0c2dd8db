"""Run programs of arithmetic over numbers and rows of a table, in the language of FinQA (Chen et al., 2021).

A program is a list of steps, each an operation with two arguments; its value is the value of the last step:
"subtract(5829, 5735), divide(#0, 5735)" or "table_average(net sales, none)". Arguments are numbers (a
percentage is divided by 100), constants such as `const_100` (`const_m1` is -1), and `#0`, `#1`, … for the
values of earlier steps; the table operations take the name of a row, which is its first cell.

Nothing here is evaluated as code. Programs are accepted and rejected exactly as in the official evaluator
(repository czyssrs/FinQA, `code/evaluate/evaluate.py`), because the published figures depend on it.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

END = "EOF"
"""The token that ends a program; the last token is never read, whatever it is."""
PLACES = 5
"""The decimal places of the value of a program."""

ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "exp": operator.pow,
    "greater": lambda first, second: "yes" if first > second else "no",
}
OVER_ROWS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "table_max": max,
    "table_min": min,
    "table_sum": sum,
    "table_average": lambda numbers: sum(numbers) / len(numbers),
}
OPERATIONS = (*ARITHMETIC, *OVER_ROWS)
_TOKEN = re.compile(r"[^()]*\(|\)|[^()]+")


class Calculated(NamedTuple):
    """The value of a program: a number to five places, "yes" or "no"; None if no step has a value.

    `fault` says why a program is invalid, or is ""; the value is then that of the last valid step.
    """

    value: Any
    fault: str = ""


class _Invalid(Exception):
    """The reason why a program is invalid."""


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a program: split at ", ", then after "(" and around ")", with an end token."""
    return [*(token for part in text.split(", ") for token in _TOKEN.findall(part)), END]


def structure_fault(tokens: Sequence[str]) -> str:
    """Return why tokens (without the end) are not steps of four: operation, two arguments, ")"; else ""."""
    for place, token in enumerate(tokens):
        if place % 4 == 0 and token.strip("(") not in OPERATIONS:
            return f"{token.strip('(')!r:.60} is not an operation"
        if place % 4 == 3 and token != ")":  # noqa: S105 - no password
            return f"step {place // 4} does not end after two arguments"
    return ""


def steps_of(tokens: Sequence[str]) -> list[str]:
    """Return the steps as texts, split from the tokens (without the end) joined by "|".

    Each step but the first begins with "|"; an argument with a parenthesis is split as well.
    """
    return [step.strip() for step in "|".join(tokens).split(")")[:-1]]


def parts_of(step: str) -> tuple[str, str, str]:
    """Return the operation and the arguments of a step. Raises IndexError if any is missing."""
    cut = step.split("(")
    arguments = cut[1].strip("|").strip().split("|")
    return cut[0].strip("|").strip(), arguments[0].strip(), arguments[1].strip()


def calculated(tokens: Sequence[Any], lines: Sequence[Sequence[str]]) -> Calculated:
    """Return the value of a program.

    Never raises: any error, such as a division by zero, is a `fault`. Quirks of the official evaluator: texts
    are compared and joined like numbers ("yes" is greater than "no"); a table operation on "#0" reuses the
    row of the previous one; the last of several rows with the same name counts, and the header is a row.

    Args:
        tokens: the tokens of the program, with the end.
        lines: the lines of the table, header first.
    """
    body = list(tokens[:-1])
    if not all(isinstance(token, str) for token in body):
        return Calculated(None, "a token is not a text")
    if fault := structure_fault(body):
        return Calculated(None, fault)
    value: Any = None
    try:
        for value in _step_values(body, lines):  # noqa: B007 - the last value counts
            pass
        if value is not None and _rounded(value) is None:
            raise TypeError
    except _Invalid as problem:
        fault = str(problem)
    except ZeroDivisionError:
        fault = "it divides by zero"
    except OverflowError:
        fault = "a number becomes too large"
    except TypeError:
        fault = "it calculates with a value that is not a number"
    except (ValueError, LookupError, ArithmeticError):
        fault = "a step is not an operation with two arguments"
    return Calculated(_rounded(value), fault)


def _step_values(tokens: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[Any]:
    """Yield the value of each step."""
    row: list[float] | None = None  # the last one used
    values: dict[int, Any] = {}
    for number, step in enumerate(steps_of(tokens)):
        if step.count("(") > 1:
            raise _Invalid(f"step {number} has a parenthesis in an argument")
        operation, first, second = parts_of(step)
        if operation in ARITHMETIC:
            operands = [
                _earlier(each, values) if "#" in each else _number(each, f"{each!r:.80} is not a number")
                for each in (first, second)
            ]
            values[number] = ARITHMETIC[operation](*operands)
        elif operation in OVER_ROWS:
            if "#" in first:
                _earlier(first, values)
            else:
                row = _row_numbers(first, lines)
            if row is None:
                raise _Invalid("an operation on tables needs the name of a row")
            values[number] = OVER_ROWS[operation](row)
        else:  # such as "(add", which the evaluator skips
            continue
        yield values[number]


def _rounded(value: Any) -> Any:
    """Return a number to five places, "yes" or "no"; None for anything else, such as a complex number."""
    if isinstance(value, int | float):
        return round(value, PLACES)
    return value if value in ("yes", "no") else None


def number_in(text: str) -> float | None:
    """Return an argument or a cell as a number, or None. Raises ValueError for "const_x"."""
    plain = text.replace(",", "")
    with suppress(ValueError):
        return float(plain.replace("%", "")) / 100.0 if "%" in plain else float(plain)
    if "const" in plain and "%" not in plain:
        name = plain.replace("const_", "")
        return -1.0 if name == "m1" else float(name)
    return None


def _row_numbers(name: str, lines: Sequence[Sequence[str]]) -> list[float]:
    """Return the numbers in the cells of a row, without "$", up to a parenthesis. Raises `_Invalid`."""
    rows = {line[0]: line[1:] for line in lines}
    if name not in rows:
        raise _Invalid(f"no row of the table is named {name!r:.80}")
    cells = (cell.replace("$", "").strip().split("(")[0].strip() for cell in rows[name])
    return [_number(cell, f"the row {name!r:.80} has a cell that is not a number") for cell in cells]


def _number(text: str, fault: str) -> float:
    with suppress(ValueError):
        if (number := number_in(text)) is not None:
            return number
    raise _Invalid(fault)


def _earlier(argument: str, values: Mapping[int, Any]) -> Any:
    try:
        return values[int(argument.replace("#", ""))]
    except (KeyError, ValueError):
        raise _Invalid(f"{argument!r:.60} is not an earlier step") from None

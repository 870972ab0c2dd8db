"""A program's steps as FinQA writes them, with the numbers and rows of the report that they are about."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import reduce

from chameleon import StepRejected, Table
from chameleon.modules.reports.finqa_program import OVER_ROWS, Calculated, calculated, number_in, tokens_of
from chameleon.modules.reports.program_reader import Step, number_text

_CONSTANTS = frozenset([*map(str, range(1, 11)), *(str(10**power) for power in (2, 3, 4, 5, 6, 7, 9))])
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NOTE = re.compile(r"(?:(?<!\s)\s+)?\([^()]*\)")


def written(steps: Sequence[Step], tables: Sequence[Table], texts: Iterable[str]) -> str:
    """Return the program, which comes to a value over these tables. Raises `StepRejected` where none does.

    - A number that is neither in a table nor in `texts`, such as 100, is a constant: `const_100`, as
      annotators write it.
    - A row is found by its name in any case, also without its notes in brackets.
    - An operation on a row that the language cannot read, because of brackets or commas in its name or its
      cells, or blank cells, becomes arithmetic with the numbers that it has; "(745)" is -745.
    """
    lines = lines_of(tables)
    said = [*texts, *(cell for line in lines for cell in line)]
    known = {number for text in said for number in _numbers(text)}
    done, values = list[Step](), list[str]()  # what stands for the value of each given step

    def argument(given: str) -> str:
        if given.startswith("#"):
            return values[int(given[1:])]
        if given == "-1" and "-1" not in known:
            return "const_m1"
        return f"const_{given}" if given in _CONSTANTS and given not in known else given

    def add(operation: str, first: str, second: str) -> str:
        done.append((operation, first, second))
        return f"#{len(done) - 1}"

    def over_row(operation: str, row: Sequence[str]) -> str:
        step = (operation, row[0], "none")
        if ", " not in row[0] and not calculated(tokens_of(as_text([step])), lines).fault:
            return add(*step)
        numbers = [number for cell in row[1:] if (number := number_text(cell)) is not None]
        if not numbers:
            raise StepRejected(f"the row {row[0]!r:.80} has no numbers")
        if operation in ("table_max", "table_min"):
            chosen = max if operation == "table_max" else min
            return chosen(numbers, key=lambda number: number_in(number) or 0.0)
        total = reduce(lambda total, number: add("add", total, number), numbers)
        count = str(len(numbers))
        count = f"const_{count}" if count in _CONSTANTS else count
        return add("divide", total, count) if operation == "table_average" else total

    for operation, first, second in steps:
        if operation in OVER_ROWS:
            values.append(over_row(operation, _row(first, tables)))
        else:
            values.append(add(operation, argument(first), argument(second)))
    if values and not values[-1].startswith("#"):  # a number of a row that the language cannot read
        add("add", values[-1], "0")
    program = as_text(done)
    _, fault = value_of(program, tables)
    if fault:
        raise StepRejected(f"the program does not work: {fault}")
    return program


def value_of(program: str, tables: Sequence[Table]) -> Calculated:
    """Return the program's value; it is also a fault to come to none, or to none that is finite."""
    value, fault = calculated(tokens_of(program), lines_of(tables))
    if not fault and value is None:
        fault = "it has no step"
    elif not fault and not isinstance(value, str) and not math.isfinite(value):
        fault = "it comes to no finite number"
    return Calculated(value, fault)


def as_text(steps: Iterable[Step]) -> str:
    """Return the steps as text."""
    return ", ".join(f"{operation}({first}, {second})" for operation, first, second in steps)


def lines_of(tables: Sequence[Table]) -> list[Sequence[str]]:
    """Return the lines of tables one after the other, each with its header first."""
    return [line for table in tables for line in (table.header, *table.rows)]


def _row(name: str, tables: Sequence[Table]) -> Sequence[str]:
    """Return the row of that name. Raises `StepRejected` for none, and for several that are not the same.

    Of rows with the same name in one table the last counts, as it does where programs are run.
    """
    lines = lines_of(tables)
    for form in (str, _folded, lambda text: _folded(_NOTE.sub("", text))):
        found = [line for line in lines if form(line[0]) == form(name)]
        if len(set(map(tuple, found))) > 1 and (len(tables) > 1 or form not in (str, _folded)):
            raise StepRejected(
                f"several rows are named {name!r:.80}", hint="Write the numbers of the one that is meant."
            )
        if found:
            return found[-1]
    raise StepRejected(f"no row of the table is named {name!r:.80}")


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _numbers(text: str) -> set[str]:
    """Return the numbers in a text, with and without their signs and commas."""
    signed = _NUMBER.findall(text.replace(",", ""))
    return {*signed, *(number.lstrip("-") for number in _NUMBER.findall(text))}

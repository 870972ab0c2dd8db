"""A program's steps as FinQA writes them, with the numbers and rows of the report that they are about."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from chameleon import StepRejected, Table
from chameleon.modules.reports.cells import number_text
from chameleon.modules.reports.finqa_program import OVER_ROWS, Calculated, calculated, number_in, tokens_of
from chameleon.modules.reports.program_reader import Step

Tables = Table | Sequence[Table] | None
"""The table that a program is about, or several."""

_CONSTANTS = frozenset([*map(str, range(1, 11)), *(str(10**power) for power in (2, 3, 4, 5, 6, 7, 9))])
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NOTE = re.compile(r"(?:(?<!\s)\s+)?\([^()]*\)")


def written(steps: Sequence[Step], table: Tables, texts: Iterable[str]) -> str:
    """The program, which comes to a value over these tables. Raises `StepRejected` saying why it does not.

    - A number that is neither in the table nor in `texts`, such as 100, is a constant: `const_100`, as
      annotators write it.
    - A row is found by its name in any case, also without its notes in brackets.
    - An operation on a row that the language cannot read, because of brackets in its name or its cells, or
      blank cells, becomes arithmetic with the numbers that it has; "(745)" is -745.
    """
    known = {number for text in [*texts, *_cells(table)] for number in _numbers(text)}
    done: list[Step] = []
    moved: dict[int, str] = {}
    for number, step in enumerate(steps):
        operation, *arguments = step
        if operation in OVER_ROWS:
            moved[number] = _over_row(operation, arguments[0], table, done)
            continue
        first, second = (_argument(each, known, moved) for each in arguments)
        done.append((operation, first, second))
        moved[number] = f"#{len(done) - 1}"
    last = moved.get(len(steps) - 1, "")
    if not last.startswith("#"):  # the largest or smallest number of a row that the language cannot read
        done.append(("add", last, "0"))
    program = as_text(done)
    _, fault = value_of(program, table)
    if fault:
        raise StepRejected(f"the program does not work: {fault}")
    return program


def value_of(program: str, table: Tables) -> Calculated:
    """The program's value; it is also a fault to come to none, or to none that is finite."""
    value, fault = calculated(tokens_of(program), lines_of(table))
    if not fault and value is None:
        fault = "it has no step"
    elif not fault and not isinstance(value, str) and not math.isfinite(value):
        fault = "it comes to no finite number"
    return Calculated(value, fault)


def as_text(steps: Iterable[Step]) -> str:
    """The steps as text."""
    return ", ".join(f"{operation}({first}, {second})" for operation, first, second in steps)


def lines_of(table: Tables) -> list[Sequence[str]]:
    """The lines of a table, its header first, or those of several one after the other; none without any."""
    return [line for each in _all(table) for line in (each.header, *each.rows)]


def _all(table: Tables) -> Sequence[Table]:
    return [table] if isinstance(table, Table) else table or ()


def row_numbers(cells: Iterable[str]) -> list[str]:
    """The numbers of a row's cells as programs write them, without those of cells that hold none."""
    return [number for cell in cells if (number := number_text(cell)) is not None]


def _argument(argument: str, known: set[str], moved: dict[int, str]) -> str:
    if argument.startswith("#"):
        return moved[int(argument[1:])]
    if argument == "-1" and "-1" not in known:
        return "const_m1"
    return f"const_{argument}" if argument in _CONSTANTS and argument not in known else argument


def _over_row(operation: str, name: str, table: Tables, done: list[Step]) -> str:
    """Add the step over a row, or what stands for it; the argument by which later steps name its value."""
    row = _row(name, table)
    step = (operation, row[0], "none")
    tokens = tokens_of(as_text([step]))
    # A comma and a space cut a name in two in the text of a program.
    if ", " not in row[0] and not calculated(tokens, lines_of(table)).fault:
        done.append(step)
        return f"#{len(done) - 1}"
    numbers = row_numbers(row[1:])
    if not numbers:
        raise StepRejected(f"the row {row[0]!r:.80} has no numbers")
    if operation in ("table_max", "table_min"):
        chosen = max if operation == "table_max" else min
        return chosen(numbers, key=lambda number: number_in(number) or 0.0)
    total = numbers[0]
    for number in numbers[1:]:
        done.append(("add", total, number))
        total = f"#{len(done) - 1}"
    if operation == "table_average" and len(numbers) > 1:
        count = str(len(numbers))
        done.append(("divide", total, f"const_{count}" if count in _CONSTANTS else count))
        total = f"#{len(done) - 1}"
    return total


def _row(name: str, table: Tables) -> Sequence[str]:
    """The row of that name. Raises `StepRejected` for none, and for several that are not the same.

    Of rows with the same name in one table the last counts, as it does where programs are run.
    """
    lines = lines_of(table)
    several = len(_all(table)) > 1
    for form in (str, _folded, _without_notes):
        found = [line for line in lines if form(line[0]) == form(name)]
        if several and len(set(map(tuple, found))) > 1:
            raise StepRejected(
                f"several rows are named {name!r:.80}", hint="Write the numbers of the one that is meant."
            )
        if found and (form is not _without_notes or several or len(found) == 1):
            return found[-1]
    raise StepRejected(f"no row of the table is named {name!r:.80}")


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _without_notes(text: str) -> str:
    return _folded(_NOTE.sub("", text))


def _cells(table: Tables) -> Iterable[str]:
    return (cell for line in lines_of(table) for cell in line)


def _numbers(text: str) -> set[str]:
    return {
        *_NUMBER.findall(text.replace(",", "")),
        *(number.lstrip("-") for number in _NUMBER.findall(text)),
    }

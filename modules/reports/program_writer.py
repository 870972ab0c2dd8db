"""A program's steps as FinQA writes them, with the numbers and rows of the report that they are about."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import reduce

from chameleon import StepRejected, Table
from chameleon.modules.reports.finqa_program import OVER_ROWS, Calculated, calculated, number_in, tokens_of
from chameleon.modules.reports.program_reader import Step

Tables = Table | Sequence[Table] | None
"""The table that a program is about, or several."""

_CONSTANTS = frozenset([*map(str, range(1, 11)), *(str(10**power) for power in (2, 3, 4, 5, 6, 7, 9))])
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_CURRENCY = re.compile(r"[$€£¥]")
_BLANK = re.compile(r" (?![\d.,])|(?<![\d.,]) ")
_CELL = re.compile(
    r"(?P<sign>(?:[-−–]?\(|[-−–])?)(?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)(?P<end>%?\)?%?)(?:\([^()]*\)%?)*"
)
_NOTE = re.compile(r"(?:(?<!\s)\s+)?\([^()]*\)")


def written(steps: Sequence[Step], table: Tables, texts: Iterable[str]) -> str:
    """Return the program, which comes to a value over these tables. Raises `StepRejected` where none does.

    - A number that is neither in the table nor in `texts`, such as 100, is a constant: `const_100`, as
      annotators write it.
    - A row is found by its name in any case, also without its notes in brackets.
    - An operation on a row that the language cannot read, because of brackets or commas in its name or its
      cells, or blank cells, becomes arithmetic with the numbers that it has; "(745)" is -745.
    """
    lines = lines_of(table)
    known = {number for text in texts for number in _numbers(text)}
    known |= {number for line in lines for cell in line for number in _numbers(cell)}
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

    for operation, first, second in steps:
        if operation not in OVER_ROWS:
            values.append(add(operation, argument(first), argument(second)))
            continue
        row = _row(first, table)
        is_one_token = ", " not in row[0]
        if is_one_token and not calculated(tokens_of(as_text([(operation, row[0], "none")])), lines).fault:
            values.append(add(operation, row[0], "none"))
            continue
        numbers = [number for cell in row[1:] if (number := number_text(cell)) is not None]
        if not numbers:
            raise StepRejected(f"the row {row[0]!r:.80} has no numbers")
        if operation in ("table_max", "table_min"):
            chosen = max if operation == "table_max" else min
            values.append(chosen(numbers, key=lambda number: number_in(number) or 0.0))
            continue
        total = reduce(lambda total, number: add("add", total, number), numbers)
        count = str(len(numbers))
        count = f"const_{count}" if count in _CONSTANTS else count
        values.append(add("divide", total, count) if operation == "table_average" else total)
    if values and not values[-1].startswith("#"):  # a number of a row that the language cannot read
        add("add", values[-1], "0")
    program = as_text(done)
    _, fault = value_of(program, table)
    if fault:
        raise StepRejected(f"the program does not work: {fault}")
    return program


def number_text(cell: str) -> str | None:
    """Return the number in a cell: "$ 1,250" is "1250", "(745)" is "-745", "(3.5)%" is "-3.5%"; else None.

    Brackets around a number make it negative; brackets after one ("-32 ( 32 )") repeat it or are a note.
    """
    bare = _BLANK.sub("", " ".join(_CURRENCY.sub(" ", cell).split()))
    found = _CELL.fullmatch(bare)
    if found is None or found["sign"].endswith("(") != (")" in found["end"]):
        return None
    percent = "%" if "%" in found["end"] else ""
    return f"{'-' if found['sign'] else ''}{found['number'].replace(',', '')}{percent}"


def value_of(program: str, table: Tables) -> Calculated:
    """Return the program's value; it is also a fault to come to none, or to none that is finite."""
    value, fault = calculated(tokens_of(program), lines_of(table))
    if not fault and value is None:
        fault = "it has no step"
    elif not fault and not isinstance(value, str) and not math.isfinite(value):
        fault = "it comes to no finite number"
    return Calculated(value, fault)


def as_text(steps: Iterable[Step]) -> str:
    """Return the steps as text."""
    return ", ".join(f"{operation}({first}, {second})" for operation, first, second in steps)


def lines_of(table: Tables) -> list[Sequence[str]]:
    """Return the lines of a table, its header first, or those of several one after the other."""
    tables = [table] if isinstance(table, Table) else table or ()
    return [line for each in tables for line in (each.header, *each.rows)]


def _row(name: str, table: Tables) -> Sequence[str]:
    """Return the row of that name. Raises `StepRejected` for none, and for several that are not the same.

    Of rows with the same name in one table the last counts, as it does where programs are run.
    """
    lines = lines_of(table)
    several = not isinstance(table, Table) and len(table or ()) > 1
    for form in (str, _folded, lambda text: _folded(_NOTE.sub("", text))):
        found = [line for line in lines if form(line[0]) == form(name)]
        if len(set(map(tuple, found))) > 1 and (several or form not in (str, _folded)):
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

"""Where the numbers of a program stand in the report that it is about."""

from __future__ import annotations

import re
from typing import Any

from chameleon import State, Table
from chameleon.modules.reports.facts import text_of
from chameleon.modules.reports.program_writer import lines_of
from chameleon.table.calculation import OVER_ROWS, number_in, tokens_of

_MOST_PASSAGES = 3


def sources_of(state: State, program: str) -> list[dict[str, Any]]:
    """The table with the rows and columns that have numbers of the program, then passages with others.

    Rows and passages are counted from 1. Constants stand nowhere.
    """
    numbers, rows = _named(program)
    found: list[dict[str, Any]] = []
    table, left = state.table, set(numbers)
    if table is not None:
        lines, columns = _in_table(table, numbers, rows)
        left -= {number for line in lines for number in _numbers(" ".join(table.rows[line - 1][1:]))}
        if lines:
            found.append(
                {
                    "table": table.caption or "the table",
                    "rows": lines,
                    "columns": [table.header[column] for column in columns],
                    "of": len(table.rows),
                }
            )
    passages = state.input.get("passages") or ()
    texts = [(number, text_of(passage)) for number, passage in enumerate(passages, 1)]
    beside = [(number, text) for number, text in texts if left & _numbers(text)]
    found += [{"passage": number, "text": text} for number, text in beside[:_MOST_PASSAGES]]
    return found


def _named(program: str) -> tuple[set[str], set[str]]:
    """The numbers of a program, and the rows that it names."""
    tokens = tokens_of(program)[:-1]
    numbers: set[str] = set()
    rows: set[str] = set()
    for place in range(0, len(tokens), 4):
        if tokens[place].rstrip("(") in OVER_ROWS:
            rows.add(tokens[place + 1])
        else:
            said = (each for each in tokens[place + 1 : place + 3] if each[0] not in "#c")
            numbers |= {_plain(each) for each in said}
    return numbers, rows


def _in_table(table: Table, numbers: set[str], rows: set[str]) -> tuple[list[int], list[int]]:
    """The lines (from 1) with one of the numbers, or of those names, and the columns of these cells."""
    lines: list[int] = []
    columns: set[int] = set()
    for number, line in enumerate(lines_of(table)[1:], 1):
        cells = [place for place, cell in enumerate(line) if place and numbers & _numbers(cell)]
        if line[0] in rows:
            cells = [place for place, cell in enumerate(line) if place and _numbers(cell)]
        if cells:
            lines.append(number)
            columns |= {*cells}
    return lines, sorted(columns)


def _numbers(text: str) -> set[str]:
    found = re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", text))
    return {_plain(each) for each in found}


def _plain(number: str) -> str:
    """A number without sign and sign for per cent, so that it is found as it is written."""
    bare = number.lstrip("-").rstrip("%")
    read = number_in(bare)
    return f"{read:g}" if read is not None else bare

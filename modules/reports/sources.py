"""Where the numbers of a program stand in the report that it is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chameleon import State, Table
from chameleon.modules.documents.passages import source_of
from chameleon.modules.reports.facts import row_source, table_in, tables_of, text_of
from chameleon.modules.reports.finqa_program import OVER_ROWS, number_in, tokens_of
from chameleon.modules.reports.percent import parsed

_NUMBER = re.compile(r"\d+(?:\.\d+)?|(?<!\d)\.\d+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")

Cell = Mapping[str, int]
"""A place in a report: "passage", "row" and "column", each where there is one, from 1."""


@dataclass(frozen=True)
class _Place:
    """A row of a table or a passage of text: how states name it, and the numbers in it with their columns."""

    source: Cell
    name: str
    columns: Mapping[str, Sequence[int]]

    def cells(self, numbers: Iterable[str]) -> Iterator[Cell]:
        """Yield the cells in which numbers stand; of a passage itself."""
        columns = sorted({column for number in numbers for column in self.columns[number]})
        yield from ({**self.source, "column": column} for column in columns)
        if not columns:
            yield self.source


def finqa_sources(state: State, program: str) -> list[dict[str, Any]]:
    """Return the tables with the rows and columns that a program's numbers come from, and the passages.

    A program may name a row. Of the places where another number stands one is taken: that with most of the
    program's numbers, of several the one found first (`cache.retrieved`), else the first in the report. Rows
    and passages are counted from 1; constants stand nowhere.
    """
    tokens = tokens_of(program)[:-1]
    numbers, rows = set[str](), set[str]()
    for place in range(0, len(tokens), 4):
        if tokens[place].rstrip("(") in OVER_ROWS:
            rows.add(tokens[place + 1])
        else:
            numbers |= {_plain(each) for each in tokens[place + 1 : place + 3] if each[0] not in "#c"}
    return _sources(state, _cells(state, numbers, rows))


def python_sources(state: State, program: str) -> list[dict[str, Any]]:
    """Return the same for the numbers of a Python program, without digits alone, which stand anywhere."""
    said = (node.value for node in ast.walk(parsed(program)) if isinstance(node, ast.Constant))
    numbers = {repr(each) for each in said if isinstance(each, int | float) and not isinstance(each, bool)}
    return _sources(state, _cells(state, {_plain(each) for each in numbers if len(each) > 1}, set()))


def _cells(state: State, left: set[str], rows: set[str]) -> Iterator[Cell]:
    """Yield the cells and passages that numbers and rows are taken to come from."""
    places = list(_places(state))
    by_name = {place.name: place for place in places}  # of rows with the same name the last counts
    for name in rows & by_name.keys():
        yield from by_name[name].cells(by_name[name].columns)
        left -= by_name[name].columns.keys()
    now = {number: place for place, number in enumerate(_passage_numbers(state), 1)}
    order = [dict(each["source"]) for each in state.cache.get("retrieved") or ()]
    for source in order:
        if source.get("passage") in now:
            source["passage"] = now[source["passage"]]

    def rank(place: _Place) -> tuple[int, int]:
        near = order.index(dict(place.source)) if place.source in order else len(order)
        return -len(left & place.columns.keys()), near

    while having := [place for place in places if left & place.columns.keys()]:
        best = min(having, key=rank)
        yield from best.cells(left & best.columns.keys())
        left -= best.columns.keys()


def _places(state: State) -> Iterator[_Place]:
    passages = state.input.get("passages") or ()
    for table, passage, _ in tables_of(state.table, passages):
        for row, (name, *cells) in enumerate(table.rows):
            columns: dict[str, list[int]] = {}
            for column, cell in enumerate(cells, 2):
                for number in _numbers(cell):
                    columns.setdefault(number, []).append(column)
            yield _Place(row_source(passage, row), name, columns)
    for place, passage in enumerate(passages, 1):
        if table_in(passage) is None:
            yield _Place({"passage": place}, "", dict.fromkeys(_numbers(text_of(passage)), ()))


def _passage_numbers(state: State) -> list[int]:
    """Return the number of each passage in the report as it was given; a retriever may have kept some."""
    count = len(state.input.get("passages") or ())
    kept = {each["source"].get("passage") for each in state.cache.get("retrieved") or ()} - {None}
    return sorted(kept) if len(kept) == count else list(range(1, count + 1))


def _sources(state: State, cells: Iterable[Cell]) -> list[dict[str, Any]]:
    """Return the sources as states have them: each table and passage once, the report's own table first."""
    passages, numbers = state.input.get("passages") or (), _passage_numbers(state)
    grouped: dict[int, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(cell.get("passage", 0), []).append(cell)
    found = list[dict[str, Any]]()
    for place, here in sorted(grouped.items()):
        if not place:
            assert state.table is not None
            source = {"table": state.table.caption or "the table", **_rows_and_columns(state.table, here)}
            found.append({**source, "of": len(state.table.rows)})
            continue
        passage = passages[place - 1]
        plain = passage if isinstance(passage, Mapping) else {}
        source = source_of({"text": text_of(passage), **plain}, numbers[place - 1])
        if (table := table_in(passage)) is not None:
            source |= _rows_and_columns(table, here)
            caption = table.caption.strip()
            if caption and not str(source.get("heading", "")).endswith(caption):
                source["table"] = caption
            if whole := passage.get("rows"):  # the table is a part of a longer one
                source["rows"] = [whole[row - 1] for row in source["rows"]]
        found.append(source)
    return found


def _rows_and_columns(table: Table, cells: Sequence[Cell]) -> dict[str, Any]:
    columns = sorted({cell["column"] for cell in cells if "column" in cell})
    return {
        "rows": sorted({cell["row"] for cell in cells}),
        "columns": [table.header[column - 1] for column in columns],
    }


def _numbers(text: str) -> set[str]:
    return {_plain(each) for each in _NUMBER.findall(_THOUSANDS.sub("", text))}


def _plain(number: str) -> str:
    """Return a number without sign and sign for per cent, so that it is found as it is written."""
    bare = number.lstrip("-").rstrip("%")
    read = number_in(bare)
    return repr(read) if read is not None else bare

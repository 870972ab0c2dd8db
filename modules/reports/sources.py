"""Where the numbers of a program stand in the report that it is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from chameleon import State, Table
from chameleon.modules.documents.passages import passage_source
from chameleon.modules.reports.facts import row_source, table_in, tables_of, text_of
from chameleon.modules.reports.finqa_program import OVER_ROWS, number_in, tokens_of
from chameleon.modules.reports.percent import parsed

_NUMBER = re.compile(r"\d+(?:\.\d+)?|(?<!\d)\.\d+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")

Cell = Mapping[str, int]
"""A place in a report: "passage", "row" and "column", each where there is one, from 1."""


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
    return _Report(state).sources(numbers, rows)


def python_sources(state: State, program: str) -> list[dict[str, Any]]:
    """Return the same for the numbers of a Python program, without digits alone, which stand anywhere."""
    said = (node.value for node in ast.walk(parsed(program)) if isinstance(node, ast.Constant))
    numbers = {repr(each) for each in said if isinstance(each, int | float) and not isinstance(each, bool)}
    return _Report(state).sources({_plain(each) for each in numbers if len(each) > 1})


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


class _Report:
    """The places of a state's report.

    `numbers` has the number of each passage in the report as it was given: a retriever may have kept some.
    """

    def __init__(self, state: State) -> None:
        self.table, self.passages = state.table, state.input.get("passages") or ()
        self.found = [dict(each["source"]) for each in state.cache.get("retrieved") or ()]
        kept = {source.get("passage") for source in self.found} - {None}
        count = len(self.passages)
        self.numbers: list[Any] = sorted(kept) if len(kept) == count else list(range(1, count + 1))

    def sources(self, numbers: set[str], rows: Set[str] = frozenset()) -> list[dict[str, Any]]:
        """Return the sources as states have them: each table and passage once, the report's table first."""
        grouped: dict[int, list[Cell]] = {}
        for cell in self._cells(numbers, rows):
            grouped.setdefault(cell.get("passage", 0), []).append(cell)
        found = list[dict[str, Any]]()
        for place, cells in sorted(grouped.items()):
            if not place:
                assert self.table is not None
                source = {"table": self.table.caption or "the table", **_rows_and_columns(self.table, cells)}
                found.append({**source, "of": len(self.table.rows)})
                continue
            passage = self.passages[place - 1]
            plain = passage if isinstance(passage, Mapping) else {}
            source = passage_source({"text": text_of(passage), **plain}, self.numbers[place - 1])
            if (table := table_in(passage)) is not None:
                source |= _rows_and_columns(table, cells)
                caption = table.caption.strip()
                if caption and not str(source.get("heading", "")).endswith(caption):
                    source["table"] = caption
                if whole := passage.get("rows"):  # the table is a part of a longer one
                    source["rows"] = [whole[row - 1] for row in source["rows"]]
            found.append(source)
        return found

    def _cells(self, left: set[str], rows: Set[str]) -> Iterator[Cell]:
        """Yield the cells and passages that numbers and rows are taken to come from."""
        places = list(self._places())
        by_name = {place.name: place for place in places}  # of rows with the same name the last counts
        for name in rows & by_name.keys():
            yield from by_name[name].cells(by_name[name].columns)
            left -= by_name[name].columns.keys()
        now = {number: place for place, number in enumerate(self.numbers, 1)}
        order = [
            source | ({"passage": now[source["passage"]]} if source.get("passage") in now else {})
            for source in self.found
        ]

        def rank(place: _Place) -> tuple[int, int]:
            near = order.index(dict(place.source)) if place.source in order else len(order)
            return -len(left & place.columns.keys()), near

        while having := [place for place in places if left & place.columns.keys()]:
            best = min(having, key=rank)
            yield from best.cells(left & best.columns.keys())
            left -= best.columns.keys()

    def _places(self) -> Iterator[_Place]:
        for table, passage, _ in tables_of(self.table, self.passages):
            for row, (name, *cells) in enumerate(table.rows):
                columns: dict[str, list[int]] = {}
                for column, cell in enumerate(cells, 2):
                    for number in _numbers(cell):
                        columns.setdefault(number, []).append(column)
                yield _Place(row_source(passage, row), name, columns)
        for place, given in enumerate(self.passages, 1):
            if table_in(given) is None:
                yield _Place({"passage": place}, "", dict.fromkeys(_numbers(text_of(given)), ()))


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

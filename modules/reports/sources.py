"""Where the numbers of a program stand in the report that it is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from chameleon import State
from chameleon.modules.documents.paper_retriever import passage_source
from chameleon.modules.reports.finqa_program import OVER_ROWS, number_in, tokens_of
from chameleon.modules.reports.report import Report, text_of
from chameleon.modules.reports.report_answer import parsed

_NUMBER = re.compile(r"\d+(?:\.\d+)?|(?<!\d)\.\d+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")

Place = tuple[int, int]
"""The number of a passage, 0 for the report's own table, and that of a row, 0 for a passage of text."""


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
    return _sources(state, numbers, rows)


def python_sources(state: State, program: str) -> list[dict[str, Any]]:
    """Return the same for the numbers of a Python program, without digits alone, which stand anywhere."""
    said = (node.value for node in ast.walk(parsed(program)) if isinstance(node, ast.Constant))
    numbers = {repr(each) for each in said if isinstance(each, int | float) and not isinstance(each, bool)}
    return _sources(state, {_plain(each) for each in numbers if len(each) > 1})


def _sources(state: State, left: set[str], rows: Set[str] = frozenset()) -> list[dict[str, Any]]:
    """Return the sources of numbers and named rows: each table and passage once, the report's table first."""
    report = Report.of(state)
    places = dict(_places(report))
    cited: dict[int, dict[int, set[int]]] = {}  # columns by passage and row

    def cite(place: Place, numbers: Set[str]) -> None:
        columns = {column for number in numbers for column in places[place][number]}
        cited.setdefault(place[0], {})[place[1]] = columns
        left.difference_update(numbers)

    tables = report.tables.values()
    named = {row[0]: (held.passage, n) for held in tables for n, row in enumerate(held.table.rows, 1)}
    for name in rows & named.keys():  # of rows with the same name the last counts
        cite(named[name], places[named[name]].keys())
    found = [each["source"] for each in state.cache.get("retrieved") or ()]
    numbers = _numbers_as_given(report, found)
    order = [(source.get("passage", 0), source.get("row", 0)) for source in found]

    def rank(place: Place) -> tuple[int, int]:
        given = (numbers[place[0] - 1] if place[0] else 0, place[1])
        return -len(left & places[place].keys()), order.index(given) if given in order else len(order)

    while having := [place for place in places if left & places[place].keys()]:
        best = min(having, key=rank)
        cite(best, left & places[best].keys())
    return [_source(report, passage, rows, numbers) for passage, rows in sorted(cited.items())]


def _places(report: Report) -> Iterator[tuple[Place, Mapping[str, Sequence[int]]]]:
    """Yield each row and each passage of text with the numbers in it, and the columns where they stand."""
    for held in report.tables.values():
        for row, (_, *cells) in enumerate(held.table.rows, 1):
            columns: dict[str, list[int]] = {}
            for column, cell in enumerate(cells, 1):
                for number in _numbers(cell):
                    columns.setdefault(number, []).append(column)
            yield (held.passage, row), columns
    for place, passage in enumerate(report.passages, 1):
        if place not in report.tables:
            yield (place, 0), dict.fromkeys(_numbers(text_of(passage)), ())


def _numbers_as_given(report: Report, found: Sequence[Mapping[str, int]]) -> Sequence[int]:
    """Return the number of each passage in the report as it was given: a retriever may have kept some."""
    kept = {source["passage"] for source in found if "passage" in source}
    count = len(report.passages)
    return sorted(kept) if len(kept) == count else range(1, count + 1)


def _source(report: Report, passage: int, cited: Mapping[int, Set[int]], numbers: Sequence[int]) -> Any:
    """Return a table or a passage as a source, with the cited columns by row."""
    source: dict[str, Any] = {}
    given: Any = {}
    if passage:
        given = report.passages[passage - 1]
        given = given if isinstance(given, Mapping) else {"text": given}
        source = passage_source({**given, "text": text_of(given)}, numbers[passage - 1])
    if (held := report.tables.get(passage)) is None:
        return source
    table, rows, caption = held.table, sorted(cited), held.table.caption.strip()
    whole = given.get("rows")  # of a longer table that this is a part of
    source["rows"] = [whole[row - 1] for row in rows] if whole else rows
    source["columns"] = [table.header[column] for column in sorted(set().union(*cited.values()))]
    if not passage:
        return {"table": caption or "the table", **source, "of": len(table.rows)}
    if caption and not str(source.get("heading", "")).endswith(caption):
        source["table"] = caption
    return source


def _numbers(text: str) -> set[str]:
    return {_plain(each) for each in _NUMBER.findall(_THOUSANDS.sub("", text))}


def _plain(number: str) -> str:
    """Return a number without sign and sign for per cent, so that it is found as it is written."""
    bare = number.lstrip("-").rstrip("%")
    read = number_in(bare)
    return repr(read) if read is not None else bare

"""Where the numbers of a program stand in the report that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from chameleon import State, Table
from chameleon.modules.documents.passages import source_of
from chameleon.modules.reports.facts import row_source, table_in, tables_of, text_of
from chameleon.modules.reports.finqa_program import OVER_ROWS, number_in, tokens_of


@dataclass(frozen=True)
class _Place:
    """A row of a table or a passage of text: how states name it, and the numbers in it with their columns."""

    source: Mapping[str, int]
    name: str
    numbers: Mapping[str, tuple[int, ...]]


def sources_of(state: State, program: str) -> list[dict[str, Any]]:
    """The tables with the rows and columns that a program's numbers come from, and the passages.

    What wrote the program by rules says where they come from (`cache.finqa_evidence`), and a program may name
    a row. Of the places where another number stands one is taken: that with most of the program's numbers,
    of several the one found first (`cache.retrieved`), else the first in the report. Rows and passages are
    counted from 1; constants stand nowhere.
    """
    told = state.cache.get("finqa_evidence")
    return _told(state, [dict(each) for each in told] if told else _matched(state, *_named(program)))


def sources_of_numbers(state: State, numbers: Iterable[str]) -> list[dict[str, Any]]:
    """The same for numbers alone; those of one digit, which stand anywhere, are left out."""
    return _told(state, _matched(state, {_plain(each) for each in numbers if len(each) > 1}, set()))


def _matched(state: State, numbers: Set[str], rows: Set[str]) -> Iterator[dict[str, int]]:
    """The cells and passages that numbers and rows are taken to come from."""
    places = list(_places(state))
    left = set(numbers)
    by_name = {place.name: place for place in places}  # of rows with the same name the last counts
    for name in rows & by_name.keys():
        yield from _cells(by_name[name], by_name[name].numbers)
        left -= by_name[name].numbers.keys()
    order = _order(state)
    while left:
        having = [place for place in places if left & place.numbers.keys()]
        if not having:
            return
        best = min(having, key=lambda place: (-len(left & place.numbers.keys()), _rank(place, order)))
        yield from _cells(best, left & best.numbers.keys())
        left -= best.numbers.keys()


def _cells(place: _Place, numbers: Iterable[str]) -> Iterator[dict[str, int]]:
    columns = sorted({column for number in numbers for column in place.numbers[number]})
    yield from ({**place.source, "column": column} for column in columns)
    if not columns:
        yield dict(place.source)


def _order(state: State) -> list[dict[str, int]]:
    """The places that were kept, the nearest first, as this state counts its passages."""
    now = {number: place for place, number in enumerate(_given_numbers(state), 1)}
    kept = [dict(each["source"]) for each in state.cache.get("retrieved") or ()]
    return [each | ({"passage": now[each["passage"]]} if each.get("passage") in now else {}) for each in kept]


def _rank(place: _Place, order: Sequence[Mapping[str, int]]) -> int:
    return order.index(place.source) if place.source in order else len(order)


def _given_numbers(state: State) -> list[int]:
    """The number of each passage in the report as it was given, of which a retriever may have kept some."""
    count = len(state.input.get("passages") or ())
    kept = {each["source"].get("passage") for each in state.cache.get("retrieved") or ()} - {None}
    return sorted(kept) if len(kept) == count else list(range(1, count + 1))


def _places(state: State) -> Iterator[_Place]:
    passages = state.input.get("passages") or ()
    for table, passage, *_ in tables_of(state.table, passages):
        for row, (name, *cells) in enumerate(table.rows):
            columns: dict[str, tuple[int, ...]] = {}
            for column, cell in enumerate(cells, 2):
                for number in _numbers(cell):
                    columns[number] = (*columns.get(number, ()), column)
            yield _Place(row_source(passage, row), name, columns)
    for place, passage in enumerate(passages, 1):
        if table_in(passage) is None:
            yield _Place({"passage": place}, "", dict.fromkeys(_numbers(text_of(passage)), ()))


def _told(state: State, cells: Iterable[Mapping[str, int]]) -> list[dict[str, Any]]:
    """The sources as states have them: each table and passage once, the report's own table first."""
    table, passages, numbers = state.table, state.input.get("passages") or (), _given_numbers(state)
    grouped: dict[int, list[Mapping[str, int]]] = {}
    for cell in cells:
        grouped.setdefault(cell.get("passage", 0), []).append(cell)
    found = []
    for passage in sorted(grouped):
        if not passage:
            assert table is not None
            here = {"table": table.caption or "the table"} | _rows_of(table, grouped[0])
            found.append(here | {"of": len(table.rows)})
            continue
        given = passages[passage - 1]
        plain = given if isinstance(given, Mapping) else {"text": str(given)}
        told = source_of({"text": text_of(plain), **plain}, numbers[passage - 1])
        if (held := table_in(given)) is not None:
            told |= _rows_of(held, grouped[passage])
            caption = held.caption.strip()
            if caption and not str(told.get("heading", "")).endswith(caption):
                told["table"] = caption
            whole = given.get("rows") or range(1, len(held.rows) + 1)
            told["rows"] = [whole[row - 1] for row in told["rows"]]
        found.append(told)
    return found


def _rows_of(table: Table, cells: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    columns = sorted({cell["column"] for cell in cells if "column" in cell})
    return {
        "rows": sorted({cell["row"] for cell in cells}),
        "columns": [table.header[column - 1] for column in columns],
    }


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


def _numbers(text: str) -> set[str]:
    found = re.findall(r"\d+(?:\.\d+)?|(?<!\d)\.\d+", re.sub(r"(?<=\d),(?=\d{3})", "", text))
    return {_plain(each) for each in found}


def _plain(number: str) -> str:
    """A number without sign and sign for per cent, so that it is found as it is written."""
    bare = number.lstrip("-").rstrip("%")
    read = number_in(bare)
    return repr(read) if read is not None else bare

"""Tables in JSON and JSON Lines: objects by row, lists by row, a list for each column; one or several."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chameleon.errors import InputError
from chameleon.table.found import Found, LeftOut, table_of
from chameleon.table.records import MAX_CELLS, MAX_COLUMNS, Origin, Record, bounded, shown, too_many_cells
from chameleon.table.table import told_apart
from chameleon.table.typed import cell_text
from chameleon.text import clean_cell

_SHAPES = (
    'Write a list of objects, a list of lists with the header first, {"header": […], "rows": […]}, '
    "or an object with a list for each column."
)
_HEADERS, _ROWS, _NAMES = ("header", "columns"), ("rows", "data"), ("caption", "title", "name")


def json_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """Yield the tables of a JSON text: itself, the tables of a list, or those under the keys of objects.

    A table below several keys is called by all of them. Raises `InputError` for what is not JSON.
    """
    data = _load(text, origin)
    if isinstance(data, list) and data and all(map(_is_whole, data)):
        for number, value in enumerate(data, 1):
            yield _table(value, Origin(f"{origin.name}, table {number}", "row"))
    elif isinstance(data, dict) and not _is_whole(data) and (keyed := _keyed(data)):
        for keys, value in keyed:
            key = ".".join(keys)
            where = Origin(f"{origin.name}, {key!r}", "row")
            yield _table(value, where, {"table": key}, ": ".join(keys))
    elif _is_rows(data) or _is_whole(data) or _is_columns(data):
        yield _table(data, Origin(origin.name, "row"))


def json_line_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """Yield the table of a JSON Lines text, or the tables where each line holds one."""
    lines = enumerate(text.split("\n"), 1)
    values = [(number, _load(line, origin, number)) for number, line in lines if line.strip()]
    if all(_is_whole(value) for _, value in values):
        for number, value in values:
            yield _table(value, Origin(origin.at(number), "row"))
        return
    try:
        yield table_of(bounded(_of_rows(values, origin), origin), origin)
    except InputError as error:
        yield LeftOut.of(error)


def json_records(text: str, origin: Origin) -> list[Record]:
    """Return the header and the rows of a JSON text. Raises `InputError` for one that holds no table."""
    return _records(_load(text, origin), Origin(origin.name, "row"))


def _load(text: str, origin: Origin, line: int = 0) -> Any:
    """Parse a JSON text; keys that repeat are told apart."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        at, column = line or error.lineno, error.colno
        lines = error.msg == "Extra data" and not line
        hint = "If each line is a JSON value of its own, it is JSON Lines (.jsonl)." if lines else ""
        where = Origin(f"{origin.name}, line {at:,}, column {column:,}")
        raise where.error(f"is not valid JSON ({error.msg})", hint=hint) from None
    except ValueError:
        raise origin.error("holds a number of more than 4,300 digits", at=line) from None
    except RecursionError:
        raise origin.error("holds JSON that is nested too deeply", at=line, hint=_SHAPES) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    return dict(zip(told_apart([key for key, _ in pairs]), [value for _, value in pairs], strict=False))


def _table(
    value: Any, origin: Origin, place: Mapping[str, str] | None = None, title: str = ""
) -> Found | LeftOut:
    captions = [value[name] for name in _NAMES if name in value] if _is_whole(value) else []
    name = title or next((clean_cell(text) for text in captions if isinstance(text, str)), "")
    try:
        return table_of(bounded(_records(value, origin), origin), origin, place, name)
    except InputError as error:
        return LeftOut.of(error)


def _records(data: Any, origin: Origin) -> list[Record]:
    if isinstance(data, list):
        return _of_rows(list(enumerate(data, 1)), origin)
    if _is_whole(data):
        header, rows = (next(data[key] for key in keys if key in data) for keys in (_HEADERS, _ROWS))
        names = list(map(cell_text, header))
        if rows and isinstance(rows[0], dict):
            return _of_rows(list(enumerate(rows, 1)), origin, names)
        return [(0, names), *(_of_rows(list(enumerate(rows, 1)), origin) if rows else [])]
    if _is_columns(data):
        if len(set(map(len, data.values()))) > 1:
            counts = ", ".join(f"{shown(key)} has {len(values):,}" for key, values in [*data.items()][:3])
            hint = "Give every column a value, or null, for each row."
            raise origin.error(f"its columns differ in length: {counts}", hint=hint)
        columns = zip(*data.values(), strict=True)
        return [(0, list(data)), *((n, list(map(cell_text, row))) for n, row in enumerate(columns, 1))]
    raise origin.error("holds no table", hint=_SHAPES)


def _of_rows(values: Sequence[tuple[int, Any]], origin: Origin, names: Sequence[str] = ()) -> list[Record]:
    """Return the records of objects, a column for each key in the order of first use, or of lists."""
    kind = type(values[0][1]) if values else None
    if kind not in (dict, list):
        raise origin.error("holds no rows", hint=_SHAPES)
    if odd := next((number for number, row in values if type(row) is not kind), 0):
        expected = "an object" if kind is dict else "a list"
        raise origin.error(f"is not {expected} as the first row is", at=odd, hint=_SHAPES)
    if kind is list:
        return [(number, list(map(cell_text, row))) for number, row in values]
    keys = dict.fromkeys(names)
    for number, row in values:
        keys.update(dict.fromkeys(row))
        if len(keys) > MAX_COLUMNS:
            hint = "Each key becomes a column; put what varies from row to row into cells."
            raise origin.error(f"the objects have more than {MAX_COLUMNS:,} keys", at=number, hint=hint)
    if len(keys) * len(values) > MAX_CELLS:
        raise too_many_cells(origin)
    header = (0, list(map(clean_cell, keys)))
    return [header, *((number, [cell_text(row.get(key)) for key in keys]) for number, row in values)]


def _keyed(data: Mapping[str, Any]) -> list[tuple[list[str], Any]]:
    """Return the values that are tables of their own, by their keys from the top, in their order."""
    found = []
    waiting: list[tuple[list[str], Any]] = [([], data)]
    while waiting:
        keys, value = waiting.pop()
        if keys and (_is_whole(value) or _is_rows(value)):
            found.append((keys, value))
        elif isinstance(value, dict):
            waiting += reversed([([*keys, clean_cell(key)], inner) for key, inner in value.items()])
    return found


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict | list)


def _is_columns(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(each, list) for each in value.values())


def _is_whole(value: Any) -> bool:
    """Tell whether this is an object with a header and rows."""
    return isinstance(value, dict) and all(
        any(isinstance(value.get(key), list) for key in keys) for keys in (_HEADERS, _ROWS)
    )

"""Tables in JSON and JSON Lines: objects or lists by row, or a list per column; one table or several."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from chameleon.table.found import Found, LeftOut, table_of
from chameleon.table.records import MAX_CELLS, MAX_COLUMNS, Origin, Record, cell_text, shown, too_many_cells
from chameleon.table.table import distinct_names
from chameleon.text import clean_cell

_SHAPES_HINT = (
    'Write a list of objects, a list of lists with the header first, {"header": […], "rows": […]}, '
    "or an object with a list for each column."
)
_HEADERS, _ROWS, _NAMES = ("header", "columns"), ("rows", "data"), ("caption", "title", "name")


def json_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """Yield the tables of a JSON text: itself, the tables of a list, or the tables under the keys of objects.

    A table below several keys is named by all of them. Raises `InputError` if the text is not JSON.
    """
    data = _load(text, origin)
    if isinstance(data, list) and data and all(_shape(value) == "whole" for value in data):
        for number, value in enumerate(data, 1):
            yield _table(value, f"{origin.name}, table {number}")
    elif isinstance(data, dict) and _shape(data) != "whole" and (keyed := _tables_by_key(data)):
        for keys, value in keyed:
            yield _table(value, f"{origin.name}, {'.'.join(keys)!r}", keys)
    elif _shape(data):
        yield _table(data, origin.name)


def json_line_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """Yield the table of a JSON Lines text, or several tables if each line holds one."""
    lines = enumerate(text.split("\n"), 1)
    values = [(number, _load(line, origin, number)) for number, line in lines if line.strip()]
    if all(_shape(value) == "whole" for _, value in values):
        for number, value in values:
            yield _table(value, origin.at(number))
    else:
        yield table_of(_of_rows(values, origin), origin)


def json_records(text: str, origin: Origin) -> Iterator[Record]:
    """Yield the header and the rows of a JSON text. Raises `InputError` if it holds no table."""
    yield from _records(_load(text, origin), Origin(origin.name, "row"))


def _load(text: str, origin: Origin, line: int = 0) -> Any:
    """Parse a JSON text; repeated keys are made different."""

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        apart = names if len(set(names)) == len(names) else distinct_names(names)
        return {name: value for name, (_, value) in zip(apart, pairs, strict=True)}

    try:
        return json.loads(text, object_pairs_hook=made)
    except json.JSONDecodeError as error:
        at, column = line or error.lineno, error.colno
        lines = error.msg == "Extra data" and not line
        hint = "If each line is a JSON value of its own, it is JSON Lines (.jsonl)." if lines else ""
        where = Origin(f"{origin.name}, line {at:,}, column {column:,}")
        raise where.error(f"is not valid JSON ({error.msg})", hint=hint) from None
    except ValueError:  # from int()
        raise origin.error("has a number of more than 4,300 digits", at=line) from None
    except RecursionError:
        raise origin.error("is nested too deeply", at=line, hint=_SHAPES_HINT) from None


def _table(value: Any, where: str, keys: Sequence[str] = ()) -> Found | LeftOut:
    """Return the table of a value, named by the keys above it or else by its own caption."""
    names = [value[name] for name in _NAMES if name in value] if isinstance(value, dict) else []
    title = ": ".join(keys) or next((clean_cell(name) for name in names if isinstance(name, str)), "")
    origin, place = Origin(where, "row"), {"table": ".".join(keys)} if keys else {}
    return table_of(_records(value, origin), origin, place, title)


def _shape(value: Any) -> str:
    """Return the shape of a table: a list of rows, an object with a header, or an object of columns."""
    if isinstance(value, list):
        return "rows" if value and isinstance(value[0], dict | list) else ""
    if not isinstance(value, dict) or not value:
        return ""
    if all(any(isinstance(value.get(key), list) for key in keys) for keys in (_HEADERS, _ROWS)):
        return "whole"
    return "columns" if all(isinstance(each, list) for each in value.values()) else ""


def _records(data: Any, origin: Origin) -> Iterator[Record]:
    """Yield the records of a value by its shape. Raises `InputError` if it is not a table."""
    shape, rows, names = _shape(data), data, list[str]()
    if shape == "whole":
        header, rows = (next(data[key] for key in keys if key in data) for keys in (_HEADERS, _ROWS))
        names = list(map(cell_text, header))
    elif shape == "columns":
        if len(set(map(len, data.values()))) > 1:
            counts = ", ".join(f"{shown(key)} has {len(values):,}" for key, values in [*data.items()][:3])
            hint = "Give every column a value, or null, for each row."
            raise origin.error(f"its columns differ in length: {counts}", hint=hint)
        names, rows = list(data), list(map(list, zip(*data.values(), strict=True)))
    elif not shape:
        raise origin.error("has no table", hint=_SHAPES_HINT)
    if shape != "rows" and not (rows and isinstance(rows[0], dict)):  # else the keys are the header
        yield 0, names
    if rows:
        yield from _of_rows(list(enumerate(rows, 1)), origin, names)


def _of_rows(
    values: Sequence[tuple[int, Any]], origin: Origin, names: Sequence[str] = ()
) -> Iterator[Record]:
    """Yield the records of objects, with a column per key in order of first use, or of lists."""
    kind = type(values[0][1])
    if kind not in (dict, list):
        raise origin.error("has no rows", hint=_SHAPES_HINT)
    if odd := next((number for number, row in values if type(row) is not kind), 0):
        expected = "an object" if kind is dict else "a list"
        raise origin.error(f"is not {expected}, as the first row is", at=odd, hint=_SHAPES_HINT)
    if kind is list:
        yield from ((number, list(map(cell_text, row))) for number, row in values)
        return
    keys = dict.fromkeys(chain(names, chain.from_iterable(row for _, row in values)))
    if len(keys) > MAX_COLUMNS:
        hint = "Each key becomes a column; put what varies from row to row into cells."
        raise origin.error(f"the objects have more than {MAX_COLUMNS:,} keys", hint=hint)
    if len(keys) * len(values) > MAX_CELLS:
        raise too_many_cells(origin)
    yield 0, list(map(clean_cell, keys))
    yield from ((number, [cell_text(row.get(key)) for key in keys]) for number, row in values)


def _tables_by_key(data: Mapping[str, Any]) -> list[tuple[list[str], Any]]:
    """Return the values that are separate tables, in order, with their keys from the top."""
    tables = []
    waiting: list[tuple[list[str], Any]] = [([], data)]
    while waiting:
        keys, value = waiting.pop()
        if _shape(value) in ("rows", "whole"):
            tables.append((keys, value))
        elif isinstance(value, dict):
            waiting += reversed([([*keys, clean_cell(key)], inner) for key, inner in value.items()])
    return tables

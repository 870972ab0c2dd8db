"""Tables in JSON and JSON Lines: objects by row, lists by row, or a list for each column."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chameleon.errors import InputError
from chameleon.table.records import MAX_COLUMNS, Origin, Record, build_table, cell_text, shown
from chameleon.table.table import Table
from chameleon.text import clean_cell

_SHAPES = (
    'Write a list of objects, a list of lists with the header first, {"header": […], "rows": […]}, '
    "or an object with a list for each column."
)
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}


def json_table(text: str, origin: Origin, caption: str = "") -> Table:
    """Read the table in a JSON text; its own "caption" or "title" counts when none is given.

    Raises `InputError` for malformed JSON (with line and column), repeated keys, nested cells and shapes
    that are no table.
    """
    records, own_caption = json_records(text, origin)
    return build_table(records, replace(origin, unit="row"), caption=caption or own_caption)


def json_records(text: str, origin: Origin) -> tuple[list[Record], str]:
    """Return the header, the rows and the caption of a JSON text, not yet checked for being a table."""
    return value_records(load_json(text, origin), origin)


def value_records(data: Any, origin: Origin) -> tuple[list[Record], str]:
    """Return the same of a JSON value that `load_json` read."""
    records = _Records(replace(origin, unit="row"))
    if isinstance(data, list):
        return list(records.of_rows(list(enumerate(data, 1)))), ""
    if not isinstance(data, dict):
        raise origin.error(f"holds {_kind(data)}, not a table", hint=_SHAPES)
    header, rows, caption = (
        next((data[key] for key in keys if key in data), None)
        for keys in (("header", "columns"), ("rows", "data"), ("caption", "title"))
    )
    if isinstance(header, list) and isinstance(rows, list):
        own_caption = clean_cell(caption) if isinstance(caption, str) else ""
        return list(records.under(header, list(enumerate(rows, 1)))), own_caption
    if data and all(isinstance(values, list) for values in data.values()):
        return list(records.of_columns(data)), ""
    raise origin.error("holds an object that is no table", hint=_SHAPES)


def json_lines_table(text: str, origin: Origin, caption: str = "") -> Table:
    """Read the table in a text with one JSON object (or list, the header first) on each line."""
    return build_table(line_records(load_json_lines(text, origin), origin), origin, caption=caption)


def load_json_lines(text: str, origin: Origin) -> list[tuple[int, Any]]:
    """Return the value on each line that is not blank, with the line's number."""
    lines = enumerate(text.split("\n"), 1)
    return [(number, load_json(line, origin, number)) for number, line in lines if line.strip()]


def load_json(text: str, origin: Origin, line: int = 0) -> Any:
    """Parse a JSON text, numbers as written. Raises `InputError` with the place of a fault."""
    try:
        # Whole numbers stay as they are written: no limit on their digits, no rounding.
        return json.loads(text, parse_int=_Number, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        at, column = line or error.lineno, error.colno
        hint = "If each line is a JSON value of its own, it is JSON Lines (.jsonl)." * (
            not line and error.msg == "Extra data"
        )
        raise InputError(
            f"is not valid JSON ({error.msg})",
            where=f"{origin.name}, line {at:,}, column {column:,}",
            hint=hint,
        ) from None
    except RecursionError:
        raise origin.error("holds JSON that is nested too deeply", at=line, hint=_SHAPES) from None
    except _RepeatedKey as error:
        raise origin.error(
            f"an object has the key {shown(error.key)} twice", at=line, hint="Rename one of them."
        ) from None


def line_records(values: Sequence[tuple[int, Any]], origin: Origin) -> Iterator[Record]:
    """Yield the records of numbered objects, or of numbered lists with the header first."""
    return _Records(origin).of_rows(values)


class _Number(str):
    """A whole number as it is written."""


class _RepeatedKey(Exception):
    def __init__(self, key: str) -> None:
        self.key = key


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _RepeatedKey(max(counts, key=counts.__getitem__))
    return result


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "a number")


@dataclass(frozen=True)
class _Records:
    """The records of JSON values, by their shape. Each raises `InputError` for what is no table."""

    origin: Origin

    def of_rows(self, values: Sequence[tuple[int, Any]]) -> Iterator[Record]:
        if not values:
            raise self.origin.error("holds no rows", hint=_SHAPES)
        number, first = values[0]
        if isinstance(first, dict):
            yield from self._objects(values, {})
        elif isinstance(first, list):
            yield from self._lists(values)
        else:
            raise self._expected("a row", number, first)

    def under(self, header: list[Any], rows: Sequence[tuple[int, Any]]) -> Iterator[Record]:
        names = [self._cell(name, 0, f"column name {i}") for i, name in enumerate(header, 1)]
        if rows and isinstance(rows[0][1], dict):
            yield from self._objects(rows, dict.fromkeys(names))
        else:
            yield 0, names
            yield from self._lists(rows)

    def of_columns(self, columns: Mapping[str, list[Any]]) -> Iterator[Record]:
        name, first = next(iter(columns.items()))
        for other, values in columns.items():
            if len(values) != len(first):
                raise self.origin.error(
                    f"column {shown(other)} has {len(values):,} values, but {shown(name)} has {len(first):,}",
                    hint="Give every column a value, or null, for each row.",
                )
        yield 0, [clean_cell(key) for key in columns]
        for number, row in enumerate(zip(*columns.values(), strict=True), 1):
            cells = zip(columns, row, strict=True)
            yield number, [self._cell(cell, number, shown(key)) for key, cell in cells]

    def _lists(self, values: Sequence[tuple[int, Any]]) -> Iterator[Record]:
        for number, row in values:
            if not isinstance(row, list):
                raise self._expected("a list", number, row)
            yield number, [self._cell(cell, number, f"cell {i}") for i, cell in enumerate(row, 1)]

    def _objects(self, values: Sequence[tuple[int, Any]], keys: dict[str, None]) -> Iterator[Record]:
        """Yield objects by row: columns are all keys in the order of their first use, missing ones empty."""
        for number, row in values:
            if not isinstance(row, dict):
                raise self._expected("an object", number, row)
            keys.update(dict.fromkeys(row))
            if len(keys) > MAX_COLUMNS:
                raise self.origin.error(
                    f"the objects have more than {MAX_COLUMNS:,} different keys",
                    at=number,
                    hint="Each key becomes a column; put what varies from row to row into cells.",
                )
        yield 0, [clean_cell(key) for key in keys]
        for number, row in values:
            yield number, [self._cell(row.get(key), number, shown(key)) for key in keys]

    def _expected(self, kind: str, number: int, found: Any) -> InputError:
        return self.origin.error(f"holds {_kind(found)} where {kind} is expected", at=number, hint=_SHAPES)

    def _cell(self, value: Any, number: int, key: str) -> str:
        try:
            return cell_text(value)
        except ValueError as error:
            hint = "Cells are text, finite numbers, true, false or null."
            raise self.origin.error(f"{key} {error}", at=number, hint=hint) from None

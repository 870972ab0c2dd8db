"""Tables in JSON files: one, a list of them, or one for each key, at any depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from chameleon.documents.found import NOWHERE, Found, LeftOut, table_of
from chameleon.documents.text_files import require_text
from chameleon.errors import InputError
from chameleon.table.json_tables import line_records, load_json, load_json_lines, value_records
from chameleon.table.records import Origin
from chameleon.text import clean_cell

_HEADERS, _ROWS, _NAMES = ("header", "columns"), ("rows", "data"), ("caption", "title", "name")


def json_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """The tables of a JSON text: itself, the tables of a list, or those under the keys of objects.

    A table below several keys is called by all of them. None in other JSON, such as settings.
    """
    require_text(text, origin)
    data = load_json(text.removeprefix("\ufeff"), origin)
    if not _may_be_table(data):
        return
    if isinstance(data, list) and data and all(map(_is_whole, data)):
        for number, value in enumerate(data, 1):
            yield _table(value, replace(origin, name=f"{origin.name}, table {number}"))
    elif isinstance(data, dict) and not _is_whole(data) and (keyed := _keyed(data)):
        for keys, value in keyed:
            key = ".".join(keys)
            yield _table(value, replace(origin, name=f"{origin.name}, {key!r}"), key, ": ".join(keys))
    else:
        yield _table(data, origin)


def json_line_tables(text: str, origin: Origin) -> Iterator[Found | LeftOut]:
    """The table of a JSON Lines text, or the tables where each line holds one."""
    require_text(text, origin)
    values = load_json_lines(text.removeprefix("\ufeff"), origin)
    if all(_is_whole(value) for _, value in values):
        for number, value in values:
            yield _table(value, replace(origin, name=origin.at(number)))
    else:
        yield table_of(line_records(values, origin), origin, NOWHERE, "")


def _table(value: Any, origin: Origin, key: str = "", title: str = "") -> Found | LeftOut:
    captions = [value[name] for name in _NAMES if name in value] if _is_whole(value) else []
    name = title or next((clean_cell(text) for text in captions if isinstance(text, str)), "")
    try:
        records, _ = value_records(value, origin)
    except InputError as error:
        return LeftOut.of(error)
    return table_of(records, replace(origin, unit="row"), {"table": key} if key else NOWHERE, name)


def _keyed(data: Mapping[str, Any]) -> list[tuple[list[str], Any]]:
    """The values that are tables of their own, by their keys from the top, in the order of the text."""
    found = []
    waiting: list[tuple[list[str], Any]] = [([], data)]
    while waiting:
        keys, value = waiting.pop()
        if keys and (_is_whole(value) or _is_rows(value)):
            found.append((keys, value))
        elif isinstance(value, dict):
            below = [([*keys, clean_cell(key)], inner) for key, inner in value.items()]
            waiting += reversed(below)
    return found


def _may_be_table(data: Any) -> bool:
    """Whether it holds rows or columns at the top, or tables below."""
    if isinstance(data, dict):
        is_table = _is_whole(data) or all(isinstance(value, list) for value in data.values())
        return bool(data) and (is_table or bool(_keyed(data)))
    return isinstance(data, list) and any(isinstance(value, dict | list) for value in data)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict | list)


def _is_whole(value: Any) -> bool:
    """Whether it is an object with a header and rows."""
    return isinstance(value, dict) and all(
        any(isinstance(value.get(key), list) for key in keys) for keys in (_HEADERS, _ROWS)
    )

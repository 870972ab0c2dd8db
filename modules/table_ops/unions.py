"""Concatenate tables with the same columns, such as one list in several years."""

import re
from collections.abc import Sequence

from chameleon import Table
from chameleon.table.replies import normal

_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_WORD = re.compile(r"[^\W_]+")


def has_same_columns(table: Table, other: Table) -> bool:
    """Return whether two tables have the same columns, ignoring case, space and order."""
    return sorted(map(normal, table.header)) == sorted(map(normal, other.header))


def differences(names: Sequence[str]) -> list[str]:
    """Return the parts in which names differ: "2023" and "2024" for "league 2023" and "league 2024"."""
    words = [_WORD.findall(name) for name in names]
    shared = set.intersection(*({word.casefold() for word in each} for each in words))
    parts = [" ".join(word for word in each if word.casefold() not in shared) for each in words]
    return parts if all(parts) and len(set(parts)) == len(parts) else list(names)


def union_of(named: Sequence[tuple[str, Table]]) -> Table:
    """Return the rows of tables with the same columns, each labeled with its table.

    The labels form a first column: "Year" if all are years, else "Table". The caption is what the names
    share.
    """
    (_, first), *_ = named
    values = differences([name for name, _ in named])
    names = ["Year"] if all(map(_YEAR.fullmatch, values)) else []
    column = next(n for n in (*names, "Table", "Source", "Name of the table") if n not in first.header)
    places = [[list(map(normal, each.header)).index(normal(n)) for n in first.header] for _, each in named]
    rows = [
        (value, *(row[place] for place in order))
        for value, order, (_, each) in zip(values, places, named, strict=True)
        for row in each.rows
    ]
    shared = set.intersection(*({*_WORD.findall(name.casefold())} for name, _ in named))
    caption = " ".join(word for word in _WORD.findall(named[0][0]) if word.casefold() in shared)
    return Table((column, *first.header), rows, caption)

"""Conditions on rows: what a cell of one column has to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from chameleon.modules.offline.lexical.calendar import Date
from chameleon.modules.offline.lexical.words import key_of, number_of, tokens_of
from chameleon.modules.table_ops.order import date_in, number_in
from chameleon.table import Table

Relation = Literal[
    "is", "has", "begins", "=", "<", ">", "<=", ">=", "on", "before", "after", "filled", "same"
]
_SIGNS = {
    "=": lambda a, b: abs(a - b) < 1e-9,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True)
class Condition:
    """One column's cell stands in a relation to a value; `negated` turns it round.

    - "is" and "has": the cell is that name, or holds it as words next to each other; "begins" with it.
    - "=", "<", …: by number. "on", "before", "after": by date, of which parts may be open.
    - "filled": there is something in the cell.
    - `also`: further values, any of which will do.
    """

    column: str
    relation: Relation
    value: str
    negated: bool = False
    also: tuple[str, ...] = ()

    def holds(self, cell: str) -> bool:
        return any(_holds(self.relation, value, cell) for value in (self.value, *self.also)) != self.negated

    def __str__(self) -> str:
        words = {"=": "is", "has": "has"}.get(self.relation, self.relation)
        values = " or ".join((self.value, *self.also))
        return f"{self.column} {'not ' if self.negated else ''}{words} {values}".rstrip()

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"column": self.column, "relation": self.relation, "value": self.value}
        if self.negated:
            told["negated"] = True
        return told | ({"also": list(self.also)} if self.also else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Condition:
        negated, also = data.get("negated", False), tuple(data.get("also", ()))
        return cls(data["column"], data["relation"], data["value"], negated, also)


@lru_cache(maxsize=65_536)
def _holds(relation: Relation, value: str, cell: str) -> bool:
    if relation == "filled":
        return any(character.isalnum() for character in cell)
    if relation == "is":
        return key_of(cell) == key_of(value)
    if relation in ("has", "begins"):
        return _has(key_of(cell), key_of(value), at_start=relation == "begins")
    if relation in _SIGNS:
        found, wanted = number_in(cell), number_in(value)
        return found is not None and wanted is not None and bool(_SIGNS[relation](found, wanted))
    return _dated(relation, value, cell)


def _has(cell: tuple[str, ...], part: tuple[str, ...], *, at_start: bool) -> bool:
    starts = range(1 if at_start else len(cell) - len(part) + 1)
    return bool(part) and any(cell[start : start + len(part)] == part for start in starts)


def _dated(relation: Relation, value: str, cell: str) -> bool:
    wanted, found = date_of(value), date_of(cell)
    if wanted is None or found is None:
        return False
    if relation == "on":
        return wanted.fits(found)
    compared = [(a, b) for a, b in zip(found, wanted, strict=True) if a and b]
    mine, theirs = tuple(a for a, _ in compared), tuple(b for _, b in compared)
    return mine < theirs if relation == "before" else mine > theirs


@lru_cache(maxsize=65_536)
def date_of(text: str) -> Date | None:
    """The date in a text, or the year alone."""
    for token in tokens_of(text):
        if token.date is not None:
            return token.date
    if (found := date_in(text)) is not None and any(found[:3]):
        return Date(*found[:3])
    return None


def rows_where(table: Table, conditions: Iterable[Condition]) -> list[int]:
    """The positions of the rows that meet all conditions; none where a column is not there."""
    listed = list(conditions)
    if any(condition.column not in table.header for condition in listed):
        return []
    columns = [table.header.index(condition.column) for condition in listed]
    pairs = list(zip(columns, listed, strict=True))
    return [n for n, row in enumerate(table.rows) if all(each.holds(row[c]) for c, each in pairs)]


__all__ = ["Condition", "Relation", "date_of", "number_of", "rows_where"]

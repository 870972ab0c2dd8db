"""The rows that a question means, and the code that gets numbers and names from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.conditions import Condition, is_numbered_name
from chameleon.modules.offline.grammar.programs import are_whole, listing, literal, variable
from chameleon.table import Column, Table

LITERAL_LIMIT = 60
"""Up to so many values are written into a program; with more it reads them from `table`."""

_ORDINALS = {"st", "nd", "rd", "th"}


@dataclass(frozen=True)
class Selection:
    """Rows of a table that meet all conditions; `joints` are the words that join these."""

    table: Table
    conditions: tuple[Condition, ...]
    joints: frozenset[int] = frozenset()

    @cached_property
    def rows(self) -> tuple[int, ...]:
        kept = set(range(len(self.table.rows)))
        for condition in self.conditions:
            kept &= condition.rows
        return tuple(sorted(kept))

    @property
    def places(self) -> frozenset[int]:
        return self.joints.union(*(condition.places for condition in self.conditions))

    @property
    def columns(self) -> frozenset[int]:
        return frozenset(condition.column for condition in self.conditions)

    @property
    def said(self) -> str:
        """ " where Region is North and Units is at least 5", or nothing."""
        asked = [condition.said for condition in self.conditions if condition.places]
        added = [condition.said for condition in self.conditions if not condition.places and condition.said]
        return ", ".join([" where " + " and ".join(asked) if asked else "", *added])

    def narrowed(self, *conditions: Condition) -> Selection:
        return Selection(self.table, (*self.conditions, *conditions), self.joints)

    def without_named(self) -> Selection:
        """All rows but those of totals: the whole of which this selection is a part."""
        return Selection(self.table, tuple(c for c in self.conditions if not c.places))

    def require_rows(self) -> Selection:
        if not self.rows:
            raise Declined(f"no row of the table fits{self.said.replace(' where', ':', 1)}")
        return self

    def numbers(self, columns: Iterable[int]) -> list[Fraction]:
        """The filled numbers of these columns, row by row; raises `Declined` where their units differ."""
        found = [self.table.columns[column].values[row] for row in self.rows for column in columns]
        units = {value.unit.removesuffix("s") for value in found if value.number is not None} - _ORDINALS
        if len(units) > 1:
            told = "are not all in" if "" in units else "are in different units:"
            raise Declined(f"the numbers {told} {', '.join(sorted(filter(None, units)))}")
        return [value.number for value in found if value.number is not None]

    def numbers_code(self, columns: tuple[int, ...], name: str = "") -> tuple[list[str], str]:
        """Lines that gather these numbers, and the name of the variable that holds them."""
        numbers = self.numbers(columns)
        if not numbers:
            raise Declined(f"no number stands there{self.said}")
        chosen = name or variable(self.table.header[columns[0]])
        if len(numbers) <= LITERAL_LIMIT:
            return [f"{chosen} = {listing(numbers)}"], chosen
        cells = f"(row[{columns[0]}],)" if len(columns) == 1 else f"[row[i] for i in {columns}]"
        return [
            *self.rows_code(),
            f"{chosen} = [{_exact(numbers)} for row in rows for cell in {cells} if cell is not None]",
        ], chosen

    def rows_code(self) -> list[str]:
        if not any(name.strip() for name in self.table.header):
            raise Declined("the table has no line of names", hint="Add a header line.")
        tests = " and ".join(f"({c.code})" if " and " in c.code else c.code for c in self.conditions)
        row = 'index, row in enumerate(table["rows"])' if "index in " in tests else 'row in table["rows"]'
        return [f"rows = [row for {row}{' if ' + tests if tests else ''}]"]

    def pairs_code(self, label: Column, columns: tuple[int, ...], name: str) -> list[str]:
        """Lines that gather (name of the row, number) pairs; the numbers of several columns are added."""
        pairs = self.pairs(label, columns)
        if not pairs:
            raise Declined(f"no number stands there{self.said}")
        if len(pairs) <= LITERAL_LIMIT or is_numbered_name(label):
            listed = ", ".join(f"({text!r}, {literal(number)})" for text, number in pairs)
            return [f"{name} = [{listed}]"]
        cells = f"({', '.join(f'row[{i}]' for i in columns)},)"
        exact = _exact(number for _, number in pairs)
        number = f"sum({exact} for cell in {cells} if cell is not None)"
        given = f"any(cell is not None for cell in {cells})"
        if len(columns) == 1:
            number, given = exact.replace("cell", f"row[{columns[0]}]"), f"row[{columns[0]}] is not None"
        return [
            *self.rows_code(),
            f"{name} = [",
            f"    (str(row[{label.index}]).strip(), {number})",
            "    for row in rows",
            f"    if row[{label.index}] not in (None, '') and {given}",
            "]",
        ]

    def pairs(self, label: Column, columns: tuple[int, ...]) -> list[tuple[str, Fraction]]:
        found = []
        for row in self.rows:
            numbers = [self.table.columns[i].values[row].number for i in columns]
            filled = [number for number in numbers if number is not None]
            if filled and label.cells[row].strip():
                found.append((label.cells[row].strip(), sum(filled, Fraction(0))))
        return found


def _exact(numbers: Iterable[Fraction]) -> str:
    """What makes an exact number of a cell, which is a float where it has decimals."""
    return "cell" if are_whole(numbers) else "Fraction(str(cell))"

"""Which rows and columns of tables a program or a query reads, as far as its text says so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chameleon import Table
from chameleon.modules.sql.database import safe_names
from chameleon.table.amounts import read_amount

FRAMES = frozenset(("df", "table"))  # the names by which a program calls the first table
_VERDICTS = frozenset(("yes", "no", "true", "false", ""))

Rows = dict[str, set[int]]


@dataclass(frozen=True)
class Ref:
    """A column that a text names, and the tables that it may be of: groups of names, the likeliest first."""

    groups: Sequence[Sequence[str]]
    column: str

    def places(self, columns: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return the tables that it is of, with its place; all that have such a column where none is told."""
        for group in (*self.groups, tuple(columns)):
            there = {t: names.index(self.column) for t, names in columns.items() if self.column in names}
            if found := {table: place for table, place in there.items() if table in group}:
                return found
        return {}


@dataclass(frozen=True)
class CellCondition:
    """Values of which a cell has to equal one; without a column, in any of those that are read."""

    ref: Ref | None
    values: Sequence[str]


@dataclass(frozen=True)
class Reads:
    """What a program or query reads: what it names, what cells have to equal, and which columns are joined.

    `is_plain`: nothing is compared but for equality, so that rows without the values do not count.
    `is_any`: a row needs one of the values only. `is_loose`: tables are joined by columns that are not told.
    """

    names: frozenset[str]
    conditions: Sequence[CellCondition]
    links: Sequence[tuple[Ref, Ref]]
    is_plain: bool
    is_any: bool
    is_loose: bool

    def columns(self, table: Table) -> list[int]:
        """Return the places of a table's columns that are named."""
        called = zip(_called(table.header), _called(safe_names(table.header)), strict=True)
        return [n for n, names in enumerate(called) if not self.names.isdisjoint(names)]


def parts_read(
    reads: Reads, tables: Mapping[str, Table], first: str
) -> dict[str, tuple[list[int] | None, list[int]]]:
    """Return the rows (None for all) and columns of each table that is read, by its name among `tables`.

    `first` is the table that programs call `df`.
    """
    named = {name for name in tables if name.casefold() in reads.names}
    used = named | ({first} if reads.names & FRAMES or len(tables) == 1 else set())
    used = set(tables) if "tables" in reads.names and not named else used  # by a name that is worked out
    seen = {name: table for name, table in tables.items() if name in used or not used}
    columns = {name: reads.columns(table) for name, table in seen.items()}
    rows = _TableRows.of(seen, first).kept(reads, columns) if reads.is_plain else {}
    return {name: (sorted(rows[name]) if rows.get(name) else None, columns[name]) for name in seen}


def _called(header: Sequence[str]) -> list[str]:
    return [name.strip().casefold() for name in header]


@dataclass(frozen=True)
class _TableRows:
    """Tables by their names in any case, and what their columns are called."""

    tables: Mapping[str, tuple[str, Table]]
    header: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, tables: Mapping[str, Table], first: str) -> _TableRows:
        known = {name.casefold(): (name, table) for name, table in tables.items()}
        if first in tables:
            known |= dict.fromkeys(FRAMES - known.keys(), (first, tables[first]))
        return cls(known, {name: _called(safe_names(table.header)) for name, (_, table) in known.items()})

    def places(self, ref: Ref) -> dict[str, int]:
        """Return the tables that a column is of, by the names that they have here, with its place."""
        return {self.tables[table][0]: place for table, place in ref.places(self.header).items()}

    def equal(self, table: str, column: int, forms: frozenset[str]) -> set[int]:
        """Return the rows whose cell equals one of the values in one of its forms."""
        rows = next(each.rows for name, each in self.tables.values() if name == table)
        return {n for n, row in enumerate(rows) if _forms(row[column]) & forms}

    def kept(self, reads: Reads, columns: Mapping[str, Sequence[int]]) -> Rows:
        """Return the rows that have the values and those that these lead to; none where any row may count."""
        found: dict[str, dict[int, set[int]]] = {name: {} for name in columns}
        known = {*self.tables} | {name for header in self.header.values() for name in header}
        for condition in reads.conditions:
            at = self.places(condition.ref) if condition.ref else {}
            for value in condition.values:
                if not at and value.strip().casefold() in known | _VERDICTS:
                    continue
                places = [*at.items()] or [(name, n) for name, each in columns.items() for n in each]
                hits = {each: rows for each in places if (rows := self.equal(*each, _forms(value)))}
                if not hits:
                    return {}
                for (name, column), rows in hits.items():
                    found[name].setdefault(column, set()).update(rows)
        kept = Rows()
        for name, each in found.items():
            either = set().union(*each.values())
            both = set() if reads.is_any else either.intersection(*each.values())
            kept |= {name: both or either} if each else {}
        return self.led(kept, reads, columns) if kept else {}

    def led(self, kept: Rows, reads: Reads, columns: Mapping[str, Sequence[int]]) -> Rows:
        """Return the rows kept, and those of other tables that these lead to by columns that are joined."""
        joins = [
            (table, column, other, place)
            for pair in reads.links
            for one, two in (pair, pair[::-1])
            for table, column in self.places(one).items()
            for other, place in self.places(two).items()
            if table != other
        ]
        told = {*kept}
        for _ in columns:
            for table, column, other, place in joins:
                if table in kept and (other not in kept or (told >= {table, other} and not reads.is_any)):
                    led = self.equal(other, place, self.shared(table, kept[table], [column]))
                    led &= kept.get(other, led)
                    kept |= {other: led} if led else {}
        for other in [each for each in columns if each not in kept] if reads.is_loose else ():
            forms = frozenset().union(*(self.shared(each, kept[each], columns[each]) for each in kept))
            kept[other] = set().union(*(self.equal(other, place, forms) for place in columns[other]))
        return kept

    def shared(self, table: str, rows: set[int], columns: Sequence[int]) -> frozenset[str]:
        """Return what cells of these rows and columns may equal."""
        whole = next(each.rows for name, each in self.tables.values() if name == table)
        return frozenset().union(*(_forms(whole[n][column]) for n in rows for column in columns))


def _forms(text: str) -> frozenset[str]:
    """Return what a cell or value may equal: its text in any case, and its number."""
    amount = read_amount(text)
    number = {f"{float(amount.number):.12g}"} if amount else set()
    return frozenset({re.sub(r"\s+", " ", text.strip().casefold()), *number} - {""})

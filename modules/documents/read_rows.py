"""Find which rows and columns of tables a program or query reads, judging by its text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chameleon import Table
from chameleon.modules.sql.database import safe_names
from chameleon.table.amounts import read_amount

FRAMES = frozenset(("df", "table"))  # names of the first table in a program
_VERDICTS = frozenset(("yes", "no", "true", "false", ""))

Rows = dict[str, set[int]]


@dataclass(frozen=True)
class Ref:
    """A column that a text names, and the tables it may belong to: groups of names, likeliest first."""

    groups: Sequence[Sequence[str]]
    column: str

    def places(self, columns: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return the tables it belongs to, with its position; if unclear, all that have that column."""
        for group in (*self.groups, tuple(columns)):
            holders = {t: names.index(self.column) for t, names in columns.items() if self.column in names}
            if matches := {table: place for table, place in holders.items() if table in group}:
                return matches
        return {}


@dataclass(frozen=True)
class CellCondition:
    """Values, one of which a cell must equal; without a column, in any column that is read."""

    ref: Ref | None
    values: Sequence[str]


@dataclass(frozen=True)
class Reads:
    """What a program or query reads: names, values that cells must equal, and joined columns.

    Attributes:
        is_plain: whether it compares only for equality, so rows without the values do not count.
        is_any: whether a row needs only one of the values.
        is_loose: whether it joins tables by unknown columns.
    """

    names: frozenset[str]
    conditions: Sequence[CellCondition]
    links: Sequence[tuple[Ref, Ref]]
    is_plain: bool
    is_any: bool
    is_loose: bool

    def columns(self, table: Table) -> list[int]:
        """Return the positions of a table's columns that the text names."""
        pairs = zip(_folded(table.header), _folded(safe_names(table.header)), strict=True)
        return [n for n, names in enumerate(pairs) if not self.names.isdisjoint(names)]


def parts_read(
    reads: Reads, tables: Mapping[str, Table], first: str
) -> dict[str, tuple[list[int] | None, list[int]]]:
    """Return the rows (None for all) and columns read from each table, by its name in `tables`.

    `first` is the table that programs call `df`.
    """
    mentions = {name for name in tables if name.casefold() in reads.names}
    used = mentions | ({first} if reads.names & FRAMES or len(tables) == 1 else set())
    used = set(tables) if "tables" in reads.names and not mentions else used  # by a computed name
    used_tables = {name: table for name, table in tables.items() if name in used or not used}
    columns = {name: reads.columns(table) for name, table in used_tables.items()}
    rows = _TableRows.of(used_tables, first).matching_rows(reads, columns) if reads.is_plain else {}
    return {name: (sorted(rows[name]) if rows.get(name) else None, columns[name]) for name in used_tables}


def _folded(header: Sequence[str]) -> list[str]:
    return [name.strip().casefold() for name in header]


@dataclass(frozen=True)
class _TableRows:
    """Tables by their names, ignoring case, and the names of their columns."""

    tables: Mapping[str, tuple[str, Table]]
    header: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, tables: Mapping[str, Table], first: str) -> "_TableRows":
        known = {name.casefold(): (name, table) for name, table in tables.items()}
        if first in tables:
            known |= dict.fromkeys(FRAMES - known.keys(), (first, tables[first]))
        return cls(known, {name: _folded(safe_names(table.header)) for name, (_, table) in known.items()})

    def places(self, ref: Ref) -> dict[str, int]:
        """Return the tables that a column belongs to, by their original names, with its position."""
        return {self.tables[table][0]: place for table, place in ref.places(self.header).items()}

    def equal(self, table: str, column: int, forms: frozenset[str]) -> set[int]:
        """Return the rows whose cell has one of these forms."""
        rows = next(each.rows for name, each in self.tables.values() if name == table)
        return {n for n, row in enumerate(rows) if _forms(row[column]) & forms}

    def matching_rows(self, reads: Reads, columns: Mapping[str, Sequence[int]]) -> Rows:
        """Return the rows with the values and the rows joined to them; empty if any row may count."""
        matches: dict[str, dict[int, set[int]]] = {name: {} for name in columns}
        names = {*self.tables} | {name for header in self.header.values() for name in header}
        for condition in reads.conditions:
            at = self.places(condition.ref) if condition.ref else {}
            for value in condition.values:
                if not at and value.strip().casefold() in names | _VERDICTS:
                    continue
                places = [*at.items()] or [(name, n) for name, each in columns.items() for n in each]
                hits = {each: rows for each in places if (rows := self.equal(*each, _forms(value)))}
                if not hits:
                    return {}
                for (name, column), rows in hits.items():
                    matches[name].setdefault(column, set()).update(rows)
        result = Rows()
        for name, each in matches.items():
            either = set().union(*each.values())
            both = set() if reads.is_any else either.intersection(*each.values())
            result |= {name: both or either} if each else {}  # if none has all: separate lookups
        return self.with_joined_rows(result, reads, columns) if result else {}

    def with_joined_rows(self, rows: Rows, reads: Reads, columns: Mapping[str, Sequence[int]]) -> Rows:
        """Return the kept rows, and the rows of other tables that joins lead to."""
        joins = [
            (table, column, other, place)
            for pair in reads.links
            for one, two in (pair, pair[::-1])
            for table, column in self.places(one).items()
            for other, place in self.places(two).items()
            if table != other
        ]
        direct = {*rows}
        for _ in columns:  # joins may form a chain as long as there are tables
            for table, column, other, place in joins:
                if table in rows and (other not in rows or (direct >= {table, other} and not reads.is_any)):
                    targets = self.equal(other, place, self.shared(table, rows[table], [column]))
                    targets &= rows.get(other, targets)
                    rows |= {other: targets} if targets else {}
        for other in [each for each in columns if each not in rows] if reads.is_loose else ():
            forms = frozenset().union(*(self.shared(each, rows[each], columns[each]) for each in rows))
            rows[other] = set().union(*(self.equal(other, place, forms) for place in columns[other]))
        return rows

    def shared(self, table: str, rows: set[int], columns: Sequence[int]) -> frozenset[str]:
        """Return the forms of the cells in these rows and columns."""
        table_rows = next(each.rows for name, each in self.tables.values() if name == table)
        return frozenset().union(*(_forms(table_rows[n][column]) for n in rows for column in columns))


def _forms(text: str) -> frozenset[str]:
    """Return the forms of a cell or value to compare: its text, ignoring case, and its number."""
    amount = read_amount(text)
    number = {f"{float(amount.number):.12g}"} if amount else set()
    return frozenset({re.sub(r"\s+", " ", text.strip().casefold()), *number} - {""})

"""Which rows and columns of tables a program or a query reads, as far as its text says so."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

from chameleon import Table
from chameleon.modules.sql.query_faults import tokens_of
from chameleon.table.amounts import read_amount

_FRAMES = frozenset(("df", "table"))
_JOINING = frozenset(("merge", "join", "map", "isin"))
# What compares in another way than for equality, so that any row may count.
_OTHER_CALLS = frozenset(
    ("between", "contains", "endswith", "ge", "gt", "le", "lt", "match", "ne", "query", "startswith")
)
_OTHER_WORDS = frozenset(
    ("<", ">", "<=", ">=", "!=", "<>", "NOT", "LIKE", "GLOB", "BETWEEN", "EXCEPT", "CASE", "OFFSET")
)
_VERDICTS = frozenset(("yes", "no", "true", "false", ""))


@dataclass(frozen=True)
class Reads:
    """What a program or query names: columns and tables, values that cells have to equal, and how.

    `is_plain`: nothing is compared but for equality, so that rows without the values do not count.
    `is_any`: a row needs one of the values only. `joins`: rows of one table lead to those of another.
    """

    names: frozenset[str]
    values: tuple[str, ...]
    is_plain: bool
    is_any: bool
    joins: bool

    @classmethod
    def of_program(cls, program: ast.Module) -> Reads:
        nodes = list(ast.walk(program))
        skipped = {id(each.value) for each in nodes if isinstance(each, ast.keyword)}
        constants = [each for each in nodes if isinstance(each, ast.Constant)]
        texts = [str(n.value) for n in constants if isinstance(n.value, str)]
        names = {each.id for each in nodes if isinstance(each, ast.Name)}
        attributes = {each.attr for each in nodes if isinstance(each, ast.Attribute)}
        compared = [each for each in nodes if isinstance(each, ast.Compare)]
        values = [str(n.value) for n in constants if isinstance(n.value, str) and id(n) not in skipped]
        sides = [side for each in compared for side in (each.left, *each.comparators)]
        figures = [each.value for each in sides if isinstance(each, ast.Constant)]
        values += [str(each) for each in figures if not isinstance(each, str)]
        is_plain = all(isinstance(op, ast.Eq | ast.In) for each in compared for op in each.ops)
        is_plain &= not attributes & _OTHER_CALLS
        unary = [each.operand for each in nodes if isinstance(each, ast.UnaryOp)]
        is_plain &= all(isinstance(each, ast.Constant) for each in unary)  # no "not", no "~"
        is_any = any(isinstance(each, ast.BitOr | ast.Or) for each in nodes)
        known = frozenset(map(str.casefold, {*texts, *attributes, *names}))
        return cls(known, tuple(values), is_plain, is_any, bool(attributes & _JOINING))

    @classmethod
    def of_query(cls, sql: str) -> Reads:
        tokens = [(each.lastgroup, each[0]) for each in tokens_of(sql)]
        words = {text.upper() for kind, text in tokens if kind in ("word", "sign")}
        texts = [text[1:-1] for kind, text in tokens if kind in ("quoted", "text", "other")]
        numbers = [text for (_, sign), (kind, text) in pairwise(tokens) if kind == "number" and sign == "="]
        names = [text for kind, text in tokens if kind == "word"]
        known = frozenset(map(str.casefold, [*names, *texts]))
        joins = "JOIN" in words or "IN" in words or sql.count(".") > 1
        return cls(known, (*texts, *numbers), not words & _OTHER_WORDS, "OR" in words, joins)


def parts_read(
    reads: Reads, tables: Mapping[str, Table], first: str
) -> dict[str, tuple[list[int] | None, list[int]]]:
    """Return the rows (None for all) and columns of each table that is read, by its name among `tables`.

    `first` is the table that programs call `df`.
    """
    named = {name for name in tables if name.casefold() in reads.names}
    used = named | ({first} if reads.names & _FRAMES or len(tables) == 1 else set())
    seen = {name: table for name, table in tables.items() if name in used or not used}
    columns = {
        name: [n for n, column in enumerate(table.header) if column.strip().casefold() in reads.names]
        for name, table in seen.items()
    }
    rows = _rows(reads, seen, columns, {*map(str.casefold, tables)})
    return {name: (rows.get(name), columns[name]) for name in seen}


def _rows(
    reads: Reads, tables: Mapping[str, Table], columns: Mapping[str, Sequence[int]], names: set[str]
) -> dict[str, list[int] | None]:
    """Return the rows that have the values, then those that these lead to; None where any row may count."""
    names = names | {name.strip().casefold() for table in tables.values() for name in table.header}
    values = {each.strip().casefold() for each in reads.values} - names - _VERDICTS
    found: dict[str, dict[int, set[int]]] = {name: {} for name in tables}
    left = set(values)
    for name, table in tables.items():
        for column in columns[name]:
            forms = [_forms(row[column]) for row in table.rows]
            for value in values:
                asked = _forms(value)
                if hits := {n for n, each in enumerate(forms) if each & asked}:
                    left.discard(value)
                    found[name].setdefault(column, set()).update(hits)
    if not reads.is_plain or left or not values:
        return {}
    kept: dict[str, set[int]] = {}
    for name, hits_in in found.items():
        either = set().union(*hits_in.values())
        both = reduce(set.intersection, hits_in.values(), either)
        if either:
            kept[name] = either if reads.is_any else both or either
    while reads.joins:  # rows of further tables that share a cell with those kept, in the columns read
        shared = {
            form
            for name, rows in kept.items()
            for n in rows
            for column in columns[name]
            for form in _forms(tables[name].rows[n][column])
        }
        led = {
            name: {
                n for n, row in enumerate(table.rows) if any(_forms(row[c]) & shared for c in columns[name])
            }
            for name, table in tables.items()
            if name not in kept
        }
        if not any(led.values()):
            break
        kept |= {name: rows for name, rows in led.items() if rows}
    return {name: sorted(each) for name, each in kept.items() if each}


def _forms(text: str) -> frozenset[str]:
    """Return what a cell or value may equal: its text in any case, and its number."""
    amount = read_amount(text)
    number = {f"{float(amount.number):.12g}"} if amount else set()
    return frozenset({re.sub(r"\s+", " ", text.strip().casefold()), *number} - {""})

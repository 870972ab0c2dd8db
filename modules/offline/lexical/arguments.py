"""The arguments of a table operation, chosen from the table as it stands and what a reading wants of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chameleon import State, StepRejected, Table
from chameleon.modules.offline.lexical.conditions import rows_where
from chameleon.modules.offline.lexical.fields import total_rows
from chameleon.modules.offline.lexical.reading import Link
from chameleon.modules.table_ops.sort_by import ASCENDING, DESCENDING

Args = dict[str, Any]


def arguments_at(state: State, operation: str) -> Args:
    """The arguments of the next operation that `cache.reading` wants, for the table as it now stands.

    Raises `StepRejected` where the reading wants another one, or where nothing would change.
    """
    links, done = state.cache["reading"]["chain"], state.cache.get("chain", ())
    if len(done) >= len(links) or links[len(done)]["operation"] != operation:
        raise StepRejected("the question does not need it now")
    return arguments_of(Link.from_json(links[len(done)]), state.input["table"])


def arguments_of(link: Link, table: Table) -> Args:
    """The arguments that do what the link says; `StepRejected` where the table would not change."""
    chosen = {"select_row": _rows, "select_column": _columns, "group_by": _group, "sort_by": _order}
    return chosen[link.operation](link, table)


def _rows(link: Link, table: Table) -> Args:
    kept = set(rows_where(table, link.where)) - _totals(link, table)
    if link.either:
        kept &= {row for conditions in link.either for row in rows_where(table, conditions)}
    if not kept:
        raise StepRejected("no row is like that")
    if len(kept) == len(table.rows):
        raise StepRejected("every row is like that")
    return {"rows": [row + 1 for row in sorted(kept)]}


def _totals(link: Link, table: Table) -> frozenset[int]:
    """Rows of totals, unless the reading names one of them."""
    named = set(
        rows_where(table, [each for each in link.where if each.relation in ("is", "has")] or link.where)
    )
    named |= {row for conditions in link.either for row in rows_where(table, conditions)}
    totals = total_rows(table)
    asks_for_some = bool(link.where or link.either)
    return frozenset() if asks_for_some and totals and named and named <= totals else totals


def _columns(link: Link, table: Table) -> Args:
    """The columns that are needed, and the first one, which tells a reader what a row is."""
    kept = list(dict.fromkeys(_in_order(link.columns, table)))
    if kept and table.header[0] not in kept:
        kept.insert(0, table.header[0])
    if not kept or len(kept) == len(set(table.header)):
        raise StepRejected("the question needs every column" if kept else "it names no column of the table")
    return {"columns": kept}


def _in_order(names: Iterable[str], table: Table) -> list[str]:
    wanted = set(names)
    return [name for name in table.header if name in wanted]


def _group(link: Link, table: Table) -> Args:
    return {"column": link.columns[0]}


def _order(link: Link, table: Table) -> Args:
    order = DESCENDING if link.descending else ASCENDING
    return {"column": link.columns[0], "order": order, "datatype": link.datatype}

"""`f_join` and `f_union`: put the rows of another table next to or below these (beyond Chain-of-Table)."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from chameleon import State, StepRejected, Table
from chameleon.core.prompt import TableView, named_tables
from chameleon.modules.table_ops.names import AROUND, column_named, inside_call, normal, one_column
from chameleon.modules.table_ops.operation import Args, TableOperation
from chameleon.modules.table_ops.unions import has_same_columns, union_of

_ON = re.compile(r",\s*on\b", re.IGNORECASE)
_MAX_CELLS = 1_000_000


class Join(TableOperation):
    """Joins the table with another that the question comes with, on a column that both have."""

    prompt = "chain_of_table/join"
    table_view = TableView("numbered", max_rows=5)
    reads = ("input.question", "input.table", "input.tables", "cache.chain?")

    def applied(self, input: Mapping[str, Any], args: Args) -> Table:
        _, other = _other_table(args["table"], input)
        return self.apply(input["table"], {**args, "other": other})

    def apply(self, table: Table, args: Args) -> Table:
        """Return the pairs of matching rows.

        The other tables are `tables` of the input, named by their captions, or "table 2" and so on. A row
        with several matches is repeated; a row without one is left out, and the link's `note` says how many.
        The columns of the other table are added on the right, without the one in `on`; if a name is taken,
        the table's name is added in brackets.

        Args:
            args: {"table": its name, "on": [name, name], "other": the table itself, which no chain holds}.
                `on` names a column of this table and one of the other; their cells must be equal up to case,
                space and quotes; empty cells never match.

        Raises:
            StepRejected: if nothing matches, or if the result would be too large.
        """
        other: Table = args["other"]
        ours, theirs = args["on"]
        left, right = one_column(ours, table.header), one_column(theirs, other.header)
        indexes = [index for index in range(len(other.header)) if index != right]
        partners = _partners(table, left, other, right)
        size = sum(map(len, partners))
        if not size:
            raise StepRejected(f"no cell of {ours!r} occurs in {theirs!r} of {args['table']!r}")
        names = (other.header[index] for index in indexes)
        added = (n if column_named(n, table.header) is None else f"{n} ({args['table']})" for n in names)
        header = (*table.header, *added)
        if size * len(header) > _MAX_CELLS:
            raise StepRejected(f"the joined table would have {size:,} rows, which is too many")
        rows = [
            (*table.rows[position], *(other.rows[match][i] for i in indexes))
            for position, matches in enumerate(partners)
            for match in matches
        ]
        return Table(header, rows, table.caption)

    def noted(self, input: Mapping[str, Any], args: Args) -> str:
        """Return how many rows were left out because nothing in the other table matches them."""
        table, (_, other) = input["table"], _other_table(args["table"], input)
        left, right = one_column(args["on"][0], table.header), one_column(args["on"][1], other.header)
        alone = sum(not matches for matches in _partners(table, left, other, right))
        return f"{alone:,} {'row has' if alone == 1 else 'rows have'} no partner" if alone else ""

    def written(self, args: Args) -> str:
        return f"{args['table']}, on {' = '.join(args['on'])}"

    def choose_args(self, state: State) -> Args:
        if not state.input.get("tables"):
            raise StepRejected("the question has no other table")
        return super().choose_args(state)

    def interpret(self, text: str, state: State) -> Args:
        """Read "f_join(Teams, on Team = Name)", or "f_join(Teams, on Team)" if both have that column."""
        inside = inside_call(text, "join")
        *_, on = [None, *_ON.finditer(inside)]
        if on is None:
            raise StepRejected('it names no columns ("on … = …")')
        table = state.input["table"]
        name, other = _other_table(inside[: on.start()].strip(AROUND), state.input)
        ours, theirs = _columns(inside[on.end() :], table.header, other.header)
        return {"table": name, "on": [table.header[ours], other.header[theirs]]}


class Union(TableOperation):
    """Adds the rows of further tables with the same columns, each with what tells its table apart."""

    prompt = "chain_of_table/union"
    table_view = TableView("numbered", max_rows=5)
    reads = ("input.question", "input.table", "input.tables", "cache.chain?")

    def applied(self, input: Mapping[str, Any], args: Args) -> Table:
        others = [_other_table(name, input) for name in args["tables"]]
        return self.apply(input["table"], {**args, "others": others})

    def apply(self, table: Table, args: Args) -> Table:
        """Return the rows of all tables (see `union_of`). Raises `StepRejected` if their columns differ.

        `args`: {"tables": names}. `apply` also needs `others`, the named tables themselves.
        """
        for name, other in args["others"]:
            if not has_same_columns(table, other):
                raise StepRejected(f"the table {name[:60]!r} has other columns")
        return union_of([(" ".join(table.caption.split()) or "table 1", table), *args["others"]])

    def written(self, args: Args) -> str:
        return ", ".join(args["tables"])

    def interpret(self, text: str, state: State) -> Args:
        """Read "f_union(League 2024, League 2025)"; a name may contain commas."""
        inside = inside_call(text, "union").strip(AROUND)
        names = {normal(name): name for name, _ in named_tables(state.input.get("tables", ()))}
        if (alone := names.get(normal(inside))) is not None:
            return {"tables": [alone]}
        return {"tables": [_other_table(each.strip(AROUND), state.input)[0] for each in inside.split(",")]}


def _other_table(name: str, input: Mapping[str, Any]) -> tuple[str, Table]:
    """Return a table and its name, ignoring case, space and quotes. Raises `StepRejected` if unknown."""
    tables = named_tables(input.get("tables", ()))
    for called, table in [*(each for each in tables if each[0] == name), *tables]:
        if normal(called) == normal(name):
            return called, table
    raise StepRejected(f"no other table is named {name[:60]!r}")


def _partners(table: Table, left: int, other: Table, right: int) -> list[Sequence[int]]:
    """Return for each row the positions of the rows of the other table that match it in these columns."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position, row in enumerate(other.rows):
        places[normal(row[right])].append(position)
    places.pop("", None)
    return [places.get(normal(row[left]), ()) for row in table.rows]


def _columns(text: str, ours: Sequence[str], theirs: Sequence[str]) -> tuple[int, int]:
    """Return the two columns in "Team = Name", one of each table, in either order."""
    left, sign, right = (part.strip(AROUND) for part in text.partition("="))
    right = right if sign else left
    as_said = column_named(left, ours), column_named(right, theirs)
    if None in as_said and None not in (column_named(right, ours), column_named(left, theirs)):
        left, right = right, left
    return one_column(left, ours), one_column(right, theirs)

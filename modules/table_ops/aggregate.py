"""`f_group_by` counts the values of a column (Chain-of-Table); `f_aggregate` computes sums and the like."""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from pydantic import BaseModel

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.names import call_in, column_named, inside_call, one_column
from chameleon.modules.table_ops.operation import Args, TableOperation, form_of, name_in
from chameleon.modules.table_ops.order import datatype_of, keys_of, unclear
from chameleon.table import Column
from chameleon.table.meaning import is_nothing

COUNT = "Count"
_SPELLINGS = {"sum": "total", "average": "avg mean", "count": "number", "min": "minimum", "max": "maximum"}
_WORDS = {word: name for name, words in _SPELLINGS.items() for word in (name, *words.split())}
_CALL = re.compile(rf"({'|'.join(_WORDS)})\b(?:\s*\((.*)\)|\s+of\b)?(.*)", re.IGNORECASE | re.DOTALL)
_BY = re.compile(r"\bby\b", re.IGNORECASE)


class GroupBy(TableOperation):
    """Groups the rows by the values of one column and counts each. For questions about how many of a kind."""

    prompt = "wikitq/group_by"
    most_distinct = 0.8

    def apply(self, table: Table, args: Args) -> Table:
        """Return the table of a column's values and their counts. `args`: {"column": name}.

        The most frequent value comes first, ties by value; empty cells are a group. Refused if nearly all
        filled cells of the column differ, because grouping would be pointless.
        """
        name = args["column"]
        index = one_column(name, table.header)
        counts = Counter([row[index].strip() for row in table.rows])
        filled = len(table.rows) - counts[""]
        if not filled:
            raise StepRejected(f"the column {name!r} is empty")
        if (len(counts) - ("" in counts)) / filled > self.most_distinct:
            raise StepRejected(f"the values of {name!r} are nearly all different")
        groups = sorted(counts.items(), key=lambda group: (-group[1], group[0]))
        count = COUNT if name != COUNT else f"{COUNT} of {COUNT}"
        return Table([name, count], [(value, str(n)) for value, n in groups], table.caption)

    def written(self, args: Args) -> str:
        return str(args["column"])

    def args_form(self, table: Table) -> type[BaseModel]:
        return form_of(column=name_in(table.header))

    def read_args(self, text: str, table: Table) -> Args:
        """Read "f_group(Country)" or "f_group([Country])"."""
        index = one_column(call_in(text, "group", "group_by", "group_column"), table.header)
        return {"column": table.header[index]}


class Aggregate(TableOperation):
    """Takes the sum, average, count, minimum or maximum of a column, over all rows or for each group."""

    prompt = "chain_of_table/aggregate"

    def apply(self, table: Table, args: Args) -> Table:
        """Return a row for each group, with the value of the function over the column.

        The new table has a header such as "Team | Sum of Points" and the groups in order of first appearance.
        Sums and averages are plain numbers without a unit. Blank cells are ignored.

        Args:
            args: {"function", "column", "by"}. `function` is "sum", "average", "count", "min" or "max";
                `column` may be None for "count", which then counts rows; `by` is None for one group.

        Raises:
            StepRejected: if the table has no rows, if all cells are blank, if the column is unclear or holds
                codes, and for the sum or average of a column that is not numeric.
        """
        function, column, by = args["function"], args["column"], args["by"]
        if not table.rows:
            raise StepRejected("the table has no rows")
        of = None if column is None else table.columns[one_column(column, table.header)]
        if of is not None and function != "count":
            _refuse(function, of)
        place = None if by is None else one_column(by, table.header)
        groups: dict[str, list[int]] = {}
        for number, row in enumerate(table.rows):
            groups.setdefault("" if place is None else row[place].strip(), []).append(number)
        summed = {name: _summed(function, of, group) for name, group in groups.items()}
        if not any(summed.values()):
            raise StepRejected(f"the column {column!r} has no values for {function}")
        title = f"{function.capitalize()} of {column}" if column is not None else COUNT
        if by is None:
            return Table([title], [[summed[""]]], table.caption)
        return Table([by, title], summed.items(), table.caption)

    def written(self, args: Args) -> str:
        of = f" of {args['column']}" if args["column"] is not None else ""
        return f"{args['function']}{of}" + (f" by {args['by']}" if args["by"] is not None else "")

    def args_form(self, table: Table) -> type[BaseModel]:
        name = name_in(table.header) | None
        return form_of(function=Literal[tuple(_SPELLINGS)], column=name, by=name)

    def settled(self, args: Args, table: Table) -> Args:
        if args["column"] is None and args["function"] != "count":
            raise StepRejected(f"it names no column to take the {args['function']} of")
        return args

    def read_args(self, text: str, table: Table) -> Args:
        """Read "f_aggregate(sum of Points by Team)" or "f_aggregate(average of Points)"."""
        inside = inside_call(text, "aggregate").strip(' \t\r\n"*')
        call = _CALL.fullmatch(inside)
        if call is None:
            raise StepRejected(f"it does not name sum, average, count, min or max: {inside[:60]!r}")
        function, rest = _WORDS[call[1].lower()], f"{call[2] or ''} {call[3]}".strip()
        column, by = _column_and_group(rest, table.header)
        return self.settled({"function": function, "column": column, "by": by}, table)


def _column_and_group(rest: str, header: Sequence[str]) -> tuple[str | None, str | None]:
    """Return the column and the group column in "Points by Team", each None if not named.

    A name may contain "by": the whole text is tried first, then the parts around the last "by".
    """
    if not rest:
        return None, None
    if (index := column_named(rest, header)) is not None:
        return header[index], None
    for split in reversed(list(_BY.finditer(rest))):
        before, after = rest[: split.start()].strip(), column_named(rest[split.end() :], header)
        if after is not None and (not before or column_named(before, header) is not None):
            return (header[one_column(before, header)] if before else None), header[after]
    raise StepRejected(f"{rest[:60]!r} names no column, or no column by another")


def _refuse(function: str, column: Column) -> None:
    """Raise `StepRejected` if a column is unclear, holds codes, or has text where numbers are needed."""
    if column.meaning.kind == "unclear":
        raise unclear(column)
    is_sum = function in ("sum", "average") and datatype_of(column) != "number"
    if column.meaning.kind == "code" or (is_sum and any(map(str.strip, column.cells))):
        content = "codes" if column.meaning.kind == "code" else "no numbers"
        raise StepRejected(f"the column {column.name!r} has {content}, which have no {function}")


def _summed(function: str, column: Column | None, rows: Sequence[int]) -> str:
    """Return the value of a function over these rows of a column; "" if all cells are blank."""
    if column is None:
        return str(len(rows))
    if function == "count":
        return str(sum(not is_nothing(column.cells[row]) for row in rows))
    keys = keys_of(column, datatype_of(column))
    keyed = [row for row in rows if keys[row] is not None]
    if not keyed:
        return ""
    if function in ("min", "max"):
        pick = min if function == "min" else max
        return column.cells[pick(keyed, key=keys.__getitem__)].strip()
    values = column.meaning.values if column.meaning.unit == "year" else keys
    total = sum((Fraction(values[row]) for row in keyed), Fraction())
    total /= len(keyed) if function == "average" else 1
    return str(total.numerator) if total.denominator == 1 else f"{float(total):.10g}"

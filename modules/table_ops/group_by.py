"""`f_group_by`: count how often each value of a column occurs (Chain-of-Table)."""

from __future__ import annotations

from collections import Counter

from chameleon import StepRejected, Table
from chameleon.llm_module import Weights
from chameleon.modules.table_ops.names import call_in, column_in_call, one_column
from chameleon.modules.table_ops.operation import Args, Operation
from chameleon.modules.table_ops.table_operation import TableOperation

COUNT = "Count"


class Grouping(Operation):
    """Makes a table of a column's values and their counts. `args`: {"column": name}.

    The most frequent value comes first, ties by value; empty cells are a group. A column whose filled cells
    are nearly all different is refused: grouping says nothing about it.
    """

    most_distinct = 0.8

    def apply(self, table: Table, args: Args) -> Table:
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


class GroupBy(TableOperation, Grouping):
    """Groups the rows by the values of one column and counts each. For questions about how many of a kind."""

    prompt = "wikitq/group_by"

    def __init__(self, weights: Weights = "given", most_distinct: float = 0.8) -> None:
        """`most_distinct`: the share of different values among the filled cells up to which it groups."""
        super().__init__(weights)
        self.most_distinct = most_distinct

    def read_args(self, text: str, table: Table) -> Args:
        """ "f_group(Country)" or "f_group([Country])"."""
        index = column_in_call(call_in(text, "group", "group_by", "group_column"), table.header)
        return {"column": table.header[index]}

"""`f_sort_by`: put the rows in the order of a column (Chain-of-Table)."""

import re
from typing import Literal

from pydantic import BaseModel

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.names import AROUND, after_call, call_in, column_named, one_column
from chameleon.modules.table_ops.operation import Args, TableOperation, form_of, name_in
from chameleon.modules.table_ops.order import Datatype, datatype_of, keys_of

ASCENDING, DESCENDING = "small to large", "large to small"
_ORDER = re.compile(r"\border(?:\s+is)?\s*:?\s*[\"'“]?\s*([a-z –-]+)", re.IGNORECASE)
_SMALL = r"(?:small|low|few|earl[yi]|least)(?:er|est|st)?"
_LARGE = r"(?:large|high|big|lat|most)(?:e?r|e?st|e)?"
_ASCENDING = re.compile(rf"\b(?:{_SMALL} to (?:the )?{_LARGE}|asc(?:end(?:ing)?)?)\b", re.IGNORECASE)
_DESCENDING = re.compile(rf"\b(?:{_LARGE} to (?:the )?{_SMALL}|desc(?:end(?:ing)?)?)\b", re.IGNORECASE)
_CALLS = ("sort", "sort_by", "sort_column")
_DASH = re.compile(r"[-–]")
_DATATYPE = re.compile(r"datatype\s+is\s+[\"'“]?(\w+)", re.IGNORECASE)
_DATATYPES: dict[str, Datatype] = {"num": "number", "dat": "date", "tim": "date"}  # by first letters


class SortBy(TableOperation):
    """Sorts the rows by one column. For questions about the first, the last, the most or an order."""

    prompt = "wikitq/sort_by"

    def apply(self, table: Table, args: Args) -> Table:
        """Return the sorted rows. `args`: {"column": name, "order", "datatype"}, with values of `args_form`.

        Ties keep their order; cells without a value of the type come last, in their order. Refused if no cell
        has the type, or if the column is unclear.
        """
        index = one_column(args["column"], table.header)
        keys = keys_of(table.columns[index], args["datatype"])
        descending = args["order"] == DESCENDING
        keyed = [position for position, key in enumerate(keys) if key is not None]
        if not keyed:
            raise StepRejected(f"the column {args['column']!r} has no {args['datatype']} to sort by")
        # reverse=True also keeps the order of ties.
        keyed.sort(key=keys.__getitem__, reverse=descending)
        return table.take_rows([*keyed, *(position for position, key in enumerate(keys) if key is None)])

    def written(self, args: Args) -> str:
        return f"{args['column']}, {args['order']}"

    def args_form(self, table: Table) -> type[BaseModel]:
        order, datatype = Literal["small to large", "large to small"], Literal["number", "date", "text"]
        return form_of(column=name_in(table.header), order=order, datatype=datatype)

    def settled(self, args: Args, table: Table) -> Args:
        """Use the datatype of most cells if none has the one that was chosen."""
        column = table.columns[one_column(args["column"], table.header)]
        is_known = any(key is not None for key in keys_of(column, args["datatype"]))
        return args if is_known else {**args, "datatype": datatype_of(column)}

    def read_args(self, text: str, table: Table) -> Args:
        """Read "f_sort(Points), the order is "large to small"." after "The datatype is Numerical.".

        The order may also be in the call, or in the words after it ("f_sort(Points) desc"). The datatype is
        the one in the reply, if any cell has it, else that of most cells.
        """
        inside = call_in(text, *_CALLS)
        name, _, tail = inside.rpartition(",")
        order = _order_in(tail) if column_named(inside, table.header) is None else None
        column = one_column(inside if order is None else name.strip(AROUND), table.header)
        if order is None:
            stated = _ORDER.findall(" ".join(text.split()))
            order = (_order_in(stated[-1]) if stated else None) or _order_in(after_call(text, *_CALLS))
        if order is None:
            raise StepRejected('it names no order, "small to large" or "large to small"')
        datatypes = _DATATYPE.findall(text)
        datatype = _DATATYPES.get(datatypes[-1][:3].lower(), "text") if datatypes else None
        datatype = datatype or datatype_of(table.columns[column])
        return self.settled({"column": table.header[column], "order": order, "datatype": datatype}, table)


def _order_in(text: str) -> str | None:
    """Return the order named in a text; None if it names neither or both."""
    words = " ".join(_DASH.sub(" ", text).split())
    descending, ascending = _DESCENDING.search(words), _ASCENDING.search(words)
    if (descending is None) == (ascending is None):
        return None
    return DESCENDING if descending else ASCENDING


Sorting = SortBy  # its earlier name

"""`f_filter_rows`: keep the rows that meet a condition (beyond Chain-of-Table).

A condition is as people write it: `Points > 20 and (Team = "Liquigas" or not Remark is empty)`. It compares
columns with values: `=`, `!=`, `<`, `<=`, `>`, `>=`, `contains`, `is empty` and their opposites, joined by
`and`, `or`, `not` and parentheses. It is read by the parser of this file, and nothing in it is ever run.

Names of columns stand as they are, in any case, or in quotes, backquotes or brackets; values stand in quotes,
or as they are up to the next `and` or `or` that a comparison follows. Dates are compared as far as the value
says them: any day of 2009 is equal to 2009. A cell that holds no number is neither below nor above one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import compress
from operator import ge, gt, le, lt

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.names import column_named, inside_call, normal
from chameleon.modules.table_ops.operation import Args, Operation, TableOperation
from chameleon.modules.table_ops.order import datatype_of, date_in, number_in, refuse_mixed_units
from chameleon.table import read_value

Test = Callable[[Table], list[bool]]

_LONGEST = 2_000
_DEEPEST = 40
_RELATIONS = {
    "=": "== equals is",
    "!=": "<> ≠ is_not",
    "<=": "≤",
    ">=": "≥",
    "<": "",
    ">": "",
    "contains": "",
    "does not contain": "",
    "is empty": "",
    "is not empty": "",
}
_MEANING = {
    word.replace("_", " "): relation
    for relation, words in _RELATIONS.items()
    for word in (relation, *words.split())
}
_SIGNS = (
    re.escape(sign).replace(r"\ ", r"\s+") + (r"\b" if sign[-1].isalpha() else "")
    for sign in sorted(_MEANING, key=len, reverse=True)
)
_RELATION = re.compile("|".join(_SIGNS), re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "“": "”", "`": "`", "[": "]"}
_AND_OR = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
_TWO_AT_ONCE = re.compile(r"[=<>≠≤≥]|\b(?:and|or)$", re.IGNORECASE)
_SPACE = re.compile(r"\s*")
_ORDERS: dict[str, Callable[..., bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


class RowFilter(Operation):
    """Keeps rows by a condition. `args`: {"condition": text}, such as `Points > 20 and Team = "Liquigas"`.

    Refused where no row meets it.
    """

    def apply(self, table: Table, args: Args) -> Table:
        held = condition_in(args["condition"], table.header)(table)
        if not any(held):
            raise StepRejected(f"no row meets the condition {args['condition'][:60]!r}")
        return table.take_rows(compress(range(len(held)), held))

    def written(self, args: Args) -> str:
        return str(args["condition"])


class FilterRows(TableOperation, RowFilter):
    """Keeps the rows that meet a condition on their columns. For long tables, and for many rows at once."""

    prompt = "chain_of_table/filter_rows"

    def read_args(self, text: str, table: Table) -> Args:
        """Read "f_filter_rows(Points > 20 and Team = "Liquigas")"."""
        condition = inside_call(text, "filter_rows", "filter").strip(" \t\r\n*")
        condition_in(condition, table.header)
        return {"condition": condition}


def condition_in(text: str, header: Sequence[str]) -> Test:
    """Return the condition as a function that tells of each row of a table with this header whether it holds.

    Raises `StepRejected` naming what was not understood.
    """
    if len(text) > _LONGEST:
        raise StepRejected(f"the condition has more than {_LONGEST:,} characters")
    return _ConditionReader(text, header).whole()


class _ConditionReader:
    """Reads a condition from left to right; `position` is how far it came."""

    def __init__(self, text: str, header: Sequence[str]) -> None:
        self.text, self.header, self.position, self.depth = text, header, 0, 0
        by_length = sorted(filter(str.strip, header), key=len, reverse=True)
        names = (r"\s+".join(map(re.escape, name.split())) for name in by_length)
        self.columns = re.compile("|".join(rf"(?:{name})(?!\w)" for name in names) or r"(?!)", re.IGNORECASE)

    def whole(self) -> Test:
        test = self._any_of()
        if self.text[self.position :].strip():
            raise StepRejected(f"the condition goes on with {self._here()}, which is not understood")
        return test

    def _any_of(self) -> Test:
        tests = [self._all_of()]
        while self._takes(r"or\b"):
            tests.append(self._all_of())
        return lambda table: list(map(any, zip(*(test(table) for test in tests), strict=True)))

    def _all_of(self) -> Test:
        tests = [self._one()]
        while self._takes(r"and\b"):
            tests.append(self._one())
        return lambda table: list(map(all, zip(*(test(table) for test in tests), strict=True)))

    def _one(self) -> Test:
        """Read a comparison, or what `not` and parentheses stand before."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise StepRejected(f"the condition is nested more than {_DEEPEST} levels deep")
        start = self.position
        column = self._column()
        if column is not None and (relation := self._relation()):
            test = self._comparison(column, relation)
        else:
            self.position = start
            if self._takes(r"not\b"):
                inner = self._one()
                test = lambda table: [not held for held in inner(table)]  # noqa: E731
            elif self._takes(r"\("):
                test = self._any_of()
                if not self._takes(r"\)"):
                    raise StepRejected(f"a parenthesis is not closed before {self._here()}")
            else:
                raise StepRejected(f"no comparison of a column begins at {self._here()}")
        self.depth -= 1
        return test

    def _comparison(self, column: int, relation: str) -> Test:
        if relation.endswith("empty"):
            return lambda table: _compared(table, column, relation, "")
        self._skip()
        value = self._quoted()
        if value is None:
            value = self._bare_value()
            if not value or _TWO_AT_ONCE.search(value) or (relation in _ORDERS and _AND_OR.search(value)):
                said = f"{self.header[column]} {relation}"
                raise StepRejected(f"what stands after {said!r} is no value: {value[:60]!r}")
        return lambda table: _compared(table, column, relation, value)

    def _column(self) -> int | None:
        """Take the column that is named here; None where none is."""
        self._skip()
        if (quoted := self._quoted()) is not None:
            return column_named(quoted, self.header)
        if (found := self.columns.match(self.text, self.position)) is None:
            return None
        self.position = found.end()
        return column_named(found[0], self.header)

    def _relation(self) -> str:
        """Take the relation that stands here; "" where none does."""
        self._skip()
        if (found := _RELATION.match(self.text, self.position)) is None:
            return ""
        self.position = found.end()
        return _MEANING[" ".join(found[0].lower().split())]

    def _bare_value(self) -> str:
        """Take a value without quotes: up to a bracket that closes more, or to what begins a comparison."""
        start, depth = self.position, 0
        while self.position < len(self.text):
            sign = self.text[self.position]
            if (sign == ")" and depth == 0) or (sign.isspace() and depth == 0 and self._something_follows()):
                break
            depth += {"(": 1, ")": -1}.get(sign, 0)
            self.position += 1
        return self.text[start : self.position].strip()

    def _something_follows(self) -> bool:
        """Return whether an `and` or `or` stands here with a comparison behind it, not as part of a name."""
        start = self.position
        try:
            if not self._takes(r"(?:and|or)\b"):
                return False
            while self._takes(r"not\b|\("):
                pass
            return self._column() is not None and bool(self._relation())
        finally:
            self.position = start

    def _quoted(self) -> str | None:
        """Take the text in quotes that begins here; None where none does or the quote is not closed."""
        begin = self.text[self.position : self.position + 1]
        end = self.text.find(_QUOTES[begin], self.position + 1) if begin in _QUOTES else -1
        if end < 0:
            return None
        inside, self.position = self.text[self.position + 1 : end], end + 1
        return inside

    def _takes(self, pattern: str) -> bool:
        self._skip()
        found = re.compile(pattern, re.IGNORECASE).match(self.text, self.position)
        self.position = found.end() if found else self.position
        return found is not None

    def _skip(self) -> None:
        self.position = _SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]

    def _here(self) -> str:
        """Return the place, as errors name it."""
        rest = self.text[self.position :].strip()
        return repr(rest[:60]) if rest else "its end"


def _compared(table: Table, column: int, relation: str, value: str) -> list[bool]:
    """Return of each row whether its cell in the column is so; each different cell is looked at once."""
    cells = [row[column] for row in table.rows]
    negated = relation in ("!=", "does not contain", "is not empty")
    if relation in _ORDERS:
        refuse_mixed_units(table.header[column], [*cells, value])
    holds = _holds(relation, value, cells)
    known = {cell: holds(cell) != negated for cell in set(cells)}
    return [known[cell] for cell in cells]


def _holds(relation: str, value: str, cells: Sequence[str]) -> Callable[[str], bool]:
    """Return the relation to the value, without its negation: as dates, numbers or text, as the two allow."""
    if relation.endswith("empty"):
        return lambda cell: read_value(cell).kind == "empty"
    if relation.endswith(("contain", "contains")):
        return lambda cell: normal(value) in normal(cell)
    order, number, dated = _ORDERS.get(relation), read_value(value).number, date_in(value)
    if dated is not None and "date" in (datatype_of([value]), datatype_of(cells)):
        # The parts that the value says: "May 2009" says a year and a month, any day of 2009 is in 2009.
        places = [place for place in range(3) if dated[place]] or list(range(3, len(dated)))
        wanted = [dated[place] for place in places]

        def holds(cell: str) -> bool:
            found = date_in(cell)
            if found is None or (places[0] < 3 and not all(found[place] for place in places)):
                return False
            mine = [found[place] for place in places]
            return order(mine, wanted) if order else mine == wanted

        return holds
    if order is None:
        return lambda cell: (
            normal(cell) == normal(value) or (number is not None and read_value(cell).number == number)
        )
    if number is not None:
        least = number_in(value)
        return lambda cell: (found := number_in(cell)) is not None and order(found, least)
    key = value.casefold().strip()
    return lambda cell: bool(cell.strip()) and order(cell.casefold().strip(), key)

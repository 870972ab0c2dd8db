"""`f_filter_rows`: keep the rows that meet a condition (beyond Chain-of-Table).

A condition reads like this: `Points > 20 and (Team = "Liquigas" or not Remark is empty)`. It compares columns
with values: `=`, `!=`, `<`, `<=`, `>`, `>=`, `contains`, `is empty` and their opposites, joined by `and`,
`or`, `not` and parentheses. It is parsed in this file and never executed.

Column names are written as they are, in any case, or in quotes, backquotes or brackets. Values are in quotes,
or extend to the next `and` or `or` before a comparison. Dates are compared only by the parts that the value
specifies: any day of 2009 equals 2009. A cell without a number is neither below nor above one.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import compress
from operator import and_, eq, ge, gt, le, lt, not_, or_
from typing import Any

from pydantic import BaseModel

from chameleon import StepRejected, Table
from chameleon.modules.table_ops.names import column_named, inside_call, normal
from chameleon.modules.table_ops.operation import Args, TableOperation, form_of
from chameleon.modules.table_ops.order import comparable
from chameleon.table import Column
from chameleon.table.amounts import read_amount
from chameleon.table.dates import Moment, read_date, read_span_of_time, read_time
from chameleon.table.meaning import DATES, is_blank

_MAX_CHARS = 2_000
_MAX_DEPTH = 40
_SPELLINGS = (
    "= == equals is, != <> ≠ is_not, <= ≤, >= ≥, <, >, contains, does_not_contain, is_empty, is_not_empty"
)
_RELATIONS = {
    spelling.replace("_", " "): spellings.split()[0].replace("_", " ")
    for spellings in _SPELLINGS.split(", ")
    for spelling in spellings.split()
}
_RELATION = "|".join(  # the longest first, so that "<=" is not "<"
    re.escape(spelling).replace(r"\ ", r"\s+") + (r"\b" if spelling[-1].isalpha() else "")
    for spelling in sorted(_RELATIONS, key=len, reverse=True)
)
_QUOTED = r"\"[^\"]*\"|'[^']*'|“[^”]*”|`[^`]*`|\[[^]]*\]"
_AND_OR = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
_TWO_PARTS = re.compile(r"[=<>≠≤≥]|\b(?:and|or)$", re.IGNORECASE)
_ORDERS: dict[str, Callable[..., bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


class FilterRows(TableOperation):
    """Keeps the rows that meet a condition on their columns. For long tables, and for many rows at once."""

    prompt = "chain_of_table/filter_rows"

    def apply(self, table: Table, args: Args) -> Table:
        """Return the rows that meet a condition.

        `args`: {"condition": text}, such as `Points > 20 and Team = "Liquigas"`. Refused if no row meets it.
        """
        matches = rows_where(args["condition"], table)
        if not any(matches):
            raise StepRejected(f"no row matches the condition {args['condition'][:60]!r}")
        return table.take_rows(compress(range(len(matches)), matches))

    def written(self, args: Args) -> str:
        return str(args["condition"])

    def args_form(self, table: Table) -> type[BaseModel]:
        return form_of(condition=str)

    def settled(self, args: Args, table: Table) -> Args:
        rows_where(args["condition"], table)
        return args

    def read_args(self, text: str, table: Table) -> Args:
        """Read "f_filter_rows(Points > 20 and Team = "Liquigas")"."""
        condition = inside_call(text, "filter_rows", "filter").strip(" \t\r\n*")
        return self.settled({"condition": condition}, table)


def rows_where(condition: str, table: Table) -> list[bool]:
    """Return for each row whether it meets a condition. Raises `StepRejected` for an invalid condition."""
    if len(condition) > _MAX_CHARS:
        raise StepRejected(f"the condition has more than {_MAX_CHARS:,} characters")
    reader = _ConditionReader(condition, table)
    matches = reader.any_of()
    if reader.word is not None:
        raise StepRejected(f"the condition continues with {reader.here}, which cannot be read")
    return matches


class _ConditionReader:
    """Reads the parts of a condition from left to right; `at` is the index of the next one."""

    def __init__(self, text: str, table: Table) -> None:
        by_length = sorted(filter(str.strip, table.header), key=len, reverse=True)
        names = "|".join(r"\s+".join(map(re.escape, name.split())) for name in by_length)
        column = rf"(?P<quoted>{_QUOTED})|(?P<column>(?:{names or '(?!)'})(?!\w))"
        part = rf"{column}|(?P<relation>{_RELATION})|[()]|[^\s()=<>≠≤≥!]+|\S"
        self.parts = [*re.finditer(part, text, re.IGNORECASE)]
        self.text, self.table, self.at, self.depth = text, table, 0, 0

    @property
    def word(self) -> str | None:
        return self.parts[self.at][0].lower() if self.at < len(self.parts) else None

    @property
    def here(self) -> str:
        """Describe the current place, for errors."""
        return repr(self.text[self.parts[self.at].start() :].strip()[:60]) if self.word else "its end"

    def any_of(self) -> list[bool]:
        matches = self._all_of()
        while self._takes("or"):
            matches = list(map(or_, matches, self._all_of()))
        return matches

    def _all_of(self) -> list[bool]:
        matches = self._one()
        while self._takes("and"):
            matches = list(map(and_, matches, self._one()))
        return matches

    def _one(self) -> list[bool]:
        """Read a comparison, a `not`, or a condition in parentheses."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise StepRejected(f"the condition is nested more than {_MAX_DEPTH} levels deep")
        if compared := self._compared_column(self.at):
            self.at += 2
            matches = self._comparison(*compared)
        elif self._takes("not"):
            matches = list(map(not_, self._one()))
        elif self._takes("("):
            matches = self.any_of()
            if not self._takes(")"):
                raise StepRejected(f"a parenthesis is not closed before {self.here}")
        else:
            raise StepRejected(f"no comparison of a column begins at {self.here}")
        self.depth -= 1
        return matches

    def _takes(self, word: str) -> bool:
        is_next = self.word == word
        self.at += is_next
        return is_next

    def _compared_column(self, at: int) -> tuple[int, str] | None:
        """Return the column and the relation at this place, or None."""
        match self.parts[at : at + 2]:
            case [name, sign] if name.lastgroup in ("quoted", "column") and sign.lastgroup == "relation":
                text = name[0][1:-1] if name.lastgroup == "quoted" else name[0]
                column = column_named(text, self.table.header)
                return None if column is None else (column, _RELATIONS[" ".join(sign[0].lower().split())])
        return None

    def _comparison(self, column: int, relation: str) -> list[bool]:
        """Read the value, and return for each row whether its cell matches."""
        compared = self.table.columns[column]
        value = "" if relation.endswith("empty") else self._value(compared.name, relation)
        matches = _matches(relation, value, compared)
        negated = relation in ("!=", "does not contain", "is not empty")
        return [each != negated for each in matches]

    def _value(self, name: str, relation: str) -> str:
        """Read the value in quotes, or up to an unmatched bracket or the start of another comparison."""
        start, depth = self.at, 0
        if self.word and self.parts[start].lastgroup == "quoted":
            self.at += 1
            return self.parts[start][0][1:-1]
        while (word := self.word) and not (depth == 0 and (word == ")" or self._another_follows())):
            depth += {"(": 1, ")": -1}.get(word, 0)
            self.at += 1
        parts = self.parts[start : self.at]
        value = self.text[parts[0].start() : parts[-1].end()] if parts else ""
        if not value or _TWO_PARTS.search(value) or (relation in _ORDERS and _AND_OR.search(value)):
            raise StepRejected(f"the text after '{name} {relation}' is not a value: {value[:60]!r}")
        return value

    def _another_follows(self) -> bool:
        """Return whether an `and` or `or` here is followed by a comparison, and is not part of a name."""
        if self.word not in ("and", "or"):
            return False
        at = self.at + 1
        while at < len(self.parts) and self.parts[at][0].lower() in ("not", "("):
            at += 1
        return self._compared_column(at) is not None


def _matches(relation: str, value: str, column: Column) -> list[bool]:
    """Compare each cell with the value, as numbers or dates if possible, else as text; without negation."""
    cells, order = column.cells, _ORDERS.get(relation)
    if relation.endswith("empty"):
        return list(map(is_blank, cells))
    if relation.endswith(("contain", "contains")):
        return [normal(value) in normal(cell) for cell in cells]
    column = comparable(column) if order is not None else column
    meaning = column.meaning
    equal = [normal(cell) == normal(value) for cell in cells]
    if meaning.kind in DATES and (span := read_date(value, day_first=bool(meaning.day_first))) is not None:
        dated = [each is not None and _meets(each[0], span[0], order) for each in meaning.spans]
        return dated if order else list(map(or_, equal, dated))  # a value as written in a cell matches it
    if (number := _value_in(value, column)) is not None:
        compare = order or eq
        matches = [each is not None and compare(each, number) for each in meaning.values]
        return matches if order else list(map(or_, equal, matches))
    if order is None:
        return equal
    if meaning.is_ordered or read_amount(value) is not None:
        if meaning.kind == "code" and all(map(str.isdigit, (value, *filter(None, cells)))):
            return [bool(cell) and order(int(cell), int(value)) for cell in cells]
        raise StepRejected(f"{value[:60]!r} cannot be compared with the column {column.name!r}")
    key = value.casefold().strip()
    return [bool(cell.strip()) and order(cell.casefold().strip(), key) for cell in cells]


def _meets(moment: Moment, target: Moment, order: Callable[..., bool] | None) -> bool:
    """Compare only the parts in the value: any day of 2009 is in 2009, and "May" is May of any year."""
    places = [place for place in range(3) if target[place]]
    if not all(moment[place] for place in places):
        return False
    mine, theirs = ([each[place] for place in places] for each in (moment, target))
    if target.at is not None:
        mine, theirs = list(moment.timed), list(target.timed)
    return order(mine, theirs) if order else mine == theirs


def _value_in(value: str, column: Column) -> Any:
    """Return a value in the unit of the column, or None. Raises `StepRejected` for another unit."""
    meaning = column.meaning
    if meaning.kind == "time":
        return read_time(value)
    if meaning.kind == "duration" and (seconds := read_span_of_time(value)) is not None:
        return seconds / meaning.factor
    amount = read_amount(value, meaning.mark or ".")
    if amount is None or not (meaning.is_number or meaning.unit == "year"):
        return None
    is_share = meaning.kind == "percent" and not amount.base and 0 < abs(Fraction(amount.number)) < 1
    if is_share or (amount.base and amount.base != meaning.base and (meaning.base or amount.unit == "%")):
        raise StepRejected(f"{value!r} is not in {meaning.unit or 'the unit'} of the column {column.name!r}")
    return amount.number if not amount.base else Fraction(amount.of_base) / meaning.factor

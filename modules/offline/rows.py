"""Select rows by conditions and by order: each is evaluated once, exactly, and described in words.

`Unfit` is raised if the table does not support one: units that cannot be compared, too few rows.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from itertools import repeat
from typing import Any, ClassVar, Literal

from chameleon.lazy import cached_property
from chameleon.modules.offline.sheet import Number, Sheet, SheetColumn, key_of, plain
from chameleon.table.dates import MONTHS, Moment
from chameleon.table.meaning import shown
from chameleon.text import counted

Sign = Literal["<", "<=", "==", "!=", ">=", ">"]
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">=": operator.ge,
    ">": operator.gt,
}  # fmt: skip
TOLD = {
    "<": "under", "<=": "at most", "==": "exactly", "!=": "not", ">=": "at least", ">": "over",
}  # fmt: skip
_DATE_WORDS = {"<": "before", "<=": "up to", ">=": "from", ">": "after"}
_COLUMN_FIELDS = ("column", "other", "by", "wanted")  # fields that hold indexes of columns
_MAX_TEXTS = 3


class Unfit(Exception):
    """The table does not support a form; the text says why. `empty`: the form fits but finds nothing."""

    def __init__(self, why: str, *, empty: bool = False) -> None:
        super().__init__(why)
        self.empty = empty


class Part:
    """A part of a form: a frozen dataclass; `columns` lists the columns in its fields."""

    @cached_property
    def columns(self) -> tuple[int, ...]:
        columns: dict[int, None] = {}
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            for one in value if isinstance(value, tuple) else (value,):
                is_own = each.name in _COLUMN_FIELDS and isinstance(one, int)
                columns |= dict.fromkeys(one.columns if isinstance(one, Part) else [one] if is_own else [])
        return tuple(columns)

    def in_words(self, sheet: Sheet) -> str:
        """Describe it in words: "total Salary where Team is red"."""
        raise NotImplementedError


def name_of(sheet: Sheet, *columns: int) -> str:
    sheet_columns = (sheet.columns[index] for index in columns)
    return " and ".join(each.plain or f"column {each.index + 1}" for each in sheet_columns)


class Condition(Part):
    """A test of rows: `rows` returns the rows that pass it."""

    def rows(self, sheet: Sheet) -> set[int]:
        raise NotImplementedError


@dataclass(frozen=True)
class Is(Condition):
    """A cell's folded text is one of these (`wording`: as the question writes them)."""

    column: int
    texts: frozenset[str]
    wording: str = field(default="", compare=False)
    is_exact: bool = field(default=True, compare=False)

    def rows(self, sheet: Sheet) -> set[int]:
        places = sheet.columns[self.column].places
        return {row for text in self.texts for row in places.get(text, ())}

    def in_words(self, sheet: Sheet) -> str:
        column = sheet.columns[self.column]
        names = sorted({column.answer_text(column.places[text][0]) for text in self.texts})
        more = f" or {len(names) - _MAX_TEXTS} more" if len(names) > _MAX_TEXTS else ""
        return f"{name_of(sheet, self.column)} is {' or '.join(names[:_MAX_TEXTS])}{more}"


@dataclass(frozen=True)
class Compares(Condition):
    """A comparison of a cell's number with a number in its unit, up to `last`, or with another column."""

    column: int
    sign: Sign
    number: Number | None = None
    other: int | None = None
    last: Number | None = None

    def rows(self, sheet: Sheet) -> set[int]:
        column, test = sheet.columns[self.column], SIGNS[self.sign]
        against = None if self.other is None else sheet.columns[self.other]
        check_units(*filter(None, (column, against)))
        limits = repeat(key_of(self.number)) if against is None else against.keys
        pairs = enumerate(zip(column.keys, limits, strict=False))
        hits = [(row, one) for row, (one, two) in pairs if one is not None is not two and test(one, two)]
        last = key_of(self.last)
        return {row for row, one in hits if last is None or one <= last}

    def in_words(self, sheet: Sheet) -> str:
        limit = plain(self.number or 0) if self.other is None else name_of(sheet, self.other)
        until = "" if self.last is None else f" and at most {plain(self.last)}"
        return f"{name_of(sheet, self.column)} is {TOLD[self.sign]} {limit}{until}"


@dataclass(frozen=True)
class Dates(Condition):
    """A cell's date is before, after or in another ("=="); a span counts by its start, except for "=="."""

    column: int
    sign: Sign
    moment: Moment
    until: Moment | None = None

    def rows(self, sheet: Sheet) -> set[int]:
        column = sheet.columns[self.column]
        if self.moment.month or self.moment.day or not column.meaning.spans:
            check_units(column)
        return {row for row, each in enumerate(column.moments) if each is not None and self._fits(*each)}

    def _fits(self, start: Moment, end: Moment) -> bool:
        moment, count = self.moment, _length(self.moment)
        if self.until is not None:
            begin, last = 0 if self.until.year else 1, _length(self.until)
            parts = tuple(part for part in start[begin:] if part)
            return moment[begin:][: len(parts)] <= parts and start[begin:last] <= self.until[begin:last]
        if self.sign == "==":
            return start.fits(moment) or (start != end and start.year <= moment.year <= end.year)
        first = 0 if moment.year else 1  # ignore the year if the question names only a month
        return bool(start[first]) and SIGNS[self.sign](start[first:count], moment[first:count])

    def in_words(self, sheet: Sheet) -> str:
        until = f" to {_date(self.until)}" if self.until else ""
        when = _DATE_WORDS.get(self.sign, "" if self.moment.day and not until else "in")
        parts = (name_of(sheet, self.column), "is", when, f"{_date(self.moment)}{until}")
        return " ".join(filter(None, parts))


def _length(moment: Moment) -> int:
    return 3 if moment.day else 2 if moment.month else 1


def _date(moment: Moment) -> str:
    if moment.month and not moment.year:
        return f"{MONTHS[moment.month - 1].title()} {moment.day or ''}".strip()
    return "-".join(f"{part:02}" for part in moment[:3] if part)


@dataclass(frozen=True)
class Blank(Condition):
    """A blank cell."""

    column: int
    negated: ClassVar[bool] = True

    def rows(self, sheet: Sheet) -> set[int]:
        column = sheet.columns[self.column]
        return {row for row, cell in enumerate(column.cells) if column.is_blank(shown(cell))}

    def in_words(self, sheet: Sheet) -> str:
        return f"{name_of(sheet, self.column)} is blank"


@dataclass(frozen=True)
class Either(Condition):
    """One of several conditions, or with `negated` none of them, in rows whose cells are not blank."""

    parts: tuple[Any, ...]
    negated: bool = False

    def rows(self, sheet: Sheet) -> set[int]:
        hits = set[int]().union(*(part.rows(sheet) for part in self.parts))
        if not self.negated:
            return hits
        blank = (Blank(column).rows(sheet) for column in self.columns)
        filled = set(range(len(sheet.table.rows))).difference(*blank)
        if count := len({*sheet.rows} - filled - hits):
            name = name_of(sheet, *self.columns)
            raise Unfit(f"{name} is blank in {counted(count, 'row')}: they may count or not")
        return filled - hits

    def in_words(self, sheet: Sheet) -> str:
        text = " or ".join(part.in_words(sheet) for part in self.parts)
        return f"not ({text})" if self.negated else text


def check_units(*columns: SheetColumn) -> None:
    """Raise `Unfit` if amounts cannot be compared: one is unclear, or their units differ."""
    for column in columns:
        if column.meaning.why:
            raise Unfit(f'"{column.plain}" cannot be used in a calculation: {column.meaning.why}')
    units = {(column.meaning.base, column.meaning.factor) for column in columns if column.meaning.base}
    if len(units) > 1:
        names = " and ".join(f'"{column.plain}"' for column in columns)
        bases = ", ".join(sorted({base for base, _ in units}))
        raise Unfit(f"the amounts of {names} have units that cannot be compared ({bases})")


def _ordinal(number: int) -> str:
    end = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{end}"


class Rows(Part):
    """Some of the rows, in order; `rows` finds them once for each sheet."""

    def rows(self, sheet: Sheet) -> list[int]:
        if self not in sheet.kept:
            sheet.kept[self] = self.find(sheet)
        rows: list[int] = sheet.kept[self]
        return rows

    def find(self, sheet: Sheet) -> list[int]:
        raise NotImplementedError


@dataclass(frozen=True)
class Where(Rows):
    """The rows that meet all conditions, in table order; rows of totals only if no others do."""

    conditions: tuple[Any, ...] = ()

    def find(self, sheet: Sheet) -> list[int]:
        sets = [each.rows(sheet) for each in self.conditions]
        rows = sorted(reduce(operator.and_, sets)) if sets else sheet.rows
        return [row for row in rows if row not in sheet.summaries] or rows

    def in_words(self, sheet: Sheet) -> str:
        text = " and ".join(each.in_words(sheet) for each in self.conditions)
        return f" where {text}" if text else ""


def keys_of(sheet: Sheet, column: SheetColumn, rows: Sequence[int]) -> list[tuple[Any, int]]:
    """Return the comparable values of a column in these rows, leaving out rows without one."""
    check_units(column)
    if column.kind == "date":
        return [(each[0], row) for row in rows if (each := column.moments[row]) is not None]
    if column.kind not in ("number", "time"):
        raise Unfit(f'"{column.plain}" has neither numbers nor dates')
    return [(key, row) for row in rows if (key := column.keys[row]) is not None]


@dataclass(frozen=True)
class Ordered(Rows):
    """A slice of the rows, in order.

    Attributes:
        by: the column to order by; None for table order.
        start: the first row of the slice, counted from 0.
        count: how many rows, besides any that tie with the last one.
    """

    of: Where
    by: int | None
    descending: bool
    start: int = 0
    count: int = 1

    def find(self, sheet: Sheet) -> list[int]:
        rows, stop = self.of.rows(sheet), self.start + self.count
        if self.by is None:
            keys: list[tuple[Any, int]] = [(place, row) for place, row in enumerate(rows)]
        else:
            keys = keys_of(sheet, sheet.columns[self.by], rows)
        keys.sort(key=lambda pair: pair[0], reverse=self.descending)
        if len(keys) < stop:
            fit = {0: "no row matches", 1: "only 1 row matches"}.get(n := len(keys), f"only {n} rows match")
            suffix = "" if self.by is None else f' with "{sheet.columns[self.by].plain}" filled'
            raise Unfit(f"{fit}{suffix}")
        if self.start and keys[self.start - 1][0] == keys[self.start][0]:
            raise Unfit("rows are tied there")
        last = keys[stop - 1][0]
        if self.by is not None and len(keys) > stop and keys[0][0] == keys[-1][0]:
            raise Unfit("all rows are tied there")
        return [row for _, row in keys[self.start : stop]] + [row for key, row in keys[stop:] if key == last]

    def in_words(self, sheet: Sheet) -> str:
        words = {True: "last", False: "first"} if self.by is None else {True: "most", False: "least"}
        by = "" if self.by is None else f" {name_of(sheet, self.by)}"
        if self.by is not None and sheet.columns[self.by].kind == "date":
            words = {True: "latest", False: "earliest"}
        place = f"the {_ordinal(self.start + 1)}" if self.start else "the"
        count = f" {self.count}" if self.count > 1 else ""
        return f" with {place}{count} {words[self.descending]}{by}{self.of.in_words(sheet)}"


@dataclass(frozen=True)
class These(Rows):
    """Rows by position."""

    places: tuple[int, ...]

    def find(self, sheet: Sheet) -> list[int]:
        return list(self.places)

    def in_words(self, sheet: Sheet) -> str:
        return f" in {len(self.places)} rows"

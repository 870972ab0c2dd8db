"""Forms: exact computations over rows, one class for each kind of answer, with a description in words."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median
from typing import Any, Literal

from chameleon.modules.offline.figures_said import as_written
from chameleon.modules.offline.rows import (
    SIGNS,
    TOLD,
    Dates,
    Ordered,
    Part,
    Rows,
    Sign,
    These,
    Unfit,
    check_units,
    keys_of,
    name_of,
)  # fmt: skip
from chameleon.modules.offline.sheet import Number, Sheet, SheetColumn, plain
from chameleon.table.dates import MONTHS
from chameleon.table.meaning import is_blank, shown

How = Literal["sum", "mean", "median", "max", "min"]


def _sum(numbers: Sequence[Number]) -> Fraction:
    totals: dict[int, int] = defaultdict(int)  # by denominator: much faster than adding fractions
    for number in numbers:
        totals[number.denominator] += number.numerator
    return sum((Fraction(total, below) for below, total in totals.items()), Fraction(0))


_FOLDS: dict[str, Callable[[Sequence[Number]], Any]] = {
    "sum": _sum, "mean": lambda numbers: _sum(numbers) / len(numbers), "median": median,
}  # fmt: skip
_FOLD_WORDS = {"sum": "total", "mean": "average", "median": "median", "max": "highest", "min": "lowest"}


@dataclass(frozen=True)
class Computed:
    """The result of a form: values for display, their kind, and the rows and columns they come from."""

    values: tuple[str, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...] = ()
    kind: Literal["cells", "number", "truth", "groups"] = "cells"
    number: Number | None = None


class Form(Part):
    """A computation over rows: `find` computes the result, `run` adds the columns that led to it."""

    def run(self, sheet: Sheet) -> Computed:
        return replace(self.find(sheet), columns=self.columns)

    def find(self, sheet: Sheet) -> Computed:
        raise NotImplementedError


@dataclass(frozen=True)
class Pick(Form):
    """The distinct cells of columns in these rows. `single`: raise `Unfit` if they differ."""

    of: Rows
    wanted: tuple[int, ...]
    single: bool = False
    part: Literal["year", "month", ""] = ""  # of dates

    def find(self, sheet: Sheet) -> Computed:
        rows, columns = self.of.rows(sheet), [sheet.columns[column] for column in self.wanted]
        if not rows:
            raise Unfit("no row matches", empty=True)
        cells = {row: [self._cell(column, row) for column in columns] for row in rows}
        filled_cells = {row: [cell for cell in cells[row] if not is_blank(cell)] for row in rows}
        filled = tuple(row for row in rows if filled_cells[row])
        if not filled:
            raise Unfit(f'"{columns[0].plain}" is empty there', empty=True)
        if len(filled) < len(rows) and (self.single or isinstance(self.of, Ordered)):
            raise Unfit(f'"{columns[0].plain}" is empty in a matching row')
        values = tuple(dict.fromkeys(", ".join(filled_cells[row]) for row in filled))
        if self.single and len(values) > 1:
            raise Unfit(f"{len(rows)} rows match, and they differ")
        return Computed(values, filled)

    def _cell(self, column: SheetColumn, row: int) -> str:
        if not self.part or (moment := column.moments[row]) is None:
            return column.answer_text(row)
        return str(moment[0].year or "") if self.part == "year" else ("", *MONTHS)[moment[0].month].title()

    def in_words(self, sheet: Sheet) -> str:
        part = f"{self.part} of " if self.part else ""
        return f"{part}{name_of(sheet, *self.wanted)}{self.of.in_words(sheet)}"


@dataclass(frozen=True)
class HowMany(Form):
    """The number of rows, or of different texts in a column."""

    of: Rows
    column: int | None = None

    def find(self, sheet: Sheet) -> Computed:
        rows = self.of.rows(sheet)
        if self.column is None:
            return _number(len(rows), rows)
        column = sheet.columns[self.column]
        filled_cells = {shown(column.cells[row]).casefold() for row in rows}
        return _number(sum(not column.is_blank(text) for text in filled_cells), rows)

    def in_words(self, sheet: Sheet) -> str:
        what = "rows" if self.column is None else f"different {name_of(sheet, self.column)}"
        return f"number of {what}{self.of.in_words(sheet)}"


def _number(number: Number, rows: Sequence[int], like: SheetColumn | None = None) -> Computed:
    """Return a number as a result, written as the column `like` writes its numbers."""
    if like is not None and like.kind == "time":
        raise Unfit(f'the times of "{like.plain}" cannot be used in a calculation')
    return Computed((as_written(number, like, rows),), tuple(rows), kind="number", number=number)


@dataclass(frozen=True)
class Fold(Form):
    """A sum, mean, median or extreme of the numbers of a column."""

    of: Rows
    column: int
    how: How

    def find(self, sheet: Sheet) -> Computed:
        column, rows = sheet.columns[self.column], self.of.rows(sheet)
        keys = keys_of(sheet, column, rows)
        if not keys:
            raise Unfit(f'"{column.plain}" has no number there' if rows else "no row matches", empty=True)
        _check_years(sheet, self.of, rows)
        if self.how in ("max", "min"):
            _, row = (max if self.how == "max" else min)(keys, key=lambda pair: pair[0])
            number = column.numbers[row] if column.kind == "number" else None
            return Computed((column.answer_text(row),), (row,), number=number)
        if column.kind != "number" or column.is_id:
            raise Unfit(f'"{column.plain}" has no numbers to compute with')
        number = _FOLDS[self.how]([number for (_, number), _ in keys])
        return _number(Fraction(number), [row for _, row in keys], column)

    def in_words(self, sheet: Sheet) -> str:
        return f"{_FOLD_WORDS[self.how]} {name_of(sheet, self.column)}{self.of.in_words(sheet)}"


def _check_years(sheet: Sheet, of: Rows, rows: Sequence[int]) -> None:
    """Raise `Unfit` if "in January" covers several years: the sum may not be intended."""
    for each in getattr(of, "conditions", ()):
        if isinstance(each, Dates) and not each.moment.year and sheet.columns[each.column].is_plain_time:
            moments = (sheet.columns[each.column].moments[row] for row in rows)
            if len(years := {span[0].year for span in moments if span}) > 1:
                raise Unfit(f"it may mean {' or '.join(map(str, sorted(years)))}: name the year")


@dataclass(frozen=True)
class Grouped(Form):
    """A count or fold for each text of a column, or the texts for which it is highest or lowest.

    Attributes:
        best: 1 for the highest, -1 for the lowest, both with ties of the last one; 0 for all.
        count: how many of the highest or lowest.
        sign: if set, keep the texts whose number compares that way with `limit`.
    """

    each: Any  # a Count or a Fold over a Where
    by: int
    best: int = 0
    count: int = 1
    sign: Sign | Literal[""] = ""
    limit: Number = 0

    def find(self, sheet: Sheet) -> Computed:
        by, cells, names = sheet.columns[self.by], dict[str, list[int]](), dict[str, str]()
        for row in self.each.of.rows(sheet):
            cells.setdefault(by.cells[row], []).append(row)
        groups: dict[str, list[int]] = defaultdict(list)
        for rows in cells.values():
            if not by.is_blank(text := by.answer_text(rows[0])):
                groups[names.setdefault(text.casefold(), text)] += rows  # "ann" joins the group "Ann"
        stats = dict[str, Computed]()
        for name, rows in groups.items():
            try:
                stats[name] = replace(self.each, of=These(tuple(rows))).find(sheet)
            except Unfit as unfit:
                if not unfit.empty:  # a group without any number is left out
                    raise
        if not stats or (self.best and len(stats) < self.count):
            raise Unfit("there are fewer groups than that" if stats else "no row matches", empty=not stats)
        if self.sign:
            test = SIGNS[self.sign]
            chosen = [name for name, each in stats.items() if test(each.number or 0, self.limit)]
            if not chosen:
                raise Unfit("no group matches", empty=True)
            return Computed(tuple(chosen), tuple(row for name in chosen for row in groups[name]))
        if not self.best:
            lines = tuple(f"{name}: {', '.join(each.values)}" for name, each in stats.items())
            return Computed(lines, tuple(row for each in stats.values() for row in each.rows), kind="groups")
        if len(stats) > 1 and isinstance(self.each, HowMany) and len({r.number for r in stats.values()}) == 1:
            raise Unfit(f'all groups of "{by.plain}" are tied')
        ranked = sorted(stats, key=lambda name: stats[name].number or 0, reverse=self.best > 0)
        last = stats[ranked[self.count - 1]].number
        chosen = ranked[: self.count] + [n for n in ranked[self.count :] if stats[n].number == last]
        return Computed(tuple(chosen), tuple(row for name in chosen for row in groups[name]))

    def in_words(self, sheet: Sheet) -> str:
        inner, by = self.each.in_words(sheet), name_of(sheet, self.by)
        if self.sign:
            return f"{by} whose {inner} is {TOLD[self.sign]} {plain(self.limit)}"
        if not self.best:
            return f"{inner}, for each {by}"
        count = f"{self.count} " if self.count > 1 else ""
        return f"{by} with the {count}{'highest' if self.best > 0 else 'lowest'} {inner}"


def _values(sheet: Sheet, forms: Sequence[Form]) -> tuple[list[Any], list[int], SheetColumn | None]:
    """Return the number or date of each form, their rows, and a column to write the result like."""
    values, rows, columns = list[Any](), list[int](), dict[int, SheetColumn]()
    for form in forms:
        result = form.find(sheet)
        value: Any = result.number if result.kind == "number" else None
        like = form.column if isinstance(form, Fold) else None
        if isinstance(form, Pick) and len(result.values) == 1:
            (like,), row = form.wanted, result.rows[0]
            column = sheet.columns[like]
            value = column.moments[row] if column.kind == "date" else column.numbers[row]
        if value is None:
            raise Unfit("there is no number to compare")
        values.append(value)
        rows += result.rows
        columns |= {} if like is None or isinstance(value, tuple) else {like: sheet.columns[like]}
    check_units(*columns.values())
    return values, list(dict.fromkeys(rows)), next(iter(columns.values()), None)


@dataclass(frozen=True)
class Gap(Form):
    """The difference of two numbers.

    Attributes:
        signed: the second minus the first; otherwise the absolute difference.
        way: 1 if the question calls the first larger, -1 if it calls it smaller, 0 if neither.
    """

    one: Form
    two: Form
    signed: bool = False
    way: int = 0

    def find(self, sheet: Sheet) -> Computed:
        if self.one == self.two:
            raise Unfit("it would be compared with itself")
        values, rows, column = _values(sheet, (self.one, self.two))
        if any(isinstance(each, tuple) for each in values):
            raise Unfit("differences in days are not computed")
        change = Fraction(values[1]) - Fraction(values[0])
        if change * self.way > 0:
            raise Unfit(f"it is not {'more' if self.way > 0 else 'less'}: the difference is {plain(-change)}")
        return _number(change if self.signed else abs(change), rows, column)

    def in_words(self, sheet: Sheet) -> str:
        words = ("change from", "to") if self.signed else ("difference between", "and")
        return f"{words[0]} {self.one.in_words(sheet)} {words[1]} {self.two.in_words(sheet)}"


@dataclass(frozen=True)
class Greater(Form):
    """The name of the row, among several, that has the most (or least) of a column."""

    names: tuple[str, ...]
    forms: tuple[Form, ...]
    descending: bool
    truth: bool = False  # answer whether the first of two has it

    def find(self, sheet: Sheet) -> Computed:
        keys, rows, _ = _values(sheet, self.forms)
        best = max(keys) if self.descending else min(keys)
        if self.truth:
            holds = keys[0] == best != keys[1]
            return Computed(("yes" if holds else "no",), tuple(rows), kind="truth")
        chosen = tuple(name for name, key in zip(self.names, keys, strict=True) if key == best)
        return Computed(chosen, tuple(rows))

    def in_words(self, sheet: Sheet) -> str:
        joined = " or ".join(each.in_words(sheet) for each in self.forms)
        way = "higher" if self.descending else "lower"
        return f"{'whether the first is' if self.truth else 'which is'} {way}: {joined}"


def rows_left_out(form: Form, sheet: Sheet) -> list[str]:
    """Return a note of how many rows have no number in the column that a form computes from."""
    fold = form.each if isinstance(form, Grouped) else form
    if not isinstance(fold, Fold) or fold.how in ("max", "min"):
        return []
    empty = sum(sheet.columns[fold.column].numbers[row] is None for row in fold.of.rows(sheet))
    return [f"{empty:,} without {name_of(sheet, fold.column)}"] if empty else []

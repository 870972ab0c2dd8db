"""The algebra: conditions on rows, rows in order, and what is computed of them, each once and exactly.

A form is built of dataclasses and evaluated by `run`, which gives a `Result`; `Unfit` is raised where the
table does not bear it: no such row, an empty cell, units that cannot be compared.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from statistics import median
from typing import Any, Literal

from chameleon.modules.offline.sheet import Moment, Number, Sheet, SheetColumn, is_blank, shown

Sign = Literal["<", "<=", "==", "!=", ">=", ">", "in"]
Step = tuple[str, tuple[str, ...]]  # an operation of a chain of tables, and what it names
How = Literal["sum", "mean", "median", "max", "min", "spread", "mode"]
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">=": operator.ge,
    ">": operator.gt,
}  # fmt: skip
_MOST_SHOWN = 60
_DECIMALS = re.compile(r"\.(\d+)(?![\dkKmMbB])")
_POWERS = {"billion": 10**9, "million": 10**6}


class Unfit(Exception):
    """The table does not bear a form; the text says why. `empty`: the form fits, and nothing stands there.

    `moot`: nobody would ask so of this table.
    """

    def __init__(self, why: str, *, empty: bool = False, moot: bool = False) -> None:
        super().__init__(why)
        self.empty, self.moot = empty, moot


@dataclass(frozen=True)
class Result:
    """What a form gives: values for people, of what kind they are, the rows and columns that they rest on."""

    values: tuple[str, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    kind: Literal["cells", "number", "truth", "pairs"] = "cells"
    number: Number | None = None
    steps: tuple[Step, ...] = ()


class Condition:
    """A test of rows by one column: `rows` finds those that meet it, `code` says it in pandas."""

    column: int

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,)

    def rows(self, sheet: Sheet) -> set[int]:
        raise NotImplementedError

    def code(self, sheet: Sheet) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Is(Condition):
    """A cell's folded text is one of these (`has`: how the texts were found, for people)."""

    column: int
    texts: frozenset[str]
    said: str = field(default="", compare=False)

    def rows(self, sheet: Sheet) -> set[int]:
        places = sheet.columns[self.column].places
        return {row for text in self.texts for row in places.get(text, ())}

    def code(self, sheet: Sheet) -> str:
        column = sheet.columns[self.column]
        shown_texts = sorted({shown(column.cells[column.places[text][0]]) for text in self.texts})
        name = repr(column.name)
        return (
            f"df[{name}].isin({shown_texts!r})"
            if len(shown_texts) > 1
            else f"(df[{name}] == {shown_texts[0]!r})"
        )


@dataclass(frozen=True)
class Compares(Condition):
    """A cell's number against one in the base of its unit."""

    column: int
    sign: Sign
    number: Number

    def rows(self, sheet: Sheet) -> set[int]:
        column = sheet.columns[self.column]
        _check_units(column)
        test = _SIGNS[self.sign]
        return {
            row for row, each in enumerate(column.numbers) if each is not None and test(each, self.number)
        }

    def code(self, sheet: Sheet) -> str:
        return f"(df[{sheet.columns[self.column].name!r}] {self.sign} {plain(self.number)})"


@dataclass(frozen=True)
class Dates(Condition):
    """A cell's date before, after or within one; of a span its beginning, but for what lies within."""

    column: int
    sign: Sign
    moment: Moment
    until: Moment | None = None

    def rows(self, sheet: Sheet) -> set[int]:
        column = sheet.columns[self.column]
        if column.day_first is None and (self.moment.month or self.moment.day):
            raise Unfit(f'"{column.plain}" does not tell day from month, as in 03/04/2024')
        return {row for row, each in enumerate(column.moments) if each is not None and self._fits(*each)}

    def _fits(self, start: Moment, end: Moment) -> bool:
        wanted = self.moment
        if self.until is not None:
            told = tuple(part for part in start if part)
            return (
                tuple(wanted)[: len(told)] <= told
                and start[: _told(self.until)] <= self.until[: _told(self.until)]
            )
        if self.sign in ("in", "=="):
            return start.fits(wanted) or (start != end and _span(start, wanted, end))
        if wanted.year and not start.year:
            return False
        count = _told(wanted)
        if not wanted.year:
            return _SIGNS[self.sign](start[1:], wanted[1:])
        return _SIGNS[self.sign](start[:count], wanted[:count])

    def code(self, sheet: Sheet) -> str:
        name = sheet.columns[self.column].name
        date = "-".join(f"{part:02}" for part in self.moment if part)
        if self.until is not None:
            last = "-".join(f"{part:02}" for part in self.until if part)
            return f"df[{name!r}].between({date!r}, {last!r})"
        return f"(df[{name!r}] {'==' if self.sign == 'in' else self.sign} {date!r})"


def _told(moment: Moment) -> int:
    return 3 if moment.day else 2 if moment.month else 1


def _span(start: Moment, wanted: Moment, end: Moment) -> bool:
    return bool(wanted.year) and start.year <= wanted.year <= end.year


@dataclass(frozen=True)
class Versus(Condition):
    """A cell's number against that of another column of its row."""

    column: int
    sign: Sign
    other: int

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column, self.other)

    def rows(self, sheet: Sheet) -> set[int]:
        one, two = sheet.columns[self.column], sheet.columns[self.other]
        _check_units(one, two)
        test, pairs = _SIGNS[self.sign], zip(one.numbers, two.numbers, strict=True)
        return {row for row, (a, b) in enumerate(pairs) if a is not None and b is not None and test(a, b)}

    def code(self, sheet: Sheet) -> str:
        return f"(df[{sheet.columns[self.column].name!r}] {self.sign} df[{sheet.columns[self.other].name!r}])"


@dataclass(frozen=True)
class Filled(Condition):
    """A cell that says something."""

    column: int

    def rows(self, sheet: Sheet) -> set[int]:
        return {row for row, cell in enumerate(sheet.columns[self.column].cells) if not is_blank(shown(cell))}

    def code(self, sheet: Sheet) -> str:
        return f"df[{sheet.columns[self.column].name!r}].notna()"


@dataclass(frozen=True)
class Either(Condition):
    """One of several conditions, or with one alone and `negated`, not that one."""

    parts: tuple[Any, ...]
    negated: bool = False

    @property
    def columns(self) -> tuple[int, ...]:
        return _columns_of(self.parts)

    def rows(self, sheet: Sheet) -> set[int]:
        found = set[int]().union(*(part.rows(sheet) for part in self.parts))
        if not self.negated:
            return found
        if any(isinstance(part, Filled) for part in self.parts):
            return set(range(len(sheet.table.rows))) - found
        filled = set(range(len(sheet.table.rows))).intersection(
            *(Filled(column).rows(sheet) for column in self.columns)
        )
        return filled - found

    def code(self, sheet: Sheet) -> str:
        joined = " | ".join(part.code(sheet) for part in self.parts)
        return f"~({joined})" if self.negated else f"({joined})" if len(self.parts) > 1 else joined


@dataclass(frozen=True)
class Both(Condition):
    """All of several conditions at once."""

    parts: tuple[Any, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        return _columns_of(self.parts)

    def rows(self, sheet: Sheet) -> set[int]:
        return set.intersection(*(part.rows(sheet) for part in self.parts))

    def code(self, sheet: Sheet) -> str:
        return " & ".join(part.code(sheet) for part in self.parts)


def _columns_of(parts: Iterable[Any]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(column for part in parts for column in part.columns))


def _check_units(*columns: SheetColumn) -> None:
    """Raise `Unfit` where amounts cannot be compared: of several kinds of unit, or of none."""
    bases = set[str]().union(*(column.bases for column in columns))
    if len(bases - {""}) > 1 or (len(bases) > 1 and len(columns) == 1 and _mixed(columns[0])):
        names = " and ".join(f'"{column.plain}"' for column in columns)
        units = ", ".join(sorted(base or "none" for base in bases))
        raise Unfit(f"the amounts of {names} have units that cannot be compared ({units})")


def _mixed(column: SheetColumn) -> bool:
    bare = sum(1 for each in column.measures if each is not None and not each.base)
    return bare > 0.1 * len(column.measures)


def _once(sheet: Sheet, form: Any, rows: Callable[[Sheet], list[int]]) -> list[int]:
    """Find the rows of a form once for a sheet."""
    if form not in sheet.kept:
        sheet.kept[form] = rows(sheet)
    return sheet.kept[form]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Where:
    """The rows that meet all conditions, in their order; `whole` counts totals rows as well."""

    conditions: tuple[Any, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        return _columns_of(self.conditions)

    def rows(self, sheet: Sheet) -> list[int]:
        return _once(sheet, self, self._rows)

    def _rows(self, sheet: Sheet) -> list[int]:
        sets = [each.rows(sheet) for each in self.conditions]
        if not sets:
            return sheet.rows
        found = sorted(reduce(operator.and_, sets))
        if any(row in sheet.summaries for row in found) and not all(row in sheet.summaries for row in found):
            found = [row for row in found if row not in sheet.summaries]
        return found

    def steps(self, sheet: Sheet) -> list[Step]:
        if not self.conditions:
            return []
        rows = self.rows(sheet)
        if len(rows) == len(sheet.rows):
            return []
        return [("select_row", tuple(f"row {row + 1}" for row in rows[:_MOST_SHOWN]))]

    def code(self, sheet: Sheet) -> str:
        return f"df[{' & '.join(each.code(sheet) for each in self.conditions)}]" if self.conditions else "df"


def _keys(sheet: Sheet, column: SheetColumn, rows: Sequence[int]) -> list[tuple[Any, int]]:
    """The comparable values of a column in these rows, those without one left out."""
    if column.kind == "date":
        if column.day_first is None:
            raise Unfit(f'"{column.plain}" does not tell day from month, as in 03/04/2024')
        moments = column.moments
        return [(each[0], row) for row in rows if (each := moments[row]) is not None]
    if column.kind not in ("number", "time"):
        raise Unfit(f'"{column.plain}" has neither numbers nor dates')
    _check_units(column)
    numbers = column.numbers
    return [(number, row) for row in rows if (number := numbers[row]) is not None]


@dataclass(frozen=True)
class Ordered:
    """Some of the rows by the order of a column, or by their own where it is None.

    From the `start`-th (0 the first), `count` of them; ties of the last one count as well, by the column.
    """

    of: Where
    column: int | None
    descending: bool
    start: int = 0
    count: int = 1

    @property
    def columns(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.of.columns, *(() if self.column is None else (self.column,)))))

    def rows(self, sheet: Sheet) -> list[int]:
        return _once(sheet, self, self._rows)

    def _rows(self, sheet: Sheet) -> list[int]:
        rows = self.of.rows(sheet)
        if self.column is None:
            rows = rows[::-1] if self.descending else rows
            if len(rows) < self.start + self.count:
                raise Unfit(f"only {len(rows)} rows fit")
            return rows[self.start : self.start + self.count]
        keys = sorted(
            _keys(sheet, sheet.columns[self.column], rows), key=lambda pair: pair[0], reverse=self.descending
        )
        if len(keys) < self.start + self.count:
            raise Unfit(f'only {len(keys)} rows that fit have "{sheet.columns[self.column].plain}"')
        taken = keys[self.start : self.start + self.count]
        if self.start and keys[self.start - 1][0] == taken[0][0]:
            raise Unfit("rows are level there")
        last = taken[-1][0]
        return [row for _, row in taken] + [
            row for key, row in keys[self.start + self.count :] if key == last
        ]

    def steps(self, sheet: Sheet) -> list[Step]:
        found = self.of.steps(sheet)
        if self.column is not None:
            way = "large to small" if self.descending else "small to large"
            found.append(("sort_by", (sheet.columns[self.column].name, way)))
        return [*found, ("select_row", tuple(f"row {row + 1}" for row in self.rows(sheet)[:_MOST_SHOWN]))]

    def code(self, sheet: Sheet) -> str:
        base, stop = self.of.code(sheet), self.start + self.count
        if self.column is None:
            return (
                f"{base}.iloc[{-stop}:]"
                if self.descending and not self.start
                else f"{base}.iloc[{self.start}:{stop}]"
            )
        name = repr(sheet.columns[self.column].name)
        if self.start:
            return f"{base}.sort_values({name}, ascending={not self.descending}).iloc[{self.start}:{stop}]"
        return f"{base}.{'nlargest' if self.descending else 'nsmallest'}({self.count}, {name}, keep='all')"


@dataclass(frozen=True)
class Beside:
    """The row before (-1) or after (1) the only one that fits, by the order of a column or their own."""

    of: Where
    shift: int
    column: int | None = None

    @property
    def columns(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.of.columns, *(() if self.column is None else (self.column,)))))

    def rows(self, sheet: Sheet) -> list[int]:
        rows = self.of.rows(sheet)
        if len(rows) != 1:
            raise Unfit(f"{len(rows)} rows fit, where one is meant")
        order = sheet.rows
        if self.column is not None:
            keys = _keys(sheet, sheet.columns[self.column], order)
            if len({key for key, _ in keys}) < len(keys):
                raise Unfit("rows are level there")
            order = [row for _, row in sorted(keys)]
        place = order.index(rows[0]) + self.shift if rows[0] in order else -1
        if not 0 <= place < len(order):
            raise Unfit("there is no row beside it")
        return [order[place]]

    def steps(self, sheet: Sheet) -> list[Step]:
        return [("select_row", tuple(f"row {row + 1}" for row in self.rows(sheet)))]

    def code(self, sheet: Sheet) -> str:
        by = "" if self.column is None else f".sort_values({sheet.columns[self.column].name!r})"
        return f"df{by}.shift({-self.shift})[{' & '.join(each.code(sheet) for each in self.of.conditions)}]"


Rows = Where | Ordered | Beside


@dataclass(frozen=True)
class Pick:
    """The cells of columns in these rows, each told once. `single`: different ones are refused."""

    of: Rows
    wanted: tuple[int, ...]
    single: bool = False

    def run(self, sheet: Sheet) -> Result:
        rows = self.of.rows(sheet)
        if not rows:
            raise Unfit("no row fits", empty=True)
        values, filled = [], []
        for row in rows:
            cells = [shown(sheet.columns[column].cells[row]) for column in self.wanted]
            if not all(map(is_blank, cells)):
                values.append(", ".join(cell for cell in cells if not is_blank(cell)))
                filled.append(row)
        if not values:
            raise Unfit(f'"{sheet.columns[self.wanted[0]].plain}" is empty there', empty=True)
        if len(filled) < len(rows) and isinstance(self.of, Ordered):
            raise Unfit(f'"{sheet.columns[self.wanted[0]].plain}" is empty in a row that fits')
        unique = tuple(dict.fromkeys(values))
        if self.single and len(unique) > 1:
            raise Unfit(f"{len(rows)} rows fit, and they differ")
        names = tuple(sheet.columns[column].name for column in self.wanted)
        steps = (*self.of.steps(sheet), ("select_column", names))
        return Result(unique, tuple(filled), (*self.of.columns, *self.wanted), steps=steps)

    def code(self, sheet: Sheet) -> str:
        names = [sheet.columns[column].name for column in self.wanted]
        return (
            f"{self.of.code(sheet)}[{names[0]!r}]" if len(names) == 1 else f"{self.of.code(sheet)}[{names!r}]"
        )


@dataclass(frozen=True)
class Count:
    """How many rows, or how many different texts of a column."""

    of: Rows
    distinct: int | None = None

    def run(self, sheet: Sheet) -> Result:
        rows = self.of.rows(sheet)
        steps = tuple(self.of.steps(sheet))
        if self.distinct is None:
            return _number(Fraction(len(rows)), rows, self.of.columns, steps=steps)
        texts = {text.casefold() for text in sheet.texts_of(sheet.columns[self.distinct], rows)}
        steps += (("group_by", (sheet.columns[self.distinct].name,)),)
        return _number(Fraction(len(texts)), rows, (*self.of.columns, self.distinct), steps=steps)

    def code(self, sheet: Sheet) -> str:
        code = self.of.code(sheet)
        return (
            f"len({code})"
            if self.distinct is None
            else f"{code}[{sheet.columns[self.distinct].name!r}].nunique()"
        )


def _number(
    number: Number, rows: Sequence[int], columns: Sequence[int], like: SheetColumn | None = None, *,
    steps: tuple[Any, ...] = (),
) -> Result:  # fmt: skip
    text = plain(number) if like is None else _as_written(number, like)
    return Result((text,), tuple(rows), tuple(columns), "number", number, steps)


def plain(number: Number, places: int = 4) -> str:
    """Write a number as people do: whole, or with as many places as it has; endless ones with `places`."""
    if number.denominator == 1:
        return str(number.numerator)
    value = float(number)
    digits = places if abs(value) >= 1 else places + 2
    exact = number.denominator
    while exact % 2 == 0:
        exact //= 2
    while exact % 5 == 0:
        exact //= 5
    return f"{value:.{10 if exact == 1 else digits}f}".rstrip("0").rstrip(".")


def _as_written(number: Number, column: SheetColumn) -> str:
    """Write a number as its column does: its unit and where it stands, its cents, its marks of thousands."""
    if column.kind == "time":
        raise Unfit(f'times of "{column.plain}" are not computed with')
    unit, value, cells = column.unit, Fraction(number), column.sample
    if column.is_scaled:  # 500 g and 1 kg come to kg, or whatever the first is in
        first = column.sampled[0]
        unit, value = first.unit, value / first.factor
    is_money = unit[-1:] in tuple("$€£¥₹")
    scale = next((power for name, power in _POWERS.items() if any(name in cell for cell in cells)), 1)
    if is_money and scale > 1 and abs(value) >= scale:
        return (
            f"{unit}{plain(value / scale)} {next(name for name, power in _POWERS.items() if power == scale)}"
        )
    parts = (match[1] for cell in cells if (match := _DECIMALS.search(cell)))
    places = max(map(len, parts), default=0)
    digits = plain(round(value, min(places, 6) + 4))
    if is_money and (places == 2 or "." in digits):
        digits = f"{float(value):.2f}"
    whole, dot, part = digits.lstrip("-").partition(".")
    whole = f"{int(whole):,}" if any("," in cell for cell in cells) else whole
    sign, figure = "-" if digits.startswith("-") else "", whole + dot + part
    if is_money and any(cell.endswith(unit) for cell in cells):
        return f"{sign}{figure} {unit}"
    if is_money or not unit:
        return f"{sign}{unit}{figure}"
    return sign + figure + (f" {unit}" if any(map(str.isalpha, unit)) else unit)


@dataclass(frozen=True)
class Fold:
    """A sum, mean, median or extreme of the numbers of a column."""

    of: Rows
    column: int
    how: How

    def run(self, sheet: Sheet) -> Result:
        column, rows = sheet.columns[self.column], self.of.rows(sheet)
        columns, steps = (
            (*self.of.columns, self.column),
            (*self.of.steps(sheet), ("select_column", (column.name,))),
        )
        if not rows:
            raise Unfit("no row fits", empty=True)
        keys = _keys(sheet, column, rows)
        if not keys:
            raise Unfit(f'"{column.plain}" has no number there', empty=True)
        used = [row for _, row in keys]
        if column.kind in ("date", "time") or self.how in ("max", "min"):
            if self.how not in ("max", "min"):
                raise Unfit(f'"{column.plain}" has no numbers to compute with')
            _, row = (max if self.how == "max" else min)(keys, key=lambda pair: pair[0])
            return Result(
                (shown(column.cells[row]),),
                (row,),
                columns,
                number=column.numbers[row] if column.kind == "number" else None,
                steps=steps,
            )
        if len(column.bases) > 1:
            raise Unfit(f'the amounts of "{column.plain}" have different units')
        return _number(fold([key for key, _ in keys], self.how), used, columns, column, steps=steps)

    def code(self, sheet: Sheet) -> str:
        code = f"{self.of.code(sheet)}[{sheet.columns[self.column].name!r}]"
        return {"spread": f"({code}.max() - {code}.min())", "mode": f"{code}.mode().item()"}.get(
            self.how, f"{code}.{self.how}()"
        )


def fold(numbers: Sequence[Fraction], how: How) -> Fraction:
    match how:
        case "sum":
            return sum(numbers, Fraction())
        case "mean":
            return Fraction(sum(numbers, Fraction())) / len(numbers)
        case "median":
            return Fraction(median(numbers))
        case "spread":
            return max(numbers) - min(numbers)
        case "max":
            return max(numbers)
        case "mode":
            (number, times), *others = Counter(numbers).most_common(2)
            if others and others[0][1] == times:
                raise Unfit("several numbers are the most frequent")
            return number
    return min(numbers)


def _read_by(results: Sequence[Result]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Step, ...]]:
    """Return the rows, the columns and the steps of several results."""
    rows = tuple(dict.fromkeys(row for each in results for row in each.rows))
    return rows, _columns_of(results), tuple(step for each in results for step in each.steps)


@dataclass(frozen=True)
class Bill:
    """What several things come to, each so many times its amount; with `budget` whether that is enough."""

    times: tuple[Number, ...]
    of: tuple[Pick, ...]
    budget: Number | None = None
    rest: bool = False  # what is left of the budget, rather than whether it is enough

    def run(self, sheet: Sheet) -> Result:
        results = [each.run(sheet) for each in self.of]
        pairs = [_only_number(sheet, form, result) for form, result in zip(self.of, results, strict=True)]
        column = pairs[0][1]
        number = sum((n * each for n, (each, _) in zip(self.times, pairs, strict=True)), Fraction())
        rows, columns, steps = _read_by(results)
        if self.budget is not None and self.rest:
            return _number(self.budget - number, rows, columns, column, steps=steps)
        if self.budget is not None:
            return Result(("yes" if number <= self.budget else "no",), rows, columns, "truth", steps=steps)
        return _number(number, rows, columns, column, steps=steps)

    def code(self, sheet: Sheet) -> str:
        parts = [f"{each.code(sheet)}.item()" for each in self.of]
        told = " + ".join(
            part if n == 1 else f"{plain(n)} * {part}" for n, part in zip(self.times, parts, strict=True)
        )
        if self.budget is None:
            return told
        return f"{plain(self.budget)} - ({told})" if self.rest else f"{told} <= {plain(self.budget)}"


@dataclass(frozen=True)
class Share:
    """What part of rows, or of their sum in a column, other rows are: in percent."""

    part: Where
    whole: Where
    column: int | None = None
    as_fraction: bool = False

    def run(self, sheet: Sheet) -> Result:
        rows, all_rows = self.part.rows(sheet), self.whole.rows(sheet)
        steps = tuple(self.part.steps(sheet))
        columns = (*self.part.columns, *(() if self.column is None else (self.column,)))
        if self.column is None:
            over, under = Fraction(len(rows)), Fraction(len(all_rows))
        else:
            column = sheet.columns[self.column]
            over, under = (
                sum((k for k, _ in _keys(sheet, column, each)), Fraction()) for each in (rows, all_rows)
            )
        if not under or (self.column is not None and not rows):
            raise Unfit("there is nothing to take a share of")
        if self.as_fraction:
            return Result((str(over / under),), tuple(rows), columns, "number", over / under, steps)
        number = over / under * 100
        return Result((f"{plain(number, 2)}%",), tuple(rows), columns, "number", number, steps)

    def code(self, sheet: Sheet) -> str:
        one, other = self.part.code(sheet), self.whole.code(sheet)
        if self.column is None:
            return f"100 * len({one}) / len({other})"
        name = repr(sheet.columns[self.column].name)
        return f"100 * {one}[{name}].sum() / {other}[{name}].sum()"


@dataclass(frozen=True)
class Gap:
    """How much one number is above another, with its sign or without, per step of a span."""

    one: Any
    other: Any
    is_signed: bool = False
    span: Fraction = Fraction(1)  # what it is spread over, as the years of a rate

    def run(self, sheet: Sheet) -> Result:
        if self.one == self.other:
            raise Unfit("it is compared with itself")
        a, b = self.one.run(sheet), self.other.run(sheet)
        numbers = [_only_number(sheet, form, result) for form, result in ((self.one, a), (self.other, b))]
        (x, like), (y, other) = numbers
        if like is not None and other is not None:
            _check_units(like, other)
        rows, columns, steps = _read_by((a, b))
        number = Fraction(x - y) / self.span
        number = number if self.is_signed else abs(number)
        return _number(number, rows, columns, like, steps=steps)

    def code(self, sheet: Sheet) -> str:
        item = [
            f"{each.code(sheet)}{'.item()' if isinstance(each, Pick) else ''}"
            for each in (self.one, self.other)
        ]
        per = "" if self.span == 1 else f" / {plain(self.span)}"
        return f"({item[0]} - {item[1]}){per}" if self.is_signed else f"abs({item[0]} - {item[1]}){per}"


def _only_number(sheet: Sheet, form: Any, result: Result) -> tuple[Number, SheetColumn | None]:
    """The one number of a result, with the column that it is of."""
    if result.number is not None and result.kind == "number":
        return result.number, sheet.columns[form.column] if isinstance(form, Fold) else None
    if isinstance(form, Pick) and len(result.values) == 1 and result.rows:
        column = sheet.columns[form.wanted[0]]
        if column.kind == "number" and (number := column.numbers[result.rows[0]]) is not None:
            return number, column
        if column.kind == "date" and (found := column.moments[result.rows[0]]) and not found[0].month:
            return Fraction(found[0].year), None
    raise Unfit("there is no number to compare")


@dataclass(frozen=True)
class Greater:
    """Which of some named rows has the most (or least) of a column: told by its name."""

    names: tuple[str, ...]
    forms: tuple[Any, ...]
    descending: bool
    truth: bool = False  # whether the first of two has it

    def run(self, sheet: Sheet) -> Result:
        results = [form.run(sheet) for form in self.forms]
        keys = [_order_key(sheet, form, result) for form, result in zip(self.forms, results, strict=True)]
        rows, columns, steps = _read_by(results)
        best = max(keys) if self.descending else min(keys)
        if self.truth:
            return Result(
                ("yes" if keys[0] == best and keys[0] != keys[1] else "no",),
                rows,
                columns,
                "truth",
                steps=steps,
            )
        if keys.count(best) > 1:
            raise Unfit("they are level")
        return Result((self.names[keys.index(best)],), rows, columns, steps=steps)

    def code(self, sheet: Sheet) -> str:
        pairs = ", ".join(
            f"{name!r}: {form.code(sheet)}{'.item()' if isinstance(form, Pick) else ''}"
            for name, form in zip(self.names, self.forms, strict=True)
        )
        return f"pd.Series({{{pairs}}}).idx{'max' if self.descending else 'min'}()"


def _order_key(sheet: Sheet, form: Any, result: Result) -> Any:
    if result.kind == "number":
        return result.number
    column = sheet.columns[form.wanted[0]]
    if len(result.values) != 1:
        raise Unfit("several rows fit one of them")
    _check_units(column) if column.kind == "number" else None
    key = column.moments[result.rows[0]] if column.kind == "date" else column.numbers[result.rows[0]]
    if key is None:
        raise Unfit(f'"{column.plain}" has nothing to compare there')
    return key


@dataclass(frozen=True)
class Groups:
    """For each text of a column how many rows there are, or the fold of another column."""

    of: Rows
    by: int
    how: How | Literal["count"] = "count"
    column: int | None = None

    def table(self, sheet: Sheet) -> dict[str, tuple[Fraction, list[int]]]:
        by, groups = sheet.columns[self.by], dict[str, list[int]]()
        names: dict[str, str] = {}
        for row in self.of.rows(sheet):
            text = shown(by.cells[row])
            if not is_blank(text):
                name = names.setdefault(text.casefold(), text)
                groups.setdefault(name, []).append(row)
        if not groups:
            raise Unfit("no row fits")
        if self.how == "count" or self.column is None:
            return {name: (Fraction(len(rows)), rows) for name, rows in groups.items()}
        column, found = sheet.columns[self.column], {}
        for name, rows in groups.items():
            if keys := [key for key, _ in _keys(sheet, column, rows)]:
                if column.kind != "number":
                    raise Unfit(f'"{column.plain}" has no numbers')
                found[name] = (fold(keys, self.how), rows)
        return found

    @property
    def columns(self) -> tuple[int, ...]:
        return (*self.of.columns, self.by, *(() if self.column is None else (self.column,)))

    def run(self, sheet: Sheet) -> Result:
        table = self.table(sheet)
        like = None if self.column is None or self.how == "count" else sheet.columns[self.column]
        values = tuple(
            f"{name}: {plain(n) if like is None else _as_written(n, like)}" for name, (n, _) in table.items()
        )
        rows = tuple(row for _, rows in table.values() for row in rows)
        return Result(
            values,
            rows,
            self.columns,
            "pairs",
            steps=(*self.of.steps(sheet), self.step(sheet)),
        )

    def step(self, sheet: Sheet) -> Step:
        """Return the operation that shows it: groups show counts alone, so others show their columns."""
        by = sheet.columns[self.by].name
        if self.column is None:
            return "group_by", (by,)
        return "select_column", (by, sheet.columns[self.column].name)

    def code(self, sheet: Sheet) -> str:
        grouped = f"{self.of.code(sheet)}.groupby({sheet.columns[self.by].name!r})"
        if self.how == "count" or self.column is None:
            return f"{grouped}.size()"
        return f"{grouped}[{sheet.columns[self.column].name!r}].{self.how}()"


@dataclass(frozen=True)
class Chosen:
    """Of groups those with the most or the least, ties of the last one as well."""

    of: Groups
    sign: Literal["most", "least"]
    count: int = 1

    def run(self, sheet: Sheet) -> Result:
        table = self.of.table(sheet)
        if max(number for number, _ in table.values()) == 1 and self.of.how == "count" and len(table) > 1:
            raise Unfit("each stands there once", moot=True)
        if len(table) < self.count:
            raise Unfit("there are not so many")
        ranked = sorted(table, key=lambda name: table[name][0], reverse=self.sign == "most")
        last = table[ranked[self.count - 1]][0]
        names = ranked[: self.count] + [name for name in ranked[self.count :] if table[name][0] == last]
        rows = tuple(row for name in names for row in table[name][1])
        steps = (*self.of.of.steps(sheet), self.of.step(sheet))
        return Result(tuple(names), rows, self.of.columns, steps=steps)

    def code(self, sheet: Sheet) -> str:
        groups = self.of.code(sheet)
        best = "nlargest" if self.sign == "most" else "nsmallest"
        return f"{groups}.{best}({self.count}, keep='all').index"


@dataclass(frozen=True)
class Exists:
    """Whether any row fits."""

    of: Where

    def run(self, sheet: Sheet) -> Result:
        rows, steps = self.of.rows(sheet), tuple(self.of.steps(sheet))
        return Result(("yes" if rows else "no",), tuple(rows), self.of.columns, "truth", steps=steps)

    def code(self, sheet: Sheet) -> str:
        return f"len({self.of.code(sheet)}) > 0"


Form = Pick | Count | Fold | Bill | Share | Gap | Greater | Groups | Chosen | Exists

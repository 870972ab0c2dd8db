"""The algebra: conditions on rows, rows in order, and what is computed of them, each once and exactly.

A form is built of dataclasses and evaluated by `run`, which gives a `Result`; `Unfit` is raised where the
table does not bear it: no such row, an empty cell, units that cannot be compared.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import reduce
from itertools import compress
from statistics import median
from typing import Any, Literal

from chameleon.cached import cached_property
from chameleon.modules.offline.sheet import Number, Sheet, SheetColumn, amounts_in
from chameleon.modules.offline.wording import COLUMNS, NoLine, Told, as_written, plain
from chameleon.table.dates import MONTHS, Moment
from chameleon.table.meaning import is_blank, shown

Sign = Literal["<", "<=", "==", "!=", ">=", ">", "in"]
Step = tuple[str, tuple[str, ...]]  # an operation of a chain of tables, and what it names
How = Literal["sum", "mean", "median", "max", "min"]
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">=": operator.ge,
    ">": operator.gt,
}  # fmt: skip
_FOLDS: dict[str, Callable[[Sequence[Fraction]], Any]] = {
    "sum": sum, "mean": lambda each: sum(each) / len(each), "median": median, "max": max, "min": min,
}  # fmt: skip
_MOST_SHOWN = 60
_MOST_TEXTS = 3
_MOST_LISTED = 6  # values or rows in a line of pandas


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
    columns: tuple[int, ...] = ()
    kind: Literal["cells", "number", "truth"] = "cells"
    number: Number | None = None
    steps: tuple[Step, ...] = ()


class Part(Told):
    """A part of a form: a frozen dataclass, whose columns and steps are those of its fields."""

    @cached_property
    def nested(self) -> list[Part]:
        return [each for _, each in self._values() if isinstance(each, Part)]

    @cached_property
    def own_columns(self) -> list[int]:
        return [each for name, each in self._values() if name in COLUMNS and isinstance(each, int)]

    def _values(self) -> Iterator[tuple[str, Any]]:
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            yield from ((each.name, part) for part in (value if isinstance(value, tuple) else (value,)))

    def line(self, sheet: Sheet) -> str:
        if _differs(self, sheet):
            raise NoLine
        return super().line(sheet)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        below = (column for part in self.nested for column in part.columns)
        return tuple(dict.fromkeys((*below, *self.own_columns)))

    def steps(self, sheet: Sheet) -> list[Step]:
        """Return the operations of a chain of tables that lead to it."""
        below = [step for part in self.nested for step in part.steps(sheet)]
        return below + self.step(sheet)

    def step(self, sheet: Sheet) -> list[Step]:
        """Return those of its own."""
        return []


class Condition(Part):
    """A test of rows: `rows` finds those that meet it."""

    def rows(self, sheet: Sheet) -> set[int]:
        raise NotImplementedError

    def listed(self, sheet: Sheet) -> str:
        """Return in pandas that its column has one of the values of its rows. Raises `NoLine`."""
        column, rows = sheet.columns[self.own_columns[0]], self.rows(sheet)
        values = column.meaning.plain
        wanted = list(dict.fromkeys(values[row] for row in sorted(rows)))
        is_short = len(wanted) <= (1 if column.dtype == "date" else _MOST_LISTED)  # `isin` finds no dates
        if not is_short or None in wanted or len(rows) < sum(value in wanted for value in values):
            raise NoLine
        code = f"df[{self._field(sheet, 0, 'by', column.index)}]"
        return f"({code} == {wanted[0]!r})" if len(wanted) == 1 else f"{code}.isin({wanted})"


@dataclass(frozen=True)
class Is(Condition):
    """A cell's folded text is one of these (`said`: as the question has them)."""

    column: int
    texts: frozenset[str]
    said: str = field(default="", compare=False)
    line = Condition.listed

    def rows(self, sheet: Sheet) -> set[int]:
        places = sheet.columns[self.column].places
        return {row for text in self.texts for row in places.get(text, ())}

    def told(self, sheet: Sheet, way: int) -> str:
        column = sheet.columns[self.column]
        names = sorted({shown(column.cells[column.places[text][0]]) for text in self.texts})
        more = f" or {len(names) - _MOST_TEXTS} more" if len(names) > _MOST_TEXTS else ""
        return f"{column.plain} is {' or '.join(names[:_MOST_TEXTS])}{more}"


@dataclass(frozen=True)
class Compares(Condition):
    """A cell's number against one in the base of its unit."""

    column: int
    sign: Sign
    number: Number
    templates = ("(df[{column}] {sign} {number})",), ("{column} is {sign} {number}",)

    def rows(self, sheet: Sheet) -> set[int]:
        column, test = sheet.columns[self.column], _SIGNS[self.sign]
        _check_units(column)
        pairs = enumerate(column.numbers)
        return {row for row, each in pairs if each is not None and test(each, self.number)}


@dataclass(frozen=True)
class Dates(Condition):
    """A cell's date before, after or within one; of a span its beginning, but for what lies within."""

    column: int
    sign: Sign
    moment: Moment
    until: Moment | None = None
    templates = (), ("{column} is {when} {moment}", "{column} is {when} {moment} to {until}")

    @property
    def when(self) -> str:
        return {"<": "before", "<=": "up to", ">=": "from", ">": "after"}.get(self.sign, "in")

    def rows(self, sheet: Sheet) -> set[int]:
        column = sheet.columns[self.column]
        if self.moment.month or self.moment.day or not column.meaning.spans:
            _check_units(column)
        return {row for row, each in enumerate(column.moments) if each is not None and self._fits(*each)}

    def _fits(self, start: Moment, end: Moment) -> bool:
        wanted, count = self.moment, _told(self.moment)
        if self.until is not None:
            told, last = tuple(part for part in start if part), _told(self.until)
            return tuple(wanted)[: len(told)] <= told and start[:last] <= self.until[:last]
        if self.sign in ("in", "=="):
            return start.fits(wanted) or (start != end and start.year <= wanted.year <= end.year)
        first = 0 if wanted.year else 1  # of a month alone the year does not count
        return bool(start[first]) and _SIGNS[self.sign](start[first:count], wanted[first:count])

    def line(self, sheet: Sheet) -> str:
        column, ends = sheet.columns[self.column], [each for each in (self.moment, self.until) if each]
        forms = {"-".join(compress(("%Y", "%m", "%d"), each)) for each in ends}
        code, dates = f"df[{self._field(sheet, 0, 'by', self.column)}]", [str(each.year) for each in ends]
        if column.dtype == "date" and len(forms) == 1 and (self.moment.year or not self.until):
            dates = [repr(self._field(sheet, 0, "", each)) for each in ends]
            code = f"{code}.dt.strftime({forms.pop()!r})"
        elif column.dtype != "number" or forms != {"%Y"}:
            return self.listed(sheet)
        if self.until:
            return f"{code}.between({', '.join(dates)})"
        return f"({code} {self._field(sheet, 0, '', self.sign)} {dates[0]})"


def _told(moment: Moment) -> int:
    return 3 if moment.day else 2 if moment.month else 1


@dataclass(frozen=True)
class Filled(Condition):
    """A cell that says something."""

    column: int
    templates = ("df[{column}].notna()",), ("{column} is filled",)

    def rows(self, sheet: Sheet) -> set[int]:
        column = sheet.columns[self.column]
        return {row for row, cell in enumerate(column.cells) if not column.is_blank(shown(cell))}


@dataclass(frozen=True)
class Either(Condition):
    """One of several conditions, or with `negated`, none of them, where their cells say something."""

    parts: tuple[Any, ...]
    negated: bool = False
    templates = ("({parts})", "~({parts}){negated}"), ("{parts}", "not ({parts}){negated}")
    joined = " | ", " or "

    def rows(self, sheet: Sheet) -> set[int]:
        found = set[int]().union(*(part.rows(sheet) for part in self.parts))
        if not self.negated:
            return found
        everything = set(range(len(sheet.table.rows)))
        if any(isinstance(part, Filled) for part in self.parts):
            return everything - found
        return everything.intersection(*(Filled(column).rows(sheet) for column in self.columns)) - found


@dataclass(frozen=True)
class Both(Condition):
    """All of several conditions at once."""

    parts: tuple[Any, ...]
    templates = ("{parts}",), ("{parts}",)

    def rows(self, sheet: Sheet) -> set[int]:
        return set.intersection(*(part.rows(sheet) for part in self.parts))


def _check_units(*columns: SheetColumn) -> None:
    """Raise `Unfit` where amounts cannot be compared: one is unclear, or their units are of several kinds."""
    for column in columns:
        if column.meaning.why:
            raise Unfit(f'"{column.plain}" cannot be computed with: {column.meaning.why}')
    bases = {column.meaning.base for column in columns if column.meaning.base}
    factors = {column.meaning.factor for column in columns if column.meaning.base}
    if len(bases) > 1 or len(factors) > 1:
        names = " and ".join(f'"{column.plain}"' for column in columns)
        raise Unfit(f"the amounts of {names} have units that cannot be compared ({', '.join(sorted(bases))})")


class Rows(Part):
    """Some of the rows, in an order; `rows` finds them once for a sheet."""

    def rows(self, sheet: Sheet) -> list[int]:
        if self not in sheet.kept:
            sheet.kept[self] = self.find(sheet)
        found: list[int] = sheet.kept[self]
        return found

    def find(self, sheet: Sheet) -> list[int]:
        raise NotImplementedError

    def step(self, sheet: Sheet) -> list[Step]:
        rows = self.rows(sheet)
        names = tuple(f"row {row + 1}" for row in rows[:_MOST_SHOWN])
        return [("select_row", names)] if len(rows) != len(sheet.rows) else []


@dataclass(frozen=True)
class Where(Rows):
    """The rows that meet all conditions, in their order; rows of totals only where no others do."""

    conditions: tuple[Any, ...] = ()
    templates = ("df", "df[{conditions}]"), ("", " where {conditions}")

    def find(self, sheet: Sheet) -> list[int]:
        sets = [each.rows(sheet) for each in self.conditions]
        found = sorted(reduce(operator.and_, sets)) if sets else sheet.rows
        return [row for row in found if row not in sheet.summaries] or found

    def line(self, sheet: Sheet) -> str:
        found = {*range(len(sheet.table.rows))}.intersection(*(each.rows(sheet) for each in self.conditions))
        if len(totals := found.difference(self.rows(sheet))) > _MOST_LISTED:
            raise NoLine
        return super().line(sheet) + (f".drop(index={sorted(totals)})" if totals else "")


def _keys(sheet: Sheet, column: SheetColumn, rows: Sequence[int]) -> list[tuple[Any, int]]:
    """The comparable values of a column in these rows, those without one left out."""
    _check_units(column)
    if column.kind == "date":
        return [(each[0], row) for row in rows if (each := column.moments[row]) is not None]
    if column.kind not in ("number", "time"):
        raise Unfit(f'"{column.plain}" has neither numbers nor dates')
    found = [(number, row) for row in rows if (number := column.numbers[row]) is not None]
    if column.is_rank and len(found) < len(rows) and is_blank(shown(column.cells[rows[0]])):
        raise Unfit(f'"{column.plain}" does not tell the first')  # medals in its place
    return found


@dataclass(frozen=True)
class Ordered(Rows):
    """Some of the rows by the order of a column, or by their own where it is None.

    From the `start`-th (0 the first), `count` of them; ties of the last one count as well, by the column.
    """

    of: Where
    column: int | None
    descending: bool
    start: int = 0
    count: int = 1

    @property
    def templates(self) -> tuple[tuple[str], tuple[str]]:  # type: ignore[override]
        start, stop = self.start, self.start + self.count
        cut = f"{start}:{stop}"
        if self.column is None:
            words = "last" if self.descending else "first"
            code = f"iloc[{f'{-stop}:{-start or str()}' if self.descending else cut}]"
        else:
            best, way = ("nlargest", "most") if self.descending else ("nsmallest", "least")
            words = f"{way} {{column}}"
            by = f"sort_values({{column}}, ascending={not self.descending}).iloc[{cut}]"
            code = by if start else f"{best}({stop}, {{column}}, keep='all')"
        place = f"number {start + 1} by" if start else "the" if stop == 1 else f"the {stop} with the"
        return (f"{{of}}.{code}",), (f" with {place} {words}{{of}}",)

    def find(self, sheet: Sheet) -> list[int]:
        rows, stop = self.of.rows(sheet), self.start + self.count
        if self.column is None:
            keys: list[tuple[Any, int]] = [(place, row) for place, row in enumerate(rows)]
        else:
            keys = _keys(sheet, sheet.columns[self.column], rows)
        keys.sort(key=lambda pair: pair[0], reverse=self.descending)
        if len(keys) < stop:
            fit = {0: "no row fits", 1: "only 1 row fits"}.get(len(keys), f"only {len(keys)} rows fit")
            named = "" if self.column is None else f' with "{sheet.columns[self.column].plain}" filled'
            raise Unfit(f"{fit}{named}")
        if self.start and keys[self.start - 1][0] == keys[self.start][0]:
            raise Unfit("rows are level there")
        last = keys[stop - 1][0]
        ties = [row for key, row in keys[stop:] if key == last]
        return [row for _, row in keys[self.start : stop]] + ties

    def step(self, sheet: Sheet) -> list[Step]:
        way = "large to small" if self.descending else "small to large"
        column = None if self.column is None else sheet.columns[self.column]
        return [*([] if column is None else [("sort_by", (column.name, way))]), *super().step(sheet)]


class Form(Part):
    """What is computed of rows: `find` gives the result, `run` adds the columns and steps that led to it."""

    operation = "select_column"

    def run(self, sheet: Sheet) -> Result:
        return replace(self.find(sheet), columns=self.columns, steps=tuple(self.steps(sheet)))

    def find(self, sheet: Sheet) -> Result:
        raise NotImplementedError

    def step(self, sheet: Sheet) -> list[Step]:
        names = tuple(sheet.columns[index].name for index in self.own_columns)
        return [(self.operation, names)] if names else []


@dataclass(frozen=True)
class Pick(Form):
    """The cells of columns in these rows, each told once. `single`: different ones are refused."""

    of: Rows
    wanted: tuple[int, ...]
    single: bool = False
    part: Literal["year", "month"] | None = None  # of dates
    templates = ("{of}[{wanted}]", "{of}[{wanted}].dt.{part}"), ("{wanted}{of}", "{part} of {wanted}{of}")
    item = ".iloc[0]"

    def find(self, sheet: Sheet) -> Result:
        rows, columns = self.of.rows(sheet), [sheet.columns[column] for column in self.wanted]
        if not rows:
            raise Unfit("no row fits", empty=True)
        cells = {row: [self._cell(column, row) for column in columns] for row in rows}
        told = {row: [cell for cell in cells[row] if not is_blank(cell)] for row in rows}
        filled = tuple(row for row in rows if told[row])
        if not filled:
            raise Unfit(f'"{columns[0].plain}" is empty there', empty=True)
        if len(filled) < len(rows) and isinstance(self.of, Ordered):
            raise Unfit(f'"{columns[0].plain}" is empty in a row that fits')
        values = tuple(dict.fromkeys(", ".join(told[row]) for row in filled))
        if self.single and len(values) > 1:
            raise Unfit(f"{len(rows)} rows fit, and they differ")
        return Result(values, filled)

    def _cell(self, column: SheetColumn, row: int) -> str:
        if self.part is None or (moment := column.moments[row]) is None:
            return shown(column.cells[row])
        return str(moment[0].year or "") if self.part == "year" else ("", *MONTHS)[moment[0].month].title()


@dataclass(frozen=True)
class Count(Form):
    """How many rows, or how many different texts of a column."""

    of: Rows
    distinct: int | None = None
    operation = "group_by"
    templates = (
        ("len({of})", "{of}[{distinct}].nunique()"),
        ("number of rows{of}", "number of different {distinct}{of}"),
    )

    def find(self, sheet: Sheet) -> Result:
        rows = self.of.rows(sheet)
        if self.distinct is None:
            return _number(len(rows), rows)
        texts = {text.casefold() for text in sheet.texts_of(sheet.columns[self.distinct], rows)}
        return _number(len(texts), rows)


def _number(number: Number, rows: Sequence[int], like: SheetColumn | None = None) -> Result:
    """Return a number, written like those of a column."""
    if like is not None and like.kind == "time":
        raise Unfit(f'times of "{like.plain}" are not computed with')
    return Result((as_written(number, like, rows),), tuple(rows), kind="number", number=number)


def _truth(holds: bool, rows: Iterable[int]) -> Result:
    return Result(("yes" if holds else "no",), tuple(rows), kind="truth")


@dataclass(frozen=True)
class Fold(Form):
    """A sum, mean, median or extreme of the numbers of a column."""

    of: Rows
    column: int
    how: How
    templates = ("{of}[{column}].{how}",), ("{how} {column}{of}",)

    def find(self, sheet: Sheet) -> Result:
        column, rows = sheet.columns[self.column], self.of.rows(sheet)
        keys = _keys(sheet, column, rows)
        if not keys:
            raise Unfit(f'"{column.plain}" has no number there' if rows else "no row fits", empty=True)
        _check_years(sheet, self.of, rows)
        if self.how in ("max", "min"):
            _, row = (max if self.how == "max" else min)(keys, key=lambda pair: pair[0])
            number = column.numbers[row] if column.kind == "number" else None
            return Result((shown(column.cells[row]),), (row,), number=number)
        if column.kind != "number":
            raise Unfit(f'"{column.plain}" has no numbers to compute with')
        return _number(fold([key for key, _ in keys], self.how), [row for _, row in keys], column)


def _check_years(sheet: Sheet, of: Rows, rows: Sequence[int]) -> None:
    """Raise `Unfit` where "in January" is January of several years, which nobody may have meant to add up."""
    for each in getattr(of, "conditions", ()):
        if isinstance(each, Dates) and not each.moment.year and sheet.columns[each.column].is_plain_time:
            moments = (sheet.columns[each.column].moments[row] for row in rows)
            if len(years := {told[0].year for told in moments if told}) > 1:
                raise Unfit(f"it may be of {' or '.join(map(str, sorted(years)))}: name the year")


def fold(numbers: Sequence[Number], how: How) -> Fraction:
    return Fraction(_FOLDS[how]([Fraction(number) for number in numbers]))


def _values(sheet: Sheet, forms: Sequence[Form]) -> tuple[list[Any], list[int], SheetColumn | None]:
    """Return the one number or date of each form, their rows, and the column that they are like."""
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
    _check_units(*columns.values())
    return values, list(dict.fromkeys(rows)), next(iter(columns.values()), None)


@dataclass(frozen=True)
class Share(Form):
    """What part of rows, or of their sum in a column, other rows are: in percent."""

    whole: Where
    part: Where
    column: int | None = None
    templates = (
        ("100 * len({part}) / len({whole})", "100 * {part}[{column}].sum() / {whole}[{column}].sum()"),
        ("share of rows{part} among rows{whole}", "share of {column}{part} among rows{whole}"),
    )

    def find(self, sheet: Sheet) -> Result:
        rows, all_rows = self.part.rows(sheet), self.whole.rows(sheet)
        over, under = Fraction(len(rows)), Fraction(len(all_rows))
        if self.column is not None:
            keys = (_keys(sheet, sheet.columns[self.column], each) for each in (rows, all_rows))
            over, under = (Fraction(sum(key for key, _ in each)) for each in keys)
        if not under or (self.column is not None and not rows):
            raise Unfit("there is nothing to take a share of")
        number = over / under * 100
        return Result((f"{plain(number, 2)}%",), tuple(rows), kind="number", number=number)


@dataclass(frozen=True)
class Gap(Form):
    """How much two numbers differ."""

    one: Form
    other: Form
    templates = ("abs({one} - {other})",), ("difference between {one} and {other}",)

    def find(self, sheet: Sheet) -> Result:
        if self.one == self.other:
            raise Unfit("it is compared with itself")
        values, rows, column = _values(sheet, (self.one, self.other))
        if any(isinstance(each, tuple) and each[0].month for each in values):
            raise Unfit("days are not counted")
        a, b = (Fraction(each[0].year if isinstance(each, tuple) else each) for each in values)
        return _number(abs(a - b), rows, column)


@dataclass(frozen=True)
class Greater(Form):
    """Which of some named rows has the most (or least) of a column: told by its name."""

    names: tuple[str, ...]
    forms: tuple[Form, ...]
    descending: bool
    truth: bool = False  # whether the first of two has it

    def find(self, sheet: Sheet) -> Result:
        keys, rows, _ = _values(sheet, self.forms)
        best = max(keys) if self.descending else min(keys)
        if self.truth:
            return _truth(keys[0] == best != keys[1], rows)
        if keys.count(best) > 1:
            raise Unfit("they are level")
        return Result((self.names[keys.index(best)],), tuple(rows))

    def told(self, sheet: Sheet, way: int) -> str:
        told = self.forms[0].told(sheet, way).partition(" where ")[0]
        return f"which of {' and '.join(self.names)} has more: {told}"

    def line(self, sheet: Sheet) -> str:
        raise NoLine


@dataclass(frozen=True)
class Frequent(Form):
    """The texts of a column that the most or the fewest rows have, ties of the last one as well."""

    of: Rows
    by: int
    sign: Literal["most", "least"]
    count: int = 1
    operation = "group_by"
    templates = (
        ("{of}.groupby({by}).size().{sign}({count}, keep='all').index",),
        ("{by} with the {sign} rows{of}",),
    )

    def find(self, sheet: Sheet) -> Result:
        by, groups, names = sheet.columns[self.by], dict[str, list[int]](), dict[str, str]()
        for row in self.of.rows(sheet):
            text = shown(by.cells[row])
            if not is_blank(text):
                groups.setdefault(names.setdefault(text.casefold(), text), []).append(row)
        if len(groups) < self.count:
            raise Unfit("there are not so many")
        if len(groups) > 1 and all(len(rows) == 1 for rows in groups.values()):
            raise Unfit("each stands there once", moot=True)
        ranked = sorted(groups, key=lambda name: len(groups[name]), reverse=self.sign == "most")
        last = len(groups[ranked[self.count - 1]])
        chosen = ranked[: self.count] + [name for name in ranked[self.count :] if len(groups[name]) == last]
        return Result(tuple(chosen), tuple(row for name in chosen for row in groups[name]))


@dataclass(frozen=True)
class Exists(Form):
    """Whether any row fits."""

    of: Where
    templates = ("len({of}) > 0",), ("whether there is a row{of}",)

    def find(self, sheet: Sheet) -> Result:
        rows = self.of.rows(sheet)
        return _truth(bool(rows), rows)


def _differs(part: Part, sheet: Sheet) -> bool:
    """Return whether pandas gives something else for the templates of a part."""
    match part:
        case Compares(index, "!="):  # NaN is another number too
            return None in sheet.columns[index].numbers
        case Either(parts, negated=True):  # blanks are neither
            return len(part.rows(sheet) | Either(parts).rows(sheet)) < len(sheet.table.rows)
        case Ordered() if part.start:  # `iloc` leaves out rows that are level with the last
            return len(part.rows(sheet)) > part.count
        case Count(of, int(index)) | Frequent(of, index):  # the case of texts counts, and so do blanks
            column, rows = sheet.columns[index], of.rows(sheet)
            texts = {text.casefold() for text in sheet.texts_of(column, rows)}
            return len(texts) != len({column.meaning.plain[row] for row in rows} - {None})
        case Pick(of, (index, *_)):  # blanks are left out, and a cell is shown in its own unit
            column = sheet.columns[index]
            cells = {shown(column.cells[row]) for row in of.rows(sheet)}
            amounts = (each for cell in cells for each in amounts_in(cell) if column.meaning.base)
            is_other = any(each.base and each.factor != column.meaning.factor for each in amounts)
            return is_other or any(map(is_blank, cells)) or bool(part.part and column.dtype != "date")
    return False

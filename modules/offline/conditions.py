"""Conditions: which numbers, dates and cells of a question the rows must have, bound to their columns.

Binding is the first half of reading: what it leaves over says what is asked (`grammar`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

from chameleon.modules.offline.algebra import Both, Compares, Dates, Either, Filled, Is
from chameleon.modules.offline.links import Item
from chameleon.modules.offline.sheet import Measure, Number, Sheet, SheetColumn
from chameleon.modules.offline.words import ENGLISH, Token

_MOST_BINDINGS, _MOST_TRIED = 24, 400
_COMPARED = frozenset(("than", "more", "difference", "change", "comparative", "or"))
_ENDS = (["and", "number"], ["dates", "number"])


@dataclass(frozen=True)
class Bound:
    """A condition with the items that it took and what binding them so costs."""

    condition: Any
    cost: float
    taken: frozenset[int]
    columns: frozenset[int] = frozenset()  # the items that name its column, which may also be asked for


class Frame:
    """One cut of a question into items."""

    def __init__(self, sheet: Sheet, tokens: Sequence[Token], items: Sequence[Item]) -> None:
        self.sheet, self.tokens, self.items = sheet, tokens, list(items)
        self.kinds = [item.kind for item in items]
        self.asks_truth = bool(tokens) and tokens[0].low in ENGLISH.data["yesno"]

    def kind(self, place: int) -> str:
        return self.kinds[place] if 0 <= place < len(self.kinds) else ""

    def low(self, place: int) -> str:
        return self.tokens[place].low if 0 <= place < len(self.tokens) else ""

    def between(self, one: Item, other: Item) -> set[str]:
        """The words between two items that neither has taken."""
        return {token.low for token in self.tokens[one.end : other.start]}

    def is_owned(self, item: Item) -> bool:
        """Whether an item follows a possessive, as in "Ann's manager"."""
        return self.low(item.start - 1) == "s"

    def bindings(self) -> Iterator[tuple[float, list[Bound], list[Item]]]:
        """The ways to take numbers, dates and cells as conditions, the likely first, and what is left."""
        choices: list[list[Bound | None]] = []
        for place, item in enumerate(self.items):
            if item.kind in ("number", "date"):
                found = self._numbers(place) if item.kind == "number" else self._dates(place)
                choices.append([*found, None])
        fixed = [*self._columns(), *self._cells()]
        ways = []
        for picked in islice(product(*choices), _MOST_TRIED):
            bounds = [each for each in picked if each is not None]
            taken = [place for each in bounds for place in each.taken]
            if len(set(taken)) == len(taken):
                ways.append((sum(each.cost for each in bounds), bounds))
        ways.sort(key=lambda way: way[0] - 0.2 * len(way[1]))
        for cost, bounds in ways[:_MOST_BINDINGS]:
            used = {place for each in bounds for place in each.taken}
            free = [each for each in fixed if not each.taken & used]
            used |= {place for each in free for place in each.taken}
            left = [item for place, item in enumerate(self.items) if place not in used]
            total = cost + sum(each.cost for each in free) + self._clashes([*bounds, *free])
            yield total, [*bounds, *free], left

    def _clashes(self, bounds: Sequence[Bound]) -> float:
        """What it costs that a cell is to be two things at once, where nothing is compared."""
        if _COMPARED & set(self.kinds):
            return 0.0
        columns = [each.condition.column for each in bounds if isinstance(each.condition, Is | Dates)]
        return 0.6 * (len(columns) - len(set(columns)))

    # Columns that are denied or said to be so.

    def _columns(self) -> Iterator[Bound]:
        """Columns of yes and no that are named; columns with "no", "positive" or "negative" before them."""
        for place, item in enumerate(self.items):
            if item.kind not in ("none", "signed"):
                continue
            near = place + 1
            while item.kind == "none" and self.kind(near) in ("exists", "verb", "dates"):
                near += 1
            leads = any(each.column == self.items[near].value for each in self.items[near + 1 : near + 3])
            if self.kind(near) != "column" or (leads and self.kind(near + 1) != "column"):
                continue
            column, taken = self.sheet.columns[self.items[near].value], frozenset(range(place, near + 1))
            if column.is_truth:
                continue
            if column.kind == "number" and (item.kind == "signed" or 0 in column.numbers):
                sign: Any = "==" if item.kind == "none" else item.value
                yield Bound(Compares(column.index, sign, Fraction(0)), 0.1, taken)
            elif item.kind == "none":
                yield Bound(Either((Filled(column.index),), negated=True), 0.1, taken)

    def _denial(self, place: int) -> frozenset[int]:
        """The word that denies an item, if any: right before it, or before words that lead to it."""
        for before in range(place - 1, max(-1, place - 4), -1):
            if self.kinds[before] == "none":
                return frozenset({before})
            if self.kinds[before] not in ("dates", "noun", "column", "thing", "verb", "exists"):
                break
        return frozenset()

    # Cells.

    def _cells(self) -> Iterator[Bound]:
        """Cells with the word that denies them; those of one column with "or" or commas between together."""
        end = 0
        for place, item in enumerate(self.items):
            if place < end or item.kind != "value":
                continue
            parts, end = [item.value], place + 1
            while True:
                other = end + (self.kind(end) in ("or", "and"))
                if self.kind(other) != "value" or self.items[other].column != item.column:
                    break
                if other == end and not self.tokens[self.items[other].start].listed:
                    break
                parts.append(self.items[other].value)
                end = other + 1
            denied = self._denial(place)
            is_single = len(parts) == 1 and not denied
            condition = parts[0] if is_single else Either(tuple(parts), bool(denied))
            near = [p for p in (place - 1, end) if self.kind(p) == "column"]
            named = (p for p in near if self.items[p].value == item.column)
            named = (p for p in named if not self.is_owned(self.items[p]))
            yield Bound(condition, 0.0, denied | set(range(place, end)), frozenset(named))

    # Numbers.

    def _numbers(self, place: int) -> Iterator[Bound]:
        """A number against the columns that it may be compared with."""
        measure, before, end = self.items[place].value, place - 1, place + 1
        taken, sign, until = {place}, "==", None
        has_than = self.kind(before) == "than"
        before -= has_than
        match self.kind(before):
            case "compare":
                sign = self.items[before].value
                taken |= set(range(before, place))
            case "comparative" | "more" if has_than:
                sign, taken = "", taken | set(range(before, place))
            case "none":
                sign, taken = "!=", taken | {before}
        after = end + 1 if self.kind(end) in ("column", "noun", "unit", "thing") else end
        if self.kind(after) == "after":
            sign, taken = self.items[after].value, taken | {after}
            end += after == end
        elif self.kind(before) == "between" and self.kinds[end : end + 2] in _ENDS:
            until, taken, end = self.items[end + 1].value, taken | {before, end, end + 1}, end + 2
        is_compared = bool(taken - {place}) and sign != "!="
        for column, cost, named in self._compared(place, before, end, measure, is_compared):
            for each, extra in [(sign, 0.0)] if sign else self._signs(before, column):
                number = _in_units(measure, column)
                if number is None:
                    continue
                condition: Any = Compares(column.index, each, number)  # type: ignore[arg-type]
                if until is not None:
                    last = Compares(column.index, "<=", _in_units(until, column) or number)
                    condition = Both((Compares(column.index, ">=", number), last))
                yield Bound(condition, cost + extra, frozenset(taken | named), frozenset(named))

    def _signs(self, place: int, column: SheetColumn) -> list[tuple[str, float]]:
        """Which sign "more", "taller" or "older" has over a column."""
        item = self.items[place]
        if item.kind == "more":
            return [(">" if item.value > 0 else "<", 0.0)]
        ways = [(way, cost) for way, index, cost in self.graded(item.value) if index == column.index]
        return [(">" if way > 0 else "<", cost) for way, cost in ways]

    def _compared(
        self, place: int, before: int, end: int, measure: Measure, is_compared: bool
    ) -> Iterator[tuple[SheetColumn, float, set[int]]]:
        """The columns that a number may be compared with: named beside it, of its unit, or the only one."""
        is_written = self.tokens[self.items[place].start].number is not None or bool(measure.base)
        is_written = is_written or self.kind(place - 1) == "none"
        grades = self.kind(before) == "comparative"
        is_named = False
        for distance, near in enumerate((end, before - 1, -1 if grades else before, end + 1, before - 2)):
            if self.kind(near) != "column" or not (
                is_compared or (is_written and self._equals(near, place, end))
            ):
                continue
            column = self.sheet.columns[self.items[near].value]
            if column.kind == "number" and not (column.is_running and self.items[near].cost > 0):
                is_named = True
                yield column, 0.03 * distance, {near}
        if grades:
            for _, index, cost in self.graded(self.items[before].value):
                yield self.sheet.columns[index], cost, set()
            return
        if measure.base:
            numbers = (column for column in self.sheet.columns if column.kind == "number")
            fitting = [column for column in numbers if measure.base in column.unit_stems]
            own = (measure.base, measure.factor)
            fitting = [column for column in fitting if own in column.units] or fitting
            for column in fitting:
                yield column, 0.1 if len(fitting) == 1 else 0.35, set()
        elif is_compared and not is_named:
            for column in self.sheet.amounts:
                yield column, 0.25 if len(self.sheet.amounts) == 1 else 0.7, set()

    def _equals(self, near: int, place: int, end: int) -> bool:
        """Whether a column beside a bare number tells what it is: "82 games", "a grade of 5"."""
        if near == end:
            return self.items[near].start == self.items[place].end
        words = self.between(self.items[near], self.items[place])
        return near == place - 1 and words <= {"of", "is", "was", "are", "were", "equal", "to"}

    # Dates.

    def _dates(self, place: int) -> Iterator[Bound]:
        """A date, or two with "to" or "and" between, against the columns of dates."""
        item, end = self.items[place], place + 1
        (moment, last), taken = item.value, {place}
        sign: Any = "in"
        until = last if last != moment else None
        before = self.kind(place - 1)
        is_step = "change" in self.kinds  # from one to the other, not the time between
        if before == "dates" or (before == "between" and not is_step):
            taken.add(place - 1)
            sign = self.items[place - 1].value if before == "dates" else sign
        other = end if self.kind(end) == "date" else end + 1
        if self.kind(other) == "date" and not is_step:
            joined = self.items[end]
            leads = before == "between" or (before == "dates" and sign in (">=", "in"))
            if other == end:
                is_span = self.between(item, joined) <= {"to", "through", "until", "till"}
            else:
                is_span = leads and (joined.kind == "and" or joined.value in ("in", "<="))
            if is_span:
                until, taken, sign = self.items[other].value[0], taken | set(range(end, other + 1)), "in"
                moment = moment if moment.year else moment._replace(year=until.year)
        for column in (each for each in self.sheet.columns if each.kind == "date"):
            name = "column", column.index
            named = [p for p, each in enumerate(self.items) if (each.kind, each.value) == name]
            near = sorted((abs(p - place), p) for p in named if abs(p - place) <= 3 and p not in taken)[:1]
            cost = 0.1 if named else 0.05 if column.is_plain_time else 1.0
            cost, beside = (0.02 * near[0][0], frozenset({near[0][1]})) if near else (cost, frozenset[int]())
            yield Bound(Dates(column.index, sign, moment, until), cost, beside | taken, beside)

    def graded(self, word: str) -> Iterator[tuple[int, int, float]]:
        """The columns that an adjective grades: which way, which, and what it costs to say so."""
        for way, ideas in ENGLISH.degrees[word].ways:
            alike = {idea for each in ideas for idea in ENGLISH.ideas.get(each, ())}
            for column in self.sheet.columns:
                is_dated = column.kind == "date" and word in ENGLISH.data["dated"]
                if column.is_rank or column.is_running or not (is_dated or column.kind in ("number", "time")):
                    continue
                stems = set(column.stems)
                if stems & {*ideas, ENGLISH.stem(word)}:
                    yield way, column.index, 0.1
                elif stems & alike:
                    yield way, column.index, 0.25


def _in_units(measure: Measure, column: SheetColumn) -> Number | None:
    """The number as a column counts, converted where both tell a unit; None where they do not fit."""
    if not measure.base:  # 5 million, under a name with "(millions)"
        scales = ENGLISH.data["scales"]
        told = (word.rstrip("s") for word in re.findall(r"[a-z]{7,}", column.name.lower()))
        scale: int = next((scales[word] for word in told if word in scales), 1)
        biggest = max((float(abs(number)) for number in column.numbers if number is not None), default=0.0)
        is_scaled = scale > 1 and measure.number > 20 * biggest
        return Fraction(measure.number, scale) if is_scaled else measure.number
    if not column.unit_stems:
        return Fraction(measure.number) / measure.factor
    factors = [factor for base, factor in column.units if base == measure.base]
    if column.meaning.base == measure.base:
        factors = [column.meaning.factor]
    return Fraction(measure.number) / min(factors) if factors else None

"""The grammar: from the linked items of a question to typed forms, each with its cost.

Conditions are bound first: numbers and dates to columns, values with their negations and alternatives. What remains says
what is asked of the rows that meet them. A form counts only where it uses every item that says something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

from chameleon.modules.offline.algebra import (
    Unfit,
    Beside, Bill, Chosen, Compares, Count, Dates, Either, Exists, Filled, Fold, Form, Gap, Greater, Groups, Is, Ordered,
    Pick, Share, Versus, Where,
)  # fmt: skip
from chameleon.modules.offline.links import Item, Reading
from chameleon.modules.offline.sheet import Measure, Moment, Sheet, SheetColumn, amounts_in, shown
from chameleon.modules.offline.words import ENGLISH, Token

Costed = tuple[float, Form]
_MOST_BINDINGS = 24
# What a form may leave unused, and what that costs; of other kinds none may be left.
_SPARE = {
    "noun": 0.0, "thing": 0.05, "ask": 0.1, "and": 0.0, "or": 0.3, "exists": 0.0, "each": 0.1, "unit": 0.15,
    "dates": 0.0, "between": 0.05, "than": 0.05, "distinct": 0.15, "how": 0.3, "verb": 0.0, "spend": 0.4,
}  # fmt: skip


_NAME = ENGLISH.stem("name")
_DEGREES = frozenset(map(ENGLISH.stem, ENGLISH.degrees))
_CODES = frozenset(map(ENGLISH.stem, ("id", "code", "key", "number")))
_CHANGES = frozenset(ENGLISH.stem(word) for word in ("change", "difference", "growth", "profit"))
_PER = re.compile(r"(?:\bper|/|\ba)\s*([a-z]+)")


@dataclass(frozen=True)
class Bound:
    """A condition with the items that it took and what binding them so costs."""

    condition: Any
    cost: float
    taken: frozenset[int]
    columns: frozenset[int] = frozenset()  # the items that name its column, which may also be asked for


class Frame:
    """One reading of a question: its conditions, and the items that are left to say what is asked."""

    def __init__(self, sheet: Sheet, tokens: Sequence[Token], items: Sequence[Item], context: int = 0) -> None:
        self.sheet, self.tokens, self.items, self.context = sheet, tokens, list(items), context
        self.kinds = [item.kind for item in items]

    def column(self, index: int) -> SheetColumn:
        return self.sheet.columns[index]

    # Conditions.

    def bindings(self) -> Iterator[tuple[float, list[Bound], list[int]]]:
        """The ways to take numbers, dates and values as conditions, cheapest first, with the items left over."""
        choices: list[list[Bound | None]] = []
        for place, item in enumerate(self.items):
            if item.end <= self.context:
                continue
            if item.kind == "number":
                choices.append([*self._number_bounds(place), None])
            elif item.kind == "date":
                choices.append([*self._date_bounds(place), None])
        values = list(self._value_bounds())
        found = []
        for picked in islice(product(*choices), 400):
            bounds = [each for each in picked if each is not None]
            taken = [place for each in bounds for place in each.taken]
            if len(set(taken)) == len(taken):
                found.append((sum(each.cost for each in bounds), bounds))
        found.sort(key=lambda pair: pair[0] - 0.2 * len(pair[1]))
        for cost, bounds in found[:_MOST_BINDINGS]:
            taken_now = {place for each in bounds for place in each.taken}
            free = [each for each in values if not each.taken & taken_now]
            used = taken_now | {place for each in free for place in each.taken}
            dated = [each.condition.column for each in bounds if isinstance(each.condition, Dates)]
            if not {"rate", "difference", "change", "more", "comparative", "or"} & set(self.kinds):
                cost += 1.0 * (len(dated) - len(set(dated)))
            said = [each.condition.column for each in free if isinstance(each.condition, Is)]
            cost += 0.6 * (len(said) - len(set(said))) * ("than" not in self.kinds and "more" not in self.kinds)
            yield cost + sum(each.cost for each in free), [*bounds, *free], [p for p in range(len(self.items)) if p not in used]

    def _value_bounds(self) -> Iterator[Bound]:
        """Values with the word that denies them, and neighbours of one column as alternatives."""
        for place, item in enumerate(self.items):
            after = self.items[min(place + 1, len(self.items) - 1)]
            while item.kind == "none" and after.kind in ("exists", "verb", "dates") and place + 2 < len(self.items):
                place, after = place + 1, self.items[place + 2]
            if item.kind == "column" and self.column(item.value).is_truth and not _asks_truth(self.tokens):
                yield from self._said_yes(place)
            leads = any(each.kind == "value" and each.column == after.value for each in self.items[place + 2 : place + 4])
            if item.kind in ("none", "signed") and after.kind == "column" and not leads:
                column = self.column(after.value)
                taken = frozenset(range(self.items.index(item), place + 2))
                if column.kind == "number":
                    sign = "==" if item.kind == "none" else item.value
                    yield Bound(Compares(column.index, sign, Fraction(0)), 0.1, taken)
                elif item.kind == "none":
                    yield Bound(Either((Filled(column.index),), negated=True), 0.1, taken)
        place = 0
        while place < len(self.items):
            item = self.items[place]
            if item.kind != "value":
                place += 1
                continue
            group, taken, end = [item.value], {place}, place + 1
            while end + 1 < len(self.items) and self.kinds[end] in ("or", "and") and self._is_alike(item, end + 1):
                group.append(self.items[end + 1].value)
                taken |= {end, end + 1}
                end += 2
            while end < len(self.items) and self._is_alike(item, end) and end == max(taken) + 1 and self.tokens[self.items[end].start].listed:
                group.append(self.items[end].value)
                taken.add(end)
                end += 1
            denied = self._denial(place)
            condition: Any = group[0] if len(group) == 1 else Either(tuple(group))
            if denied is not None:
                condition, taken = Either(tuple(group), negated=True), taken | {denied}
            before = [p for p in (place - 1, end) if 0 <= p < len(self.items) and not self._is_owned(p) and self.items[p].kind == "column" and self.items[p].value == item.column]
            yield Bound(condition, 0.0, frozenset(taken), frozenset(before))
            place = end

    def _is_owned(self, place: int) -> bool:
        """Whether an item follows a possessive, as in "Ann's manager"."""
        start = self.items[place].start
        return start > 0 and self.tokens[start - 1].low == "s"

    def _said_yes(self, place: int) -> Iterator[Bound]:
        """A column of yes and no that is named: its rows with yes, or with no where that is denied."""
        column, denied = self.column(self.items[place].value), self._denial(place)
        if any(item.kind == "value" and item.column == column.index for item in self.items):
            return
        words = ENGLISH.data["yes" if denied is None else "no"]
        texts = frozenset(str(word) for word in words if str(word) in column.places)
        taken = frozenset((place,) if denied is None else (place, denied))
        if texts:
            yield Bound(Is(column.index, texts), 0.1, taken)

    def _denial(self, place: int) -> int | None:
        """The word that denies a value: right before it, or before words that lead to it."""
        for before in range(place - 1, max(-1, place - 4), -1):
            if self.kinds[before] == "none":
                return before
            if self.kinds[before] not in ("dates", "noun", "column", "thing", "verb", "exists"):
                return None
        return None

    def _is_alike(self, item: Item, place: int) -> bool:
        other = self.items[place]
        return other.kind == "value" and other.column == item.column

    def _number_bounds(self, place: int) -> Iterator[Bound]:
        measure: Measure = self.items[place].value
        if place + 2 < len(self.items) and self.kinds[place + 1] == "and" and self.kinds[place + 2] == "number" and not measure.base:
            other: Measure = self.items[place + 2].value  # between 3 and 4 kg
            measure = other._replace(number=measure.number * other.factor)
        sign, taken, cost, until = "==", {place}, 0.0, None
        words: list[int] = []
        before = place - 1
        if before >= 0 and self.kinds[before] == "than":
            before, words = before - 1, [place - 1]
        if before >= 0 and self.kinds[before] == "compare":
            sign = self.items[before].value
            taken |= {before, *words}
            if before >= 1 and self.kinds[before - 1] == "none":
                sign = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "==": "!="}[sign]
                taken.add(before - 1)
        elif before >= 0 and self.kinds[before] in ("comparative", "more") and words:
            sign = ""
            taken |= {before, *words}
        elif before >= 0 and self.kinds[before] == "dates" and measure.base == "clock":
            sign = self.items[before].value.replace("in", "==")
            taken.add(before)
        elif before >= 0 and self.kinds[before] == "none":
            sign, taken = "!=", taken | {before}
        end = place + 1
        if end < len(self.items) and self.kinds[end] == "after":
            sign, taken, end = self.items[end].value, taken | {end}, end + 1
        elif end + 1 < len(self.items) and self.kinds[end + 1] == "after" and self.kinds[end] in ("column", "noun", "unit", "thing"):
            sign, taken = self.items[end + 1].value, taken | {end + 1}
        if end + 1 < len(self.items) and self.kinds[end] in ("and", "dates") and self.kinds[end + 1] == "number":
            if before >= 0 and self.kinds[before] == "between":
                until, taken = self.items[end + 1].value, taken | {before, end, end + 1}
                end += 2
        for column, extra, named in self._measured(place, end, before, measure):
            signs = [(sign, extra + cost)] if sign else self._ways(before, column)
            for each, price in signs:
                number = self._in_units(measure, column)
                if number is None:
                    continue
                if until is not None:
                    last = self._in_units(until, column)
                    condition: Any = Both(Compares(column.index, ">=", number), Compares(column.index, "<=", last or number))
                else:
                    condition = Compares(column.index, each, number)
                yield Bound(condition, price if sign else price + extra, frozenset(taken | named), frozenset(named))

    def _ways(self, place: int, column: SheetColumn) -> list[tuple[str, float]]:
        """Which sign "taller", "fewer" or "older" has over a column."""
        item = self.items[place]
        if item.kind == "more":
            return [(">" if item.value > 0 else "<", 0.0)]
        return [(">" if way > 0 else "<", cost) for way, index, cost in self._graded(item.value) if index == column.index]

    def _measured(self, place: int, end: int, before: int, measure: Measure) -> Iterator[tuple[SheetColumn, float, set[int]]]:
        """The columns that a number may be compared with: named beside it, of its unit, or the only one."""
        kinds = ("time",) if measure.base == "clock" else ("number",)
        numeric = [column for column in self.sheet.columns if column.kind in kinds]
        named = False
        graded = self.items[before] if 0 <= before < len(self.items) and self.kinds[before] == "comparative" else None
        compared = self.kinds[max(before, 0)] in ("compare", "between", "more", "comparative") or any(kind == "after" for kind in self.kinds[place + 1 : end + 2])
        for distance, near in enumerate((end, before - 1, before if graded is None else -1, end + 1, before - 2)):
            if 0 <= near < len(self.items) and near != place and self.kinds[near] == "column":
                column = self.column(self.items[near].value)
                if not compared and (not self._equals(near, place, end) or self.tokens[self.items[place].start].number is None):
                    continue
                if column.kind in kinds and not (column.is_running and self.items[near].cost > 0):
                    named = True
                    yield column, 0.03 * distance, {near}
        if graded is not None:
            for _, index, cost in self._graded(graded.value):
                yield self.column(index), cost, set()
            return
        if measure.base == "clock":
            for column in numeric:
                yield column, 0.05 if len(numeric) == 1 else 0.35, set()
            return
        if not compared and self.tokens[self.items[place].start].number is None and not measure.base:
            return  # "Formula One" is no number
        is_bare = self.kinds[max(before, 0)] not in ("compare", "between", "more") and not (end < len(self.items) and "after" in self.kinds[end - 1 : end + 1])
        if is_bare and not measure.base:
            return
        fitting = [column for column in numeric if measure.base and measure.base in column.unit_stems]
        for column in fitting:
            yield column, 0.1 if len(fitting) == 1 else 0.35, set()
        if not measure.base and not named:
            amounts = [column for column in self.sheet.numbers if not column.is_rank]
            odd = 0.4 if end < len(self.items) and self.kinds[end] in ("column", "unknown") else 0.0
            for column in amounts:
                is_total = column.stems == ("total",)
                yield column, odd + (0.25 if len(amounts) == 1 else 0.3 if is_total else 0.7), set()

    def _equals(self, near: int, place: int, end: int) -> bool:
        """Whether a column beside a bare number tells what it is: "82 games", "a grade of 5"."""
        if near == end:
            return self.items[near].start == self.items[place].end
        between = {token.low for token in self.tokens[self.items[near].end : self.items[place].start]}
        return near == place - 1 and between <= {"of", "is", "was", "are", "were", "equal", "to"}

    def _in_units(self, measure: Measure, column: SheetColumn) -> Fraction | None:
        """The number as the column counts: converted where both tell a unit of one kind."""
        if measure.base == "clock":
            return measure.number
        if column.kind == "time":
            return (measure.number / 60 if measure.factor == 3600 else measure.number) if measure.base == "s" else None
        if not measure.base or not column.unit_stems:
            return measure.number / measure.factor
        if measure.base not in column.unit_stems:
            return None
        if column.bases == {""} or not column.bases:  # the unit stands in the name
            told = next((ENGLISH.units[word] for word in re.split(r"[\s()\[\]_.,]+", column.name.lower()) if word in ENGLISH.units and ENGLISH.units[word][0] == measure.base), None)
            return measure.number / told[1] if told else measure.number
        factor = next(each.factor for each in column.measures if each is not None)
        return measure.number if column.is_scaled else measure.number / factor

    def _between(self, place: int) -> str:
        """The words between an item and the next."""
        return " ".join(token.low for token in self.tokens[self.items[place].end : self.items[place + 1].start])

    def _date_bounds(self, place: int) -> Iterator[Bound]:
        moment, last = self.items[place].value
        sign, taken = "in", {place}
        if place and self.kinds[place - 1] == "dates":
            sign, taken = self.items[place - 1].value, taken | {place - 1}
        elif place and self.kinds[place - 1] == "between" and "rate" not in self.kinds:
            taken.add(place - 1)
        until = last if last != moment else None
        end = place + 1
        if end < len(self.items) and self.kinds[end] == "date" and self._between(place) in ("to", "through", "until", "till", ""):
            until, taken, sign = self.items[end].value[0], taken | {end}, "in"
        if end + 1 < len(self.items) and self.kinds[end + 1] == "date" and (self.kinds[end] == "and" or (self.kinds[end] == "dates" and self.items[end].value in ("in", "<="))):
            if "rate" not in self.kinds and place and (self.kinds[place - 1] == "between" or self.items[place - 1].value in (">=", "in")):
                until, taken = self.items[end + 1].value[0], taken | {end, end + 1}
                sign = "in"
        if end < len(self.items) and self.kinds[end] == "after":
            sign, taken = self.items[end].value, taken | {end}
        dates = [column for column in self.sheet.columns if column.kind == "date"]
        for column in dates:
            near = [p for p in range(len(self.items)) if self.items[p].kind == "column" and self.items[p].value == column.index]
            beside = [p for p in near if abs(p - place) <= 3 and p not in taken]
            if beside:
                cost, named = 0.02 * min(abs(p - place) for p in beside), {min(beside, key=lambda p: abs(p - place))}
            elif near:
                cost, named = 0.1, set()
            else:
                plain = _is_plain_time(column)
                cost, named = (0.05 if plain else 1.0) + (0.0 if len(dates) == 1 or plain else 0.2), set()
            yield Bound(Dates(column.index, sign, moment, until), cost, frozenset(taken | named), frozenset(named))

    # What is asked.

    def forms(self) -> Iterator[Costed]:
        """The forms of all bindings with their costs, beyond those of the items."""
        for cost, bounds, left in self.bindings():
            for extra, form in Asked(self, bounds, left).forms():
                yield cost + extra, form

    def _graded(self, word: str) -> Iterator[tuple[int, int, float]]:
        """The columns that an adjective grades: which way, which, and what it costs to say so."""
        for way, ideas in ENGLISH.degrees[word].ways:
            alike = set(ideas) | {idea for each in ideas if each != "any" for idea in ENGLISH.ideas.get(each, ()) if idea not in _DEGREES}
            for column in self.sheet.columns:
                if column.kind not in ("number", "date", "time"):
                    continue
                stems = set(column.stems)
                if column.is_rank or column.is_running or (column.kind == "date" and word not in ENGLISH.data["dated"]):
                    continue
                stems |= {each for base in column.unit_stems for each in ENGLISH.measures.get(base, ()) if each not in _DEGREES}
                if stems & set(ideas) or ENGLISH.stem(word) in stems:
                    yield way, column.index, 0.1
                elif stems & alike:
                    yield way, column.index, 0.25


class Both(Either):
    """All of several conditions at once."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(parts)

    def rows(self, sheet: Sheet) -> set[int]:
        return set.intersection(*(part.rows(sheet) for part in self.parts))

    def code(self, sheet: Sheet) -> str:
        return " & ".join(part.code(sheet) for part in self.parts)


def _asks_truth(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and tokens[0].low in ENGLISH.data["yesno"]


def _is_plain_time(column: SheetColumn) -> bool:
    """Whether a column dates its rows rather than an event of theirs: "Year", "Date", "Season"."""
    times = {ENGLISH.stem(word) for word in ENGLISH.data["time_columns"]}
    return bool(column.stems) and set(column.stems) <= times | {"of", "the", "fiscal", "calendar", "order", "sal"}


@dataclass
class Asked:
    """What the items that are left ask of the rows that meet the conditions."""

    frame: Frame
    bounds: list[Bound]
    left: list[int]

    def __post_init__(self) -> None:
        self.sheet = self.frame.sheet
        self.items = [self.frame.items[place] for place in self.left]
        self.kinds = [item.kind for item in self.items]
        self.where = Where(tuple(each.condition for each in self.bounds))

    # Small helps.

    def has(self, *kinds: str) -> bool:
        return any(kind in self.kinds for kind in kinds)

    def at(self, kind: str) -> int:
        return self.kinds.index(kind)

    def of(self, kind: str) -> list[Item]:
        return [item for item in self.items if item.kind == kind]

    def columns(self, *kinds: str) -> list[Item]:
        return [item for item in self.of("column") if not kinds or self.frame.column(item.value).kind in kinds]

    def spare(self, *used: Item | None) -> float | None:
        """What the items that a form leaves unused cost; None where one of them may not be left."""
        cost = 0.0
        for place, item in enumerate(self.items):
            if any(item is each for each in used):
                continue
            if item.kind == "unknown" and self._is_subject(place):
                continue
            before = self.items[place - 1] if place else None
            if item.kind == "verb" and item.cost > 0.2 and not self.bounds:
                return None
            if item.kind == "verb" and before is not None and before.end == item.start and before.kind in ("count", "most"):
                return None
            if item.kind in ("unit", "column") and any(each.kind == "number" and each.end == item.start for each in self.frame.items):
                if item.kind == "unit":
                    return None
                cost += 0.1
                continue
            if item.kind == "thing" and not self._is_subject(place):
                cost += 0.3
            if item.kind == "column" and item.value in self.where.columns and self.frame._is_owned(self.left[place]):
                return None
            if item.kind == "column" and item.value in self.where.columns:
                cost += 0.0 if any(item.start in self._starts_of(each.columns) for each in self.bounds) else 0.05
                continue
            if item.kind == "column" and any(each is not None and each.kind == "column" and each.value == item.value for each in used):
                cost += 0.05
                continue
            if item.kind not in _SPARE or (item.kind == "dates" and item.value not in ("in", "<=", ">=")):
                return None
            cost += _SPARE[item.kind]
        return cost

    def _starts_of(self, places: Iterable[int]) -> set[int]:
        return {self.frame.items[place].start for place in places}

    def _is_subject(self, place: int) -> bool:
        """Whether an unknown word stands where the rows are named, and no row is named by its key."""
        item = self.items[place]
        before = self.items[place - 1] if place else None
        between = {token.low for token in self.frame.tokens[before.end : item.start]} if before is not None else {"?"}
        stands = before is not None and between <= {"of", "the", "these", "those", "all", "other"} and (before.kind in ("count", "ask", "each", "number", "ordinal", "most", "superlative", "distinct", "share", "fold", "first", "last"))  # fmt: skip
        key = self.sheet.key
        names_row = key is not None and any(isinstance(each.condition, Is) and each.condition.column == key.index for each in self.bounds)
        return stands and not names_row

    def yields(self, cost: float, form: Form, *used: Item | None) -> Iterator[Costed]:
        told = next((item for item in self.of("number") if not any(item is each for each in used)), None)
        if told is not None and told.value.number == len(self.where.rows(self.sheet)) > 1 and isinstance(getattr(form, "of", None), Where) and not told.value.base:
            used = (*used, told)
            cost += 0.1
        spare = self.spare(*used)
        units = {item.value for item in self.of("unit")}
        told = [self.frame.column(index).unit_stems for index in getattr(form, "wanted", None) or (getattr(form, "column", None),) if index is not None]
        if units and any(each and not each & units for each in told):
            return
        named = {column for each in self.bounds for column in each.condition.columns if isinstance(each.condition, Is | Either)}
        if isinstance(form, Pick) and not isinstance(form.of, Beside) and set(form.wanted) <= named:
            return
        if spare is not None:
            yield cost + spare, form

    @property
    def asks(self) -> str:
        item = next(iter(self.of("ask")), None)
        return item.value if item else ""

    @property
    def names_row(self) -> bool:
        """Whether a condition names a row by its key."""
        key = self.sheet.key
        return key is not None and any(key.index in each.condition.columns and not isinstance(each.condition, Compares) for each in self.bounds)

    def forms(self) -> Iterator[Costed]:
        if self._is_yesno() and not self.has("ask", "count"):
            yield from self._truths()
            yield from self._comparisons()
            return
        if any(item.kind == "value" and item.end <= self.frame.context for item in self.frame.items):
            yield from self._bills()
            return
        for template in (
            self._lookups, self._counts, self._folds, self._extremes, self._frequent, self._ordinals, self._gaps,
            self._comparisons, self._shares, self._groups, self._truths, self._durations, self._bills,
        ):  # fmt: skip
            yield from template()

    # Where the answer stands.

    def targets(self) -> Iterator[tuple[float, tuple[int, ...], Item | None]]:
        """The columns that hold what is asked: named, of the sort of the question word, or the key."""
        used = {column for each in self.bounds for column in each.condition.columns if isinstance(each.condition, Is | Either)}
        names = {self.frame.column(column).name for column in used}
        used |= {column.index for column in self.sheet.columns if column.name in names}
        named = [item for item in self.of("column") if item.value not in used and self._may_be(self.frame.column(item.value))]
        ask = next((place for place, item in enumerate(self.items) if item.kind == "ask"), None)
        after = self.items[ask + 1] if ask is not None and ask + 1 < len(self.items) else None
        asked = self.asks
        if ask is not None and after is not None and after.kind in ("number", "distinct", "most") and ask + 2 < len(self.items) and self.items[ask + 2].kind == "column":
            after = self.items[ask + 2] if after.kind != "most" else after
        if asked == "which" and after in named and after.start <= self.items[ask or 0].end + 3:
            yield 0.0, (after.value,), after
            return
        for item in named:
            if item.start and self.frame.tokens[item.start - 1].low == "by":
                continue
            sort = {"who": "person", "where": "place"}.get(asked, "")
            column = self.frame.column(item.value)
            if column.is_running and any(each.kind == "value" and each.end <= item.start for each in self.frame.items):
                yield 0.8, (item.value,), item  # what did they order: no number of theirs
                continue
            odd = bool(sort) and not self._fits_sort(column, sort) and self._any_of_sort(sort)
            if self._word("ask") == "which" and after is not None and after.kind in ("noun", "thing", "unknown"):
                yield 0.5, (item.value,), item  # which of the plants that are closing …
                continue
            is_name = asked == "who" and self.sheet.key is not None and _NAME in self.sheet.key.stems and column is not self.sheet.key
            odd = odd or (is_name and not self._fits_sort(column, "person"))
            yield (0.03 if asked in ("", "which") else 0.15) + 0.5 * odd, (item.value,), item
        sorts = {"who": "person", "where": "place", "when": "time"}.get(asked)
        if after is not None and after.kind == "thing" and asked == "which":
            for sort in sorted(after.value):
                yield from self._of_sort(sort, used, 0.1)
        key = self.sheet.key
        if sorts:
            is_name = asked == "who" and key is not None and _NAME in key.stems and key.index not in used
            yield from self._of_sort(sorts, used, 0.35 if is_name else 0.05)
        if key is not None and key.index not in used and asked != "when" and not (asked == "where" and not named):
            price = 0.05 if asked in ("which", "who") or self.has("noun", "thing") else 0.25
            price += self._strangeness(after, key)
            if set(key.stems) & _CODES and not (after is not None and set(self._stems(after)) & set(key.stems)):
                price += 0.5
            if asked == "who" and any(self._fits_sort(key, sort) for sort in ("place", "work", "time")) and not self._fits_sort(key, "person"):
                price += 0.8
            if _NAME in key.stems and asked == "who":
                yield price, (key.index,), None
                return
            yield price + (0.3 if asked == "who" and not self._fits_sort(key, "person") and self._any_of_sort("person") else 0.0), (key.index,), None
        elif key is not None and asked == "where" and key.index not in used and not self._any_of_sort("place"):
            yield 0.3, (key.index,), None
        elif key is None and asked in ("which", "") and after is not None and after.kind == "noun":
            first = next((column for column in self.sheet.columns if column.kind == "text" and column.index not in used), None)
            if first is not None:
                yield 0.3, (first.index,), None

    def _stems(self, item: Item) -> list[str]:
        return [token.stem for token in self.frame.tokens[item.start : item.end]]

    def _strangeness(self, subject: Item | None, key: SheetColumn) -> float:
        """What it costs to call the rows by a word that neither the key nor the caption has."""
        if subject is None or subject.kind not in ("thing", "unknown"):
            return 0.0
        if subject.kind == "thing":
            sorts = {sort for stem in key.stems for sort in ENGLISH.things.get(stem, ())}
            return 0.0 if subject.value & (sorts | {"thing"}) or not sorts and ENGLISH.stem("name") in key.stems else 0.35
        return 0.35

    def _may_be(self, column: SheetColumn) -> bool:
        """Whether a column may hold what a question word asks for."""
        if any(item.value == "how much" for item in self.of("how")) and column.kind != "number":
            return False
        return column.kind == {"who": "text", "where": "text"}.get(self.asks, column.kind) and (self.asks != "when" or column.kind in ("date", "time"))

    def _any_of_sort(self, sort: str) -> bool:
        return any(self._fits_sort(column, sort) for column in self.sheet.columns)

    def _fits_sort(self, column: SheetColumn, sort: str) -> bool:
        if sort == "time":
            return column.kind == "date"
        return column.kind == "text" and any(sort in ENGLISH.things.get(stem, ()) for stem in column.stems)

    def _of_sort(self, sort: str, used: Iterable[int], cost: float) -> Iterator[tuple[float, tuple[int, ...], None]]:
        fitting = [column for column in self.sheet.columns if self._fits_sort(column, sort) and column.index not in set(used)]
        plain = [column for column in fitting if len(column.stems) == 1]
        for column in fitting:
            extra = 0.0 if len(fitting) == 1 or plain == [column] else 0.1
            if sort == "time" and not _is_plain_time(column):
                extra += 1.0
            yield cost + extra, (column.index,), None

    # Templates.

    def _lookups(self) -> Iterator[Costed]:
        if not self.bounds or self.has("count", "fold", "most", "superlative", "difference", "share"):
            return
        for cost, wanted, item in self.targets():
            if item is not None and self.asks in ("who", "where") and self.frame.column(wanted[0]).kind != "text":
                continue
            single = self.frame.column(wanted[0]).kind in ("number", "date", "time") or self._is_singular()
            yield from self.yields(cost, Pick(self.where, wanted, single), item)
            column = self.frame.column(wanted[0])
            is_sum = column.is_flow and column.index not in self.where.columns
            if item is not None and is_sum and not self.names_row and self._word("ask") != "which":
                yield from self.yields(cost, Fold(self.where, column.index, "sum"), item)
        yield from self._how_much()
        how = [item for item in self.of("degree") if self._follows_how(item)]
        if how:  # how tall is X?
            for _, index, cost in self.frame._graded(how[0].value):
                yield from self.yields(cost, Pick(self.where, (index,), True), how[0], *self.of("column"), *self.of("how"))

    def _word(self, kind: str) -> str:
        """The first word of an item of this kind."""
        return next((self.frame.tokens[item.start].low for item in self.of(kind)), "")

    def _how_much(self) -> Iterator[Costed]:
        """How much something cost, was paid or sold for: the only column of money, summed where it adds up."""
        how = next((item for item in self.of("how") if item.value == "how much"), None)
        money = [column for column in self.sheet.columns if column.kind == "number" and (column.unit_stems & set("$€£¥") or {"price", "pric", "cost", "amount"} & set(column.stems))]
        if how is None or len(money) != 1 or self.has("column", "difference", "more", "comparative", "enough"):
            return
        wanted = money[0]
        if self.names_row:
            yield from self.yields(0.2, Pick(self.where, (wanted.index,), True), how)
        elif wanted.is_flow:
            yield from self.yields(0.2, Fold(self.where, wanted.index, "sum"), how, *self._sums())

    def _follows_how(self, item: Item) -> bool:
        return bool(item.start) and self.frame.tokens[item.start - 1].low == "how"

    def _is_singular(self) -> bool:
        return not self.has("each") and self.names_row

    def _counts(self) -> Iterator[Costed]:
        if not self.has("count") or self.has("most", "superlative", "difference", "share", "comparative"):
            return
        place = self.at("count")
        if place + 1 < len(self.items) and self.kinds[place + 1] == "unit":
            return
        if self.asks == "which" and any(kind in ("noun", "column", "thing", "unit", "unknown") for kind in self.kinds[self.at("ask") : place]):
            return
        count = self.items[place]
        after = self.items[place + 1] if place + 1 < len(self.items) else None
        distinct = next(iter(self.of("distinct")), None)
        if after is not None and after is distinct:
            after = self.items[place + 2] if place + 2 < len(self.items) else None
        if after is not None and after.kind == "column" and after.start in {start for each in self.bounds for start in self._starts_of(each.columns)}:
            after = None  # "how many are in team red"
        if after is not None and after.kind == "column":
            column = self.frame.column(after.value)
            is_key = self.sheet.key is not None and column.name == self.sheet.key.name
            if column.is_running:
                yield from self.yields(0.1, self._counted(self.where), count, after, distinct)
                return
            if column.kind == "text" and self.names_row and not any(map(amounts_in, column.sample)):
                return
            if column.kind == "text" and self.names_row:
                yield from self.yields(0.05, Pick(self.where, (column.index,), True), count, after)
                return
            if column.kind == "number":
                if column.index not in self.where.columns and not ("of" in {token.low for token in self.frame.tokens[count.end : after.start]} and not self.names_row):
                    yield from self.yields(0.0, Pick(self.where, (column.index,), True), count, after)
                several = any(type(each.condition) is Either and not each.condition.negated for each in self.bounds)
                if (several or not self.names_row) and not column.is_rate and not column.is_rank and not column.is_label and column.index not in self.where.columns:
                    yield from self.yields(0.0 if several else 0.15 if self.bounds else 0.3, Fold(self.where, column.index, "sum"), count, after, *self._sums())
                between = {token.low for token in self.frame.tokens[count.end : after.start]}
                if between & {"of"} and not self.names_row:
                    yield from self.yields(0.05, self._counted(self.where), count, after)
            elif is_key and distinct is None:
                yield from self.yields(0.05, self._counted(self.where), count, after)
            else:
                quantity = self.sheet.quantity
                if quantity is not None and self.bounds and distinct is None:
                    yield from self.yields(0.1, Fold(self.where, quantity.index, "sum"), count, after, *self._sums())
                if sum(any(map(str.isdigit, cell)) for cell in column.sample) < len(column.sample) / 2 or distinct:
                    yield from self.yields(0.05 if distinct else 0.1, Count(self.where, column.index), count, after, distinct)
                if distinct is None and self.bounds and not self.names_row:
                    yield from self.yields(0.3, self._counted(self.where), count, after)
            return
        cost = 0.05 if after is not None and after.kind in ("noun", "thing", "unknown") else 0.1
        if after is not None and after.kind == "thing" and not after.value & {"thing"}:
            cost += 0.0 if self.sheet.tally or any(self._any_of_sort(sort) for sort in after.value) else 0.7
        cost += 1.0 if self.names_row else 0.0
        quantity = self.sheet.quantity
        if quantity is not None and self.bounds and quantity.index not in self.where.columns:
            sums = self._sums()
            yield from self.yields(cost, Fold(self.where, quantity.index, "sum"), count, *sums)
            cost += 0.5 if sums else 0.0
        if not self.bounds and after is not None and after.kind == "unknown":
            cost += 0.5
        if after is not None and after.kind == "thing" and after.value == {"time"}:
            return
        if distinct is not None and self.sheet.key is not None:
            yield from self.yields(cost, Count(self.where, self.sheet.key.index), count, distinct)
        elif distinct is None:
            yield from self.yields(cost, self._counted(self.where), count, *self._sums())
        if after is not None and after.kind == "thing":
            for sort in sorted(after.value):
                for price, wanted, _ in self._of_sort(sort, self.where.columns, 0.1):
                    yield from self.yields(price, Count(self.where, wanted[0]), count, distinct)

    def _sums(self) -> list[Item]:
        return [item for item in self.of("fold") if item.value == "sum"]

    def _folds(self) -> Iterator[Costed]:
        for fold in self.of("fold"):
            for item in self.columns():
                column = self.frame.column(item.value)
                if self.has("each", "share") or (self.has("count") and fold.value not in ("mean", "median")):
                    break
                price = 0.0
                if column.is_running and fold.value not in ("max", "min"):
                    continue
                timed = [each for each in self.sheet.columns if each.kind == "date" and _is_plain_time(each) and each.index not in self.where.columns]
                if fold.value == "sum" and timed and self.where.conditions and not column.is_flow:
                    price = 1.0
                if fold.value == "sum" and (column.is_rate or column.is_rank or column.is_label):
                    price = 0.6
                if column.kind in ("number", "time") or (column.kind == "date" and fold.value in ("max", "min")):
                    yield from self.yields(price, Fold(self.where, column.index, fold.value), fold, item, *self.of("count"))
            if fold.value in ("mean", "sum", "median") and not self.columns("number"):
                for item in self.of("degree"):
                    for _, index, cost in self.frame._graded(item.value):
                        yield from self.yields(cost, Fold(self.where, index, fold.value), fold, item)

    def _extremes(self) -> Iterator[Costed]:
        """The most or the least of a column: the row's name, another of its cells, or the number itself."""
        for item in self.items:
            if item.kind == "most":
                for by in self.columns("number", "time"):
                    column = self.frame.column(by.value)
                    if column.is_running:
                        continue
                    way = -item.value if column.is_rank else item.value
                    yield from self._at_the_end(way, by.value, 0.0 if by.start >= item.start else 0.1, item, by)
                numbers = [column for column in self.sheet.numbers if not column.is_rank]
                total = [column for column in numbers if column.stems == ("total",)]
                if len(total) == 1 and self.has("noun", "unknown") and not self.columns("number", "date", "time"):
                    yield from self._at_the_end(item.value, total[0].index, 0.3, item, None)
                elif len(numbers) == 1 and not self.columns("number", "date", "time"):
                    yield from self._at_the_end(item.value, numbers[0].index, 0.5, item, None)
            elif item.kind == "superlative" or (item.kind == "comparative" and not self.has("than", "or") and self.asks and self.bounds and self._pair() is None):
                for way, index, cost in self.frame._graded(item.value):
                    named = next((by for by in self.of("column") if by.value == index), None)
                    yield from self._at_the_end(way, index, 0.0 if named else cost, item, named)
                ways = ENGLISH.degrees[item.value].ways
                if len(self.sheet.columns) == 1 and self.sheet.numbers and not self.columns():
                    yield from self._at_the_end(ways[0][0], 0, 0.2, item, item)
                if not any("any" in ideas for _, ideas in ways):
                    for by in self.columns("number", "time"):
                        yield from self._at_the_end(ways[0][0], by.value, 0.3, item, by)
                if any("any" in ideas for _, ideas in ways):
                    for by in self.columns("number", "date", "time"):
                        yield from self._at_the_end(ways[0][0], by.value, 0.0, item, by)

    def _of_groups(self, way: int, by: int, cost: float, item: Item, named: Item | None) -> Iterator[Costed]:
        """The text of a column whose rows together have the most: summed where that is usual or said, or by a mean."""
        column, fold = self.frame.column(by), next((each for each in self.of("fold") if each.value in ("sum", "mean", "median")), None)
        if column.kind != "number" or column.is_rank or column.is_running:
            return
        number = next((each for each in self.of("number") if each.value.number.denominator == 1 and 0 < each.value.number <= 100), None)
        for price, wanted, target in self.targets():
            group = self.frame.column(wanted[0])
            rows = self.where.rows(self.sheet)
            repeats = len({group.cells[row] for row in rows}) < len(rows)
            if group.kind not in ("text", "date") or not repeats or group.index == by or (target is not None and target.start == item.end):
                continue
            how: Any = fold.value if fold is not None else "sum"
            if fold is None and (column.is_rate or column.is_label):
                continue
            groups = Groups(self.where, group.index, how, by)
            extra = 0.0 if fold is not None or column.is_flow else 0.1
            chosen = Chosen(groups, "most" if way > 0 else "least", count=int(number.value.number) if number else 1)
            yield from self.yields(cost + price + extra, chosen, item, named, target, fold, number)

    def _at_the_end(self, way: int, by: int, cost: float, item: Item, named: Item | None) -> Iterator[Costed]:
        column = self.frame.column(by)
        if set(column.stems) & _CHANGES and any(number is not None and number < 0 for number in column.numbers):
            return  # the most changed may be the one that fell
        ordinal = next((each for each in self.of("ordinal") if each.end == item.start), None)
        number = next((each for each in self.of("number") if each.value.number.denominator == 1 and 0 < each.value.number <= 100), None)
        start = ordinal.value - 1 if ordinal else 0
        count = int(number.value.number) if number else 1
        if any(each.start and self.frame.tokens[each.start - 1].low == "by" and each.value != by for each in self.of("column")):
            return
        yield from self._of_groups(way, by, cost, item, named)
        rows = Ordered(self.where, by, way > 0, start, count)
        how = next((each for each in self.of("degree") if self._follows_how(each)), None)
        if how is not None:
            yield from self.yields(cost, Fold(self.where, by, "max" if way > 0 else "min"), item, how, *self.of("how"))
            return
        for price, wanted, target in self.targets():
            if wanted == (by,) or (target is not None and (target is named or (target.start == item.end and item.kind == "most"))):
                continue
            if self.has("count") and target is None:
                continue
            if column.is_flow and self.frame.tokens[item.start].low in ("most", "least", "fewest") and self._repeats(wanted[0]):
                price += 0.3
            if named is not None and item.kind == "superlative" and self.asks == "which" and named.start > item.end + 1:
                price += 0.4  # what does the cheapest ticket cost?
            counts = self.of("count") if target is not None and self.frame.column(wanted[0]).kind == "number" else []
            yield from self.yields(cost + price, Pick(rows, wanted), item, named, ordinal, number, target, *counts)
        if named is not None and named is not item and item.kind == "superlative" and named.start > item.end + 1 and self.asks == "which" and not number:
            yield from self.yields(cost, Fold(self.where, by, "max" if way > 0 else "min"), item, named)
        if named is not None and named is not item and named.end <= item.start and item.kind == "superlative" and (number or start):
            yield from self.yields(cost, Pick(rows, (by,)), item, named, number, ordinal)
        if named is item:
            named = None
            yield from self.yields(cost, Fold(self.where, by, "max" if way > 0 else "min"), item, *self.of("degree"))
        if named is not None and not number and (not self.has("noun", "thing", "unknown") or self.asks in ("", "which")) and self.asks not in ("who", "where", "when"):
            column = self.frame.column(by)
            if start:
                form: Form = Pick(rows, (by,))
            else:
                form = Fold(self.where, by, "max" if way > 0 else "min")
            follows = named.start >= item.end and named.start - item.end <= 2
            asked = self.has("noun", "thing", "unknown")
            if asked and self._word("ask") == "which":
                return
            price = 0.0 if follows and not asked else 0.35
            yield from self.yields(cost + price, form, item, named, ordinal)

    def _repeats(self, index: int) -> bool:
        cells, rows = self.frame.column(index).cells, self.where.rows(self.sheet)
        return len({cells[row] for row in rows}) < len(rows)

    def _frequent(self) -> Iterator[Costed]:
        """The text that most rows have: "the most common", "most often", "which studio made the most of them"."""
        often = next(iter(self.of("frequent")), None)
        for most in self.of("most"):
            word = self.frame.tokens[most.start].low
            if self.columns("number", "time") or (often is None and word not in ("most", "fewest", "least")):
                continue
            for price, wanted, target in self.targets():
                column = self.frame.column(wanted[0])
                if column.kind == "number" or column is self.sheet.key or (target is not None and target.start == most.end):
                    continue
                if often is None and not self.has("noun", "thing", "unknown"):
                    price += 0.3
                groups = Groups(self.where, wanted[0])
                way: Any = "most" if most.value > 0 else "least"
                number = next((each for each in self.of("number") if each.value.number.denominator == 1 and 0 < each.value.number < 50), None)
                count = int(number.value.number) if number else 1
                yield from self.yields(price + 0.05, Chosen(groups, way, count=count), most, often, target, number)

    def _ordinals(self) -> Iterator[Costed]:
        """The first, last or nth row, by a rank, a date or as they stand; and the one before or after a row."""
        marks = [(item, 0, False) for item in self.of("first")] + [(item, 0, True) for item in self.of("last")]
        marks += [(item, item.value - 1, False) for item in self.of("ordinal")]
        if self.has("most", "superlative", "fold", "count"):
            return
        for mark, _, backwards in marks[: len(marks) if not self.of("ordinal") else 0] + [m for m in marks if m[0].kind == "ordinal" and m[0].value == 1]:
            if mark.end < len(self.frame.tokens) and self.frame.tokens[mark.end].low in ("time", "times"):
                return
            item = next((each for each in self.columns("date", "number") if each.start == mark.end), None)
            if item is not None and self.asks in ("which", "when", "") and not self.frame.column(item.value).is_rank:
                yield from self.yields(0.1, Fold(self.where, item.value, "max" if backwards else "min"), mark, item)
        for mark, start, backwards in marks:
            number = next((each for each in self.of("number") if each.value.number.denominator == 1 and 0 < each.value.number <= 100), None)
            count = int(number.value.number) if number else 1
            for price, by, named in self._orders(mark):
                rows = Ordered(self.where, by, backwards, start, count)
                for cost, wanted, target in self.targets():
                    if wanted == (by,):
                        continue
                    yield from self.yields(price + cost, Pick(rows, wanted), mark, named, target, number)
        for mark in [*self.of("next"), *self.of("previous")]:
            shift = 1 if mark.kind == "next" else -1
            value = next((item for item in self.frame.items if item.kind == "value" and item.start >= mark.end), None)
            if len(self.bounds) == 1 and value is not None and value.start <= mark.end + 1:
                for wanted in {value.column, *([] if self.sheet.key is None else [self.sheet.key.index])}:
                    asked = next((item for item in self.of("column") if item.value == wanted), None)
                    cost = 0.1 if asked is not None or wanted == value.column else 0.2
                    yield from self.yields(cost, Pick(Beside(self.where, shift), (wanted,)), mark, asked)

    def _orders(self, mark: Item) -> Iterator[tuple[float, int | None, Item | None]]:
        named = [item for item in self.of("column") if self.frame.column(item.value).kind == "date" or self.frame.column(item.value).is_rank]
        for item in named:
            yield 0.05, item.value, item
        if named:
            return
        names = {ENGLISH.stem(word) for word in ENGLISH.data["rank_columns"]}
        ranks = [column for column in self.sheet.columns if column.is_rank and set(column.stems) <= names]
        dates = [column for column in self.sheet.columns if column.kind == "date" and _is_plain_time(column)]
        if ranks:
            yield 0.1, ranks[0].index, None
        elif dates and mark.kind != "ordinal":
            yield 0.15, dates[0].index, None
        else:
            is_numbered = any(column.is_running and column.kind == "number" for column in self.sheet.columns)
            yield 0.15 if is_numbered else 0.3, None, None

    def _gaps(self) -> Iterator[Costed]:
        """How much two rows, or two columns of one, differ."""
        marks = self.of("difference") + [item for item in self.of("more")] + self.of("comparative") + self.of("change") + self.of("rate")
        if not marks:
            return
        number = [item for item in self.columns("number", "date")]
        if len(number) == 2 and (self.has("difference", "change") or (self.has("more") and self.has("count", "how"))) and self.bounds:
            one, two = (Pick(self.where, (item.value,), True) for item in number)
            yield from self.yields(0.1, Gap(one, two), *marks, *number, *self.of("count"), *self.of("than"))
        pair = self._pair()
        if pair is not None and self.has("rate") and isinstance(pair[0], Dates) and self.columns("number"):
            (one, two, rest), item = pair, self.columns("number")[0]
            years = Fraction(two.moment.year - one.moment.year)
            if years and not two.moment.month:
                picks = [Pick(Where((*rest, each)), (item.value,), True) for each in (two, one)]
                yield from self.yields(0.1, Gap(*picks, "signed", years), *self.of("rate"), *self.columns("number"), *self.of("and"), *self.of("between"))
        if pair is not None and self.has("rate") and isinstance(pair[0], Is) and len(self.columns("number")) <= 1:
            (one, two, rest) = pair
            for cost, index, item in self._of_amount(self.of("rate")):
                picks = [Pick(Where((*rest, each)), (index,), True) for each in (two, one)]
                yield from self.yields(cost, Gap(*picks, "signed"), item, *self.of("rate"), *self.of("and"), *self.of("between"))
            return
        if pair is None or not (self.has("count", "difference") or self._starts("how much")):
            return
        one, two, rest = pair
        used = [*marks, *self.of("count"), *self.of("than"), *self.of("and")]
        for cost, index, item in self._of_amount(marks):
            forms = [Pick(Where((*rest, each)), (index,), True) for each in (one, two)]
            yield from self.yields(cost, Gap(*forms), item, *used)
        if self.has("count") and not self.columns("number") and self.has("more") and not self.names_row and not self.has("unit", "comparative"):
            yield from self.yields(0.2, Gap(Count(Where((*rest, one))), Count(Where((*rest, two)))), *used)

    def _starts(self, text: str) -> bool:
        return " ".join(token.low for token in self.frame.tokens[:3]).startswith(text) or f"by {text}" in " ".join(token.low for token in self.frame.tokens[:5])

    def _of_amount(self, marks: Sequence[Item]) -> Iterator[tuple[float, int, Item | None]]:
        """The column of numbers that a comparison is about: named, graded by its adjective, or the only one."""
        named = self.columns("number", "date", "time")
        for item in named:
            yield 0.05, item.value, item
        if named:
            return
        for unit in self.of("unit"):
            for column in self.sheet.numbers:
                if unit.value in column.unit_stems:
                    yield 0.1, column.index, unit
        for mark in marks:
            if mark.kind in ("comparative", "superlative", "degree"):
                for _, index, cost in self.frame._graded(mark.value):
                    yield cost, index, None
        amounts = [column for column in self.sheet.numbers if not column.is_rank]
        if len(amounts) == 1:
            yield 0.35, amounts[0].index, None

    def _pair(self) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """The two rows that are compared: the parts of one condition on alternatives, or two on one column."""
        conditions = [each.condition for each in self.bounds]
        for place, each in enumerate(conditions):
            rest = tuple(conditions[:place] + conditions[place + 1 :])
            if type(each) is Either and not each.negated and len(each.parts) == 2:
                return each.parts[0], each.parts[1], rest
        for place, one in enumerate(conditions):
            for later, two in enumerate(conditions[place + 1 :], place + 1):
                if type(one) is type(two) and one.columns == two.columns and isinstance(one, Is | Dates):
                    return one, two, tuple(each for n, each in enumerate(conditions) if n not in (place, later))
        return None

    def _comparisons(self) -> Iterator[Costed]:
        """Which of two or more has the more, and whether one has more than another."""
        marks = [item for item in self.items if item.kind in ("most", "more", "comparative", "superlative")]
        alternatives = next((each.condition for each in self.bounds if type(each.condition) is Either and not each.condition.negated), None)
        is_truth = self._is_yesno() and "or" not in self.frame.kinds
        pair = self._pair()
        if not marks or pair is None or self.has("count", "difference", "how"):
            return
        rest = pair[2]
        parts = alternatives.parts if alternatives is not None else pair[:2]
        for mark in marks:
            for cost, index, item in self._of_amount([mark]):
                down = self._way(mark, index)
                forms: tuple[Any, ...] = tuple(Pick(Where((*rest, each)), (index,), True) for each in parts)
                if self._sums():
                    forms = tuple(Fold(Where((*rest, each)), index, "sum") for each in parts)
                names = tuple(self._name_of(each) for each in parts)
                if is_truth:
                    yield from self.yields(cost, Greater(names, forms, down, True), mark, item, *self.of("than"), *self._sums())
                elif alternatives is not None:
                    yield from self.yields(cost, Greater(names, forms, down), mark, item, *self.of("or"), *self.of("and"), *self._sums())

    def _way(self, mark: Item, index: int) -> bool:
        if mark.kind in ("most", "more"):
            return mark.value > 0
        return next((way > 0 for way, column, _ in self.frame._graded(mark.value) if column == index), ENGLISH.degrees[mark.value].ways[0][0] > 0)

    def _name_of(self, condition: Any) -> str:
        if isinstance(condition, Is) and len(condition.texts) == 1:
            column = self.frame.column(condition.column)
            return shown(column.cells[column.places[next(iter(condition.texts))][0]])
        return condition.said if isinstance(condition, Is) else "-".join(str(part) for part in condition.moment if part)

    def _is_yesno(self) -> bool:
        first = next(iter(self.frame.tokens), None)
        return first is not None and first.low in ENGLISH.data["yesno"]

    def _shares(self) -> Iterator[Costed]:
        for share in self.of("share"):
            if not self.bounds:
                continue
            near = [each for each in self.bounds if min(self.frame.items[place].start for place in each.taken) <= share.end + 3]
            if len(self.bounds) > len(near) > 0:  # of the Cuban passengers those who …
                whole = Where(tuple(each.condition for each in near))
                for item in [*self.columns("number"), None]:
                    form = Share(self.where, whole, None if item is None else item.value, self.frame.tokens[share.start].low == "fraction")
                    yield from self.yields(0.1, form, share, item, *self.of("count"))
                continue
            numbers = [item for item in self.columns("number") if not self.frame.column(item.value).is_running]
            whole = Where()
            as_fraction = self.frame.tokens[share.start].low == "fraction"
            for item in numbers:
                if item.value in self.where.columns:
                    continue
                yield from self.yields(0.1, Share(self.where, whole, item.value, as_fraction), share, item)
            if not numbers:
                if not self.names_row:
                    yield from self.yields(0.1, Share(self.where, whole, None, as_fraction), share, *self.of("column"), *self.of("count"))
                else:
                    amounts = [column for column in self.sheet.numbers if not column.is_rank]
                    amounts = [column for column in amounts if column.stems == ("total",)] or amounts
                    if len(amounts) == 1:
                        yield from self.yields(0.3, Share(self.where, whole, amounts[0].index, as_fraction), share)

    def _groups(self) -> Iterator[Costed]:
        for each in self.of("each"):
            by = next((item for item in self.of("column") if item.start >= each.end), None)
            if by is None or by.start - each.end > 2:
                continue
            others = [item for item in self.columns("number") if item is not by]
            fold = next(iter(self.of("fold")), None)
            count = next(iter(self.of("count")), None)
            if fold is not None and others:
                yield from self.yields(0.05, Groups(self.where, by.value, fold.value, others[0].value), each, by, fold, others[0])
            elif count is not None and not others:
                yield from self.yields(0.05, Groups(self.where, by.value), each, by, count)
            elif others:
                yield from self.yields(0.3, Groups(self.where, by.value, "sum", others[0].value), each, by, others[0], count)

    def _truths(self) -> Iterator[Costed]:
        if not self._is_yesno() or self.has("count", "fold", "most", "superlative", "difference", "share", "ask"):
            return
        compare = next((item for item in self.items if item.kind == "more"), None)
        numbers = self.columns("number")
        if compare is not None and len(numbers) == 2:
            versus = Versus(numbers[0].value, ">" if compare.value > 0 else "<", numbers[1].value)
            yield from self.yields(0.1, Exists(Where((*self.where.conditions, versus))), compare, *numbers, *self.of("than"))
        if self.bounds and "or" not in self.frame.kinds:
            rest = [item for item in self.columns() if item.value not in self.where.columns]
            numbers = [item for item in rest if self.frame.column(item.value).kind == "number"]
            if len(rest) == len(numbers) == 1 and not self.has("more"):
                some = Where((*self.where.conditions, Compares(numbers[0].value, ">", Fraction(0))))
                yield from self.yields(0.2, Exists(some), *rest)
            elif not rest or all(self.frame.column(item.value) is self.sheet.key for item in rest):
                yield from self.yields(0.1, Exists(self.where), *rest)

    def _counted(self, where: Where) -> Form:
        """How many rows, or where a column tallies them, what it adds up to."""
        return Count(where) if self.sheet.tally is None else Fold(where, self.sheet.tally.index, "sum")

    def _bills(self) -> Iterator[Costed]:
        """What some things cost together, each as often as the number before it says."""
        priced = [column for column in self.sheet.columns if column.kind == "number" and column.unit[-1:] in tuple("$€£¥")]
        spend = [item for item in self.frame.items if item.kind == "spend"]
        if len(priced) != 1 or not spend or self.has("difference", "more", "most", "fold") and not self._sums():
            return
        values = [place for place, item in enumerate(self.frame.items) if item.kind == "value"]
        if not values or len({self.frame.items[place].column for place in values}) != 1 or len(self.bounds) > 1 and any(not isinstance(each.condition, Is | Either) for each in self.bounds):
            return
        numbers = [item for item in self.of("number")]
        times, used, of = [], list[Item](), []
        for place in values:
            item = self.frame.items[place]
            near = next((each for each in numbers if each.end <= item.start and all(token.low in ("of", "a", "the") or token.low in ENGLISH.units for token in self.frame.tokens[each.end : item.start])), None)
            unit = next((ENGLISH.units[token.low] for token in self.frame.tokens[near.end : item.start] if token.low in ENGLISH.units), None) if near else None
            if near is not None and unit is not None and not near.value.base:
                near = near._replace(value=Measure(near.value.number * unit[1], *unit[:1]))
            if len(Where((item.value,)).rows(self.sheet)) != 1:
                return
            count = self._times(near.value, priced[0]) if near else Fraction(1)
            if count is None:
                return
            times.append(count)
            used += [each for each in numbers if near and each.start == near.start]
            of.append(Pick(Where((item.value,)), (priced[0].index,), True))
        rest = [item for item in numbers if not any(item is each for each in used)]
        if sum(token.number is not None or token.low in ENGLISH.data["numbers"][2:] for token in self.frame.tokens) > len(numbers):
            return  # a number that nothing accounts for
        left = [item for item in self.items if item.kind in ("spend", "how", "and", "enough", "left", "column", "unknown", "thing", "count", "fold")]
        names = [item for item in left if item.kind == "unknown" and not item.value[0].isupper()]
        if names:
            return
        if self.has("enough") and len(rest) == 1:
            yield from self.yields(0.1, Bill(tuple(times), tuple(of), rest[0].value.number), *left, *used, *rest)
        elif self.has("left") and len(rest) == 1:
            yield from self.yields(0.1, Bill(tuple(times), tuple(of), rest[0].value.number, True), *left, *used, *rest)
        elif not rest and self.has("how", "ask", "count"):
            yield from self.yields(0.1, Bill(tuple(times), tuple(of)), *left, *used)

    def _times(self, measure: Measure, column: SheetColumn) -> Fraction | None:
        """How many times a price counts for an amount: in the unit that it is per, where there is one."""
        per = next((match[1] for cell in column.sample if (match := _PER.search(cell.lower()))), "")
        base, factor = ENGLISH.units.get(per, ("", Fraction(1)))
        if not measure.base:
            return measure.number if not base else None
        return measure.number / factor if measure.base == base else None

    def _durations(self) -> Iterator[Costed]:
        """How long, or how many years, something lasted: from one date of its row to another."""
        dates = [column for column in self.sheet.columns if column.kind == "date"]
        units = [item for item in self.of("unit") if item.value == "s"]
        if len(dates) < 2 or not units or not self.has("count") or not self.bounds:
            return
        named = [item for item in self.of("column") if self.frame.column(item.value).kind == "date"]
        if len(named) == 2:
            one, two = (Pick(self.where, (item.value,), True) for item in named)
            yield from self.yields(0.2, Gap(one, two), *named, *units, *self.of("count"), *self.of("dates"))


def forms_of(sheet: Sheet, tokens: Sequence[Token], readings: Sequence[Reading], context: int = 0) -> list[tuple[float, Form]]:
    """The different forms of all readings, each with the least that it costs, first the cheapest."""
    found: dict[Form, float] = {}
    for reading in readings:
        if not any(item.kind == "spend" for item in reading.items):
            if any(item.kind == "value" and item.end <= context for item in reading.items):
                continue
            reading = Reading(reading.cost, tuple(item for item in reading.items if item.end > context))
        for cost, form in Frame(sheet, tokens, reading.items, context).forms():
            total = reading.cost + cost
            if total < found.get(form, 99.0):
                found[form] = total
    return sorted(((cost, form) for form, cost in found.items()), key=lambda pair: pair[0])



"""Bind the numbers, dates and cells of a question to columns as conditions.

The rest of the question says what to compute (`kinds`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

from chameleon.modules.offline.costs import Cost
from chameleon.modules.offline.links import Item
from chameleon.modules.offline.rows import Blank, Compares, Dates, Either, Is
from chameleon.modules.offline.sheet import Measure, Number, Sheet, SheetColumn
from chameleon.modules.offline.words import Token
from chameleon.retrieval.analysis import folded

_MAX_COMBINATIONS, _MAX_BINDINGS = 400, 24


@dataclass(frozen=True)
class Bound:
    """A condition with the items it uses and the cost of binding them this way."""

    condition: Any
    cost: float
    taken: frozenset[int]
    named: frozenset[int] = frozenset()  # of these, the items that name its column


class Frame:
    """One cut of a question into items."""

    def __init__(self, sheet: Sheet, tokens: Sequence[Token], items: Sequence[Item]) -> None:
        self.sheet, self.tokens, self.items = sheet, tokens, list(items)
        self.kinds = [item.kind for item in items]

    def kind(self, place: int) -> str:
        return self.kinds[place] if 0 <= place < len(self.kinds) else ""

    def column(self, place: int, *kinds: str) -> SheetColumn | None:
        """Return the column that an item names, if it is one of these kinds."""
        column = self.sheet.columns[self.items[place].value] if self.kind(place) == "column" else None
        return column if column is not None and (not kinds or column.kind in kinds) else None

    def is_whole(self, item: Item) -> bool:
        """Return whether an item is the exact name of a column."""
        text = " ".join(token.low for token in self.tokens[item.start : item.end])
        name = folded(self.sheet.columns[item.value].plain).rstrip("? ")
        return text in (name, f"{name}s")

    def bindings(self) -> Iterator[tuple[float, list[Bound], list[Item]]]:
        """Yield the cost, conditions and remaining items of each way to bind, most conditions first."""
        choices: list[list[Bound | None]] = []
        for place, kind in enumerate(self.kinds):
            options = {"number": self._numbers, "date": self._dates, "column": self._truths}.get(kind)
            candidates = list(options(place)) if options else []
            choices += [[*candidates, None]] if candidates else []
        fixed = [*self._blanks(), *self._column_pairs(), *self._cells()]
        bindings = []
        for choice in islice(product(*choices), _MAX_COMBINATIONS):
            bounds = [each for each in choice if each is not None]
            places = [place for each in bounds for place in each.taken]
            if len(set(places)) == len(places):
                bindings.append((sum(each.cost for each in bounds), bounds))
        bindings.sort(key=lambda binding: (-len(binding[1]), binding[0]))
        for cost, bounds in bindings[:_MAX_BINDINGS]:
            used = {place for each in bounds for place in each.taken}
            free = [each for each in fixed if not each.taken & used]
            used |= {place for each in free for place in each.taken}
            rest = [item for place, item in enumerate(self.items) if place not in used]
            yield cost + sum(each.cost for each in free), [*bounds, *free], rest

    def _blanks(self) -> Iterator[Bound]:
        """Yield conditions that a column is empty: "without a phone", "no manager"."""
        for place, item in enumerate(self.items):
            column = self.column(place + 1) if item.kind == "none" else None
            if column is None or column.truths:
                continue
            is_absent = item.value == "absent" and not self.items[place + 1].cost
            if is_absent or column.kind == "date":  # "not returned": the date is blank
                has_zeros = column.kind == "number" and 0 in column.numbers
                condition = Compares(column.index, "==", 0) if has_zeros else Blank(column.index)
                yield Bound(condition, 0.0, frozenset((place, place + 1)))

    def _column_pairs(self) -> Iterator[Bound]:
        """Yield comparisons of two number columns: "higher costs than sales", "costs above sales"."""
        for place in range(len(self.kinds)) if "how" not in self.kinds else ():  # not "how much more"
            one = self.column(place + 1, "number") or self.column(place - 1, "number")
            is_first = self.column(place + 1, "number") is not None and self.kind(place + 2) == "than"
            last = place + 3 if is_first else place + 1 + (self.kind(place + 1) == "than")
            two = self.column(last, "number")
            if one is None or two is None or self.kind(place) not in ("more", "compare") or one is two:
                continue
            value = self.items[place].value
            sign: Any = value if self.kind(place) == "compare" else ">" if value > 0 else "<"
            first = place if is_first else place - 1
            yield Bound(Compares(one.index, sign, None, two.index), 0.0, frozenset(range(first, last + 1)))

    def _truths(self, place: int) -> Iterator[Bound]:
        """Yield conditions on a yes/no column that is named: "returned orders", "not returned"."""
        column, item = self.column(place), self.items[place]
        if column is not None and column.truths and self.is_whole(item):
            denied = self._denial(place)
            texts = column.truths[1 if denied else 0]
            if texts and self.kind(place + 1) != "cell":
                is_open = denied and Blank(column.index).rows(self.sheet)  # which `Either` refuses to place
                yes = Is(column.index, column.truths[0])
                condition = Either((yes,), negated=True) if is_open else Is(column.index, texts)
                yield Bound(condition, 0.0, frozenset((place, *denied)), frozenset((place,)))

    def _denial(self, place: int) -> frozenset[int]:
        """Return the negation of an item, if any: right before it, or before words that lead to it."""
        for before in range(place - 1, max(-1, place - 4), -1):
            if self.kinds[before] == "none":
                blank = self.column(before + 1) if self.items[before].value == "absent" else None
                return frozenset(() if blank and blank.index != self.items[place].column else (before,))
            if self.kinds[before] not in ("dates", "column", "verb"):
                break
        return frozenset()

    def _cells(self) -> Iterator[Bound]:
        """Yield conditions on cells, with negation; cells of one column joined by "or" or commas make one."""
        end = 0
        for place, item in enumerate(self.items):
            if place < end or item.kind != "cell":
                continue
            parts, end = [item.value], place + 1
            while True:
                other = end + (self.kind(end) in ("or", "and"))
                if self.kind(other) != "cell" or self.items[other].column != item.column:
                    break
                if other == end and not self.tokens[self.items[other].start].listed:
                    break
                parts.append(self.items[other].value)
                end = other + 1
            denied = self._denial(place)
            condition = parts[0] if len(parts) == 1 and not denied else Either(tuple(parts), bool(denied))
            sides = (p for p in (place - 1, end) if self.kind(p) == "column")
            spots = frozenset(p for p in sides if self.items[p].value == item.column)
            nearby = self.items[end + 1 if (self.kind(end), self.kind(end + 1)) == ("and", "cell") else place]
            texts = set().union(*(each.texts for each in (*parts, nearby.value)))
            key = {self.sheet.key.index} if len(parts) > 1 and not spots and self.sheet.key else set()
            columns = {item.value.column, nearby.value.column}
            homes = columns if len(columns) > 1 else key - columns
            if any(self.sheet.columns[each].places.keys() >= texts for each in homes):
                continue  # "Ann and Ben" are in one column, and name rows if they can
            yield Bound(condition, 0.0, denied | set(range(place, end)), spots)

    # Numbers.

    def _numbers(self, place: int) -> Iterator[Bound]:
        """Yield conditions that compare a number with the columns it may refer to."""
        measure, before, end = self.items[place].value, place - 1, place + 1
        places, until = {place}, None
        before -= self.kind(before) == "than"
        match self.kind(before):
            case "compare":
                signs = [self.items[before].value]
            case "comparative" | "more" if before < place - 1:
                signs = []
            case _:
                signs, before = ["=="], place
        places |= set(range(before, place))
        after = end + (self.kind(end) in ("column", "noun", "unit"))
        if self.kind(after) == "after":
            signs, places, end = [self.items[after].value], places | {after}, end + (after == end)
        elif self.kind(place - 1) == "between" and self.kinds[end : end + 2] == ["and", "number"]:
            until, before = self.items[end + 1].value, place - 1
            places, end, signs = places | {before, end, end + 1}, end + 2, [">="]
        is_compared = len(places) > 1
        for column, cost, spots in self._compared_columns(place, before, end, measure, is_compared):
            for sign, extra in [(each, 0.0) for each in signs] or self._signs(before, column):
                if (number := _in_units(measure, column)) is not None:
                    last = _in_units(until, column) if until is not None else None
                    condition = Compares(column.index, sign, number, None, last)
                    yield Bound(condition, cost + extra, frozenset(places | spots), frozenset(spots))

    def _signs(self, place: int, column: SheetColumn) -> list[tuple[Any, float]]:
        """Return the signs that "more", "taller" or "older" may mean for a column, with costs."""
        item = self.items[place]
        if item.kind == "more":
            return [(">" if item.value > 0 else "<", 0.0)]
        ways = [(way, cost) for way, index, cost in self.graded(item.value) if index == column.index]
        return [(">" if way > 0 else "<", cost) for way, cost in ways]

    def _compared_columns(
        self, place: int, before: int, end: int, measure: Measure, is_compared: bool
    ) -> Iterator[tuple[SheetColumn, float, set[int]]]:
        """Yield the columns to compare a number with: named next to it, of its unit, or the only one."""
        is_other = self.kind(end) == "column" and self.column(end, "number") is None
        is_row = self.kind(end) == "noun" and self.items[end].value
        if (is_row or (is_compared and is_other)) and not measure.base:
            return  # "more than one author", "two orders"
        sides = [end, before - 1] if is_compared else [end] if self._touches(place, end) else []
        gap = self.items[place].start - self.items[place - 1].end
        is_adjacent = self.kind(place - 1) == "column" and gap < 2
        sides += [before - 1] if not is_compared and is_adjacent else []
        neighbors = [(side, column) for side in sides if (column := self.column(side, "number")) is not None]
        neighbors = [(side, column) for side, column in neighbors if side != end or not column.numbers_rows]
        for side, column in neighbors:
            yield column, 0.0 if column is neighbors[0][1] else Cost.FORM, {side}
        if self.kind(before) == "comparative" and is_compared:
            for _, index, cost in self.graded(self.items[before].value):
                yield self.sheet.columns[index], cost, set()
        elif measure.base or (is_compared and not neighbors):
            fitting = [c for c in self.sheet.amounts if not measure.base or measure.base in c.bases]
            yield from ((each, Cost.IMPLIED if len(fitting) == 1 else Cost.LOOSE, set()) for each in fitting)

    def _touches(self, place: int, end: int) -> bool:
        """Return whether a column directly follows a bare figure: "82 games"."""
        is_figure = self.tokens[self.items[place].start].number is not None
        return is_figure and self.kind(end) == "column" and self.items[end].start == self.items[place].end

    # Dates.

    def _dates(self, place: int) -> Iterator[Bound]:
        """Yield conditions on date columns: one date, or two joined by "to" or "and"."""
        (moment, last), places, end = self.items[place].value, {place}, place + 1
        until, sign, before = last if last != moment else None, "==", self.kind(place - 1)
        is_step = "change" in self.kinds or "difference" in self.kinds  # from one to the other
        if before == "dates" or (before == "between" and not is_step):
            places.add(place - 1)
            value = self.items[place - 1].value
            sign = value if before == "dates" and not (is_step and value in ("<=", ">=")) else sign
        if self.kind(end) == "after":
            sign, places, end = self.items[end].value, places | {end}, end + 1
        other = end + (self.kind(end) in ("and", "dates"))
        if self.kind(other) == "date" and other > end and not is_step:
            joined = self.items[end]
            is_to = joined.kind == "dates" and joined.value == "<=" and sign in (">=", "==")
            if is_to or (before == "between" and joined.kind == "and"):
                until, places, sign = self.items[other].value[1], places | {end, other}, "=="
                moment = moment if moment.year else moment._replace(year=until.year)
        dates = [each for each in self.sheet.columns if each.kind == "date"]
        for column in dates:
            sides = (p for p in (place - 2, place - 1, end) if self.column(p) is column)
            spots = frozenset(sides) - places
            implied = Cost.IMPLIED if len(dates) == 1 else Cost.LOOSE
            cost = 0.0 if spots or column.is_plain_time else implied
            sign_: Any = sign
            yield Bound(Dates(column.index, sign_, moment, until), cost, frozenset(places) | spots, spots)

    def graded(self, word: str) -> Iterator[tuple[int, int, float]]:
        """Yield the direction, column and cost of each column that an adjective may grade."""
        for way, ideas in self.sheet.words.degrees[word]:
            stems = {*ideas, self.sheet.words.stem(word)}
            for column in self.sheet.columns:
                is_fit = column.kind in ("number", "time", "date") and not column.is_running
                if is_fit and not column.is_rank and stems.intersection(column.stems):
                    yield way, column.index, Cost.FORM


def _in_units(measure: Measure, column: SheetColumn) -> Number | None:
    """Return the number in the unit of a column, converted if both have one; None if they do not match."""
    if column.scale > 1 and measure.base in ("", *"$€£¥"):
        biggest = max((abs(key[0]) for key in column.keys if key is not None), default=0.0)
        if measure.base or measure.number > biggest:  # far beyond all cells a plain figure, else unclear
            return Fraction(measure.number) / column.scale if measure.number > 20 * biggest else None
    if not (measure.base and column.bases):
        return Fraction(measure.number) / measure.factor
    factors = [factor for base, factor in column.units if base == measure.base]
    if column.meaning.base == measure.base:
        factors = [column.meaning.factor]
    return Fraction(measure.number) / min(factors) if factors else None
